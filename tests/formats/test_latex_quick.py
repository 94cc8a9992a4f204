r"""Tables read cell by cell are those that reading the whole source token by token gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import FormatError
from parsemark.formats.latex import read_latex_table
from parsemark.formats.latex.grid import read_grid
from parsemark.formats.latex.quick import quick_table
from parsemark.formats.latex.table import place_table
from parsemark.model import Table

PIECES = [
    "a", "0.72", "-", "--", "'", "''", "`", "?`", "~", " ", "\n", "[", "]", "(", ")", "*", "$x^2$",
    "$-0.3$", "$1 \\pm 2$", "$", "$$", "$a$$b$", "^2", "_i", "\\%", "\\&", "\\$", "\\{", "\\}", "\\,",
    "\\\\", "{", "}", "{a}", "{\\bf b}", "\\bf ", "\\textbf{c}", "\\textbf c",
    "\\textbf{\\emph{$y_{1}$}}", "\\cite{k}", "\\cite[p]{k}", "\\hline", "\\unknown", "\\unknown{d}",
    "\\makecell{e\\\\f}", "\\begin{tabular}{c}g\\\\h\\end{tabular}", "\\begin{tabular}",
    "\\end{tabular}", "\\(z\\)", "\\(", "\\multicolumn{2}{c}{i}", "\\multicolumn{2}{@{x}c}{i}",
    "\\multirow{2}{*}{j}", "\\multirow{-2}{*}{j}", "% note\n", "%", "5%", "\\verb|k|",
    "\\newcommand{\\m}{n}", "\\m", "\\tfrac12", "\\num{1e3}", "\\color[HTML]{333} o",
    "\\footnotemark[1]", "\\cellcolor{red}",
]  # fmt: skip
BETWEEN = [
    " & ", " & ", " & ", " & ", "&", " \\\\\n", " \\\\\n", "\\\\[2pt]", "\\\\ [x]", "\\\\*",
    "\\tabularnewline ", "\\\\ \\hline ", "\\\\ \\hline\\hline ", "\\\\ \\midrule ",
    "\\\\ \\toprule[1pt] ", "\\\\ \\cmidrule(lr){2-3} ", "\\\\ \\cline{1-2} ", "\\\\ \\endhead ",
    "\\\\ \\rowcolor{blue} ", "\\\\ \\rowcolor[gray]{.9} ", "\\\\ \\noalign{\\smallskip} ",
    "\\\\ \\addlinespace ",
]  # fmt: skip
OPENINGS = [
    "{lcr}",
    "[t]{ll}",
    "{@{}lc@{}}",
    "{r@{.}l}",
    "{>{$}c<{$}l}",
    "{lS}",
    "{*{3}{c}}",
    "{p{2cm}>{\\bfseries}l}",
    "",
]


def full_table(source: str) -> Table:
    return place_table(read_grid(source)).table


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Tables of everything that may stand in them, well-formed or not."""
    cells = draw(st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map("".join), min_size=1, max_size=8))
    joints = draw(st.lists(st.sampled_from(BETWEEN), min_size=len(cells), max_size=len(cells)))
    body = "".join(cell + joint for cell, joint in zip(cells, joints, strict=True))
    name = draw(st.sampled_from(["tabular", "tabular", "tabular", "longtable", "array"]))
    before = draw(st.sampled_from(["", "", "text ", "{\\small "]))
    return f"{before}\\begin{{{name}}}{draw(st.sampled_from(OPENINGS))}{body}\\end{{{name}}}"


@given(sources())
def test_cell_by_cell_is_what_the_whole_source_gives(source: str) -> None:
    quick = quick_table(source)
    if quick is not None:
        assert read_latex_table(source) == full_table(source)


@given(sources())
def test_what_cannot_be_read_says_so_as_before(source: str) -> None:
    try:
        expected = full_table(source)
    except FormatError as error:
        with pytest.raises(FormatError) as raised:
            read_latex_table(source)
        assert raised.value.args == error.args
    else:
        assert read_latex_table(source) == expected


@pytest.mark.parametrize(
    "body",
    [
        r"a & \textbf{0.7} \\ \midrule b & $x_i^2$ \\",
        r"\hline a & b \\ % a comment" "\n" r"c & 5\% \\ \hline",
        r"\multirow{2}{*}{a} & b~c \\ & \makecell{d\\e} \\",
        r"a & \begin{tabular}{c} b \\ c \end{tabular} \\",
    ],
)
def test_ordinary_tables_are_read_cell_by_cell(body: str) -> None:
    assert quick_table(rf"\begin{{tabular}}{{@{{}}lc@{{}}}}{body}\end{{tabular}}") is not None


def test_a_line_break_of_the_source_is_a_space() -> None:
    source = "\\begin{tabular}{ll} a\nb & \\textbf{a\nb} \\\\ {c\nd} & $e$\nf \\end{tabular}"
    assert read_latex_table(source).text_rows() == [["a b", "a b"], ["c d", "e f"]]
    assert full_table(source) == read_latex_table(source)
