"""What a chart is: axes, series, guides. Nothing here draws."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

Mark = Literal["line", "points", "bars", "band"]


DIGITS = 4
"""Of the numbers in the site's charts: finer than a pixel, and half the size of the files."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis."""

    label: str
    low: float | None = None
    high: float | None = None
    """Limits; None takes them from the data."""
    kind: Literal["linear", "log", "category"] = "linear"
    categories: tuple[str, ...] = ()
    """Names in order, for `category`; the data then hold indices."""


@dataclass(frozen=True, slots=True)
class Series:
    """One set of marks in one colour."""

    name: str
    mark: Mark
    x: tuple[float, ...]
    y: tuple[float, ...]
    parser: str | None = None
    """Whose colour it has; None is grey."""
    base_x: tuple[float, ...] = ()
    base: tuple[float, ...] = ()
    """The other edge of a band."""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    """Interval around each `y`, where there is one."""
    dash: bool = False
    faint: bool = False
    labels: tuple[str, ...] = ()
    """What each point is, for people who point at it."""
    links: tuple[str, ...] = ()
    """Where each point leads, inside the site."""


@dataclass(frozen=True, slots=True)
class Guide:
    """A thin grey line to read by: an iso-F1 curve, the diagonal."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its data."""

    key: str
    """Made by us; letters, digits and hyphens. The file name of the figure."""
    title: str
    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()
    square: bool = False
    labelled: bool = False
    """Whether points carry their label in the drawing."""


def chart_to_json(chart: Chart) -> dict[str, Any]:
    """Plain data; fields that hold nothing are left out."""
    return {
        **_known(chart),
        "x": _known(chart.x),
        "y": _known(chart.y),
        "series": [_rounded(_known(series)) for series in chart.series],
        "guides": [_rounded(_known(guide)) for guide in chart.guides],
    }


def _known(part: Any) -> dict[str, Any]:
    # Not `asdict`: it copies every number on its own.
    fields = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    return {k: v for k, v in fields.items() if v is not None and v is not False and v != ()}


def _rounded(data: dict[str, Any]) -> dict[str, Any]:
    numbers = ("x", "y", "base_x", "base", "low", "high")
    return {k: [round(v, DIGITS) for v in value] if k in numbers else value for k, value in data.items()}
