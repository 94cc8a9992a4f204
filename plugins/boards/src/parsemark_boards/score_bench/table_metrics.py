"""SCORE's three table measures: index, content, and content with shifted lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from parsemark.errors import FormatError
from parsemark.formats import MAX_CHARS, MAX_GRID, check_size
from parsemark.formats.html.markup import Tag, read_tags, unescape
from parsemark.kernels import kernel
from parsemark.metrics import (
    MAX_CHARACTER_PAIRS,
    MAX_POSITION_PAIRS,
    MEAN_OF_METRICS,
    Metadata,
    Metric,
    TableInput,
    check_pairs,
    read_span,
)

_CLOSE = 0.8
_SAME_TABLE = 0.1
_MAX_SHIFT = 3
_CITATION = "Li et al. 2025, SCORE: A semantic evaluation framework for generative document parsing"
_REFERENCE = "unstructured-eval-metrics"


class ScoreIndex(Metric[TableInput]):
    """How many recognised cells stand in the right row and the right column.

    For each predicted cell the closest truth cell is taken (difflib's ratio of the lower-cased texts, at
    least 0.8; among equals the greatest string). Equal truth cells are used one after the other; when a
    text has none left, all are free again. The value is the mean of the shares of pairs with equal row
    and with equal column. Cells that find no partner do not count.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: none known where it has a value. Like it, the value is 0 if the two
    tables' whole texts have a difflib ratio under 0.1, and all stages are rounded to two decimals.

    >>> from parsemark.metrics import score
    >>> truth = "<table><tr><td>one</td><td>two</td></tr></table>"
    >>> pred = "<table><tr><td>one</td></tr><tr><td>two</td></tr></table>"
    >>> score(truth, pred, metrics=["score_index"])["score_index"].value
    0.5
    """

    name = "score_index"
    metadata = Metadata("SCORE: cells at the right row and column", _CITATION, _REFERENCE)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return _when_comparable(truth, pred, lambda t, p: _rounded(sum(index_shares(t, p)) / 2))


class ScoreContent(Metric[TableInput]):
    """How alike the texts of rows, and of columns, are.

    The cells of each row are joined. A truth row is compared with the predicted row of the same number: 1
    − min(1, Levenshtein / length of the predicted row), and 0 if there is none. The same for columns; the
    value is the mean of both means. A spanning cell counts in its first row and column only.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: as for `score_index`.

    >>> from parsemark.metrics import score
    >>> truth = "<table><tr><td>one</td><td>two</td></tr></table>"
    >>> pred = "<table><tr><td>one</td></tr></table>"
    >>> score(truth, pred, metrics=["score_content"])["score_content"].value
    0.25
    """

    name = "score_content"
    metadata = Metadata("SCORE: texts of rows and columns", _CITATION, _REFERENCE)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return _when_comparable(truth, pred, _content)


class ScoreContentShifted(Metric[TableInput]):
    """`score_content`, forgiving up to three lines too many or too few at the start.

    Where the first truth row has less than 0.8, the predicted rows are also tried one, two and three rows
    lower, as long as that helps, and likewise higher; the best mean counts. The same for columns.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: as for `score_index`.

    >>> from parsemark.metrics import score
    >>> truth = "<table><tr><td>one</td></tr><tr><td>two</td></tr></table>"
    >>> pred = "<table><tr><td>Table 1</td></tr><tr><td>one</td></tr><tr><td>two</td></tr></table>"
    >>> result = score(truth, pred, metrics=["score_content", "score_content_shifted"])
    >>> [s.value for s in result.values()]
    [0.27, 0.74]
    """

    name = "score_content_shifted"
    metadata = Metadata("SCORE: texts of rows and columns, shifted", _CITATION, _REFERENCE)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return _when_comparable(truth, pred, lambda t, p: _content(t, p, max_shift=_MAX_SHIFT))


class ScoreAvg(Metric[TableInput]):
    r"""Mean of `score_index` and `score_content`.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: those of its parts.

    >>> from parsemark.metrics import score
    >>> table = "| ab | c |\n|---|---|\n| 1 | 2 |"
    >>> score(table, table, metrics=["score_avg"])["score_avg"].value
    1.0
    """

    name = "score_avg"
    metadata = Metadata("SCORE: mean of index and content", *MEAN_OF_METRICS)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return (ScoreIndex().compute(truth, pred) + ScoreContent().compute(truth, pred)) / 2


def _when_comparable(
    truth: TableInput, pred: TableInput, value: Callable[[Sequence[ScoreCell], Sequence[ScoreCell]], float]
) -> float:
    """Return the value, unless a table is empty or the two have nothing to do with each other."""
    a, b = truth.derive(cells_of), pred.derive(cells_of)
    if not a or not b:
        return float(not a and not b)
    check_pairs("cells", len(a), len(b), MAX_POSITION_PAIRS)
    whole_a, whole_b = (" ".join(cell.text for cell in cells) for cells in (a, b))
    check_pairs("characters", len(whole_a), len(whole_b), MAX_CHARACTER_PAIRS)
    if kernel.close_matches([whole_b], [whole_a], _SAME_TABLE)[0] < 0:
        return 1.0 if whole_a == whole_b else 0.0
    return value(a, b)


def index_shares(truth: Sequence[ScoreCell], pred: Sequence[ScoreCell]) -> tuple[float, float]:
    """Return the shares of recognised cells in the right row and in the right column, two decimals each."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, cell in enumerate(truth):
        places[cell.text.lower()].append(number)
    texts = list(places)
    queries = list({cell.text.lower(): None for cell in pred})
    closest = dict(zip(queries, kernel.close_matches(queries, texts, _CLOSE), strict=True))
    used: set[int] = set()
    same_row = same_col = pairs = 0
    for cell in pred:
        found = closest[cell.text.lower()]
        if found < 0:
            continue
        candidates = places[texts[found]]
        free = next((number for number in candidates if number not in used), None)
        if free is None:
            used.clear()
            free = candidates[0]
        used.add(free)
        pairs += 1
        same_row += cell.row == truth[free].row
        same_col += cell.col == truth[free].col
    if pairs == 0:
        return 0.0, 0.0
    return round(same_row / pairs, 2), round(same_col / pairs, 2)


def _content(truth: Sequence[ScoreCell], pred: Sequence[ScoreCell], max_shift: int = 0) -> float:
    rows, cols = (
        _line_similarity(_lines(truth, axis), _lines(pred, axis), max_shift) for axis in ("row", "col")
    )
    return _rounded((rows + cols) / 2)


def _lines(cells: Sequence[ScoreCell], axis: Literal["row", "col"]) -> dict[int, str]:
    lines: dict[int, list[str]] = defaultdict(list)
    for cell in cells:
        lines[cell.row if axis == "row" else cell.col].extend(cell.text.split())
    return {number: " ".join(words) for number, words in lines.items()}


def _line_similarity(truth: dict[int, str], pred: dict[int, str], max_shift: int) -> float:
    unshifted = _similarities(truth, pred, 0)
    best = [_percent_mean(unshifted)]
    for direction in (1, -1) if max_shift and unshifted[0] < _CLOSE else ():
        means = [best[0]]
        for shift in range(1, max_shift + 1):  # as long as each further one is better than the one before
            means.append(_percent_mean(_similarities(truth, pred, direction * shift)))
            if means[-1] <= means[-2]:
                break
        best.append(max(means))
    return _rounded(max(best) / 100)


def _similarities(truth: dict[int, str], pred: dict[int, str], shift: int) -> list[float]:
    def similarity(wanted: str, given: str) -> float:
        if not given:
            return float(not wanted)
        return 1.0 - min(1.0, float(kernel.levenshtein(wanted, given)) / len(given))

    return [similarity(truth[number], pred.get(number - shift, "")) for number in sorted(truth)]


def _percent_mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values) * 100, 2)


def _rounded(value: float) -> float:
    """Round to two decimals like numpy, as the reference does at the end."""
    return round(value * 100) / 100


_VOID_NAMES = """area base br col embed hr img input link meta param source track wbr basefont bgsound command
frame image isindex keygen menuitem nextid spacer"""
_VOID = frozenset(_VOID_NAMES.split())
_RAW = frozenset({"script", "style"})
_MAX_DEPTH = 500


class ScoreCell(NamedTuple):
    """A cell at its top left position."""

    row: int
    col: int
    text: str


def cells_of(table: TableInput) -> list[ScoreCell]:
    """Return the cells of a table that a metric was given."""
    if table.html is not None:
        return read_placed_cells(table.html)
    return [ScoreCell(cell.row, cell.col, cell.text) for cell in table.table.cells]


def read_placed_cells(html: str) -> list[ScoreCell]:
    """Return the cells of the first table. In each row th come before td, as in the reference."""
    check_size(html, MAX_CHARS)
    rows = _first_table(html)
    return _placed([[cell.read() for cell in sorted(row, key=lambda c: c.tag.name == "td")] for row in rows])


def _placed(rows: list[list[_SpanningText]]) -> list[ScoreCell]:
    """Move cells right, past positions that an earlier cell spans; each such position moves one cell."""
    spanned: set[tuple[int, int]] = set()
    placed: list[ScoreCell] = []
    for row, cells in enumerate(rows):
        shift = 0
        for index, cell in enumerate(cells):
            col = index + shift
            if cell.rowspan > 1 or cell.colspan > 1:
                rows_down, cols = range(row, row + cell.rowspan), range(col, col + cell.colspan)
                spanned |= {(r, c) for r in rows_down for c in cols if (r, c) != (row, col)}
                if len(spanned) > MAX_GRID:
                    raise FormatError(f"The cells of the table span more than {MAX_GRID:,} positions")
            while (row, col) in spanned:
                spanned.remove((row, col))
                col, shift = col + 1, shift + 1
            placed.append(ScoreCell(row, col, cell.text))
    return placed


class _SpanningText(NamedTuple):
    """A cell in its row; where it lies on the grid follows from the spans before it."""

    text: str
    rowspan: int
    colspan: int


class _OpenCell(NamedTuple):
    """A cell while it is read."""

    tag: Tag
    pieces: list[str]

    def read(self) -> _SpanningText:
        attributes = self.tag.attributes()
        rowspan, colspan = (read_span(attributes.get(name)) for name in ("rowspan", "colspan"))
        return _SpanningText(unescape("".join(self.pieces)), rowspan, colspan)


def _first_table(html: str) -> list[list[_OpenCell]]:
    """Return the cells of the first table by row; elements are closed by their own end tag or by an outer
    one.
    """
    rows: list[list[_OpenCell]] = []
    opened: list[tuple[str, _OpenCell | None]] = []
    open_cells: list[_OpenCell] = []
    table_depth: int | None = None
    position = 0
    for tag in read_tags(html):
        last = opened[-1][0] if opened else ""
        if last in _RAW and not (tag.closes and tag.name == last):
            continue
        for cell in open_cells:
            cell.pieces.append(html[position : tag.start])
        position = tag.end
        if tag.closes:
            depth = next((k for k in range(len(opened) - 1, -1, -1) if opened[k][0] == tag.name), None)
            if depth is not None:
                del opened[depth:]
                open_cells = [cell for _, cell in opened if cell is not None]
                if depth == table_depth:
                    return rows
        elif tag.name != "!":
            started = None
            if table_depth is None and tag.name == "table":
                table_depth = len(opened)
            elif table_depth is not None and tag.name == "tr":
                rows.append([])
            elif rows and tag.name in ("td", "th"):
                started = _OpenCell(tag, [])
                rows[-1].append(started)
            if tag.name not in _VOID and not tag.inside.endswith("/"):
                if len(opened) == _MAX_DEPTH:
                    raise FormatError(f"The HTML has more than {_MAX_DEPTH} elements inside each other")
                opened.append((tag.name, started))
                open_cells += [] if started is None else [started]
    for cell in open_cells:
        cell.pieces.append(html[position:])
    return rows
