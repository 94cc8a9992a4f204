"""Where the numbers come from: corpus, versions, seeds, settings, command, definitions."""

import shlex
from typing import Any

from parsemark.errors import ParsemarkError
from parsemark.report.site import ReportPage, Site
from parsemark.report.source import RunSource


def _write(site: Site) -> None:
    """Write `provenance.html`."""
    source, counts = site.source, site.source.parses.group_by("parser", "status").len()
    site.page(
        "provenance",
        source=source,
        command=shlex.join(source.manifest.command),
        statuses=counts.sort("parser", "status").rows(),
        metrics=_metrics(source),
    )


def _metrics(source: RunSource) -> list[dict[str, Any]]:
    """What each metric says of itself; one that is not installed here is named only."""
    from parsemark.metrics import get_metric

    described = []
    for name in source.metrics:
        try:
            described.append({"name": name, "facts": get_metric(name).facts})
        except ParsemarkError:
            described.append({"name": name, "facts": None})
    return described


PAGE = ReportPage("provenance", _write, "Provenance")
