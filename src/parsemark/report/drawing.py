"""Charts and tables for papers as data: what is on their axes, in their series, columns and rows.

Nothing here draws. The report and `parsemark export` draw charts and write tables; neither
knows the name of a figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from parsemark.protocols.run_scores.sums import read_toml
from parsemark.store.summary import Figure, FigureInfo, Slice, Style, Summary

Mark = Literal["line", "points", "bars", "band"]


def captioned(package: str, name: str, **words: object) -> tuple[str, str, str, str]:
    """Return key, title, caption and explanation of a chart or table (`captions.toml`), with words for what
    stands in braces.
    """
    own = read_toml(package, "captions.toml")[name]
    texts = (own.get("key", name), own["title"], own["caption"], own.get("about", ""))
    key, title, caption, about = (text.format(**words) for text in texts)
    return key, title, caption, about


def table_needs(package: str) -> dict[str, str]:
    """Return key of a table to what a run must have for it."""
    return {key: own["needs"] for key, own in read_toml(package, "captions.toml").items() if "needs" in own}


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """One axis of a chart."""

    label: str
    low: float | None = None
    high: float | None = None  # limits; None takes them from the data
    kind: Literal["linear", "log", "category"] = "linear"
    categories: tuple[str, ...] = ()  # names in order, for `category`; the data then hold indices


@dataclass(frozen=True, slots=True)
class Series:
    """One set of marks in one colour."""

    name: str
    mark: Mark
    x: tuple[float, ...]
    y: tuple[float, ...]
    parser: str | None = None  # whose colour it has; None is grey
    base_x: tuple[float, ...] = ()
    base: tuple[float, ...] = ()  # the other edge of a band
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()  # interval around each `y`, where there is one
    dash: bool = False
    faint: bool = False
    labels: tuple[str, ...] = ()  # what each point is, for people who point at it
    links: tuple[str, ...] = ()  # where each point leads, inside the site


def interval_bars(name: str, entries: Sequence[Figure | None], mark: Mark = "bars") -> list[Series]:
    """Return bars of a parser's figures by category, with intervals where all have one; none where none is
    known.
    """
    known = [(float(i), e) for i, e in enumerate(entries) if e is not None and e.value is not None]
    if not known:
        return []
    intervals = [e.interval for _, e in known if e.interval]
    ends = tuple(zip(*intervals, strict=True)) if len(intervals) == len(known) else ((), ())
    places, values = tuple(i for i, _ in known), tuple(e.value or 0.0 for _, e in known)
    return [Series(name, mark, places, values, parser=name, low=ends[0], high=ends[1])]


@dataclass(frozen=True, slots=True)
class Guide:
    """A thin grey line to read by: an iso-F1 curve, the diagonal."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its data."""

    key: str  # made by us; letters, digits and hyphens. The file name of the figure
    title: str
    caption: str
    about: str  # what the caption has no room for: definitions and how to read it, behind a "?"
    x: ChartAxis
    y: ChartAxis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()
    square: bool = False
    labelled: bool = False  # whether points carry their label in the drawing

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        caption: str,
        about: str,
        axes: tuple[ChartAxis, ChartAxis],
        series: Sequence[Series],
        guides: tuple[Guide, ...] = (),
        *,
        square: bool = False,
    ) -> Chart | None:
        """Return a chart of some series; None where there is nothing to draw."""
        return cls(key, title, caption, about, *axes, tuple(series), guides, square) if series else None


@dataclass(frozen=True, slots=True)
class Section:
    """Charts that belong together."""

    key: str
    title: str
    charts: tuple[Chart, ...]

    @classmethod
    def of(cls, key: str, title: str, charts: Sequence[Chart | None]) -> Section:
        """Return a section of those charts that there is something to draw for."""
        return cls(key, title, tuple(chart for chart in charts if chart is not None))


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table for a paper."""

    label: str
    style: Style = "score"
    higher_is_better: bool | None = True  # None where no value is better than another: counts of a corpus
    group: str = ""  # what stands above several neighbouring columns
    leaders: frozenset[str] | None = None
    """Rows that are significantly better than all others; None where no test was made of this column."""

    @classmethod
    def of(cls, info: FigureInfo, label: str | None = None, group: str = "") -> TableColumn:
        """Return a column of a figure, by default under its own name."""
        return cls(info.label if label is None else label, info.style, info.higher_is_better, group)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: what it is about, and a number, a text or nothing for each column."""

    label: str
    cells: tuple[Figure | str | None, ...]


FigureColumn = tuple[TableColumn, str, Slice | None]
"""A column, its figure, and the part of a run that it is of; None is all of it."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table for a paper: numbers with their intervals, from which the leader of each column is known."""

    key: str  # made by us; letters, digits, hyphens and dots. How it is asked for, and its file name
    title: str
    caption: str
    about: str  # what the caption has no room for: behind a "?" in the report, after it in a file
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    head: str = "Parser"  # what the rows are

    @classmethod
    def of_figures(
        cls,
        key: str,
        title: str,
        caption: str,
        about: str,
        summary: Summary,
        columns: Sequence[FigureColumn],
    ) -> DataTable:
        """Return a row for each parser, the best first."""
        rows = []
        for parser in summary.ordered():
            parts = ((part.figures if part else summary.parsers, name) for _, name, part in columns)
            rows.append(TableRow(parser, tuple(of.get(parser, {}).get(name) for of, name in parts)))
        tested = [
            replace(column, leaders=summary.ranking.leaders)
            if (name, part) == (summary.ranking.figure, None)
            else column
            for column, name, part in columns
        ]
        return cls(key, title, caption, about, tuple(tested), tuple(rows))

    @property
    def whole_caption(self) -> str:
        """Return caption and explanation together, for a file."""
        return f"{self.caption} {self.about}".rstrip()

    def best(self, column: int) -> frozenset[int]:
        """Return the rows that lead a column beyond chance; none where there is nothing to choose.

        By the verdicts where there are any. Without, a row leads if its interval lies apart from those of all
        rows below it; a count without an interval is exact.
        """
        about = self.columns[column]
        cells = [(i, row.cells[column]) for i, row in enumerate(self.rows)]
        known = {i: c for i, c in cells if isinstance(c, Figure) and c.value is not None}
        if about.higher_is_better is None or len(known) < 2:
            return frozenset()
        if about.leaders is not None:
            return frozenset(i for i in known if self.rows[i].label in about.leaders)
        sign = 1.0 if about.higher_is_better else -1.0
        top = max(sign * (c.value or 0.0) for c in known.values())
        found = frozenset(i for i, c in known.items() if sign * (c.value or 0.0) == top)
        others = [c for i, c in known.items() if i not in found]
        apart = all(_is_apart(known[i], other, about.style) for i in found for other in others)
        return found if others and apart else frozenset()


def _is_apart(a: Figure, b: Figure, style: Style) -> bool:
    if a.interval is None or b.interval is None:
        return style == "count"
    return a.interval[0] > b.interval[1] or a.interval[1] < b.interval[0]


@dataclass(frozen=True, slots=True)
class RunParser:
    """A parser of a run, as charts, tables and pages name it."""

    name: str
    colour: int
    key: str  # for names of charts and files: letters, digits and hyphens
    kind: str = "parser"  # of its page: on a site of bundles that is its history

    @property
    def href(self) -> str:
        """Return the address of its page within the site."""
        return f"{self.kind}-{self.key}.html"
