"""`formula_reader`: does a formula still say what it said?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsemark.formats.latex.formula import read_formula
from parsemark.metrics.base import Facts, Metric
from parsemark.metrics.formula_errors import FormulaError, compare_formulas, without_number
from parsemark.metrics.size_limits import MAX_CHARACTER_PAIRS, check_pairs

FULL_SCORE = 10.0


@dataclass(frozen=True, slots=True)
class FormulaParameters:
    """The fitted numbers (`python -m bench.formula_fit RATINGS.json`); the first seven weigh one error."""

    look_alike: float = 0.55
    """A symbol read as one that looks like it (ν as v), another case, another accent; a comma."""
    renamed: float = 0.79
    """A name given everywhere by one that the formula does not use: it still tells which one."""
    symbol: float = 2.06
    """A letter read as another one of the formula, or only in some places; a digit wrong, lost or added."""
    another_kind: float = 4.64
    """Something of another kind: a relation read as an operator, a letter as a bracket, π as a letter."""
    sign: float = 1.32
    """An operator, relation or bracket read as another one, lost or added."""
    structure: float = 2.07
    """A script, fraction, root, matrix or accent."""
    lost_or_added: float = 0.68
    """A letter that is lost or added."""
    again: float = 0.05
    """Share of the weight for each time that the same error comes again."""
    size: float = 0.46
    """Power of the formula's length by which errors are divided: 1 counts shares, 0 counts errors."""
    bend: float = 0.58
    """Power of the total: below 1, the first errors cost more than the next ones."""

    def weight(self, error: FormulaError) -> float:
        """The weight of an error with its repetitions."""
        weight: float = getattr(self, error.kind)
        return weight * (1 + self.again * (error.times - 1))

    def score(self, total: float, size: int) -> float:
        """The value for the weights of all errors of a formula of so many symbols."""
        return FULL_SCORE * math.exp(-((total / max(size, 1) ** self.size) ** self.bend))


FORMULA_PARAMETERS = FormulaParameters()
"""The values in use."""


@dataclass(frozen=True)
class FormulaReader(Metric[str]):
    r"""A formula as a person reads it, from 0 to 10, on the syntax of its LaTeX.

    Presentation is folded (`\left`, spacing, `\dfrac`, `\text`, operator names, brace style, fonts,
    alignment); what is left is a sequence of symbols and structure. An edit alignment finds the differences;
    each is weighted by how much it changes what the formula says, the same difference again counts less, and
    the total is set in relation to the formula's length and bent.

    `Score.details["errors"]` are the differences, strongest first: kind, where, message, cost.

    Empty cases: two empty formulas have 10; an empty formula against another has 0.

    Differences from the reference: there is none; it was fitted to people's ratings and checked against them
    (`docs/reader.md`).

    >>> metric = FormulaReader()
    >>> metric.score(r"\left(\dfrac{1}{2}\right)^n", r"$({1 \over 2})^{n}$").value
    10.0
    >>> metric.score(r"e^{-x^2/2\pi}", "e^{-x^{2}/2n}").details["errors"][0]["message"]
    '“π” is read as “n”.'
    """

    name = "formula_reader"
    facts = Facts(
        title="What a reader can take from a formula",
        kind="formula",
        range=(0.0, FULL_SCORE),
        citation="parsemark; rated formulas of Horn & Keuper (2025)",
        reference="human ratings of Horn & Keuper",
        both_empty=FULL_SCORE,
    )

    def compute(self, truth: str, pred: str) -> tuple[float, Mapping[str, Any]]:
        """The value and the errors."""
        expected, given = read_formula(without_number(truth)), read_formula(without_number(pred))
        if not expected or not given:
            return (FULL_SCORE if expected == given else 0.0), {"errors": [], "n_errors": 0}
        check_pairs("symbols", len(expected), len(given), MAX_CHARACTER_PAIRS)
        errors, size = compare_formulas(expected, given, FORMULA_PARAMETERS.weight)
        total = sum(map(FORMULA_PARAMETERS.weight, errors))
        value = FORMULA_PARAMETERS.score(total, size)
        lost = FULL_SCORE - value
        told = [
            {
                "kind": error.kind,
                "where": {"symbol": error.position},
                "message": error.message,
                "cost": round(lost * FORMULA_PARAMETERS.weight(error) / total, 4),
            }
            for error in errors
        ]
        return value, {"errors": sorted(told, key=lambda e: -float(e["cost"])), "n_errors": len(told)}
