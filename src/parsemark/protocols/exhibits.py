"""What may be shown of a run beside its figures: charts, tables for papers, errors by type, whole pages.

Nothing here draws. The report and `parsemark figures` draw charts, `parsemark export` writes tables, the page
viewer steps through errors; none of them knows the name of a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from parsemark.model import Box, Page, Prediction
from parsemark.protocols.figures import Figure, Style

Mark = Literal["line", "points", "bars", "band"]


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """One axis of a chart."""

    label: str
    low: float | None = None
    high: float | None = None
    """Limits; None takes them from the data."""
    kind: Literal["linear", "log", "category"] = "linear"
    categories: tuple[str, ...] = ()
    """Names in order, for `category`; the data then hold indices."""


@dataclass(frozen=True, slots=True)
class Series:
    """One set of marks in one colour."""

    name: str
    mark: Mark
    x: tuple[float, ...]
    y: tuple[float, ...]
    parser: str | None = None
    """Whose colour it has; None is grey."""
    base_x: tuple[float, ...] = ()
    base: tuple[float, ...] = ()
    """The other edge of a band."""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    """Interval around each `y`, where there is one."""
    dash: bool = False
    faint: bool = False
    labels: tuple[str, ...] = ()
    """What each point is, for people who point at it."""
    links: tuple[str, ...] = ()
    """Where each point leads, inside the site."""


def interval_bars(name: str, entries: Sequence[tuple[int, Figure]]) -> Series:
    """Bars of a parser's figures at category positions, with intervals where all of them have one."""
    intervals = [e.interval for _, e in entries if e.interval]
    complete = len(intervals) == len(entries)
    return Series(
        name,
        "bars",
        tuple(float(i) for i, _ in entries),
        tuple(e.value or 0.0 for _, e in entries),
        parser=name,
        low=tuple(low for low, _ in intervals) if complete else (),
        high=tuple(high for _, high in intervals) if complete else (),
    )


@dataclass(frozen=True, slots=True)
class Guide:
    """A thin grey line to read by: an iso-F1 curve, the diagonal."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its data."""

    key: str
    """Made by us; letters, digits and hyphens. The file name of the figure."""
    title: str
    caption: str
    x: ChartAxis
    y: ChartAxis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()
    square: bool = False
    labelled: bool = False
    """Whether points carry their label in the drawing."""

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        caption: str,
        axes: tuple[ChartAxis, ChartAxis],
        series: Sequence[Series],
        guides: tuple[Guide, ...] = (),
        *,
        square: bool = False,
    ) -> Chart | None:
        """A chart of some series; None where there is nothing to draw."""
        return cls(key, title, caption, *axes, tuple(series), guides, square) if series else None


@dataclass(frozen=True, slots=True)
class Section:
    """Charts that belong together."""

    key: str
    title: str
    charts: tuple[Chart, ...]

    @classmethod
    def of(cls, key: str, title: str, charts: Sequence[Chart | None]) -> Section:
        """A section of those charts that there is something to draw for."""
        return cls(key, title, tuple(chart for chart in charts if chart is not None))


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table for a paper."""

    label: str
    style: Style = "score"
    higher_is_better: bool | None = True
    """None where no value is better than another: counts of a corpus."""
    group: str = ""
    """What stands above several neighbouring columns."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: what it is about, and a number, a text or nothing for each column."""

    label: str
    cells: tuple[Figure | str | None, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table for a paper: numbers with their intervals, from which the best of each column is known."""

    key: str
    """Made by us; letters, digits, hyphens and dots. How it is asked for, and its file name."""
    title: str
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    head: str = "Parser"
    """What the rows are."""

    def best(self, column: int) -> frozenset[int]:
        """The rows with the best value of a column; none where there is nothing to choose."""
        better = self.columns[column].higher_is_better
        values = {i: v for i, row in enumerate(self.rows) if (v := number_in(row.cells[column])) is not None}
        if better is None or len(values) < 2:
            return frozenset()
        top = max(values.values()) if better else min(values.values())
        found = frozenset(i for i, value in values.items() if value == top)
        return found if len(found) < len(values) else frozenset()


def number_in(cell: Figure | str | None) -> float | None:
    """The value of a cell that holds a number."""
    return None if cell is None or isinstance(cell, str) else cell.value


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A type of error that a protocol tells apart."""

    name: str
    """In letters and `_`."""
    label: str
    definition: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One error between a truth and what answers it."""

    kind: str
    """Name of an `ErrorKind`; empty for what is worth telling but no error of its own."""
    message: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pair scores as it does, in words."""

    title: str
    """What is explained: `reader 7.3 of 10`."""
    findings: tuple[Finding, ...]
    """Strongest first; perhaps not all."""
    counts: Mapping[str, int]
    """How many of each `ErrorKind` there are in all."""
    n_findings: int


@dataclass(frozen=True, slots=True)
class PageMatch:
    """What answers what on a page that is shown whole."""

    kind: str
    """`pair`, `split`, `merge`, `moved`, `miss` or `extra`."""
    category: str
    truth: str
    """What stands there, as far as it is shown; empty where nothing does."""
    pred: str
    similarity: float | None = None
    boxes: tuple[Box, ...] = ()
    """Where the truth stands."""
    is_formula: bool = False
    """Whether truth and prediction are LaTeX."""
    is_compared: bool = False
    """Whether the two are texts whose difference is shown."""


@dataclass(frozen=True, slots=True)
class PageView:
    """A whole page as a parser read it."""

    matches: tuple[PageMatch, ...]
    true_path: tuple[Box, ...]
    """The reading order of the truth."""
    pred_path: tuple[Box, ...]
    """The same places in the parser's order."""
    lost: tuple[str, ...]
    """Stretches of the truth's texts and cells that were lost; perhaps not all."""
    n_lost: int
    """How many characters were lost in all."""
    values: Mapping[str, float]
    """Figures of this page."""
    message: str | None = None
    """Why there is nothing to see, where the parser failed."""
    marked: tuple[tuple[str, str], ...] = ()
    """The output's text in pieces: `same`, and `new` where nothing on the page supports it."""
    size: tuple[float, float] | None = None
    """Of the page in points, where there is no truth that says it."""


@dataclass(frozen=True, slots=True)
class PageViews:
    """How a protocol shows whole pages, and how they are listed."""

    figure: str
    """The figure that stands for a page in the list."""
    figure_words: str
    """What these numbers are, as a sentence."""
    view: Callable[[Page, Prediction], PageView] | None = None
    """Make the view of one page of a parser that has figures."""
    of_rows: Callable[[Sequence[Mapping[str, Any]], Prediction], PageView] | None = None
    """The same from the rows of the page and parser, for a protocol that needs no truth."""
    worst: str = ""
    """The measure of pages by which the worst come first; by default pages are in their own order."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that the profiles of a protocol do differently."""

    name: str
    value: object
    sentence: str
    """What it does."""


@dataclass(frozen=True, slots=True)
class NamedProfile:
    """One of several sets of rules that a protocol has."""

    name: str
    switches: tuple[Switch, ...] = ()
    """The same, in the same order, for all profiles; none for a profile that is not made of switches."""
    sentence: str = ""
    """How a profile that is not made of switches differs from those that are."""
