"""Estimates from few labels and many guesses: prediction-powered inference for a finite set of pages.

Every page has a guess of its score (a proxy that needs no truth), some have a label (the score itself). The
mean of the guesses is precise but biased; the labelled pages tell the bias. With λ the power of the guesses
(0: they are ignored, 1: they are taken at their word)

    mean score = λ · mean guess + mean over all pages of (score − λ · guess)

and only the second term is estimated, from the labelled pages, weighted by the inverse of the probability
with which each was chosen (Angelopoulos, Duchi and Zrnic 2023, "PPI++"; Zrnic and Candès 2024, "Active
statistical inference"). λ is chosen to make the variance least, so bad guesses do no harm beyond λ's own
estimation.
Which pages are labelled, and how likely each was, says who asks for labels (`choose.label_order`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.intervals import t_quantile

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SHRINKAGE = 2.0  # how many pages' worth of doubt λ starts with: few labels use the guesses cautiously
MISSING_RESIDUAL = 0.3
"""A residual that is assumed to be missing from every sample, in units of the score. Without it intervals
from 10 labels cover 91 to 93 % instead of 95 (`python -m bench choose`)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over all pages, with its interval."""

    value: float
    low: float
    high: float
    standard_error: float
    n_labels: int
    power: float  # λ: how far the guesses were trusted


def estimate_mean(
    labels: Floats,
    guesses: Floats,
    labelled: Indices,
    inclusion: Floats,
    *,
    alpha: float = 0.05,
    power: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> Estimate:
    """The mean score of all pages, from the scores of the labelled ones and a guess for every page.

    `labelled` are indices, `inclusion` is every page's probability to be labelled, `alpha` one minus the
    coverage of the interval, `power` λ (None for the one that makes the variance least). The interval is cut
    at `bounds`, if known: 0 to 1 for a score, −1 to 1 for a difference of scores.
    """
    n_pages, n_labels = len(guesses), len(labelled)
    if n_labels == 0:
        low, high = bounds or (-np.inf, np.inf)
        return Estimate(float(guesses.mean()), low, high, np.inf, 0, 1.0)
    weights = 1.0 / inclusion[labelled]
    own = guesses[labelled]
    trust = tuned_power(labels, own, guesses, weights) if power is None else power
    residuals = labels - trust * own
    bias = float(np.average(residuals, weights=weights))
    value = trust * float(guesses.mean()) + bias
    # A difference of two scores may lack the rare residual of either.
    width = 1.0 if bounds is None else bounds[1] - bounds[0]
    error = _standard_error(residuals - bias, weights, n_pages, MISSING_RESIDUAL * float(np.sqrt(width)))
    # Mean and λ are both taken from the labels: two degrees of freedom are spent.
    reach = t_quantile(1 - alpha, max(n_labels - 2, 1)) * error
    low, high = value - reach, value + reach
    if bounds is not None:
        value, low, high = (float(np.clip(x, *bounds)) for x in (value, low, high))
    return Estimate(value, low, high, error, n_labels, trust)


def standings(labels: Floats, guesses: Floats, labelled: Indices, inclusion: Floats) -> Floats:
    """Means of several parsers for putting them in order; unlike `estimate_mean` without an interval.

    What the labels say about a parser's guesses (they are .2 too low) is largely the same for all parsers, so
    each parser's correction is drawn towards the mean of them, the further the less the labels tell
    (empirical Bayes). One factor for all: differences of parsers are measured on the same pages, and factors
    of their own would tear these pairs apart. From 5 labels that chooses better than the estimates
    themselves, which are unbiased and noisy (`python -m bench choose`). Labels and guesses are (parsers,
    pages).
    """
    n_labels = len(labelled)
    weights = 1.0 / inclusion[labelled]
    residuals = labels - guesses[:, labelled]
    # What a page does to all parsers says nothing about their order.
    residuals = residuals - residuals.mean(axis=0)
    corrections = np.average(residuals, axis=1, weights=weights)
    scaled = weights * (residuals - corrections[:, None]) / weights.sum()
    noise = float((scaled**2).sum(axis=1).mean()) * n_labels / max(n_labels - 1, 1)
    noise += (MISSING_RESIDUAL / n_labels) ** 2
    spread = max(float(corrections.var()) - noise, 1e-6)
    kept = spread / (spread + noise) if n_labels < guesses.shape[1] else 1.0
    level = float(np.average((labels - guesses[:, labelled]).mean(axis=0), weights=weights))
    return np.asarray(guesses.mean(axis=1) + level + kept * corrections)


def tuned_power(labels: Floats, own: Floats, guesses: Floats, weights: Floats) -> float:
    """λ of least variance: the slope of labels on guesses, between 0 and 1, shrunk when labels are few."""
    centred = own - np.average(own, weights=weights)
    covariance = float(np.average(centred * (labels - np.average(labels, weights=weights)), weights=weights))
    variance = max(float(np.average(centred**2, weights=weights)), float(guesses.var()))
    if variance <= 1e-12:
        return 0.0
    n = len(labels)
    return float(np.clip(covariance / variance, 0.0, 1.0)) * n / (n + SHRINKAGE)


def _standard_error(deviations: Floats, weights: Floats, n_pages: int, missing: float) -> float:
    """Of the weighted mean of residuals, by linearisation, with the correction for a finite set of pages.

    A residual of `missing` is added: a small sample often lacks the rare large one, and an interval
    of no width would be a claim that nobody can make.
    """
    n = len(deviations)
    scaled = weights * deviations / weights.sum()
    spread = float((scaled**2).sum())
    finite = max(1.0 - n / n_pages, 0.0)
    if finite == 0.0:
        return 0.0
    if n == 1:
        return float(np.sqrt(finite * max(spread, 0.25)))
    floor = missing**2 / n**2
    return float(np.sqrt(finite * (n / (n - 1) * spread + floor)))
