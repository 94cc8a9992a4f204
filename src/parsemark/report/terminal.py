"""The leaderboard for a terminal, from the summary of any protocol."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from parsemark.protocols import Figure, FigureInfo, Summary, Verdict
from parsemark.report.numbers import format_value

WIDE = 116
"""From this many columns on, intervals stand beside their values instead of below."""
BEST, UNRESOLVED = "★", "≈"
_NARROW_HEAD = 8
_NAME_WIDTH = 16


def leaderboard(summary: Summary, width: int = 100) -> RenderableType:
    """Parsers from best to worst: the main figures with 95 % intervals, and what goes wrong.

    Args:
        summary: Of a scored run.
        width: Of the terminal, in characters.
    """
    columns = _fitting([info for info in summary.shown() if info.main], summary, width)
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("")
    table.add_column("\nparser", overflow="fold", min_width=_NAME_WIDTH)
    for column in columns:
        style = "bold underline" if column.name == summary.primary else "bold"
        table.add_column(Text(_head(column.label), style=style), justify="right", no_wrap=True)
    for parser in summary.ordered():
        cells = [_cell(summary.figure(parser, c.name), c, wide=width >= WIDE) for c in columns]
        table.add_row(_mark(parser, summary), Text(parser), *cells)
    return Group(_heading(summary), Text(), table, *_legend(summary), *_notes(summary))


def _fitting(columns: list[FigureInfo], summary: Summary, width: int) -> list[FigureInfo]:
    """As many columns as the terminal has room for; the primary figure is never left out."""
    names = min(max((len(name) for name in summary.parsers), default=0), 2 * _NAME_WIDTH)
    room = width - max(names, _NAME_WIDTH) - 4
    taken = 0
    kept: list[FigureInfo] = []
    for column in sorted(columns, key=lambda c: c.name != summary.primary):
        figures = [own[column.name] for own in summary.parsers.values() if column.name in own]
        cells = [_cell(figure, column, wide=width >= WIDE).plain for figure in figures]
        lines = [line for text in (*cells, _head(column.label)) for line in text.split("\n")]
        taken += 1 + max(len(line) for line in lines)
        if taken <= room or not kept:
            kept.append(column)
    return [column for column in columns if column in kept]


def _head(label: str) -> str:
    lines = textwrap.wrap(label, _NARROW_HEAD, break_long_words=False)
    return "\n".join(["", *lines] if len(lines) < 2 else lines)


def _mark(parser: str, summary: Summary) -> Text:
    best = summary.ranking.best
    if best is None or parser == best:
        return Text(BEST if parser == best else " ", style="green")
    verdict = summary.ranking.verdict(parser, best)
    resolved = verdict is None or verdict.state in ("worse", "better")
    return Text(" " if resolved else UNRESOLVED, style="green")


def _cell(figure: Figure | None, column: FigureInfo, *, wide: bool) -> Text:
    if figure is None or figure.value is None:
        return Text("–", style="dim")
    text = Text(format_value(figure.value, column.style))
    if column.style == "score" and figure.interval:
        low, high = figure.interval
        text.append(f"{' ' if wide else chr(10)}{_short(low)}–{_short(high)}", style="dim")
    return text


def _short(value: float) -> str:
    """Two digits without the leading zero: `.84`."""
    return f"{value:.2f}".removeprefix("0")


def _heading(summary: Summary) -> Text:
    counted = [f"{n:,} {_plural(name, n)}" for name, n in summary.counts.items()]
    chosen = [f"{key} {value}" for key, value in summary.settings.items()]
    return Text(f"{summary.protocol}: " + " · ".join([*counted, *chosen]))


def _plural(name: str, n: int) -> str:
    """`pages without tables`, but `1 page without tables`."""
    first, *rest = name.split(" ")
    return " ".join([first.removesuffix("s") if n == 1 else first, *rest])


def _legend(summary: Summary) -> list[RenderableType]:
    info = summary.info(summary.primary)
    parts = [f"sorted by {info.label} ({info.name}); small figures: 95 % intervals, clustered by document"]
    if summary.ranking.best is None:
        parts = ["small figures: 95 % intervals, clustered by document"]
    elif any(v.state not in ("better", "worse") for v in _against_best(summary)):
        parts.append(f"{UNRESOLVED} the difference to the best {BEST} is not resolved")
    parts.append("failed pages count as pages on which nothing was found")
    return [Text(), *(Text(part, style="dim") for part in parts)]


def _against_best(summary: Summary) -> list[Verdict]:
    return [v for v in summary.ranking.verdicts if summary.ranking.best in (v.a, v.b)]


def _notes(summary: Summary) -> Sequence[RenderableType]:
    return (
        [Text(), *(Text(f"Note: {note}", style="bold yellow") for note in summary.notes)]
        if summary.notes
        else []
    )
