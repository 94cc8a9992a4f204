"""What values are: times, dates, amounts, ranges, boxes, remarks, in whatever way they are written."""

from __future__ import annotations

import numpy as np
import pytest
from bench.reader_kinds import scored
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.reader.reading import markdown, rows, told, value

from parsemark.metrics.reader.value_kinds import with_dates

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def test_other_kinds_of_tables_get_what_was_expected() -> None:
    found = scored()
    points, values = np.array([f[1] for f in found]), np.array([f[2] for f in found])
    assert np.corrcoef(points, values)[0, 1] >= 0.93
    assert np.quantile(np.abs(points - values), 0.9) <= 2


@given(st.dates())
def test_a_day_is_the_same_in_every_way_to_write_it(day: object) -> None:
    year, month, number = map(int, str(day).split("-"))
    if year < 1500 or year >= 2100:
        return
    name = MONTHS[month - 1]
    written = (
        f"{number}.{month}.{year}",
        f"{name} {number}, {year}",
        f"{number} {name[:3]} {year}",
        f"{year}/{month}/{number}",
    )
    assert {with_dates(text) for text in written} == {str(day)}
    assert {with_dates(f"{text} Bank") for text in written} == {f"{day} Bank"}
    slashed = f"{number}/{month}/{year}"
    assert with_dates(slashed) in (slashed, str(day))
    assert with_dates(slashed, day_first=True) == str(day)


BOOKS = rows(
    "Item & 2023 & 2022", "Sales & 12,480 & 11,902", "Costs & (7,315) & (7,020)", "Tax & (402) & 377"
)


@given(st.lists(st.integers(-9_999_999, 9_999_999), min_size=4, max_size=4))
def test_negative_amounts_may_stand_in_brackets(amounts: list[int]) -> None:
    shown = [f"({-a:,})" if a < 0 else f"{a:,}" for a in (*amounts, -1234, 5678)]
    signed = [f"{a:,}".replace("-", "−") for a in (*amounts, -1234, 5678)]
    books, given = (
        [["Item", "A", "B"], *([f"I{k}", *t[2 * k : 2 * k + 2]] for k in range(3))] for t in (shown, signed)
    )
    assert value(markdown(books), markdown(given)) == 10
    assert value(markdown(given), markdown(books)) == 10


def test_a_lost_bracket_is_a_lost_sign() -> None:
    given = markdown(BOOKS).replace("(7,315)", "7,315")
    assert 3 < value(markdown(BOOKS), given) < 7


def test_brackets_around_deviations_are_no_signs() -> None:
    fits = rows(
        "Term & A & B", "Age & 0.31 & 0.44", "& (0.02) & (0.05)", "Sex & 1.20 & 1.91", "& (0.11) & (0.20)"
    )
    assert value(markdown(fits), markdown(fits).replace("(0.02)", "-0.02").replace("(0.05)", "-0.05")) < 7


@pytest.mark.parametrize("form", ["{}.{}", "{}h{}", "{}:{}h"])
def test_times_are_times(form: str) -> None:
    trains = rows("Stop & I & II", "Bern & 06:12 & 07:12", "Thun & 06:31 & 07:31", "Brig & 07:20 & 08:20")
    other = [trains[0], *([row[0], *(form.format(*t.split(":")) for t in row[1:])] for row in trains[1:])]
    assert value(markdown(trains), markdown(other)) >= 9.5
    assert value(markdown(trains), markdown(other).replace("31", "37", 1)) < 7


ASKED = rows("Question & Yes & No", "Warm? & ☒ & ☐", "Wet? & ☐ & ☒", "Windy? & ☒ & ☐", "Bright? & ☐ & ☒")


@pytest.mark.parametrize(("yes", "no"), [("X", ""), ("☑", "☐"), ("[x]", "[ ]"), ("Yes", "No"), ("✓", "")])
def test_boxes_are_read_by_what_they_mean(yes: str, no: str) -> None:
    text = markdown(ASKED)
    assert value(text, text.replace("☒", yes).replace("☐", no)) > 8
    assert value(text, text.replace("☒", no or "☐").replace("☐", yes)) < 4


@pytest.mark.parametrize("state", ["☒", "☐", ""])
def test_two_states_that_became_one_are_a_large_loss(state: str) -> None:
    text = markdown(ASKED)
    assert value(text, text.replace("☒", state).replace("☐", state)) < 2
    assert "look the same" in told(text, text.replace("☒", "☐"))


def test_a_questionnaire_may_be_a_list_of_answers() -> None:
    text = markdown(ASKED)
    answers = "1. Warm? Yes\n2. Wet? No\n3. Windy? Yes\n4. Bright? No".replace("?", "?:")
    assert value(text, answers) > 7
    assert value(text, answers.replace("Wet?: No", "Wet?: Yes")) < value(text, answers) - 2


def test_a_remark_for_a_whole_row_is_said_once() -> None:
    game = rows("Player & Min & Pts", "Allen & 34 & 21", "Brown & DNP & DNP", "Diaz & 19 & 8")
    text = markdown(game)
    assert value(text, text.replace("DNP | DNP", "DNP | ")) > 9.5
    assert value(text, text.replace("DNP | DNP", "Did not play | ")) > 8
    assert value(text, text.replace("DNP", "12")) < 7


def test_the_ends_of_a_range_are_parted() -> None:
    bands = markdown(rows("Class & 0.0–0.6 & 0.6–1.2", "Sand & 12 & 30", "Silt & 25 & 22"))
    assert value(bands, bands.replace("–", " to ")) == 10
    assert value(bands, bands.replace("–", " ")) < 9


def test_symbols_that_are_lost_everywhere_are_one_cause() -> None:
    alloys = markdown(rows("Alloy & ρ & σ & T (°C)", "Invar & 8.05 & 276 & 20", "Monel & 8.80 & 240 & 25"))
    lost = alloys.replace("ρ", "p").replace("σ", "o").replace("°", "")
    assert told(alloys, lost).count("instead of") == 1


def test_columns_of_a_script_that_runs_to_the_left_may_be_mirrored() -> None:
    cities = rows("المدينة & السكان & المساحة", "القاهرة & 9,540 & 3,085", "بغداد & 6,643 & 673")
    assert value(markdown(cities), markdown([row[::-1] for row in cities])) == 10


TRAINS = rows(
    "Train & Departs & Arrives", "IC 12 & 6:12 pm & 8:45 pm", "RE 4 & 7:05 am & 9 am", "NJ & 12:05 am & 6 am"
)


def test_hours_may_be_counted_to_12_or_to_24() -> None:
    day = rows(
        "Train & Departs & Arrives", "IC 12 & 18:12 & 20:45", "RE 4 & 07:05 & 09:00", "NJ & 00:05 & 06:00"
    )
    text, given = markdown(TRAINS), markdown(day)
    assert value(text, given) == value(given, text) == 10
    assert value(given, text.replace("6:12 pm", "6:12 am")) < 7


@pytest.mark.parametrize("form", ["{} €", "EUR {}", "{} EUR", "€{}"])
def test_a_currency_is_the_same_before_and_behind_its_amount(form: str) -> None:
    prices = ["12.50", "89.00", "240.00"]
    truth, given = (
        markdown([["Item", "Price"], *([f"Item {k}", way.format(p)] for k, p in enumerate(prices))])
        for way in ("€ {}", form)
    )
    assert value(truth, given) == 10
    assert value(truth, given.replace("€", "$").replace("EUR", "USD")) < 7


def test_a_quantity_may_be_given_in_another_size_of_its_unit() -> None:
    devices = rows(
        "Device & Power & Mass", "Kettle & 2.2 kW & 1.1 kg", "Oven & 3.5 kW & 32 kg", "Lamp & 40 W & 600 g"
    )
    text = markdown(devices)
    given = text.replace("2.2 kW", "2,200 W").replace("3.5 kW", "3500 W").replace("600 g", "0.6 kg")
    assert value(text, given) > 8.5
    assert value(text, given.replace("3500", "350")) < 7


def test_dates_are_the_same_in_joined_headers() -> None:
    body = "| Cash | 1,204 | 998 |\n| Loans | 3,550 | 3,410 |\n| Equity | 820 | 790 |"
    dates = ("31 March 2024", "2024-03-31"), ("31 December 2023", "2023-12-31")
    text, given = (
        f"| Account | {dates[0][k]} Group | {dates[1][k]} Group |\n|---|---|---|\n{body}" for k in range(2)
    )
    assert value(text, given) == 10
    assert value(text, given.replace("2023", "2022")) < 9


def test_day_and_month_exchanged_are_a_loss() -> None:
    bills = markdown(rows("Bill & Date & Due", "A & 03/04/2024 & 05/06/2024", "B & 07/08/2024 & 09/10/2024"))
    given = markdown(rows("Bill & Date & Due", "A & 04/03/2024 & 06/05/2024", "B & 08/07/2024 & 10/09/2024"))
    assert value(bills, given) < 5
    assert told(bills, given).count("instead of") == 1
    dotted = bills.replace("03/04/2024", "25/04/2024")
    assert value(dotted, dotted.replace("/", ".")) == 10


def test_columns_that_are_joined_as_ranges_are_folded() -> None:
    tests = rows(
        "Test & Low & High & Unit", "Na & 135 & 145 & mM", "K & 3.5 & 5.1 & mM", "Ca & 8.6 & 10.2 & mg"
    )
    joined = [[a, f"{b}–{c}", d] for a, b, c, d in tests]
    assert value(markdown(tests), markdown(joined)) > 8
    assert value(markdown(tests), markdown(joined).replace("–", " ")) < 6


def test_abbreviated_headers_tell_which_one() -> None:
    staff = markdown(
        rows(
            "Department & Number of posts & Average pay", "Law & 12 & 410", "Art & 55 & 583", "Sea & 31 & 529"
        )
    )
    for short in (("Dept.", "No. of posts", "Avg. pay"), ("Dept", "No of posts", "Avg pay")):
        given = staff
        for name, other in zip(("Department", "Number of posts", "Average pay"), short, strict=True):
            given = given.replace(name, other)
        assert value(staff, given) > 8
