"""The leaderboard's table: cells with intervals, places with their uncertainty, and the answer in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsemark.plain_words import UNDEFINED, figure_note, format_value, listed, signed, signed_interval
from parsemark.protocols import Figure, FigureInfo, Ranking, Summary
from parsemark.report.drawing import RunParser
from parsemark.store.summary import EQUIVALENCE_MARGIN

Figures = Mapping[str, Mapping[str, Figure]]


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a value lies on the bar of its column, in percent of the width."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return percent from the left."""
        span = self.high - self.low
        return round(100 * (min(max(value, self.low), self.high) - self.low) / span, 1) if span > 0 else 50.0


@dataclass(frozen=True, slots=True)
class LeaderboardCell:
    """One number of the table."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    title: str
    problem: bool


@dataclass(frozen=True, slots=True)
class Rank:
    """A place, or the places that the data allow."""

    low: int
    text: str
    mark: str = ""  # what the data say about the distance to the best, where that is not "worse"
    to_best: str = ""  # the difference to the best with its interval


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One parser."""

    parser: RunParser
    rank: Rank
    cells: Mapping[str, LeaderboardCell]


@dataclass(frozen=True, slots=True)
class LeaderboardTable:
    """The table of one slice."""

    columns: Sequence[FigureInfo]
    axes: Mapping[str, Scale]
    rows: Sequence[LeaderboardRow]
    headline: FigureInfo
    rank_definition: str
    sentence: str

    @property
    def scored(self) -> list[RunParser]:
        """Return the parsers that have a primary score, best first."""
        name = self.headline.name
        return [r.parser for r in self.rows if name in r.cells and r.cells[name].value is not None]


RANK_DEFINITION = (
    "The ranks that are possible on documents like these. A parser is ahead of another if the simultaneous "
    "95 % confidence interval of their difference excludes 0. “Not significant”: the interval of the "
    "difference from the leader includes 0. "
    f"“Equivalent”: it lies within ±{EQUIVALENCE_MARGIN:g} (of a range of 1). "
    "If only some pages are selected, ranks are the order of the scores, without a test."
)
MARKS = {"not_significant": "not significant", "equal": "equal", "equivalent": "equivalent"}


def leaderboard_table(
    parsers: Sequence[RunParser], summary: Summary, figures: Figures, ranking: Ranking | None
) -> LeaderboardTable:
    """Return the table of some pages, with figures by parser, and the verdicts where these were tested."""
    headline, columns = summary.info(summary.primary), summary.shown()
    axes = {c.name: scale for c in columns if (scale := _scale(c, figures)) is not None}
    ranks = _tested_ranks(ranking) if ranking and ranking.ranks else _plain_ranks(headline, figures)
    rows = [
        LeaderboardRow(
            parser,
            ranks.get(parser.name, Rank(len(parsers), "–")),
            {c.name: leaderboard_cell(c, figures.get(parser.name, {}).get(c.name)) for c in columns},
        )
        for parser in parsers
    ]
    rows.sort(key=lambda row: _order(row, headline))
    return LeaderboardTable(columns, axes, rows, headline, RANK_DEFINITION, _sentence(rows, headline))


def _order(row: LeaderboardRow, headline: FigureInfo) -> tuple[float, str]:
    value = row.cells[headline.name].value if headline.name in row.cells else None
    sign = -1.0 if headline.higher_is_better else 1.0
    return float("inf") if value is None else sign * value, row.parser.name


def leaderboard_cell(column: FigureInfo, figure: Figure | None) -> LeaderboardCell:
    """Return a figure as a cell of its column."""
    if figure is None:
        return LeaderboardCell(None, None, None, "–", "", False)
    problem = column.name == "failures" and bool(figure.value)
    text = format_value(figure.value, column.style)
    note = figure_note(figure.interval, figure.n, column.style, column.denominator)
    return LeaderboardCell(figure.value, figure.low, figure.high, text, note, problem)


def _scale(column: FigureInfo, figures: Figures) -> Scale | None:
    """Return the scale: one for all scores, so that bars of different columns compare; others start at 0."""
    if column.style == "count":
        return None
    if column.top is not None:
        return Scale(0.0, column.top)
    known = [own[column.name] for own in figures.values() if column.name in own]
    tops = [f.value if f.high is None else f.high for f in known if f.value is not None]
    return Scale(0.0, max(tops)) if tops and max(tops) > 0 else None


def _tested_ranks(ranking: Ranking) -> dict[str, Rank]:
    ranks = {}
    for name, (low, high) in ranking.ranks.items():
        said: tuple[str, ...] = ()
        if (verdict := ranking.to_best(name)) is not None:
            ends = signed_interval(verdict.low, verdict.high, 2)
            interval = "" if ends == UNDEFINED else f" ({ends})"
            said = MARKS.get(verdict.state, ""), signed(verdict.difference) + interval
        ranks[name] = Rank(low, f"{low}" if low == high else f"{low}–{high}", *said)
    return ranks


def _plain_ranks(headline: FigureInfo, figures: Figures) -> dict[str, Rank]:
    sign = 1 if headline.higher_is_better else -1
    known = {name: own[headline.name].value for name, own in figures.items() if headline.name in own}
    values = {name: sign * value for name, value in known.items() if value is not None}
    if headline.worst is not None and all(value == sign * headline.worst for value in values.values()):
        return {}  # all scores are 0, so there is no leader
    places = {name: 1 + sum(other > value for other in values.values()) for name, value in values.items()}
    return {name: Rank(place, str(place)) for name, place in places.items()}


def _sentence(rows: Sequence[LeaderboardRow], headline: FigureInfo) -> str:
    """Return the result in words."""
    scored = [r for r in rows if headline.name in r.cells and r.cells[headline.name].value is not None]
    if not scored:
        return "No parser has a score yet."
    cell = scored[0].cells[headline.name]
    if cell.value == headline.worst:
        return f"All parsers have the worst score: {headline.label} {cell.text}."
    interval = f" ({cell.title.rpartition(', n = ')[0]})" if cell.low is not None else ""
    with_mark = {mark: [r.parser.name for r in scored[1:] if r.rank.mark == mark] for mark in MARKS.values()}
    leaders = [scored[0].parser.name, *with_mark["equal"]]
    lead = "leads" if len(leaders) == 1 else "lead"
    first = f"{listed(leaders)} {lead} with {headline.label} {cell.text}{interval}"
    parts = [f"{first}, equal on every document" if len(leaders) > 1 else first]
    if equivalent := with_mark["equivalent"]:
        verb = "is" if len(equivalent) == 1 else "are"
        parts.append(f"{listed(equivalent)} {verb} equivalent within ±{headline.margin or 0:g}")
    if open_questions := with_mark["not significant"]:
        verb, leader = "are" if len(open_questions) > 1 else "is", "them" if len(leaders) > 1 else "it"
        parts.append(f"{listed(open_questions)} {verb} statistically indistinguishable from {leader}")
    if len(parts) == 1 and len(scored) > len(leaders):
        return f"{parts[0]}, ahead of every other parser."
    return f"{'; '.join(parts)}."
