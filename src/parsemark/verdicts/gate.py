"""A gate for continuous integration: is the new run good enough, and no worse than the old one?

Each check has a name, the question that it answers, what was found, what was allowed, and whether it passed.
Pages that got worse are listed with their reasons, whether the gate is passed or not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from parsemark.errors import UsageError
from parsemark.model import Status
from parsemark.plain_words import counted, one_line, rounded, signed, signed_interval
from parsemark.protocols import FigureInfo, PageProtocol, RunTables, Summary, get_protocol
from parsemark.protocols.broken import broken_pages
from parsemark.protocols.presentation import ErrorKind
from parsemark.store import Run
from parsemark.system.files import make_folder, write_bytes
from parsemark.verdicts.comparison import (
    Comparison,
    compare_sides,
    require_comparable,
    require_same_corpus,
    require_same_pages,
)
from parsemark.verdicts.errors import (
    ErrorChange,
    changes_of,
    error_changes,
    error_counts,
    match_errors,
    stored_errors,
    write_errors,
)
from parsemark.verdicts.speed import Timing, time_ratio, timed_again, timing_between

SHOWN_PAGES = 5
_TABLE = "table"
_COMPARISON = "comparison with the old run"
_BEYOND_CHANCE = "no drop beyond chance"
_PLAIN = "plain drop"
_LOST = "lost tables"
_PAGE_DROP = "largest drop of a page"
_FAILING = "failing pages"
QUESTIONS = {
    _BEYOND_CHANCE: "would other documents like these show a drop, too? The interval is over documents.",
    _PLAIN: "how far did the figure fall on these very pages? Exact; chance plays no part.",
    _LOST: "which true tables were found before and are not found now? Exact.",
    _PAGE_DROP: "how far did the page fall that fell most? Exact.",
    _FAILING: "which pages fail that did not fail before? Exact.",
    "CPU time": "is it slower than allowed, and slower at all beyond the noise of timing?",
    "peak memory": "does it take more memory than allowed, and more at all beyond the noise?",
}
"""What each check asks, by the end of its name."""


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
    max_lost_tables: int | None = None
    """True tables that were found before and are not found now."""
    max_page_drop: float | None = None
    """Of the primary figure on any single page."""
    max_slowdown: float | None = None
    """Ratio of CPU time per page, new to old."""
    max_memory: float | None = None
    """Ratio of peak memory, new to old."""

    def __post_init__(self) -> None:
        named = ("max_drop", "max_page_drop", "max_slowdown", "max_memory")
        limits = {**self.minimum, **{name: getattr(self, name) for name in named}}
        for name, value in limits.items():
            if value is not None and math.isnan(value):
                raise UsageError(f"The limit of {name} is no number, so nothing could be held against it.")

    @property
    def ratios(self) -> list[tuple[str, str, float]]:
        """Column, name and limit of each ratio that is to be checked."""
        wanted = (
            ("cpu_s", "CPU time", self.max_slowdown),
            ("peak_memory_mb", "peak memory", self.max_memory),
        )
        return [(column, title, allowed) for column, title, allowed in wanted if allowed is not None]

    def needing_both(self, info: FigureInfo) -> list[str]:
        """The names of the checks of the primary figure that are wanted."""
        wanted = (
            (self.interval, f"{info.label}: {_BEYOND_CHANCE}"),
            (self.max_drop is not None, f"{info.label}: {_PLAIN}"),
            (self.max_page_drop is not None, f"{info.label}: {_PAGE_DROP}"),
        )
        return [name for is_wanted, name in wanted if is_wanted]


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

    @property
    def question(self) -> str:
        """What it answers."""
        return next((words for end, words in QUESTIONS.items() if self.name.endswith(end)), "")


@dataclass(frozen=True, slots=True)
class Skipped:
    """One thing that was asked for and could not be looked at."""

    parser: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.parser}: {self.name} was not checked, since {self.why}."


@dataclass(frozen=True, slots=True)
class WorsePage:
    """A page on which a parser earns less than before."""

    parser: str
    sample: str
    old: float
    new: float
    why: str

    def __str__(self) -> str:
        return f"{self.sample}: {rounded(self.old)} → {rounded(self.new)}, {self.why}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """All checks of a gate."""

    checks: tuple[GateCheck, ...]
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    """A limit that was not looked at must not look as if it had been kept."""
    worse: tuple[WorsePage, ...] = ()
    """Every page that got worse, of each parser the largest drop first."""
    errors: Mapping[str, tuple[ErrorChange, ...]] = field(default_factory=dict)
    """Parser to its types of errors, old and new."""

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
    errors: pl.DataFrame | None = None
    """Errors by type and element (`errors.SCHEMA`); None where nobody looked for them."""

    @classmethod
    def of(cls, run: Run, protocol: str | None) -> GateSide:
        """Read a run."""
        summary = run.summary(protocol)
        return cls(summary, run.run_tables(summary.protocol))

    @cached_property
    def theta(self) -> float | None:
        """The overlap from which on a truth counts as found."""
        said = self.summary.settings.get("theta")
        return None if said is None else float(said)

    def found_tables(self, parser: str) -> dict[tuple[str, str], bool]:
        """(sample, truth) of every true table, and whether it is found, under the rule of the leaderboard."""
        rule = self.summary.settings.get("match")
        own = (pl.col("parser") == parser) & (pl.col("category") == _TABLE) & (pl.col("truth").list.len() > 0)
        rows = self.tables.read("matches", "sample", "rule", "truth", "pred", "overlap", where=own)
        if rule in set(rows["rule"]):
            rows = rows.filter(pl.col("rule") == rule)
        found: dict[tuple[str, str], bool] = {}
        for sample, _, truths, pred, overlap in rows.iter_rows():
            is_enough = self.theta is None or overlap is None or overlap > self.theta
            for place, truth in enumerate(truths):
                # Of several truths in one answer only the first one is found by it.
                found[sample, truth] = found.get((sample, truth), False) or bool(
                    pred and is_enough and not place
                )
        return found

    def failing(self, parser: str) -> dict[str, str]:
        """Pages without an answer, and pages on which the protocol itself broke, each with the reason."""
        rows = self.tables.parses.filter((pl.col("parser") == parser) & (pl.col("status") != "ok"))
        broken = broken_pages(self.tables).get(parser, {})
        return {sample: f"{Status.METRIC_FAILED}: {one_line(why)}" for sample, why in broken.items()} | {
            row["sample"]: f"{row['status']}: {one_line(row['error'])}" if row["error"] else row["status"]
            for row in rows.select("sample", "status", "error").iter_rows(named=True)
        }


def gate_runs(
    new: Run,
    old: Run | None,
    limits: GateLimits,
    *,
    parsers: Sequence[str] | None = None,
    protocol: str | None = None,
    time_again: int = 0,
) -> GateResult:
    """Check a run, against an older one if there is one; old and new are timed in turns on some pages.

    Raises:
        UsageError: The new run is a baseline, or the runs are of different corpora, pages, or protocol
            versions, or share no parser.
    """
    if old is not None and new.is_baseline and not old.is_baseline:
        raise UsageError(
            f"{new.path} is a baseline and {old.path} a run: a run is held against a baseline. Exchange "
            "--old and --new."
        )
    side = GateSide.of(new, protocol)
    chosen = _chosen(side, parsers, new.path)
    info = side.summary.info(side.summary.primary)
    notes = [_figures_of(side.summary)]
    if old is None:
        wanted = [name.removeprefix(f"{info.label}: ") for name in limits.needing_both(info)]
        wanted = [name for name in wanted if name != _BEYOND_CHANCE]
        wanted += [_LOST] if limits.max_lost_tables is not None else []
        wanted += [title for _, title, _ in limits.ratios]
        skipped = [Skipped(p, name, "there is no old run") for p in chosen for name in wanted]
        alone = check_alone(side, limits, chosen)
        return GateResult(tuple(alone), (*notes, *map(str, skipped)), tuple(skipped))
    require_same_corpus(old, new)
    before = GateSide.of(old, side.summary.protocol)
    missing = [p for p in chosen if p not in before.tables.parsers]
    shared = [p for p in chosen if p not in missing]
    if not shared:
        raise UsageError(f"{old.path} and {new.path} share no parser, so there is nothing to compare.")
    notes += [f"{p} is not in the old run: only its own limits were checked." for p in missing]
    gone = [p for p in before.tables.parsers if p not in side.tables.parsers]
    notes += [f"{p} is in the old run but not in the new one." for p in gone]
    skipped = [Skipped(p, _COMPARISON, "the parser is not in the old run") for p in missing]
    skipped += [Skipped(p, _COMPARISON, "the parser is not in the new run") for p in gone]
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
    before, side = _with_errors(old, before, shared), _with_errors(new, side, shared)
    timing = timing_between(old, new, shared)
    if time_again and limits.max_slowdown is not None:
        timing = timed_again(old, new, shared, time_again, timing)
    against = check_against(get_protocol(side.summary.protocol), before, side, limits, shared, timing=timing)
    notes += [_same_outputs(before.tables, side.tables, parser) for parser in shared]
    notes += [timing.note] if timing.note and limits.ratios else []
    if before.errors is None:
        notes.append("The baseline has no errors of the insides of tables; save it again to see them.")
    unmeasured = _not_checked(against.checks, info, limits, shared)
    return GateResult(
        (*alone, *against.checks),
        (*notes, *map(str, unmeasured)),
        (*skipped, *unmeasured),
        against.worse,
        against.errors,
    )


def check_alone(side: GateSide, limits: GateLimits, parsers: Sequence[str]) -> list[GateCheck]:
    """Check what can be checked on one run."""
    checks: list[GateCheck] = []
    for parser in parsers:
        checks += _minimum(side, limits, parser)
        if limits.max_failures is not None:
            failing = side.failing(parser)
            checks.append(_failures(parser, sorted(failing), limits.max_failures, failing))
    return checks


def check_against(
    recipe: PageProtocol,
    old: GateSide,
    new: GateSide,
    limits: GateLimits,
    parsers: Sequence[str],
    *,
    timing: Timing | None = None,
) -> GateResult:
    """Check what can be checked between two runs of the same pages."""
    require_comparable(old.summary, new.summary)
    require_same_pages(old.tables, new.tables)
    compared = compare_sides(recipe, (old.summary, old.tables), (new.summary, new.tables), parsers)
    shown = recipe.presentation()
    kinds = shown.error_kinds
    if old.errors is None or new.errors is None:
        old, new = (
            replace(side, errors=match_errors(shown, side.summary, side.tables)) for side in (old, new)
        )
    checks: list[GateCheck] = []
    worse: list[WorsePage] = []
    errors: dict[str, tuple[ErrorChange, ...]] = {}
    for parser, comparison in zip(parsers, compared, strict=True):
        pages = _worse_pages(old, new, parser, comparison, kinds)
        checks += _minimum(new, limits, parser)
        checks += _drop(limits, parser, comparison, pages)
        checks += _new_failures(old, new, limits, [parser])
        checks += _lost_tables(old, new, limits, parser)
        for column, title, allowed in limits.ratios:
            checks += _ratio(old, new, parser, column, title, allowed, timing or Timing())
        worse += pages
        if old.errors is not None and new.errors is not None:
            errors[parser] = error_changes(old.errors, new.errors, kinds, parser)
    return GateResult(tuple(checks), worse=tuple(worse), errors=errors)


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
    for spec in run.protocols:
        write_errors(run, spec, folder / run.protocol_folder(spec).relative_to(run.path))
    return folder


def _with_errors(run: Run, side: GateSide, parsers: Sequence[str]) -> GateSide:
    return replace(side, errors=stored_errors(run, side.summary.protocol, parsers))


def _not_checked(
    checks: Iterable[GateCheck], info: FigureInfo, limits: GateLimits, parsers: Sequence[str]
) -> list[Skipped]:
    """Name what was to be looked at and could not: figures that are not defined, too few pages measured."""
    done = {(check.parser, check.name) for check in checks}
    undefined = f"{info.label} is not defined in both runs"
    too_few = "too few pages have it in both runs"
    wanted = [(name, undefined) for name in limits.needing_both(info)]
    wanted += [(title, too_few) for _, title, _ in limits.ratios]
    return [
        Skipped(parser, name, why) for parser in parsers for name, why in wanted if (parser, name) not in done
    ]


def _figures_of(summary: Summary) -> str:
    """Say which protocol the figures are of, and by which rule they were matched."""
    rule = summary.settings.get("match")
    return f"Figures of {summary.protocol}" + (f", matched by {rule}." if rule else ".")


def _same_outputs(old: RunTables, new: RunTables, parser: str) -> str:
    """Say on how many pages both runs hold the same output: there a difference is no noise of the parser."""
    own = (pl.col("parser") == parser) & pl.col("blob").is_not_null()
    before, now = (dict(side.read("parses", "sample", "blob", where=own).iter_rows()) for side in (old, new))
    both = before.keys() & now.keys()
    n_same = sum(before[sample] == now[sample] for sample in both)
    pages = counted(len(both), "page")
    if both and n_same == len(both):
        return f"{parser}: its outputs are the same, byte for byte, on all of {pages}."
    return f"{parser}: its outputs are the same on {n_same} of {pages}; what differs is on the others."


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
    limits: GateLimits, parser: str, comparison: Comparison, worse: Sequence[WorsePage]
) -> Iterable[GateCheck]:
    verdict, gain = comparison.primary, comparison.gain
    if gain is None:  # nothing to compare, which the result says
        return
    info = comparison.info(verdict.figure)
    interval = ""
    if verdict.low is not None and verdict.high is not None:
        interval = f" ({signed_interval(verdict.low, verdict.high)})"
    found = f"{rounded(verdict.value_b)} → {rounded(verdict.value_a)}, {signed(verdict.difference)}{interval}"
    pages = tuple(str(page) for page in worse[:SHOWN_PAGES])
    if limits.interval:
        is_worse = verdict.state == "worse"
        name = f"{info.label}: {_BEYOND_CHANCE}"
        yield GateCheck(parser, name, not is_worse, found, "not worse", pages if is_worse else ())
    if limits.max_drop is not None:
        fell = gain < -limits.max_drop
        allowed = f"≥ {0 - limits.max_drop:g}" if info.higher_is_better else f"≤ {limits.max_drop:g}"
        yield GateCheck(parser, f"{info.label}: {_PLAIN}", not fell, found, allowed, pages if fell else ())
    if limits.max_page_drop is not None:
        over = [page for page in worse if abs(page.new - page.old) > limits.max_page_drop]
        most = max((abs(page.new - page.old) for page in worse), default=0.0)
        listed = tuple(str(page) for page in over[:SHOWN_PAGES])
        name, allowed = f"{info.label}: {_PAGE_DROP}", f"≤ {limits.max_page_drop:g}"
        yield GateCheck(parser, name, not over, f"{rounded(most)} ({len(over)} over)", allowed, listed)


def _lost_tables(old: GateSide, new: GateSide, limits: GateLimits, parser: str) -> list[GateCheck]:
    """Check the true tables that were found before and are not found now."""
    if limits.max_lost_tables is None:
        return []
    now = new.found_tables(parser)
    before = [place for place, is_found in old.found_tables(parser).items() if is_found]
    lost = sorted(place for place in before if not now.get(place, False))
    failing = new.failing(parser)
    pages = tuple(f"{s}: table {t}, {failing.get(s, 'not found')}" for s, t in lost[:SHOWN_PAGES])
    found = f"{len(lost)} of {len(before)}"
    allowed = f"≤ {limits.max_lost_tables}"
    return [GateCheck(parser, _LOST, len(lost) <= limits.max_lost_tables, found, allowed, pages)]


def _new_failures(
    old: GateSide, new: GateSide, limits: GateLimits, parsers: Sequence[str]
) -> list[GateCheck]:
    """Check the pages that fail now and did not before."""
    if limits.max_failures is None:
        return []
    checks = []
    for parser in parsers:
        before, now = old.failing(parser), new.failing(parser)
        checks.append(_failures(parser, sorted(set(now) - set(before)), limits.max_failures, now))
    return checks


def _failures(parser: str, samples: Sequence[str], allowed: int, why: Mapping[str, str]) -> GateCheck:
    listed = tuple(f"{sample}: {why[sample]}" for sample in samples[:SHOWN_PAGES])
    return GateCheck(parser, _FAILING, len(samples) <= allowed, str(len(samples)), f"≤ {allowed}", listed)


def _ratio(
    old: GateSide, new: GateSide, parser: str, column: str, title: str, allowed: float, timing: Timing
) -> list[GateCheck]:
    """Check the ratio of time or memory: it fails if it is over the limit, and over 1 beyond the noise."""
    found = time_ratio(old.tables.parses, new.tables.parses, parser, column, timing)
    if found is None:
        return []
    passed = not (found.value > allowed and found.low > 1.0)
    words = f"{found.value:.2f} × (at least {found.low:.2f})"
    return [GateCheck(parser, title, passed, words, f"≤ {allowed:g} ×")]


def _worse_pages(
    old: GateSide, new: GateSide, parser: str, comparison: Comparison, kinds: Sequence[ErrorKind]
) -> list[WorsePage]:
    """List the pages that lost, the largest drop first, each with what changed in its errors or status."""
    failing = new.failing(parser)
    higher = comparison.info(comparison.primary.figure).higher_is_better
    lost = [page for page in comparison.pages if (page.difference < 0) == higher]
    if not lost:
        return []
    counts = [error_counts(side.errors, parser) for side in (old, new)]
    why = {page.sample: failing.get(page.sample) or _why(counts, page.sample, kinds) for page in lost}
    return [WorsePage(parser, page.sample, page.b, page.a, why[page.sample]) for page in lost]


def _why(counts: Sequence[Mapping[str, Mapping[str, int]]], sample: str, kinds: Sequence[ErrorKind]) -> str:
    """Say which types of errors a page has more or fewer of than before."""
    before, now = (side.get(sample, {}) for side in counts)
    changed = [str(change) for change in changes_of(before, now, kinds) if change.old != change.new]
    return ", ".join(changed) or "same errors, lower scores"
