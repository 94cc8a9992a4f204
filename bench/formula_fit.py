"""Fit the numbers of `formula_reader` to people, cross-validated.

python -m bench.formula_fit RATINGS.json
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from parsemark.formats.latex.formula import read_formula
from parsemark.metrics.formula_reader import (
    FORMULA_PARAMETERS,
    KINDS,
    FormulaParameters,
    compare_formulas,
    without_number,
)
from parsemark.study import correlate, read_ratings

Floats = NDArray[np.float64]

RIDGE = 0.05
"""Weights are held near their mean: some kinds of error are rare."""
N_FOLDS = 25


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ratings", type=Path)
    pairs = [pair for pair in read_ratings(parser.parse_args().ratings).pairs if not pair.is_empty]
    people = np.array([pair.mean_rating for pair in pairs])
    data = np.array([_counts(pair.truth, pair.pred) for pair in pairs])
    groups = [pair.cluster for pair in pairs]
    names = list(dict.fromkeys(groups))
    order = np.random.default_rng(0).permutation(len(names))
    fold = {name: int(order[k]) % N_FOLDS for k, name in enumerate(names)}
    folds = np.array([fold[group] for group in groups])
    fitted = _fit(data, people)
    unseen = np.zeros(len(pairs))
    for number in range(N_FOLDS):
        held = folds == number
        unseen[held] = _predict(data[held], _fit(data[~held], people[~held]))
    for title, scores in (
        ("in sample", _predict(data, fitted)),
        ("as shipped", _predict(data, FORMULA_PARAMETERS)),
        (f"{N_FOLDS}-fold cross-validation by formula", unseen),
    ):
        found = correlate(scores.tolist(), people.tolist(), groups)
        print(
            f"{title}: n {found.n}, Pearson {found.pearson:.3f} {found.ci95}, "
            f"Spearman {found.spearman:.3f}, Kendall {found.kendall:.3f}"
        )
    for field in dataclasses.fields(fitted):
        print(f"    {field.name}: float = {getattr(fitted, field.name):.2f}")


def _counts(truth: str, pred: str) -> list[float]:
    """Return errors of each kind, their repetitions, and the size."""
    expected, given = read_formula(without_number(truth)), read_formula(without_number(pred))
    errors, size = compare_formulas(expected, given, FORMULA_PARAMETERS.weight)
    first = [sum(e.kind == kind for e in errors) for kind in KINDS]
    again = [sum(e.times - 1 for e in errors if e.kind == kind) for kind in KINDS]
    return [*map(float, first), *map(float, again), float(max(size, 1))]


def _predict(data: Floats, parameters: FormulaParameters) -> Floats:
    weights = np.array([getattr(parameters, kind) for kind in KINDS])
    total = (data[:, : len(KINDS)] + parameters.again * data[:, len(KINDS) : -1]) @ weights
    return np.asarray(10 * np.exp(-((total / data[:, -1] ** parameters.size) ** parameters.bend)))


def _fit(data: Floats, people: Floats) -> FormulaParameters:
    def unpack(vector: Floats) -> FormulaParameters:
        return FormulaParameters(*map(float, [*np.exp(vector[: len(KINDS)]), *vector[len(KINDS) :]]))

    def loss(vector: Floats) -> float:
        logs = vector[: len(KINDS)]
        error = _predict(data, unpack(vector)) - people
        return float(np.square(error).mean() + RIDGE * np.square(logs - logs.mean()).sum())

    first = np.array([1.2] * len(KINDS) + [0.3, 0.5, 0.6])
    bounds = [(-3, 4)] * len(KINDS) + [(0.05, 1), (0, 1), (0.2, 1.5)]
    return unpack(minimize(loss, first, method="L-BFGS-B", bounds=bounds).x)


if __name__ == "__main__":
    main()
