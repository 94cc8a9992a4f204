"""Complete, but written or arranged in another way: what a reader accepts, and what only looks like it.

Made of classes that a stranger reported, on tables of our own with ranges set before they were scored. The
ranges are wide: they hold the order of harm, not a number.
"""

from __future__ import annotations

import pytest

from parsemark.metrics import Score, score

Rows = list[list[str]]


def rows(*lines: str) -> Rows:
    return [[cell.strip() for cell in line.split("&")] for line in lines]


def markdown(table: Rows) -> str:
    lines = [table[0], ["---"] * len(table[0]), *table[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latex(table: Rows, n_header: int = 1) -> str:
    lines = [" & ".join(row) + r" \\" for row in table]
    body = "\n".join([r"\toprule", *lines[:n_header], r"\midrule", *lines[n_header:], r"\bottomrule"])
    return f"\\begin{{tabular}}{{{'l' * len(table[0])}}}\n{body}\n\\end{{tabular}}"


def read(truth: str, pred: str) -> Score:
    return score(truth, pred, metrics=["reader"])["reader"]


def value(truth: str, pred: str) -> float:
    found = read(truth, pred).value
    assert found is not None
    return found


def messages(truth: str, pred: str) -> str:
    return " ".join(error["message"] for error in read(truth, pred).details["errors"])


WAGES = rows(
    "Predictor & Wages & Hours",
    "Schooling & 0.084*** & 0.31",
    "& (0.007) & (0.22)",
    "Tenure & 0.012** & -0.45**",
    "& (0.005) & (0.18)",
    "Female & -0.163*** & -2.10***",
    "& (0.021) & (0.64)",
    "Observations & 4,212 & 4,198",
)
MOODS = rows("Item & A & B", "Anxiety & 3.21 (0.84) & 2.95 (0.91)", "Mood & 4.02 (0.66) & 4.10 (0.71)")


def behind(table: Rows) -> Rows:
    """The table with its rows without a name behind the values of the row above."""
    joined: Rows = []
    for row in table:
        if row[0]:
            joined.append(row)
        else:
            joined[-1] = [f"{one} {other}".strip() for one, other in zip(joined[-1], row, strict=True)]
    return joined


def below(table: Rows, name: str) -> Rows:
    """The table with what is in brackets in rows of its own, which are called by `name`."""
    parted = [table[0]]
    for row in table[1:]:
        parted.append([text.split(" (")[0] for text in row])
        parted.append([name.format(row[0]), *(f"({text.split(' (')[1]}" for text in row[1:])])
    return parted


def named(table: Rows, name: str) -> Rows:
    """The table with names for its rows without one."""
    above = ["", *(row[0] for row in table)]
    return [[row[0] or name.format(before), *row[1:]] for row, before in zip(table, above, strict=False)]


def test_deviations_stand_behind_their_values_or_below_them() -> None:
    truth = latex(WAGES)
    assert value(truth, markdown(behind(WAGES))) >= 9
    bracketed = [[text.replace("(", "[").replace(")", "]") for text in row] for row in WAGES]
    assert value(latex(bracketed), markdown(behind(bracketed))) >= 9
    assert value(latex(MOODS), markdown(below(MOODS, ""))) >= 9
    # A wrong one among them is a wrong value, and rows of values run together are what they were.
    assert 4 <= value(truth, markdown(behind(WAGES)).replace("0.18", "0.81")) <= 7.5
    plain = rows("Site & Low & High", "North & 12.1 & 13.4", "South & 10.0 & 11.9", "East & 9.1 & 9.9")
    together = [plain[0], ["North South", "12.1 10.0", "13.4 11.9"], plain[3]]
    assert value(latex(plain), markdown(together)) < 6


@pytest.mark.parametrize("name", ["{} (SE)", "{} – std. err.", "Std. error", "(s.d.)", "95% CI", "t-stat"])
def test_a_row_of_deviations_may_say_what_it_is(name: str) -> None:
    assert value(latex(WAGES), markdown(named(WAGES, name))) >= 8.5
    assert value(latex(MOODS), markdown(below(MOODS, name))) >= 8.5


def test_a_row_of_deviations_with_the_name_of_something_else_is_not_theirs() -> None:
    assert value(latex(WAGES), markdown(named(WAGES, "Marital status"))) < 6


def test_joined_headers_are_not_counted_as_rows() -> None:
    heads = rows("Predictor & Wages & Hours", "& log & per week")
    joined = rows("Predictor & Wages log & Hours per week")
    found = messages(latex([*heads, *WAGES[1:]], 2), markdown([*joined, *behind(WAGES)[1:]]))
    assert "1–2" in found
    assert "-1" not in found
