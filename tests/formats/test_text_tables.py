"""Separated values and aligned text."""

from itertools import accumulate, chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import FormatError
from parsemark.formats import read_table, read_tables


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("name,n\nfoo,1\nbar,2\n", "csv"),
        ('name;"n;m"\nfoo;1\nbar;2\n', "csv"),
        ("name\tn\nfoo\t1\n", "tsv"),
        ("Method      P     R\nours      0.91  0.88\ntheirs    0.80  0.79\n", "plain"),
    ],
)
def test_one_table_of_unknown_format(text: str, format: str) -> None:
    (found,) = read_tables(text)
    assert found.format == format
    assert found.table.n_rows == len(text.splitlines())


def test_quoted_fields_of_csv() -> None:
    assert read_table('a,"b, ""c""\nd"\n1,2\n', "csv").text_rows() == [["a", 'b, "c"\nd'], ["1", "2"]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Name;Val\nA, B;1,5\nC, D, E;2,5\n", [["Name", "Val"], ["A, B", "1,5"], ["C, D, E", "2,5"]]),
        ("Ort;A, EUR;B, USD\nUlm;1,5;2,5\n", [["Ort", "A, EUR", "B, USD"], ["Ulm", "1,5", "2,5"]]),
        ("Port\tShips\nKiel\t12\n", [["Port", "Ships"], ["Kiel", "12"]]),
        ("sep=;\na;b\n1;2\n", [["a", "b"], ["1", "2"]]),
        ("sep=|\r\na|b\r\n1|2\r\n", [["a", "b"], ["1", "2"]]),
        ("title\na,b\n1,2;3\n", [["title", ""], ["a", "b"], ["1", "2;3"]]),
        ("one\ntwo\n", [["one"], ["two"]]),
        ('a,"b\n1,2\n3,4\n', [["a", '"b'], ["1", "2"], ["3", "4"]]),
        ('a,5" pipe\n"1,5",2\n', [["a", '5" pipe'], ["1,5", "2"]]),
    ],
)
def test_what_separates_the_fields_of_a_csv_file(text: str, rows: list[list[str]]) -> None:
    assert read_table(text, "csv").text_rows() == rows


def test_semicolons_divide_where_decimal_commas_are_as_regular() -> None:
    (found,) = read_tables("Ort;A, EUR;B, USD\nUlm;1,5;2,5\nKiel;3,5;4,5\n")
    assert found.table.text_rows()[1] == ["Ulm", "1,5", "2,5"]


def test_ragged_csv_leaves_holes() -> None:
    assert read_table("a,b\n1\n", "csv").holes == ((1, 1),)


def test_empty_csv_is_no_table() -> None:
    with pytest.raises(FormatError, match="no csv table"):
        read_table(" \n", "csv")


def test_aligned_text_with_a_group_header() -> None:
    table = read_table(
        "                 Group one        Group two\n"
        "Method           P       R        P       R\n"
        "-----------------------------------------------\n"
        "ours            0.91    0.88     0.71    0.62\n"
        "theirs          0.80             0.69    0.61\n",
        "plain",
    )
    assert table.text_rows() == [
        ["", "Group one", "Group one", "Group two", "Group two"],
        ["Method", "P", "R", "P", "R"],
        ["ours", "0.91", "0.88", "0.71", "0.62"],
        ["theirs", "0.80", "", "0.69", "0.61"],
    ]
    assert [c.header for c in table.cells if c.col == 0] == [True, True, False, False]


@pytest.mark.parametrize(
    "prose",
    [
        "On May 5, 2020, we met.\nOn June 6, 2021, we left.\nOn July 7, 2022, we came.",
        "It was late, and dark.\nIt was cold, and wet.",
        "1.  first item\n2.  second item\n3.  third item",
        "Introduction ........ 1\nMethods  ............ 3\nResults  ............ 9",
        "The left column of a page runs on here    while the right column of it runs on\n"
        "for as long as there is text to set and   beside it, also with long lines that\n"
        "nobody would take for cells of a table    a reader might want to see as prose\n",
        "x = f(a, b)\ny = g(c, d)",
    ],
)
def test_prose_is_no_table(prose: str) -> None:
    assert read_tables(prose) == []


def test_a_wide_character_takes_two_columns() -> None:
    rows = [["城市", "人口", "面积"], ["北京", "21893095", "16411"], ["呼和浩特", "3446100", "17224"],
            ["Ulm", "126329", "118"]]  # fmt: skip
    rule = ["--------", "--------", "-----"]

    def padded(text: str) -> str:
        return text + " " * (10 - sum(2 if ord(c) > 255 else 1 for c in text))

    text = "\n".join("".join(map(padded, row)).rstrip() for row in [rows[0], rule, *rows[1:]])
    for found in (read_tables(text), read_tables(f"一些文字。\n\n{text}\n\n更多。")):
        assert [f.table.text_rows() for f in found] == [rows]
        assert found[0].table.cells[0].header
    by_characters = "\n".join("".join(text.ljust(10) for text in row).rstrip() for row in rows)
    assert [f.table.text_rows() for f in read_tables(by_characters)] == [rows]


@st.composite
def aligned_lines(draw: st.DrawFn, n_rows: int = 15, n_cols: int = 5) -> tuple[list[str], list[list[str]]]:
    """Lines of a table and its cells: two blanks divide the cells of a line, but columns may touch.

    A cell of a few lines is empty.
    """
    width = draw(st.integers(4, 9))
    sides = draw(st.lists(st.sampled_from("LR"), min_size=n_cols, max_size=n_cols))
    touching = draw(st.integers(0, 1))
    pitches = [width + (touching if pair == ("L", "R") else 2) for pair in pairwise(sides)]
    starts = list(accumulate(pitches, initial=0))
    empty = draw(st.dictionaries(st.integers(0, n_rows - 1), st.integers(0, n_cols - 1), max_size=4))
    lines, rows = [], []
    for r in range(n_rows):
        line, row, limit = " " * (starts[-1] + width), list[str](), starts[-1] + width
        for c in reversed(range(n_cols)):
            n = min(width, limit - starts[c]) if sides[c] == "L" else width
            text = "" if empty.get(r) == c else draw(st.text("abc019", min_size=1, max_size=min(n, 7)))
            start = starts[c] if sides[c] == "L" else starts[c] + width - len(text)
            line = line[:start] + text + line[start + len(text) :]
            limit = start - 2 if text else limit
            row.insert(0, text)
        lines.append(line.rstrip())
        rows.append(row)
    return lines, rows


@given(aligned_lines(), st.permutations(range(15)), st.integers(1, 5))
def test_moving_a_line_by_one_blank_changes_few_cells(
    table: tuple[list[str], list[list[str]]], order: list[int], n_moved: int
) -> None:
    lines, rows = table
    for k, moved in enumerate(order[:n_moved], start=1):
        lines[moved] = f" {lines[moved]}"
        (found,) = read_tables("\n".join(lines))
        assert (found.table.n_rows, found.table.n_cols) == (15, 5)
        pairs = zip(chain(*found.table.text_rows()), chain(*rows), strict=True)
        assert sum(one != other for one, other in pairs) <= 2 * k  # a text beside an empty cell may go there
