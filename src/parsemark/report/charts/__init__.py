"""Draws what protocols chart: as data for the site (SVG), and for papers (matplotlib).

What a chart is says `report/drawing.py`. The charts here are those that every protocol has.
"""

import dataclasses
from typing import Any

from parsemark.report.drawing import Chart

DIGITS = 4  # of the numbers in the site's charts: finer than a pixel, and half the size of the files


def chart_to_json(chart: Chart) -> dict[str, Any]:
    """Return plain data; fields that hold nothing are left out."""
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
