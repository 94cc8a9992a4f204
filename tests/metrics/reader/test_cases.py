"""Every class of error that people have rated gets what they gave, whatever the table's content."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from bench.reader_cases import CLASSES, Case, cases

from parsemark.metrics import score

TOLERANCE = 0.2
"""A single variant may miss the range of its class by this much; the mean of the class may not."""


def _value(case: Case) -> float:
    found = score(case.truth, case.pred, metrics=["reader"])["reader"]
    assert found.value is not None, found.message
    return found.value


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_errors_gets_what_people_give(name: str) -> None:
    by_class = {k: list(v) for k, v in groupby(cases(), key=lambda case: case.name.rsplit(" ", 1)[0])}
    values = {case.name: _value(case) for case in by_class[name]}
    low, high = CLASSES[name][1:]
    assert low <= np.mean(list(values.values())) <= high, values
    assert all(low - TOLERANCE <= value <= high + TOLERANCE for value in values.values()), values


def test_the_order_of_harm_is_peoples() -> None:
    means = {
        name: float(np.mean([_value(c) for c in group]))
        for name, group in groupby(cases(), key=lambda case: case.name.rsplit(" ", 1)[0])
    }
    order = (
        "scripts set flat",
        "a group header reaches too far",
        "a row that says the same of all columns is lost",
        "lines of text",
        "rows run together",
        "another table, or none",
    )
    assert [means[name] for name in order] == sorted((means[name] for name in order), reverse=True), means


def test_look_alikes_that_the_truth_tells_apart_stay_apart() -> None:
    truth = "| Tool | Fast | Safe |\n|---|---|---|\n| A | ○ | ° |\n| B | ° | ○ |\n| C | ○ | ○ |\n"
    same = score(truth, truth, metrics=["reader"])["reader"].value
    other = score(truth, truth.replace("| B | ° |", "| B | ○ |"), metrics=["reader"])["reader"].value
    assert same == 10.0
    assert other is not None
    assert other < 9
