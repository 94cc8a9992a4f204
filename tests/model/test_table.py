import pickle
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


_rows = st.lists(st.lists(st.sampled_from(["", "a", "b c"]), max_size=3), max_size=4)


@given(_rows, st.none() | st.integers(-1, 5))
def test_rows_of_texts_are_the_table_of_their_cells(rows: list[list[str]], header_rows: int | None) -> None:
    table = Table.from_rows(rows, header_rows)
    again = pickle.loads(pickle.dumps(table))  # whose cells were not asked for yet
    cells = [
        Cell(r, c, text, header=None if header_rows is None else r < header_rows)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]
    made = Table(len(rows), max(map(len, rows), default=0), tuple(cells))
    assert table == made == again
    assert hash(table) == hash(made)
    assert repr(table) == repr(made)
    assert table.plain_rows == made.plain_rows == again.plain_rows
    with pytest.raises(AttributeError, match="nothing"):
        attrgetter("nothing")(table)


def test_rows_are_plain_without_spans_and_holes_and_with_headers_by_whole_rows() -> None:
    cells = tuple(Cell(k // 2, k % 2, text, header=k < 2) for k, text in enumerate("abcd"))
    plain = Table(2, 2, cells).plain_rows
    assert plain is not None
    assert plain.texts == (("a", "b"), ("c", "d"))
    assert plain.header_rows == 1
    assert Table(2, 2, cells[:3]).plain_rows is None
    assert Table(2, 3, (*cells[:3], Cell(1, 1, "d", colspan=2))).plain_rows is None
    assert (
        Table(2, 2, (*cells[:2], Cell(1, 0, "c", header=True), Cell(1, 1, "d", header=False))).plain_rows
        is None
    )
    assert Table(1, 2, (Cell(0, 0), Cell(0, 1, header=False))).plain_rows is None
    assert Table(2, 0).plain_rows is None
