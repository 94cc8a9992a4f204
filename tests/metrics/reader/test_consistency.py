"""The same thing costs the same however it is written, and what is wrong never less than what is lost.

Classes of errors, on tables of our own. The ranges are wide: they hold the order of
harm, not a number.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.metrics.reader.reading import Rows, latex, markdown, read, rows, told, value

STARS = (
    ("Vega", "2.14", "0.07", "0.08"),
    ("Deneb", "19.3", "4.1", "3.7"),
    ("Altair", "1.79", "0.02", "0.03"),
)
MASSES = latex("Star & Mass", *(rf"{n} & ${v}^{{+{up}}}_{{-{down}}}$" for n, v, up, down in STARS))


def masses(form: str) -> str:
    return markdown([["Star", "Mass"], *([n, form.format(v, up=u, down=d)] for n, v, u, d in STARS)])


@pytest.mark.parametrize(
    "form",
    [
        "{} +{up} −{down}",
        "{}+{up}−{down}",
        "{}−{down}+{up}",
        "{} −{down} +{up}",
        "{} +{up}/−{down}",
        "{} (+{up}, −{down})",
        "{} (−{down}, +{up})",
        "{} [+{up}/-{down}]",
        "{}^+{up}_-{down}",
        "{}<sup>+{up}</sup><sub>−{down}</sub>",
    ],
)
def test_deviations_up_and_down_are_the_same_in_any_order(form: str) -> None:
    assert value(MASSES, masses(form)) == 10


@pytest.mark.parametrize(
    "form", ["+{}/−{}", "+{} −{}", "+{}−{}", "(+{}, −{})", "<sup>+{}</sup><sub>−{}</sub>"]
)
def test_deviations_alone_are_read_as_those_behind_values(form: str) -> None:
    truth = latex("Source & Shift", *(rf"{n} & $^{{+{up}}}_{{-{down}}}$" for n, _, up, down in STARS))
    given = [["Source", "Shift"], *([n, form.format(up, down)] for n, _, up, down in STARS)]
    assert value(truth, markdown(given)) == 10
    assert value(truth, markdown([given[0], *([n, form.format(d, u)] for n, _, u, d in STARS)])) < 2


def test_deviations_the_other_way_round_are_wrong() -> None:
    assert value(MASSES, masses("{} +{down} −{up}")) < 2


def test_one_deviation_for_both_costs_about_what_none_does() -> None:
    none = value(MASSES, masses("{}"))
    assert 3 < none < 6
    assert value(MASSES, masses("{} ± {up}")) == value(MASSES, masses("{} ± {down}")) == none


def test_a_deviation_of_the_same_size_both_ways_may_be_said_once() -> None:
    truth = latex("Star & Mass", *(rf"{n} & ${v}^{{+{up}}}_{{-{up}}}$" for n, v, up, _ in STARS))
    assert value(truth, masses("{} ± {up}")) == 10
    assert value(masses("{} ± {up}"), truth) == 10


RAINFALL = latex(
    r"& \multicolumn{2}{c}{Temperature} & \multicolumn{2}{c}{Precipitation}",
    "Town & May & July & May & July",
    "Oslo & 10.8 & 16.4 & 53 & 81",
    "Bern & 13.2 & 18.6 & 119 & 106",
    "Porto & 15.6 & 19.9 & 87 & 20",
    n_header=2,
)
TOWNS = rows(
    "Oslo & 10.8 & 16.4 & 53 & 81", "Bern & 13.2 & 18.6 & 119 & 106", "Porto & 15.6 & 19.9 & 87 & 20"
)


def flat(warm: str, wet: str) -> str:
    return markdown([["Town", f"{warm} May", f"{warm} July", f"{wet} May", f"{wet} July"], *TOWNS])


def grouped(warm: str, wet: str) -> str:
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in TOWNS)
    return (
        f"<table><tr><th></th><th colspan=2>{warm}</th><th colspan=2>{wet}</th></tr>"
        f"<tr><th>Town</th><th>May</th><th>July</th><th>May</th><th>July</th></tr>{body}</table>"
    )


def padded(warm: str, wet: str) -> str:
    return markdown([["", warm, "", wet, ""], ["Town", "May", "July", "May", "July"], *TOWNS])


@pytest.mark.parametrize("form", [flat, grouped, padded])
@pytest.mark.parametrize("names", [("Temp.", "Precip."), ("Temp", "Precip"), ("T.", "P."), ("Tmp.", "Prcp.")])
def test_a_group_that_is_abbreviated_still_tells_which_one(
    form: Callable[[str, str], str], names: tuple[str, str]
) -> None:
    assert value(RAINFALL, form(*names)) > 7.8
    assert f"“{names[0]}” instead of “Temperature”" in told(RAINFALL, form(*names))


@pytest.mark.parametrize("form", [flat, grouped, padded])
def test_a_letter_of_a_group_is_misread_once(form: Callable[[str, str], str]) -> None:
    assert value(RAINFALL, form("Temperature", "Precipitatlon")) > 7.4
    found = told(RAINFALL, form("Temperature", "Precipitatlon"))
    assert "“Precipitatlon” instead of “Precipitation” (and 1 more like this)" in found
    assert "cut into pieces" not in found


def test_a_short_name_that_fits_two_groups_tells_nothing() -> None:
    truth = RAINFALL.replace("Temperature", "Precipitation days")
    assert value(truth, flat("Precip.", "Precip.")) < 5


def test_another_group_is_not_an_abbreviation() -> None:
    assert value(RAINFALL, flat("Tide", "Pressure")) < 5


ALLOYS = rows("Alloy & Density & Modulus", "Invar & 8.05 & 141", "Monel & 8.80 & 179", "Zamak & 6.70 & 85.5")
RECORDS = [dict(zip(ALLOYS[0], row, strict=True)) for row in ALLOYS[1:]]
AS_DATA = {
    "records": json.dumps(RECORDS),
    "records on many lines": json.dumps(RECORDS, indent=2),
    "a record on each line": "\n".join(map(json.dumps, RECORDS)),
    "records in a fence": f"Here is the table:\n\n```json\n{json.dumps(RECORDS)}\n```\n",
    "numbers": json.dumps(RECORDS).replace('"8.80"', "8.80").replace('"141"', "141"),
    "under a key": json.dumps({"caption": "Alloys", "table": RECORDS}),
    "rows": json.dumps(ALLOYS),
    "columns and rows": json.dumps({"columns": ALLOYS[0], "data": ALLOYS[1:]}, indent=1),
    "columns": json.dumps({column[0]: column[1:] for column in zip(*ALLOYS, strict=True)}),
    "rows by name": json.dumps(
        {row[0]: dict(zip(ALLOYS[0][1:], row[1:], strict=True)) for row in ALLOYS[1:]}
    ),
}


@pytest.mark.parametrize("form", AS_DATA)
def test_data_is_read_as_the_table_that_it_is(form: str) -> None:
    truth = latex(*(" & ".join(row) for row in ALLOYS))
    as_lines = "\n".join(f"- {key}: {text}" for record in RECORDS for key, text in record.items())
    assert 7.5 < value(truth, AS_DATA[form]) < 9.5
    assert value(truth, AS_DATA[form]) == pytest.approx(value(truth, as_lines), abs=1)
    assert value(truth, AS_DATA[form].replace("8.80", "8.08")) < value(truth, AS_DATA[form]) - 2


def test_groups_of_columns_are_records_in_a_record() -> None:
    groups = (("Temperature", 1), ("Precipitation", 3))
    records = [
        {"Town": row[0], **{name: {"May": row[k], "July": row[k + 1]} for name, k in groups}} for row in TOWNS
    ]
    assert value(RAINFALL, json.dumps(records)) > 8


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "[" * 900 + "]" * 900,
        "[[], []]",
        '[["", " "], ["", ""]]',
        '[{"a": 1, "b": 2}, 7, null, "x"]',
        "{}",
        '{"a": "\\ud800", "b": "\\u0000"}',
        json.dumps([{f"k{n}": n, "": n} for n in range(3000)]),
    ],
)
def test_hostile_data_is_no_table(text: str) -> None:
    assert value(RAINFALL, text) < 1


CONFUSED = latex(
    r"& & \multicolumn{2}{c}{Predicted}",
    "& & Wolf & Dog",
    r"\multirow{2}{*}{Actual} & Wolf & 81 & 19",
    "& Dog & 7 & 93",
    n_header=2,
)


def confused(corner: str) -> str:
    return markdown([[corner, "Wolf", "Dog"], ["Wolf", "81", "19"], ["Dog", "7", "93"]])


@pytest.mark.parametrize(
    "corner",
    [
        "Actual \\ Predicted",
        "Actual\\Predicted",
        "Actual / Predicted",
        "Actual ↓ Predicted →",
        "Predicted → / Actual ↓",
        "Actual<br>Predicted",
    ],
)
def test_a_corner_names_both_axes(corner: str) -> None:
    assert value(CONFUSED, confused(corner)) > 9.5


@pytest.mark.parametrize("corner", ["", "Animal", "Seen / Said"])
def test_a_corner_that_names_neither_tells_no_more_than_none(corner: str) -> None:
    assert value(CONFUSED, confused(corner)) == value(CONFUSED, confused("")) < 6


LANGUAGES = (("Uralic", ("Finnish & 70.2", "Sami & 61.0")), ("Turkic", ("Uzbek & 64.9", "Tatar & 58.8")))
FAMILIES = latex(
    "Language & Score",
    *(line for name, body in LANGUAGES for line in (rf"\multicolumn{{2}}{{c}}{{{name}}}", *body)),
)


def families(first: str, second: str) -> str:
    (_, one), (_, other) = LANGUAGES
    named = [["Language & Score"], [f"{first} &"] * bool(first), one, [f"{second} &"] * bool(second), other]
    return markdown(rows(*(line for part in named for line in part)))


def test_sections_that_fell_out_of_the_table_do_not_say_where_they_begin() -> None:
    lost, whole = value(FAMILIES, families("", "")), value(FAMILIES, families("Uralic", "Turkic"))
    below = value(FAMILIES, families("", "") + "\n\nUralic\nTurkic")
    assert lost + 1 < below < whole - 1
    assert "“Uralic” over row “Uralic / Finnish” is outside the table" in told(
        FAMILIES, families("", "") + "\n\nUralic\nTurkic"
    )


def test_a_title_of_all_may_stand_outside() -> None:
    truth = latex(
        r"\multicolumn{2}{c}{Dialects}", "Language & Score", "Sami & 61.0", "Tatar & 58.8", n_header=2
    )
    assert (
        value(truth, "## Dialects\n\n" + markdown(rows("Language & Score", "Sami & 61.0", "Tatar & 58.8")))
        > 9.5
    )


def test_exchanged_sections_cost_more_than_lost_ones() -> None:
    exchanged = value(FAMILIES, families("Turkic", "Uralic"))
    assert exchanged < value(FAMILIES, families("", "")) - 1.5
    assert "“Turkic” is above row “Uralic / Finnish”, where “Uralic” belongs" in told(
        FAMILIES, families("Turkic", "Uralic")
    )


def test_a_section_that_reaches_too_far_is_not_exchanged() -> None:
    too_far = markdown(
        rows(
            "Language & Score",
            "Uralic &",
            "Finnish & 70.2",
            "Sami & 61.0",
            "Uzbek & 64.9",
            "Turkic &",
            "Tatar & 58.8",
        )
    )
    assert value(FAMILIES, too_far) > value(FAMILIES, families("", ""))


def test_a_row_that_comes_again_costs_less_than_a_false_one() -> None:
    truth = latex(*(" & ".join(row) for row in ALLOYS))
    again = value(truth, markdown([*ALLOYS, ALLOYS[-1]]))
    assert value(truth, markdown([*ALLOYS, ["Babbitt", "7.39", "52"]])) + 1.5 < again < 9
    assert value(truth, markdown([*ALLOYS, *[ALLOYS[-1]] * 9])) < again
    assert "given twice" in told(truth, markdown([*ALLOYS, ALLOYS[-1]]))


TRIAL = rows(
    "Trait & Count & p",
    "Age & 61 & 0.54",
    "Smoker & & 0.02",
    "Never & 120 &",
    "Ever & 60 &",
    "Region & & 0.81",
    "North & 98 &",
    "South & 82 &",
)


def test_a_value_of_a_group_that_stands_in_its_first_row_is_moved_once() -> None:
    truth = latex(*(" & ".join(row) for row in TRIAL))
    moved = [list(row) for row in TRIAL]
    lost = [list(row) for row in TRIAL]
    for row in (2, 5):
        moved[row][2], moved[row + 1][2] = "", moved[row][2]
        lost[row][2] = ""
    assert value(truth, markdown(lost)) < value(truth, markdown(moved)) < 8
    found = read(truth, markdown(moved)).details["counts"]
    assert found == {"value_shifted": 1}


SYMBOLS = latex(
    "Symbol & Value", r"$\alpha_1$ & 0.7", r"$\alpha_2$ & 0.85", r"$\epsilon$ & $10^{-6}$", r"$\Lambda$ & 12"
)


def symbols(*names: str, small: str = "1e-6") -> str:
    values = ("0.7", "0.85", small, "12")
    return markdown([["Symbol", "Value"], *([name, told] for name, told in zip(names, values, strict=True))])


def test_greek_letters_may_be_spelled_out() -> None:
    assert value(SYMBOLS, symbols("alpha1", "alpha2", "epsilon", "Lambda")) > 7.8
    assert value(SYMBOLS, symbols("alpha_1", "alpha_2", "epsilon", "Lambda")) > 7.8
    assert read(SYMBOLS, symbols("alpha1", "alpha2", "epsilon", "Lambda")).details["counts"] == {
        "name_misread": 1
    }
    assert value(SYMBOLS, symbols("beta1", "beta2", "epsilon", "Lambda")) < 7


def test_greek_in_a_text_is_the_same_letter_spelled_out() -> None:
    truth = latex(
        "Model & Setting", r"A & $\beta_1=0.9$ and warmup", r"B & $\beta_1=0.8$ and warmup", "C & none at all"
    )
    given = rows("Model & Setting", "A & beta1=0.9 and warmup", "B & beta1=0.8 and warmup", "C & none at all")
    assert value(truth, markdown(given)) > 8
    assert value(truth, markdown(given).replace("beta", "zeta")) < value(truth, markdown(given))


def test_a_power_of_ten_is_the_same_with_an_e() -> None:
    exactly = symbols("α_1", "α_2", "ε", "Λ")
    assert value(SYMBOLS, exactly) == value(SYMBOLS, exactly.replace("1e-6", "10⁻⁶")) == 10
    assert value(SYMBOLS, exactly.replace("1e-6", "1e6")) < 6
    assert value(SYMBOLS, exactly.replace("1e-6", "106")) < 6


def test_an_exponent_on_the_line_behind_a_sign_is_legible() -> None:
    flat_power = symbols("α_1", "α_2", "ε", "Λ", small="10-6")
    assert 8 < value(SYMBOLS, flat_power) < 9.8
    assert "10-6" in told(SYMBOLS, flat_power)


def by_month(*order: int) -> Rows:
    """The towns with a row for each quantity, and the columns in some order."""
    long = [["Town", "Quantity", "May", "July"]]
    for town in TOWNS:
        long += [[town[0], "Temperature", *town[1:3]], [town[0], "Precipitation", *town[3:]]]
    return [[row[k] for k in order] for row in long]


def test_a_value_under_another_group_is_wrong_in_any_form() -> None:
    exchanged = by_month(0, 1, 2, 3)
    exchanged[1][1], exchanged[2][1] = exchanged[2][1], exchanged[1][1]
    assert value(RAINFALL, markdown(exchanged)) < 6


CARS = rows(
    "Car & Year & Range", "Leaf & 2010 & 117", "Zoe & 2012 & 210", "Bolt & 2016 & 383", "Taycan & 2019 & 407"
)


THEMES = rows(
    "Theme & Finding & n",
    "Control & Nurses felt that plans were made without their consent & 7",
    "Trust & Patients did not ask for a second opinion & 12",
    "Time & Visits took longer than before & 3",
)


@pytest.mark.parametrize(
    "change", [("without their", "with their"), ("did not ask", "did ask"), ("took", "never took")]
)
def test_a_text_that_says_the_opposite_is_worse_than_misread(change: tuple[str, str]) -> None:
    truth = latex(*(" & ".join(row) for row in THEMES))
    negated = value(truth, markdown(THEMES).replace(*change))
    typo = value(truth, markdown(THEMES).replace("opinion", "opinlon"))
    another = value(
        truth, markdown(THEMES).replace("Visits took longer than before", "Rooms are cold and far too small")
    )
    assert another < negated < typo - 1.5


def test_a_negation_with_a_wrong_letter_is_misread() -> None:
    truth = latex(*(" & ".join(row) for row in THEMES))
    assert value(truth, markdown(THEMES).replace("did not ask", "did nof ask")) > 8
