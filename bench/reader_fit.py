"""Fit the prices of `reader` to people, and say how well that does on tables it has not seen.

    python -m bench.reader_fit RATINGS.json [--splits 50] [--ablate]

The events between truth and extraction are found with the prices in use; then all prices, and how they grow,
are fitted by least squares, each held near its value in use on a logarithmic scale, so that a kind of event
that is rare does not choose a price of its own. Cross-validation leaves out *a third of the tables* together,
fits without them and predicts them, many times; the mean and the worst tenth are reported. The rules that
find the events were made while reading these pairs, so this says nothing about rules that fit these tables
alone; `tests/metrics/reader/cases.py` holds made-up tables of every class of error for that.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import pearsonr, spearmanr

from bench.reader_cases import cases
from parsemark.metrics import TableInput
from parsemark.metrics.reader.events import FULL_SCORE, MISREAD, Account, Kind
from parsemark.metrics.reader.metric import read
from parsemark.metrics.reader.prices import PARAMETERS, Parameters
from parsemark.study import correlate, read_ratings

Floats = NDArray[np.float64]

NAMES = tuple(field.name for field in dataclasses.fields(Parameters))
HELD = {"no_value", "padded", "reversed"}
"""Not fitted: `no_value` changes what is counted; `padded` is held where padded headers stay equivalent; few
rated pairs have a value that is reversed."""
RIDGE = 0.3
"""How strongly a price is held near the one in use, against the squared error in points."""


CLASS_WEIGHT = 3.0
"""A class of made-up cases weighs as much as this many rated pairs."""


@dataclasses.dataclass(frozen=True)
class Rated:
    """One pair, and the events found in it."""

    id: str
    table: str
    people: float
    account: Account


class Design:
    """The events of all pairs as arrays."""

    def __init__(self, pairs: Sequence[Rated]) -> None:
        rows = [
            (k, NAMES.index(e.kind.price), e.severity, e.kind in MISREAD, _share(e.extent, pair.account))
            for k, pair in enumerate(pairs)
            for e in pair.account.events
        ]
        columns = list(zip(*rows, strict=True)) if rows else [()] * 5
        self.pair = np.array(columns[0], dtype=np.intp)
        self.price = np.array(columns[1], dtype=np.intp)
        self.severity = np.array(columns[2], dtype=float)
        self.misread = np.array(columns[3], dtype=bool)
        self.share = np.array(columns[4], dtype=float)
        kinds = [e.kind is Kind.VALUE_REVERSED for pair in pairs for e in pair.account.events]
        self.reversed = np.array(kinds, dtype=bool)
        self.known = np.array([pair.account.known if pair.account.total else 0.0 for pair in pairs])

    def predict(self, values: Floats) -> Floats:
        """Return the scores of all pairs at given parameters, in the order of their fields."""
        power = np.where(self.misread, values[NAMES.index("severity")], 1.0)
        cost = values[self.price] * self.severity**power * self.share ** values[NAMES.index("growth")]
        count = np.maximum(np.bincount(self.pair[self.reversed], minlength=len(self.known)), 1)
        least = self.reversed * values[NAMES.index("reversed")] / count[self.pair]
        cost = np.maximum(cost, least)
        form = self.price == NAMES.index("padded")
        harm = np.bincount(self.pair[~form], cost[~form], len(self.known))
        padded = np.zeros(len(self.known))
        np.maximum.at(padded, self.pair[form], cost[form])
        return np.asarray(FULL_SCORE * np.exp(-(harm ** values[NAMES.index("bend")]) - padded) * self.known)


def _share(extent: float, account: Account) -> float:
    return min(1.0, extent / max(account.total, 1.0))


def load(path: Path, parameters: Parameters = PARAMETERS) -> list[Rated]:
    """Return the rated pairs with a non-empty extraction, and their events."""
    found: list[Rated] = []
    truths: dict[str, TableInput] = {}
    for pair in read_ratings(path).pairs:
        if pair.is_empty:
            continue
        truth = truths.setdefault(pair.truth, TableInput(pair.truth)).pages
        account = read(truth.sheets[0], truth.structure, TableInput(pair.pred).pages, parameters)
        found.append(Rated(pair.id, pair.cluster, pair.mean_rating, account))
    return found


def made_up() -> tuple[Design, Floats, Floats]:
    """Return the made-up cases, the middle of what people gave to each, and the weight of each variant."""
    pairs, targets, classes = [], [], []
    for case in cases():
        truth = TableInput(case.truth).pages
        account = read(truth.sheets[0], truth.structure, TableInput(case.pred).pages, PARAMETERS)
        pairs.append(Rated(case.name, case.name, 0.0, account))
        targets.append((case.low + case.high) / 2)
        classes.append(case.name.rsplit(" ", 1)[0])
    weights = np.array([CLASS_WEIGHT / classes.count(name) for name in classes])
    return Design(pairs), np.array(targets), weights


def fit(design: Design, people: Floats, inside: NDArray[np.bool_], free: Sequence[str]) -> Floats:
    """Fit on some of the pairs, and on the made-up cases."""
    start = np.array([getattr(PARAMETERS, name) for name in NAMES])
    places = np.array([NAMES.index(name) for name in free])

    def unpack(vector: Floats) -> Floats:
        values = start.copy()
        values[places] = start[places] * np.exp(vector)
        return values

    def loss(vector: Floats) -> float:
        error = (design.predict(unpack(vector)) - people)[inside]
        made = ANCHORS[0].predict(unpack(vector)) - ANCHORS[1]
        squares = np.square(error).sum() + (ANCHORS[2] * np.square(made)).sum()
        return float(squares / 10 + RIDGE * np.square(vector).sum() * 10)

    bounds = [(-1.5, 1.5)] * len(free)
    return unpack(np.asarray(minimize(loss, np.zeros(len(free)), method="L-BFGS-B", bounds=bounds).x))


ANCHORS = made_up()


def left_out(
    tables: Sequence[str], people: Floats, predict: Callable[[NDArray[np.bool_]], Floats], splits: int
) -> tuple[Floats, Floats]:
    """Return Pearson and Spearman on the third of the tables that was left out, for each split."""
    names = sorted(set(tables))
    of = np.array([names.index(t) for t in tables])
    rng = np.random.default_rng(13)
    found = []
    for _ in range(splits):
        chosen = rng.permutation(len(names))[: round(len(names) / 3)]
        outside = np.isin(of, chosen)
        scores = predict(~outside)[outside]
        found.append((pearsonr(scores, people[outside])[0], spearmanr(scores, people[outside])[0]))
    pearson, spearman = np.array(found).T
    return pearson, spearman


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ratings", type=Path)
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--ablate", action="store_true", help="what each kind of event is worth")
    arguments = parser.parse_args()
    pairs = load(arguments.ratings)
    people = np.array([pair.people for pair in pairs])
    tables = [pair.table for pair in pairs]
    design = Design(pairs)
    free = [name for name in NAMES if name not in HELD]
    everything = np.ones(len(pairs), dtype=bool)
    used = np.array([getattr(PARAMETERS, name) for name in NAMES])
    fitted = fit(design, people, everything, free)
    _report("as shipped", design.predict(used), people, tables)
    _report("fitted, in sample", design.predict(fitted), people, tables)
    shipped = left_out(tables, people, lambda _: design.predict(used), arguments.splits)
    refitted = left_out(
        tables, people, lambda inside: design.predict(fit(design, people, inside, free)), arguments.splits
    )
    for title, (pearson, spearman) in (("as shipped", shipped), ("fitted without them", refitted)):
        print(
            f"a third of the tables left out, {title}: Pearson {pearson.mean():.3f}, worst tenth "
            f"{np.quantile(pearson, 0.1):.3f}; Spearman {spearman.mean():.3f}, worst tenth "
            f"{np.quantile(spearman, 0.1):.3f}"
        )
    if arguments.ablate:
        _ablate(design, people, tables, free, arguments.splits)
    print("\nParameters in use, and fitted:")
    for name, before, after in zip(NAMES, used, fitted, strict=True):
        print(f"    {name}: {before:.2f}  {after:.2f}")


def _ablate(design: Design, people: Floats, tables: list[str], free: list[str], splits: int) -> None:
    """Left-out figures with each price set to nothing, and with each kind's events unseen."""
    print("\nwithout: Pearson left out, mean and worst tenth; number of pairs with such an event")
    for name in [n for n in NAMES if n in {kind.price for kind in Kind}]:
        place = NAMES.index(name)
        others = [n for n in free if n != name]

        def predict(inside: NDArray[np.bool_], place: int = place, others: list[str] = others) -> Floats:
            values = fit(design, people, inside, others)
            values[place] = 0.0
            return design.predict(values)

        pearson, _ = left_out(tables, people, predict, splits)
        count = len(set(design.pair[design.price == place].tolist()))
        print(f"    {name}: {pearson.mean():.3f} {np.quantile(pearson, 0.1):.3f}  {count}")


def _report(title: str, scores: Floats, people: Floats, tables: list[str]) -> None:
    found = correlate(scores.tolist(), people.tolist(), tables)
    low, high = found.ci95 or (float("nan"), float("nan"))
    error = float(np.sqrt(np.square(scores - people).mean()))
    print(
        f"{title}: n {found.n}, Pearson {found.pearson:.3f} ({low:.3f} to {high:.3f}), "
        f"Spearman {found.spearman:.3f}, Kendall {found.kendall:.3f}, RMSE {error:.2f}"
    )


if __name__ == "__main__":
    main()
