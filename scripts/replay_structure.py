r"""Recorded outputs of a structure network, turned into tables again without the network.

Run it with `python scripts/replay_structure.py FOLDER`.

A recording is a JSON file with one entry per table, beside a folder `pdfs/`:

    {"name": {"pdf": "1.pdf", "page_no": 3, "bbox": [x0, y0, x1, y1], "label": 0, "confidence_score": 0.99,
              "angle": 90, "structure": {"scores": [], "labels": [], "boxes": []}, "gmft_csv": "a,b\n"}}

`page_no` counts from 0 and `bbox` is the table on its page, in points. The boxes of the structure are in
points from the corner of the upright table; labels are numbered as in `PartKind`. `gmft_csv` is the table
that another library made of the same outputs. `label` 1 is a table that lies on its side.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from rich.console import Console
from rich.table import Table as View

from parsemark.errors import FormatError, ParsemarkError, PdfError
from parsemark.formats import write_table
from parsemark.model import Box, Table
from parsemark.pdf import page_glyphs, page_text
from parsemark.plain_words import counted, first_problem, rounded
from parsemark.structure import RULES, Frame, Part, PartKind, Rules, Word, build_table, join_glyphs
from parsemark.system import make_folder, write_text

MAX_BYTES = 256 * 1024 * 1024
_NOT_TEXT = dict.fromkeys(map(ord, "\ufffe\x02\u00ad"))
_HEADER_JOIN = " \\n"
"""How the other library joins the rows of a header in one cell."""


class _Structure(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    scores: list[float] | None = None
    """Without scores all boxes count alike."""
    labels: list[int]
    boxes: list[tuple[float, float, float, float]]

    @model_validator(mode="after")
    def _same_length(self) -> _Structure:
        if not len(self.scores or self.labels) == len(self.labels) == len(self.boxes):
            raise ValueError("scores, labels and boxes differ in length")
        return self


class RecordedTable(BaseModel):
    """One table of a recording."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pdf: str = Field(pattern=r"^[^/\\]+$")
    page_no: int = Field(ge=0)
    bbox: tuple[float, float, float, float]
    label: int = 0
    angle: int | None = None
    confidence_score: float | None = None
    structure: _Structure
    gmft_csv: str | None = None

    @property
    def frame(self) -> Frame:
        """Return where it lies; Table Transformer turns a table that lies on its side clockwise."""
        angle = self.angle if self.angle is not None else (90 if self.label == 1 else 0)
        return Frame(Box(*self.bbox), angle % 360)

    @property
    def parts(self) -> list[Part]:
        """Return the network's detections without the class "no object"."""
        kinds = list(PartKind)
        recorded = self.structure
        scores = recorded.scores or [1.0] * len(recorded.labels)
        return [
            Part(kinds[label], _box(corners), score)
            for score, label, corners in zip(scores, recorded.labels, recorded.boxes, strict=True)
            if 0 <= label < len(kinds)
        ]


def _box(corners: Sequence[float]) -> Box:
    x0, y0, x1, y1 = corners
    return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a replay needs to know of a page."""

    words: Sequence[Word]
    text: str


ReadPage = Callable[[Path, int], PageContent]


@lru_cache(maxsize=64)
def read_page(pdf: Path, page_number: int) -> PageContent:
    """Return the content of a PDF's page, counted from 1."""
    return PageContent(tuple(join_glyphs(page_glyphs(pdf, page_number))), page_text(pdf, page_number))


@dataclass(frozen=True, slots=True)
class TextAgreement:
    """How far a table agrees with the text of the page that it stands on."""

    n_cells: int
    """Cells with text."""
    n_found: int
    """Those whose text stands on the page in one piece."""
    n_chars: int
    """Characters of the page inside of the table's box."""
    n_covered: int
    """Of these, as many as the found cells have."""

    @property
    def precision(self) -> float | None:
        """Return the share of the cells that are found; None without cells."""
        return self.n_found / self.n_cells if self.n_cells else None

    @property
    def coverage(self) -> float | None:
        """Return the share of the text in the box that the found cells hold; None without text."""
        return self.n_covered / self.n_chars if self.n_chars else None

    @property
    def value(self) -> float | None:
        """Return the harmonic mean of both; 0 if either is missing, None if there is nothing to agree
        about.
        """
        if not self.n_cells and not self.n_chars:
            return None
        p, r = self.precision or 0.0, self.coverage or 0.0
        return 2 * p * r / (p + r) if p + r else 0.0


@dataclass(frozen=True, slots=True)
class Replay:
    """One recorded table, read by us and by the library that recorded it."""

    name: str
    table: Table
    ours: TextAgreement
    recorded: TextAgreement | None
    problem: str | None = None
    """Why it could not be read; it then has no cells."""


def read_recording(path: Path) -> dict[str, RecordedTable | str]:
    """Return the tables of a recording; for an entry that cannot be read, what is wrong with it.

    Raises:
        FormatError: If the file is no recording at all.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"the recording is over {MAX_BYTES} bytes", where=str(path))
        data = json.loads(path.read_bytes())
        return {str(name): _read_entry(entry) for name, entry in dict(data).items()}
    except OSError as error:
        raise FormatError(f"the recording cannot be read: {error}", where=str(path)) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(
            f"this is not a recording of a structure network: {error}", where=str(path)
        ) from error


def _read_entry(entry: object) -> RecordedTable | str:
    try:
        return RecordedTable.model_validate(entry)
    except ValidationError as error:
        return first_problem(error, "the entry")


def replay(path: Path, read_page: ReadPage = read_page, rules: Rules = RULES) -> Iterable[Replay]:
    """Read each recorded table again, with the words of its PDF. One that cannot be read costs itself.

    Args:
        path: The JSON file; its PDFs lie in `pdfs/` beside it, or next to it.
        read_page: Gives words and text of a page, counted from 1.
        rules: How boxes are read.
    """
    for name, entry in read_recording(path).items():
        try:
            if isinstance(entry, str):
                raise FormatError(entry)
            page = read_page(_pdf(path, entry.pdf), entry.page_no + 1)
            table = build_table(entry.parts, page.words, entry.frame, rules)
            csv_cells = None if entry.gmft_csv is None else _csv_cells(entry.gmft_csv)
        except (ValueError, FormatError, PdfError) as error:
            yield Replay(name, Table(0, 0), TextAgreement(0, 0, 0, 0), None, str(error))
            continue
        inside = [w for w in page.words if _mostly_inside(w.box, entry.frame.box)]
        ours = agreement((c.text for c in table.cells), page.text, inside)
        theirs = None if csv_cells is None else agreement(csv_cells, page.text, inside)
        yield Replay(name, table, ours, theirs)


def _pdf(path: Path, name: str) -> Path:
    beside = path.parent / "pdfs" / name
    return beside if beside.is_file() else path.parent / name


def _csv_cells(text: str) -> list[str]:
    try:
        return [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    except csv.Error as error:
        raise FormatError(f"the recorded CSV cannot be read: {error}") from error


def agreement(cells: Iterable[str], page_text: str, inside: Iterable[Word]) -> TextAgreement:
    """Return how far cells agree with the text of their page.

    White space, the marks of divided words and differences that NFKC folds do not count. A cell into which
    several header rows were joined is found if each of its rows is.

    Args:
        cells: The texts of the cells.
        page_text: The text of the whole page, in the order of the file.
        inside: The words in the table's box.
    """
    on_page = _folded(page_text)
    n_cells = n_found = found_chars = 0
    for cell in cells:
        pieces = [folded for piece in cell.split(_HEADER_JOIN) if (folded := _folded(piece))]
        if not pieces:
            continue
        n_cells += 1
        # pdfium leaves the hyphen of a divided word out of a page's text; a cell may end with one.
        if all(piece in on_page or (piece.rstrip("-") or piece) in on_page for piece in pieces):
            n_found += 1
            found_chars += sum(map(len, pieces))
    n_chars = sum(len(_folded(word.text)) for word in inside)
    return TextAgreement(n_cells, n_found, n_chars, min(n_chars, found_chars))


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).translate(_NOT_TEXT).split())


def _mostly_inside(word: Box, box: Box) -> bool:
    return word.intersection_area(box) >= 0.5 * word.area and word.area > 0


def main(
    recording: Annotated[Path, typer.Argument(help="recorded.json, or the folder that holds it.")],
    out: Annotated[Path | None, typer.Option(help="Folder for one HTML file per table.")] = None,
    json_out: Annotated[Path | None, typer.Option("--json", help="File for all figures as JSON.")] = None,
) -> None:
    """Make tables of recorded network outputs and say how far they agree with the text of their pages.

    Two figures per table, for our table and for the recorded CSV: `cells`, the share of the non-empty cells
    whose text stands on the page in one piece, and `agreement`, the harmonic mean of that with the share of
    the text in the table's box that those cells hold. A table without text (a picture) has none.
    """
    path = recording / "recorded.json" if recording.is_dir() else recording
    results = list(replay(path))
    if results and all(item.problem is not None for item in results):
        raise ParsemarkError(f"No table of {path} can be read: {results[0].name}: {results[0].problem}")
    view = View("table", "size", "cells", "in the CSV", "agreement", "of the CSV", box=None)
    for item in results:
        if item.problem is not None:
            typer.echo(f"! {item.name} is not read: {item.problem}", err=True)
            continue
        size = f"{item.table.n_rows} x {item.table.n_cols}"
        view.add_row(item.name, size, *_figures(item, "precision"), *_figures(item, "value"))
    console = Console()
    console.print(view)
    console.print(_overall(results), highlight=False, soft_wrap=True)
    if out is not None:
        _write_tables(out, results)
    if json_out is not None:
        _write_json(json_out, results)


def _figures(item: Replay, what: str) -> tuple[str, str]:
    ours = getattr(item.ours, what)
    recorded = None if item.recorded is None else getattr(item.recorded, what)
    return rounded(ours), rounded(recorded)


def _overall(results: list[Replay]) -> str:
    compared = [r for r in results if r.recorded is not None and r.ours.n_chars]
    ours, theirs = _total(r.ours for r in compared), _total(r.recorded for r in compared)
    better = sum((r.ours.value or 0) > (r.recorded.value or 0) + 1e-9 for r in compared if r.recorded)
    worse = sum((r.ours.value or 0) < (r.recorded.value or 0) - 1e-9 for r in compared if r.recorded)
    failed = sum(r.problem is not None for r in results)
    without = len(results) - len(compared) - failed
    return (
        f"{counted(len(compared), 'table')} with text: "
        f"cells {rounded(ours.precision, 4)} (CSV {rounded(theirs.precision, 4)}), "
        f"agreement {rounded(ours.value, 4)} (CSV {rounded(theirs.value, 4)}); "
        f"higher than the CSV in {better}, lower in {worse}; {without} without text or CSV"
        + (f"; {failed} not read" if failed else "")
    )


def _total(agreements: Iterable[TextAgreement | None]) -> TextAgreement:
    items = [a for a in agreements if a is not None]
    return TextAgreement(
        sum(a.n_cells for a in items),
        sum(a.n_found for a in items),
        sum(a.n_chars for a in items),
        sum(a.n_covered for a in items),
    )


def _write_tables(folder: Path, results: list[Replay]) -> None:
    make_folder(folder)
    for number, item in enumerate(results, start=1):
        safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in item.name)[:80]
        target = folder / f"{number:03d}-{safe}.html"
        write_text(target, write_table(item.table, "html"))


def _write_json(target: Path, results: list[Replay]) -> None:
    rows = [
        {
            "name": r.name,
            "problem": r.problem,
            "rows": r.table.text_rows(),
            "ours": {**asdict(r.ours), "cells": r.ours.precision, "agreement": r.ours.value},
            "recorded": None
            if r.recorded is None
            else {**asdict(r.recorded), "cells": r.recorded.precision, "agreement": r.recorded.value},
        }
        for r in results
    ]
    write_text(target, json.dumps(rows, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    typer.run(main)
