"""The charts of a run: on a page of the report, and as files for papers."""

from collections.abc import Iterator
from pathlib import Path

from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import stored_sections
from parsemark.report.charts.paper import Format, save_chart
from parsemark.report.chunks import write_chunk
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import RunSource
from parsemark.store import Run
from parsemark.system import make_folder
from parsemark.verdicts.scored_run import readable_protocols


def _write(site: Site) -> None:
    """Write `charts.html` and its data, protocol by protocol."""
    parts = [(site.title(one), stored_sections(one, first=one is site.source)) for one in site.sources]
    charts = [chart for _, sections in parts for section in sections for chart in section.charts]
    data = {"colours": site.source.colours, "charts": {chart.key: chart_to_json(chart) for chart in charts}}
    write_chunk(site.root, "charts", data)
    site.page("charts", scripts=(*CHART_SCRIPTS, "js/charts.js"), parts=parts)


def write_paper_figures(run_dir: Path, out_dir: Path, kind: Format) -> Iterator[Path]:
    """Write each chart of a run to `OUT/KEY.FORMAT`, one at a time, and yield its path."""
    run = Run.open(run_dir)
    make_folder(out_dir)
    sources = [RunSource(run, spec) for spec in readable_protocols(run)[0]] or [RunSource(run)]
    for source in sources:
        first = source is sources[0]
        for section in stored_sections(source, first=first):
            for chart in section.charts:
                path = out_dir / f"{chart.key}.{kind}"
                save_chart(chart, source.colours, path)
                yield path


PAGE = ReportPage("charts", _write, "Charts")
