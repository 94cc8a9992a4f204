"""Two parsers of a run, or the same parsers in two runs: how far apart are they, and how sure is that?

The verdict on a pair is made in one place, `run_scores.pair_verdicts`, for leaderboards and `compare`.
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsemark.errors import UsageError, require_known
from parsemark.notebook import MOST_ROWS, html_lines, html_table
from parsemark.plain_words import counted, format_value, rounded, signed, signed_interval, state_words
from parsemark.protocols import FigureInfo, PageProtocol, RunTables, Summary, Verdict, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_sums
from parsemark.protocols.run_scores.pair_verdicts import rank, verdicts_on_pairs
from parsemark.protocols.run_scores.sums import FigureSums, Floats
from parsemark.specs import Spec, parse_spec
from parsemark.stats.intervals import RunVariance
from parsemark.store import Run, report_damage
from parsemark.store.run_tables import Places

Bucket = Literal["fixed", "regressed", "still_failing", "unchanged"]
SAME_SCORE = 1e-9  # scores that are as near as this are the same


@dataclass(frozen=True, slots=True)
class PageDifference:
    """What A and B earned on one page in the primary figure."""

    sample: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """Return a − B."""
        return self.a - self.b


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B: every figure that is compared, and the pages on which they differ most."""

    a: str
    b: str
    primary: Verdict
    verdicts: tuple[Verdict, ...]  # of the main figures, the primary one first
    infos: tuple[FigureInfo, ...]  # what these figures are
    n_pages: int
    extent: str  # on how many pages of how many documents
    pages: tuple[PageDifference, ...]  # pages that differ, largest difference first
    n_scored: int = 0  # pages on which both have a score
    n_perfect: int = 0  # pages on which both have the best possible score
    is_incomplete: bool = False  # whether answers are still to be had: until then nothing is decided

    @property
    def gain(self) -> float | None:
        """Return how much better A is than B in the primary figure: negative where it is worse, also where
        lower values are better; None where one of both has no value.
        """
        difference = self.primary.difference
        if difference is None:
            return None
        return difference if self.info(self.primary.figure).higher_is_better else 0.0 - difference

    @property
    def buckets(self) -> dict[Bucket, int]:
        """Count the pages on which A fixed or regressed against B, still fails, or is unchanged.

        Fixed: a better score than B. Regressed: a worse one. Still failing: the same score, below the best
        possible one. Unchanged: the best possible score of both.
        """
        higher = self.info(self.primary.figure).higher_is_better
        fixed = sum((page.difference > 0) == higher for page in self.pages)
        same = self.n_scored - len(self.pages)
        return {
            "fixed": fixed,
            "regressed": len(self.pages) - fixed,
            "still_failing": same - self.n_perfect,
            "unchanged": self.n_perfect,
        }

    def info(self, figure: str) -> FigureInfo:
        """Return the metadata of a figure."""
        return next(info for info in self.infos if info.name == figure)

    def _repr_html_(self) -> str:
        """Show the differences in a notebook: every score, and the pages that differ most."""
        rows = [
            [
                self.info(v.figure).label,
                *(format_value(value, self.info(v.figure).style) for value in (v.value_a, v.value_b)),
                f"{signed(v.difference)} {signed_interval(v.low, v.high)}".strip(),
                state_words(v.state),
            ]
            for v in self.verdicts
        ]
        pages = [[p.sample, rounded(p.a), rounded(p.b), signed(p.difference)] for p in self.pages]
        heads = ["score", self.a, self.b, f"{self.a} − {self.b}", self.a]
        parts = [html_table(heads, rows, f"{self.a} and {self.b} on {self.extent}")]
        if pages:
            shown = pages[:MOST_ROWS]
            parts.append(html_table(["page", self.a, self.b, "difference"], shown, "Pages that differ"))
        return "".join(parts)


def compare_parsers(run: Run, a: str, b: str, protocol: str | None = None) -> Comparison:
    """Return a against B on the pages of one run."""
    for name in (a, b):
        require_known("parser", name, parsers_of(run))
    summary = _summary(run, protocol)
    recipe = get_protocol(summary.protocol)
    with report_damage(run):
        return compare_in_tables(recipe, summary, run.run_tables(summary.protocol), a, b)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The parsers that two runs share, each against itself: new run minus old run."""

    figure: str
    comparisons: tuple[Comparison, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    protocol: str | None = None  # by which both were scored

    def _repr_html_(self) -> str:
        """Show the differences of each parser in a notebook."""
        head = [f"New minus old, by {self.protocol}."] if self.protocol else []
        return html_lines(head) + "".join(comparison._repr_html_() for comparison in self.comparisons)

    def drops(self, below: float = 0.0) -> list[Comparison]:
        """Return parsers whose primary figure is worse, and by more than allowed."""
        if math.isnan(below):
            raise UsageError("An allowed difference must be a number.")
        worse = (c for c in self.comparisons if c.primary.state == "worse")
        return [c for c in worse if c.gain is not None and c.gain < below]


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """The primary figure of A and B on the pages that have one attribute in common."""

    attribute: str
    value: str
    n_pages: int
    a: float | None
    b: float | None


def slice_differences(a: tuple[Summary, str], b: tuple[Summary, str]) -> list[SliceDifference]:
    """Compare two parsers, each of a summary, on every group of pages; the groups in which A lost first."""
    (mine, first), (other, second) = a, b
    known = {(part.attribute, part.value): part for part in other.slices if part.scope == "page"}
    figure, found = mine.primary, []
    for part in (part for part in mine.slices if part.scope == "page"):
        beside = known.get((part.attribute, part.value))
        values = [
            None
            if group is None or (number := group.figures.get(name, {}).get(figure)) is None
            else number.value
            for group, name in ((part, first), (beside, second))
        ]
        found.append(SliceDifference(part.attribute, part.value, part.n, values[0], values[1]))
    sign = 1.0 if mine.info(figure).higher_is_better else -1.0
    return sorted(found, key=lambda s: math.inf if s.a is None or s.b is None else sign * (s.a - s.b))


def compare_runs(old: Run, new: Run, protocol: str | None = None) -> RunComparison:
    """Return every parser that both runs have, on the pages of both. Raise UsageError if they are of
    different corpora, pages, or protocol versions, or share no parser.
    """
    old_names, new_names = set(parsers_of(old)), set(parsers_of(new))
    shared = sorted(old_names & new_names)
    if not shared:
        raise UsageError(f"{old.path} and {new.path} have no parser in common.")
    if new.is_baseline and not old.is_baseline:
        raise UsageError(f"{new.path} is a baseline and {old.path} a run. Swap RUN and --old.")
    require_same_corpus(old, new)
    # Without a wish: the first protocol of the new run that the old one was scored by, too.
    wanted = protocol or next((spec for spec in new.protocols if spec in old.protocols), None)
    summary, before = _summary(new, wanted), _summary(old, wanted)
    sides = (before, old.run_tables(before.protocol)), (summary, new.run_tables(summary.protocol))
    with report_damage(old), report_damage(new):
        found = compare_sides(get_protocol(summary.protocol), *sides, shared)
    only_old, only_new = sorted(old_names - new_names), sorted(new_names - old_names)
    return RunComparison(summary.primary, tuple(found), tuple(only_old), tuple(only_new), summary.protocol)


def require_same_corpus(old: Run, new: Run) -> None:
    """Refuse runs whose pages have other truths."""
    before, now = old.manifest.corpus, new.manifest.corpus
    if before.hash != now.hash:
        raise UsageError(
            f"The runs are of different corpora: {before.name} {before.version} ({before.hash[:8]}) and "
            f"{now.name} {now.version} ({now.hash[:8]}). Make the old run again, or save a new baseline."
        )


def require_same_pages(old: RunTables, new: RunTables) -> None:
    """Refuse runs of which one left out pages: it may be better on the others alone."""
    before, now = set(old.samples["sample"]), set(new.samples["sample"])
    if before != now:
        some = sorted(before ^ now)[:3]
        raise UsageError(
            f"The runs are of different pages: {len(before - now)} only in the old one, {len(now - before)} "
            f"only in the new one ({', '.join(some)}, …). Run both with the same --pages."
        )


def parsers_of(run: Run) -> list[str]:
    """Return the parsers that have rows in a run."""
    return sorted(run.table("parses")["parser"].unique())


def _summary(run: Run, protocol: str | None) -> Summary:
    """Return the summary of a protocol, given by its spec or by its name; by default the first one of the
    run.
    """
    return run.summary(str(get_protocol(protocol)) if protocol else next(iter(run.protocols), None))


def compare_in_tables(
    protocol: PageProtocol, summary: Summary, tables: RunTables, a: str, b: str
) -> Comparison:
    """Compare two parsers in the tables of one run; UsageError if they are one, or share no figure."""
    if a == b:
        raise UsageError(f"{a} cannot be compared with itself: give two different parsers.")
    compared = main_scores(complete_sums(protocol, tables), summary.primary)
    if not compared or compared[0].info.name != summary.primary or not compared[0].samples:
        raise UsageError(f"{a} and {b} cannot be compared: this run has no page with truth, or no score.")
    for name in (name for name in (a, b) if name not in compared[0].sums):
        scored = ", ".join(sorted(compared[0].sums))
        raise UsageError(
            f"{name} returns nothing that {summary.protocol} scores; it has scores from: {scored}."
        )
    # A ranking leaves out parsers without a value, and has no verdicts if all scores are 0.
    verdicts = [rank(f).verdict(a, b) or verdicts_on_pairs(f, [(a, b)])[0] for f in compared]
    if summary.ranking.is_incomplete:
        undecided = _comparison(compared, [verdict.undecided() for verdict in verdicts], a, b)
        return dataclasses.replace(undecided, is_incomplete=True)
    return _comparison(compared, verdicts, a, b)


def compare_sides(
    protocol: PageProtocol,
    old: tuple[Summary, RunTables],
    new: tuple[Summary, RunTables],
    parsers: Sequence[str],
) -> list[Comparison]:
    """Return each parser in the new run against itself in the old one. Raise UsageError if they were scored
    in ways that cannot be compared, are of different pages, or have none with a truth.
    """
    require_comparable(old[0], new[0])
    require_same_pages(old[1], new[1])
    both = ((old[1], new[1]), (new[1], old[1]))
    sums = [main_scores(complete_sums(protocol, own, other), new[0].primary) for own, other in both]
    old_sums = {f.info.name: f for f in sums[0]}
    joined = [_join(f, old_sums[f.info.name], parsers) for f in sums[1] if f.info.name in old_sums]
    if not joined or not joined[0].samples:
        raise UsageError("The two runs share no page with truth.")
    pairs = [(f"{p} (new)", f"{p} (old)") for p in parsers]
    by_figure = (verdicts_on_pairs(f, pairs) for f in joined)
    by_pair = zip(*by_figure, strict=True)
    return [_comparison(joined, own, *pair) for pair, own in zip(pairs, by_pair, strict=True)]


def require_comparable(old: Summary, new: Summary) -> None:
    """Refuse two summaries whose numbers mean different things."""
    for what, before, after in (
        ("protocol", old.protocol, new.protocol),
        ("version of the protocol", str(old.comparability), str(new.comparability)),
        *((key, old.settings.get(key, "–"), value) for key, value in new.settings.items()),
    ):
        if before != after:
            specs = [new.protocol]
            if old.protocol == new.protocol and what in new.settings:
                # The protocol chose for itself, from what each run has: one choice must be named for both.
                spec = parse_spec(new.protocol)
                chosen = [{**spec.as_dict(), what: choice} for choice in (before, after)]
                specs = [str(Spec(spec.name, tuple(options.items()))) for options in chosen]
            choices = " or ".join(f"--protocol '{spec}'" for spec in specs)
            raise UsageError(
                f"The runs cannot be compared: {what} was {before} and is {after}. Score both the same way, "
                f"parsemark score RUN {choices}, and give the same options here."
            )


def main_scores(figures: Iterable[FigureSums], primary: str) -> list[FigureSums]:
    """Return the main scores, the primary one first."""
    main = [f for f in figures if f.info.main and f.info.style == "score"]
    return sorted(main, key=lambda f: f.info.name != primary)


def _join(new: FigureSums, old: FigureSums, parsers: Sequence[str]) -> FigureSums:
    """Return one figure of both runs on the pages that both have; each parser is there twice."""
    shared = sorted(set(new.samples) & set(old.samples))
    sums: dict[str, Floats] = {}
    variance: dict[str, RunVariance] = {}
    for name, figure in (("new", new), ("old", old)):
        position = {sample: k for k, sample in enumerate(figure.samples)}
        rows = np.array([position[sample] for sample in shared], dtype=int)
        sums |= {f"{parser} ({name})": figure.sums[parser][rows] for parser in parsers}
        variance |= {f"{parser} ({name})": of for parser, of in figure.run_variance.items()}
    places = Places(new.samples, new.documents, new.division).among(shared)
    how = new.statistic, new.denominator, new.page_statistic
    return FigureSums(new.info, places.samples, places.documents, sums, *how, places.division, variance)


def _comparison(figures: Sequence[FigureSums], verdicts: Sequence[Verdict], a: str, b: str) -> Comparison:
    first = figures[0]
    values = zip(first.samples, first.page_values(a), first.page_values(b), strict=True)
    rows = [PageDifference(s, float(x), float(y)) for s, x, y in values if np.isfinite(x) and np.isfinite(y)]
    changed = sorted((r for r in rows if r.difference != 0), key=lambda r: (-abs(r.difference), r.sample))
    infos, n_pages = tuple(f.info for f in figures), len(first.samples)
    best = first.info.top if first.info.higher_is_better else 0.0
    n_perfect = 0 if best is None else sum(r.a == r.b and abs(r.a - best) < SAME_SCORE for r in rows)
    whole = tuple(verdicts), infos, n_pages, extent(first), tuple(changed), len(rows), n_perfect
    return Comparison(a, b, verdicts[0], *whole)


def extent(figure: FigureSums) -> str:
    """Return the basis of a comparison in the usual words: all pages with truth, and their documents."""
    return f"{counted(len(figure.samples), 'page')} of {counted(len(set(figure.documents)), 'document')}"
