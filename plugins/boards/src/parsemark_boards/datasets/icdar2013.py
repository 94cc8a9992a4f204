"""`icdar2013:DIR`: the ICDAR 2013 table competition (Göbel et al.), as published.

    DIR/**/eu-001.pdf, eu-001-reg.xml (regions), eu-001-str.xml (cells)

Every page of every PDF is a sample, also those without tables. A table of several regions is one element per
region, since each is what stands at one place of one page; the attribute `region` tells which.
Some documents have two annotations, `a` and `b`, and one PDF, under `a`: the first is taken here, the other
by `icdar2013-alternates:DIR`. Cells that the files do not list are empty cells. Known errors of the truth are
corrected (`icdar2013_corrections.json`, and a `corrections.json` in DIR); the files themselves are never
touched, and `icdar2013-uncorrected:DIR` gives them as they are. A document whose files cannot be read is left
out, and one whose files contradict themselves has no truth; both are named.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from lxml import etree

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.correct import TruthCorrection, corrected_page, read_corrections
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    filled_table,
    read_each,
    read_number,
    read_xml,
    require_inside,
)
from parsemark.errors import CorpusError
from parsemark.formats.cell_text import clean
from parsemark.model import TRUTH_ERROR, AttributeValue, Box, Category, Cell, Element, Page, Relation, Sample
from parsemark.pdf import PageShape, page_shapes
from parsemark.plain_words import counted

LICENCE = "may be read from disk, not redistributed"
SHIPPED = Path(__file__).with_name("icdar2013_corrections.json")
OWN_CORRECTIONS = "corrections.json"  # a file of this name in the corpus folder is applied too

_ALTERNATE = re.compile(r"(.*\d)([a-z])")


@dataclass(frozen=True, slots=True)
class Region:
    """A table, or the part of it at one place. Rows and columns count from 0 inside the region."""

    table: int
    number: int  # which region of its table, from 0
    page: int
    box: Box | None
    cells: tuple[Cell, ...]
    n_repaired: int = 0
    """Cells of the file that end before they start; they are read as if their ends were exchanged."""


def _read_regions(root: Path, pdf: Path, name: str, turned_pages: frozenset[int]) -> list[Region]:
    """Return the regions of `NAME-str.xml`, with the boxes of `NAME-reg.xml`; a document may have neither.

    On turned pages the two files measure differently, so that only the order tells which belong together.
    """
    structure, place = (require_inside(root, pdf.parent / f"{name}-{kind}.xml") for kind in ("str", "reg"))
    boxes = {
        (table, number): (_integer(region, "page", place), _box(region, place))
        for table, number, region in (_regions(place) if place.is_file() else ())
    }
    if not structure.is_file():
        return [Region(t, n, page, box, ()) for (t, n), (page, box) in sorted(boxes.items())]
    regions = []
    for table, number, element in _regions(structure):
        page = _integer(element, "page", structure)
        cells, n_repaired = _cells(element, structure)
        on_page = {k: box for k, (p, box) in boxes.items() if p == page and box is not None}
        own = on_page.get((table, number))
        box = own if page in turned_pages else _box_of(cells, own, list(on_page.values()))
        regions.append(Region(table, number, page, box, cells, n_repaired))
    return regions


def _contradiction(pdf: Path, name: str, n_pages: int) -> Remark | None:
    """Return why nobody can say which tables the pages of a document have, where that is so."""
    files = [file for kind in ("str", "reg") if (file := pdf.parent / f"{name}-{kind}.xml").is_file()]
    if not files:
        why = f"there is neither {name}-str.xml nor {name}-reg.xml."
        return Remark(pdf.name, f"has no truth: {why}", left_out=False)
    said = [(f.name, Counter(_integer(region, "page", f) for _, _, region in _regions(f))) for f in files]
    for named, page in ((named, page) for named, tables in said for page in tables):
        if not 1 <= page <= n_pages:
            why = f"{named} has a table on page {page} of {n_pages}."
            return Remark(pdf.name, f"has no truth: {why}")
    (one, first), (other, second) = said[0], said[-1]
    for page in sorted(first | second):
        if first[page] != second[page]:
            why = f"{one} has {counted(first[page], 'table')} on page {page}, {other} {second[page]}."
            return Remark(pdf.name, f"has no truth: {why}")
    return None


def _box_of(cells: tuple[Cell, ...], own: Box | None, on_page: list[Box]) -> Box | None:
    """Return the box of the same number, or where that is elsewhere the one on the page that shares most."""
    found = [c.box for c in cells if c.box is not None]
    if not found or (own is not None and own.intersection_area(Box.hull(found)) > 0):
        return own
    shared = {box: box.intersection_area(Box.hull(found)) for box in on_page}
    best = max(shared, key=lambda box: shared[box], default=None)
    return best if best is not None and shared[best] > 0 else own


def _regions(path: Path) -> Iterator[tuple[int, int, etree._Element]]:
    """Yield the number of the table, number of the region in it, and the region; ids in the files repeat."""
    for table_number, table in enumerate(read_xml(path).iter("table"), start=1):
        for region_number, region in enumerate(table.iter("region")):
            yield table_number, region_number, region


def _cells(region: etree._Element, path: Path) -> tuple[tuple[Cell, ...], int]:
    """Return the cells with their first row and column as 0, and how many end before they start.

    Some tables begin at 1, or at −1.
    """
    listed = list(region.iter("cell"))
    downs, acrosses = ([_span(cell, axis, path) for cell in listed] for axis in ("row", "col"))
    row, col = (min(map(min, spans), default=0) for spans in (downs, acrosses))
    cells, n_repaired = [], 0
    for cell, down, across in zip(listed, downs, acrosses, strict=True):
        spans = abs(down[1] - down[0]) + 1, abs(across[1] - across[0]) + 1
        text = clean(cell.findtext("content") or "")
        cells.append(Cell(min(down) - row, min(across) - col, text, *spans, box=_box(cell, path)))
        n_repaired += down[1] < down[0] or across[1] < across[0]
    return tuple(cells), n_repaired


def _span(cell: etree._Element, axis: str, path: Path) -> tuple[int, int]:
    start = _integer(cell, f"start-{axis}", path)
    return start, _integer(cell, f"end-{axis}", path) if cell.get(f"end-{axis}") else start


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


def load(root: Path) -> Corpus:
    """Load the ICDAR 2013 table competition, with the first annotation of each document."""
    return _load(root, "icdar2013", alternates=False)


def load_alternates(root: Path) -> Corpus:
    """Load the ICDAR 2013 table competition, with the second annotation where there is one."""
    return _load(root, "icdar2013-alternates", alternates=True)


def load_uncorrected(root: Path) -> Corpus:
    """Load the ICDAR 2013 table competition as published, without corrections, to audit it."""
    return _load(root, "icdar2013-uncorrected", alternates=False, corrected=False)


def _load(root: Path, name: str, *, alternates: bool, corrected: bool = True) -> Corpus:
    remarks: list[Remark] = []
    pdfs = files_inside(root, "*.pdf", remarks, of="the ICDAR 2013 dataset")
    files = [file for file in (SHIPPED, root / OWN_CORRECTIONS) if corrected and file.is_file()]
    corrections = [(file, correction) for file in files for correction in read_corrections(file)]
    samples = read_each(root, pdfs, partial(_samples, root, corrections, alternates, remarks), remarks)
    known = {sample.id for sample in samples}
    for file, correction in corrections:
        if file != SHIPPED and correction.sample not in known:
            raise CorpusError(f"{file}: page {correction.sample!r} does not exist.")
    return Corpus.of(name, samples, root=root, version="2013", licence=LICENCE, remarks=remarks)


Corrections = list[tuple[Path, TruthCorrection]]  # each with the file that has it


def _samples(
    root: Path, corrections: Corrections, alternates: bool, remarks: list[Remark], pdf: Path, ids: SampleIds
) -> Iterator[Sample]:
    annotations = _annotations(pdf)
    chosen = annotations[-1 if alternates else 0]
    shapes = page_shapes(pdf, turns=True)
    turned = frozenset(number for number, shape in enumerate(shapes, start=1) if shape.rotation)
    regions = _read_regions(root, pdf, chosen, turned)
    n_regions = Counter(region.table for region in regions)
    contradiction = _contradiction(pdf, chosen, len(shapes))
    if contradiction is not None:
        remarks.append(contradiction)
    attributes = {} if len(annotations) == 1 else {"annotation": chosen}
    for number, shape in enumerate(shapes, start=1):
        identifier = ids.make(pdf.stem, f"p{number}")
        if contradiction is not None:
            yield Sample(identifier, pdf.stem, number, None, pdf)
            continue
        own = [region for region in regions if region.page == number]
        elements = tuple(_element(region, shape, n_regions[region.table]) for region in own)
        relations = tuple(
            Relation("continued", _element_id(one), _element_id(other))
            for one, other in product(own, own)
            if one.table == other.table and one.number + 1 == other.number
        )
        size = shape.width, shape.height
        page = Page(identifier, *size, elements, relations, attributes, only_tables=True)
        for file, correction in corrections:
            if correction.sample == identifier:
                page = corrected_page(page, [correction], file)
        yield Sample(identifier, pdf.stem, number, page, pdf)


def _annotations(pdf: Path) -> list[str]:
    """Return names of the annotations of a document, the one of its own name first."""
    names = [pdf.stem]
    match = _ALTERNATE.fullmatch(pdf.stem)
    if match:
        others = sorted(p.name.removesuffix("-str.xml") for p in pdf.parent.glob(f"{match[1]}[a-z]-str.xml"))
        names += [name for name in others if name != pdf.stem and not (pdf.parent / f"{name}.pdf").exists()]
    return names


def _element_id(region: Region) -> str:
    return f"t{region.table}" if region.number == 0 else f"t{region.table}r{region.number + 1}"


def _element(region: Region, shape: PageShape, n_regions: int) -> Element:
    height = _height_of_cells(region, shape)
    cells = [replace(c, box=None if c.box is None else c.box.flipped(height)) for c in region.cells]
    table, n_changed = filled_table(cells)
    boxes = [cell.box for cell in cells if cell.box is not None]
    own = Box.hull(boxes) if boxes else None
    box = own if region.box is None else region.box.flipped(shape.height)
    attributes: dict[str, AttributeValue] = {}
    if n_regions > 1:
        attributes |= {"region": region.number + 1, "regions": n_regions}
    if n_changed or region.n_repaired:
        attributes["repaired_cells"] = n_changed + region.n_repaired
    if not cells:
        attributes[TRUTH_ERROR] = "Its cells are not in the document's -str.xml, or that file is missing."
    return Element(_element_id(region), Category.TABLE, box=box, table=table, attributes=attributes)


def _height_of_cells(region: Region, shape: PageShape) -> float:
    """Return the height from which the cells of a region were measured.

    On turned pages the cell boxes were measured from the height of the page before it was turned, while the
    regions were not: the height is taken that brings the cells into their region.
    """
    boxes = [cell.box for cell in region.cells if cell.box is not None]
    if not shape.rotation or region.box is None or not boxes:
        return shape.height
    place = region.box.flipped(shape.height)
    hull = Box.hull(boxes)
    return max((shape.height, shape.width), key=lambda height: hull.flipped(height).intersection_area(place))
