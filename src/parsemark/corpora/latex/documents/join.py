"""Joins the tables that TeX set with those of the source: boxes from one, content from the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import Levenshtein

from parsemark.corpora.latex.documents.candidates import Candidate
from parsemark.corpora.latex.glyphs import glyph_text
from parsemark.corpora.latex.grid_agreement import covers
from parsemark.corpora.latex.marks import MarkedPage, MarkedTable
from parsemark.corpora.latex.slots import MarkedCell
from parsemark.errors import FormatError
from parsemark.formats.latex.grid import select_rows
from parsemark.formats.latex.table import PlacedTable, place_table
from parsemark.formats.write import write_table
from parsemark.model import AttributeValue, Box, Category, Cell, Element, Table
from parsemark.model.complexity import complexity

MIN_SIMILARITY = 0.6
"""Glyphs that a table and its source have in common, at least."""
_HEAD = ("endhead", "endfirsthead")


@dataclass(frozen=True, slots=True)
class Part:
    """A table, or the part of a long one, on one page."""

    page: int
    marked: MarkedTable


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """What became of a table, or of a part of one."""

    page: int
    element: Element | None
    """None if it is no table: a title block, a list, a frame around something."""
    note: str
    """What the report says."""


def parts_by_table(pages: Sequence[MarkedPage]) -> list[list[Part]]:
    """The parts of each table, in the order in which TeX began the tables."""
    parts: dict[int, list[Part]] = {}
    for page in pages:
        for marked in page.tables:
            parts.setdefault(marked.id, []).append(Part(page.number, marked))
    return [parts[identifier] for identifier in sorted(parts)]


def join_table(parts: Sequence[Part], candidates: Sequence[Candidate]) -> list[JoinedTable]:
    """The truth of each part of a table."""
    if not any(is_table(part.marked) for part in parts):
        return [JoinedTable(part.page, None, "layout") for part in parts]
    candidate = _best(parts, candidates)
    if candidate is None:
        return [_from_glyphs(part, len(parts) > 1, "its source was not found") for part in parts]
    candidate.is_used = True
    joined: list[JoinedTable] = []
    next_row = 0
    for number, part in enumerate(parts):
        marked, rows = _rows_of(part.marked, candidate, next_row)
        body = [row for row in rows if candidate.grid.sections[row] == ""]
        next_row = max(body, default=next_row - 1) + 1
        joined.append(
            _joined(replace(part, marked=marked), candidate, rows, number if len(parts) > 1 else None)
        )
    return joined


def is_table(marked: MarkedTable) -> bool:
    """At least two rows and columns, and text in at least four cells: else it is layout."""
    return marked.n_rows > 1 and marked.n_cols > 1 and sum(bool(c.text.strip()) for c in marked.cells) >= 4


def _best(parts: Sequence[Part], candidates: Sequence[Candidate]) -> Candidate | None:
    """The first unused table of the source that is most like the one that was set."""
    shown = "".join(row for part in parts for row in _marked_rows(part.marked))
    best, best_score = None, MIN_SIMILARITY
    for candidate in candidates:
        if candidate.is_used or _common_share(shown, candidate.glyphs) <= best_score:
            continue
        score = Levenshtein.normalized_similarity(shown, candidate.glyphs)
        if score > best_score:
            best, best_score = candidate, score
        if score == 1.0:
            break
    return best


def _common_share(one: str, other: str) -> float:
    """An upper bound of the similarity, in linear time."""
    longest = max(len(one), len(other))
    return (Counter(one) & Counter(other)).total() / longest if longest else 1.0


def _marked_rows(marked: MarkedTable) -> list[str]:
    rows = [""] * marked.n_rows
    for cell in marked.cells:
        rows[cell.row] += glyph_text(cell.text)
    return rows


def _rows_of(marked: MarkedTable, candidate: Candidate, next_row: int) -> tuple[MarkedTable, list[int]]:
    """Which rows of the source stand in a part, and the part without its caption.

    A tabular has them all. A part of a longtable has a head, the next rows of the body, and a foot; its
    caption is set as a row, too.
    """
    sections = candidate.grid.sections
    if candidate.grid.environment not in ("longtable", "xltabular"):
        return marked, list(range(candidate.grid.n_rows))
    rows: list[int] = []
    captions: set[int] = set()
    fixed = [row for row, section in enumerate(sections) if section]
    for number, shown in enumerate(_marked_rows(marked)):
        found = _find_row(shown, candidate, fixed, next_row)
        if found is None:
            captions.add(number)
            continue
        rows.append(found)
        if not sections[found]:
            next_row = found + 1
    return _without_rows(marked, captions), rows


def _find_row(shown: str, candidate: Candidate, fixed: Sequence[int], next_row: int) -> int | None:
    body = [row for row, section in enumerate(candidate.grid.sections) if not section and row >= next_row]
    glyphs = candidate.row_glyphs
    following = body[0] if body else None
    if following is not None and glyphs[following] == shown:
        return following
    for row in fixed:
        if glyphs[row] == shown:
            return row
    likely = [row for row in (following, *fixed) if row is not None]
    best = max(likely, key=lambda row: Levenshtein.normalized_similarity(shown, glyphs[row]), default=None)
    if best is None or Levenshtein.normalized_similarity(shown, glyphs[best]) < MIN_SIMILARITY:
        return None
    return best


def _without_rows(marked: MarkedTable, removed: set[int]) -> MarkedTable:
    if not removed:
        return marked
    kept = [row for row in range(marked.n_rows) if row not in removed]
    new = {row: index for index, row in enumerate(kept)}
    cells = tuple(replace(c, row=new[c.row]) for c in marked.cells if c.row in new)
    box = Box.hull(c.box for c in cells) if cells else marked.box
    return replace(marked, n_rows=len(kept), cells=cells, box=box)


def _joined(part: Part, candidate: Candidate, rows: Sequence[int], number: int | None) -> JoinedTable:
    sections = candidate.grid.sections
    n_head = sum(sections[row] in _HEAD for row in rows)
    grid = candidate.grid
    if list(rows) != list(range(grid.n_rows)) or n_head:
        grid = select_rows(grid, rows, n_head or None)
    try:
        placed = place_table(grid)
    except (FormatError, ValueError) as error:
        return _from_glyphs(part, number is not None, f"its source cannot be read: {error}")
    tex = {(c.row, c.col, c.rowspan, c.colspan) for c in part.marked.cells}
    if not covers(placed, tex):
        return _from_glyphs(part, number is not None, "its source has another grid than TeX")
    table = _with_boxes(placed, part.marked.cells)
    share = _agreement(placed, part.marked.cells)
    attributes: dict[str, AttributeValue] = {"text_from": "source", "glyph_agreement": round(share, 4)}
    element = _element(part.marked, table, number, candidate.latex)
    return JoinedTable(part.page, replace(element, attributes={**element.attributes, **attributes}), "joined")


def _inside(cell: MarkedCell, slot: tuple[int, int, int, int]) -> bool:
    return slot[0] <= cell.row < slot[0] + slot[2] and slot[1] <= cell.col < slot[1] + slot[3]


def _with_boxes(placed: PlacedTable, marked: Sequence[MarkedCell]) -> Table:
    cells = []
    for cell, slot in zip(placed.table.cells, placed.tex_slots, strict=True):
        boxes = [c.box for c in marked if _inside(c, slot)]
        cells.append(replace(cell, box=rounded(Box.hull(boxes)) if boxes else None))
    return Table(placed.table.n_rows, placed.table.n_cols, tuple(cells))


def _agreement(placed: PlacedTable, marked: Sequence[MarkedCell]) -> float:
    """The share of cells that show the glyphs that the source says, in any order."""
    equal = 0
    for cell, slot in zip(placed.table.cells, placed.tex_slots, strict=True):
        shown = "".join(glyph_text(c.text) for c in marked if _inside(c, slot))
        equal += sorted(shown) == sorted(glyph_text(cell.text))
    return equal / len(placed.tex_slots) if placed.tex_slots else 1.0


def _from_glyphs(part: Part, is_long: bool, reason: str) -> JoinedTable:
    """The table as TeX set it. Its texts are glyphs without reliable blanks."""
    cells = tuple(
        Cell(c.row, c.col, " ".join(c.text.split()), c.rowspan, c.colspan, box=rounded(c.box))
        for c in part.marked.cells
    )
    try:
        table = Table(part.marked.n_rows, part.marked.n_cols, cells)
    except ValueError as error:
        return JoinedTable(part.page, None, f"its cells overlap: {error}")
    element = _element(part.marked, table, 0 if is_long else None, None)
    attributes = {**element.attributes, "text_from": "glyphs"}
    return JoinedTable(part.page, replace(element, attributes=attributes), reason)


def _element(marked: MarkedTable, table: Table, part: int | None, latex: str | None) -> Element:
    attributes: dict[str, AttributeValue] = {
        "rotation": marked.angle,
        "complexity": complexity(table),
        "with_span": table.has_spans,
    }
    if part is not None:
        attributes |= {"long": True, "part": part + 1}
    return Element(
        id=f"t{marked.id}",
        category=Category.TABLE,
        box=rounded(marked.box),
        latex=latex,
        html=write_table(table, "html"),
        table=table,
        attributes=attributes,
    )


def rounded(box: Box) -> Box:
    """To hundredths of a point, the precision of the truth."""
    return Box(*(round(value, 2) for value in box.as_tuple()))
