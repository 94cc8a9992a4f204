"""`reader` on tables written here: what is equivalent, what is lost, and what it says about it."""

from __future__ import annotations

import dataclasses

import pytest
from tests.metrics.reader.reading import read, value

import parsemark.metrics
from parsemark.metrics.reader import align
from parsemark.metrics.reader.prices import Parameters
from parsemark.metrics.reader.sheet import Sheet
from parsemark.model import Status, Table

TRUTH = r"""
\begin{tabular}{llcc}
\toprule
\multirow{2}{*}{Group} & \multirow{2}{*}{Method} & \multicolumn{2}{c}{Task 1} \\
\cmidrule{3-4}
 & & Score & Diff \\
\midrule
\multirow{2}{*}{First} & Baseline & 85.0\% & -- \\
 & Ours $\alpha$ & \textbf{91.2\%} & $+6.2$ \\
\midrule
\multirow{2}{*}{Second} & Baseline & 79.3\% & -- \\
 & Ours $\beta$ & 76.5\% & $-2.8$ \\
\bottomrule
\end{tabular}
"""

MARKDOWN = """
| Group | Method | Task 1 Score | Task 1 Diff |
|---|---|---|---|
| First | Baseline | 85.0% | N/A |
| First | Ours α | **91.2%** | +6.2 |
| Second | Baseline | 79.3% | N/A |
| Second | Ours β | 76.5% | −2.8 |
"""


def messages(truth: str, pred: str) -> list[str]:
    return [error["message"] for error in read(truth, pred).details["errors"]]


def test_the_same_table_in_another_notation_has_everything() -> None:
    assert value(TRUTH, MARKDOWN) == 10.0
    assert read(TRUTH, MARKDOWN).details["errors"] == []


@pytest.mark.parametrize(
    ("written", "given", "kind", "message"),
    [
        (
            "−2.8",
            "2.8",
            "value_reversed",
            "Row “Second / Ours β”, column “Task 1 / Diff”: “2.8” instead of “−2.8”.",
        ),
        (
            "91.2",
            "912",
            "value_reversed",
            "Row “First / Ours α”, column “Task 1 / Score”: “912%” instead of “91.2%”.",
        ),
        ("Task 1 Diff", "Task 1", "header_lost", "Column “Task 1 / Diff” is called “Task 1”."),
        ("Ours α", "Ours a", "name_misread", "Row “First / Ours α”: “Ours a” instead of “Ours α”."),
        (
            "| Second | Baseline | 79.3% | N/A |\n",
            "",
            "row_missing",
            "Row “Second / Baseline”: missing.",
        ),
    ],
)
def test_an_error_is_told_in_words(written: str, given: str, kind: str, message: str) -> None:
    assert written in MARKDOWN
    result = read(TRUTH, MARKDOWN.replace(written, given))
    worst = result.details["errors"][0]
    assert (worst["kind"], worst["message"]) == (kind, message)
    assert result.value is not None
    assert worst["cost"] > 0.5
    assert result.details["counts"][kind] == 1
    assert worst["extent"] > 0


def test_costs_sum_up_to_the_lost_points_and_come_strongest_first() -> None:
    pred = MARKDOWN.replace("−2.8", "2.8").replace("Second | Ours", "Other | Ours").replace("Method", "")
    result = read(TRUTH, pred)
    costs = [error["cost"] for error in result.details["errors"]]
    assert costs == sorted(costs, reverse=True)
    assert result.value is not None
    assert sum(costs) == pytest.approx(10 - result.value, abs=0.001)


def test_an_invented_row_is_told() -> None:
    said = messages(TRUTH, MARKDOWN + "| Third | Nothing | 1.0% | 2.0 |\n")
    assert any("“Third Nothing 1.0% 2.0” of the output" in m for m in said), said


def test_an_output_that_breaks_off_is_worse_than_a_missing_row() -> None:
    lines = MARKDOWN.strip().splitlines()
    missing = "\n".join(lines[:-1])
    broken = "\n".join([*lines[:-2], "| Second | Baseline | 79.3%"])
    assert value(TRUTH, broken) < value(TRUTH, missing) < 8


def test_a_group_header_over_the_wrong_columns_costs_more_than_padding() -> None:
    spanned = (
        "<table><tr><th>M</th><th colspan=2>A</th><th colspan=2>B</th></tr>"
        "<tr><th></th><th>x</th><th>y</th><th>x</th><th>y</th></tr>"
        "<tr><td>r</td><td>1</td><td>2</td><td>3</td><td>4</td></tr>"
        "<tr><td>s</td><td>5</td><td>6</td><td>7</td><td>8</td></tr></table>"
    )
    wrong = spanned.replace("<th colspan=2>A</th><th colspan=2>B", "<th colspan=3>A</th><th>B")
    padded = spanned.replace(
        "<th colspan=2>A</th><th colspan=2>B</th>", "<th>A</th><th></th><th>B</th><th></th>"
    )
    assert value(spanned, padded) >= 9.5
    assert value(spanned, wrong) < 7


def test_empty_cases() -> None:
    assert value("", "") == 10.0
    assert value(TRUTH, "") == 0.0
    assert value("", MARKDOWN) == 0.0
    assert value(TRUTH, "There is no table on this page.") == 0.0


def test_what_cannot_be_read_fails_with_a_reason() -> None:
    result = read(TRUTH, "<table><tr><td colspan=5000>x</td></tr></table>")
    assert result.status is Status.METRIC_FAILED
    assert result.message is not None
    assert "spans" in result.message


def test_tables_that_are_too_large_fail_with_a_reason() -> None:
    large = Table.from_rows([[f"{r} {c}" for c in range(30)] for r in range(400)])
    other = Table.from_rows([[f"{r} {c} x" for c in range(30)] for r in range(400)])
    assert value(large, large) == 10.0
    result = read(large, other)
    assert result.status is Status.METRIC_FAILED
    assert "too large" in (result.message or "")


def test_tables_of_the_model_and_texts_are_read_alike() -> None:
    table = Table.from_rows([["a", "b"], ["1", "2"], ["3", "4"]], header_rows=1)
    assert value(table, "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |") == 10.0


def test_parameters_are_few() -> None:
    assert len(dataclasses.fields(Parameters)) <= 20


@pytest.mark.parametrize("n_cols", [2_000, 8_000])
def test_a_row_of_very_many_cells_is_refused_with_a_reason(n_cols: int) -> None:
    wide = Table.from_rows([[str(c) for c in range(n_cols)]])
    other = Table.from_rows([[str(c + 7) for c in range(n_cols)]])
    result = read(wide, other)
    assert result.status is Status.METRIC_FAILED
    assert "columns" in (result.message or "")


@pytest.mark.parametrize("text", [" __a" * 8_000, "1" + ",111" * 8_000, r"\(" * 16_000, "(" * 32_000])
def test_a_cell_made_to_be_slow_is_read_or_refused(text: str) -> None:
    hostile = Table.from_rows([["h", "k"], ["a", text], ["b", "1"]])
    result = read("| h | k |\n|---|---|\n| a | 2 |\n| b | 1 |\n", hostile)
    assert result.status in (Status.OK, Status.METRIC_FAILED)
    assert read(hostile, hostile).value == 10.0


def test_large_tables_are_aligned_by_the_beginnings_of_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[f"{k} {'x' * 200}", str(k)] for k in range(12)]
    table = "<table>" + "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows) + "</table>"
    pred = table.replace("<td>3</td>", "<td>4.5</td>")
    before = parsemark.metrics.score(table, pred, metrics=["reader"])
    monkeypatch.setattr(align, "MAX_CHARACTER_PAIRS", 0)
    assert parsemark.metrics.score(table, pred, metrics=["reader"]) == before


def test_texts_are_compared_alike_whichever_form_came_first(monkeypatch: pytest.MonkeyPatch) -> None:
    long, other = "x" * 80 + "a" * 20, "x" * 80 + "b" * 20
    truth = Sheet.from_rows([[long, "one"]])
    wide, narrow = [other, "one", "two" * 100], [other, "one"]
    monkeypatch.setattr(align, "MAX_CHARACTER_PAIRS", 103 * 200)
    kept = align.Likenesses(truth)
    for texts in (wide, narrow, wide):
        assert kept.matrix(texts).tolist() == align.Likenesses(truth).matrix(texts).tolist()
    assert align.Likenesses(truth).matrix(wide)[0, 0] == 1 > align.Likenesses(truth).matrix(narrow)[0, 0]
