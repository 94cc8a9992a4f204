"""Drawn tables."""

from parsemark.formats import read_table, read_tables

GRID = """\
+-------+-----------+
| a     | b         |
|       +-----+-----+
|       | c   | d   |
+=======+=====+=====+
| long  | 1   |     |
| text  |     | **2** |
+-------+-----+-----+
| e           | f   |
+-------------+-----+
"""


def test_spans_headers_and_wrapped_text() -> None:
    lines = GRID.replace("| **2** |", "| 2   |")
    table = read_table(lines)
    assert table.text_rows() == [
        ["a", "b", "b"],
        ["a", "c", "d"],
        ["long text", "1", "2"],
        ["e", "e", "f"],
    ]
    assert [c.header for c in table.cells] == [True] * 4 + [False] * 5


def test_without_a_header_rule() -> None:
    table = read_table("+---+---+\n| a | b |\n+---+---+\n| c | d |\n+---+---+")
    assert table.text_rows() == [["a", "b"], ["c", "d"]]
    assert table.cells[0].header is None


def test_output_of_an_sql_shell() -> None:
    table = read_table("+----+----+\n| id | n  |\n+----+----+\n| 1  | x  |\n| 2  |    |\n+----+----+")
    assert table.text_rows() == [["id", "n"], ["1", "x"], ["2", ""]]
    assert [c.header for c in table.cells[:3]] == [True, True, False]


def test_box_drawing_characters() -> None:
    found = read_tables("x\n┏━━━┳━━━┓\n┃ a ┃ b ┃\n┡━━━╇━━━┩\n│ 1 │ 2 │\n│ 3 │ 4 │\n└───┴───┘\ny")
    assert [f.format for f in found] == ["grid"]
    assert found[0].table.text_rows() == [["a", "b"], ["1", "2"], ["3", "4"]]


def test_wide_characters_take_two_columns() -> None:
    table = read_table("+------+---+\n| 中文 | b |\n+------+---+\n| abcd | d |\n+------+---+")
    assert table.text_rows() == [["中文", "b"], ["abcd", "d"]]


def test_a_broken_drawing_is_read_without_spans() -> None:
    table = read_table("+---+---+\n| a   b |\n+   +---+\n| c | d |\n+---+---+")
    assert (table.n_rows, table.n_cols, table.has_spans) == (2, 2, False)


def test_a_table_that_is_cut_off() -> None:
    assert read_table("+---+---+\n| a | b |\n+---+---+\n| c | d |").text_rows() == [["a", "b"], ["c", "d"]]
