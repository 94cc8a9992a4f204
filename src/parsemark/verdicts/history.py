"""One parser over its versions: every figure, time, memory and size, and which changes are real steps.

A step is a version against the one before it, on the same documents, tested as `compare` does: signs of whole
documents are exchanged, and the largest of all steps of a figure is looked at, so that its steps are true
together. The figures share the 5 %: half is for the primary one, half for all others, time and memory among
them. Where two versions give equal outputs on every page nothing can have changed, and no test is spent.
Pages whose output changed are known, not estimated; they are listed whether the step is real or not.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from parsemark.errors import UsageError
from parsemark.protocols import Figure, FigureSums
from parsemark.protocols.run_data.broken_pages import complete_sums
from parsemark.protocols.run_scores.pair_verdicts import verdicts_on_pairs
from parsemark.protocols.run_scores.sums import DocumentSums
from parsemark.stats.intervals import jackknife_interval, t_quantile, t_tails
from parsemark.store import ParseRecord, Run, report_damage
from parsemark.verdicts.comparison import PageDifference, main_scores
from parsemark.verdicts.scored_run import ScoredRun
from parsemark.verdicts.time_ratios import MIN_PAGES, RUN_NOISE

ALPHA = 0.05  # of any step at all that is not real, over all versions and figures
SIZE_STEP = 0.1  # installed sizes are known exactly; a change by less than this share is not called a step
StepState = Literal["better", "worse", "none"]
_CHANGE: dict[bool, StepState] = {True: "better", False: "worse"}
_SAME = 1e-9
_PER_PAGE = {"cpu_s": ("CPU s/page", "seconds"), "peak_memory_mb": ("Memory MB", "megabytes")}


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A figure from one version to the next; of times and sizes, `difference` is their ratio less 1."""

    before: str
    after: str
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None  # that of the largest of all steps of the figure
    state: StepState = "none"  # whether the step is real, and in which direction


@dataclass(frozen=True, slots=True)
class HistoryFigure:
    """One figure over all versions."""

    name: str
    label: str
    style: str
    higher_is_better: bool
    points: tuple[Figure, ...]  # of each version; their intervals are true together
    steps: tuple[HistoryStep, ...]


@dataclass(frozen=True, slots=True)
class VersionChange:
    """Pages whose output is another than that of the version before."""

    before: str
    after: str
    pages: tuple[PageDifference, ...]
    """Those whose score changed first, by how much; `a` is after, `b` before, both NaN without a truth."""

    @property
    def n_better(self) -> int:
        """Return how many pages have a higher value."""
        return sum(page.difference > _SAME for page in self.pages)

    @property
    def n_worse(self) -> int:
        """Return how many pages have a lower value."""
        return sum(page.difference < -_SAME for page in self.pages)


@dataclass(frozen=True, slots=True)
class History:
    """A parser over its versions."""

    parser: str
    versions: tuple[str, ...]  # names in the run, the oldest first
    figures: tuple[HistoryFigure, ...]  # the primary one first
    changes: tuple[VersionChange, ...]
    n_pages: int
    n_documents: int

    @property
    def steps(self) -> list[tuple[HistoryFigure, HistoryStep]]:
        """Return the real steps, figure by figure."""
        return [(f, s) for f in self.figures for s in f.steps if s.state != "none"]


def version_of(name: str) -> str:
    """Return the label of a version in charts and tables.

    >>> version_of("camelot@1.0.9(flavor=stream)"), version_of("camelot")
    ('1.0.9', 'own')
    """
    found = re.match(r"[^(@]+@([^(]*)", name)
    return found[1] if found else "own"


def without_version(name: str) -> str:
    """Return the name of a parser, whatever its version.

    >>> without_version("camelot@1.0.9(flavor=stream)")
    'camelot(flavor=stream)'
    """
    return re.sub(r"@[^(]*", "", name, count=1)


def version_order(name: str) -> tuple[int, tuple[tuple[int, int, str], ...]]:
    """Return the key that sorts versions of one parser by age: releases, then commits, then the parser
    itself.
    """
    version = version_of(name)
    if version == "own" or version.startswith("git:"):
        return (2 if version == "own" else 1, ())
    kinds = {"post": 1, "rev": 1}
    parts = [
        (2, int(part), "") if part.isdigit() else (kinds.get(part, -1), 0, part)
        for part in re.findall(r"\d+|[a-z]+", version.lower())
    ]
    return (0, (*parts, (0, 0, "")))


def histories_in(run: Run) -> dict[str, list[str]]:
    """Return the parsers of which a run has several versions: name without version to the versions, oldest
    first.
    """
    found: dict[str, list[str]] = {}
    for entry in run.manifest.parsers:
        found.setdefault(without_version(entry.name), []).append(entry.name)
    return {parser: sorted(names, key=version_order) for parser, names in found.items() if len(names) > 1}


def history_of(run: Run, versions: Sequence[str], protocol: str | None = None) -> History:
    """Return what changed from version to version (names in the run, the oldest first), all scored on the
    same pages, by a protocol, the first of the run by default. Raise UsageError if there are fewer than two.
    """
    if len(versions) < 2:
        raise UsageError("A history needs at least two versions that can be used here.")
    source = ScoredRun(run, protocol)
    with report_damage(run):
        sums = complete_sums(source.recipe, run.run_tables(source.summary.protocol))
    main = [f for f in main_scores(sums, source.summary.primary) if f.samples]
    records = {(r.parser, r.sample): r for r in run.records()}
    places = run.run_tables(source.summary.protocol).places
    samples = main[0].samples if main else places.samples
    given = {v: {s: _output(records.get((v, s))) for s in places.samples} for v in versions}
    outputs = {v: tuple(given[v][sample] for sample in samples) for v in versions}
    share = ALPHA / 2 / (len(main) - 1 + len(_PER_PAGE))
    figures = [history_figure(f, versions, outputs, share if k else ALPHA / 2) for k, f in enumerate(main)]
    for column, (label, style) in _PER_PAGE.items():
        known = {v: [r for s in samples if (r := records.get((v, s))) is not None] for v in versions}
        pages = {v: {r.sample: getattr(r, column) for r in own} for v, own in known.items()}
        figures.append(ratio_figure(column, label, style, versions, pages, share))
    sizes = [run.manifest.parser(v) for v in versions]
    figures.append(_size_figure(versions, [None if e is None else e.installed_mb for e in sizes]))
    changes = tuple(_change(main, given, before, after) for before, after in pairwise(versions))
    parser, documents = without_version(versions[-1]), main[0].documents if main else places.documents
    return History(parser, tuple(versions), tuple(figures), changes, len(samples), len(set(documents)))


def _output(record: ParseRecord | None) -> str:
    return "" if record is None else record.blob or f"{record.status}"


def history_figure(
    figure: FigureSums, versions: Sequence[str], outputs: Mapping[str, object], alpha: float
) -> HistoryFigure:
    """Return one figure over versions, the oldest first. Two versions whose outputs are equal cannot differ
    in any figure; `alpha`: what the steps of this figure may err by, all together.
    """
    info = figure.info
    documents = DocumentSums(figure, list(versions))
    top = info.top or 1.0
    level = 1 - ALPHA / max(1, len({repr(outputs[v]) for v in versions}))
    points = []
    for version in versions:
        value = float(figure.statistic(figure.sums[version].sum(axis=0)))
        ends = jackknife_interval(
            documents.sums[version],
            lambda totals: figure.statistic(totals) / top,
            "unit" if info.top is not None else "positive",
            level,
            documents.weights,
            documents.types,
        )
        low, high = (None, None) if ends is None else (ends[0] * top, ends[1] * top)
        points.append(Figure(value=value if math.isfinite(value) else None, low=low, high=high))
    told = [(after, before) for before, after in pairwise(versions) if outputs[before] != outputs[after]]
    found = dict(zip(told, verdicts_on_pairs(figure, told), strict=True)) if told else {}
    steps = []
    for before, after in pairwise(versions):
        v = found.get((after, before))
        if v is None or not v.difference:
            steps.append(HistoryStep(before, after, 0.0 if v is None else v.difference))
            continue
        is_real = v.p is not None and v.p <= alpha and v.low is not None
        state = _CHANGE[(v.difference > 0) == info.higher_is_better] if is_real else "none"
        steps.append(HistoryStep(before, after, v.difference, v.low, v.high, v.p, state))
    about = info.name, info.label, info.style, info.higher_is_better
    return HistoryFigure(*about, tuple(points), tuple(steps))


def ratio_figure(
    name: str,
    label: str,
    style: str,
    versions: Sequence[str],
    pages: Mapping[str, Mapping[str, float | None]],
    alpha: float,
) -> HistoryFigure:
    """Return time or memory over versions, the oldest first: geometric means of the ratios of pages, wide
    enough for a run's noise. `alpha`: what its steps may err by, all together.
    """
    points, steps, n_steps = [], [], max(1, len(versions) - 1)
    for version in versions:
        known = [value for value in pages[version].values() if value is not None]
        points.append(Figure(value=float(np.mean(known)) if known else None))
    for before, after in pairwise(versions):
        logs = [
            math.log(now / then)
            for sample, now in pages[after].items()
            if now and (then := pages[before].get(sample))
        ]
        if len(logs) < MIN_PAGES:
            steps.append(HistoryStep(before, after, None))
            continue
        mean, df = float(np.mean(logs)), len(logs) - 1
        error = math.hypot(float(np.std(logs, ddof=1)) / math.sqrt(len(logs)), RUN_NOISE)
        p = min(1.0, n_steps * t_tails(mean / error, df))
        reach = t_quantile(1 - ALPHA / n_steps, df) * error
        state = "none" if p > alpha else _CHANGE[mean < 0]
        value, low, high = map(math.expm1, (mean, mean - reach, mean + reach))
        steps.append(HistoryStep(before, after, value, low, high, p, state))
    return HistoryFigure(name, label, style, False, tuple(points), tuple(steps))


def _size_figure(versions: Sequence[str], sizes: Sequence[float | None]) -> HistoryFigure:
    steps = []
    for (before, old), (after, new) in pairwise(zip(versions, sizes, strict=True)):
        change = new / old - 1 if old and new else None
        state = "none" if change is None or abs(change) < SIZE_STEP else _CHANGE[change < 0]
        steps.append(HistoryStep(before, after, change, state=state))
    points = tuple(Figure(value=size) for size in sizes)
    return HistoryFigure("installed_mb", "Installed MB", "megabytes", False, points, tuple(steps))


def _change(
    figures: Sequence[FigureSums], given: Mapping[str, Mapping[str, str]], before: str, after: str
) -> VersionChange:
    """Return every page of the run whose output changed, with its value in the first figure, if that has
    one.
    """
    known: dict[str, tuple[float, float]] = {}
    for f in figures[:1]:
        values = zip(f.samples, f.page_values(after), f.page_values(before), strict=True)
        known = {sample: (float(now), float(then)) for sample, now, then in values}
    changed = [sample for sample, output in given[after].items() if output != given[before][sample]]
    rows = [PageDifference(s, *known.get(s, (math.nan, math.nan))) for s in changed]
    rows.sort(key=lambda row: (-abs(row.difference) if math.isfinite(row.difference) else 1.0, row.sample))
    return VersionChange(before, after, tuple(rows))
