"""One table laid out in another way: groups folded, records, parts below each other, lists; names exchanged.

The tables are made up. The ranges are wide: they hold the order of harm, not a number.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.reader.reading import read, value

Rows = list[list[str]]


def markdown(rows: Rows) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latex(rows: Rows) -> str:
    body = " \\\\\n".join(" & ".join(row) for row in rows[1:])
    head = " & ".join(rows[0])
    return f"\\begin{{tabular}}{{{'l' * len(rows[0])}}}\n{head} \\\\ \\hline\n{body} \\\\\n\\end{{tabular}}"


def pairs_of(rows: Rows) -> Rows:
    return [[key, text] for row in rows[1:] for key, text in zip(rows[0], row, strict=True)]


def listed(rows: Rows) -> Rows:
    found = [[row[0], key, text] for row in rows[1:] for key, text in zip(rows[0][1:], row[1:], strict=True)]
    return [[rows[0][0], "Key", "Amount"], *found]


def kinds(truth: str, pred: str) -> set[str]:
    return {error["kind"] for error in read(truth, pred).details["errors"]}


STATIONS = r"""\begin{tabular}{llcr}
\hline
station & dates & lifetime & triggers \\ \hline
\multirow{2}{*}{A} & 2021-03-02 & \multirow{2}{*}{1410} & \multirow{2}{*}{306} \\
 & 2021-04-05 & & \\
\multirow{2}{*}{B} & 2021-03-09 & \multirow{2}{*}{1453} & \multirow{2}{*}{680} \\
 & 2021-04-11 & & \\
\multirow{2}{*}{C} & 2021-03-08 & \multirow{2}{*}{1352} & \multirow{2}{*}{217} \\
 & 2021-05-01 & & \\ \hline
\end{tabular}"""

FOLDED = """| station | dates | lifetime | triggers |
|---|---|---|---|
| A | 2021-03-02<br>2021-04-05 | 1410 | 306 |
| B | 2021-03-09<br>2021-04-11 | 1453 | 680 |
| C | 2021-03-08<br>2021-05-01 | 1352 | 217 |"""


def test_a_group_is_folded_in_the_only_column_that_has_something_for_each_row() -> None:
    assert value(STATIONS, FOLDED) > 9.5
    assert kinds(STATIONS, FOLDED) == {"padded"}


def test_such_a_group_may_be_run_together() -> None:
    run_together = FOLDED.replace("<br>", " ")
    assert kinds(STATIONS, run_together) == {"rows_merged"}
    assert 3 < value(STATIONS, run_together) < 8


def test_a_wrong_value_in_a_folded_group_is_found() -> None:
    wrong = FOLDED.replace("2021-04-11", "2021-04-17")
    assert kinds(STATIONS, wrong) == {"padded", "value_wrong"}
    assert value(STATIONS, wrong) < 8


SCORES = """| Model | MAPE | R | MAE | n |
|---|---|---|---|---|
| Base | 71.2 | 0.83 | 42.7 | 86 |
| Plus | 18.3 | 0.81 | 22.5 | 84 |
| Calib | 5.6 | 0.96 | 10.0 | 95 |"""


def test_rows_are_folded_and_columns_run_together() -> None:
    pred = """|Model|MAPE R MAE n|
|---|---|
|Base<br>Plus<br>Calib|71.2 0.83 42.7 86<br>18.3 0.81 22.5 84<br>5.6 0.96 10.0 95|"""
    assert kinds(SCORES, pred) == {"padded", "columns_merged"}
    assert 2 < value(SCORES, pred) < 6


CASES = [
    ["Case", "Context", "Feature", "Concept"],
    ["first", "river", "F 1556", "Nature"],
    ["second", "water", "F 2193", "Liquid"],
    ["third", "money", "F 948", "Finance"],
]


@pytest.mark.parametrize("write", [markdown, latex])
def test_records_may_be_a_table_and_a_table_records(write: object) -> None:
    assert callable(write)
    blocks = pairs_of(CASES)
    for truth, pred in [
        (CASES, [["Field", "Value"], *blocks]),
        (CASES, blocks),
        (blocks, CASES),
        (blocks, [["Field", "Value"], *blocks]),
    ]:
        assert value(write(truth), markdown(pred)) >= 9.5, (truth, pred)


def test_records_may_have_a_table_or_a_heading_each() -> None:
    blocks = [pairs_of([CASES[0], row]) for row in CASES[1:]]
    assert value(latex(CASES), "\n\n".join(map(markdown, blocks))) >= 9.5
    headed = [line for block in blocks for line in ([block[0][1], ""], *block[1:])]
    assert value(latex(CASES), markdown([["Field", "Value"], *headed])) >= 8.5


def test_a_value_of_a_record_may_be_wrong_or_empty() -> None:
    wrong = markdown(pairs_of(CASES)).replace("F 948", "F 849")
    assert kinds(latex(CASES), wrong) == {"value_wrong"}
    emptied = markdown(pairs_of(CASES)).replace("water", "")
    assert kinds(latex(CASES), emptied) == {"value_lost"}


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(4, 6), st.data())
def test_a_grid_says_the_same_in_every_layout(n_rows: int, n_cols: int, data: st.DataObject) -> None:
    """As records and as a list, in both directions."""
    texts = st.lists(
        st.integers(100, 99_999), min_size=n_rows * n_cols, max_size=n_rows * n_cols, unique=True
    )
    numbers = iter(data.draw(texts))
    head = ["Model", *(f"K{'abcdef'[c]}" for c in range(1, n_cols))]
    grid = [head, *([f"Name {'uvwxyz'[r]}", *(str(next(numbers)) for _ in head[1:])] for r in range(n_rows))]
    for layout in (pairs_of(grid), listed(grid)):
        assert value(latex(grid), markdown(layout)) >= 9.5, layout
        assert value(latex(layout), markdown(grid)) >= 9.5, layout


def test_two_names_that_are_exchanged_are_one_event() -> None:
    truth = latex(
        [["Method", "n", "m"], ["Default", "175", "110"], ["Inner", "177", "105"], ["Outer", "173", "99"]]
    )
    pred = markdown(
        [["Method", "n", "m"], ["Default", "175", "110"], ["Outer", "177", "105"], ["Inner", "173", "99"]]
    )
    assert read(truth, pred).details["counts"] == {"name_lost": 1}
    lost = pred.replace("| Outer |", "| Foo |").replace("| Inner |", "| Bar |")
    assert value(truth, pred) < value(truth, lost) + 2


def test_a_name_inside_of_another_one_is_not_that_name() -> None:
    truth = r"""\begin{tabular}{lc}
\toprule
Setting & Value \\ \midrule
\multicolumn{2}{l}{\textit{Agent}} \\
Temperature & 0.6 \\
Tokens & 480 \\ \midrule
\multicolumn{2}{l}{\textit{Search}} \\
Summary Temperature & 0.7 \\
Summary Tokens & 192 \\ \bottomrule
\end{tabular}"""
    rows = [
        ["Temperature", "0.6"],
        ["Tokens", "480"],
        ["Summary Temperature", "0.7"],
        ["Summary Tokens", "192"],
    ]
    assert kinds(truth, markdown([["Setting", "Value"], *rows])) == {"section_lost"}


def test_the_sign_of_an_amount_may_stand_before_its_currency() -> None:
    truth = markdown([["Metric", "A", "B"], ["Cost", "-$9.09", "$3.10"], ["Gain", "$7.32", "-$4.18"]])
    assert value(truth, truth.replace("-$9.09", "$-9.09")) > 9.5
    assert kinds(truth, truth.replace("-$9.09", "$9.09")) == {"value_reversed"}


def test_the_first_row_of_a_table_without_header_is_one_of_values() -> None:
    grid = [["X", "X", "V", "V"], ["Q", "X", "X", "X"], ["X", "V", "V", "V"], ["X", "X", "V", "X"]]
    truth = "\\begin{tabular}{cccc}\n" + " \\\\\n".join(" & ".join(row) for row in grid) + "\n\\end{tabular}"
    assert value(truth, markdown(grid)) == 10
    assert kinds(truth, markdown([["X", "X", "V", "M"], *grid[1:]])) == {"value_wrong"}
    # What is repeated below is invented once, however often it comes.
    assert read(truth, markdown([*grid, *grid])).details["counts"] == {"invented": 1}


SPANNED = r"""\begin{tabular}{llcc}
\toprule
Game & Method & ED & SS \\ \midrule
\multirow{3}{*}{Ball} & GIA & \multirow{3}{*}{0.28} & \multirow{3}{*}{0.32} \\
& RGA & & \\
& XGA & & \\
\multirow{3}{*}{Sea} & GIA & \multirow{3}{*}{0.26} & \multirow{3}{*}{0.39} \\
& RGA & & \\
& XGA & & \\ \bottomrule
\end{tabular}"""


@pytest.mark.parametrize("at", range(3))
def test_what_spans_rows_may_stand_at_any_of_them(at: int) -> None:
    rows = [["Game", "Method", "ED", "SS"]]
    for game, values in [("Ball", ["0.28", "0.32"]), ("Sea", ["0.26", "0.39"])]:
        for k, method in enumerate(["GIA", "RGA", "XGA"]):
            rows.append([game, method, *values] if k == at else ["", method, "", ""])
    assert kinds(SPANNED, markdown(rows)) <= {"span_lost", "padded", "header_shifted"}
    assert 3.5 < value(SPANNED, markdown(rows)) < 7


def test_a_row_in_which_nothing_begins_is_none() -> None:
    html = (
        "<table><tr><td rowspan=2>Game</td><td rowspan=2>n</td></tr><tr></tr>"
        "<tr><td rowspan=2>Ball</td><td rowspan=2>0.3 0.5</td></tr></table>"
    )
    truth = latex([["Game", "n"], ["Ball", "0.3"], ["Sea", "0.5"]])
    assert "invented" not in kinds(truth, html)


def test_lines_that_end_anywhere_are_read_even_if_there_are_as_many_as_rows() -> None:
    truth = latex([["Modality", "Score"], ["Image", "88.658"], ["Video", "88.388"], ["Audio", "81.250"]])
    pred = (
        "Modality Score\n\nImage 88.658 Video 88.388 Audio\n81.250\n\nWe see that images are easier to tell."
    )
    assert kinds(truth, pred) == {"plain_lines"}
    assert 2 < value(truth, pred) < 5


LINES = r"""\begin{tabular}{lccc}
\hline
Package & Easy to & High & Computes \\
 & implement & dimensions? & Z? \\
 & models? & & \\ \hline
Nest & 0.4 & 0.7 & 0.1 \\
Mono & 0.3 & 0.2 & 0.9 \\
Stan & 0.6 & 0.5 & 0.8 \\ \hline
\end{tabular}"""
BODY = [["Nest", "0.4", "0.7", "0.1"], ["Mono", "0.3", "0.2", "0.9"], ["Stan", "0.6", "0.5", "0.8"]]


@pytest.mark.parametrize("end", [" ", "<br>"])
def test_names_of_several_lines_may_be_joined(end: str) -> None:
    head = ["Package", f"Easy to{end}implement{end}models?", f"High{end}dimensions?", f"Computes{end}Z?"]
    assert value(LINES, markdown([head, *BODY])) >= 9.5
    marks = LINES
    for text, mark in zip((t for row in BODY for t in row[1:]), "✓✗✓✗✓✗✓✓✗", strict=True):
        marks = marks.replace(text, mark)
    rows = [["Nest", "✓", "✗", "✓"], ["Mono", "✗", "✓", "✗"], ["Stan", "✓", "✓", "✗"]]
    assert value(marks, markdown([head, *rows])) >= 9.5


def test_units_below_the_names_are_names() -> None:
    truth = r"""\begin{tabular}{lcc}
\hline
Sample & Depth & Temp \\
(\%) & (m) & (\%) \\ \hline
80 & 10.5 & 4.2 \\
50 & 25.1 & 3.9 \\
20 & 99.7 & 3.1 \\ \hline
\end{tabular}"""
    body = [["80", "10.5", "4.2"], ["50", "25.1", "3.9"], ["20", "99.7", "3.1"]]
    assert value(truth, markdown([["Sample (%)", "Depth (m)", "Temp (%)"], *body])) >= 9.5
    joined = latex([["Sample (\\%)", "Depth (m)", "Temp (\\%)"], *body])
    for units in (["(%)", "(m)", "(%)"], ["%", "m", "%"], ["[%]", "[m]", "[%]"]):
        assert value(joined, markdown([["Sample", "Depth", "Temp"], units, *body])) >= 9.5, units


def test_intervals_below_the_names_are_values() -> None:
    rows = [["Name", "Range"], ["a", "(0, 3)"], ["b", "(0, 5)"], ["c", "1.5"]]
    truth = (
        "\\begin{tabular}{cc}\n"
        + " \\\\ \\hline\n".join(" & ".join(row) for row in rows)
        + "\n\\end{tabular}"
    )
    assert kinds(truth, markdown(rows).replace("(0, 3)", "(0, 8)")) == {"value_wrong"}


def test_lines_of_one_column_are_one_text() -> None:
    truth = "\\begin{tabular}{c}Number = 10,\\\\ Best = 5,\\\\ Size = 16\\end{tabular}"
    assert value(truth, "<table><tr><td>Number = 10, Best = 5, Size = 16</td></tr></table>") >= 9.5


NAMES = ["Aachen", "Bonn", "Celle", "Dorsten", "Essen", "Fulda"]
CITIES = [["City", "People"], *([name, str(110 + 7 * k)] for k, name in enumerate(NAMES))]


def test_a_narrow_table_may_stand_in_blocks_beside_each_other() -> None:
    beside = [[*CITIES[0], *CITIES[0]], *([*CITIES[k], *CITIES[k + 3]] for k in (1, 2, 3))]
    assert value(latex(CITIES), markdown(beside)) >= 9.5
    assert value(latex(CITIES), markdown(beside[1:])) < 9.5  # the header is lost
    last = [*beside[:3], [*CITIES[3], "", ""]]
    assert kinds(latex(CITIES), markdown(last)) & {"row_missing", "cut_off"}


def test_a_row_of_the_truth_may_go_on_in_the_next_one() -> None:
    truth = r"""\begin{tabular}{l|ccc}
Process & Generator & Cross section & Events \\ \hline
top (s-channel) & Powheg with & 3.344 & 6952 \\
four flavours & Pythia & & \\ \hline
top (t-channel) & Powheg & 80.95 & 3881 \\
inclusive \\ \hline
pairs inclusive & Pythia & 16.6 & 1988 \\
\end{tabular}"""
    rows = [
        ["Process", "Generator", "Cross section", "Events"],
        ["top (s-channel) four flavours", "Powheg with Pythia", "3.344", "6952"],
        ["top (t-channel) inclusive", "Powheg", "80.95", "3881"],
        ["pairs inclusive", "Pythia", "16.6", "1988"],
    ]
    assert value(truth, markdown(rows)) >= 9.5
    assert kinds(truth, markdown(rows).replace("3881", "3818")) == {"value_wrong"}


@pytest.mark.parametrize("pred", ["", "<table></table>", "no table at all"])
def test_nothing_at_all_is_an_event(pred: str) -> None:
    found = read(markdown(CITIES), pred)
    assert found.value == 0
    assert found.details["counts"] == {"row_missing": 1}
