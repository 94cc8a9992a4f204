"""The checks of a gate: what each looks at on one run, or between two, and what it found."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low

import polars as pl

from parsemark.errors import UsageError
from parsemark.formats.model_json import prediction_from_json
from parsemark.model import Status
from parsemark.plain_words import counted, one_line, rounded, signed, signed_interval
from parsemark.protocols import FigureInfo, PageProtocol, Presentation, RunTables, Summary
from parsemark.protocols.presentation import ErrorKind, ScoredTables
from parsemark.protocols.run_data.broken_pages import broken_pages, repeated, sums_of_parse
from parsemark.protocols.run_data.unread_pages import says_anything, unscored
from parsemark.store import Run
from parsemark.verdicts.comparison import Comparison
from parsemark.verdicts.error_types import changes_of, error_counts, match_errors
from parsemark.verdicts.time_ratios import Timing, slower_pages, time_ratio

ParseScores = list[dict[str, float]]  # of each parse: page to its primary score, higher is better

_TABLE = "table"
BEYOND_CHANCE = "no drop beyond chance"
_PLAIN = "plain drop"
LOST = "lost tables"
_PAGE_DROP = "largest drop of a page"
_FAILING = "failing pages"
WORSE = "pages that got worse"
ERRORS = "errors that rose"
OFFSET = 2
"""What got worse is a regression if it is more than so many times what got better: outputs that vary by
chance vary both ways."""
MIN_CHANGE = 0.005  # of a page's score; less is neither worse nor better
_BALANCE = f"≤ {OFFSET} × better"
QUESTIONS = {
    BEYOND_CHANCE: "would other documents like these show a drop, too?",
    _PLAIN: "how much lower is the score on exactly these pages, significant or not?",
    LOST: "which true tables did the old run find and the new one miss?",
    WORSE: f"did more than {OFFSET} times as many pages get worse as got better? Identical outputs and "
    "failing pages are left out.",
    ERRORS: "which types of errors became more frequent on pages that did not improve?",
    _PAGE_DROP: "how far did the score of the worst page drop?",
    _FAILING: "which pages newly fail or return nothing? Without an old run, all such pages count.",
    "CPU time": "is it slower than allowed, and is the slowdown larger than the noise of timing?",
    "peak memory": "does it need more memory than allowed, and is the increase larger than the noise?",
}
"""What each check asks, by the end of its name."""


@dataclass(frozen=True)
class GateLimits:
    """What is allowed. None: not checked."""

    minimum: Mapping[str, float] = field(default_factory=dict)  # figure to its least value in the new run
    max_drop: float | None = None  # of the primary figure, whatever chance says
    interval: bool = True  # whether a drop beyond chance fails, however small
    regressions: bool = (
        True  # whether pages that got worse, lost tables and errors that rose fail, on balance
    )
    max_failures: int | None = (
        0  # pages that fail or are empty and were not; without an old run, all that fail
    )
    max_lost_tables: int | None = None  # true tables that were found before and are not found now
    max_page_drop: float | None = None  # of the primary figure on any single page
    max_slowdown: float | None = None  # ratio of CPU time per page, new to old
    max_memory: float | None = None  # ratio of peak memory, new to old

    def __post_init__(self) -> None:
        named = ("max_drop", "max_page_drop", "max_slowdown", "max_memory")
        limits = {**self.minimum, **{name: getattr(self, name) for name in named}}
        for name, value in limits.items():
            if value is not None and math.isnan(value):
                raise UsageError(f"The limit of {name} is not a number.")

    @property
    def ratios(self) -> list[tuple[str, str, float]]:
        """Return column, name and limit of each ratio that is to be checked."""
        cpu_s, memory = self.max_slowdown, self.max_memory
        wanted = ("cpu_s", "CPU time", cpu_s), ("peak_memory_mb", "peak memory", memory)
        return [(column, title, allowed) for column, title, allowed in wanted if allowed is not None]

    def needing_both(self, info: FigureInfo) -> list[str]:
        """Return the names of the checks of the primary figure that are wanted."""
        wanted = (
            (self.interval, f"{info.label}: {BEYOND_CHANCE}"),
            (self.max_drop is not None, f"{info.label}: {_PLAIN}"),
            (self.max_page_drop is not None, f"{info.label}: {_PAGE_DROP}"),
            (self.regressions, f"{info.label}: {WORSE}"),
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
    pages: tuple[str, ...] = ()  # what got worse, each page with the reason

    @property
    def question(self) -> str:
        """Return the question that the check answers."""
        return next((words for end, words in QUESTIONS.items() if self.name.endswith(end)), "")


Checks = Iterable[GateCheck]  # of one parser; none where nothing was asked for, or can be looked at


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


@dataclass(frozen=True)
class GateSide:
    """One run as far as a gate looks at it."""

    summary: Summary
    tables: RunTables
    errors: pl.DataFrame | None = None
    """Errors by type and element (`errors.SCHEMA`); None if they were not computed."""
    repeats: tuple[GateSide, ...] = ()  # further parses of the same pages (`bench --repeats`)

    @classmethod
    def of(cls, run: Run, protocol: str | None) -> GateSide:
        """Read a run."""
        summary = run.summary(protocol)
        tables = run.run_tables(summary.protocol)
        # One rule of matching holds for all parses.
        return cls(summary, tables, repeats=tuple(cls(summary, again) for again in tables.repeats))

    @property
    def parses(self) -> tuple[GateSide, ...]:
        """Return the first parse and the further ones."""
        return (self, *self.repeats)

    def parses_of(self, parser: str) -> list[GateSide]:
        """Return the parses in which a parser parsed all pages."""
        return [self, *(again for again in self.repeats if parser in repeated(self.tables, again.tables))]

    def with_errors(self, find: Callable[[GateSide], pl.DataFrame | None]) -> GateSide:
        """Return the same with the errors of each parse."""
        repeats = tuple(again.with_errors(find) for again in self.repeats)
        return replace(self, errors=find(self), repeats=repeats)

    def match_errors(self, shown: Presentation) -> pl.DataFrame:
        """Return the errors that matches show by themselves."""
        return match_errors(ScoredTables(self.summary, shown, lambda name: self.tables.frame(name).lazy()))

    def found_tables(self, parser: str) -> set[tuple[str, str]]:
        """Return (sample, truth) of every true table that is found, under the rule of the leaderboard."""
        rule, theta = self.summary.settings.get("match"), float(self.summary.settings.get("theta", "-inf"))
        own = (pl.col("parser") == parser) & (pl.col("category") == _TABLE) & (pl.col("truth").list.len() > 0)
        rows = self.tables.read("matches", "sample", "rule", "truth", "pred", "overlap", where=own)
        if rule in set(rows["rule"]):
            rows = rows.filter(pl.col("rule") == rule)
        # Of several truths in one answer only the first one is found by it.
        return {
            (sample, truths[0])
            for sample, _, truths, pred, overlap in rows.iter_rows()
            if pred and (overlap is None or overlap > theta)
        }

    def failing(self, parser: str) -> dict[str, str]:
        """Return pages without an answer, and pages on which the protocol itself broke, each with the
        reason.
        """
        rows = self.tables.parses.filter((pl.col("parser") == parser) & (pl.col("status") != "ok"))
        broken = broken_pages(self.tables).get(parser, {})
        return {sample: f"{Status.METRIC_FAILED}: {one_line(why)}" for sample, why in broken.items()} | {
            row["sample"]: f"{row['status']}: {one_line(row['error'])}" if row["error"] else row["status"]
            for row in rows.select("sample", "status", "error").iter_rows(named=True)
        }


@dataclass(frozen=True)
class PageChanges:
    """What changed on the pages of a parser between two runs, in its outputs, its score and its errors."""

    same: frozenset[str]  # pages with the same output, byte for byte, in both runs
    differ: frozenset[str]  # pages with another output; pages without one in a run are in neither
    gains: Mapping[str, float]  # page to how much better its score is now; pages with equal scores are absent
    before: Mapping[str, Mapping[str, int]]  # page to its errors by type; the median over several parses
    now: Mapping[str, Mapping[str, int]]
    emptied: Mapping[str, str]  # pages that return nothing now and did before, in words
    by_score: Mapping[str, int]  # page to 1 if its score got better beyond noise, -1 if it got worse
    by_errors: Mapping[str, int]  # the same of the number of its errors
    by_type: Mapping[str, Mapping[str, int]]  # the same of each type of errors

    @classmethod
    def of(
        cls,
        old: GateSide,
        new: GateSide,
        parser: str,
        comparison: Comparison,
        scores: tuple[ParseScores, ParseScores] | None = None,
    ) -> PageChanges:
        """Find what changed; `scores` has those of each parse, if a run has several."""
        sides = old.parses_of(parser), new.parses_of(parser)
        outputs = [[_outputs(parse, parser) for parse in side] for side in sides]
        first, last = outputs[0][0], outputs[1][0]
        both = frozenset(first.keys() & last.keys())
        blobs = [{s: sorted(parse[s][0] for parse in side if s in parse) for s in both} for side in outputs]
        same = frozenset(
            s for s in both if blobs[0][s] == blobs[1][s] or len({*blobs[0][s], *blobs[1][s]}) == 1
        )
        sign = 1 if comparison.info(comparison.primary.figure).higher_is_better else -1
        gains = {page.sample: sign * page.difference for page in comparison.pages}
        if scores is None:
            scores = (
                [{page.sample: sign * page.b for page in comparison.pages}],
                [{page.sample: sign * page.a for page in comparison.pages}],
            )
        counts = [[error_counts(parse.errors, parser) for parse in side] for side in sides]
        pages = {sample for side in counts for parse in side for sample in parse}
        types = {kind for side in counts for parse in side for found in parse.values() for kind in found}
        by_type = {kind: _fewer_errors(counts, pages, kind) for kind in types}
        by_errors = _fewer_errors(counts, pages)
        before, now = (_medians(side, pages) for side in counts)
        by_score = beyond_noise(*scores, least=MIN_CHANGE)
        changes = cls(same, both - same, gains, before, now, {}, by_score, by_errors, by_type)
        smaller = [
            s for s in changes.differ if (last[s][1] or 0) < (first[s][1] or 0) and changes.state(s) <= 0
        ]
        emptied = {s: f"returns nothing ({first[s][1]:,} bytes before)" for s in _empty(new, parser, smaller)}
        return replace(changes, emptied=emptied)

    def state(self, sample: str) -> int:
        """Return 1 where a page got better, -1 where it got worse: by its score; if that is unchanged, by its
        errors.
        """
        return self.by_score.get(sample) or self.by_errors.get(sample, 0)

    @property
    def unjudged(self) -> list[str]:
        """Return pages whose output changed, while neither score nor errors did."""
        return sorted(
            s for s in self.differ
            if s not in self.gains and self.before.get(s, {}) == self.now.get(s, {}) and s not in self.emptied
        )  # fmt: skip


def _outputs(side: GateSide, parser: str) -> dict[str, tuple[str, int | None]]:
    """Return page to the hash and the size of its raw output."""
    own = (pl.col("parser") == parser) & (pl.col("status") == "ok") & pl.col("blob").is_not_null()
    rows = side.tables.read("parses", "sample", "blob", "n_bytes", where=own)
    return {sample: (blob, n_bytes) for sample, blob, n_bytes in rows.iter_rows()}


def _fewer_errors(
    counts: Sequence[Sequence[Mapping[str, Counter[str]]]], pages: Iterable[str], kind: str | None = None
) -> dict[str, int]:
    """Return 1 for each page that has fewer errors (of a type) beyond noise, -1 if it has more."""
    none = Counter[str]()

    def number(found: Counter[str]) -> int:
        return found.total() if kind is None else found[kind]

    old, new = ([{s: -number(parse.get(s, none)) for s in pages} for parse in side] for side in counts)
    return beyond_noise(old, new)


def beyond_noise(
    old: Sequence[Mapping[str, float]], new: Sequence[Mapping[str, float]], least: float = 0.0
) -> dict[str, int]:
    """Return 1 for each page whose numbers rose beyond the noise between parses, -1 where they fell.

    All new numbers must be above (below) all old ones. The gap between them must exceed `least`, the range of
    the page between parses of one run, and the range that nine tenths of the pages stay within: three parses
    alone show too little of the noise of one page.
    """
    pages = set.intersection(*(set(parse) for parse in (*old, *new)))
    before, now = ({s: [parse[s] for parse in side] for s in pages} for side in (old, new))
    ranges = {s: max(max(of[s]) - min(of[s]) for of in (before, now)) for s in pages}
    usual = sorted(ranges.values())[math.ceil(0.9 * len(ranges)) - 1] if ranges else 0.0
    found = {}
    for s in pages:
        margin = max(least, ranges[s], usual)
        rose, fell = min(now[s]) - max(before[s]) > margin, min(before[s]) - max(now[s]) > margin
        if rose or fell:
            found[s] = 1 if rose else -1
    return found


def _medians(parses: Sequence[Mapping[str, Counter[str]]], pages: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return page to the number of its errors by type, the lower median over parses."""
    found = {}
    for s in pages:
        types = {kind for parse in parses for kind in parse.get(s, ())}
        medians = {kind: median_low(parse.get(s, Counter[str]())[kind] for parse in parses) for kind in types}
        if own := {kind: n for kind, n in medians.items() if n}:
            found[s] = own
    return found


def scores_by_parse(
    recipe: PageProtocol, old: GateSide, new: GateSide, comparison: Comparison, parser: str
) -> tuple[ParseScores, ParseScores] | None:
    """Return for each parse of both runs page to its primary score, negative where lower is better; None if
    each page was parsed once.
    """
    sides = old.parses_of(parser), new.parses_of(parser)
    if len(sides[0]) == len(sides[1]) == 1:
        return None
    sign = 1 if comparison.info(comparison.primary.figure).higher_is_better else -1
    found: list[ParseScores] = []
    for side, other in ((sides[0], new), (sides[1], old)):
        found.append([])
        for parse in side:
            sums = sums_of_parse(recipe, parse.tables, other.tables)
            figure = next(f for f in sums if f.info.name == comparison.primary.figure)
            values = zip(figure.samples, figure.page_values(parser), strict=True)
            found[-1].append({s: sign * float(value) for s, value in values if math.isfinite(value)})
    return found[0], found[1]


def _empty(side: GateSide, parser: str, samples: Sequence[str]) -> list[str]:
    """Return those of these pages for which an output is empty."""
    if not samples:
        return []
    own = (pl.col("parser") == parser) & pl.col("sample").is_in(samples) & pl.col("prediction").is_not_null()
    rows = side.tables.read("predictions", "sample", "prediction", where=own)
    return sorted(
        s for s, text in rows.iter_rows() if not says_anything(prediction_from_json(json.loads(text)))
    )


def minimum_checks(side: GateSide, limits: GateLimits, parser: str) -> Checks:
    """Check the least values of figures."""
    for figure, least in limits.minimum.items():
        known = side.summary.figure(parser, figure)
        if known is None and figure not in {info.name for info in side.summary.figures}:
            names = ", ".join(info.name for info in side.summary.figures)
            raise UsageError(f"{side.summary.protocol} has no score {figure!r}; choose one of: {names}.")
        value = None if known is None else known.value
        info = side.summary.info(figure)
        good = value is not None and (value >= least if info.higher_is_better else value <= least)
        sign = "≥" if info.higher_is_better else "≤"
        found = "not defined here" if value is None else rounded(value)
        yield GateCheck(parser, f"{figure} {sign} {least:g}", good, found, f"{sign} {least:g}")


def drop_checks(
    limits: GateLimits, parser: str, comparison: Comparison, worse: Sequence[WorsePage], changes: PageChanges
) -> Checks:
    """Check the primary figure: beyond chance, as it stands, and on the page that fell most."""
    verdict, gain = comparison.primary, comparison.gain
    if gain is None:  # nothing to compare, which the result says
        return
    info = comparison.info(verdict.figure)
    interval = ""
    if verdict.low is not None and verdict.high is not None:
        interval = f" ({signed_interval(verdict.low, verdict.high)})"
    found = f"{rounded(verdict.value_b)} → {rounded(verdict.value_a)}, {signed(verdict.difference)}{interval}"
    if not comparison.pages:
        why = "as before on every page" if changes.differ else "identical outputs"
        found = f"{rounded(verdict.value_a)}, {why}"
    pages = tuple(str(page) for page in worse)
    if limits.interval:
        is_worse = verdict.state == "worse"
        name = f"{info.label}: {BEYOND_CHANCE}"
        yield GateCheck(parser, name, not is_worse, found, "not worse", pages if is_worse else ())
    if limits.max_drop is not None:
        fell = gain < -limits.max_drop
        allowed = f"≥ {0 - limits.max_drop:g}" if info.higher_is_better else f"≤ {limits.max_drop:g}"
        yield GateCheck(parser, f"{info.label}: {_PLAIN}", not fell, found, allowed, pages if fell else ())
    if limits.max_page_drop is not None:
        over = [page for page in worse if abs(page.new - page.old) > limits.max_page_drop]
        most = max((abs(page.new - page.old) for page in worse), default=0.0)
        listed = tuple(str(page) for page in over)
        name, allowed = f"{info.label}: {_PAGE_DROP}", f"≤ {limits.max_page_drop:g}"
        yield GateCheck(parser, name, not over, f"{rounded(most)} ({len(over)} over)", allowed, listed)


def regression_checks(
    old: GateSide,
    new: GateSide,
    limits: GateLimits,
    parser: str,
    comparison: Comparison,
    worse: Sequence[WorsePage],
    changes: PageChanges,
    kinds: Sequence[ErrorKind],
) -> Checks:
    """Check what a maintainer would call a regression: pages, tables and types of errors that got worse, on
    balance. A page with the same output cannot have; one that fails is checked as such.
    """
    left_out = set(changes.same)
    if limits.max_failures is not None:
        left_out |= old.failing(parser).keys() | new.failing(parser).keys()
    yield from _lost_table_checks(old, new, limits, parser, left_out)
    if not limits.regressions:
        return
    moved = {s: state for s, state in changes.by_score.items() if s not in left_out}
    if comparison.gain is not None:
        down = [page for page in worse if moved.get(page.sample, 0) < 0]
        n_up = sum(state > 0 for state in moved.values())
        name = f"{comparison.info(comparison.primary.figure).label}: {WORSE}"
        passed, found = len(down) <= OFFSET * n_up, f"{len(down)} worse, {n_up} better"
        yield GateCheck(parser, name, passed, found, _BALANCE, () if passed else tuple(map(str, down)))
    if kinds and old.errors is not None and new.errors is not None:
        yield _error_check(parser, changes, left_out, kinds)


def _error_check(
    parser: str, changes: PageChanges, left_out: set[str], kinds: Sequence[ErrorKind]
) -> GateCheck:
    """Check each type of error: the pages on which it rose, against those on which it fell."""
    rose, fell = dict[str, list[str]](), Counter[str]()
    for kind in kinds:
        moved = changes.by_type.get(kind.name, {})
        for sample in sorted(moved.keys() - left_out):
            # Only a page that got worse as a whole counts, and only one that got better makes up for it.
            if moved[sample] < 0 and changes.state(sample) < 0:
                rose.setdefault(kind.name, []).append(sample)
            fell[kind.name] += moved[sample] > 0 and changes.state(sample) > 0
    over = [kind for kind in kinds if len(rose.get(kind.name, ())) > OFFSET * fell[kind.name]]
    words = [f"{kind.label.lower()} on {counted(len(rose[kind.name]), 'page')}" for kind in over]
    samples = sorted({sample for kind in over for sample in rose[kind.name]})
    pages = tuple(f"{s}: {_why((changes.before, changes.now), s, kinds)}" for s in samples)
    return GateCheck(parser, ERRORS, not over, ", ".join(words) or "none", _BALANCE, pages)


def _lost_table_checks(
    old: GateSide, new: GateSide, limits: GateLimits, parser: str, left_out: set[str]
) -> Checks:
    """Check the true tables that were found before, in every parse, and are not found now, in any: against a
    limit, or on balance.
    """
    parses = [[parse.found_tables(parser) for parse in side.parses_of(parser)] for side in (old, new)]
    (before, now), failing = (set.intersection(*side) for side in parses), new.failing(parser)
    lost, gained = sorted(before.difference(*parses[1])), sorted(now.difference(*parses[0]))
    limit = limits.max_lost_tables
    if limit is None:
        if not limits.regressions or not (before or now):
            return
        lost, gained = ([place for place in places if place[0] not in left_out] for places in (lost, gained))
        limit = OFFSET * len(gained)
    pages = tuple(f"{s}: table {t}, {failing.get(s, 'not found')}" for s, t in lost)
    found = f"{len(lost)} of {len(before)}, {len(gained)} newly found"
    allowed = _BALANCE if limits.max_lost_tables is None else f"≤ {limit}"
    yield GateCheck(parser, LOST, len(lost) <= limit, found, allowed, pages)


def failure_checks(
    old: GateSide | None,
    new: GateSide,
    limits: GateLimits,
    parser: str,
    emptied: Mapping[str, str] | None = None,
) -> Checks:
    """Check the pages that fail or return nothing now and did not before; without an old run, all that fail
    and are in scores.
    """
    allowed = limits.max_failures
    if allowed is not None:
        failing = {**(emptied or {}), **new.failing(parser)}
        found = sorted(failing.keys() - (unscored(new.tables) if old is None else old.failing(parser).keys()))
        listed = tuple(f"{sample}: {failing[sample]}" for sample in found)
        yield GateCheck(parser, _FAILING, len(found) <= allowed, str(len(found)), f"≤ {allowed}", listed)


def ratio_checks(old: GateSide, new: GateSide, limits: GateLimits, parser: str, timing: Timing) -> Checks:
    """Check the ratios of time and memory: one fails if it is over the limit, and over 1 beyond the noise. A
    parser that is the same in both runs shows what the machine did, and cannot fail.
    """
    sides = old.tables.parses, new.tables.parses
    for column, title, allowed in limits.ratios:
        found = time_ratio(*sides, parser, column, timing)
        if found is None:
            continue
        again = column == "cpu_s" and parser in timing.again
        if parser in timing.references and not again:
            words = f"{found.value:.2f} ×, and the same code in both runs"
            yield GateCheck(parser, title, True, words, f"≤ {allowed:g} ×")
            continue
        passed = not (found.value > allowed and found.low > 1.0)
        words = f"{found.value:.2f} × (at least {found.low:.2f})"
        pages = () if passed or again else slower_pages(*sides, parser, column, timing)
        yield GateCheck(parser, title, passed, words, f"≤ {allowed:g} ×", pages)


def worse_pages(
    new: GateSide,
    parser: str,
    comparison: Comparison,
    changes: PageChanges,
    kinds: Sequence[ErrorKind],
    *,
    with_repeats: bool = False,
) -> list[WorsePage]:
    """List the pages that lost, the largest drop first, each with what changed in its errors or status. Those
    of a run with several parses lost beyond noise.
    """
    failing = new.failing(parser)
    lost = [page for page in comparison.pages if changes.gains[page.sample] < 0]
    if with_repeats:
        lost = [page for page in lost if changes.by_score.get(page.sample, 0) < 0]
    counts = changes.before, changes.now
    why = {page.sample: failing.get(page.sample) or _why(counts, page.sample, kinds) for page in lost}
    return [WorsePage(parser, page.sample, page.b, page.a, why[page.sample]) for page in lost]


def _why(counts: Sequence[Mapping[str, Mapping[str, int]]], sample: str, kinds: Sequence[ErrorKind]) -> str:
    """Return the error types of which a page has more or fewer than before."""
    before, now = (side.get(sample, {}) for side in counts)
    changed = [str(change) for change in changes_of(before, now, kinds) or () if change.old != change.new]
    return ", ".join(changed) or ("same errors, worse scores" if kinds else "worse scores")
