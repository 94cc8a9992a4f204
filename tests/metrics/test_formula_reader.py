"""`formula_reader`: what costs more, what costs less, and what it says about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import pearsonr

from parsemark.metrics import score
from parsemark.model import Score, Status, Table

TRUTH = r"\psi(y)=\sqrt{\frac{2}{L}}\,\sin\left(\frac{n\pi y}{L}\right)"


def read(truth: str | Table, pred: str | Table) -> Score:
    return score(truth, pred, metrics=["formula_reader"])["formula_reader"]


def value(pred: str) -> float:
    found = read(TRUTH, pred).value
    assert found is not None
    return found


def test_presentation_costs_nothing() -> None:
    assert value(r"$$\psi (y) = \sqrt {2 \over L} \operatorname{sin} ({\dfrac {n \pi y}{L}}).$$") == 10.0


def test_errors_cost_by_what_they_change() -> None:
    look_alike = value(TRUTH.replace(r"n\pi", r"\eta\pi"))
    letter = value(TRUTH.replace("y}", "q}"))
    number = value(TRUTH.replace("2", "3"))
    another_kind = value(TRUTH.replace("2", "("))
    assert 10 > look_alike > letter >= number > another_kind > 0


def test_what_turns_a_statement_into_another_costs_more_than_another_name() -> None:
    truth = r"f(t)\sim\sum_n t^{\alpha_n}+v^{*}"
    relation = read(truth, truth.replace(r"\sim", "-"))
    renamed = read(truth, truth.replace(r"\alpha", r"\beta"))
    mark = read(truth, truth.replace("*", "c"))
    assert relation.details["errors"][0]["kind"] == "another_kind"
    assert renamed.details["errors"][0]["kind"] == "renamed"
    assert mark.details["errors"][0]["kind"] == "symbol"
    assert relation.value < mark.value < renamed.value < 10


def test_a_constant_is_no_letter() -> None:
    wrong = read(TRUTH, TRUTH.replace(r"\pi", "k"))
    assert wrong.details["errors"][0]["kind"] == "another_kind"
    assert wrong.value < value(TRUTH.replace("n", "k"))


@pytest.mark.parametrize(
    ("truth", "pred"),
    [
        (r"\frac{1}{\sqrt{\epsilon_0\mu_0}}", r"\frac{1}{\sqrt{\epsilon_0}\mu_0}"),
        ("y_{n-1}", "y_n-1"),
        (r"\overline{a+b}c", r"\overline{a}+bc"),
    ],
)
def test_where_a_group_ends_is_part_of_what_a_formula_says(truth: str, pred: str) -> None:
    found = read(truth, pred)
    assert found.value is not None and found.value < 6
    assert [e["kind"] for e in found.details["errors"]] == ["structure"]
    assert "ends elsewhere" in found.details["errors"][0]["message"]


def test_a_group_that_is_lost_whole_is_one_error() -> None:
    assert len(read("x^{2}+y", "x2+y").details["errors"]) == 1


@pytest.mark.parametrize("number", [r"\quad (1)", r"\tag{1}", "(3.2)", r"\qquad (A.1)"])
def test_numbers_of_equations_cost_nothing(number: str) -> None:
    assert read("x=y+1", f"x=y+1 {number}").value == 10.0
    assert read(f"x=y+1 {number}", "x=y+1").value == 10.0


def test_an_argument_is_no_number_of_an_equation() -> None:
    assert read("y=f(3)", "y=f(4)").value < 10
    assert read("y=f(3)", "y=f").value < 10


def test_a_lost_negation_says_the_opposite() -> None:
    lost = read(r"a \neq b+c", "a = b+c")
    assert lost.details["errors"][0]["kind"] == "another_kind"
    assert lost.value < read(r"a \leq b+c", "a < b+c").value


def test_punctuation_inside_costs_little() -> None:
    lost = read(r"F(a,b)=c", r"F(a;b)=c")
    assert lost.value > read(r"F(a,b)=c", r"F(a+b)=c").value
    assert lost.value < 10


def test_the_same_error_again_costs_less_than_another_one() -> None:
    twice = value(TRUTH.replace("L", "F"))
    two = value(TRUTH.replace("{L}}", "{F}}").replace("y}", "q}"))
    assert twice > two


def test_errors_are_told() -> None:
    errors = read(TRUTH, TRUTH.replace("L", "F").replace("2", "3")).details["errors"]
    assert [e["message"] for e in errors] == ["“2” is read as “3”.", "“L” is read as “F” (2 times)."]
    lost = read(TRUTH, TRUTH.replace(r"\sqrt", "")).details["errors"]
    assert [e["message"] for e in lost] == ["a root is lost."]


def test_costs_sum_up_to_the_lost_points() -> None:
    result = read(TRUTH, r"\psi(y)=\sqrt{\frac{3}{L}}\cos(n y)")
    assert result.value is not None
    assert sum(e["cost"] for e in result.details["errors"]) == pytest.approx(10 - result.value, abs=0.001)


def test_empty_cases_and_tables() -> None:
    assert read("", "").value == 10.0
    assert read(TRUTH, "").value == 0.0
    assert read(Table(0, 0), TRUTH).status is Status.METRIC_FAILED


@pytest.mark.conformance
def test_it_agrees_with_people(reference_data: Path) -> None:
    pairs = json.loads((reference_data / "human-ratings/formulas.json").read_text())
    people = [sum(p["human_study_scores"]) / len(p["human_study_scores"]) for p in pairs]
    ours = [read(p["gt_formula"], p["extracted_formula"]).value for p in pairs]
    assert pearsonr(ours, people).statistic >= 0.75
