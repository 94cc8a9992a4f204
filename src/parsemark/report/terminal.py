"""The leaderboard for a terminal, from `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

WIDE = 116
"""From this many columns on, intervals stand beside their values instead of below."""
BEST, TIED = "★", "≈"
_MAX_REASON = 300


@dataclass(frozen=True, slots=True)
class _Column:
    key: str
    title: str
    digits: int
    interval: bool = True


_SCORES = (
    _Column("td_f1", "TD\nF1", 3),
    _Column("te_f1_top", "TE F1\ntop", 3),
    _Column("te_f1_con", "TE F1\ncon", 3),
    _Column("te_f1_teds", "TE F1\nTEDS", 3),
    _Column("false_tables_per_negative_page", "false/\nneg.page", 2, interval=False),
)
_WITHOUT_TRUTH = (
    _Column("tables_per_page", "tables/\npage", 2),
    _Column("invented_characters", "invented\nletters", 3),
)
"""What can be said of a corpus without truth."""
_COSTS = (
    _Column("failures", "\nfailed", 0, interval=False),
    _Column("cpu_s_per_page", "CPU\ns/page", 2, interval=False),
)


def leaderboard(summary: Mapping[str, Any], width: int = 100) -> RenderableType:
    """Parsers from best to worst: detection and extraction with 95 % intervals, and what goes wrong.

    Args:
        summary: Of a scored run.
        width: Of the terminal, in characters.
    """
    primary = str(summary.get("primary", "te_f1_con"))
    columns = (*(_SCORES if _has_truth(summary) else _WITHOUT_TRUTH), *_COSTS)
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("")
    table.add_column("\nparser", overflow="fold", min_width=16)
    for column in columns:
        style = "bold underline" if column.key == primary else "bold"
        table.add_column(Text(column.title, style=style), justify="right", no_wrap=True)
    comparison = summary.get("comparison") or {}
    for name in _ranked(summary["parsers"], primary):
        figures = summary["parsers"][name]
        cells = [_cell(figures.get(c.key), c, wide=width >= WIDE) for c in columns]
        table.add_row(_mark(name, comparison), Text(name), *cells)
    return Group(*_heading(summary), table, *_legend(summary, primary), *_warnings(summary["parsers"]))


def _has_truth(summary: Mapping[str, Any]) -> bool:
    return summary.get("n_pages_with_truth") != 0


def _ranked(parsers: Mapping[str, Any], primary: str) -> list[str]:
    return sorted(parsers, key=lambda name: (-(_value(parsers[name], primary) or 0.0), name))


def _value(figures: Mapping[str, Any], key: str) -> float | None:
    value = (figures.get(key) or {}).get("value")
    return None if value is None else float(value)


def _mark(name: str, comparison: Mapping[str, Any]) -> Text:
    if name == comparison.get("best"):
        return Text(BEST, style="green")
    return Text(TIED, style="green") if name in comparison.get("tied_with_best", ()) else Text(" ")


def _cell(figure: Mapping[str, Any] | None, column: _Column, *, wide: bool) -> Text:
    if figure is None or figure.get("value") is None:
        return Text("–", style="dim")
    text = Text(f"{figure['value']:.{column.digits}f}")
    if column.interval and figure.get("ci95"):
        low, high = figure["ci95"]
        text.append(f"{' ' if wide else chr(10)}{_short(low)}–{_short(high)}", style="dim")
    return text


def _short(value: float) -> str:
    """Two digits without the leading zero: `.84`."""
    return f"{value:.2f}".removeprefix("0")


def _heading(summary: Mapping[str, Any]) -> list[RenderableType]:
    if not _has_truth(summary):
        return [Text(f"{summary.get('n_pages')} pages without truth: nothing can be scored"), Text()]
    counts = [
        (summary.get("n_pages"), "page", ""),
        (summary.get("n_tables"), "table", ""),
        (summary.get("n_negative_pages"), "page", " without tables"),
    ]
    known = [f"{n} {one}{'' if n == 1 else 's'}{rest}" for n, one, rest in counts if n is not None]
    if "rule" in summary:
        known.append(f"matched by {summary['rule']}, θ {summary.get('theta', 0.5)}")
    return [Text(" · ".join(known)), Text()] if known else []


def _legend(summary: Mapping[str, Any], primary: str) -> list[RenderableType]:
    if not _has_truth(summary):
        return [Text(), Text("small figures: 95 % intervals, clustered by document", style="dim")]
    tied = (summary.get("comparison") or {}).get("tied_with_best")
    parts = [f"sorted by {primary}; small figures: 95 % intervals, clustered by document"]
    if tied:
        parts.append(f"{TIED} not significantly different from the best {BEST} (paired permutation, Holm)")
    parts.append("failed pages and missed tables count as zero")
    return [Text(), *(Text(part, style="dim") for part in parts)]


def _warnings(parsers: Mapping[str, Any]) -> list[RenderableType]:
    """Scores that could not be computed count as zero: whoever reads the table must know."""
    found: list[RenderableType] = []
    for name in sorted(parsers):
        n = _value(parsers[name], "metric_failures")
        if not n:
            continue
        first = parsers[name].get("first_metric_failure") or {}
        why = " ".join(str(first.get("message") or "no reason given").split())[:_MAX_REASON]
        where = f"{first.get('metric')} on {first.get('sample')}: " if first else ""
        text = f"Warning: {name}: {n:.0f} scores could not be computed and count as zero. {where}{why}"
        found.append(Text(text, style="bold yellow"))
    return [Text(), *found] if found else []
