"""The page with the figures of the papers."""

from __future__ import annotations

from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import stored_sections
from parsemark.report.chunks import write_chunk
from parsemark.report.site import CHART_SCRIPTS, Site


def write_figures(site: Site) -> None:
    """Write `figures.html` and its data, protocol by protocol."""
    parts = [
        (source.recipe.title, stored_sections(source, first=source is site.source)) for source in site.sources
    ]
    charts = [chart for _, sections in parts for section in sections for chart in section.charts]
    data = {"colours": site.source.colours, "charts": {chart.key: chart_to_json(chart) for chart in charts}}
    write_chunk(site.root, "figures", data)
    site.page("figures", current="figures", scripts=(*CHART_SCRIPTS, "js/figures.js"), parts=parts)
