"""Which pairs a metric was made with: there its figure flatters.

`fitted_on.txt` has a fingerprint of each truth whose ratings a metric was fitted to. It is the truth that
counts, not the pair: another extraction of a table that the metric knows is no new table. A user's own pairs
are in none of them.
"""

import hashlib
from functools import cache
from importlib.resources import files


def fingerprint(truth: str) -> str:
    """Return the fingerprint of a truth, whatever its white space."""
    return hashlib.sha256("".join(truth.split()).encode("utf-8", "replace")).hexdigest()[:16]


def in_sample(metric: str, truth: str) -> bool:
    """Return whether a metric (or its spec) was fitted to ratings of this truth."""
    return fingerprint(truth) in _fitted_on().get(metric.partition("(")[0], frozenset())


@cache
def _fitted_on() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in files("parsemark.study").joinpath("fitted_on.txt").read_text("utf-8").splitlines():
        metric, _, truth = line.partition(" ")
        found.setdefault(metric, set()).add(truth)
    return {metric: frozenset(truths) for metric, truths in found.items()}
