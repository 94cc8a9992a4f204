"""The leaderboard for a terminal, from the summary of any protocol."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from parsemark.plain_words import counted_name, format_value, signed, signed_end
from parsemark.protocols import Figure, FigureInfo, Summary

BEST = "★"
LOWER_IS_BETTER = "↓"
STATES = {"not_significant": "?", "equal": "≡", "equivalent": "=", "better": "+", "worse": " "}
_NARROW_HEAD = 8
_NAME_WIDTH = 16  # names of parsers have at least this much room, and fold at twice of it


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table as it will be printed."""

    figure: str  # the figure that it belongs to
    head: Text
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        return max(cell_len(line) for text in (self.head, *self.cells) for line in text.plain.split("\n"))


def leaderboard(summary: Summary, width: int = 100) -> RenderableType:
    """Return parsers from best to worst: the main figures with 95 % confidence intervals, and what goes
    wrong.

    Intervals stand beside their values where all columns have room for that in `width` characters, and else
    below them.
    """
    figures = [info for info in summary.shown() if info.main]
    longest = max((cell_len(name) for name in summary.parsers), default=0)
    names = min(max(longest, _NAME_WIDTH), 2 * _NAME_WIDTH)
    room = width - names - 2
    columns = _columns(summary, figures, wide=True)
    if _needed(columns) > room:
        columns = _fitting(_columns(summary, figures, wide=False), summary, room)
    shown = {column.figure for column in columns}
    left_out = [info.label for info in figures if info.name not in shown]
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("", width=1)
    table.add_column("\nparser", overflow="fold", width=names)
    for column in columns:
        table.add_column(column.head, justify="right", no_wrap=True, min_width=column.width)
    for row, parser in enumerate(summary.ordered()):
        table.add_row(_mark(parser, summary), Text(parser), *(column.cells[row] for column in columns))
    counted = [counted_name(n, name) for name, n in summary.counts.items()]
    heading = Text(f"{summary.protocol}: " + " · ".join(counted))
    notes = [Text(f"Note: {note}", "bold yellow") for note in (*summary.ranking.notes, *summary.notes)]
    in_table = [info for info in figures if info.name in shown]
    below = [*_legend(summary, in_table, left_out), *([Text(), *notes] if notes else [])]
    matrix = [Text(line) for line in _matrix_lines(summary, width)]
    return Group(heading, Text(), table, *below, *matrix)


def changes_of_rules(summaries: Sequence[Summary]) -> Iterator[RenderableType]:
    """Yield a table for each protocol that scored the same outputs by several versions or options.

    It has each parser's primary score and rank under each, and how far the score moves from the first.
    """
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        groups.setdefault((summary.protocol.partition("(")[0], summary.primary), []).append(summary)
    for (name, primary), group in groups.items():
        if len(group) < 2 or all(info.name != primary for info in group[0].figures):
            continue
        info = group[0].info(primary)
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("parser", overflow="fold")
        for number, summary in enumerate(group):
            table.add_column(Text(summary.protocol.removeprefix(name).strip("()") or "default"))
            table.add_column("rank", justify="right")
            if number:
                table.add_column("change", justify="right")
        ranks = [_ranks(summary, info) for summary in group]
        for parser in group[0].ordered():
            cells, first = [], _value(group[0], parser)
            for number, summary in enumerate(group):
                value = _value(summary, parser)
                cells += [_cell(summary.figure(parser, primary), info, wide=True)]
                cells += [Text(str(ranks[number].get(parser, "–")))]
                if number:
                    cells += [Text("–" if value is None or first is None else signed(value - first))]
            table.add_row(Text(parser), *cells)
        heading = f"{name}: {info.label} of the same outputs under {len(group)} sets of rules"
        yield Group(Text(heading), Text(), table)


def _value(summary: Summary, parser: str) -> float | None:
    figure = summary.figure(parser, summary.primary)
    return None if figure is None else figure.value


def _ranks(summary: Summary, info: FigureInfo) -> dict[str, int]:
    sign = 1 if info.higher_is_better else -1
    values = {p: sign * value for p in summary.parsers if (value := _value(summary, p)) is not None}
    return {p: 1 + sum(other > value + 1e-12 for other in values.values()) for p, value in values.items()}


def _matrix_lines(summary: Summary, width: int) -> Iterator[str]:
    """Yield the matrix that a protocol may have: features by parsers, a sign for each program that set the
    page.
    """
    if (matrix := summary.details.get("matrix")) is None:
        return
    makers, rows, parsers = matrix["makers"], matrix["rows"], summary.ordered()
    label = min(max((cell_len(row["title"]) for row in rows), default=0), max(16, width // 2 - 4))
    own = max(len(makers), 7, min(12, (width - label) // max(1, len(parsers)) - 1))
    size = max(1, (width - label) // (own + 1))
    signs = {state: sign for state, (sign, _) in matrix["states"].items()}
    yield ""
    yield from textwrap.wrap("; ".join(f"{sign} {words}" for sign, words in matrix["states"].values()), width)
    signs_of = f"one sign per typesetting program: {', '.join(makers)} (blank: no such page)"
    yield from textwrap.wrap(signs_of, width)
    for first in range(0, len(parsers), size):
        shown = parsers[first : first + size]
        yield ""
        yield " ".join([" " * label, *(_cut(parser, own).ljust(own) for parser in shown)]).rstrip()
        for number, row in enumerate(rows):
            cells = [matrix["cells"][parser][number] for parser in shown]
            drawn = ["".join(signs.get(c.get(m, ""), " ") for m in makers).ljust(own) for c in cells]
            yield " ".join([_cut(row["title"], label).ljust(label), *drawn]).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _columns(summary: Summary, figures: Sequence[FigureInfo], *, wide: bool) -> list[_Column]:
    parsers = summary.ordered()
    columns = []
    for info in figures:
        is_primary = info.name == summary.primary
        is_reversed = info.style == "score" and not info.higher_is_better
        label = f"{info.label} {LOWER_IS_BETTER}" if is_reversed else info.label
        head = Text(_head(label), style="bold underline" if is_primary else "bold")
        cells = [_cell(summary.figure(parser, info.name), info, wide=wide) for parser in parsers]
        columns.append(_Column(info.name, head, cells))
        if is_primary and summary.ranking.verdicts:
            cells = [_to_best(parser, summary, wide=wide) for parser in parsers]
            columns.append(_Column(info.name, Text(_head("to best")), cells))
    return columns


def _needed(columns: Sequence[_Column]) -> int:
    return sum(1 + column.width for column in columns)


def _fitting(columns: list[_Column], summary: Summary, room: int) -> list[_Column]:
    """Return as many columns as there is room for: the primary ones, failures, the others in order."""
    count = {info.name for info in summary.shown() if info.style == "count"}
    kept: list[_Column] = []
    for column in sorted(columns, key=lambda c: (c.figure != summary.primary, c.figure not in count)):
        if not kept or _needed([*kept, column]) <= room:
            kept.append(column)
    return [column for column in columns if column in kept]


def _head(label: str) -> str:
    lines = textwrap.wrap(label, _NARROW_HEAD, break_long_words=False)
    return "\n".join(["", *lines] if len(lines) < 2 else lines)


def _mark(parser: str, summary: Summary) -> Text:
    verdict = summary.ranking.to_best(parser)
    if parser == summary.ranking.best or (verdict and verdict.is_level):
        return Text(BEST, style="green")
    return Text(STATES[verdict.state] if verdict else " ", style="green")


def _to_best(parser: str, summary: Summary, *, wide: bool) -> Text:
    """Return the difference to the best with its simultaneous interval."""
    verdict = summary.ranking.to_best(parser)
    if verdict is None:
        return Text("", style="dim")
    text = Text(_short_sign(signed(verdict.difference)))
    if verdict.low is not None and verdict.high is not None:
        ends = " ".join(_short_sign(signed_end(end, 2)) for end in (verdict.low, verdict.high))
        text.append(f"{' ' if wide else chr(10)}{ends}", style="dim")
    return text


def _short_sign(signed_text: str) -> str:
    """Return a difference without a leading zero: `−.33`."""
    return signed_text.replace("0.", ".", 1) if signed_text.lstrip("+−").startswith("0.") else signed_text


def _cell(figure: Figure | None, column: FigureInfo, *, wide: bool) -> Text:
    if figure is None or figure.value is None:
        return Text("–", style="dim")
    text = Text(format_value(figure.value, column.style))
    if column.style == "score" and figure.interval:
        ends = "–".join(f"{end:.2f}".removeprefix("0") for end in figure.interval)  # `.84`
        text.append(f"{' ' if wide else chr(10)}{ends}", style="dim")
    return text


def _first_sentence(text: str) -> str:
    first, stop, _ = text.partition(". ")
    return first if stop else text.removesuffix(".")


def _legend(summary: Summary, shown: Sequence[FigureInfo], left_out: Sequence[str]) -> list[RenderableType]:
    info = summary.info(summary.primary)
    failed = "count as empty output" if summary.failures_count else "are left out of the means"
    values = [summary.figure(parser, column.name) for column in shown for parser in summary.parsers]
    has_intervals = any(value is not None and value.low is not None for value in values)
    interval = "below each score: 95 % CI for documents like these; " if has_intervals else ""
    parts = [f"{interval}failed pages {failed}"]
    if summary.ranking.best is not None:
        parts.insert(0, f"sorted by {info.label} ({info.name}): {_first_sentence(info.definition)}")
        states = {v.state for v in map(summary.ranking.to_best, summary.parsers) if v}
        if states:
            parts.append("to best: difference from the leader, with simultaneous 95 % CIs")
        words: dict[str, str] = {
            "not_significant": "? = statistically indistinguishable from the leader",
            "equal": f"{STATES['equal']} = equal to it on every document",
            "equivalent": f"{STATES['equivalent']} = equivalent to it within ±{info.margin or 0:g}",
        }
        marked = [f"{BEST} leader", *(text for state, text in words.items() if state in states)]
        parts.append("; ".join(marked) + ("; unmarked = significantly worse" if "worse" in states else ""))
    if any(info.style == "score" and not info.higher_is_better for info in shown):
        parts.append(f"{LOWER_IS_BETTER} lower is better")
    if summary.settings:
        settings = ", ".join(f"{key}={value}" for key, value in summary.settings.items())
        parts.append(f"settings used, explained in the HTML report: {settings}")
    if left_out:
        parts.append(f"further columns, shown in the HTML report: {', '.join(left_out)}")
    return [Text(), *(Text(part, style="dim") for part in parts)]
