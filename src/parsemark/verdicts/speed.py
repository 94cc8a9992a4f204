"""How much slower, or larger, a parser has become: ratios over pages, with the noise between two runs.

The pages of a run share its machine and its hour, so a ratio is not as certain as its spread over pages says.
Parsers that are the same in both runs (equal fingerprint and versions) show what the machine did: their ratio
is taken out. Without any, an allowance for the noise between two runs is added; it is assumed, not measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from parsemark.store import Run

ALPHA = 0.05
MIN_PAGES = 5
"""Fewer pages say nothing about speed."""
RUN_NOISE = 0.10
"""Standard deviation of the logarithm of the ratio of two runs of one parser on one kind of machine."""
HARDWARE_NOISE = 0.40
"""The same between different kinds of machines."""
REFERENCE_NOISE = 0.05
"""The same after the ratio of parsers that did not change has been taken out."""
_HARDWARE = ("machine", "cpu", "cpus")


@dataclass(frozen=True, slots=True)
class Timing:
    """How two runs were timed."""

    is_same_hardware: bool = True
    references: tuple[str, ...] = ()
    """Parsers that are the same in both runs, and are not those that are checked."""
    note: str = ""

    @property
    def noise(self) -> float:
        """Between runs, as a standard deviation of the logarithm."""
        if self.references:
            return REFERENCE_NOISE
        return RUN_NOISE if self.is_same_hardware else HARDWARE_NOISE


@dataclass(frozen=True, slots=True)
class Ratio:
    """New to old: the geometric mean over pages, and what it is at least (95 %, one-sided)."""

    value: float
    low: float


def timing_between(old: Run, new: Run, checked: Sequence[str]) -> Timing:
    """Say how far times of two runs can be compared."""
    before, now = old.manifest, new.manifest
    known = [key for key in _HARDWARE if key in before.machine and key in now.machine]
    differ = [key for key in known if before.machine[key] != now.machine[key]]
    entries = {entry.name: entry for entry in before.parsers}
    same = [
        entry.name
        for entry in now.parsers
        if entry.name in entries
        and entry.name not in checked
        and not entry.fingerprint.startswith("imported")
        and (entry.fingerprint, entry.versions)
        == (entries[entry.name].fingerprint, entries[entry.name].versions)
    ]
    references = tuple(same)
    if references:
        note = f"Time and memory are relative to {', '.join(references)}, unchanged in both runs."
    elif differ:
        told = "; ".join(f"{key} {before.machine[key]} and {now.machine[key]}" for key in differ)
        least = math.exp(1.64 * HARDWARE_NOISE)
        note = (
            f"The runs are of different machines ({told}): only a ratio over about {least:.1f} shows. Run an "
            "unchanged parser beside yours in both, and times are compared relative to it."
        )
    else:
        note = (
            f"Two runs of one parser differ by about {RUN_NOISE:.0%} in time; the bound allows for that. An "
            "unchanged parser beside yours in both runs makes it narrower."
        )
    return Timing(not differ, references, note)


def time_ratio(
    old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str, timing: Timing
) -> Ratio | None:
    """Compare a column of `parses` page by page; None where too few pages were measured in both."""
    own = _log_ratios(old, new, parser, column)
    if len(own) < MIN_PAGES:
        return None
    values = np.array(list(own.values()))
    shifts = [
        float(np.mean(list(other.values())))
        for name in timing.references
        if len(other := _log_ratios(old, new, name, column)) >= MIN_PAGES
    ]
    mean = float(values.mean()) - (float(np.mean(shifts)) if shifts else 0.0)
    noise = timing.noise if shifts or not timing.references else RUN_NOISE
    error = math.hypot(float(values.std(ddof=1)) / math.sqrt(len(values)), noise)
    reach = float(stats.t.ppf(1 - ALPHA, len(values) - 1)) * error
    return Ratio(math.exp(mean), math.exp(mean - reach))


def _log_ratios(old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str) -> Mapping[str, float]:
    sides = [frame.filter(pl.col("parser") == parser).select("sample", column) for frame in (old, new)]
    both = sides[0].join(sides[1], on="sample", suffix="_new").drop_nulls()
    measured = both.filter((pl.col(column) > 0) & (pl.col(f"{column}_new") > 0))
    return {sample: math.log(now / before) for sample, before, now in measured.iter_rows()}
