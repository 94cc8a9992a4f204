"""LaTeX tables become the grid that a reader of the page sees."""

import pytest

from parsemark.errors import FormatError
from parsemark.formats import read_tables
from parsemark.formats.latex import find_latex_tables, read_definitions, read_latex_table
from parsemark.model import Table


def tabular(body: str, columns: str = "llll") -> Table:
    return read_latex_table(rf"\begin{{tabular}}{{{columns}}}{body}\end{{tabular}}")


def spans(table: Table) -> list[tuple[int, int, int, int, str]]:
    return [(c.row, c.col, c.rowspan, c.colspan, c.text) for c in table.cells]


def headers(table: Table) -> list[bool | None]:
    return [next(c.header for c in table.cells if c.row == row) for row in range(table.n_rows)]


def test_rows_rules_and_comments() -> None:
    table = tabular(
        r"""\toprule[1pt] a & b \\[2pt] \cmidrule(lr){1-2} % & no cell \\
        \addlinespace[3pt] c & d \\* \midrule e & 50\% \tabularnewline \bottomrule"""
    )
    assert table.text_rows() == [["a", "b"], ["c", "d"], ["e", "50%"]]


@pytest.mark.parametrize(
    "environment",
    [
        r"\begin{tabular}[t]{lc}BODY\end{tabular}",
        r"\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}lc}BODY\end{tabular*}",
        r"\begin{tabularx}{\linewidth}{lX}BODY\end{tabularx}",
        r"\begin{longtable}[c]{lc}BODY\end{longtable}",
        r"$\begin{array}{lc}BODY\end{array}$",
        r"\begin{tabu} to \textwidth {lc}BODY\end{tabu}",
        r"\begin{table}\caption{A & B}\begin{tabular}{lc}BODY\end{tabular}\end{table}",
        r"\begin{tabular}{lc}BODY",
    ],
)
def test_environments(environment: str) -> None:
    source = environment.replace("BODY", r"x & y \\ z & w \\ \hline")
    assert read_latex_table(source).text_rows() == [["x", "y"], ["z", "w"]]


def test_multicolumn_and_multirow() -> None:
    table = tabular(r"\multirow{2}{*}{a} & \multicolumn{2}{c|}{\textbf{b}} \\ & c & d \\ e & f & g")
    assert spans(table) == [
        (0, 0, 2, 1, "a"), (0, 1, 1, 2, "b"), (1, 1, 1, 1, "c"), (1, 2, 1, 1, "d"),
        (2, 0, 1, 1, "e"), (2, 1, 1, 1, "f"), (2, 2, 1, 1, "g"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    [
        r"\multicolumn{2}{c}{\multirow{2}{*}{x}}",
        r"\multicolumn{2}{c}{\multirow[t]{2}[1]{3cm}[-2pt]{x}}",
        r"\multicolumn{2}{c}{\textbf{\multirow{2}{*}{x}}}",
        r"\cellcolor{red}\multicolumn{2}{c}{{\bf\multirow{2}*{x}}}",
    ],
)
def test_spans_inside_of_each_other(cell: str) -> None:
    table = tabular(cell + r" & a \\ \multicolumn{2}{c}{} & b \\ c & d & e")
    assert spans(table)[0] == (0, 0, 2, 2, "x")
    assert table.holes == ()


def test_negative_multirow_begins_above() -> None:
    table = tabular(r" & a \\ & b \\ \multirow{-3}{*}{x} & c")
    assert spans(table)[0] == (0, 0, 3, 1, "x")


def test_multirow_ends_before_text_and_at_the_end() -> None:
    table = tabular(r"\multirow{3}{*}{x} & a \\ y & b \\ \multirow{9}{*}{z} & c")
    assert [(c.row, c.rowspan, c.text) for c in table.cells if c.col == 0] == [
        (0, 1, "x"),
        (1, 1, "y"),
        (2, 1, "z"),
    ]


def test_columns_and_rows_that_are_always_spanned_go() -> None:
    table = tabular(r"\multicolumn{2}{c}{a} & b \\ \multicolumn{2}{c}{c} & d")
    assert spans(table) == [(0, 0, 1, 1, "a"), (0, 1, 1, 1, "b"), (1, 0, 1, 1, "c"), (1, 1, 1, 1, "d")]
    table = tabular(r"\multirow{2}{*}{a} & \multirow{2}{*}{b} \\ & \\ c & d")
    assert table.text_rows() == [["a", "b"], ["c", "d"]]


def test_text_between_columns_joins_them() -> None:
    table = tabular(r"\multicolumn{2}{c}{x} & y \\ 12 & 5 & 1", r"r@{.}l@{\hspace{3pt}}c")
    assert table.text_rows() == [["x", "y"], ["12.5", "1"]]
    table = tabular(r"a & 1.5 & 0.2 \\ b & nan & n/a \\ c & -- & \\ d & $-3$ & 5(3)", r"lr@{ $\pm$ }l")
    assert table.text_rows() == [["a", "1.5 ± 0.2"], ["b", "nan ± n/a"], ["c", "– ±"], ["d", "−3 ± 5(3)"]]


def test_text_between_words_belongs_to_the_cell_before() -> None:
    table = tabular(r"Author & A Name \\ Year & 2001", r"l@{ : }l")
    assert table.text_rows() == [["Author :", "A Name"], ["Year :", "2001"]]
    table = tabular(r"Year & Number \\ 2001 & 5", r"l@{ -- }l")
    assert table.text_rows() == [["Year –", "Number"], ["2001 –", "5"]]
    table = tabular(r"\multicolumn{1}{c}{Hit} & \multicolumn{1}{c}{Miss} \\ 10 & 2", r"r@{/}r")
    assert table.text_rows() == [["Hit", "Miss"], ["10/", "2"]]


def test_math_columns_and_repeated_ones() -> None:
    table = tabular(r"x_1 & a & 2 \\", r">{$}c<{$} *{2}{c}")
    assert table.text_rows() == [["x_1", "a", "2"]]


def test_short_rows_leave_holes_and_blank_rows_go() -> None:
    table = tabular(r"a & b \\ c \\ \\ & \\ d & e")
    assert table.n_rows == 4
    assert table.holes == ((1, 1),)


def test_bracket_after_row_end_is_text() -> None:
    assert tabular(r"a & b \\ [68, 400] & c \\[2pt]").text_rows() == [["a", "b"], ["[68, 400]", "c"]]


def test_percent_sign_of_careless_parsers() -> None:
    assert tabular("a & 50% & b \\\\\nc & d% comment\n & e").text_rows() == [
        ["a", "50%", "b"],
        ["c", "d", "e"],
    ]


def test_verb_hides_its_separators() -> None:
    assert tabular(r"\verb|a & b \\| & c").text_rows() == [[r"a & b \\", "c"]]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"\toprule h \\ \midrule a \\ \midrule b \\ \bottomrule", [True, False, False]),
        (r"\hline h \\ \hline a \\ b \\ \hline", [True, False, False]),
        (r"\hline h \\ \hline\hline a \\ \hline b \\ \hline", [True, False, False]),
        (r"\hline h \\ \hline a \\ \hline b \\ \hline", [None, None, None]),
        (r"\hline h \\ a \\ b \\ \hline", [None, None, None]),
        (r"\hline a \\ b \\ c \\ \hline d \\ e \\ \hline", [None] * 5),
        (r"h \\ i \\ \midrule a", [True, True, False]),
        (r"\toprule h \\ \colrule a \\ b \\ \botrule", [True, False, False]),
        (r"\tophline h \\ \middlehline a \\ \middlehline b \\ \bottomhline", [True, False, False]),
        (r"\br h \\ \mr a \\ b \\ \br", [True, False, False]),
        (r"\tableline\tableline h \\ \tableline a \\ b \\ \tableline", [True, False, False]),
    ],
)
def test_header_rows_only_where_rules_make_them_certain(body: str, expected: list[bool | None]) -> None:
    assert headers(tabular(body)) == expected


def test_longtable_head_and_foot_appear_once() -> None:
    table = read_latex_table(
        r"""\begin{longtable}{ll}\caption{C}\\ \hline A & B \\ \hline \endfirsthead
        A & B (continued) \\ \hline \endhead \multicolumn{2}{r}{next page} \\ \endfoot
        \hline Sum & 3 \\ \endlastfoot a & 1 \\ b & 2 \\ \end{longtable}"""
    )
    assert table.text_rows() == [["A", "B"], ["a", "1"], ["b", "2"], ["Sum", "3"]]
    assert headers(table) == [True, False, False, False]


def test_longtable_foot_may_be_a_rule_alone() -> None:
    table = read_latex_table(
        r"""\begin{longtable}{ll}\toprule A & B \\ \midrule \endfirsthead A & B \\ \midrule \endhead
        \bottomrule \endfoot \bottomrule \endlastfoot a & 1 \\ b & 2 \\ \end{longtable}"""
    )
    assert table.text_rows() == [["A", "B"], ["a", "1"], ["b", "2"]]
    assert headers(table) == [True, False, False]


def test_finds_outermost_tables_in_any_text() -> None:
    text = (
        "# Title\n"
        r"\begin{tabular}{l}\begin{tabular}{l}in\end{tabular}\end{tabular} and"
        "\n% \\begin{tabular}{l}commented\\end{tabular}\n"
        r"$\left(\begin{array}{cc}1&2\\3&4\end{array}\right)$"
        "\n\\begin{tabularx}{5cm}{ll}cut & off \\\\\n\nText after."
    )
    found = find_latex_tables(text)
    assert [f.table.text_rows() for f in found] == [[["in"]], [["cut", "off"]]]
    assert all(f.source == text[f.start : f.end] for f in found)


@pytest.mark.parametrize(
    "text",
    [
        r"<table><tr><td>$\begin{array}{l}a & b\\c & d\end{array}$</td><td>x</td></tr></table>",
        "| a | b |\n|---|---|\n| $\\begin{array}{c}1 & 2\\end{array}$ | x |",
        r"f = \begin{array}{l}a\\b\end{array}",
    ],
)
def test_formulas_are_no_tables(text: str) -> None:
    assert not [f for f in read_tables(text) if f.format == "latex"]


def test_an_end_that_is_cut_off_is_an_end() -> None:
    (found,) = find_latex_tables(r"\begin{tabular}{l}\begin{tabular}{l}a\end{tabular} & b\\\end{tabular")
    assert found.table.text_rows() == [["a", "b"]]


@pytest.mark.parametrize("source", ["", "no table", r"\end{tabular}"])
def test_no_table_is_an_error(source: str) -> None:
    with pytest.raises(FormatError, match="no LaTeX table"):
        read_latex_table(source)


def test_empty_environment_is_an_empty_table() -> None:
    assert tabular("").n_cells == 0


def test_number_columns() -> None:
    table = tabular(r"{Name} & 1.5e3 \\ x & 2.0 +- 0.1 \\ y & {n/a}", "lS[table-format=1.1]")
    assert [row[1] for row in table.text_rows()] == ["1.5 × 10^3", "2.0 ± 0.1", "n/a"]


def test_macros_of_the_document_can_be_given() -> None:
    definitions = read_definitions(r"\newcommand{\pmv}[2]{#1 $\pm$ #2}")
    table = read_latex_table(r"\begin{tabular}{l}\pmv{1}{2}\end{tabular}", definitions=definitions)
    assert table.text_rows() == [["1 ± 2"]]


@pytest.mark.parametrize("body", ["|", "l", "@{}"])
def test_repeats_of_repeats_end(body: str) -> None:
    columns = r"*{999}{" * 6 + body + "}" * 6
    text = rf"\begin{{tabular}}{{{columns}}}a & b \\ \end{{tabular}}"
    assert [found.table.text_rows()[0][:2] for found in read_tables(text, "latex")] == [["a", "b"]]
