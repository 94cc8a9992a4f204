"""Charts as data: one description, drawn by the site (SVG) and by `parsemark figures` (matplotlib)."""

from parsemark.report.charts.spec import Axis, Chart, Guide, Series, chart_to_json

__all__ = ["Axis", "Chart", "Guide", "Series", "chart_to_json"]
