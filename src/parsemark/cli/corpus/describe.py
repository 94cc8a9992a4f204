"""`parsemark corpus info` and `export`: what a corpus holds, here and as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from parsemark import corpus_calls
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import is_verbose, plain_console, plain_table, say_json
from parsemark.plain_words import counted

if TYPE_CHECKING:
    from parsemark.corpus_calls import Corpus, CorpusInfo


def info(
    corpus: opt.CorpusArgument,
    *,
    pages: Annotated[
        bool, Option("--pages", help="List the pages: id, document, page number, truth.")
    ] = False,
    tags: Annotated[
        bool,
        Option(
            "--tags",
            help="Print the structure tree of a tagged PDF and the errors in the tree. CORPUS must be one "
            "tagged PDF.",
        ),
    ] = False,
    picture: Annotated[
        str | None, Option(metavar="PAGE", help="Write a picture of this page with the boxes of its truth.")
    ] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", help="File of the picture.", show_default="PAGE.png")
    ] = None,
    croissant: Annotated[
        bool, Option("--croissant", help="Print Croissant metadata (JSON-LD), one record per page.")
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print the result as JSON.")] = False,
    strict: opt.Strict = False,
) -> None:
    """Describe a corpus: documents, pages, tables, languages, attributes, and excluded content.

    Example: parsemark corpus info my-documents/ --pages

    Example: parsemark corpus info demo --picture demo-0003-p1
    """
    if tags:
        _print_tags(Path(corpus), as_json=as_json)
        return
    loaded = running.load(corpus, strict=strict)
    if picture is not None:
        print(corpus_calls.draw_page(loaded, picture, out or Path(f"{picture}.png")))
    elif croissant:
        print(json.dumps(corpus_calls.croissant(loaded), ensure_ascii=False, indent=1))
    elif pages:
        _list_pages(loaded)
    elif as_json:
        say_json("corpus-info", corpus_calls.corpus_info(loaded))
    else:
        _print_info(corpus_calls.corpus_info(loaded))


def _print_info(found: CorpusInfo) -> None:
    rows = [
        ("Documents", str(found.documents)),
        ("Pages", str(found.pages)),
        ("Pages with tables", str(found.positive_pages)),
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
        more = f", and {len(counts) - 12} more" if len(counts) > 12 and not is_verbose() else ""
        shown = counts.most_common(None if is_verbose() else 12)
        if counts:
            rows.append((label, ", ".join(f"{key} {n}" for key, n in shown) + more))
    title = f"{found.name} (version {found.version}, licence {found.licence})"
    plain_console().print(plain_table(("", ""), rows, words=2, title=title, show_header=False))


def _list_pages(loaded: Corpus) -> None:
    rows, remarks = corpus_calls.page_list(loaded)
    running.say_remarks(remarks, plain_console(stderr=True))
    widths = [max(len(str(row[column])) for row in rows) for column in range(3)] if rows else [0, 0, 0]
    for identifier, document, page, status in rows:
        print(f"{identifier:<{widths[0]}}  {document:<{widths[1]}}  {page:>{widths[2]}}  {status}")
    n_known = sum(row[3] != corpus_calls.NO_TRUTH for row in rows)
    print(f"{counted(len(rows), 'page')}, {n_known} with truth")


def _print_tags(file: Path, *, as_json: bool) -> None:
    report = corpus_calls.tags_of(file)
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
) -> None:
    """Export a corpus for use in other programs.

    - detector: page pictures, words with boxes and a list of images, for a table detector that runs
      elsewhere. The parser `tatr(detect=file)` reads the detector's results, a COCO file.
    - assertions: yes/no statements derived from the truth, one per line (JSONL). The protocol
      `answers(facts=FILE)` reads them.
    - olmocr: the same statements in the format of olmOCR-bench.

    Example: parsemark corpus export my-corpus/ --format assertions --out assertions.jsonl
    """
    n = opt.fill(corpus_calls.corpus_export, locals(), corpus=running.load(corpus))
    print(f"{counted(n, 'page' if format == 'detector' else 'assertion')} in {out}")
