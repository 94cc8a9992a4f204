"""Where the cells of an HTML table lie on its grid."""

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_SPAN, check_grid
from parsemark.model import Cell, Table


class GridBuilder:
    """Collects rows of cells, left to right, and works out where spans put them.

    Spans are not cut at the last row: a rowspan of 3 in a table of one row makes three rows, as in the
    reference GriTS. Where a cell's colspan would run into a cell that hangs down from above, the later cell
    is cut to the free columns: what came first keeps its place.
    """

    def __init__(self, position: int | None = None) -> None:
        self._cells: list[Cell] = []
        self._position = position
        self._row, self._col = -1, 0
        self._n_rows = self._n_cols = 0
        self._hanging: dict[int, int] = {}  # column to the row at which it becomes free again

    def start_row(self) -> None:
        """Begin the next row."""
        self._row += 1
        self._col = 0
        self._n_rows = max(self._n_rows, self._row + 1)
        self._hanging = {col: free for col, free in self._hanging.items() if free > self._row}
        check_grid(self._n_rows, self._n_cols, self._position)

    def add(self, text: str, rowspan: int = 1, colspan: int = 1, header: bool | None = None) -> None:
        """Put a cell at the first free column of the row."""
        if self._row < 0:
            self.start_row()
        if rowspan > MAX_SPAN or colspan > MAX_SPAN:
            why = f"A cell spans {max(rowspan, colspan):,} rows or columns; at most {MAX_SPAN:,} are read"
            raise FormatError(why, position=self._position)
        start = self._col
        if rowspan == colspan == 1 and start < self._n_cols and not self._hanging:
            self._cells.append(Cell(self._row, start, text, 1, 1, header))
            self._col += 1
            return
        while start in self._hanging:
            start += 1
        end = start + 1
        while end < start + colspan and end not in self._hanging:
            end += 1
        self._cells.append(Cell(self._row, start, text, rowspan, end - start, header))
        if end > self._n_cols or self._row + rowspan > self._n_rows:
            self._n_rows = max(self._n_rows, self._row + rowspan)
            self._n_cols = max(self._n_cols, end)
            check_grid(self._n_rows, self._n_cols, self._position)
        if rowspan > 1:
            self._hanging.update(dict.fromkeys(range(start, end), self._row + rowspan))
        self._col = end

    def build(self) -> Table:
        """Return the table."""
        return Table(self._n_rows, self._n_cols, tuple(self._cells))
