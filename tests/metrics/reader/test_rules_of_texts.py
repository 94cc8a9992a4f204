"""Single rules that say how two texts differ, and what a text is, by examples."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsemark.metrics.reader import likeness, paths, symbols, value_kinds
from parsemark.metrics.reader.texts import BESIDE


@pytest.mark.parametrize(
    ("rule", "truth", "pred", "holds"),
    [
        (likeness._is_other_case, "Strongly Agree", "Strongly agree", True),
        (likeness._is_other_case, "BraTs", "BraTS", False),
        (likeness._is_spelled_out, "β_1", "beta1", True),
        (likeness._is_spelled_out, "ξ", "xİ", False),
        (likeness._is_spelled_out, "alphabet", "αbet", False),
        (likeness._is_abbreviated, "Precipitation (mm)", "Precip. (mm)", True),
        (likeness._is_abbreviated, "Dept.", "Department", True),
        (likeness._is_abbreviated, "Mean Temp.", "Mean Pressure", False),
        (likeness._is_abbreviated, "Top", "To", False),
        (likeness._is_opposite, "-0.25", "0.25", True),
        (likeness._is_opposite, "- 2 layers", "2 layers", False),
        (likeness._is_opposite, "F-1", "F1", False),
        (likeness._is_flat_power, "3e-4", "3x10-4", True),
        (likeness._is_flat_power, "3e4", "3x104", True),
        (likeness._is_flat_power, "1e-6", "10-6", True),
        (likeness._is_negated, "did not help", "did help", True),
        (likeness._is_negated, "made with care", "made without care", True),
        (likeness._is_negated, "did not help", "did nof help", False),
        (likeness._is_negated, "it is not so", "It is not So", False),
        (likeness._is_negated, "only in August", "except in August", True),
        (likeness._is_in_another_unit, "25km", "25m", True),
        (likeness._is_in_another_unit, "4.7MΩ", "4.7mΩ", True),
        (likeness._is_in_another_unit, "µmol/L", "mmol/L", True),
        (likeness._is_in_another_unit, "10kΩ", "10k", False),
        (likeness._is_in_another_unit, "25km", "25", False),
        (likeness._is_in_another_unit, "25people", "25poeple", False),
        (likeness._is_other_size, "9.8", "98", True),
        (likeness._is_other_size, "-9.8", "9.8", True),
        (likeness._is_other_size, "0603", "603", False),
        (likeness._is_other_size, "9.8", "8.9", False),
        (paths._is_other_unit, "Depth (m)", "Depth (km)", True),
        (paths._is_other_unit, "VLD (QRL)", "VLD (ORL)", False),
    ],
)
def test_a_rule_holds_for_two_texts(
    rule: Callable[[str, str], bool], truth: str, pred: str, holds: bool
) -> None:
    assert rule(truth, pred) is holds


def test_accents_are_the_same_wherever_they_stand() -> None:
    assert likeness._apart("x\u0304_1") == likeness._apart("¯x_1".translate(BESIDE))


@pytest.mark.parametrize("cited", ["BERT[3;44]", "BERT(Liu et al.,2019)", "BERT^17"])
def test_citations_behind_a_name_are_left_out(cited: str) -> None:
    assert symbols._uncited(cited) == "BERT"
    assert symbols._uncited("[LOG+19]") == ""


@pytest.mark.parametrize("text", ["Leaf(2010)", "61[55.2;70]", "m^2", "VLD[QRL]"])
def test_what_is_no_citation_stays(text: str) -> None:
    assert symbols._uncited(text) == text


@pytest.mark.parametrize(
    ("text", "pointed", "time"),
    [
        ("06:12", False, "6:12"),
        ("06.12", True, "6:12"),
        ("6.12", False, ""),
        ("6:12 pm", False, "18:12"),
        ("12:05 a.m.", False, "0:05"),
        ("6 pm", False, "18:00"),
        ("6", False, ""),
    ],
)
def test_a_time_of_day_is_given_in_one_way(text: str, pointed: bool, time: str) -> None:
    assert value_kinds._time(text, pointed=pointed) == time
