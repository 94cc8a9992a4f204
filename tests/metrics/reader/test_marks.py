"""Marks and empty cells against signs for yes and no, on tables of several shapes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsemark.metrics import score

Rows = list[list[str]]
Make = Callable[..., Rows]
Write = Callable[[Rows], str]
HEAD = ["Phone", "5G", "NFC", "eSIM", "Price"]
PHONES = ["Aria 4", "Bolt", "Cirrus", "Delta X", "Echo 2"]
HAS = ["110", "100", "011", "000", "101"]
PRICES = ["499", "329", "615", "189", "740"]
SURVEY = ["Question 1", "Question 2", "Question 3", "Question 4"]


def markdown(rows: Rows) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def html(rows: Rows) -> str:
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table>{body}</table>"


def phones(yes: str, no: str, has: list[str] = HAS) -> Rows:
    """Marks in columns, beside a column of numbers."""
    signs = {"1": yes, "0": no}
    rows = zip(PHONES, has, PRICES, strict=True)
    return [HEAD, *([name, *(signs[h] for h in line), price] for name, line, price in rows)]


def features(yes: str, no: str, has: list[str] = HAS) -> Rows:
    """The same with marks in rows, above a row of numbers."""
    return [list(row) for row in zip(*phones(yes, no, has), strict=True)]


def value(truth: Rows, pred: Rows, write: Write = markdown) -> float:
    return score(markdown(truth), write(pred), metrics=["reader"])["reader"].value


SAID = [("Yes", "No"), ("✓", "✗"), ("1", "0"), ("x", "–"), ("true", "false"), ("Y", "N"), ("Ja", "Nein")]


@pytest.mark.parametrize("write", [markdown, html])
@pytest.mark.parametrize("make", [phones, features])
@pytest.mark.parametrize("said", SAID)
def test_a_no_in_an_empty_cell_says_the_same(said: tuple[str, str], make: Make, write: Write) -> None:
    assert value(make("✓", ""), make(*said), write) >= 8.5


@pytest.mark.parametrize("mark", ["x", "•", "Yes", "+"])
def test_whatever_the_mark_is(mark: str) -> None:
    assert value(phones(mark, ""), phones("Yes", "No")) >= 8.5


@pytest.mark.parametrize("write", [markdown, html])
@pytest.mark.parametrize("make", [phones, features])
@pytest.mark.parametrize("said", [("Yes", "No"), ("1", "0"), ("true", "false"), ("Y", "N")])
def test_nor_does_an_empty_cell_for_a_no(said: tuple[str, str], make: Make, write: Write) -> None:
    assert value(make(*said), make("✓", ""), write) >= 8.5


MOVED = ["110", "010", "011", "000", "101"]
ADDED = ["110", "101", "011", "000", "101"]


@pytest.mark.parametrize("has", [MOVED, ADDED])
@pytest.mark.parametrize("said", SAID)
def test_a_mark_in_the_wrong_cell_costs_as_among_marks(has: list[str], said: tuple[str, str]) -> None:
    among_marks = value(phones("✓", ""), phones("✓", "", has))
    assert among_marks < 8
    assert value(phones("✓", ""), phones(*said, has)) <= among_marks + 0.01


@pytest.mark.parametrize("has", [MOVED, ADDED])
def test_nor_is_a_wrong_mark_forgiven_among_empty_cells(has: list[str]) -> None:
    assert value(phones("Yes", "No"), phones("✓", "", has)) < 8


def test_yes_and_no_exchanged_say_the_opposite() -> None:
    assert value(phones("✓", ""), phones("No", "Yes")) < 2


def test_a_no_that_is_told_from_an_empty_cell_is_not_the_same() -> None:
    known = phones("✓", "")
    known[2][2] = "No"
    assert value(known, phones("✓", "No")) < 5


def test_a_yes_without_its_no_has_lost_it() -> None:
    truth = phones("Yes", "No")
    assert value(truth, phones("Yes", "")) < value(truth, phones("✓", "")) - 1


def test_zeros_among_numbers_are_values() -> None:
    counted = phones("✓", "")
    for row in counted[1:]:
        row[4] = ""
    filled = [list(row) for row in counted]
    for row, count in zip(filled[1:], ["0", "1", "7", "12", "0"], strict=True):
        row[4] = count
    assert value(counted, filled) < 8


def test_other_words_in_empty_cells_are_invented() -> None:
    assert value(phones("✓", ""), phones("✓", "Paris")) < 5
