"""Markdown pipe tables."""

import pytest

from parsemark.formats import read_document, read_table, read_tables
from parsemark.formats.markdown.inline import without_emphasis


def rows(text: str) -> list[list[str]]:
    return read_table(text, "markdown").text_rows()


def test_a_sign_that_is_emphasised_alone_is_read_as_one() -> None:
    """As pymupdf4llm writes numbers whose minus is of another font."""
    (found,) = read_tables("| a | b |\n|---|---|\n| _−_0.122 | [_−_0,32 ; 1,01] |\n| a_b_c | _x_ |")
    assert found.table.text_rows()[1:] == [["−0.122", "[−0,32 ; 1,01]"], ["a_b_c", "x"]]


def test_outer_pipes_or_not() -> None:
    assert (
        rows("| a | b |\n|---|:-:|\n| 1 | 2 |")
        == rows("a | b\n--- | ---:\n1 | 2")
        == [["a", "b"], ["1", "2"]]
    )


def test_the_row_above_the_delimiter_is_the_header() -> None:
    table = read_table("| a |\n|---|\n| b |")
    assert [c.header for c in table.cells] == [True, False]


def test_an_empty_header_row_is_no_row() -> None:
    table = read_table("|   |   |\n|---|---|\n| a | b |")
    assert table.text_rows() == [["a", "b"]]
    assert table.cells[0].header is None


def test_a_missing_delimiter_row() -> None:
    table = read_table("| a | b |\n| 1 | 2 |")
    assert table.text_rows() == [["a", "b"], ["1", "2"]]
    assert table.cells[0].header is None


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (r"| a\|b | c |", ["a|b", "c"]),
        ("| $|E|$ | c |", ["$|E|$", "c"]),
        (r"| \(|E|\) | c |", [r"\(|E|\)", "c"]),
        ("| `x|y` | c |", ["x|y", "c"]),
        ("| $5 | $6 |", ["$5", "$6"]),
        ("|$5|$6|", ["$5", "$6"]),
        ("| a$b | c$d |", ["a$b", "c$d"]),
        ("| a | |", ["a", ""]),
        ("|| b |", ["", "b"]),
        ("| **a** | *b* __c__ ~~d~~ |", ["a", "b c d"]),
        ("| 0.31** | 0.4* |", ["0.31**", "0.4*"]),
        ("| a_b_c | 2*3*4 |", ["a_b_c", "2*3*4"]),
        ("| a<br>b | x<sup>2</sup> |", ["a\nb", "x^2"]),
        ("| p<0.05 | a & b &lt; |", ["p<0.05", "a & b <"]),
        ("| [text](http://x.org/a_b) | ![alt](i.png) |", ["text", "alt"]),
        (r"| \* | 5 \% |", ["*", "5 %"]),
        ("| --- | x |", ["---", "x"]),
        ("| - | - |", ["-", "-"]),
        ("| **$x_1$** | ***b*** |", ["$x_1$", "b"]),
    ],
)
def test_cells(row: str, cells: list[str]) -> None:
    assert rows(f"| h | h |\n|---|---|\n{row}")[1] == cells


def test_ragged_rows() -> None:
    table = read_table("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |")
    assert table.text_rows() == [["a", "b", ""], ["1", "", ""], ["1", "2", "3"]]
    assert table.holes == ((0, 2), (1, 1), (1, 2))


def test_rows_before_the_header_row_are_headers_too() -> None:
    table = read_table("| | g | g |\n| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |")
    assert [c.header for c in table.cells] == [True] * 6 + [False] * 3


def test_line_breaks_inside_a_row() -> None:
    assert rows("| a | b |\n|---|---|\n| long\ntext | 2 |") == [["a", "b"], ["long\ntext", "2"]]


def test_a_rule_repeated_further_down_is_dropped() -> None:
    assert rows("| a | b |\n|---|---|\n| 1 | 2 |\n|---|---|\n| 3 | 4 |")[1:] == [["1", "2"], ["3", "4"]]


def test_prose_with_pipes_is_no_table() -> None:
    text = "The density P(A|B) is\nshown with P(B|A) here.\n\nA single | pipe\n"
    assert read_tables(text) == []


def test_places_of_tables_in_a_document() -> None:
    text = "# Title\n\nBefore P(A|B)\n\n| a | b |\n|---|---|\n| 1 | 2 |\nAfter.\n\n| c |\n|---|\n| d |\n"
    found = read_tables(text)
    assert [f.source.splitlines()[0] for f in found] == ["| a | b |", "| c |"]
    assert all(text[f.start : f.end] == f.source and f.format == "markdown" for f in found)


def test_bars_around_a_symbol_are_seen_by_the_number_of_cells() -> None:
    text = "| m | |E| | |R| |\n|---|---|---|---|---|---|---|\n| a | 1 | 2 |\n| b | 3 | 4 |"
    assert rows(text) == [["m", "|E|", "|R|"], ["a", "1", "2"], ["b", "3", "4"]]


def test_prose_before_a_table_is_not_its_header() -> None:
    (found,) = read_tables("With P(A|B):\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert found.table.text_rows() == [["a", "b"], ["1", "2"]]


def test_a_header_without_outer_pipes_over_rows_with_them() -> None:
    assert rows("a | b\n---|---\n| 1 | 2 |\n| 3 | 4 |") == [["a", "b"], ["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("_$EXEC_PREFIX_", "$EXEC_PREFIX"),
        ("_abc_def_", "abc_def"),
        ("snake_case_name", "snake_case_name"),
        ("_a_b", "_a_b"),
        ("a_b_", "a_b_"),
        ("__a_b__", "a_b"),
        ("___a___", "a"),
        ("_(a)_.", "(a)."),
        ("_a *b_ c*", "a *b c*"),
        ("_ a _", "_ a _"),
        ("\\_a_", "_a_"),
        ("_$x_1$_", "$x_1$"),
        ("$5 and $6", "$5 and $6"),
        ("**a _b_ c**", "a b c"),
        ("3*4*5 0.31** 0.4*", "3*4*5 0.31** 0.4*"),
        ("_-_0.122", "-0.122"),
    ],
)
def test_emphasis_is_read_by_commonmarks_rules_in_cells_and_in_texts(source: str, text: str) -> None:
    (found,) = read_tables(f"| {source} | k |\n|---|---|\n| k | {source} |\n")
    assert [found.table.text_rows()[row][row] for row in range(2)] == [text, text], "the same in every cell"
    (block,) = read_document(f"w {source}\n").elements
    assert block.text == f"w {text}"


def test_many_signs_cost_no_more_than_they_are() -> None:
    text = "_a *b " * 20_000
    assert without_emphasis(text) == text
    assert without_emphasis("_a" * 20_000 + " " + "b_" * 20_000)
