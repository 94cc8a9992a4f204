"""How much slower, or larger, a parser has become: ratios over pages, with the noise between two runs.

The pages of a run share its machine and its hour, so a ratio is not as certain as its spread over pages says.
Parsers that are the same in both runs (equal fingerprint and versions) show what the machine did: they are
found, and their ratio is taken out. Without any, an allowance for the noise between two runs is added. Where
both versions can be installed here they are timed again, page by page in turns, and what the machine does
hits both alike. All allowances are above what `bench/timing.py` measures with several parsers: see
docs/how-to/gate.md.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.errors import ParsemarkError, ParserError
from parsemark.parsers import Parser, get_parser
from parsemark.parsers.releases import at_version, last_line, own_package
from parsemark.parsers.trial import require_usable
from parsemark.parsers.worker_limits import limited_session
from parsemark.plain_words import counted
from parsemark.stats.intervals import t_quantile
from parsemark.store import Run

ALPHA = 0.05
MIN_PAGES = 5  # fewer pages say nothing about speed
RUN_NOISE = 0.10
"""Standard deviation of the logarithm of the ratio of two runs of one parser on one kind of machine.
Within a quarter of an hour it is .01 to .03; hours and days apart are not measured."""
HARDWARE_NOISE = 0.40  # the same between different kinds of machines
REFERENCE_NOISE = 0.09  # the same after the ratio of parsers that did not change has been taken out
TURNS_NOISE = 0.04  # the same of two sides that are timed in turns
TURNS = 3  # how often each page is timed on each side
_TIMEOUT_S = 300.0
_HARDWARE = ("machine", "cpu", "cpus")


@dataclass(frozen=True, slots=True)
class Ratio:
    """New to old: the geometric mean over pages, and what it is at least (95 %, one-sided)."""

    value: float
    low: float


@dataclass(frozen=True, slots=True)
class Timing:
    """How two runs were timed."""

    is_same_hardware: bool = True
    references: tuple[str, ...] = ()  # parsers that are the same in both runs: what changed is the machine's
    note: str = ""
    again: Mapping[str, Ratio] = field(default_factory=dict)  # ratios of CPU time, timed in turns

    @property
    def noise(self) -> float:
        """Return the noise between runs, as a standard deviation of the logarithm."""
        if self.references:
            return REFERENCE_NOISE
        return RUN_NOISE if self.is_same_hardware else HARDWARE_NOISE


def timing_between(old: Run, new: Run) -> Timing:
    """Say how far times of two runs can be compared, and find the parsers that are the same in both. A script
    is none: it may import what its fingerprint does not see.
    """
    before, now = old.manifest, new.manifest
    known = [key for key in _HARDWARE if key in before.machine and key in now.machine]
    differ = [key for key in known if before.machine[key] != now.machine[key]]
    references = tuple(
        entry.name
        for entry in now.parsers
        if (was := before.parser(entry.name)) is not None
        and entry.spec is None
        and not entry.fingerprint.startswith("imported")
        and (entry.fingerprint, entry.versions) == (was.fingerprint, was.versions)
    )
    if references:
        note = f"Time and memory are relative to {', '.join(references)}, unchanged in both runs."
    elif differ:
        told = "; ".join(f"{key} {before.machine[key]} and {now.machine[key]}" for key in differ)
        least = math.exp(1.64 * HARDWARE_NOISE)
        note = (
            f"The runs are from different machines ({told}): only ratios over about {least:.1f} are "
            "detectable. Run an unchanged parser in both runs to compare times relative to it."
        )
    else:
        note = (
            f"Two runs of one parser differ by about {RUN_NOISE:.0%} in time; the bound allows for that. For "
            "a narrower bound, include an unchanged parser in both runs."
        )
    return Timing(not differ, references, note)


def time_ratio(
    old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str, timing: Timing
) -> Ratio | None:
    """Compare a column of `parses` page by page; None where too few pages were measured in both."""
    if column == "cpu_s" and parser in timing.again:
        return timing.again[parser]
    values = _log_ratios(old, new, parser, column)
    if len(values) < MIN_PAGES:
        return None
    shift, error = _machine_shift(old, new, parser, column, timing)
    noise = timing.noise if shift is not None or not timing.references else RUN_NOISE
    return _bounded(float(values.mean()) - (shift or 0.0), values, math.hypot(noise, error))


def slower_pages(
    old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str, timing: Timing
) -> tuple[str, ...]:
    """Return the pages that take longer than before, the largest increase relative to the machine's first."""
    shift = math.exp(_machine_shift(old, new, parser, column, timing)[0] or 0.0)
    unit, digits = ("s", 3) if column == "cpu_s" else ("MB", 0)
    rows = [(now / before / shift, s, before, now) for s, before, now in _measured(old, new, parser, column)]
    return tuple(
        f"{s}: {before:,.{digits}f} {unit} → {now:,.{digits}f} {unit} ({ratio:.2f} ×)"
        for ratio, s, before, now in sorted(rows, key=lambda row: (-row[0], row[1]))
        if ratio > 1
    )


def _machine_shift(
    old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str, timing: Timing
) -> tuple[float | None, float]:
    """Return the mean logarithm by which other parsers changed that are the same in both runs, and its
    standard error; None where there is none.
    """
    found = (_log_ratios(old, new, name, column) for name in timing.references if name != parser)
    others = [other for other in found if len(other) >= MIN_PAGES]
    if not others:
        return None, 0.0
    shifts = [float(other.mean()) for other in others]
    error = math.sqrt(sum(other.var(ddof=1) / len(other) for other in others)) / len(others)
    spread = float(np.std(shifts, ddof=1)) if len(shifts) > 1 else 0.0  # on an unquiet machine they disagree
    return float(np.mean(shifts)), math.hypot(error, spread)


def _bounded(mean: float, values: NDArray[np.float64], noise: float) -> Ratio:
    error = math.hypot(float(values.std(ddof=1)) / math.sqrt(len(values)), noise)
    reach = t_quantile(1 - 2 * ALPHA, len(values) - 1) * error
    return Ratio(math.exp(mean), math.exp(mean - reach))


def timed_again(old: Run, new: Run, parsers: Sequence[str], n_pages: int, timing: Timing) -> Timing:
    """Return time both versions of parsers here, in turns on pages of the new run; say what could not be
    timed.
    """
    pages = [
        (Path(pdf), number)
        for pdf, number in new.table("samples").select("pdf", "page_number").iter_rows()
        if pdf and Path(pdf).is_file()
    ][:n_pages]
    entries = {entry.name: entry for entry in old.manifest.parsers}
    checked = {entry.name: entry for entry in new.manifest.parsers}
    found, notes = dict[str, Ratio](), list[str]()
    for name in parsers:
        try:
            now = get_parser(checked[name].spec or name)
            package = own_package(now).name
            if (version := entries[name].versions.get(package)) is None:
                raise ParserError(f"the old run has no version; declare it: serve(…, versions=[{package!r}])")
            found[name] = time_in_turns(at_version(now, version), now, pages)
        except ParsemarkError as error:
            notes.append(f"{name} was not timed again ({last_line(error)}): recorded times are compared.")
        else:
            notes.append(f"{name}@{version} and {name} were timed here, in turns on {len(pages)} pages.")
            if now.fingerprint != checked[name].fingerprint:
                notes.append(f"{name} has changed since the new run: the current version was timed.")
    recorded = [timing.note] if timing.note and len(found) < len(parsers) else []
    return replace(timing, again=found, note=" ".join([*recorded, *notes]))


def time_in_turns(old: Parser, new: Parser, pages: Sequence[tuple[Path, int]]) -> Ratio:
    """Compare the CPU time of two parsers on pages that they read in turns (old, new, new, old). ParserError
    if one of them cannot be installed or started, or too few pages were read by both.
    """
    for parser in (old, new):
        require_usable(parser)
        parser.install()
    ratios = []
    with limited_session(old.command()) as first, limited_session(new.command()) as second:
        sides = ((first, old), (second, new))
        for turn, (pdf, page) in enumerate(pages):
            spent: list[list[float]] = [[], []]
            for again in range(TURNS + (turn == 0)):
                for side in (0, 1) if (turn + again) % 2 else (1, 0):
                    session, parser = sides[side]
                    answer = session.ask(str(pdf.resolve()), page, parser.options, timeout_s=_TIMEOUT_S)
                    if answer.cpu_s and answer.output is not None and (turn or again):  # the first warms up
                        spent[side].append(answer.cpu_s)
            if all(len(times) == TURNS for times in spent):
                ratios.append(float(np.mean(np.log(spent[1])) - np.mean(np.log(spent[0]))))
    if len(ratios) < MIN_PAGES:
        asked = f"{len(ratios)} of {counted(len(pages), 'page')} that were asked for"
        raise ParserError(f"both versions parsed {asked}; at least {MIN_PAGES} are needed")
    values = np.array(ratios)
    return _bounded(float(values.mean()), values, TURNS_NOISE)


def _log_ratios(old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str) -> NDArray[np.float64]:
    return np.array([math.log(now / before) for _, before, now in _measured(old, new, parser, column)])


def _measured(
    old: pl.DataFrame, new: pl.DataFrame, parser: str, column: str
) -> Iterator[tuple[str, float, float]]:
    """Return pages on which both runs measured something: their ids, and what they measured."""
    sides = [frame.filter(pl.col("parser") == parser).select("sample", column) for frame in (old, new)]
    both = sides[0].join(sides[1], on="sample", suffix="_new").drop_nulls()
    return both.filter((pl.col(column) > 0) & (pl.col(f"{column}_new") > 0)).iter_rows()
