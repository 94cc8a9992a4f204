"""What holds for every LaTeX: reading what was written gives the table back, and nothing but FormatError."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.growth import uncollected

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean
from parsemark.formats.latex import (
    find_latex_tables,
    latex_to_text,
    read_definitions,
    read_latex_table,
    write_latex,
)
from parsemark.model import Cell, Table

TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), include_characters=" \n")
    | st.sampled_from(r"\{}$&%#_^~-'`[]*\""),
    max_size=12,
).map(clean)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables that LaTeX can express: no holes, no column or row that is always spanned."""
    n_rows, n_cols = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n_header = draw(st.none() | st.integers(1, n_rows - 1)) if n_rows > 1 else None
    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    for row in range(n_rows):
        for col in range(n_cols):
            if (row, col) in taken:
                continue
            rowspan = draw(st.integers(1, n_rows - row)) if draw(st.booleans()) else 1
            if n_header is not None and row < n_header:
                rowspan = min(rowspan, n_header - row)
            colspan = 1
            while (
                colspan < n_cols - col and (row, col + colspan) not in taken and draw(st.integers(0, 3)) == 0
            ):
                colspan += 1
            text = draw(TEXTS)
            if not text and rowspan > 1:
                text = "x"
            cells.append(Cell(row, col, text, rowspan, colspan, None if n_header is None else row < n_header))
            taken |= {(r, c) for r in range(row, row + rowspan) for c in range(col, col + colspan)}
    table = Table(n_rows, n_cols, tuple(cells))
    starts = {c.col for c in cells}, {c.row for c in cells}
    return table if starts == (set(range(n_cols)), set(range(n_rows))) else Table(1, 1, (Cell(0, 0, "x"),))


@given(tables())
@settings(max_examples=300)
@example(Table(2, 1, (Cell(0, 0, ""), Cell(1, 0, "[b]"))))
@example(Table(1, 2, (Cell(0, 0, "---- ''' ``"), Cell(0, 1, "*\n[c"))))
def test_reading_what_was_written_is_the_identity(table: Table) -> None:
    assert read_latex_table(write_latex(table)) == table


def test_holes_at_the_end_of_a_row_survive() -> None:
    table = Table.from_rows([["a", "b", "c"], ["d"]], header_rows=1)
    assert read_latex_table(write_latex(table)) == table


FRAGMENTS = r"""
    \begin{tabular} \end{tabular} \begin{array} \end{longtable} {ll} { } [ ] & \\ $ $$ % ~ x ' \( \] ^ _ #1 \
    \multirow \multicolumn {2} {-3} {*} \hline \midrule \cmidrule (lr) \verb| \frac \sqrt \left \over \hat
    \text \makecell \def \newcommand \a \ce \SI \num \per 1e5 \endhead \endfirsthead \endlastfoot \ding \not
    \let @{.} S \begin{pmatrix} \end{pmatrix} \item \textsuperscript
"""
PIECES = st.sampled_from([*FRAGMENTS.split(), " ", "\n"])
REPEATED = r"""
    \begin{tabular}{l} { } [ \\[ $ % & \verb| \hline[ \multirow{2}{*}{ ^ \left \begin{array} a\\ \end{tabular}
    \textbf{a} ^{ \( \cmidrule( \def\a{ \num{1e \item[ $$ $\[
"""


@given(st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join))
@settings(max_examples=400)
def test_only_format_errors_come_out(source: str) -> None:
    for read in (latex_to_text, read_latex_table, find_latex_tables, read_definitions):
        try:
            read(r"\begin{tabular}{ll}" + source if read is read_latex_table else source)
        except FormatError:
            continue


@pytest.mark.parametrize("unit", REPEATED.split())
def test_time_is_linear(unit: str) -> None:
    """Ten times the input takes about ten times as long (quadratic would be a hundred)."""

    def seconds(n: int) -> float:
        source = r"\begin{tabular}{ll}" + unit * n
        start = time.process_time()
        for read in (read_latex_table, find_latex_tables):
            try:
                read(source)
            except FormatError:
                continue
        return time.process_time() - start

    seconds(100)
    # The least of some tries: what another process adds is not the reader's.
    with uncollected():
        small = max(seconds(400), 0.002)
        assert any(seconds(4000) < 40 * small for _ in range(8))


def test_limits_have_messages() -> None:
    with pytest.raises(FormatError, match="characters"):
        latex_to_text("x" * 1_000_001)
    with pytest.raises(FormatError, match="over the limit"):
        read_latex_table(r"\begin{tabular}{l}" + r"\multicolumn{999}{l}{x}&" * 600)
    wide = read_latex_table(r"\begin{tabular}{l}\multicolumn{999999999999}{l}{x}\\ a & b\end{tabular}")
    assert wide.n_cols < 1001
