"""Complete, but written or arranged in another way: what a reader accepts, and what only looks like it.

Classes of errors, on tables of our own with ranges set before they were scored. The
ranges are wide: they hold the order of harm, not a number.
"""

from __future__ import annotations

import pytest
from tests.metrics.reader.reading import Rows, markdown, read, rows, value


def latex(table: Rows, n_header: int = 1) -> str:
    lines = [" & ".join(row) + r" \\" for row in table]
    body = "\n".join([r"\toprule", *lines[:n_header], r"\midrule", *lines[n_header:], r"\bottomrule"])
    return f"\\begin{{tabular}}{{{'l' * len(table[0])}}}\n{body}\n\\end{{tabular}}"


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


def test_a_column_of_intervals_keeps_its_name_when_the_table_is_transposed() -> None:
    table = rows(
        "Contrast & Estimate & 95\\% CI & SE",
        "a -- b & -0.873 & [-1.21, -0.540] & 0.169",
        "b -- c & -0.614 & [-1.04, -0.195] & 0.215",
        "c -- d & 0.480 & [0.119, 0.841] & 0.184",
    )
    given = [[text.replace("\\", "") for text in column] for column in zip(*table, strict=True)]
    assert value(latex(table), markdown(given)) >= 9.5


def test_joined_headers_are_not_counted_as_rows() -> None:
    heads = rows("Predictor & Wages & Hours", "& log & per week")
    joined = rows("Predictor & Wages log & Hours per week")
    found = messages(latex([*heads, *WAGES[1:]], 2), markdown([*joined, *behind(WAGES)[1:]]))
    assert "1–2" in found
    assert "-1" not in found


ALLOYS = rows(
    "Alloy & Density & Modulus & Yield & Strain",
    "& g/cm$^3$ & GPa & MPa & \\%",
    "AA6061 & 2.70 & 68.9 & 276 & 12",
    "Ti64 & 4.43 & 113.8 & 880 & 14",
    "304 & 8.00 & 193 & 215 & 70",
    "IN718 & 8.19 & 200 & 1034 & 12",
)


def ordered(table: Rows, order: list[int]) -> str:
    return markdown([[row[k] for k in order] for row in table])


@pytest.mark.parametrize(
    "order", [[0, 4, 1, 2, 3], [0, 1, 3, 2, 4], [0, 4, 3, 2, 1], [4, 3, 2, 1, 0], [0, 3, 1, 4, 2]]
)
def test_columns_may_stand_in_another_order_with_their_headers(order: list[int]) -> None:
    single = [ALLOYS[0], *ALLOYS[2:]]
    assert value(latex(single), ordered(single, order)) >= 6
    # Headers that move without their values say something false.
    assert value(latex(single), markdown([[single[0][k] for k in order], *single[1:]])) < 4


@pytest.mark.parametrize(
    ("truth", "pred", "low", "high"),
    [
        ("41.2a", "41.2<sup>a</sup>", 9.5, 10),
        ("41.2$^{ab}$", "41.2ab", 9.5, 10),
        ("10$^{3}$", "103", 0, 8),
        ("$O(n^2)$", "O(n2)", 0, 9),
        ("$H_2O$", "H2O", 9.5, 10),
        ("25 mol L$^{-1}$", "25 mol/L", 9.5, 10),
        ("25 $\\mu$m", "25 um", 9.5, 10),
        ("25 °C", "25 C", 8, 9.9),
    ],
)
def test_notation_of_a_value(truth: str, pred: str, low: float, high: float) -> None:
    table = rows("Case & First & Second", f"x & {truth} & 12.5", "y & 17.5 & 8.1", "z & 4.2 & 9.9")
    given = [[text.replace(truth, pred) for text in row] for row in table]
    assert low <= value(latex(table), markdown(given)) <= high


@pytest.mark.parametrize(
    ("truth", "pred", "low", "high"),
    [
        ("Conc. (mmol L$^{-1}$)", "Conc. (mmol/L)", 9.5, 10),
        ("Dose (µg)", "Dose (ug)", 9.5, 10),
        (r"Delay, $\mu$s", "Delay, us", 9.5, 10),
        (r"Uptake ($\mu$mol m$^{-2}$ s$^{-1}$)", "Uptake (umol/(m²·s))", 9.5, 10),
        ("Dose (µg)", "Dose (mg)", 0, 9),
        ("Delay (µs)", "Delay (ps)", 0, 9),
        ("Conc. (mmol L$^{-1}$)", "Conc. (mmol L)", 0, 8),
        ("Flux (kg/(m$^2$ s))", "Flux (kg m⁻² s⁻¹)", 9.5, 10),
        ("Size ($\\mu$m)", "Size (um)", 9.5, 10),
        ("Size ($\\mu$m)", "Size (m)", 0, 8),
        ("$T$ ($^\\circ$C)", "T (C)", 8, 9.9),
        ("$T$ ($^\\circ$C)", "T (oC)", 8, 9.9),
        ("$T$ ($^\\circ$C)", "T (K)", 0, 8),
        ("Angle ($^\\circ$)", "Angle (deg)", 8, 9.9),
        ("Strongly Agree", "Strongly agree", 9.5, 10),
        ("Yield", "YIELD", 9.5, 10),
        ("BraTs", "BraTS", 7, 9.5),
        ("CO", "Co", 5, 9.5),
    ],
)
def test_notation_of_a_header(truth: str, pred: str, low: float, high: float) -> None:
    body = rows("1 & 650 & 30", "2 & 700 & 45", "3 & 750 & 60")
    found = value(latex([["Run", truth, "n"], *body]), markdown([["Run", pred, "n"], *body]))
    assert low <= found <= high


def test_capitals_that_tell_two_names_apart_are_not_folded() -> None:
    body = rows("1 & 650 & 30", "2 & 700 & 45")
    truth, given = [["Run", "Agree", "AGREE"], *body], [["Run", "AGREE", "Agree"], *body]
    assert value(latex(truth), markdown(given)) < 5


REGIONS = rows(
    "Region & 2016 & 2017 & 2018 & 2019",
    "Alsace & 11 & 12 & 13 & 14",
    "Bretagne & 21 & 22 & 23 & 24",
    "Corse & 31 & 32 & 33 & 34",
    "Lorraine & 41 & 42 & 43 & 44",
    "Picardie & 51 & 52 & 53 & 54",
)


def in_two(table: Rows, at: int, *, named: bool, without: int = 0) -> str:
    """The table as two beside each other, the second with names or without, and without one of its rows."""
    second = [[*row[:1], *row[at:]] if named else row[at:] for row in table]
    kept = [row for k, row in enumerate(second) if not without or k != without]
    return markdown([row[:at] for row in table]) + "\n\n" + markdown(kept)


def test_lists_beside_each_other_have_names_of_their_own() -> None:
    truth = rows("City & Area & City & Area", "Oslo & 454 & Turku & 306", "Bergen & 465 & Malmo & 157")
    given = markdown([row[:2] for row in truth]) + "\n\n" + markdown([row[2:] for row in truth])
    assert value(latex(truth), given) >= 9.5


PROBES = (
    r"\begin{tabular}{lccccc}"
    r" & \multicolumn{2}{c}{Cold} & & \multicolumn{2}{c}{Hot} \\ \cmidrule(lr){2-3}\cmidrule(lr){5-6}"
    r" Probe & Low & High & Ambient & Low & High \\ \midrule"
    r" P1 & 1.1 & 1.4 & 2.0 & 3.1 & 3.6 \\ P2 & 1.2 & 1.5 & 2.1 & 3.2 & 3.7 \\"
    r" P3 & 1.3 & 1.6 & 2.2 & 3.3 & 3.9 \\ \bottomrule \end{tabular}"
)
PROBED = rows(
    "P1 & 1.1 & 1.4 & 2.0 & 3.1 & 3.6", "P2 & 1.2 & 1.5 & 2.1 & 3.2 & 3.7", "P3 & 1.3 & 1.6 & 2.2 & 3.3 & 3.9"
)
LEAVES = rows("Probe & Low & High & Ambient & Low & High")


def spanning(*groups: tuple[int, str]) -> str:
    head = "".join(f'<td colspan="{width}">{text}</td>' for width, text in groups)
    body = "".join("<tr>" + "".join(f"<td>{t}</td>" for t in row) + "</tr>" for row in [*LEAVES, *PROBED])
    return f"<table><tr>{head}</tr>{body}</table>"


def test_a_group_may_not_swallow_a_neighbour_on_either_side() -> None:
    assert value(PROBES, spanning((1, ""), (2, "Cold"), (1, ""), (2, "Hot"))) >= 9.5
    assert value(PROBES, markdown([["", "Cold", "", "", "Hot", ""], *LEAVES, *PROBED])) >= 9.5
    left = value(PROBES, spanning((1, ""), (3, "Cold"), (2, "Hot")))
    right = value(PROBES, spanning((1, ""), (2, "Cold"), (3, "Hot")))
    assert all(6.5 <= found <= 9 for found in (left, right))
    assert abs(left - right) < 0.2


def test_accents_that_tell_two_values_apart_are_not_lost_for_little() -> None:
    table = rows("Gloss & Short & Long", "cow & ku & kū", "moon & ri & rī", "tree & ta & tā", "dog & so & sō")
    plain = str.maketrans("ūīāō", "uiao")
    assert value(latex(table), markdown(table).translate(plain)) < 5
    assert 4 <= value(latex(table), markdown(table).replace("rī", "ri")) <= 8.5
    apart = rows("Gloss & Old & New", "hand & pāni & kār", "head & siras & sīr", "foot & pāda & pāy")
    assert value(latex(apart), markdown(apart).replace("kār", "kar")) >= 8.3


FOREIGN = rows("Drug & Dose & Arm & Weeks & Site", "Statin & 20 & A & 12 & I", "Aspirin & 75 & C & 26 & II")


SETTINGS = rows(
    "Setting & Value", "Optimizer & AdamW", "Learning rate & 3e-4", "Batch size & 256", "Dropout & 0.1"
)


@pytest.mark.parametrize("line", ["- **{}**: {}", "{}: {}", "* {} – {}", "{} = {}"])
def test_keys_and_values_as_a_list(line: str) -> None:
    given = "\n".join(line.format(*row) for row in SETTINGS[1:])
    assert 6.5 <= value(latex(SETTINGS), given) <= 9.5
    assert value(latex(SETTINGS), given.replace("256", "265")) < 5


def test_the_header_over_keys_and_values_says_little() -> None:
    assert 7.5 <= value(latex(SETTINGS), markdown([["", ""], *SETTINGS[1:]])) <= 9.8
