"""Estimates a figure over all pages from few labels and many guesses, in the form that `bench` uses.

Every page has a guess of its score (a proxy that needs no truth), some have a label (the score itself). With
λ the power of the guesses (0: ignored, 1: taken at their word), prediction-powered inference estimates

    figure = figure of the labelled pages + λ · (mean guess of all pages − mean guess of the labelled pages)

where labelled pages are weighted by the inverse of the probability with which each was chosen (Angelopoulos,
Duchi and Zrnic 2023, "PPI++"; Zrnic and Candès 2024, "Active statistical inference"). λ is chosen to make the
variance least, so bad guesses do no harm beyond λ's own estimation.

The result is a `FigureSums`: intervals, verdicts and places are made by the same functions as those of a
leaderboard. With all pages labelled it is the figure itself.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from parsemark.protocols.run_scores.sums import FigureSums, Floats
from parsemark.stats.detection import ratio
from parsemark.stats.intervals import influence
from parsemark.store.run_tables import Places

SHRINKAGE = 2.0  # how many pages' worth of doubt λ starts with: few labels use the guesses cautiously


def estimated_figure(
    figure: FigureSums, places: Places, chances: Floats, guesses: Mapping[str, Floats]
) -> FigureSums:
    """Return the figure over all pages (`places`), estimated from those that it has, which are the labelled
    ones.

    `chances`: how likely each of all pages was to be labelled; `guesses`: by parser, of each page what it
    adds to the figure (see `centred`). Both follow the order of `places`.
    """
    position = {sample: k for k, sample in enumerate(places.samples)}
    labelled = np.array([position[sample] for sample in figure.samples], dtype=int)
    if len(labelled) == len(position):
        return figure
    weights = np.zeros(len(position))
    weights[labelled] = 1.0 / chances[labelled]
    weights *= len(labelled) / weights.sum()
    sums: dict[str, Floats] = {}
    for parser, pages in figure.sums.items():
        own = pages * weights[labelled, None]
        added = np.nan_to_num(influence(own, figure.statistic)) * len(labelled) / weights[labelled]
        x = guesses[parser] * power(added, guesses[parser][labelled], guesses[parser], weights[labelled])
        rows = np.zeros((len(position), pages.shape[1] + 2))
        rows[labelled, :-2] = own
        # Their quotient is how much the guesses move the figure.
        rows[:, -2] = len(labelled) * x / len(x) - weights * x
        rows[:, -1] = weights
        sums[parser] = rows
    top = np.inf if figure.info.top is None else figure.info.top

    def statistic(totals: Floats) -> Floats:
        moved = figure.statistic(totals[..., :-2]) + ratio(totals[..., -2], totals[..., -1])
        return np.clip(moved, 0.0, top)

    documents = _hosts(places, frozenset(labelled.tolist()))
    first = {document: k for k, document in reversed(list(enumerate(places.documents)))}
    division = places.division and dataclasses.replace(
        places.division, types=tuple(places.division.types[first[d]] for d in documents)
    )
    return dataclasses.replace(
        figure,
        samples=places.samples,
        documents=documents,
        sums=sums,
        statistic=statistic,
        division=division,
    )


def centred(guesses: Floats, sizes: Floats) -> Floats:
    """Return the contributions of pages with guessed scores to a figure that weights them by size; the sum is
    0.
    """
    if not sizes.any():
        return np.zeros(len(guesses))
    return np.asarray(sizes * (guesses - np.average(guesses, weights=sizes)) / sizes.mean())


def power(labels: Floats, own: Floats, guesses: Floats, weights: Floats) -> float:
    """Return λ of least variance: the slope of labels on guesses, between 0 and 1, shrunk when labels are
    few.
    """
    deviations = own - np.average(own, weights=weights)
    covariance = float(
        np.average(deviations * (labels - np.average(labels, weights=weights)), weights=weights)
    )
    variance = max(float(np.average(deviations**2, weights=weights)), float(guesses.var()))
    if variance <= 1e-12:
        return 0.0
    n = len(labels)
    return float(np.clip(covariance / variance, 0.0, 1.0)) * n / (n + SHRINKAGE)


def _hosts(places: Places, labelled: frozenset[int]) -> tuple[str, ...]:
    """Return the documents of pages, where those without a label are counted with labelled ones, of the same
    type where there are such: intervals must know how few labelled documents are sampled.
    """
    types = places.division.types if places.division else ("",) * len(places.documents)
    type_of = dict(zip(places.documents, types, strict=True))
    with_labels = list(dict.fromkeys(places.documents[k] for k in sorted(labelled)))
    host = {document: document for document in with_labels}
    same: dict[str, list[str]] = {}
    for document in with_labels:
        same.setdefault(type_of[document], []).append(document)
    for turn, document in enumerate(d for d in dict.fromkeys(places.documents) if d not in host):
        choices = same.get(type_of[document], with_labels)
        host[document] = choices[turn % len(choices)]
    return tuple(host[document] for document in places.documents)
