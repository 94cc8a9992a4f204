"""The commands of `parsemark corpus` as calls, with the same parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark import api
from parsemark.errors import PdfError, UsageError, require_known
from parsemark.plain_words import counted

if TYPE_CHECKING:
    from parsemark.choosing.audit import Audit as Audit
    from parsemark.corpora import Corpus as Corpus
    from parsemark.corpora.check import CheckReport as CheckReport
    from parsemark.corpora.correct import Corrected as Corrected
    from parsemark.corpora.describe import CorpusInfo as CorpusInfo
    from parsemark.corpora.making import MadeCorpus, Maker, MakerHelp
    from parsemark.corpora.sample_pages import Sampled
    from parsemark.model import Sample

PICTURE_DPI = 110
"""Resolution of the picture of a page with its truth."""
NO_TRUTH = "no truth"
NEW_CORPUS = "my-corpus"
"""Folder of a new corpus."""
SAMPLE = "sample"
"""Folder of sampled pages."""
Progress = Callable[[int], None]


def corpus_make(
    maker: str | Maker,
    out: str | Path = NEW_CORPUS,
    *,
    sources: Sequence[str | Path] = (),
    pages: int | None = None,
    seed: int | None = None,
    corpus: str | Path | Corpus | None = None,
    workers: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> MadeCorpus:
    """Make a corpus with a maker, which another package brings (`pip install parsemark-makers`).

    Args:
        maker: A spec such as `typst(languages=english+french)`, or a maker.
        out: Folder of the corpus; it must be new or empty. It is written whole or not at all.
        sources: Files that the maker reads (`latex`, `features`).
        pages: Number of pages, for makers that have the option `pages`.
        seed: Seed, for makers that have the option `seed`.
        corpus: The corpus whose pages are copied with changes (`degraded`, `misleading`).
        workers: Number of processes; by default one per CPU.
        progress: Called with the number of new pages or documents, and with the total if it is known.

    Raises:
        UsageError: The maker has no such option, or does not read what it is given.
    """
    from parsemark.corpora.making import run_maker

    options = {"pages": pages, "seed": seed}
    return run_maker(
        maker,
        Path(out),
        options={key: value for key, value in options.items() if value is not None},
        corpus=None if corpus is None else api.open_corpus(corpus),
        sources=[Path(source) for source in sources],
        workers=workers,
        progress=progress or (lambda n, total: None),
    )


def makers() -> list[MakerHelp]:
    """Return the makers that are installed, with their options."""
    from parsemark.corpora.making import list_makers

    return list(list_makers())


@dataclass(frozen=True, slots=True)
class ImportedCorpus:
    """What an import has changed, and what the corpus holds now."""

    changes: Mapping[str, int]  # number of documents that are `new`, `changed`, `unchanged`, `removed`
    statistics: Mapping[str, Mapping[str, int]]
    left_out: Sequence[tuple[str, str, str]]  # file, outcome and reason; the first ones of each outcome
    folder: Path  # of the corpus


def corpus_import(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    origin: str = "embedded",
    workers: int | None = None,
    executor: str = api.EXECUTOR,
    progress: Progress | None = None,
) -> ImportedCorpus:
    """Make a corpus whose truth comes from the PDFs, such as their tags, or from source files beside them.

    Args:
        folder: A folder of PDFs.
        out: Corpus folder to write, by default `FOLDER-corpus`; an interrupted import is resumed.
        origin: Source of the truth: `embedded` (everything in the PDF), `tagged` (PDF tags) or `source-pairs`
            (source files beside the PDFs).
        workers: Number of processes; by default one per CPU.
        executor: `local`, `ray`, or the address of a Ray cluster, such as `ray:HOST:6379`.
        progress: Called with the number of documents that are done.
    """
    from parsemark.corpora.loaders.embedded import ORIGINS
    from parsemark.engine.import_corpus import import_corpus, left_out

    require_known("origin of truth", origin, ORIGINS)
    changes: Counter[str] = Counter()
    target = Path(f"{Path(folder).resolve()}-corpus") if out is None else Path(out)
    statistics = import_corpus(
        Path(folder),
        target,
        origin=origin,
        workers=workers,
        progress=progress or _silent,
        changes=changes,
        **api.executor_and_address(executor),
    )
    return ImportedCorpus(changes, statistics, left_out(target), target)


def corpus_check(
    corpus: str | Path | Corpus,
    *,
    run: str | Path | None = None,
    out: str | Path | None = None,
    apply: str | Path | None = None,
    disputes: str | Path | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> CheckReport | Audit | Corrected:
    """Check a corpus: hashes, boxes, and how faithful the truth is to the PDFs. Find and correct errors.

    Args:
        corpus: A corpus as commands take it, or a loaded one.
        run: Run with several parsers, used to list truth cells that independent parsers contradict.
        out: Folder for `audit.html` and `corrections.json` (with `run`), or for the copy (with `apply`).
        apply: File of corrections: write a copy of the corpus with them to `out`.
        disputes: Disputes file, saved with "This truth is wrong" in a report: list its entries. With `run`,
            also score the run without the disputed elements.
        strict: Raise an error if any part of the corpus is unreadable.
        progress: Called with the number of pages that are done.

    Returns:
        A `CheckReport`; an `Audit` with `run`; what was `Corrected` with `apply`.
    """
    tell = progress or _silent
    opened = api.open_corpus(corpus, strict=strict)
    if apply is not None:
        from parsemark.corpora.correct import correct_corpus

        if out is None:
            raise UsageError("--apply writes a corrected copy of the corpus; give its folder with --out.")
        return correct_corpus(opened, Path(apply), Path(out), tell)
    from parsemark.corpora.disputes import read_disputes

    entries = () if disputes is None else read_disputes(Path(disputes), opened.keys)
    if run is None:
        from parsemark.corpora.check import check_corpus

        report = check_corpus(opened, tell)
        report.disputes = [str(entry) for entry in entries]
        return report
    from parsemark.choosing.audit import audit_run
    from parsemark.engine.scoring.disputed import score_without
    from parsemark.report.audit_page import write_audit
    from parsemark.store import Run

    opened_run = Run.open(run)
    audit = audit_run(opened, opened_run, tell)
    if disputes is not None:
        audit = replace(audit, disputed=score_without(opened_run, entries))
    if out is not None:
        write_audit(opened, audit, Path(out))
    return audit


def corpus_info(corpus: str | Path | Corpus, *, strict: bool = False) -> CorpusInfo:
    """Describe a corpus: documents, pages, tables, languages, attributes, and excluded content."""
    from parsemark.corpora.describe import corpus_info as info

    return info(api.open_corpus(corpus, strict=strict))


def croissant(corpus: str | Path | Corpus) -> dict[str, Any]:
    """Return Croissant metadata of a corpus, one record per page; the pages themselves are not part of it."""
    from parsemark.corpora.croissant import describe_corpus

    return describe_corpus(api.open_corpus(corpus))


def truth_status(sample: Sample) -> str:
    """Return what is known of a page, in words: its tables, other elements and facts."""
    from parsemark.model import TRUTH_ERROR

    truth = sample.truth
    if truth is None:
        return NO_TRUTH
    counts = {
        "table": truth.n_tables,  # None if the page was not searched for tables
        "other element": len(truth.elements) - len(truth.tables) or None,
        "assertion": len(truth.facts) or None,
    }
    parts = [counted(n, name) if n else f"no {name}s" for name, n in counts.items() if n is not None]
    if n_wrong := sum(TRUTH_ERROR in table.attributes for table in truth.tables):
        parts[0] += f" ({n_wrong} cannot be read)"
    return ", ".join(parts) or "nothing known of its elements"


def page_list(corpus: Corpus) -> tuple[list[tuple[str, str, int, str]], list[object]]:
    """Return id, document, number and what is known of each page; and the pages that cannot be read."""
    from parsemark.corpora.base import Remark

    pages = [corpus.try_read(key) for key in corpus.keys]
    samples = [page for page in pages if not isinstance(page, Remark)]
    rows = [(s.id, s.document, s.page_number, truth_status(s)) for s in samples]
    return rows, [page for page in pages if isinstance(page, Remark)]


def draw_page(corpus: Corpus, page: str, out: Path) -> Path:
    """Write a picture of a page with the boxes of its truth."""
    from parsemark.corpora.base import sample_of
    from parsemark.corpora.describe import draw_truth
    from parsemark.system import replacing

    drawn = draw_truth(sample_of(corpus, page), PICTURE_DPI)
    with replacing(out) as unfinished:
        drawn.save(unfinished, format="PNG")
    return out


def tags_of(file: Path) -> dict[str, Any]:
    """Return a report on the structure tree of a tagged PDF; PdfError if it has none."""
    from parsemark.corpora.tagged.read import read_tagged

    tagged = read_tagged(file)
    if tagged is None:
        raise PdfError(f"{file} has no structure tree, so it is not a tagged PDF.")
    return tagged.report()


def corpus_sample(
    pdfs: Sequence[str | Path],
    *,
    pages: int,
    out: str | Path = SAMPLE,
    clusters: int | None = None,
    encoder: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sampled:
    """Sample representative pages from many PDFs, balanced over page types and documents.

    Args:
        pdfs: PDFs, or folders of them. The same PDFs give the same pages.
        pages: Number of pages to choose.
        out: Folder for the chosen pages, a list of them, and a picture per cluster.
        clusters: Number of page types; by default it depends on the number of pages.
        encoder: Neural network that compares pages: `resnet50` (needs torchvision), or `MODULE:FUNCTION`.
        progress: Called with the number of PDFs that are done, and of all.
    """
    from parsemark.corpora.sample_pages import sample_pages

    paths = [Path(pdf) for pdf in pdfs]
    tell = progress or (lambda done, total: None)
    return sample_pages(paths, pages, Path(out), clusters=clusters, encoder=encoder, progress=tell)


def corpus_export(corpus: str | Path | Corpus, *, format: str, out: str | Path) -> int:
    """Write what a corpus holds for use in other programs, and return the number of pages or assertions.

    Args:
        corpus: A corpus as commands take it, or a loaded one.
        format: `detector` (page pictures and words, for a table detector), `assertions` (yes/no statements
            for `answers(facts=FILE)`), or `olmocr` (the same in the form of olmOCR-bench).
        out: File (assertions, olmocr) or folder to write.
    """
    opened, target = api.open_corpus(corpus), Path(out)
    require_known("format", format, ("detector", "assertions", "olmocr"))
    if format == "detector":
        from parsemark.corpora.describe import write_detector_input

        return write_detector_input(opened.samples(), target)
    from parsemark.protocols.answers.files import fact_lines
    from parsemark.system import write_text

    lines = list(fact_lines(opened.samples(), "answers" if format == "assertions" else "olmocr"))
    write_text(target, "".join(lines))
    return len(lines)


def _silent(done: int) -> None: ...
