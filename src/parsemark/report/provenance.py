"""Where the numbers come from: corpus, versions, seeds, settings, command, definitions."""

import shlex

from parsemark.errors import ParsemarkError
from parsemark.metrics.base import Metadata
from parsemark.report.site import ReportPage, Site


def _write(site: Site) -> None:
    """Write `provenance.html`."""
    source, counts = site.source, site.source.parses.group_by("parser", "status").len()
    metrics = [{"name": name, "metadata": known_metadata(name)} for name in source.metrics]
    statuses, command = counts.sort("parser", "status").rows(), shlex.join(source.manifest.command)
    site.page("provenance", source=source, command=command, statuses=statuses, metrics=metrics)


def known_metadata(metric: str) -> Metadata | None:
    """Return the metadata of a metric; None if it is not installed here."""
    from parsemark.metrics import get_metric

    try:
        return get_metric(metric).metadata
    except ParsemarkError:
        return None


PAGE = ReportPage("provenance", _write, "Provenance")
