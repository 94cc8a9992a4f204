"""Which pairs a metric was made with: on these its agreement with people flatters.

`fitted_on.txt` has a fingerprint of each truth whose ratings a metric was fitted to. It is the truth that
counts, not the pair: another extraction of a table that the metric knows is no new table. A user's own pairs
are in none of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

_RECORDED = "fitted_on.txt"


def fingerprint(truth: str) -> str:
    """Of a truth, whatever its white space."""
    return hashlib.sha256("".join(truth.split()).encode("utf-8", "replace")).hexdigest()[:16]


def in_sample(metric: str, truth: str) -> bool:
    """Whether a metric (or its spec) was fitted to ratings of this truth."""
    return fingerprint(truth) in _fitted_on().get(metric.partition("(")[0], frozenset())


@cache
def _fitted_on() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in files("parsemark.study").joinpath(_RECORDED).read_text("utf-8").splitlines():
        metric, _, truth = line.partition(" ")
        found.setdefault(metric, set()).add(truth)
    return {metric: frozenset(truths) for metric, truths in found.items()}


def recorded(metric: str, truths: Iterable[str]) -> str:
    """All of `fitted_on.txt` with the truths that a metric was fitted to in place of those it had."""
    entries = {(name, truth) for name, known in _fitted_on().items() if name != metric for truth in known}
    entries |= {(metric, fingerprint(truth)) for truth in truths}
    return "".join(f"{name} {truth}\n" for name, truth in sorted(entries))
