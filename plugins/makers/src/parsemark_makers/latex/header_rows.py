"""Header rows of a table, as a reader of the page tells them: by its lines, and by bold type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile

from parsemark.model import Box, Cell, Table, extents
from parsemark_makers.latex.cell_boxes import MarkedTable

NEAR_LINE = 3.0  # a line this close to the edge between two rows parts them, in points
DOUBLE_GAP = (0.7, 5.0)  # how far apart, in points, the two lines of a double one are
ACROSS = 0.8  # the share of the table's width that a line across it covers, in one piece or in several
MAX_LEVELS = 4  # more rows than this above a line are rather a first group of data
MANY_LINES = 0.6  # where more than this share of the rows have a line below, lines part rows and no header
MAX_NOTES = 2  # rows of one cell each that may stand above the header which a long table repeats
MANY_BOLD = 0.25  # where more than this share of the other rows are bold too, bold type says nothing


def header_rows(table: Table, marked: MarkedTable) -> int | None:
    """Return how many rows at the top of a table with boxes are headers; None where the page does not say."""
    if table.n_rows < 2:
        return None
    rows = _RowContents(table, marked)
    head = _by_lines(rows)
    if head is None:  # else by the rows at the top that are bold, where the others are not
        others = range(rows.bold_rows(), rows.count)
        is_told = sum(rows.is_bold(row) for row in others) <= MANY_BOLD * len(others)
        head = others.start if others.start and is_told and rows.can_be_header(others.start) else None
    return None if head is None or head >= table.n_rows or rows.is_cut(head) else head


def repeated_heads(parts: Sequence[MarkedTable]) -> list[int | None]:
    """Return how many header rows each part of a long table has: those at its top that the first part has,
    too.

    A note such as "continued" may stand above them. None for each part if nothing is repeated.
    """
    texts = []
    for part in parts:
        rows = (sorted(row, key=lambda c: c.col) for row in part.rows)
        texts.append([[c.text for c in row if c.text] for row in rows])
    found: list[tuple[int, int]] = []
    for own in texts[1:]:
        start = next((row for row, cells in enumerate(own) if len(cells) > 1), 0)
        common = takewhile(lambda pair: pair[0] == pair[1], zip(own[start:], texts[0], strict=False))
        found.append((start, sum(1 for _ in common)))
    count = min((n for _, n in found), default=0)
    if not count or any(start > MAX_NOTES for start, _ in found):
        return [None] * len(parts)
    return [count, *(start + count for start, _ in found)]


def _by_lines(rows: _RowContents) -> int | None:
    """Return a double line if there is one only, or the first line where it can be that of a header."""
    drawn = [row for row in range(rows.count - 1) if rows.lines[row] and not rows.is_cut(row + 1)]
    doubles = [row for row in drawn if rows.lines[row] > 1]
    if len(doubles) == 1 and rows.can_be_header(doubles[0] + 1):
        return doubles[0] + 1
    if not drawn or (rows.count > 2 and len(drawn) > MANY_LINES * (rows.count - 1)):
        return None
    head = drawn[0] + 1
    if not rows.can_be_header(head) or rows.is_group_of_data(head):
        return None
    is_block = head == 1 or len(drawn) == 1 or rows.belongs_together(head)
    return head if is_block or rows.bold_rows() >= head else None


class _RowContents:
    """What stands in each row of a table, and how many lines are below it."""

    def __init__(self, table: Table, marked: MarkedTable) -> None:
        self.count = table.n_rows
        self.cells: dict[int, list[Cell]] = defaultdict(list)
        for cell in table.cells:
            self.cells[cell.row].append(cell)
        self.marked = marked
        boxed = [(c, c.box.turned(marked.angle)) for c in table.cells if c.box is not None]
        begins = extents((c.row, box.y0, box.y1) for c, box in boxed)
        ends = extents((c.row + c.rowspan - 1, box.y0, box.y1) for c, box in boxed)
        frame = marked.box.turned(marked.angle)
        self.lines = [0] * (self.count - 1)
        for row in ends.keys() & set(range(self.count - 1)):
            bottom = ends[row][1]
            top = begins.get(row + 1, (bottom, bottom))[0]
            self.lines[row] = self._lines_between(bottom - NEAR_LINE, max(bottom, top) + NEAR_LINE, frame)

    def _lines_between(self, low: float, high: float, frame: Box) -> int:
        """Return how many lines across the table lie between two places: 0, 1 or 2."""
        lengths: dict[float, float] = defaultdict(float)
        starts: list[float] = []
        for rule in self.marked.rules:
            middle = (rule.y0 + rule.y1) / 2
            if rule.width > rule.height and low <= middle <= high:
                lengths[next((y for y in lengths if abs(y - middle) < DOUBLE_GAP[0]), middle)] += rule.width
                starts.append(rule.x0)
        across = sorted(y for y, length in lengths.items() if length > ACROSS * frame.width)
        if not across:
            return int(sum(lengths.values()) > ACROSS * frame.width)
        if len(across) == 1 and min(starts) > frame.x0 + (1 - ACROSS) / 4 * frame.width:
            return 0  # below the labels of a group, and not below the first column
        return 2 if len(across) > 1 and across[-1] - across[0] <= DOUBLE_GAP[1] else 1

    def can_be_header(self, head: int) -> bool:
        """Return whether so many rows are few enough, of all."""
        return head <= MAX_LEVELS and (head == 1 or 2 * head <= self.count or self.belongs_together(head))

    def is_cut(self, head: int) -> bool:
        """Return whether a cell spans over the end of so many rows."""
        return any(cell.row < head < cell.row + cell.rowspan for own in self.cells.values() for cell in own)

    def belongs_together(self, head: int) -> bool:
        """Return whether the first rows are one header of several levels: with merged cells, or labels below
        each other.
        """
        own = [cell for row in range(head) for cell in self.cells[row]]
        if any(cell.row > 0 and cell.col == 0 and cell.rowspan > 1 for cell in own):
            return False  # the label of a group of data
        if any(cell.colspan > 1 or cell.rowspan > 1 for cell in own):
            return True
        return sum(bool(cell.text) for cell in own if cell.col == 0) <= 1

    def is_group_of_data(self, head: int) -> bool:
        """Return whether the first rows are data under the label of a group, as those below the line are.

        Above columns of numbers a header has words in one of its rows. Where there are no such columns,
        groups of several rows each follow one another.
        """
        if head < 2 or self.bold_rows() >= head or not self._is_labelled_group(0, head):
            return False
        body = range(head, self.count)
        behind = {cell.col for own in self.cells.values() for cell in own if cell.col > 0}
        numbers = [col for col in behind if self._has_numbers(body, col)]
        if numbers:
            counts = (sum(self._has_numbers([row], col) for col in numbers) for row in range(head))
            return all(2 * count > len(numbers) for count in counts)
        following = [row for row in body if any(c.col == 0 and c.text for c in self.cells[row])]
        groups = zip(following, [*following[1:], self.count], strict=True)
        return len(following) > 0 and all(self._is_labelled_group(*group) for group in groups)

    def _is_labelled_group(self, first: int, end: int) -> bool:
        """Return whether some rows have one label before them all and plain cells with text behind it."""
        own = [cell for row in range(first, end) for cell in self.cells[row]]
        labels = [cell for cell in own if cell.col == 0 and cell.text]
        others = [cell for cell in own if cell.col > 0]
        is_plain = all(cell.colspan == cell.rowspan == 1 and cell.text for cell in others)
        return end > first + 1 and bool(others) and is_plain and [c.row for c in labels] == [first]

    def _has_numbers(self, rows: Iterable[int], col: int) -> bool:
        """Return whether most cells of a column have more figures than letters in these rows."""
        texts = [cell.text for row in rows for cell in self.cells[row] if cell.col == col and cell.text]
        numbers = (sum(c.isdecimal() for c in text) > sum(c.isalpha() for c in text) for text in texts)
        return 2 * sum(numbers) > len(texts)

    def bold_rows(self) -> int:
        """Return how many rows at the top are bold."""
        return next((row for row in range(self.count) if not self.is_bold(row)), self.count)

    def is_bold(self, row: int) -> bool:
        """Return whether all text of a row is bold, and there is some."""
        boxes = [cell.box for cell in self.cells[row] if any(c.isalnum() for c in cell.text)]
        marks = [[m for m in self.marked.cells if m.text and b and b.holds_centre(m.box)] for b in boxes]
        return bool(marks) and all(own and all(m.is_bold for m in own) for own in marks)
