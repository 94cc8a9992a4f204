"""Writers, and that reading gives back what was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import UsageError
from parsemark.formats import WRITERS, read_table, write_table
from parsemark.formats.latex import latex_to_text
from parsemark.formats.latex.writer import escape_latex
from parsemark.model import Cell, Table

from .strategies import plain_tables, spanning_tables


@given(spanning_tables())
def test_html_gives_back_what_was_written(table: Table) -> None:
    assert read_table(write_table(table, "html"), "html") == table


@given(plain_tables(header=True))
def test_markdown_gives_back_tables_with_a_header_row(table: Table) -> None:
    if not any(cell.text for cell in table.cells if cell.row == 0):
        return
    assert read_table(write_table(table, "markdown"), "markdown") == table


@given(plain_tables())
def test_markdown_gives_back_tables_without_headers(table: Table) -> None:
    assert read_table(write_table(table, "markdown"), "markdown") == table


@given(plain_tables())
def test_csv_gives_back_what_was_written(table: Table) -> None:
    assert read_table(write_table(table, "csv"), "csv") == table


@given(spanning_tables())
def test_what_html_writes_is_recognised(table: Table) -> None:
    assert read_table(write_table(table, "html")) == table


SPANNING = Table(
    2,
    3,
    (Cell(0, 0, "a", rowspan=2), Cell(0, 1, "g", colspan=2, header=True), Cell(1, 2, "b")),
)


def test_spans_keep_their_text_once_where_a_format_has_none() -> None:
    assert write_table(SPANNING, "csv") == "a,g,\n,,b\n"
    assert write_table(SPANNING, "markdown") == "| a | g |  |\n| --- | --- | --- |\n|  |  | b |"


def test_holes_before_a_cell_are_filled_in_html() -> None:
    assert read_table(write_table(SPANNING, "html")).grid == ((0, 1, 1), (0, 2, 3))


def test_the_width_is_kept_where_no_cell_reaches_the_last_column() -> None:
    table = Table(2, 3, (Cell(1, 0, "a"),))
    assert read_table(write_table(table, "html")).n_cols == 3


@pytest.mark.parametrize("format", ["html", "csv"])
def test_an_empty_table_can_be_written(format: str) -> None:
    assert isinstance(write_table(Table(0, 0), format), str)


def test_an_unknown_format_names_the_known() -> None:
    with pytest.raises(UsageError, match="Unknown output format 'docx'"):
        write_table(SPANNING, "docx")


@pytest.mark.parametrize("format", WRITERS)
def test_a_table_without_columns_can_be_written(format: str) -> None:
    assert isinstance(write_table(Table(1, 0), format), str)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("x^2", "x$^2$"),
        ("10^{−3} m", "10$^{-3}$ m"),
        ("x_i", "x$_i$"),
        ("d_{model}", "d$_{model}$"),
        ("x_1^2", "x$_1^2$"),
        ("Dev^{a b}", r"Dev$^{\text{a b}}$"),
        ("file_1", r"file\_1"),
        ("snake_case", r"snake\_case"),
        ("^ and _", r"\textasciicircum{} and \_"),
    ],
)
def test_scripts_are_written_as_mathematics(text: str, latex: str) -> None:
    assert escape_latex(text) == latex
    assert read_table(write_table(Table(1, 1, (Cell(0, 0, text),)), "latex"), "latex").cells[0].text == text


@given(st.text("xyz19^_{}$\\−-+*'° ", max_size=12))
def test_latex_gives_back_any_text(text: str) -> None:
    text = " ".join(text.split())
    assert latex_to_text(escape_latex(text)) == text
