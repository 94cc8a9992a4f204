"""Makes a corpus: documents are drawn, set, located, held against their PDFs, and drawn again if need be."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.making import Progress, in_processes, new_folder, silent
from parsemark.corpora.schema import CorpusFile
from parsemark.corpora.synthetic.options import GENERATOR, RENDERERS, Options
from parsemark.corpora.synthetic.truth import Rendered, locate
from parsemark.errors import LatexError, MakingError
from parsemark.extras import require
from parsemark.model import Sample
from parsemark.system import make_folder, write_bytes
from parsemark.system.pdflatex import require_pdflatex
from parsemark.system.scratch import ScratchFolder, made_whole

SOURCES = "sources"  # folder of the documents in the renderers' own formats, for parsers that read those


class _Outcome(NamedTuple):
    """What became of one document."""

    name: str
    samples: tuple[Sample, ...] = ()
    source: bytes | None = None
    source_suffix: str = ""
    replaced: str | None = None
    failure: str | None = None


@made_whole
def make_synthetic(
    options: Options, out: Path, *, workers: int | None = None, progress: Progress = silent
) -> CorpusFile:
    """Make a corpus in the folder `out`, which must be new or empty.

    The same options give the same truth, byte for byte, at any number of workers, with the same versions of
    program and fonts. Every page is held against its own PDF as `corpus check` does; a document with any
    disagreement is drawn again. Documents that were replaced are listed with the reason in the settings of
    the corpus. Raises MakingError, after all others were tried, if a document cannot be made at all.
    """
    require("makers", "Making pages", RENDERERS[options.renderer].packages)
    if options.renderer == "latex":
        require_pdflatex("Making synthetic pages")
        _module("latex").precompile()
    new_folder(out, "pdfs", "truth")
    replaced: dict[str, str] = {}
    failures: list[str] = []
    pages = 0
    with ScratchFolder("parsemark-") as work:
        for outcome in _outcomes(options, work, workers):
            if outcome.failure is not None:
                failures.append(outcome.failure)
            if kept := outcome.samples[: options.pages - pages]:
                _write(out, kept, outcome)
                pages += len(kept)
                if outcome.replaced is not None:
                    replaced[outcome.name] = outcome.replaced
                progress(len(kept))
            if pages == options.pages or (failures and options.n_documents is None):
                break
    if failures:
        raise MakingError(f"{len(failures)} of the documents failed. {' '.join(sorted(failures)[:3])}")
    settings = {key: value for key, value in asdict(options).items() if key not in ("seed", "name")}
    return write_manifest(
        out,
        name=options.name,
        licence=options.licence,
        description=f"Synthetic pages with exact truth, set with {options.renderer}.",
        generator=f"parsemark {GENERATOR}",
        seed=options.seed,
        settings=settings | ({"replaced": dict(sorted(replaced.items()))} if replaced else {}),
    )


def _module(renderer: str) -> Any:
    return import_module(f"parsemark.corpora.synthetic.renderers.{renderer}")


def _outcomes(options: Options, folder: Path, workers: int | None) -> Iterator[_Outcome]:
    """What became of the documents: of all that are planned, else of one batch after the other."""
    make = partial(_make_batch, options, folder)
    size = RENDERERS[options.renderer].batch
    if options.n_documents is None:
        for first in count(0, size):
            yield from make(range(first, first + size))
        return
    batches = [range(first, first + size) for first in range(0, options.n_documents, size)]
    for batch, found in in_processes(make, batches, workers):
        yield from found or [_failed(options, index, Counter({"It ends its program.": 1})) for index in batch]


def _make_batch(options: Options, folder: Path, batch: Sequence[int]) -> list[_Outcome]:
    """Some documents, each drawn again until it is faithful."""
    render: Callable[..., list[Rendered]] = _module(options.renderer).render
    done: dict[int, _Outcome] = {}
    reasons: dict[int, Counter[str]] = {index: Counter() for index in batch}
    for attempt in range(options.attempts):
        drafts = {i: options.draft(i, attempt) for i in batch if i not in done}
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
                samples = locate(rendered, maker=options.renderer)
            except MakingError as error:
                reasons[index][str(error)] += 1
                continue
            how = options.replacement(attempt)
            why = f"replaced {how} after {attempt} draws: {_by_count(reasons[index])}" if how else None
            made = rendered.draft.name, samples, rendered.source, rendered.source_suffix
            done[index] = _Outcome(*made, why)
    return [done.get(index) or _failed(options, index, reasons[index]) for index in batch]


def _failed(options: Options, index: int, reasons: Counter[str]) -> _Outcome:
    name = options.draft(index, 0).name
    why = f"Document {name} could not be made in {options.attempts} draws ({_by_count(reasons)})."
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
