"""Judges asked about rated pairs: their columns, how far they agree with themselves and each other, their
biases.

- *Consistency*: the same question asked several times.
- *Agreement*: Krippendorff's alpha over judges, and each two of them.
- *Bias*: `order` (the same pair with the extraction shown first), `format` (the same extraction rewritten in
  other notations, for tables that every notation can say), `length` (how the difference to people grows when
  the extraction doubles in length). Order and format need further questions and are asked for; length needs
  none.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from parsemark.errors import FormatError
from parsemark.formats import read_tables, write_table
from parsemark.judges import Answered, Asker, Judge, Pair, PairVerdict, judge_pairs
from parsemark.model import Table
from parsemark.stats.intervals import bootstrap_interval, sum_by_cluster
from parsemark.study.agreement import krippendorff_alpha
from parsemark.study.columns import StudyColumn, complete_mean
from parsemark.study.ratings import RatedPair, Ratings

FORMATS = ("html", "markdown", "latex")
_MOST_CELLS = 2000


@dataclass(frozen=True, slots=True)
class Bias:
    """How much something that should not matter changes a judge's score."""

    judge: str
    kind: str  # `order`, `format` or `length`
    what: str
    effect: float | None  # in points of the score
    ci95: tuple[float, float] | None
    n: int


@dataclass(frozen=True, slots=True)
class Consistency:
    """How far a judge agrees with itself when asked again."""

    judge: str
    repeats: int
    n: int  # pairs with a score at every repeat
    same: float | None  # share of pairs with the same score every time
    mean_range: float | None  # mean of the largest minus the smallest score of a pair
    alpha: float | None


@dataclass(frozen=True, slots=True)
class TwoJudges:
    """How far two judges agree."""

    one: str
    other: str
    n: int
    pearson: float | None
    mean_absolute_difference: float | None


@dataclass(frozen=True)
class StudyVerdicts:
    """All that judges said of the pairs of a study."""

    columns: tuple[StudyColumn, ...]
    statuses: dict[str, dict[str, int]]  # judge to status to number of questions
    consistency: tuple[Consistency, ...]
    alpha: float | None  # Krippendorff's alpha over judges
    agreement: tuple[TwoJudges, ...]
    bias: tuple[Bias, ...]
    spent_usd: float
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the entry `judges` of `study.json`."""
        return {key: value for key, value in asdict(self).items() if key != "columns"}


_Verdicts = Mapping[tuple[str, str], Sequence[PairVerdict]]
"""By position of a pair, perhaps with the notation it was rewritten in, and judge."""
_Rated = Sequence[tuple[str, RatedPair]]  # position in the file, which names it beyond doubt, and the pair


def judge_ratings(
    ratings: Ratings,
    judges: Sequence[Judge],
    asker: Asker,
    *,
    repeats: int = 1,
    bias: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> StudyVerdicts:
    """Ask judges about all pairs that have an extraction, and with `bias` further questions that show it."""
    labels = Counter(judge.label for judge in judges)
    # The whole spec where the short name would stand for two.
    names = {judge: judge.label if labels[judge.label] == 1 else str(judge) for judge in judges}
    rated = _rated(ratings)
    verdicts: defaultdict[tuple[str, str], list[PairVerdict]] = defaultdict(list)

    def deliver(verdict: PairVerdict) -> None:
        verdicts[verdict.pair, verdict.judge].append(verdict)
        advance()

    swapped = {
        judge: replace(judge, order="pred_first" if judge.order == "truth_first" else "truth_first")
        for judge in judges
        if bias
    }
    plain = [Pair(place, pair.truth, pair.pred, ratings.kind) for place, pair in rated]
    judge_pairs(plain, judges, asker, deliver, repeats=repeats)
    if bias:
        judge_pairs(plain, list(swapped.values()), asker, deliver)
        judge_pairs(_rewritten(rated, ratings.kind), judges, asker, deliver)
    everything = [verdict for found in verdicts.values() for verdict in found]
    columns = tuple(_column(ratings, judge, names[judge], verdicts) for judge in judges)
    by_pair = zip(*(column.values for column in columns), strict=True)
    alpha_units = [[value for value in row if value is not None] for row in by_pair]
    return StudyVerdicts(
        columns=columns,
        statuses={
            name: dict(Counter(v.status.value for v in everything if v.judge == str(judge)))
            for judge, name in names.items()
        },
        consistency=tuple(
            _consistency(judge, names[judge], rated, verdicts) for judge in judges if repeats > 1
        ),
        alpha=krippendorff_alpha(alpha_units) if len(columns) > 1 else None,
        agreement=tuple(_two(one, other) for one, other in combinations(columns, 2)),
        bias=tuple(_biases(rated, names, swapped, verdicts)),
        spent_usd=sum(v.spent_usd for v in everything),
        seconds=sum(v.seconds for v in everything if not v.stored),
    )


def questions_of(ratings: Ratings, judges: Sequence[Judge], repeats: int, bias: bool) -> int:
    """Return how many questions there will be, for a progress bar."""
    rated = _rated(ratings)
    further = len(rated) + sum(1 for _ in _rewritten(rated, ratings.kind)) if bias else 0
    return (len(rated) * repeats + further) * len(judges)


def _rated(ratings: Ratings) -> _Rated:
    return [(str(k), pair) for k, pair in enumerate(ratings.pairs) if not pair.is_empty]


def _column(ratings: Ratings, judge: Judge, name: str, verdicts: _Verdicts) -> StudyColumn:
    values, failures, costs = list[float | None](), list[str](), list[float]()
    for place, pair in enumerate(ratings.pairs):
        found = [] if pair.is_empty else verdicts.get((str(place), str(judge)), [])
        values.append(complete_mean([v.score for v in found]))
        costs += [v.cost_usd for v in found if v.cost_usd is not None and v.status is Answered.OK]
        failures += [f"{pair.id}: {v.status.value}: {v.message}" for v in found if v.score is None]
    return StudyColumn(name, "judge", tuple(values), tuple(failures), prompt=judge.prompt, costs=tuple(costs))


def _consistency(judge: Judge, name: str, rated: _Rated, verdicts: _Verdicts) -> Consistency:
    found = [verdicts.get((place, str(judge)), []) for place, _ in rated]
    repeats = max((len(f) for f in found), default=0)
    complete = [[v.score for v in f if v.score is not None] for f in found]
    complete = [scores for scores in complete if len(scores) == repeats > 1]
    ranges = [max(scores) - min(scores) for scores in complete]
    same = sum(r == 0 for r in ranges) / len(ranges) if ranges else None
    mean = sum(ranges) / len(ranges) if ranges else None
    return Consistency(name, repeats, len(complete), same, mean, krippendorff_alpha(complete))


def _two(one: StudyColumn, other: StudyColumn) -> TwoJudges:
    rows = [(a, b) for a, b in zip(one.values, other.values, strict=True) if a is not None and b is not None]
    a, b = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    varies = len(rows) > 2 and np.ptp(a) > 0 and np.ptp(b) > 0
    pearson = float(np.corrcoef(a, b)[0, 1]) if varies else None
    apart = float(np.abs(a - b).mean()) if rows else None
    return TwoJudges(one.name, other.name, len(rows), pearson, apart)


def _biases(
    rated: _Rated, names: dict[Judge, str], swapped: dict[Judge, Judge], verdicts: _Verdicts
) -> Iterator[Bias]:
    def said(place: str, judge: Judge) -> float | None:
        return complete_mean([v.score for v in verdicts.get((place, str(judge)), ())])

    for judge, name in names.items():
        if judge in swapped:
            order = [(pair, said(place, swapped[judge]), said(place, judge)) for place, pair in rated]
            yield _mean_difference(name, "order", "extraction shown first", order)
            scores = {f: [said(f"{place} {f}", judge) for place, _ in rated] for f in FORMATS}
            for format in FORMATS:
                others = zip(*(scores[f] for f in FORMATS if f != format), strict=True)
                sides = zip(rated, scores[format], map(complete_mean, others), strict=True)
                rows = [(pair, own, other) for (_, pair), own, other in sides]
                yield _mean_difference(name, "format", f"{format} instead of another notation", rows)
        yield _length_bias(name, [(pair, said(place, judge)) for place, pair in rated])


def _mean_difference(
    judge: str, kind: str, what: str, rows: Sequence[tuple[RatedPair, float | None, float | None]]
) -> Bias:
    known = [(p.cluster, a - b) for p, a, b in rows if a is not None and b is not None]
    if not known:
        return Bias(judge, kind, what, None, None, 0)
    differences = np.array([[1.0, d] for _, d in known])
    sums, _ = sum_by_cluster(differences, [cluster for cluster, _ in known])
    interval = bootstrap_interval(sums, lambda t: t[..., 1] / t[..., 0])
    return Bias(judge, kind, what, float(differences[:, 1].mean()), interval, len(known))


def _length_bias(judge: str, rows: Sequence[tuple[RatedPair, float | None]]) -> Bias:
    """Return the slope of (judge − people) on log2 of the extraction's length, from sums by cluster."""
    what = "per doubling of the extraction, against people"
    scored = [(pair, score) for pair, score in rows if score is not None]
    known = [(p.cluster, math.log2(max(1, len(p.pred))), s - p.mean_rating) for p, s in scored]
    if len(known) < 3 or len({x for _, x, _ in known}) < 2:
        return Bias(judge, "length", what, None, None, len(known))
    middle = sum(x for _, x, _ in known) / len(known)
    moments = np.array([[1.0, x - middle, y, (x - middle) ** 2, (x - middle) * y] for _, x, y in known])
    sums, _ = sum_by_cluster(moments, [cluster for cluster, _, _ in known])
    interval = bootstrap_interval(sums, _slope)
    return Bias(judge, "length", what, float(_slope(moments.sum(axis=0))), interval, len(known))


def _slope(totals: Any) -> Any:
    n, x, y, xx, xy = (totals[..., k] for k in range(5))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (xy - x * y / n) / (xx - x * x / n)


def _rewritten(rated: _Rated, kind: str) -> Iterator[Pair]:
    """Yield the extractions that every notation can say, in each of them."""
    if kind != "table":
        return
    for place, pair in rated:
        if (table := _plain_table(pair.pred)) is not None:
            yield from (Pair(f"{place} {f}", pair.truth, write_table(table, f)) for f in FORMATS)


def _plain_table(text: str) -> Table | None:
    """Return the one table of a text, if it is a full grid of short cells: every notation writes it without
    loss.
    """
    try:
        found = read_tables(text)
    except FormatError:
        return None
    if len(found) != 1:
        return None
    table = found[0].table
    plain = not table.has_spans and not table.holes and 0 < table.n_cells <= _MOST_CELLS
    return table if plain and not any("\n" in cell.text for cell in table.cells) else None
