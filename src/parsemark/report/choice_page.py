"""The page of a choice: who is best with what certainty, at which cost, what goes wrong, what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from pathlib import Path

from parsemark.choose import Choice, ParserCandidate, in_words, next_step
from parsemark.report.site import standalone_page
from parsemark.system.files import write_text

WIDTH, HEIGHT, MARGIN = 640, 300, 46
"""Of the chart of quality against cost, in pixels of its own."""
_TYPICAL = 4
"""Kinds of errors that are named for each parser."""


@dataclass(frozen=True)
class Dot:
    """A parser in the chart."""

    name: str
    x: float
    y: float
    low: float
    high: float


def write_choice(choice: Choice, corpus: str, run: Path) -> Path:
    """Write `choice.html` into a run; it needs nothing else and loads nothing."""
    path = run / "choice.html"
    page = standalone_page(
        "choice.html",
        choice=choice,
        corpus=corpus,
        sentences=in_words(choice),
        steps=next_step(choice, corpus, str(run)),
        dots=_dots(choice.candidates),
        ticks=_ticks(choice.candidates),
        size=(WIDTH, HEIGHT, MARGIN),
        typical=_TYPICAL,
        place=_place,
    )
    write_text(path, page)
    return path


def _place(value: float) -> float:
    """Where a score between 0 and 1 is drawn, in per cent of the width of its bar."""
    return round(100 * min(max(value, 0.0), 1.0), 2)


def _scale(candidates: tuple[ParserCandidate, ...]) -> tuple[float, float] | None:
    """Decades of CPU seconds per page that the chart spans."""
    known = [log10(c.cpu_s) for c in candidates if c.cpu_s]
    if not known:
        return None
    low, high = min(known), max(known)
    return (low - 0.15, high + 0.15)


def _x(cpu_s: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return round(MARGIN + (log10(cpu_s) - low) / (high - low) * (WIDTH - 2 * MARGIN), 1)


def _y(value: float) -> float:
    return round(HEIGHT - MARGIN - min(max(value, 0.0), 1.0) * (HEIGHT - 2 * MARGIN), 1)


def _dots(candidates: tuple[ParserCandidate, ...]) -> list[Dot]:
    scale = _scale(candidates)
    if scale is None:
        return []
    found = []
    for c in candidates:
        if c.cpu_s:
            low, high = (c.value, c.value) if c.estimate is None else (c.estimate.low, c.estimate.high)
            found.append(Dot(c.parser, _x(c.cpu_s, scale), _y(c.value), _y(low), _y(high)))
    return found


def _ticks(candidates: tuple[ParserCandidate, ...]) -> list[tuple[float, str]]:
    """CPU times at which the chart has a line."""
    scale = _scale(candidates)
    if scale is None:
        return []
    times = [m * 10.0**k for k in range(-4, 5) for m in (1, 3)]
    return [(_x(t, scale), f"{t:g} s") for t in times if scale[0] <= log10(t) <= scale[1]]
