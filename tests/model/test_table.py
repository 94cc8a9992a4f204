import pytest

from parsemark.model import HOLE, Cell, Table


def test_spanning_cell_fills_the_grid_and_holes_are_explicit() -> None:
    table = Table(2, 3, (Cell(0, 0, "a", colspan=2), Cell(1, 0, "b"), Cell(1, 2, "c")))
    assert table.grid == ((0, 0, HOLE), (1, HOLE, 2))
    assert table.holes == ((0, 2), (1, 1))
    assert table.text_rows() == [["a", "a", ""], ["b", "", "c"]]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ((Cell(0, 0, rowspan=2), Cell(1, 0)), "overlaps"),
        ((Cell(1, 1, colspan=2),), "leaves the 2 x 2 grid"),
    ],
)
def test_invalid_cells_are_refused(cells: tuple[Cell, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(2, 2, cells)


def test_cells_are_kept_in_reading_order() -> None:
    table = Table(2, 2, (Cell(1, 0, "c"), Cell(0, 1, "b"), Cell(0, 0, "a")))
    assert [cell.text for cell in table.cells] == ["a", "b", "c"]


def test_ragged_rows_leave_holes() -> None:
    table = Table.from_rows([["a", "b"], ["c"]], header_rows=1)
    assert table.holes == ((1, 1),)
    assert [cell.header for cell in table.cells] == [True, True, False]
