"""Emphasis in Markdown as ParseBench pairs its marks since September 2026."""

import re
import string
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")
_PUNCTUATION = frozenset(string.punctuation)
Span = tuple[int, int]  # where the text between two runs begins and ends


class _Kind(NamedTuple):
    runs: str  # pattern of its runs
    is_underscore: bool = False
    padding: str = r"[ \t]*"  # what may stand between a mark and its text


_BROKEN = r"[ \t]*(?:\r?\n|\r)?[ \t]*"
_KINDS: Mapping[str, _Kind] = {
    "bold": _Kind(r"\*{2,}", padding=_BROKEN),
    "italic_star": _Kind(r"(?<!\*)\*(?!\*)"),
    "italic_under": _Kind("(?<!_)_(?!_)", is_underscore=True),
    "strikeout": _Kind("~{2,}", padding=_BROKEN),
}


class _MarkRun(NamedTuple):
    """A run of marks, and whether it may open and close emphasis."""

    start: int
    end: int
    opens: bool
    closes: bool


def emphasis_spans(markdown: str, style: str) -> list[Span]:
    """Return the places of the texts in bold, italic or strikeout, in order; none for another style.

    `italic` has two marks: `italic_star` and `italic_under`.
    """
    return sorted(
        span for name, kind in _KINDS.items() if name.startswith(style) for span in _spans(markdown, kind)
    )


def _spans(markdown: str, kind: _Kind) -> list[Span]:
    runs = [_run_of(markdown, found, kind) for found in re.finditer(kind.runs, markdown)]
    if len(runs) < 2:
        return []
    blank_lines = [found.start() for found in _BLANK_LINE.finditer(markdown)]
    spans, left = _paired(runs, blank_lines)
    padded, _ = _paired([_with_padding(markdown, run, kind) for run in left], blank_lines)
    ends = sorted(spans)
    return spans + [own for own in padded if not _encloses_one(own, ends)]


def _encloses_one(outer: Span, spans: list[Span]) -> bool:
    """Return whether a span lies inside; spans of one kind never overlap but nest, so the next one
    decides.
    """
    at = bisect_left(spans, (outer[0], -1))
    while at < len(spans) and spans[at][0] <= outer[1]:
        if spans[at][1] <= outer[1]:
            return True
        at += 1
    return False


def _neighbours(markdown: str, start: int, end: int) -> Iterator[tuple[bool, bool]]:
    """Yield for the sign before and behind a run: is it white space, is it punctuation."""
    for at in (start - 1, end):
        sign = markdown[at] if 0 <= at < len(markdown) else " "
        yield sign.isspace(), sign in _PUNCTUATION


def _run_of(markdown: str, found: re.Match[str], kind: _Kind) -> _MarkRun:
    before, behind = _neighbours(markdown, *found.span())
    left = not behind[0] and (not behind[1] or before[0] or before[1])
    right = not before[0] and (not before[1] or behind[0] or behind[1])
    if kind.is_underscore:
        left, right = left and (not right or before[1]), right and (not left or behind[1])
    return _MarkRun(*found.span(), left, right)


def _with_padding(markdown: str, run: _MarkRun, kind: _Kind) -> _MarkRun:
    """Return a run that may also enclose text with blanks between."""
    opens = closes = False
    if run.end < len(markdown) and markdown[run.end].isspace():
        padding = re.compile(kind.padding).match(markdown, run.end)
        at = padding.end() if padding else run.end
        opens = at < len(markdown) and not markdown[at].isspace()
    if run.start and markdown[run.start - 1].isspace():
        at = run.start - 1
        at = _before_blanks(markdown, at)
        if kind.padding == _BROKEN and at >= 0 and markdown[at] == "\n":
            at -= 2 if at and markdown[at - 1] == "\r" else 1
            at = _before_blanks(markdown, at)
        closes = at >= 0 and not markdown[at].isspace()
    return run._replace(opens=run.opens or opens, closes=run.closes or closes)


def _before_blanks(markdown: str, at: int) -> int:
    while at >= 0 and markdown[at] in " \t":
        at -= 1
    return at


def _paired(runs: list[_MarkRun], blank_lines: list[int]) -> tuple[list[Span], list[_MarkRun]]:
    """Pair runs, the nearest opening one first; return the spans, and the runs that are left."""
    spans: list[Span] = []
    stack: list[_MarkRun] = []
    paired: set[int] = set()
    for run in runs:
        if stack:
            at = bisect_left(blank_lines, stack[-1].end)
            if at < len(blank_lines) and blank_lines[at] < run.start:
                stack.clear()
        if run.closes and stack:
            opening = stack.pop()
            spans.append((opening.end, run.start))
            paired |= {opening.start, run.start}
        elif run.opens:
            stack.append(run)
    return spans, [run for run in runs if run.start not in paired]
