"""What makers of synthetic documents share: each document is drawn, set, located and held against its PDF.

A document that disagrees with its PDF is drawn again.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from parsemark.corpora.making import MadeCorpus, Maker, MakingJob, option, write_manifest, write_page
from parsemark.errors import LatexError, MakingError, UsageError
from parsemark.model import Sample
from parsemark.system import ScratchFolder, make_folder, write_bytes
from parsemark.system.pdflatex import require_pdflatex
from parsemark_makers.making import in_processes, require_name
from parsemark_makers.synthetic.document import DocumentDraft
from parsemark_makers.synthetic.truth import Rendered, locate

GENERATOR = "parsemark synthetic 8"  # the version rises whenever the same seed gives other pages
LICENCE = "CC0-1.0"
SOURCES = "sources"  # folder of the documents in the renderers' own formats, for parsers that read those
_BATCH = 8  # documents that are set together, where starting the program costs more than a page


@dataclass(frozen=True, kw_only=True)
class DocumentMaker(Maker):
    """Makes documents by drafts, which a renderer sets.

    The same options give the same truth, byte for byte, at any number of workers, with the same versions of
    program and fonts. Every page is held against its own PDF as `corpus check` does; a document with any
    disagreement is drawn again. Documents that were replaced are listed with the reason in the settings of
    the corpus. `make` raises MakingError, after all others were tried, if a document cannot be made at all.
    """

    generator: ClassVar[str] = GENERATOR
    renderer: ClassVar[str]  # module in `renderers`
    attempts: ClassVar[int]  # draws of a document

    pages: int = option("Number of pages.")
    seed: int = option("The same seed gives the same corpus.", 0)
    name: str = option("Name of the corpus, and beginning of its ids.", "synthetic")

    def __post_init__(self) -> None:
        require_name(self.name)
        if self.pages < 1:
            raise UsageError(f"A corpus needs at least one page, not {self.pages}.")

    @property
    @abstractmethod
    def n_documents(self) -> int | None:
        """Return how many documents are made; None makes as many as give the pages."""

    @abstractmethod
    def draft(self, index: int, attempt: int) -> DocumentDraft:
        """Draw document `index`."""

    @abstractmethod
    def replacement(self, attempt: int) -> str:
        """Say what a document of this attempt is, if it is not the one that was drawn first."""

    def n_steps(self, job: MakingJob) -> int:
        """Return the number of pages."""
        return self.pages

    def make(self, job: MakingJob) -> MadeCorpus:
        """Draw, set and write documents until there are enough pages."""
        if self.renderer == "latex":
            require_pdflatex("Making synthetic pages")
            _module("latex").precompile()
        for folder in ("pdfs", "truth"):
            make_folder(job.out / folder)
        replaced: dict[str, str] = {}
        failures: list[str] = []
        pages = 0
        with ScratchFolder("parsemark-") as work:
            for outcome in _outcomes(self, work, job.workers):
                if outcome.failure is not None:
                    failures.append(outcome.failure)
                if kept := outcome.samples[: self.pages - pages]:
                    _write(job.out, kept, outcome)
                    pages += len(kept)
                    if outcome.replaced is not None:
                        replaced[outcome.name] = outcome.replaced
                    job.progress(len(kept))
                if pages == self.pages or (failures and self.n_documents is None):
                    break
        if failures:
            raise MakingError(f"{len(failures)} of the documents failed. {' '.join(sorted(failures)[:3])}")
        replaced = dict(sorted(replaced.items()))
        manifest = write_manifest(
            job.out,
            name=self.name,
            licence=LICENCE,
            description=f"Synthetic pages with exact truth, set with {self.renderer}.",
            generator=self.generator,
            seed=self.seed,
            settings=self.settings() | ({"replaced": replaced} if replaced else {}),
        )
        return MadeCorpus(manifest, tuple(f"{document} was {why}" for document, why in replaced.items()))


class _Outcome(NamedTuple):
    """What became of one document."""

    name: str
    samples: tuple[Sample, ...] = ()
    source: bytes | None = None
    source_suffix: str = ""
    replaced: str | None = None
    failure: str | None = None


def _module(renderer: str) -> Any:
    return import_module(f"parsemark_makers.synthetic.renderers.{renderer}")


def _outcomes(maker: DocumentMaker, folder: Path, workers: int | None) -> Iterator[_Outcome]:
    """Yield what became of the documents: of all that are planned, else of one batch after the other."""
    make = partial(_make_batch, maker, folder)
    size = 1 if maker.renderer == "latex" else _BATCH
    if maker.n_documents is None:
        for first in count(0, size):
            yield from make(range(first, first + size))
        return
    batches = [range(first, first + size) for first in range(0, maker.n_documents, size)]
    for batch, found in in_processes(make, batches, workers):
        yield from found or [_failed(maker, index, Counter({"It ends its program.": 1})) for index in batch]


def _make_batch(maker: DocumentMaker, folder: Path, batch: Sequence[int]) -> list[_Outcome]:
    """Make some documents, each drawn again until it is faithful."""
    render: Callable[..., list[Rendered]] = _module(maker.renderer).render
    done: dict[int, _Outcome] = {}
    reasons: dict[int, Counter[str]] = {index: Counter() for index in batch}
    for attempt in range(maker.attempts):
        drafts = {i: maker.draft(i, attempt) for i in batch if i not in done}
        if not drafts:
            break
        work = make_folder(folder / next(iter(drafts.values())).name)
        try:
            found = render(list(drafts.values()), work)
        except LatexError as error:  # of one document: a batch of LaTeX has no others
            reasons[next(iter(drafts))][str(error)] += 1
            continue
        for index, rendered in zip(drafts, found, strict=True):
            try:
                samples = locate(rendered, maker=maker.renderer)
            except MakingError as error:
                reasons[index][str(error)] += 1
                continue
            how = maker.replacement(attempt)
            why = f"replaced {how} after {attempt} draws: {_by_count(reasons[index])}" if how else None
            made = rendered.draft.name, samples, rendered.source, rendered.source_suffix
            done[index] = _Outcome(*made, why)
    return [done.get(index) or _failed(maker, index, reasons[index]) for index in batch]


def _failed(maker: DocumentMaker, index: int, reasons: Counter[str]) -> _Outcome:
    name = maker.draft(index, 0).name
    why = f"Document {name} could not be made in {maker.attempts} draws ({_by_count(reasons)})."
    return _Outcome(name, failure=f"{why} Try another seed, or fewer pages per document.")


def _by_count(reasons: Counter[str]) -> str:
    return "; ".join(f"{reason.rstrip('.')} ({count}×)" for reason, count in reasons.most_common(3))


def _write(out: Path, samples: Sequence[Sample], outcome: _Outcome) -> None:
    name = f"pdfs/{outcome.name}.pdf"
    for sample in samples:
        assert sample.pdf is not None
        if not (out / name).exists():
            write_bytes(out / name, sample.pdf.read_bytes())
        write_page(out, sample, name)
    if outcome.source is not None:
        write_bytes(make_folder(out / SOURCES) / f"{outcome.name}{outcome.source_suffix}", outcome.source)
