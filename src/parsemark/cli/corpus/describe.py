"""`parsemark corpus info` and `export`: what a corpus holds, here and as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import PdfError
from parsemark.plain_words import counted
from parsemark.system import replacing, write_text

if TYPE_CHECKING:
    from parsemark.corpora import Corpus
    from parsemark.model import Sample

NO_TRUTH = "no truth"
_DPI = 110  # of the picture of a page


def info(
    corpus: opt.CorpusArgument,
    *,
    pages: Annotated[
        bool, Option("--pages", help="List the pages: id, document, page number, truth.")
    ] = False,
    tags: Annotated[
        bool,
        Option("--tags", help="CORPUS is one tagged PDF: report its structure tree, and where it is wrong."),
    ] = False,
    picture: Annotated[
        str | None, Option(metavar="PAGE", help="Write a picture of this page with the boxes of its truth.")
    ] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", help="File of the picture.", show_default="PAGE.png")
    ] = None,
    full: Annotated[bool, Option("--full", help="List all values of an attribute, not only twelve.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print the report on tags as JSON.")] = False,
    strict: opt.Strict = False,
) -> None:
    """Describe a corpus: documents, pages, tables, languages, attributes, and what is left out.

    Example: parsemark corpus info my-documents/ --pages

    Example: parsemark corpus info demo --picture demo-0003-p1
    """
    if tags:
        _print_tags(Path(corpus), as_json=as_json)
        return
    loaded = running.load(corpus, strict=strict)
    if picture is not None:
        _draw(loaded, picture, out or Path(f"{picture}.png"))
    elif pages:
        _list_pages(loaded)
    else:
        _print_info(loaded, full=full)


def _print_info(loaded: Corpus, *, full: bool) -> None:
    from parsemark.corpora.describe import corpus_info

    found = corpus_info(loaded)
    rows = [
        ("Documents", str(found.documents)),
        ("Pages", str(found.pages)),
        ("Positive pages", str(found.positive_pages)),
        ("Tables", str(found.tables)),
        ("Cells", str(found.cells)),
        ("Pages without truth", str(found.without_truth)),
        ("Left out", str(len(found.left_out))),
    ]
    for label, counts in (
        ("Languages", found.languages),
        ("Producers", found.producers),
        ("Elements", found.categories),
        *((f"Page: {key}", counts) for key, counts in sorted(found.page_attributes.items())),
        *((f"Table: {key}", counts) for key, counts in sorted(found.table_attributes.items())),
    ):
        more = f", and {len(counts) - 12} more" if len(counts) > 12 and not full else ""
        shown = counts.most_common(None if full else 12)
        rows.append((label, ", ".join(f"{key} {n}" for key, n in shown) + more))
    title = f"{found.name} (version {found.version}, {found.licence})"
    plain_console().print(plain_table(("", ""), rows, words=2, title=title, show_header=False))


def _list_pages(loaded: Corpus) -> None:
    from parsemark.corpora.base import Remark

    found = [loaded.try_read(key) for key in loaded.keys]
    running.say_remarks([f for f in found if isinstance(f, Remark)], plain_console(stderr=True))
    pages = [sample for sample in found if not isinstance(sample, Remark)]
    rows = [(s.id, s.document, str(s.page_number), _truth_status(s)) for s in pages]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else [0, 0, 0]
    for identifier, document, page, status in rows:
        print(f"{identifier:<{widths[0]}}  {document:<{widths[1]}}  {page:>{widths[2]}}  {status}")
    n_known = sum(row[3] != NO_TRUTH for row in rows)
    print(f"{counted(len(rows), 'page')}, {n_known} with truth")


def _truth_status(sample: Sample) -> str:
    from parsemark.model import TRUTH_ERROR

    truth = sample.truth
    if truth is None:
        return NO_TRUTH
    counts = {
        "table": truth.n_tables,  # None where nobody looked for tables
        "other element": len(truth.elements) - len(truth.tables) or None,
        "fact": len(truth.facts) or None,
    }
    said = [counted(n, name) if n else f"no {name}s" for name, n in counts.items() if n is not None]
    if n_wrong := sum(TRUTH_ERROR in table.attributes for table in truth.tables):
        said[0] += f" ({n_wrong} cannot be read)"
    return ", ".join(said) or "nothing known of its elements"


def _draw(loaded: Corpus, page: str, target: Path) -> None:
    from parsemark.corpora.base import sample_of
    from parsemark.corpora.describe import draw_truth

    drawn = draw_truth(sample_of(loaded, page), _DPI)
    with replacing(target) as unfinished:
        drawn.save(unfinished, format="PNG")
    print(target)


def _print_tags(file: Path, *, as_json: bool) -> None:
    from parsemark.corpora.tagged.read import read_tagged

    found = read_tagged(file)
    if found is None:
        raise PdfError(f"{file} has no structure tree, so it is not a tagged PDF.")
    report = found.report()
    if as_json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
        return
    for title, lines in report.items():
        if lines:
            plain_console().print(plain_table(("", ""), lines, words=2, title=title, show_header=False))


Format = Literal["detector", "assertions", "olmocr"]


def export(
    corpus: opt.CorpusArgument,
    *,
    format: Annotated[Format, Option(metavar="FORMAT", help="What to write; see above.")],
    out: Annotated[Path, Option("--out", "-o", help="File (assertions, olmocr) or folder to write.")],
    dpi: Annotated[int, Option(min=36, max=300, help="Resolution of the pictures (detector).")] = 72,
) -> None:
    """Write what a corpus holds for use in other programs.

    - detector: page pictures, words with boxes and a list of images, for a table detector that runs
      elsewhere. The parser `tatr(detect=file)` reads its COCO file.
    - assertions: yes/no statements that follow from the truth, one JSON line each, for
      `answers(facts=FILE)`.
    - olmocr: the same in the form of olmOCR-bench.

    Example: parsemark corpus export my-corpus/ --format assertions --out assertions.jsonl
    """
    loaded = running.load(corpus)
    if format == "detector":
        from parsemark.corpora.describe import write_detector_input

        print(f"{counted(write_detector_input(loaded.samples(), out, dpi), 'page')} in {out}")
    else:
        from parsemark.protocols.answers.files import fact_lines

        lines = list(fact_lines(loaded.samples(), "answers" if format == "assertions" else "olmocr"))
        write_text(out, "".join(lines))
        print(f"{counted(len(lines), 'assertion')} in {out}")
