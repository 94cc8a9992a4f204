"""The page of a choice: who is best with what certainty, at which cost, what goes wrong, what to do next."""

from math import log10
from pathlib import Path
from typing import Any

from parsemark.choosing import Choice, ParserCandidate, in_words, next_step
from parsemark.report.site import standalone_page
from parsemark.system.files import write_text

WIDTH, HEIGHT, MARGIN = 400, 280, 34
"""Of the chart of quality against cost, in pixels of its own: those of a phone, so that names can be read."""
LETTER, LINE = 7.0, 14.0  # how wide the letters of names are, and how high a line
_LONGEST = 26  # letters of a name in the chart
Box = tuple[float, float, float, float]
_TYPICAL = 4  # kinds of errors that are named for each parser


def write_choice(choice: Choice, corpus: str, run: Path) -> Path:
    """Write `choice.html` into a run; it needs nothing else and loads nothing."""
    path = run / "choice.html"
    dots, ticks = _chart(choice.candidates)
    chart = {"dots": dots, "ticks": ticks, "size": (WIDTH, HEIGHT, MARGIN), "place": _place}
    said = {"sentences": in_words(choice), "steps": next_step(choice, corpus, str(run)), "typical": _TYPICAL}
    page = standalone_page("choice.html", choice=choice, corpus=corpus, **said, **chart)
    write_text(path, page)
    return path


def _place(value: float) -> float:
    """Return where a score between 0 and 1 is drawn, in per cent of the width of its bar."""
    return round(100 * min(max(value, 0.0), 1.0), 2)


def _chart(candidates: tuple[ParserCandidate, ...]) -> tuple[list[dict[str, Any]], list[tuple[float, str]]]:
    """Return quality against CPU time: dots with their intervals and where their names begin; and the
    lines.
    """
    timed = [(c, log10(c.cpu_s)) for c in candidates if c.cpu_s]
    if not timed:
        return [], []
    first, last = min(t for _, t in timed) - 0.15, max(t for _, t in timed) + 0.15

    def x(log_s: float) -> float:
        return round(MARGIN + (log_s - first) / (last - first) * (WIDTH - 2 * MARGIN), 1)

    def y(value: float) -> float:
        return round(HEIGHT - MARGIN - min(max(value, 0.0), 1.0) * (HEIGHT - 2 * MARGIN), 1)

    dots: list[dict[str, Any]] = []
    taken = [(x(t) - 5, y(c.value) - 5, x(t) + 5, y(c.value) + 5) for c, t in timed]
    for c, t in timed:
        low, high = (c.estimate and c.estimate.interval) or (c.value, c.value)
        shown = c.parser if len(c.parser) <= _LONGEST else f"{c.parser[: _LONGEST - 1]}…"
        taken.append(_free_place(x(t), y(c.value), LETTER * len(shown), taken))
        name = {"name": c.parser, "shown": shown, "left": taken[-1][0], "base": taken[-1][3] - 3}
        dots.append({**name, "x": x(t), "y": y(c.value), "low": y(low), "high": y(high)})
    times = [m * 10.0**k for k in range(-4, 5) for m in (1, 3)]
    return dots, [(x(log10(t)), f"{t:g} s") for t in times if first <= log10(t) <= last]


def _free_place(x: float, y: float, width: float, taken: list[Box]) -> Box:
    """Return where a name stands beside its dot without covering anything; if there is no such place, beside
    it.
    """
    left = x + 8 if x + 8 + width <= WIDTH else x - 8 - width
    tops = [round(y - 7 + LINE * line, 1) for line in sorted(range(-HEIGHT, HEIGHT), key=abs)]
    boxes = [(round(left, 1), top, left + width, top + LINE) for top in tops]

    def is_free(box: Box) -> bool:
        x0, y0, x1, y1 = box
        covers = (x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in taken)
        return y0 >= 0 and y1 <= HEIGHT - MARGIN and not any(covers)

    return next(filter(is_free, boxes), boxes[0])
