"""Figures over several parses of the same pages: their means, and how far one run is from the next.

Where each page is parsed again and errs independently, documents show it: what they add differs by it, and an
interval over documents holds it. What all pages of one parse have in common (a seed, the state of a service)
no document shows. It is the variance of a figure between parses beyond that which its documents explain, and
is added to intervals and verdicts.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from parsemark.protocols.run_scores.sums import FigureSums, Floats
from parsemark.stats.intervals import RunVariance, sum_by_cluster

_AVERAGED = ("score", "rate")
_STEP = 1e-5

Repeat = tuple[Sequence[FigureSums], Collection[str]]
"""The figures of another parse, and the parsers that parsed all pages again there."""


def over_repeats(figures: Sequence[FigureSums], repeats: Sequence[Repeat]) -> list[FigureSums]:
    """Return the means of figures over several parses, for the parsers that have more than one."""
    others = [({f.info.name: f for f in sums}, parsers) for sums, parsers in repeats]
    return [
        _mean(figure, [(of[figure.info.name], p) for of, p in others if figure.info.name in of])
        if figure.info.style in _AVERAGED
        else figure
        for figure in figures
    ]


def _mean(figure: FigureSums, others: Sequence[tuple[FigureSums, Collection[str]]]) -> FigureSums:
    sums: dict[str, Floats] = {}
    variance: dict[str, RunVariance] = {}
    rows = [_rows(figure, other) for other, _ in others]
    for parser, own in figure.sums.items():
        parses = [own]
        for (other, parsers), at in zip(others, rows, strict=True):
            if at is not None and parser in parsers and parser in other.sums:
                parses.append(other.sums[parser][at])
        shapes = {parse.shape for parse in parses}
        sums[parser] = own if len(shapes) > 1 else np.mean(parses, axis=0)
        if len(parses) > 1 and len(shapes) == 1:
            variance[parser] = run_variance(figure, parses)
    return dataclasses.replace(figure, sums=sums, run_variance=variance)


def _rows(figure: FigureSums, other: FigureSums) -> list[int] | None:
    """Return where the pages of a figure are in another; None if it has not all of them."""
    place: Mapping[str, int] = {sample: k for k, sample in enumerate(other.samples)}
    return [place[s] for s in figure.samples] if set(figure.samples) <= place.keys() else None


def run_variance(figure: FigureSums, parses: Sequence[Floats]) -> RunVariance:
    """Return the variance of the mean over parses (pages, quantities) beyond independent errors of documents.

    The statistic is taken as linear around the mean of the totals.
    """
    totals = np.mean([parse.sum(axis=0) for parse in parses], axis=0)
    steps = np.diag(_STEP * np.maximum(np.abs(totals), 1.0))
    slope = (figure.statistic(totals + steps) - figure.statistic(totals - steps)) / (2 * np.diag(steps))
    if not np.all(np.isfinite(slope)):
        return RunVariance()
    added = np.stack([sum_by_cluster(parse, figure.documents)[0] @ slope for parse in parses])
    between, within = added.sum(axis=1).var(ddof=1), added.var(axis=0, ddof=1).sum()
    return RunVariance(max(float(between - within), 0.0) / len(parses), len(parses) - 1)
