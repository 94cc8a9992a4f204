"""A change of meaning costs more than a change of form, and what can still be read off is not lost."""

from __future__ import annotations

import numpy as np
import pytest
from bench.reader_kinds import MEANINGS, scored
from tests.metrics.reader.reading import markdown, read, rows, told, value

PARTS = rows(
    "Part & Value & Limit & Supply & Use",
    "R1 & 10 kΩ & <5 & 9.8 & not permitted",
    "R2 & 47 kΩ & <7 & 6.1 & permitted",
    "C1 & 100 nF & <2 & −3.3 & not permitted",
    "L1 & 33 µH & <9 & 4.4 & permitted with a permit",
    "Q1 & 22 mA & <8 & 7.2 & permitted",
    "Q2 & 27 mA & <6 & 7.9 & never",
)


@pytest.mark.parametrize("half", ["tuned", "held out"])
def test_points_are_those_given_before_scoring(half: str) -> None:
    found = scored(MEANINGS, half)
    points, values = np.array([f[1] for f in found]), np.array([f[2] for f in found])
    assert len(found) == 60
    assert np.corrcoef(points, values)[0, 1] >= {"tuned": 0.75, "held out": 0.55}[half]


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("10 kΩ", "10 Ω"),
        ("22 mA", "22 MA"),
        ("9.8", "98"),
        ("−3.3", "3.3"),
        ("| not permitted |\n| R2", "| permitted |\n| R2"),
        ("with a permit", "without a permit"),
        ("never", "always"),
    ],
)
def test_a_value_that_is_reversed_is_a_disaster_in_any_table(written: str, given: str) -> None:
    truth = markdown(PARTS)
    assert written in truth
    result = read(truth, truth.replace(written, given))
    assert result.value is not None
    assert result.value < 5.5
    assert result.details["counts"] == {"value_reversed": 1}
    assert value(truth, truth.replace("47 kΩ", "41 kΩ")) > result.value + 1


def test_several_reversed_values_cost_more_than_one() -> None:
    truth = markdown(PARTS)
    one = truth.replace("10 kΩ", "10 Ω")
    assert value(truth, one.replace("9.8", "98").replace("−3.3", "3.3")) < value(truth, one)


@pytest.mark.parametrize(
    ("written", "given"), [("not permitted", "prohibited"), ("10 kΩ", "10k"), ("kΩ", "k Ω"), ("<", "< ")]
)
def test_the_same_in_other_words_is_hardly_a_loss(written: str, given: str) -> None:
    truth = markdown(PARTS)
    assert value(truth, truth.replace(written, given)) > 8.5


def test_a_limit_is_no_value() -> None:
    truth = markdown(PARTS)
    assert read(truth, truth.replace("<5", "5")).details["counts"] == {"value_wrong": 1}


LAB = rows(
    "Test & Result & Flag & Unit & Range & Note",
    "Sodium & 141 & & mmol/L & 135–145 & fasting",
    "Potassium & 5.9 & H & mmol/L & 3.5–5.1 & fasting",
    "Iron & 8 & L & µmol/L & 11–28 & evening",
    "Lactate & 1.9 & & mmol/L & 0.5–2.2 & evening",
)


def joined(table: list[list[str]], first: int, second: int, sign: str = " ") -> list[list[str]]:
    """A table with two columns in one, under the name of the first one."""
    name = table[0][first]
    cells = [
        [*row[:first], sign.join(filter(None, (row[first], row[second]))), *row[first + 1 :]] for row in table
    ]
    cells[0][first] = name
    return [[text for k, text in enumerate(row) if k != second] for row in cells]


@pytest.mark.parametrize(("columns", "sign"), [((1, 2), " "), ((1, 3), " "), ((0, 5), " / "), ((1, 4), " (")])
def test_columns_given_in_one_are_not_lost_where_they_are_told_apart(
    columns: tuple[int, int], sign: str
) -> None:
    truth = markdown(LAB)
    given = markdown(joined(LAB, *columns, sign))
    assert value(truth, given) > 8
    assert value(truth, given.replace("5.9", "5.6")) < value(truth, given) - 1


def test_numbers_that_are_run_together_are_not_told_apart() -> None:
    table = rows("Run & A & B & C", "I & 12 & 40 & 7", "II & 31 & 55 & 8", "III & 27 & 61 & 3")
    assert value(markdown(table), markdown(joined(table, 1, 2))) < 7


@pytest.mark.parametrize("order", [[0, 2, 1, 3], [3, 0, 1, 2], [0, 3, 1, 2], [1, 2, 3, 0]])
def test_a_column_that_moved_with_its_header_is_hardly_a_loss(order: list[int]) -> None:
    fares = rows(
        "Town & Single Adult & Single Child & Zone", "Ulm & 2.40 & 1.20 & A", "Bonn & 3.10 & 1.55 & B"
    )
    fares += rows("Kiel & 6.80 & 3.40 & C", "Jena & 2.90 & 1.45 & A")
    head = "<tr><th>Town</th><th colspan=2>Single</th><th>Zone</th></tr>"
    head += "<tr><td></td><td>Adult</td><td>Child</td><td></td></tr>"
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in fares[1:])
    moved = [[row[k] for k in order] for row in fares]
    assert value(f"<table>{head}{body}</table>", markdown(moved)) > 8
    # Not so without its header.
    assert value(markdown(fares), markdown([fares[0], *moved[1:]])) < 6


@pytest.mark.parametrize("header", ["Mass (kg)", "Mass, kg", "Mass / kg", "Mass in kg"])
def test_a_unit_that_is_lost_is_not_the_name(header: str) -> None:
    truth = markdown(rows(f"Tree & {header} & Age & Sort", "Ash & 12 & 35 & a", "Oak & 31 & 40 & b"))
    assert value(truth, truth.replace(header, "Mass")) > 7
    assert value(truth, truth.replace("kg", "g")) < value(truth, truth.replace(header, "Mass"))


def test_words_left_out_below_themselves_are_carried_down() -> None:
    people = rows(
        "Born & Name & Father", "1841 & Anna & Johann", "1843 & Georg & Johann", "1866 & Lina & Paul"
    )
    truth = markdown(people)
    assert value(truth, truth.replace("| Georg | Johann", "| Georg | ")) > 9
    assert value(truth, truth.replace("| Lina | Paul", "| Lina | ")) < 8


def test_numbers_that_count_the_rows_are_not_needed() -> None:
    steps = rows("No. & Reagent & Volume", "1 & Buffer & 500", "2 & Ethanol & 250", "3 & Water & 100")
    assert value(markdown(steps), markdown([row[1:] for row in steps])) > 8


def test_a_row_given_as_text_below_is_not_missing() -> None:
    bill = rows("Item & Amount", "Bolt & 28.00", "Washer & 12.00", "Freight & 24.90", "Total & 64.90")
    truth = markdown(bill)
    below = markdown(bill[:-1]) + "\n\nTotal: 64.90"
    assert value(truth, below) > value(truth, markdown(bill[:-1])) + 1
    assert "outside of the table" in told(truth, below)


def test_an_amount_may_have_its_currency_before_its_sign() -> None:
    bill = markdown(rows("Item & Amount (€)", "Bolt & 28.00", "Return & −15.00", "Freight & 24.90"))
    given = (
        bill.replace(" (€)", "")
        .replace("28.00", "€ 28.00")
        .replace("−15", "€ −15")
        .replace("24.90", "€ 24.90")
    )
    assert value(bill, given) == 10
