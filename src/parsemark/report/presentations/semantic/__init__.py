"""Horn & Keuper's Figure 6 (how scores are distributed, parser by parser) and their Table 3."""

from collections.abc import Sequence
from functools import partial

from parsemark.report.drawing import (
    Chart,
    ChartAxis,
    DataTable,
    RunParser,
    Section,
    Series,
    TableColumn,
    captioned,
    table_needs,
)
from parsemark.report.source import Drawing, RunSource

_captioned = partial(captioned, __package__)
_SCORES = tuple(str(score) for score in range(11))
_MISSED = "missed"


def sections(run: RunSource) -> list[Section]:
    """Return all parsers in one chart, then each by itself."""
    together = histogram(run, run.parsers, _captioned("semantic-histogram"))
    each = [chart for parser in run.parsers for chart in parser_charts(run, parser)]
    return [Section.of("scores", "Scores", [together, *each])]


def parser_charts(run: RunSource, parser: RunParser) -> list[Chart]:
    """Return the histogram of one parser."""
    text = _captioned("semantic-histogram-of-parser", key=parser.key, parser=parser.name)
    chart = histogram(run, [parser], text)
    return [] if chart is None else [chart]


def histogram(run: RunSource, parsers: Sequence[RunParser], text: tuple[str, str, str, str]) -> Chart | None:
    """Return the share of the judged tables by score; missed tables stand apart from those that score 0."""
    series = []
    for parser in parsers:
        counted = run.details("histogram", parser.name)
        numbers = [counted["without_value"], *counted["scores"]] if counted else []
        if total := sum(numbers):
            shares = tuple(n / total for n in numbers)
            positions = tuple(float(i) for i in range(len(numbers)))
            series.append(Series(parser.name, "bars", positions, shares, parser=parser.name))
    scores = ChartAxis("score", kind="category", categories=(_MISSED, *_SCORES))
    return Chart.of(*text, (scores, ChartAxis("share of tables", 0.0)), series)


def horn_tables(run: RunSource) -> list[DataTable]:
    """Return their Table 3: the score over all tables and by complexity, TEDS, and what parsing costs."""
    text = _captioned("horn-3", judge=run.summary.settings.get("judge", "–"))
    columns = [(TableColumn.of(info), info.name, None) for info in run.summary.shown() if info.main]
    return [DataTable.of_figures(*text, run.summary, columns)]


DRAWING = Drawing(sections, parser_charts, horn_tables, table_needs(__package__))
