"""Where the numbers come from: corpus, versions, seeds, settings, command, definitions."""

import shlex
from typing import Any

from parsemark.errors import ParsemarkError
from parsemark.report.site import ReportPage, Site
from parsemark.report.source import RunSource


def _write(site: Site) -> None:
    """Write `provenance.html`."""
    source = site.source
    manifest, counts = source.manifest, source.parses.group_by("parser", "status").len()
    site.page(
        "provenance",
        command=shlex.join(manifest.command),
        manifest=manifest,
        facts=_facts(source),
        parsers=[(parser, manifest.parser(parser.name)) for parser in source.parsers],
        columns=source.summary.shown(),
        rule=source.rule,
        rule_words=source.shown.words_for_rule(source.rule),
        theta=source.summary.settings.get("theta"),
        statuses=counts.sort("parser", "status").rows(),
        metrics=_metrics(source),
    )


def _facts(source: RunSource) -> list[tuple[str, str]]:
    manifest = source.manifest
    corpus = manifest.corpus
    facts = [
        ("Corpus", f"{corpus.name} {corpus.version}"),
        ("Corpus hash", corpus.hash),
        ("Corpus spec", corpus.spec),
        ("Pages in the corpus", f"{corpus.n_samples:,}"),
        ("Pages in this run", f"{len(source.samples):,}"),
        ("Protocols", ", ".join(manifest.protocols)),
        ("Seed", str(manifest.seed)),
        ("Created", manifest.created),
        ("parsemark", manifest.code_version),
        ("Run schema", str(manifest.schema_version)),
    ]
    if manifest.limits:
        limits = manifest.limits
        facts.append(("Limits per page", f"{limits.timeout_s:g} s, {limits.memory_mb:,} MB"))
    facts += [(f"Machine: {key}", str(value)) for key, value in manifest.machine.items()]
    return facts


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
