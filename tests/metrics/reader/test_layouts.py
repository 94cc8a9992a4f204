"""One table laid out in another way: row groups folded, rows and columns run together.

The tables are made up. The ranges are wide: they hold the order of harm, not a number.
"""

from __future__ import annotations

from parsemark.metrics import Score, score


def read(truth: str, pred: str) -> Score:
    return score(truth, pred, metrics=["reader"])["reader"]


def value(truth: str, pred: str) -> float:
    found = read(truth, pred).value
    assert found is not None
    return found


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
