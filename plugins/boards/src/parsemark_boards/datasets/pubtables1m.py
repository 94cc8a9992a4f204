"""`pubtables1m:DIR`: PubTables-1M (Smock et al.), detection and structure, as published.

    DIR/test/PMC1064074_1.xml          PASCAL VOC: the tables of a page (detection), or the rows, columns,
    DIR/test/PMC1064076_table_0.xml    headers and spanning cells of a table that was cut out (structure)
    DIR/images/PMC1064074_1.jpg
    DIR/words/PMC1064076_table_0_words.json

DIR may also be the folder above both parts, or the folder of one split; pictures and words are looked for
beside it. A structure file gives a page that is the table's picture, with a table whose HTML is built from
the boxes and the words. There are no PDFs; a pixel counts as a point. Samples are read when asked for.

Rows and columns are sorted by place; each crossing is a cell. A spanning cell or projected row header joins
the rows and columns of which it covers at least half. Cells whose row lies at least half inside the column
header are headers. Each word belongs to the cell that holds most of it.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    filled_table,
    listing_hash,
    read_json,
    read_number,
    read_xml,
    require_inside,
)
from parsemark.errors import CorpusError
from parsemark.formats import write_table
from parsemark.formats.cell_text import clean
from parsemark.model import TRUTH_ERROR, AttributeValue, Box, Category, Cell, Element, Page, Sample, Table

_DOCUMENT = re.compile(r"PMC\d+")
_TABLES = ("table", "table rotated")
_PICTURES = (".jpg", ".png", ".jpeg")
_ROW, _COLUMN, _HEADER = "table row", "table column", "table column header"
_SPANNING = ("table spanning cell", "table projected row header")
_MAX_COMPARISONS = 20_000_000


class VocObject(NamedTuple):
    """A labelled box."""

    label: str
    box: Box


class VocFile(NamedTuple):
    """What is annotated on one picture, in pixels."""

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


def load(root: Path) -> Corpus:
    """Load PubTables-1M: tables of scientific articles, as page pictures.

    All annotation files below the folder are read.
    """
    remarks: list[Remark] = []
    files = files_inside(root, "*.xml", remarks, of="a folder of PubTables-1M")
    ids = SampleIds()
    by_id = {ids.make(path.stem): path for path in files}
    version = "1", listing_hash(root, files)
    samples = tuple(by_id), partial(_read_sample, by_id)
    return Corpus("pubtables1m", *version, root, *samples, "CDLA-Permissive-2.0", remarks=tuple(remarks))


def _read_sample(files: dict[str, Path], identifier: str) -> Sample:
    """Return one page, or one table that was cut out."""
    path = files[identifier]
    voc = read_voc(path)
    is_structure = any(item.label == _ROW for item in voc.objects)
    tables = [item for item in voc.objects if item.label in _TABLES]
    elements = tuple(
        Element(f"t{i}", Category.TABLE, box=item.box, attributes={"rotated": item.label == "table rotated"})
        for i, item in enumerate(tables, start=1)
    )
    elements = (_structure(voc, path),) if is_structure else elements
    attributes = {"split": path.parent.name, "part": "structure" if is_structure else "detection"}
    page = Page(identifier, voc.width, voc.height, elements, attributes=attributes, only_tables=True)
    document = _DOCUMENT.match(path.stem)
    return Sample(identifier, document[0] if document else path.stem, 1, page, image=_picture(path, voc))


def _structure(voc: VocFile, path: Path) -> Element:
    words_file = _beside(path, "words", f"{path.stem}_words.json")
    words = [] if words_file is None else _read_words(words_file)
    try:
        table = _table_from_structure(voc.objects, words)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
    box = next((item.box for item in voc.objects if item.label in _TABLES), None)
    rotated = any(item.label == "table rotated" for item in voc.objects)
    attributes: dict[str, AttributeValue] = {"rotated": rotated}
    if words_file is None:
        why = f"{path.stem}_words.json is missing, so the text of the cells is unknown."
        attributes |= {"without_words": True, TRUTH_ERROR: why}
    html = write_table(table, "html")
    return Element("t1", Category.TABLE, box=box, html=html, table=table, attributes=attributes)


def _picture(path: Path, voc: VocFile) -> Path | None:
    names = [f"{path.stem}{suffix}" for suffix in _PICTURES]
    if voc.picture is not None:
        names.insert(0, Path(voc.picture).name)
    return next((found for name in names if (found := _beside(path, "images", name)) is not None), None)


def _beside(path: Path, folder: str, name: str) -> Path | None:
    """Return a file in `folder` beside the split, by split or not."""
    base = path.parent.parent
    candidates = (base / folder / name, base / folder / path.parent.name / name, path.parent / folder / name)
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    return None if found is None else require_inside(base, found)


class _PlacedWord(NamedTuple):
    """A word, and where it comes in reading order."""

    order: tuple[float, ...]
    text: str
    box: Box


def _read_words(path: Path) -> list[_PlacedWord]:
    """Return the words of a file, in reading order."""
    data = read_json(path)
    listed = data.get("words", data.get("tokens")) if isinstance(data, Mapping) else data
    if not isinstance(listed, list):
        raise CorpusError(f"{path} is not a list of words.")
    return sorted(_word(item, index, path) for index, item in enumerate(listed))


def _word(item: Any, index: int, path: Path) -> _PlacedWord:
    try:
        x0, y0, x1, y1 = (float(v) for v in item["bbox"])
        box = Box.of_points((x0, x1), (y0, y1))
        order = tuple(float(item.get(key, index)) for key in ("block_num", "line_num", "span_num"))
        return _PlacedWord((*order, index), str(item["text"]), box)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"{path}, word {index}: it needs a text and a bbox of four numbers.") from error


_Extent = tuple[float, float]  # of a row from its top, or of a column from its left


def _table_from_structure(objects: Sequence[VocObject], words: Sequence[_PlacedWord]) -> Table:
    """Return the table of one set of structure boxes; its cells carry their boxes."""
    boxes: dict[str, list[Box]] = defaultdict(list)
    for item in objects:
        boxes[item.label].append(item.box)
    rows = sorted(((box.y0, box.y1) for box in boxes[_ROW]), key=sum)
    columns = sorted(((box.x0, box.x1) for box in boxes[_COLUMN]), key=sum)
    if len(rows) * len(columns) * max(len(words), 1) > _MAX_COMPARISONS:
        what = f"A table of {len(rows)} x {len(columns)} with {len(words)} words"
        raise CorpusError(
            f"{what} exceeds the size limit of {_MAX_COMPARISONS:,} pairs of a cell and a word."
        )
    headers = {r for box in boxes[_HEADER] for r in _half_inside(rows, box.y0, box.y1)}
    spanning = [box for label in _SPANNING for box in boxes[label]]
    spans = [(_half_inside(rows, b.y0, b.y1), _half_inside(columns, b.x0, b.x1)) for b in spanning]
    cells = _cells(rows, columns, spans)
    held: dict[int, list[str]] = defaultdict(list)
    for word in words:
        shared = [(box.intersection_area(word.box), -i) for i, (_, _, box) in enumerate(cells)]
        most, index = max(shared, default=(0.0, 0))
        if most > 0:
            held[-index].append(word.text)
    table, _ = filled_table(
        Cell(down[0], across[0], clean(" ".join(held[i])), len(down), len(across), down[0] in headers, box)
        for i, (down, across, box) in enumerate(cells)
    )
    return table


def _half_inside(lines: Sequence[_Extent], low: float, high: float) -> list[int]:
    """Return the rows, or columns, of which at least half lies between two places."""
    return [
        i for i, (start, end) in enumerate(lines)
        if end > start and max(min(end, high) - max(start, low), 0.0) / (end - start) >= 0.5
    ]  # fmt: skip


def _cells(
    rows: Sequence[_Extent], columns: Sequence[_Extent], spans: Sequence[tuple[list[int], list[int]]]
) -> list[tuple[range, range, Box]]:
    """Return the spanning cells, larger ones first, and a cell for each crossing that they leave, with its
    box.
    """
    wide = [
        (range(down[0], down[-1] + 1), range(across[0], across[-1] + 1))
        for down, across in spans
        if len(down) * len(across) > 1
    ]
    wide.sort(key=lambda span: -len(span[0]) * len(span[1]))
    single = [(range(r, r + 1), range(c, c + 1)) for r in range(len(rows)) for c in range(len(columns))]
    taken: set[tuple[int, int]] = set()
    cells: list[tuple[range, range, Box]] = []
    for down, across in (*wide, *single):
        places = {(r, c) for r in down for c in across}
        if places & taken:
            continue
        taken |= places
        ys, xs = (side for r in down for side in rows[r]), (side for c in across for side in columns[c])
        cells.append((down, across, Box.of_points(xs, ys)))
    return cells
