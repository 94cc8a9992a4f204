"""HTML tables: the grid, the text of cells, and markup that is not as it should be."""

import pytest

from parsemark.errors import FormatError
from parsemark.formats import read_table, read_tables
from parsemark.model import HOLE


def rows(html: str) -> list[list[str]]:
    return read_table(html, "html").text_rows()


def test_spans_take_the_first_free_columns() -> None:
    table = read_table(
        "<table><tr><td rowspan=2>a</td><td colspan=2>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    )
    assert table.text_rows() == [["a", "b", "b"], ["a", "c", "d"]]
    assert table.n_cells == 4


def test_a_colspan_that_runs_into_a_rowspan_is_cut() -> None:
    table = read_table(
        "<table><tr><td>a</td><td rowspan=2>b</td></tr><tr><td colspan=2>c</td><td>d</td></tr></table>"
    )
    assert table.text_rows() == [["a", "b", ""], ["c", "b", "d"]]
    assert table.cells[2].colspan == 1


def test_a_rowspan_over_the_end_makes_rows_as_in_the_reference() -> None:
    table = read_table("<table><tr><td rowspan=3>a</td><td>b</td></tr></table>")
    assert (table.n_rows, table.n_cols) == (3, 2)
    assert table.grid[1][1] == HOLE


def test_ragged_rows_leave_holes() -> None:
    assert read_table("<table><tr><td>a<td>b<tr><td>c</table>").holes == ((1, 1),)


@pytest.mark.parametrize(
    ("html", "header"),
    [
        ("<tr><th>a<td>b", [True, False]),
        ("<thead><tr><td>a</thead><tbody><tr><td>b", [True, False]),
        ("<tr><td>a<tr><td>b", [None, None]),
    ],
)
def test_headers_are_known_only_where_they_are_said(html: str, header: list[bool | None]) -> None:
    assert [c.header for c in read_table(f"<table>{html}</table>").cells] == header


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("a<br>b", "a\nb"),
        ("a\n  b", "a b"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("10<sup>-3</sup>", "10^{-3}"),
        ("x<sub>i</sub><sup>2</sup>", "x_i^2"),
        ("<b>a</b><i>b</i>", "ab"),
        ("a&nbsp;&lt;&#955;&amp;lt;", "a <λ&lt;"),
        ("-9<H<8", "-9<H<8"),
        ("p<0.05", "p<0.05"),
        (r'<math alttext="\alpha"><mi>α</mi></math>', r"$\alpha$"),
        ("<math><mi>α</mi><mo>=</mo><mn>1</mn></math>", "α=1"),
        ('<img src="x.png" alt="logo">', "logo"),
        ("<script>alert(1)</script>a", "a"),
        ("a<!-- b -->c", "ac"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
    ],
)
def test_text_of_a_cell(cell: str, text: str) -> None:
    assert read_table(f"<table><tr><td>{cell}</td><td>next</td></tr></table>").cells[0].text == text


def test_a_frame_for_layout_is_not_a_table() -> None:
    html = "<table><tr><td><table><tr><td>a<td>b</table><table><tr><td>c</table></td></tr></table>"
    assert [f.table.text_rows() for f in read_tables(html)] == [[["a", "b"]], [["c"]]]


def test_several_tables_with_their_places() -> None:
    text = "x <TABLE><TR><TD>a</TD></TR></TABLE> y <table><tr><td>b</td></tr></table> z"
    found = read_tables(text)
    assert [f.source for f in found] == [text[f.start : f.end] for f in found]
    assert found[0].source.startswith("<TABLE>") and found[1].source.endswith("</table>")


def test_a_table_that_is_cut_off_ends_with_its_last_line() -> None:
    text = "<table><tr><td>a</td><td>b</td></tr><tr><td>0.3\nA paragraph after it."
    (found,) = read_tables(text)
    assert found.table.text_rows() == [["a", "b"], ["0.3", ""]]
    assert text[found.end :] == "\nA paragraph after it."
    assert rows("<table><tr><td>a<td>b</") == [["a", "b"]]


def test_a_table_never_closed_before_the_next_one() -> None:
    text = "<table><tr><td>a</td></tr>\n<table><tr><td>b</td></tr></table>"
    assert [f.table.text_rows() for f in read_tables(text)] == [[["a"]], [["b"]]]


def test_rows_without_a_table_around_them() -> None:
    assert rows("<thead><tr><th>a</th></tr></thead><tr><td>b</td></tr>") == [["a"], ["b"]]


def test_missing_end_tags_inside_cells_lose_nothing() -> None:
    assert rows("<table><tr><td><b>a<td>b</b><tr><td>c<td><i>d</table>") == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(("value", "span"), [("2%", 2), ("x", 1), ("-3", 1), ("0", 1), (" 2 ", 2), ("", 1)])
def test_spans_are_read_as_browsers_do(value: str, span: int) -> None:
    assert read_table(f'<table><tr><td colspan="{value}">a</td></tr></table>').cells[0].colspan == span


def test_rowspan_zero_runs_to_the_end() -> None:
    assert rows("<table><tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d</table>") == [
        ["a", "b"],
        ["a", "c"],
        ["a", "d"],
    ]


def test_no_table_is_an_error_that_says_so() -> None:
    with pytest.raises(FormatError, match="no html table"):
        read_table("no table here", "html")


def test_tags_named_in_prose_are_no_table() -> None:
    assert read_tables("Use the <tr> tag around each <br> in it.\n\nThe <td> tag is for cells.") == []
    assert len(read_tables("The <tr> tag.\n<table><tr><td>a</td></tr></table>")) == 1


def test_an_empty_table_is_a_table() -> None:
    assert read_table("<table></table>").n_cells == 0


def test_rows_and_cells_of_tei_are_read() -> None:
    text = (
        '<figure type="table"><head>Table 1</head><table><head>Results</head><row><cell>Model</cell>'
        '<cell cols="2">Score<lb/>(%)</cell></row><row><cell rows="2">A</cell><cell/><cell>-9<H<8</cell>'
        '</row><row><cell>7.5 <hi rend="bold">best</hi></cell><cell>2</cell></row></table></figure>'
    )
    assert rows(text) == [
        ["Model", "Score\n(%)", "Score\n(%)"],
        ["A", "", "-9<H<8"],
        ["A", "7.5 best", "2"],
    ]
    assert read_tables(text)[0].source.startswith("<table><head>")


def test_entries_of_docbook_are_read() -> None:
    text = (
        '<table><tgroup cols="3"><colspec colname="c1"/><thead><row><entry morerows="1">a</entry>'
        '<entry namest="c2" nameend="c3">b</entry></row><row><entry>x</entry><entry>y</entry></row></thead>'
        "<tbody><row><entry>1</entry><entry>2</entry><entry>3</entry></row></tbody></tgroup></table>"
    )
    table = read_table(text)
    assert table.text_rows() == [["a", "b", "b"], ["a", "x", "y"], ["1", "2", "3"]]
    assert [cell.header for cell in table.cells] == [True] * 4 + [False] * 3


def test_rows_of_tei_that_break_off_or_are_named_in_prose() -> None:
    assert rows("<table><row><cell>a</cell><cell>b</cell></row><row><cell>1</cell><cell>2") == [
        ["a", "b"],
        ["1", "2"],
    ]
    assert read_tables("Each <row> has a <cell> for each column.") == []
