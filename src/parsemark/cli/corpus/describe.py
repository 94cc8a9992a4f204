"""`parsemark corpus info`, `list`, `show`, `pages` and `schema`: see and hand on what a corpus holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import require_known
from parsemark.plain_words import counted
from parsemark.system import make_folder, replacing, write_text

if TYPE_CHECKING:
    from parsemark.model import Sample

NO_TRUTH = "no truth"


def info(
    corpus: opt.CorpusArgument,
    full: Annotated[bool, Option(help="List all values of an attribute, not the first twelve.")] = False,
    strict: opt.Strict = False,
) -> None:
    """Print what a corpus consists of."""
    from parsemark.corpora.describe import corpus_info

    found = corpus_info(running.load(corpus, strict=strict))
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


def list_pages(corpus: opt.CorpusArgument, strict: opt.Strict = False) -> None:
    """List the pages of a corpus: id, document, page, and what is known about it."""
    from parsemark.corpora.base import Remark

    loaded = running.load(corpus, strict=strict)
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


def show(
    corpus: opt.CorpusArgument,
    page: Annotated[str, Argument(help="Id of the page.")],
    out: Annotated[Path | None, Option("--out", help="The PNG; PAGE.png if not given.")] = None,
    dpi: Annotated[int, Option(min=20, max=600)] = 110,
) -> None:
    """Write a picture of a page with the boxes of its truth."""
    from parsemark.corpora.base import sample_of
    from parsemark.corpora.describe import draw_truth

    target = out or Path(f"{page}.png")
    drawn = draw_truth(sample_of(running.load(corpus), page), dpi)
    with replacing(target) as unfinished:
        drawn.save(unfinished, format="PNG")
    print(target)


def write_pages(
    corpus: opt.CorpusArgument,
    out: Annotated[Path, Option("--out", help="Folder for pictures, words and the list of images.")],
    dpi: Annotated[int, Option(min=36, max=300, help="Of the pictures; VGT takes 72.")] = 72,
) -> None:
    """Write what a detector that runs elsewhere needs: pictures, words with boxes, a list of images.

    Its answer, a COCO file, is read by the parser `tatr(detect=file)` (see docs/parsers.md).
    """
    from parsemark.corpora.describe import write_detector_input

    print(f"{write_detector_input(running.load(corpus).samples(), out, dpi)} pages in {out}")


def facts(
    corpus: opt.CorpusArgument,
    out: Annotated[Path, Option("--out", help="File for the facts, a line of JSON each.")],
    form: Annotated[
        str, Option(help="`answers`, to be edited and asked again; or `olmocr`, for olmOCR-bench.")
    ] = "answers",
) -> None:
    """Write what the truth of a corpus lets one ask: values under their headers, numbers, names, orders."""
    from parsemark.protocols.answers.files import FORMS, fact_lines

    require_known("form of facts", form, FORMS)
    lines = list(fact_lines(running.load(corpus).samples(), form))
    write_text(out, "".join(lines))
    print(f"{len(lines)} facts in {out}")


def schema(out: Annotated[Path, Option("--out", help="Folder for the JSON schemas.")]) -> None:
    """Write the JSON schemas of the corpus format."""
    from parsemark.corpora.schema import json_schemas

    make_folder(out)
    for name, content in json_schemas().items():
        write_text(out / name, json.dumps(content, indent=2) + "\n")
        print(out / name)
