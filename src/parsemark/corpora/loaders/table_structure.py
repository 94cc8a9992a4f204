"""A table from the boxes of its rows, columns, headers and spanning cells (PubTables-1M's structure).

Rows and columns are sorted by place; each crossing is a cell. A spanning cell or projected row header joins
the rows and columns of which it covers at least half. Cells whose row lies at least half inside the column
header are headers. Each word belongs to the cell that holds most of it. The boxes come as PASCAL VOC
annotations: labelled boxes on a picture, in pixels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from parsemark.corpora.loaders.files import read_json, read_number, read_xml
from parsemark.corpora.loaders.truth_tables import filled_table
from parsemark.errors import CorpusError
from parsemark.formats.cell_text import clean
from parsemark.model import Box, Cell, Table


class PlacedWord(NamedTuple):
    """A word, and where it comes in reading order."""

    order: tuple[float, ...]
    text: str
    box: Box


def read_words(path: Path) -> list[PlacedWord]:
    """The words of a file, in reading order."""
    data = read_json(path)
    listed = data.get("words", data.get("tokens")) if isinstance(data, Mapping) else data
    if not isinstance(listed, list):
        raise CorpusError(f"{path} is not a list of words.")
    return sorted(_word(item, index, path) for index, item in enumerate(listed))


def joined(words: Iterable[PlacedWord]) -> str:
    """The texts of words in reading order, parted by spaces."""
    return " ".join(word.text for word in sorted(words))


def _word(item: Any, index: int, path: Path) -> PlacedWord:
    try:
        x0, y0, x1, y1 = (float(v) for v in item["bbox"])
        box = Box.of_points((x0, x1), (y0, y1))
        order = tuple(float(item.get(key, index)) for key in ("block_num", "line_num", "span_num"))
        return PlacedWord((*order, index), str(item["text"]), box)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"{path}, word {index}: it needs a text and a bbox of four numbers.") from error


ROW, COLUMN = "table row", "table column"
HEADER = "table column header"
MAX_COMPARISONS = 20_000_000
SPANNING = ("table spanning cell", "table projected row header")


def table_from_structure(objects: Iterable[VocObject], words: Sequence[PlacedWord]) -> Table:
    """The table of one set of structure boxes; its cells carry their boxes."""
    boxes: dict[str, list[Box]] = defaultdict(list)
    for item in objects:
        boxes[item.label].append(item.box)
    rows = sorted(boxes[ROW], key=lambda b: b.y0 + b.y1)
    columns = sorted(boxes[COLUMN], key=lambda b: b.x0 + b.x1)
    if len(rows) * len(columns) * max(len(words), 1) > MAX_COMPARISONS:
        what = f"A table of {len(rows)} x {len(columns)} with {len(words)} words"
        raise CorpusError(f"{what} is over what is read ({MAX_COMPARISONS:,} pairs of a cell and a word).")
    headers = {r for header in boxes[HEADER] for r in _rows_in(header, rows)}
    spans = [_spanned(box, rows, columns) for label in SPANNING for box in boxes[label]]
    cells = _cells(rows, columns, [s for s in spans if s is not None])
    texts = _texts(cells, words)
    table, _ = filled_table(
        Cell(c.row, c.col, texts[i], c.rowspan, c.colspan, c.row in headers, c.box)
        for i, c in enumerate(cells)
    )
    return table


def _rows_in(box: Box, rows: list[Box]) -> list[int]:
    return [i for i, row in enumerate(rows) if _share(row.y0, row.y1, box.y0, box.y1) >= 0.5]


def _spanned(box: Box, rows: list[Box], columns: list[Box]) -> tuple[range, range] | None:
    in_rows = _rows_in(box, rows)
    in_columns = [i for i, col in enumerate(columns) if _share(col.x0, col.x1, box.x0, box.x1) >= 0.5]
    if len(in_rows) * len(in_columns) < 2:
        return None
    return range(in_rows[0], in_rows[-1] + 1), range(in_columns[0], in_columns[-1] + 1)


def _cells(rows: list[Box], columns: list[Box], spans: list[tuple[range, range]]) -> list[Cell]:
    """The spanning cells, larger ones first, and a cell for each crossing that they leave."""
    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    single = [(range(r, r + 1), range(c, c + 1)) for r in range(len(rows)) for c in range(len(columns))]
    for in_rows, in_columns in [*sorted(spans, key=lambda s: -len(s[0]) * len(s[1])), *single]:
        places = {(r, c) for r in in_rows for c in in_columns}
        if places & taken:
            continue
        taken |= places
        across = Box.hull(columns[c] for c in in_columns)
        down = Box.hull(rows[r] for r in in_rows)
        box = Box(across.x0, down.y0, across.x1, down.y1)
        cells.append(Cell(in_rows[0], in_columns[0], "", len(in_rows), len(in_columns), box=box))
    return cells


def _texts(cells: list[Cell], words: Sequence[PlacedWord]) -> list[str]:
    held: dict[int, list[PlacedWord]] = defaultdict(list)
    for word in words:
        shared = [
            (0.0 if c.box is None else c.box.intersection_area(word.box), -i) for i, c in enumerate(cells)
        ]
        most, index = max(shared, default=(0.0, 0))
        if most > 0:
            held[-index].append(word)
    return [clean(joined(held[i])) for i in range(len(cells))]


def _share(start: float, end: float, other_start: float, other_end: float) -> float:
    """How much of the first extent lies in the other."""
    length = end - start
    shared = min(end, other_end) - max(start, other_start)
    return max(shared, 0.0) / length if length > 0 else 0.0


class VocObject(NamedTuple):
    """A labelled box."""

    label: str
    box: Box


class VocFile(NamedTuple):
    """What is annotated on one picture."""

    width: float
    height: float
    picture: str | None  # name of the picture's file
    objects: tuple[VocObject, ...]


def read_voc(path: Path) -> VocFile:
    """Read a VOC file. A box whose corners are swapped is put right; one without numbers is an error."""
    root = read_xml(path)
    objects = [
        VocObject((o.findtext("name") or "").strip().lower(), _box(o, path)) for o in root.iter("object")
    ]
    width, height = (_number(root.find(f"size/{side}"), path) for side in ("width", "height"))
    return VocFile(width, height, (root.findtext("filename") or "").strip() or None, tuple(objects))


def _box(element: etree._Element, path: Path) -> Box:
    box = element.find("bndbox")
    if box is None:
        raise CorpusError(f"{path}, line {element.sourceline}: an object has no bndbox.")
    x0, y0, x1, y1 = (_number(box.find(name), path) for name in ("xmin", "ymin", "xmax", "ymax"))
    return Box.of_points((x0, x1), (y0, y1))


def _number(element: etree._Element | None, path: Path) -> float:
    text = None if element is None else element.text
    number = read_number(text)
    if number is None:
        line = "" if element is None else f", line {element.sourceline}"
        raise CorpusError(f"{path}{line}: {text!r} is not a number.")
    return number
