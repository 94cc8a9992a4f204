"""A gate for continuous integration: is the new run good enough, and no worse than the old one?

Each check has a name, what was found, what was allowed, and whether it passed. A drop is judged in two ways:
by its interval (the verdict of `compare`: worse beyond chance) and, where that is wanted, by its plain size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from parsemark.compare.comparison import (
    Comparison,
    compare_sides,
    require_comparable,
    require_same_corpus,
    require_same_pages,
)
from parsemark.errors import UsageError
from parsemark.model import Status
from parsemark.plain_words import one_line, rounded, signed, signed_interval
from parsemark.protocols import FigureInfo, Summary, get_protocol
from parsemark.protocols.broken import broken_pages
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.run_tables import RunTables
from parsemark.store import Run
from parsemark.system.files import make_folder, write_bytes

SHOWN_PAGES = 5
ALPHA = 0.05
_MIN_PAGES_TIMED = 5
"""Fewer pages say nothing about speed."""
_COMPARISON = "comparison with the old run"
_BEYOND_CHANCE = "no drop beyond chance"
_PLAIN = "plain drop"


@dataclass(frozen=True)
class GateLimits:
    """What is allowed. None: not checked."""

    minimum: Mapping[str, float] = field(default_factory=dict)
    """Figure to the least value, checked on the new run alone."""
    max_drop: float | None = None
    """Of the primary figure, whatever chance says."""
    interval: bool = True
    """Whether a drop beyond chance fails, however small."""
    max_failures: int | None = 0
    """Pages that fail now and did not before; without an old run, all that fail."""
    max_slowdown: float | None = None
    """Ratio of CPU time per page, new to old."""
    max_memory: float | None = None
    """Ratio of peak memory, new to old."""

    def __post_init__(self) -> None:
        ratios = {"max_drop": self.max_drop, "max_slowdown": self.max_slowdown, "max_memory": self.max_memory}
        for name, value in {**self.minimum, **ratios}.items():
            if value is not None and math.isnan(value):
                raise UsageError(f"The limit of {name} is no number, so nothing could be held against it.")


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One thing that was looked at."""

    parser: str
    name: str
    passed: bool
    found: str
    allowed: str
    pages: tuple[str, ...] = ()
    """What got worse, each page with the reason."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """One thing that was asked for and could not be looked at."""

    parser: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.parser}: {self.name} was not checked, since {self.why}."


@dataclass(frozen=True, slots=True)
class GateResult:
    """All checks of a gate."""

    checks: tuple[GateCheck, ...]
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    """Nobody may take a limit for kept that was not looked at."""

    @property
    def passed(self) -> bool:
        """Whether all did."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> list[GateCheck]:
        """Those that did not."""
        return [check for check in self.checks if not check.passed]


@dataclass(frozen=True)
class GateSide:
    """One run as far as a gate looks at it."""

    summary: Summary
    tables: RunTables

    @classmethod
    def of(cls, run: Run, protocol: str | None) -> GateSide:
        """Read it."""
        summary = run.summary(protocol)
        return cls(summary, run.run_tables(summary.protocol))


def gate_runs(
    new: Run,
    old: Run | None,
    limits: GateLimits,
    *,
    parsers: Sequence[str] | None = None,
    protocol: str | None = None,
) -> GateResult:
    """Check a run, against an older one if there is one.

    Raises:
        UsageError: The runs are of different corpora, pages, or protocol versions, or share no parser.
    """
    side = GateSide.of(new, protocol)
    chosen = _chosen(side, parsers, new.path)
    recipe = get_protocol(side.summary.protocol)
    if old is None:
        wanted = [*([_PLAIN] if limits.max_drop is not None else []), *_titles(limits)]
        skipped = [Skipped(p, name, "there is no old run") for p in chosen for name in wanted]
        notes = [_figures_of(side.summary), *map(str, skipped)]
        return GateResult(tuple(check_alone(side, limits, chosen)), tuple(notes), tuple(skipped))
    require_same_corpus(old, new)
    before = GateSide.of(old, side.summary.protocol)
    missing = [p for p in chosen if p not in before.tables.parsers]
    shared = [p for p in chosen if p not in missing]
    if not shared:
        raise UsageError(f"{old.path} and {new.path} share no parser, so there is nothing to compare.")
    notes = [_figures_of(side.summary)]
    notes += [f"{p} is not in the old run: only its own limits were checked." for p in missing]
    gone = [p for p in before.tables.parsers if p not in side.tables.parsers]
    notes += [f"{p} is in the old run but not in the new one." for p in gone]
    skipped = [Skipped(p, _COMPARISON, "the parser is not in the old run") for p in missing]
    skipped += [Skipped(p, _COMPARISON, "the parser is not in the new run") for p in gone]
    timed = old.manifest.machine == new.manifest.machine
    if not timed and _titles(limits):
        notes.append("Time and memory were not compared: the runs are of different machines.")
        why = "the runs are of different machines"
        skipped += [Skipped(p, title, why) for p in shared for title in _titles(limits)]
    alone = check_alone(side, limits, missing)
    require_same_pages(before.tables, side.tables)
    try:
        require_comparable(before.summary, side.summary)
    except UsageError as error:
        # A parser that fails everywhere may change how a run is matched. That is a failure, and said as one.
        failing = _new_failures(before, side, limits, shared)
        if all(check.passed for check in failing):
            raise
        skipped += [Skipped(p, _COMPARISON, str(error).rstrip(".")) for p in shared]
        return GateResult((*alone, *failing), (*notes, str(error)), tuple(skipped))
    against = check_against(recipe, before, side, limits, shared, timed=timed)
    unmeasured = _not_checked(against, side.summary, limits, shared, timed=timed)
    skipped += unmeasured
    notes += map(str, unmeasured)
    return GateResult((*alone, *against), tuple(notes), tuple(skipped))


def check_alone(side: GateSide, limits: GateLimits, parsers: Sequence[str]) -> list[GateCheck]:
    """What can be checked on one run."""
    checks: list[GateCheck] = []
    for parser in parsers:
        checks += _minimum(side, limits, parser)
        if limits.max_failures is not None:
            failing = _failing(side.tables, parser)
            checks.append(_failures(parser, sorted(failing), limits.max_failures, failing))
    return checks


def check_against(
    recipe: PageProtocol,
    old: GateSide,
    new: GateSide,
    limits: GateLimits,
    parsers: Sequence[str],
    *,
    timed: bool = True,
) -> list[GateCheck]:
    """What can be checked between two runs of the same pages."""
    require_comparable(old.summary, new.summary)
    require_same_pages(old.tables, new.tables)
    compared = compare_sides(recipe, (old.summary, old.tables), (new.summary, new.tables), parsers)
    checks: list[GateCheck] = []
    for parser, comparison in zip(parsers, compared, strict=True):
        checks += _minimum(new, limits, parser)
        checks += _drop(old, new, limits, parser, comparison)
        checks += _new_failures(old, new, limits, [parser])
        for column, title, allowed in _measured(limits) if timed else ():
            checks += _ratio(old, new, parser, column, title, allowed)
    return checks


def _measured(limits: GateLimits) -> list[tuple[str, str, float]]:
    """Column, name and limit of each ratio that is to be checked."""
    wanted = (
        ("cpu_s", "CPU time", limits.max_slowdown),
        ("peak_memory_mb", "peak memory", limits.max_memory),
    )
    return [(column, title, allowed) for column, title, allowed in wanted if allowed is not None]


def _titles(limits: GateLimits) -> list[str]:
    return [title for _, title, _ in _measured(limits)]


def _drop_names(info: FigureInfo, limits: GateLimits) -> list[str]:
    """The checks of the primary figure that are wanted."""
    wanted = ((limits.interval, _BEYOND_CHANCE), (limits.max_drop is not None, _PLAIN))
    return [f"{info.label}: {name}" for is_wanted, name in wanted if is_wanted]


def _not_checked(
    checks: Iterable[GateCheck],
    summary: Summary,
    limits: GateLimits,
    parsers: Sequence[str],
    *,
    timed: bool,
) -> list[Skipped]:
    """What was to be looked at and could not: figures that a run does not define, too few pages measured."""
    done = {(check.parser, check.name) for check in checks}
    info = summary.info(summary.primary)
    undefined = f"{info.label} is not defined in both runs"
    too_few = f"fewer than {_MIN_PAGES_TIMED} pages have it in both runs"
    wanted = [(name, undefined) for name in _drop_names(info, limits)]
    wanted += [(title, too_few) for title in _titles(limits)] if timed else []
    return [
        Skipped(parser, name, why) for parser in parsers for name, why in wanted if (parser, name) not in done
    ]


def _figures_of(summary: Summary) -> str:
    """Which protocol the figures are of, and by which rule they were matched."""
    rule = summary.settings.get("match")
    return f"Figures of {summary.protocol}" + (f", matched by {rule}." if rule else ".")


def save_baseline(run: Run, folder: Path) -> Path:
    """Copy what a gate needs of a run into a folder that can be kept in a repository: no raw outputs."""
    make_folder(folder)
    wanted = [run.path / "manifest.json", run.path / "samples.parquet", run.path / "parses.parquet"]
    for spec in run.protocols:
        inside = run.protocol_folder(spec)
        wanted += [inside / name for name in ("summary.json", "matches.parquet", "scores.parquet")]
    for path in wanted:
        target = path.relative_to(run.path)
        make_folder(folder, *target.parent.parts)
        write_bytes(folder / target, path.read_bytes())
    return folder


def _chosen(side: GateSide, parsers: Sequence[str] | None, where: Path) -> list[str]:
    known = side.tables.parsers
    for name in parsers or ():
        if name not in known:
            raise UsageError(f"{where} has no parser {name!r}; it has: {', '.join(known)}.")
    return list(parsers or known)


def _minimum(side: GateSide, limits: GateLimits, parser: str) -> Iterable[GateCheck]:
    for figure, least in limits.minimum.items():
        known = side.summary.figure(parser, figure)
        if known is None and figure not in {info.name for info in side.summary.figures}:
            names = ", ".join(info.name for info in side.summary.shown())
            raise UsageError(f"There is no figure {figure!r} in {side.summary.protocol}; there are: {names}.")
        value = None if known is None else known.value
        info = side.summary.info(figure)
        good = value is not None and (value >= least if info.higher_is_better else value <= least)
        sign = "≥" if info.higher_is_better else "≤"
        yield GateCheck(parser, f"{figure} {sign} {least:g}", good, rounded(value), f"{sign} {least:g}")


def _drop(
    old: GateSide, new: GateSide, limits: GateLimits, parser: str, comparison: Comparison
) -> Iterable[GateCheck]:
    verdict, gain = comparison.primary, comparison.gain
    if gain is None:  # nothing to compare, which the result says
        return
    info = comparison.info(verdict.figure)
    interval = ""
    if verdict.low is not None and verdict.high is not None:
        interval = f" ({signed_interval(verdict.low, verdict.high)})"
    found = f"{rounded(verdict.value_b)} → {rounded(verdict.value_a)}, {signed(verdict.difference)}{interval}"
    pages = _reasons(old.tables, new.tables, parser, comparison, new.summary.settings)
    if limits.interval:
        worse = verdict.state == "worse"
        yield GateCheck(
            parser, f"{info.label}: {_BEYOND_CHANCE}", not worse, found, "not worse", pages if worse else ()
        )
    if limits.max_drop is not None:
        fell = gain < -limits.max_drop
        allowed = f"≥ {0 - limits.max_drop:g}" if info.higher_is_better else f"≤ {limits.max_drop:g}"
        yield GateCheck(parser, f"{info.label}: {_PLAIN}", not fell, found, allowed, pages if fell else ())


def _failing(tables: RunTables, parser: str) -> dict[str, str]:
    """Pages without an answer, and pages on which the protocol itself broke."""
    rows = tables.parses.filter((pl.col("parser") == parser) & (pl.col("status") != "ok"))
    broken = broken_pages(tables).get(parser, {})
    return {sample: f"{Status.METRIC_FAILED}: {one_line(why)}" for sample, why in broken.items()} | {
        row["sample"]: f"{row['status']}: {one_line(row['error'])}" if row["error"] else row["status"]
        for row in rows.select("sample", "status", "error").iter_rows(named=True)
    }


def _new_failures(
    old: GateSide, new: GateSide, limits: GateLimits, parsers: Sequence[str]
) -> list[GateCheck]:
    """Pages that fail now and did not before."""
    if limits.max_failures is None:
        return []
    checks = []
    for parser in parsers:
        before, now = _failing(old.tables, parser), _failing(new.tables, parser)
        checks.append(_failures(parser, sorted(set(now) - set(before)), limits.max_failures, now))
    return checks


def _failures(parser: str, samples: Sequence[str], allowed: int, why: Mapping[str, str]) -> GateCheck:
    listed = tuple(f"{sample}: {why[sample]}" for sample in samples[:SHOWN_PAGES])
    return GateCheck(
        parser, "failing pages", len(samples) <= allowed, str(len(samples)), f"≤ {allowed}", listed
    )


def _ratio(
    old: GateSide, new: GateSide, parser: str, column: str, title: str, allowed: float
) -> list[GateCheck]:
    """The geometric mean over pages of new to old; it fails if it is over the limit beyond chance.

    No check where too few pages were measured in both.
    """
    own = pl.col("parser") == parser
    before = old.tables.parses.filter(own).select("sample", pl.col(column).alias("before"))
    now = new.tables.parses.filter(own).select("sample", pl.col(column).alias("now"))
    both = before.join(now, on="sample").drop_nulls().filter((pl.col("before") > 0) & (pl.col("now") > 0))
    if len(both) < _MIN_PAGES_TIMED:
        return []
    ratios = np.log(both["now"].to_numpy() / both["before"].to_numpy())
    mean, error = float(ratios.mean()), float(ratios.std(ddof=1) / math.sqrt(len(ratios)))
    reach = float(stats.t.ppf(1 - ALPHA, len(ratios) - 1)) * error
    low = math.exp(mean - reach)
    passed = not (math.exp(mean) > allowed and low > 1.0)
    found = f"{math.exp(mean):.2f} × (at least {low:.2f})"
    return [GateCheck(parser, title, passed, found, f"≤ {allowed:g} ×")]


def _reasons(
    old: RunTables, new: RunTables, parser: str, comparison: Comparison, settings: Mapping[str, str]
) -> tuple[str, ...]:
    """The pages that lost most, each with what changed in its matches or its status."""
    failing = _failing(new, parser)
    higher = comparison.info(comparison.primary.figure).higher_is_better
    lost = [p for p in comparison.pages if (p.difference < 0) == higher]
    lines = []
    for page in lost[:SHOWN_PAGES]:
        why = failing.get(page.sample) or _changed_matches(old, new, parser, page.sample, settings)
        lines.append(f"{page.sample}: {rounded(page.b)} → {rounded(page.a)}, {why}")
    return tuple(lines)


def _changed_matches(
    old: RunTables, new: RunTables, parser: str, sample: str, settings: Mapping[str, str]
) -> str:
    """What became of a page's matches; only where all stayed are lower scores the reason."""
    rule, theta = settings.get("match"), settings.get("theta")
    if rule not in set(new.matches["rule"].unique()):  # `match` may also name an option of the recipe
        rule = None

    def matches(tables: RunTables) -> pl.DataFrame:
        rows = tables.matches.filter((pl.col("parser") == parser) & (pl.col("sample") == sample))
        return rows if rule is None else rows.filter(pl.col("rule") == rule)

    rows_before, rows_now = matches(old), matches(new)
    before, now = Counter(rows_before["kind"]), Counter(rows_now["kind"])
    partly = [] if theta is None else _found_partly(rows_before, rows_now, float(theta))
    changed = [
        f"{kind} {before[kind]} → {now[kind]}" for kind in sorted(before | now) if before[kind] != now[kind]
    ]
    return ", ".join([*changed, *partly]) or "same matches, lower scores"


def _found_partly(before: pl.DataFrame, now: pl.DataFrame, theta: float) -> list[str]:
    """Truths that still have an answer, which no longer overlaps enough to count as found."""

    def overlaps(rows: pl.DataFrame) -> dict[tuple[str, ...], float]:
        known = rows.filter(pl.col("overlap").is_not_null() & (pl.col("pred").list.len() > 0))
        return {tuple(truth): overlap for truth, overlap in known.select("truth", "overlap").iter_rows()}

    earlier = overlaps(before)
    lost = [o for truth, o in overlaps(now).items() if truth and o <= theta < earlier.get(truth, 0.0)]
    return [f"found only partly (overlap {o:.3f} ≤ {theta:g}), so counts as missed" for o in sorted(lost)]
