"""All figures of a run as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parsemark.report.charts.catalogue import stored_sections
from parsemark.report.charts.paper import Format, save_chart
from parsemark.report.source import Source
from parsemark.store import Run
from parsemark.system import make_folder


def write_paper_figures(run_dir: Path, out_dir: Path, kind: Format) -> Iterator[Path]:
    """Write each figure of a run to `OUT/KEY.FORMAT`, one at a time, and yield its path."""
    run = Run.open(run_dir)
    make_folder(out_dir)
    for source in [Source(run, protocol) for protocol in run.protocols] or [Source(run)]:
        first = source.protocol == next(iter(run.protocols), None)
        for section in stored_sections(source, first=first):
            for chart in section.charts:
                path = out_dir / f"{chart.key}.{kind}"
                save_chart(chart, source.colours, path)
                yield path
