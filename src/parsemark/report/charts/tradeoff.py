"""Quality against time, with the parsers that no other one beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from parsemark.protocols import Figure
from parsemark.protocols.exhibits import Axis, Chart, Series
from parsemark.report.source import Source

TIME = "cpu_s_per_page"
FASTEST_S = 1e-4
"""Times below this are below what the clock resolves."""


def trade_off(figures: Mapping[str, Mapping[str, Figure]], source: Source) -> Chart | None:
    """The chart, or None where no parser has both a score and a time."""
    quality = source.summary.info(source.primary)
    series = []
    for parser in source.parsers:
        entry = figures.get(parser.name, {})
        score, time = entry.get(quality.name), entry.get(TIME)
        if not score or not time or score.value is None or time.value is None:
            continue
        series.append(
            Series(
                parser.name,
                "points",
                (max(time.value, FASTEST_S),),
                (score.value,),
                parser=parser.name,
                low=() if score.low is None else (score.low,),
                high=() if score.high is None else (score.high,),
                labels=(parser.name,),
                links=(parser.href,),
            )
        )
    if not series:
        return None
    front = pareto_front([(s.x[0], s.y[0]) for s in series])
    # A staircase: until a slower parser is better, the faster one is the best that the time buys.
    corners = [p for a, b in pairwise(front) for p in (a, (b[0], a[1]))] + front[-1:]
    line = Series(
        "Pareto front", "line", tuple(x for x, _ in corners), tuple(y for _, y in corners), dash=True
    )
    return Chart(
        "quality-time",
        "Quality against time",
        f"{quality.label} over mean CPU time per page (logarithmic), with 95 % intervals. "
        "No other parser is both faster and better than one on the dashed front.",
        Axis("CPU seconds per page", kind="log"),
        Axis(quality.label, 0.0, 1.0 if source.is_share(quality.name) else None),
        (line, *series),
        labelled=True,
    )


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that no other beats in both, from the fastest to the best.

    >>> pareto_front([(1, 0.5), (2, 0.4), (3, 0.9), (3, 0.8)])
    [(1, 0.5), (3, 0.9)]
    """
    front: list[tuple[float, float]] = []
    for time, score in sorted(points, key=lambda p: (p[0], -p[1])):
        if not front or score > front[-1][1]:
            front.append((time, score))
    return front
