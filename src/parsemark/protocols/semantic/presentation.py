"""Horn & Keuper's Figure 6 (how scores are distributed, parser by parser) and their Table 3."""

from __future__ import annotations

from collections.abc import Sequence

from parsemark.protocols.charts import Chart, ChartAxis, DataTable, Section, Series, TableColumn
from parsemark.protocols.presentation import Presentation, RunParser, RunView
from parsemark.protocols.tables.matched_tables import CONFIDENCE_THRESHOLD

_NEEDS = {"horn-3": "tables in the truth"}
_SCORES = tuple(str(score) for score in range(11))
_MISSED = "missed"


def present() -> Presentation:
    """Show how scores are distributed, and their Table 3."""
    return Presentation(
        charts=sections,
        parser_charts=parser_charts,
        paper_tables=lambda run: [horn_table(run)],
        paper_table_needs=_NEEDS,
        sure_above=CONFIDENCE_THRESHOLD,
    )


def sections(run: RunView) -> list[Section]:
    """All parsers in one chart, then each by itself."""
    together = histogram(run, run.parsers, "semantic-histogram", "How are the scores distributed?")
    return [Section.of("scores", "Scores", [together, *(_of_parser(run, p) for p in run.parsers)])]


def parser_charts(run: RunView, parser: RunParser) -> list[Chart]:
    """The histogram of one parser."""
    chart = _of_parser(run, parser)
    return [] if chart is None else [chart]


def _of_parser(run: RunView, parser: RunParser) -> Chart | None:
    return histogram(run, [parser], f"semantic-histogram-{parser.key}", f"Scores of {parser.name}")


def histogram(run: RunView, parsers: Sequence[RunParser], key: str, title: str) -> Chart | None:
    """Share of the judged tables by score; missed tables stand apart from those that score 0."""
    series = []
    for parser in parsers:
        counted = run.details("histogram", parser.name)
        if not counted:
            continue
        numbers = [counted["without_value"], *counted["scores"]]
        total = sum(numbers)
        if total:
            shares = tuple(n / total for n in numbers)
            positions = tuple(float(i) for i in range(len(numbers)))
            series.append(Series(parser.name, "bars", positions, shares, parser=parser.name))
    scores = ChartAxis("score", kind="category", categories=(_MISSED, *_SCORES))
    return Chart.of(
        key,
        title,
        "Share of the judged tables by score, rounded; tables that the parser missed, or lost to a failure, "
        "stand apart. A mean hides whether a parser is a little wrong everywhere or drops whole tables.",
        (scores, ChartAxis("share of tables", 0.0)),
        series,
    )


def horn_table(run: RunView) -> DataTable:
    """Their Table 3: the score over all tables and by complexity, TEDS, and what parsing costs."""
    infos = [info for info in run.summary.shown() if info.main]
    return DataTable.of_figures(
        "horn-3",
        "Semantic scores (Horn & Keuper, Table 3)",
        "Mean score from 0 to 10, all tables and by complexity; judge "
        f"{run.summary.settings.get('judge', '–')}.",
        run.summary,
        [(TableColumn.of(info), info.name, None) for info in infos],
    )
