"""Two parsers of a run, or the same parsers in two runs: how far apart are they, and how sure is that?

The verdict on a pair is made in one place (`aggregate.rank`), so leaderboard, report and `compare` agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsemark.errors import UsageError
from parsemark.plain_words import counted, rounded, signed, signed_interval
from parsemark.protocols.broken import complete_sums
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.figures import FigureInfo, FigureSums, Floats
from parsemark.protocols.places import Places
from parsemark.protocols.ranking import rank, verdicts_on_pairs
from parsemark.protocols.run_tables import RunTables
from parsemark.protocols.summary import Summary, Verdict
from parsemark.registry import Spec, parse_spec


@dataclass(frozen=True, slots=True)
class PageDifference:
    """What A and B earned on one page in the primary figure."""

    sample: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """A − B."""
        return self.a - self.b


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B: every figure that is compared, and the pages on which they differ most."""

    a: str
    b: str
    primary: Verdict
    verdicts: tuple[Verdict, ...]
    """Of the main figures, the primary one first."""
    infos: tuple[FigureInfo, ...]
    """What these figures are."""
    n_pages: int
    n_documents: int
    """That the pages are of; those on which nobody has anything to count say nothing about the difference."""
    pages: tuple[PageDifference, ...]
    """Pages that differ, largest difference first."""

    @property
    def gain(self) -> float | None:
        """How much better A is than B in the primary figure: negative where it is worse, also where lower
        values are better; None where one of both has no value.
        """
        difference = self.primary.difference
        if difference is None:
            return None
        return difference if self.info(self.primary.figure).higher_is_better else 0.0 - difference

    def info(self, figure: str) -> FigureInfo:
        """What a figure is."""
        return next(info for info in self.infos if info.name == figure)


def compare_parsers(
    protocol: PageProtocol, summary: Summary, tables: RunTables, a: str, b: str
) -> Comparison:
    """Two parsers of one run.

    Raises:
        UsageError: They are one and the same, or have no figure to be compared in.
    """
    if a == b:
        raise UsageError(f"{a} cannot be compared with itself: name two different parsers.")
    compared = _compared(complete_sums(protocol, tables), summary.primary)
    if not compared or compared[0].info.name != summary.primary or not compared[0].samples:
        raise UsageError(f"{a} and {b} cannot be compared: this run has no page with a truth, or no score.")
    # A ranking leaves out parsers without a value, and has no verdicts where nobody earned anything.
    verdicts = [rank(f).verdict(a, b) or verdicts_on_pairs(f, [(a, b)])[0] for f in compared]
    return _comparison(compared, verdicts, a, b, (a, b))


def compare_runs(
    protocol: PageProtocol,
    old: tuple[Summary, RunTables],
    new: tuple[Summary, RunTables],
    parsers: Sequence[str],
) -> list[Comparison]:
    """Each parser in the new run against itself in the old one, on the pages that both runs have.

    Raises:
        UsageError: The runs were scored in ways that cannot be compared, or share no page.
    """
    require_comparable(old[0], new[0])
    both = ((old[1], new[1]), (new[1], old[1]))
    sums = [_compared(complete_sums(protocol, own, other), new[0].primary) for own, other in both]
    old_sums = {f.info.name: f for f in sums[0]}
    joined = [_join(f, old_sums[f.info.name], parsers) for f in sums[1] if f.info.name in old_sums]
    if not joined or not joined[0].samples:
        raise UsageError("The two runs share no page with a truth, so there is nothing to compare.")
    pairs = [(_label(p, "new"), _label(p, "old")) for p in parsers]
    by_figure = [verdicts_on_pairs(f, pairs) for f in joined]
    return [
        _comparison(joined, [verdicts[k] for verdicts in by_figure], *pair, pair)
        for k, pair in enumerate(pairs)
    ]


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
                specs = [_with_option(new.protocol, what, choice) for choice in (before, after)]
            choices = " or ".join(f"--protocol '{spec}'" for spec in specs)
            raise UsageError(
                f"The runs cannot be compared: {what} was {before} and is {after}. Score both the same way, "
                f"parsemark score RUN {choices}, and say so here, too."
            )


def _with_option(protocol: str, key: str, value: str) -> str:
    spec = parse_spec(protocol)
    return str(Spec(spec.name, tuple({**spec.as_dict(), key: value}.items())))


def in_words(comparison: Comparison, *, better_first: bool = True) -> str:
    """The answer to "is A better than B?" as one or two sentences.

    Args:
        comparison: Of A with B.
        better_first: Name the better one first, and its number. Without, A stays first, and signs are those
            of A minus B.
    """
    a, b, v = comparison.a, comparison.b, comparison.primary
    if v.state == "worse" and better_first:
        a, b, v = b, a, v.seen_from(v.b)
    label, interval = comparison.info(v.figure).label, ""
    if v.low is not None and v.high is not None:
        interval = f", simultaneous 95 % interval {signed_interval(v.low, v.high)}"
    p = format_p(v.p)
    values = f"{rounded(v.value_a)} ({a}) against {rounded(v.value_b)} ({b})"
    evidence = (
        f"{label} {values}, difference {signed(v.difference)}{interval}, "
        f"p {p if p.startswith('<') else f'= {p}'} on {counted(comparison.n_pages, 'page')} of "
        f"{counted(comparison.n_documents, 'document')}"
    )
    if v.difference is None:
        without = " and ".join(name for name, value in ((a, v.value_a), (b, v.value_b)) if value is None)
        return f"{a} and {b} cannot be compared: {without} has no {label} on these pages ({values})."
    if v.state in ("better", "worse"):
        return f"{a} is {v.state} than {b}: {evidence}."
    if v.state == "equal":
        return f"{a} and {b} are equal on every document: {evidence}."
    if v.state == "equivalent":
        return f"{a} and {b} are equivalent within ±{comparison.info(v.figure).margin or 0:g}: {evidence}."
    if v.here in ("better", "worse"):
        here = f"On documents of these kinds alone ({v.kinds}) {a} is {v.here} than {b}."
        return f"Not decidable for new kinds of documents, of which there are too few: {evidence}. {here}"
    return f"The difference between {a} and {b} is not resolved: {evidence}."


def format_p(p: float | None) -> str:
    """A p-value in words; one below 5 % looks so.

    >>> format_p(0.2), format_p(0.0001), format_p(0.04996), format_p(0.05), format_p(None)
    ('0.200', '< 0.001', '0.0499', '0.050', '–')
    """
    if p is not None and 0.0495 < p < 0.05:
        return f"{math.floor(p * 1e4) / 1e4:.4f}"
    return "< 0.001" if p is not None and p < 0.001 else rounded(p)


def _label(parser: str, run: str) -> str:
    return f"{parser} ({run})"


def _compared(figures: Sequence[FigureSums], primary: str) -> list[FigureSums]:
    """The main scores, the primary one first."""
    main = [f for f in figures if f.info.main and f.info.style == "score"]
    return sorted(main, key=lambda f: f.info.name != primary)


def _join(new: FigureSums, old: FigureSums, parsers: Sequence[str]) -> FigureSums:
    """One figure of both runs on the pages that both have; each parser is there twice."""
    shared = sorted(set(new.samples) & set(old.samples))
    sums: dict[str, Floats] = {}
    for name, figure in (("new", new), ("old", old)):
        position = {sample: k for k, sample in enumerate(figure.samples)}
        rows = np.array([position[sample] for sample in shared], dtype=int)
        sums |= {_label(parser, name): figure.sums[parser][rows] for parser in parsers}
    places = Places(new.samples, new.documents, new.kinds).among(shared)
    return FigureSums(
        new.info,
        places.samples,
        places.documents,
        sums,
        new.statistic,
        new.denominator,
        new.page_statistic,
        places.kinds,
    )


def _comparison(
    figures: Sequence[FigureSums], verdicts: Sequence[Verdict], a: str, b: str, keys: tuple[str, str]
) -> Comparison:
    first = figures[0]
    values = zip(first.samples, *(first.page_values(key) for key in keys), strict=True)
    rows = [PageDifference(s, float(x), float(y)) for s, x, y in values if np.isfinite(x) and np.isfinite(y)]
    changed = sorted((r for r in rows if r.difference != 0), key=lambda r: (-abs(r.difference), r.sample))
    infos = tuple(f.info for f in figures)
    n_documents = len(set(first.documents))
    return Comparison(
        a, b, verdicts[0], tuple(verdicts), infos, len(first.samples), n_documents, tuple(changed)
    )
