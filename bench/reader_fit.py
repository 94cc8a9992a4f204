"""Fit the numbers of `reader` to people, and say how well that does on tables it has not seen.

    python -m bench.reader_fit RATINGS.json [--quick]

Everything in `parsemark.metrics.reader.parameters` is fitted, except `padded`, which is held at a cost that
keeps padded headers equivalent. Cross-validation leaves one table out at a time and fits *all* numbers anew
without it. Weights, size and bend are found by L-BFGS; credits by coordinate descent over a few values each,
so that a fit cannot follow single pairs. `--quick` fits only the weights.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import pearsonr

from parsemark.metrics import TableInput
from parsemark.metrics.reader.credit import credit
from parsemark.metrics.reader.facts import Side
from parsemark.metrics.reader.parameters import PARAMETERS, Parameters
from parsemark.metrics.reader.read import read, together
from parsemark.metrics.reader.verdict import losses
from parsemark.study import correlate, read_ratings

Floats = NDArray[np.float64]

WEIGHTS = ("value", "header", "label", "row", "column", "invented", "size", "bend")
CREDITS: dict[str, tuple[float, ...]] = {
    "mark_lost": (0.85, 0.93, 0.97, 1.0),
    "mark_invented": (0.4, 0.6, 0.8),
    "regrouped": (0.6, 0.75, 0.85, 0.95),
    "misspelling": (1.0, 1.5, 2.0, 3.0),
    "inferred": (0.3, 0.45, 0.6, 0.8),
    "ragged": (0.6, 0.75, 0.9, 1.0),
    "group": (0.25, 0.5, 1.0),
    "ambiguous": (0.0, 0.25, 0.5, 0.75),
    "spanned": (0.0, 0.25, 0.5, 0.75),
    "no_value": (0.25, 0.5, 1.0),
    "cut_off": (1.5, 2.0, 3.0, 4.0),
}
LOST = ("value", "header", "label", "row", "column", "invented", "cut_off", "padded", "total")
N_PASSES = 1
"""Times that each credit is looked at again."""
RIDGE = 0.002
"""Weights are held near each other: a kind of error that is rare must not choose a weight of its own."""


@dataclasses.dataclass(frozen=True)
class Rated:
    """One pair, aligned once."""

    table: str
    people: float
    sides: tuple[Side, ...]
    outside: str


def load(path: Path) -> list[Rated]:
    found: list[Rated] = []
    truths: dict[str, TableInput] = {}
    for pair in read_ratings(path).pairs:
        if pair.is_empty:
            continue
        truth = truths.setdefault(pair.truth, TableInput(pair.truth))
        pages = TableInput(pair.pred).pages
        parts = read(truth.pages.sheets[0], truth.pages.structure, pages, PARAMETERS).parts
        found.append(Rated(pair.cluster, pair.mean_rating, tuple(p.side for p in parts), pages.outside))
    return found


class Losses:
    """What every pair loses under given credits; computed once for each set of credits."""

    def __init__(self, pairs: Sequence[Rated]) -> None:
        self.pairs = pairs
        self.known: dict[tuple[float, ...], Floats] = {}

    def under(self, parameters: Parameters) -> Floats:
        # `cut_off` only weighs, so it does not change what is lost.
        key = tuple(getattr(parameters, name) for name in CREDITS if name != "cut_off")
        if key not in self.known:
            self.known[key] = np.array([self._row(pair, parameters) for pair in self.pairs])
        return self.known[key]

    def _row(self, pair: Rated, parameters: Parameters) -> list[float]:
        if not pair.sides:
            return [0, 0, 0, 10, 0, 0, 0, 0, 10]
        parts = tuple(credit(side, parameters, pair.outside) for side in pair.sides)
        lost = losses(together(parts))
        return [float(getattr(lost, name)) for name in LOST]


def predict(lost: Floats, parameters: Parameters) -> Floats:
    """`Losses.score` for all pairs at once."""
    columns = dict(zip(LOST, lost.T, strict=True))
    total = np.maximum(columns["total"], 1.0)
    weighted = sum(getattr(parameters, name) * columns[name] for name in LOST[:6])
    weighted = weighted + parameters.row * parameters.cut_off * columns["cut_off"]
    cost = (weighted / total**parameters.size) ** parameters.bend
    return np.asarray(10 * np.exp(-cost - parameters.padded * columns["padded"] / total))


def fit_weights(lost: Floats, people: Floats, start: Parameters) -> tuple[Parameters, float]:
    def unpack(vector: Floats) -> Parameters:
        values = [*np.exp(vector[:6]), vector[6], vector[7]]
        return dataclasses.replace(start, **dict(zip(WEIGHTS, map(float, values), strict=True)))

    def loss(vector: Floats) -> float:
        error = predict(lost, unpack(vector)) - people
        return float(np.square(error).mean() + RIDGE * np.square(vector[:6] - vector[:6].mean()).sum())

    first = np.array([*np.log([getattr(start, name) for name in WEIGHTS[:6]]), start.size, start.bend])
    found = minimize(loss, first, method="L-BFGS-B", bounds=[(-4, 4)] * 6 + [(0.3, 1.2), (0.3, 1.5)])
    return unpack(found.x), float(found.fun)


def fit(table: Losses, people: Floats, rows: NDArray[np.intp], quick: bool) -> Parameters:
    """Fit on some of the pairs."""
    best, least = fit_weights(table.under(PARAMETERS)[rows], people[rows], PARAMETERS)
    for _ in range(0 if quick else N_PASSES):
        before = best
        for name, values in CREDITS.items():
            for value in values:
                if value == getattr(best, name):
                    continue
                tried = dataclasses.replace(best, **{name: value})
                found, loss = fit_weights(table.under(tried)[rows], people[rows], tried)
                if loss < least - 1e-4:
                    best, least = found, loss
        if best == before:
            break
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ratings", type=Path)
    parser.add_argument("--quick", action="store_true", help="fit the weights alone")
    arguments = parser.parse_args()
    pairs = load(arguments.ratings)
    people = np.array([pair.people for pair in pairs])
    tables = [pair.table for pair in pairs]
    table = Losses(pairs)
    everything = np.arange(len(pairs))
    fitted = fit(table, people, everything, arguments.quick)
    _report("in sample", predict(table.under(fitted), fitted), people, tables)
    _report("as shipped", predict(table.under(PARAMETERS), PARAMETERS), people, tables)
    unseen = np.zeros(len(pairs))
    chosen: list[Parameters] = []
    for name in dict.fromkeys(tables):
        inside = np.array([k for k, t in enumerate(tables) if t == name])
        chosen.append(fit(table, people, np.setdiff1d(everything, inside), arguments.quick))
        unseen[inside] = predict(table.under(chosen[-1])[inside], chosen[-1])
    _report("leave one table out", unseen, people, tables)
    _report_tables(unseen, people, tables)
    print("\nParameters, and their range over the folds:")
    for field in dataclasses.fields(Parameters):
        values = [getattr(p, field.name) for p in chosen]
        spread = f"{min(values):.2f} to {max(values):.2f}"
        print(f"    {field.name}: float = {getattr(fitted, field.name):.2f}  # {spread}")


def _report(title: str, scores: Floats, people: Floats, tables: list[str]) -> None:
    found = correlate(scores.tolist(), people.tolist(), tables)
    low, high = found.ci95 or (float("nan"), float("nan"))
    error = float(np.sqrt(np.square(scores - people).mean()))
    print(
        f"{title}: n {found.n}, Pearson {found.pearson:.3f} ({low:.3f} to {high:.3f}), "
        f"Spearman {found.spearman:.3f}, Kendall {found.kendall:.3f}, RMSE {error:.2f}"
    )


def _report_tables(scores: Floats, people: Floats, tables: list[str]) -> None:
    print("by table: Pearson, mean error")
    for name in dict.fromkeys(tables):
        inside = [k for k, t in enumerate(tables) if t == name]
        x, y = scores[inside], people[inside]
        shown = f"{pearsonr(x, y).statistic:.3f}" if np.ptp(x) and np.ptp(y) else "  –  "
        print(f"    {name}: {shown}  {np.abs(x - y).mean():.2f}")


if __name__ == "__main__":
    main()
