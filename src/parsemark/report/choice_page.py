"""The page of a choice: who is best with what certainty, at which cost, what goes wrong, what to do next."""

from __future__ import annotations

from math import log10
from pathlib import Path

from parsemark.choose import Choice, ParserCandidate, in_words, next_step
from parsemark.report.site import standalone_page
from parsemark.system.files import write_text

WIDTH, HEIGHT, MARGIN = 640, 300, 46
"""Of the chart of quality against cost, in pixels of its own."""
_TYPICAL = 4
"""Kinds of errors that are named for each parser."""


def write_choice(choice: Choice, corpus: str, run: Path) -> Path:
    """Write `choice.html` into a run; it needs nothing else and loads nothing."""
    path = run / "choice.html"
    dots, ticks = _chart(choice.candidates)
    page = standalone_page(
        "choice.html",
        choice=choice,
        corpus=corpus,
        sentences=in_words(choice),
        steps=next_step(choice, corpus, str(run)),
        dots=dots,
        ticks=ticks,
        size=(WIDTH, HEIGHT, MARGIN),
        typical=_TYPICAL,
        place=_place,
    )
    write_text(path, page)
    return path


def _place(value: float) -> float:
    """Where a score between 0 and 1 is drawn, in per cent of the width of its bar."""
    return round(100 * min(max(value, 0.0), 1.0), 2)


def _chart(
    candidates: tuple[ParserCandidate, ...],
) -> tuple[list[tuple[str, float, float, float, float]], list[tuple[float, str]]]:
    """Quality against CPU time: name, x, y and the interval's ends of each dot; where there are lines."""
    known = [log10(c.cpu_s) for c in candidates if c.cpu_s]
    if not known:
        return [], []
    first, last = min(known) - 0.15, max(known) + 0.15

    def x(cpu_s: float) -> float:
        return round(MARGIN + (log10(cpu_s) - first) / (last - first) * (WIDTH - 2 * MARGIN), 1)

    def y(value: float) -> float:
        return round(HEIGHT - MARGIN - min(max(value, 0.0), 1.0) * (HEIGHT - 2 * MARGIN), 1)

    dots = []
    for c in candidates:
        if c.cpu_s:
            low, high = (c.value, c.value) if c.estimate is None else (c.estimate.low, c.estimate.high)
            dots.append((c.parser, x(c.cpu_s), y(c.value), y(low), y(high)))
    times = [m * 10.0**k for k in range(-4, 5) for m in (1, 3)]
    return dots, [(x(t), f"{t:g} s") for t in times if first <= log10(t) <= last]
