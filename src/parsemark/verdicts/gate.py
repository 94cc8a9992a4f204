"""A gate for continuous integration: is the new run good enough, and no worse than the old one?

Each check has a name, the question that it answers, what was found, what was allowed, and whether it passed.
Pages that got worse are listed with their reasons, whether the gate is passed or not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.plain_words import counted, listed, rounded, signed
from parsemark.protocols import FigureInfo, PageProtocol, get_protocol
from parsemark.store import Run
from parsemark.system.files import make_folder, write_bytes
from parsemark.verdicts import gate_checks
from parsemark.verdicts.comparison import (
    Bucket,
    Comparison,
    compare_sides,
    require_comparable,
    require_same_corpus,
    require_same_pages,
)
from parsemark.verdicts.error_types import Changes, error_changes, stored_errors, write_errors
from parsemark.verdicts.gate_checks import (
    BEYOND_CHANCE,
    LOST,
    WORSE,
    GateCheck,
    GateLimits,
    GateSide,
    PageChanges,
    WorsePage,
)
from parsemark.verdicts.time_ratios import Timing, timed_again, timing_between

__all__ = [
    "GateCheck", "GateLimits", "GateResult", "GateSide", "Skipped", "WorsePage", "check_against",
    "check_alone", "gate_runs", "save_baseline",
]  # fmt: skip

_COMPARISON = "comparison with the old run"
SHOWN_UNJUDGED = 5


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
    skipped: tuple[Skipped, ...] = ()  # a limit that was not looked at must not look as if it had been kept
    worse: tuple[WorsePage, ...] = ()  # every page that got worse, of each parser the largest drop first
    errors: Mapping[str, Changes] = field(default_factory=dict)  # parser to its types of errors, old and new
    verdicts: tuple[str, ...] = ()  # what became of each parser, in a sentence
    buckets: Mapping[str, Mapping[Bucket, int]] = field(default_factory=dict)
    """Parser to the number of pages that it fixed, regressed on, still fails on, or left unchanged."""

    @property
    def passed(self) -> bool:
        """Return whether all did."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> list[GateCheck]:
        """Return the checks that failed."""
        return [check for check in self.checks if not check.passed]


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
    UsageError if the new run is a baseline, or the runs are of different corpora, pages, or protocol
    versions, or share no parser.
    """
    if old is not None and new.is_baseline and not old.is_baseline:
        raise UsageError(
            f"{new.path} is a baseline and {old.path} is a run. Compare the run with the baseline: swap RUN "
            "and --old."
        )
    side = GateSide.of(new, protocol)
    chosen, known = list(parsers or side.tables.parsers), side.tables.parsers
    for name in (name for name in chosen if name not in known):
        raise UsageError(f"{new.path} has no parser {name!r}; it has: {', '.join(known)}.")
    info = side.summary.info(side.summary.primary)
    rule = side.summary.settings.get("match")
    notes = [f"Scores of protocol {side.summary.protocol}" + (f", matched by {rule}." if rule else ".")]
    if old is None:
        wanted = [name.removeprefix(f"{info.label}: ") for name in limits.needing_both(info)]
        wanted = [name for name in wanted if name not in (BEYOND_CHANCE, WORSE)]
        wanted += [LOST] if limits.max_lost_tables is not None else []
        wanted += [title for _, title, _ in limits.ratios]
        skipped = [Skipped(p, name, "the old run is missing") for p in chosen for name in wanted]
        alone = check_alone(side, limits, chosen)
        return GateResult(tuple(alone), (*notes, *map(str, skipped)), tuple(skipped))
    require_same_corpus(old, new)
    before = GateSide.of(old, side.summary.protocol)
    missing = [p for p in chosen if p not in before.tables.parsers]
    shared = [p for p in chosen if p not in missing]
    if not shared:
        raise UsageError(
            f"{old.path} ({', '.join(old.manifest.parser_names)}) and {new.path} "
            f"({', '.join(new.manifest.parser_names)}) share no parser, so there is nothing to compare."
        )
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
        failing = [c for p in shared for c in gate_checks.failure_checks(before, side, limits, p)]
        if all(check.passed for check in failing):
            raise
        skipped += [Skipped(p, _COMPARISON, str(error).rstrip(".")) for p in shared]
        return GateResult((*alone, *failing), (*notes, str(error)), tuple(skipped))
    before, side = (_with_stored_errors(of, run, shared) for run, of in ((old, before), (new, side)))
    timing = timing_between(old, new)
    if time_again and limits.max_slowdown is not None:
        timing = timed_again(old, new, shared, time_again, timing)
    against = check_against(get_protocol(side.summary.protocol), before, side, limits, shared, timing=timing)
    notes += [timing.note] if timing.note and limits.ratios else []
    if before.errors is None:
        notes.append("The baseline lacks the errors inside tables; save it again to include them.")
    unmeasured = _not_checked(against.checks, info, limits, shared)
    return replace(
        against,
        checks=(*alone, *against.checks),
        notes=(*notes, *against.notes, *map(str, unmeasured)),
        skipped=(*skipped, *unmeasured),
    )


def check_alone(side: GateSide, limits: GateLimits, parsers: Sequence[str]) -> list[GateCheck]:
    """Check what can be checked on one run."""
    checks: list[GateCheck] = []
    for parser in parsers:
        checks += gate_checks.minimum_checks(side, limits, parser)
        checks += gate_checks.failure_checks(None, side, limits, parser)
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
    compared = compare_sides(recipe, (old.summary, old.tables), (new.summary, new.tables), parsers)
    shown = recipe.presentation()
    kinds = shown.error_kinds
    if any(parse.errors is None for side in (old, new) for parse in side.parses):
        old, new = (side.with_errors(lambda parse: parse.match_errors(shown)) for side in (old, new))
    checks: list[GateCheck] = []
    worse: list[WorsePage] = []
    errors: dict[str, Changes] = {}
    verdicts, notes = list[str](), list[str]()
    for parser, comparison in zip(parsers, compared, strict=True):
        scores = gate_checks.scores_by_parse(recipe, old, new, comparison, parser)
        changes = PageChanges.of(old, new, parser, comparison, scores)
        pages = gate_checks.worse_pages(
            new, parser, comparison, changes, kinds, with_repeats=scores is not None
        )
        verdicts.append(_verdict(parser, comparison, changes))
        if changes.unjudged:
            few = listed(changes.unjudged, SHOWN_UNJUDGED)
            notes.append(
                f"{parser}: the output changed on {counted(len(changes.unjudged), 'page')} without an effect "
                f"on score or errors ({few}): {new.summary.protocol} does not judge what changed there."
            )
        checks += gate_checks.minimum_checks(new, limits, parser)
        checks += gate_checks.drop_checks(limits, parser, comparison, pages, changes)
        checks += gate_checks.failure_checks(old, new, limits, parser, changes.emptied)
        checks += gate_checks.regression_checks(old, new, limits, parser, comparison, pages, changes, kinds)
        checks += gate_checks.ratio_checks(old, new, limits, parser, timing or Timing())
        worse += pages
        if old.errors is not None and new.errors is not None:
            errors[parser] = error_changes((old.errors, parser), (new.errors, parser), kinds)
    buckets = {parser: comparison.buckets for parser, comparison in zip(parsers, compared, strict=True)}
    return GateResult(tuple(checks), tuple(notes), (), tuple(worse), errors, tuple(verdicts), buckets)


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
    for again in run.repeats:
        save_baseline(again, folder / again.path.relative_to(run.path))
    return folder


def _with_stored_errors(side: GateSide, run: Run, parsers: Sequence[str]) -> GateSide:
    """Return one run with the errors that are stored, or found in its outputs, of each parse."""
    spec = side.summary.protocol
    runs = [run, *(again for again in run.repeats if spec in again.protocols)]
    found = {id(parse): stored_errors(of, spec, parsers) for parse, of in zip(side.parses, runs, strict=True)}
    return side.with_errors(lambda parse: found[id(parse)])


def _not_checked(
    checks: Iterable[GateCheck], info: FigureInfo, limits: GateLimits, parsers: Sequence[str]
) -> list[Skipped]:
    """Return the checks that could not run: figures that are not defined, too few pages measured."""
    done = {(check.parser, check.name) for check in checks}
    wanted = [(name, f"{info.label} is not defined in both runs") for name in limits.needing_both(info)]
    wanted += [(title, "too few pages have it in both runs") for _, title, _ in limits.ratios]
    return [Skipped(p, name, why) for p in parsers for name, why in wanted if (p, name) not in done]


def _verdict(parser: str, comparison: Comparison, changes: PageChanges) -> str:
    """Return the verdict on a parser in a sentence."""
    n_pages = len(changes.same) + len(changes.differ)
    pages, verdict = counted(n_pages, "page"), comparison.primary
    if n_pages and not changes.differ:
        if not comparison.pages:
            return f"{parser}: identical outputs on all of {pages}."
        if changes.gains.keys() <= changes.same:
            return (
                f"{parser}: identical outputs on all of {pages}, yet other scores: the scoring changed, "
                "not the parser. Score both runs again, with one version of parsemark."
            )
    said = f"{parser}: its outputs differ on {len(changes.differ)} of {pages}"
    if comparison.gain is None:
        return f"{said}."
    if not comparison.pages:
        return f"{said}; its score is the same on every page."
    up = sum(state > 0 for state in changes.by_score.values())
    down = len(changes.by_score) - up
    n_moved, became = (up, "improved") if comparison.gain > 0 else (down, "got worse")
    if verdict.state not in ("better", "worse"):
        became += " on these pages"
    is_visible = n_moved > 0 and rounded(abs(comparison.gain)) != rounded(0.0)
    if verdict.state != "worse" and not is_visible:
        became = "as good as before"
    label = comparison.info(verdict.figure).label
    values = f"{label} {rounded(verdict.value_b)} → {rounded(verdict.value_a)} ({signed(verdict.difference)})"
    return (
        f"{parser} {became}: {values}, {counted(up, 'page')} better, {down} worse; {said.partition(': ')[2]}."
    )
