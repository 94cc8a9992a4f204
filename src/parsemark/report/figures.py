"""The page with the figures of the papers."""

from __future__ import annotations

from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import all_sections
from parsemark.report.chunks import write_chunk
from parsemark.report.site import CHART_SCRIPTS, Site


def write_figures(site: Site) -> None:
    """Write `figures.html` and its data."""
    sections = all_sections(site.source)
    charts = {chart.key: chart_to_json(chart) for section in sections for chart in section.charts}
    write_chunk(site.root, "figures", {"colours": site.source.colours, "charts": charts})
    site.page("figures", current="figures", scripts=(*CHART_SCRIPTS, "js/figures.js"), sections=sections)
