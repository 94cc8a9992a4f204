"""What belongs to a group may stand with its members; what is said wrongly costs more than nothing.

Classes of errors, on tables of our own.
"""

from __future__ import annotations

import pytest
from tests.metrics.reader.reading import latex, markdown, read, rows, told, value

TRIAL = rows(
    "Trait & Drug & Placebo & p",
    "Age & 61 & 60 & 0.54",
    "Smoker & & & 0.02",
    "Never & 120 & 95 &",
    "Ever & 60 & 78 &",
    "Region & & & 0.81",
    "North & 98 & 70 &",
    "South & 82 & 66 &",
    "BMI & 24.1 & 25.3 & 0.77",
)


def test_groups_that_stand_as_in_the_truth_are_compared_as_they_stand() -> None:
    truth = latex(*(" & ".join(row) for row in TRIAL))
    wrong = read(truth, markdown(TRIAL).replace("98", "89"))
    assert wrong.details["n_values"] == 16
    assert wrong.details["errors"][0]["message"] == "Row “North”, column “Drug”: “89” instead of “98”."


LEVELS = rows(
    "Trait & Level & Drug & Placebo & p",
    "Age & & 61 & 60 & 0.54",
    "Smoker & Never & 120 & 95 & 0.02",
    "& Ever & 60 & 78 & 0.02",
    "Region & North & 98 & 70 & 0.81",
    "& South & 82 & 66 & 0.81",
    "BMI & & 24.1 & 25.3 & 0.77",
)


def test_a_name_of_one_level_is_not_carried_below_another_name() -> None:
    truth = markdown(LEVELS)
    assert "BMI / South" not in told(truth, markdown(LEVELS).replace("24.1", "21.4"))
    assert value(truth, truth.replace("| BMI |  |", "| BMI | – |")) > 9.5


MODELS = rows(r"Model & Year & Range", "Leaf & 2010 & 117", "Volt & 2012 & 210", "Bolt & 2016 & 383")
CITED = latex(
    r"Model & Year & Range",
    r"Leaf \cite{a} & 2010 & 117",
    r"Volt~\cite{b,c} & 2012 & 210",
    "Bolt & 2016 & 383",
)
STYLES = [
    ("[2]", "[17, 33]"),
    ("[2]", "[17–19]"),
    ("(Kent et al., 2019)", "(Lane, 2018; Prince & Ross, 2020b)"),
    ("[Kent et al., 2019]", "[Lane and Prince, 2018a, 2020]"),
    ("[KLP19]", "[LP18, PRW+20]"),
    ("<sup>2</sup>", "<sup>17,33</sup>"),
    ("<sup>[2]</sup>", "<sup>[17,33]</sup>"),
]


@pytest.mark.parametrize("style", STYLES)
def test_a_citation_is_no_part_of_a_name(style: tuple[str, str]) -> None:
    given = [list(row) for row in MODELS]
    for row, citation in zip(given[1:], style, strict=False):
        row[0] = f"{row[0]} {citation}"
    assert value(CITED, markdown(given)) == 10


def test_citations_of_the_truth_are_asked_for() -> None:
    truth = markdown([["Model", "Range"], ["Leaf [2]", "117"], ["Leaf [3]", "210"], ["Volt", "301"]])
    assert value(truth, truth.replace("[3]", "[2]")) < 7


def test_a_column_of_citations_alone_is_empty_in_the_truth() -> None:
    truth = latex(
        r"Model & Ref. & Range", r"Leaf & \cite{a} & 117", r"Volt & \citep{b} & 210", r"Bolt & -- & 383"
    )
    given = rows("Model & Ref. & Range", "Leaf & [12] & 117", "Volt & (Kent, 2019) & 210", "Bolt & – & 383")
    assert value(truth, markdown(given)) == 10


@pytest.mark.parametrize("name", ["Leaf (May 2019)", "Leaf [3]"])
def test_what_the_truth_has_in_another_way_is_no_citation(name: str) -> None:
    said = "Leaf May 2019" if "May" in name else "Leaf 3"
    truth = latex("Model & Range", f"{said} & 117", "Volt & 210", "Bolt & 383")
    given = rows("Model & Range", f"{name} & 117", "Volt & 210", "Bolt & 383")
    assert value(truth, markdown(given)) > value(truth, markdown(given).replace(name, "Leaf"))


def test_rows_that_have_nothing_in_common_are_no_group() -> None:
    sparse = rows("Law & A & B & C", "First & yes & &", "Second & & yes &", "Third & & & yes")
    found = told(latex(*(" & ".join(row) for row in sparse)), markdown([sparse[0], *sparse[2:]]))
    assert "Row “First”: missing" in found


def test_intervals_are_no_citations() -> None:
    truth = latex("Model & Range", "Leaf & [100, 117]", "Volt & [200, 210]", "Bolt & [383, 400]")
    assert (
        value(truth, markdown(rows("Model & Range", "Leaf & [100, 117]", "Volt & [1, 2]", "Bolt & [3, 4]")))
        < 5
    )
    plain = latex("Model & Range", "Leaf & 117", "Volt & 210", "Bolt & 383")
    assert (
        value(plain, markdown(rows("Model & Range", "Leaf & 117 [3]", "Volt & 210 [4]", "Bolt & 383 [5]")))
        < 9
    )


CONFUSED = latex(
    r"& & \multicolumn{3}{c}{Predicted}",
    "& & Wolf & Dog & Fox",
    r"\multirow{3}{*}{Actual} & Wolf & 81 & 19 & 4",
    "& Dog & 7 & 93 & 2",
    "& Fox & 5 & 11 & 88",
    n_header=2,
)
COUNTS = rows("Wolf & 81 & 19 & 4", "Dog & 7 & 93 & 2", "Fox & 5 & 11 & 88")


def axes(over: str, beside: str) -> str:
    head = f"<tr><td></td><td colspan=3>{over}</td></tr>" if over else ""
    names = f"<tr><td>{beside}</td><td>Wolf</td><td>Dog</td><td>Fox</td></tr>"
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in COUNTS)
    return f"<table>{head}{names}{body}</table>"


def test_exchanged_axes_cost_more_than_lost_ones() -> None:
    lost, exchanged = value(CONFUSED, axes("", "")), value(CONFUSED, axes("Actual", "Predicted"))
    assert exchanged < lost - 1.5
    flat = markdown([["Predicted", "Actual Wolf", "Actual Dog", "Actual Fox"], *COUNTS])
    assert value(CONFUSED, flat) < lost - 1.5
    assert value(CONFUSED, axes("Predicted", "Actual")) > 9.5
    assert "“Actual” is above column “Predicted / Wolf”, where “Predicted” belongs" in told(
        CONFUSED, axes("Actual", "Predicted")
    )


def titled(title: str) -> str:
    named = "".join(f"<td>{name}</td>" for name in ("Base", "Acid", "Salt", "Water"))
    over = f"<tr><td></td><td colspan=3>{title}</td></tr>" if title else ""
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in COUNTS)
    return f"<table>{over}<tr>{named}</tr>{body}</table>"


@pytest.mark.parametrize("wrong", ["Time (h)", "Melting point", "see below"])
def test_another_title_costs_more_than_none(wrong: str) -> None:
    truth = titled("Yield (%)")
    assert value(truth, titled(wrong)) < value(truth, titled("")) - 0.5
    assert value(truth, titled("Yleld (%)")) > value(truth, titled(""))


PANELS = latex(
    "& Wage & Hours",
    r"\multicolumn{3}{l}{Panel A: Towns}",
    "Leave & 0.42 & 1.5",
    "Bonus & 0.21 & 0.6",
    r"\multicolumn{3}{l}{Panel B: Farms}",
    "Leave & 0.67 & 2.8",
    "Bonus & 0.33 & 1.2",
)


def panels(corner: str, first: str) -> str:
    above = [[first, "", ""]] if first else []
    one = rows("Leave & 0.42 & 1.5", "Bonus & 0.21 & 0.6", "Panel B: Farms & &")
    return markdown(
        [[corner, "Wage", "Hours"], *above, *one, *rows("Leave & 0.67 & 2.8", "Bonus & 0.33 & 1.2")]
    )


def test_the_first_heading_may_have_fallen_into_the_corner() -> None:
    whole, lost = value(PANELS, panels("", "Panel A: Towns")), value(PANELS, panels("", ""))
    assert whole > 9.5
    assert lost + 1.5 < value(PANELS, panels("Panel A: Towns", "")) < whole - 1
    assert value(PANELS, panels("Panel C", "")) <= lost


THEMES = latex(
    "Theme & Finding & Share",
    "Lost control & Nurses felt that all plans were made without asking them for their consent. & 17.8",
    "Trust & Patients did not ask for a second opinion. & 11.2",
    "Slow visits & Every visit took far longer than it did in the year before. & 30.5",
)


def wrapped(first: str, second: str) -> str:
    return markdown(
        rows(
            "Theme & Finding & Share",
            f"Lost & Nurses felt that all plans were made & {first}",
            f"control & without asking them for their consent. & {second}",
            "Trust & Patients did not ask for a second opinion. & 11.2",
            "Slow visits & Every visit took far longer & 30.5",
            "& than it did in the year before. &",
        )
    )


@pytest.mark.parametrize("numbers", [("17.8", ""), ("", "17.8")])
def test_rows_that_are_torn_into_lines_are_one_event(numbers: tuple[str, str]) -> None:
    found = read(THEMES, wrapped(*numbers))
    assert found.details["counts"] == {"row_split": 1}
    assert found.value is not None and 6 < found.value < 9
    assert "Row “Lost control” and 1 more: torn into several rows." in told(THEMES, wrapped(*numbers))


NOTED = latex(
    "Grade & Yield & Purity",
    r"Fine$^{\dagger}$ & 88.7 & 92.9",
    "Coarse & 66.6 & 79.6$^{*}$",
    "Raw & 71.1 & 82.4",
    r"\multicolumn{3}{l}{$^{\dagger}$ Sieved twice. $^{*}$ Mean of eight.}",
)
GRADES = rows("Grade & Yield & Purity", "Fine† & 88.7 & 92.9", "Coarse & 66.6 & 79.6*", "Raw & 71.1 & 82.4")
NOTE = "† Sieved twice. * Mean of eight."


def test_a_note_below_the_data_is_missed() -> None:
    assert 7.5 < value(NOTED, markdown(GRADES)) < 9.5
    assert "Sieved twice. ^* Mean of eight.” is lost" in told(NOTED, markdown(GRADES))
    assert value(NOTED, markdown([*GRADES, [NOTE, "", ""]])) > 9.5
    assert value(NOTED, f"{markdown(GRADES)}\n\n{NOTE}") > 9.5


SETTINGS = latex(
    "Name & Value", r"Rate & $3 \times 10^{-4}$", r"Decay & $10^{-2}$", "Batch & 512", "Seeds & 7"
)


def settings(rate: str, decay: str = "10^-2") -> str:
    return markdown([["Name", "Value"], ["Rate", rate], ["Decay", decay], ["Batch", "512"], ["Seeds", "7"]])


def test_an_exponent_on_the_line_costs_the_same_with_and_without_a_factor() -> None:
    assert value(SETTINGS, settings("3e-4")) == value(SETTINGS, settings("3 × 10⁻⁴")) == 10
    assert 8 < value(SETTINGS, settings("3 × 10-4")) == value(SETTINGS, settings("3e-4", "10-2")) < 9.5
    assert value(SETTINGS, settings("3 × 104")) < 6


def test_a_truth_with_exponents_on_the_line_may_be_given_better() -> None:
    assert value(settings("3 × 10-4"), settings("3 × 10⁻⁴")) == 10
    assert value(settings("3 × 10-4"), settings("3 × 10⁻⁵")) < 6


def test_a_power_is_no_product() -> None:
    truth = latex("Method & Rate", r"A & $O(\rho^T)$", "B & $O(1/T)$", "C & $O(T)$")
    given = rows("Method & Rate", "A & O(ρT)", "B & O(1/T)", "C & O(T)")
    assert value(truth, markdown(given).replace("ρT", "ρ^T")) == 10
    assert value(truth, markdown(given)) < 9


RUNS = rows("Run & Speed & Power", "A & 52.9 ± 3.1 & 75.3 ± 6.4", "B & 58.5 ± 2.7 & 72.5 ± 5.9")


def test_the_sign_of_deviations_is_one_event() -> None:
    truth = latex(*(" & ".join(row).replace("±", r"$\pm$") for row in RUNS))
    none = value(truth, markdown(RUNS).replace(" ±", ""))
    for given in (" ±", " +", " -", " −"):
        pred = markdown(RUNS).replace(" ±", given)
        assert value(truth, pred) == (10 if given == " ±" else none), given
    assert 4 < none < 7
    assert read(truth, markdown(RUNS).replace(" ±", "")).details["counts"] == {"notation": 1}
    assert value(truth, markdown(RUNS).replace(" ± ", "")) < 1


LAKES = rows("Lake & Depth & Area", *(f"L{k} & {3 * k + 17} & {7 * k + 101}" for k in range(8)))


def test_a_group_header_that_is_cut_at_its_columns_is_one_event() -> None:
    body = ("PONI & 41 & 22 & 73 & 41", "SemExp & 38 & 18 & 71 & 39", "L3MVN & 54 & 25 & 76 & 37")
    leaves = "Method & SR & SPL & SR & SPL"
    groups = r"& \multicolumn{2}{c}{HM3D} & \multicolumn{2}{c}{Gibson}"
    truth = latex(groups, leaves, *body, n_header=2)
    cut = markdown(rows("& H & M3D & Gib & son", leaves, *body))
    assert read(truth, cut).details["counts"] == {"span_wrong": 1}
    assert "HM3D / SR” is cut into pieces" in told(truth, cut)
