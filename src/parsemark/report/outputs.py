"""A run as files to take along: what parsers returned, named after the PDFs, and the files of a board."""

import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from parsemark.engine.import_outputs import UNSAFE, page_names
from parsemark.errors import UsageError, require_known
from parsemark.formats import write_table
from parsemark.formats.document import write_document
from parsemark.formats.model_json import prediction_to_json
from parsemark.model import Prediction, Status
from parsemark.parsers import read_raw
from parsemark.protocols import get_protocol
from parsemark.protocols.result_files import BoardRun
from parsemark.report.source import RunSource
from parsemark.store import Run
from parsemark.system.files import make_folder, write_text

Json = dict[str, Any]
_CHARSET = '<!doctype html>\n<meta charset="utf-8">\n'


def export_outputs(run: Run, format: str, out: Path, parsers: Sequence[str] | None = None) -> list[Path]:
    """Write the output of each parser for each page as `md`, `html`, `csv` or `json`; a page on which it
    failed has no file.

    `OUT/PARSER/REPORT.p3.md`; as CSV each table is a file of its own, `REPORT.p3.table1.csv`.
    """
    if format not in WRITERS:
        raise UsageError(f"Unknown format {format!r}; choose one of: {', '.join(WRITERS)}.")
    for parser in parsers or ():
        require_known("parser", parser, run.manifest.parser_names)
    table = run.table("samples")
    pdfs = [Path(pdf) if pdf else None for pdf in table["pdf"]]
    names = page_names(dict(zip(table["sample"], zip(pdfs, table["page_number"], strict=True), strict=True)))
    written: list[Path] = []
    for record in sorted(run.records(), key=lambda r: (r.parser, r.sample)):
        if record.blob is None or (parsers and record.parser not in parsers):
            continue
        prediction = read_raw(run.raw(record.blob), record.sample, record.parser)
        if prediction.status is not Status.OK:
            continue
        folder = make_folder(out, UNSAFE.sub("_", record.parser))
        for ending, content in WRITERS[format](prediction):
            path = folder / f"{names[record.sample]}{ending}"
            write_text(path, content)
            written.append(path)
    return written


def export_boxes(run: Run, out: Path, parser: str | None) -> list[Path]:
    """Write the tables that a parser found as a COCO file for `modular(detect=file)` and `tatr(detect=file)`.

    Boxes are in points. A page on which the parser failed has no table; one that it did not parse is absent.
    """
    if parser is None:
        raise UsageError("--format boxes writes the tables of one parser: add --parser NAME.")
    require_known("parser", parser, run.manifest.parser_names)
    pages = {row["sample"]: row for row in run.table("samples").drop("truth").to_dicts() if row["pdf"]}
    images: dict[tuple[str, int], Json] = {}
    boxes: list[Json] = []
    n_tables = 0
    for record in run.records():
        if record.parser != parser or (page := pages.get(record.sample)) is None or page["width"] is None:
            continue
        name = Path(page["pdf"]).stem, int(page["page_number"])
        if name in images:
            raise UsageError(
                f"Two documents of the run are called {name[0]}: their pages cannot be told apart."
            )
        images[name] = {
            "id": len(images) + 1,
            "file_name": f"{name[0]}-p{name[1]}.png",
            "pdf": Path(page["pdf"]).name,
            "page": name[1],
            "width": page["width"],
            "height": page["height"],
        }
        if record.blob is None:
            continue
        tables = read_raw(run.raw(record.blob), record.sample, record.parser).tables
        n_tables += len(tables)
        boxes += [
            {
                "image_id": len(images),
                "category_id": 1,
                "bbox": [box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0],
                "score": 1.0 if table.confidence is None else table.confidence,
            }
            for table in tables
            if (box := table.box) is not None
        ]
    if n_tables and not boxes:
        raise UsageError(f"{parser} returns tables without boxes. Choose a parser that returns boxes.")
    names = [{"id": 1, "name": "table"}]
    content = {"images": [*images.values()], "categories": names, "annotations": boxes}
    write_text(out, json.dumps(content, ensure_ascii=False) + "\n")
    return [out]


def _markdown(prediction: Prediction) -> Iterator[tuple[str, str]]:
    """Yield Markdown as the parser wrote it, or text without tables; else its elements."""
    as_it_is = prediction.format == "markdown" or (prediction.format == "text" and not prediction.tables)
    if (text := prediction.text) is not None and as_it_is:
        yield ".md", text if text.endswith("\n") else text + "\n"
    else:
        yield ".md", write_document(prediction.elements)


def _html(prediction: Prediction) -> Iterator[tuple[str, str]]:
    parts = []
    if not prediction.elements and prediction.text:
        parts.append(f"<pre>{escape(prediction.text)}</pre>")
    for element in prediction.elements:
        if element.table is not None:
            parts.append(write_table(element.table, "html"))
        elif content := (element.text or element.latex):
            tag = "h2" if element.category == "title" else "p"
            parts.append(f"<{tag}>{escape(content)}</{tag}>")
    yield ".html", _CHARSET + "\n".join(parts) + "\n"


def _csv(prediction: Prediction) -> Iterator[tuple[str, str]]:
    tables = [element.table for element in prediction.tables if element.table is not None]
    for number, table in enumerate(tables, start=1):
        yield f".table{number}.csv", write_table(table, "csv")


def _json(prediction: Prediction) -> Iterator[tuple[str, str]]:
    yield ".json", json.dumps(prediction_to_json(prediction), indent=1, ensure_ascii=False) + "\n"


WRITERS: dict[str, Callable[[Prediction], Iterator[tuple[str, str]]]] = {
    "md": _markdown,
    "html": _html,
    "csv": _csv,
    "json": _json,
}
"""Format to the files of one page: ending and content."""


def export_board(path: Path, protocol: str | None, out: Path) -> list[Path]:
    """Write a run as the files of the benchmark whose rules it was scored by, and return their paths.
    UsageError if the protocol has no files of its own, or a name would lead out of the folder.
    """
    source = RunSource(Run.open(path), str(get_protocol(protocol)) if protocol else None)
    write = source.shown.result_files
    if write is None:
        raise UsageError(f"The protocol {source.protocol} has no result files of its own.")
    scores = source.run.table("scores", source.protocol)
    written = []
    for name, text in write(BoardRun(source.run, source.summary, source.samples, scores)):
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise UsageError(f"The name {name!r} of this run leads out of the folder {out}.")
        make_folder(out, *inside.parts[:-1])
        write_text(out / inside, text)
        written.append(out / inside)
    return written
