"""The XML files of ICDAR 2013: regions and cells of tables, in points from the bottom left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from parsemark.corpora.loaders.files import read_number, read_xml, require_inside
from parsemark.errors import CorpusError
from parsemark.formats.cell_text import clean
from parsemark.model import Box, Cell


@dataclass(frozen=True, slots=True)
class Region:
    """A table, or the part of it at one place. Rows and columns count from 0 inside the region."""

    table: int
    number: int
    """Which region of its table, from 0."""
    page: int
    box: Box | None
    cells: tuple[Cell, ...]
    n_repaired: int = 0
    """Cells of the file that end before they start; they are read as if their ends were exchanged."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """All tables of one document."""

    name: str
    regions: tuple[Region, ...]

    def n_regions(self, table: int) -> int:
        """How many regions a table has."""
        return sum(region.table == table for region in self.regions)


def read_annotation(
    root: Path, pdf: Path, name: str, turned_pages: frozenset[int] = frozenset()
) -> Annotation:
    """The regions of `NAME-str.xml`, with the boxes of `NAME-reg.xml`; a document may have neither.

    On turned pages the two files measure differently, so that only the order tells which belong together.
    """
    structure, place = (require_inside(root, pdf.parent / f"{name}-{kind}.xml") for kind in ("str", "reg"))
    boxes = _region_boxes(place) if place.is_file() else {}
    if not structure.is_file():
        regions = [Region(t, n, page, box, ()) for (t, n), (page, box) in sorted(boxes.items())]
        return Annotation(name, tuple(regions))
    regions = []
    for table, number, element in _regions(structure):
        page = _integer(element, "page", structure)
        placed = [_cell(cell, structure) for cell in element.iter("cell")]
        cells = _from_zero(placed)
        on_page = {k: box for k, (p, box) in boxes.items() if p == page and box is not None}
        own = on_page.get((table, number))
        box = own if page in turned_pages else _box_of(cells, own, list(on_page.values()))
        regions.append(Region(table, number, page, box, cells, sum(p.is_repaired for p in placed)))
    return Annotation(name, tuple(regions))


def _box_of(cells: tuple[Cell, ...], own: Box | None, on_page: list[Box]) -> Box | None:
    """The box of the same number, or where that is elsewhere the one on the page that shares most."""
    found = [c.box for c in cells if c.box is not None]
    if not found or (own is not None and own.intersection_area(Box.hull(found)) > 0):
        return own
    shared = {box: box.intersection_area(Box.hull(found)) for box in on_page}
    best = max(shared, key=lambda box: shared[box], default=None)
    return best if best is not None and shared[best] > 0 else own


def _regions(path: Path) -> Iterator[tuple[int, int, etree._Element]]:
    """Number of the table, number of the region in it, and the region; ids in the files repeat."""
    for table_number, table in enumerate(read_xml(path).iter("table"), start=1):
        for region_number, region in enumerate(table.iter("region")):
            yield table_number, region_number, region


def _region_boxes(path: Path) -> dict[tuple[int, int], tuple[int, Box | None]]:
    return {
        (table, number): (_integer(region, "page", path), _box(region, path))
        for table, number, region in _regions(path)
    }


@dataclass(frozen=True, slots=True)
class _Placed:
    """A cell with the numbers of the file, which may be negative."""

    row: int
    col: int
    last_row: int
    last_col: int
    text: str
    box: Box | None
    is_repaired: bool


def _cell(element: etree._Element, path: Path) -> _Placed:
    row, col = (_integer(element, f"start-{axis}", path) for axis in ("row", "col"))
    last_row, last_col = (
        _integer(element, f"end-{axis}", path) if element.get(f"end-{axis}") else start
        for axis, start in (("row", row), ("col", col))
    )
    return _Placed(
        min(row, last_row),
        min(col, last_col),
        max(row, last_row),
        max(col, last_col),
        clean(element.findtext("content") or ""),
        _box(element, path),
        last_row < row or last_col < col,
    )


def _from_zero(placed: list[_Placed]) -> tuple[Cell, ...]:
    """The cells with their first row and column as 0: some tables begin at 1, or at −1."""
    first_row = min((p.row for p in placed), default=0)
    first_col = min((p.col for p in placed), default=0)
    return tuple(
        Cell(
            p.row - first_row,
            p.col - first_col,
            p.text,
            p.last_row - p.row + 1,
            p.last_col - p.col + 1,
            box=p.box,
        )
        for p in placed
    )


def _box(element: etree._Element, path: Path) -> Box | None:
    box = element.find("bounding-box")
    if box is None:
        return None
    x1, y1, x2, y2 = (_number(box, name, path) for name in ("x1", "y1", "x2", "y2"))
    return Box.of_points((x1, x2), (y1, y2))


def _integer(element: etree._Element, name: str, path: Path) -> int:
    value = _number(element, name, path)
    if value != int(value):
        raise CorpusError(f"{path}, line {element.sourceline}: {name} is {value}, not a whole number.")
    return int(value)


def _number(element: etree._Element, name: str, path: Path) -> float:
    value = element.get(name)
    number = read_number(value)
    if number is None:
        raise CorpusError(f"{path}, line {element.sourceline}: {name} is {value!r}, not a number.")
    return number
