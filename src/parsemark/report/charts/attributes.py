"""Where is a parser weak? Scores by attribute of page or table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from parsemark.report.charts.spec import Axis, Chart
from parsemark.report.charts.structure import interval_series
from parsemark.report.source import Parser, Source

LEVELS = ("simple", "moderate", "complex")


def attribute_names(source: Source) -> list[tuple[str, str]]:
    """`(scope, attribute)` of all breakdowns that have at least two values; complexity first."""
    counts = Counter((part.scope, part.attribute) for part in source.summary.slices)
    names = [name for name, n in counts.items() if n > 1]
    return sorted(names, key=lambda n: (n[1] != "complexity", n[0] == "page", n[1]))


def breakdown(source: Source, scope: str, attribute: str, parsers: Sequence[Parser]) -> Chart | None:
    """One attribute: a group of bars for each value, a bar for each parser."""
    parts = {p.value: p for p in source.summary.slices if (p.scope, p.attribute) == (scope, attribute)}
    values = _ordered(set(parts))
    key = figure_key(source, scope)
    series = []
    for parser in parsers:
        entries = [(i, parts[v].figures.get(parser.name, {}).get(key)) for i, v in enumerate(values)]
        known = [(i, entry) for i, entry in entries if entry is not None and entry.value is not None]
        if known:
            series.append(interval_series(parser.name, known))
    if not series:
        return None
    kind = "tables" if scope == "table" else "pages"
    what = "End-to-end recall" if scope == "table" else "End-to-end F1"
    return Chart(
        f"by-{scope}-{_key(attribute)}",
        f"By {attribute} of the {'table' if scope == 'table' else 'page'}",
        f"{what} ({key}) over the {kind} with each value, with 95 % intervals.",
        Axis(attribute, kind="category", categories=tuple(values)),
        Axis(what.lower(), 0.0, 1.0),
        tuple(series),
    )


def figure_key(source: Source, scope: str) -> str:
    """The figure that is broken down: F1 for pages; a table has no precision, so recall for tables."""
    return source.primary if scope == "page" else source.primary.replace("te_f1_", "te_recall_")


def _ordered(values: set[str]) -> list[str]:
    if values <= set(LEVELS):
        return [level for level in LEVELS if level in values]
    return sorted(values, key=lambda v: (not v.replace(".", "").isdigit(), v.zfill(12)))


def _key(attribute: str) -> str:
    from parsemark.report.names import safe_name

    plain = attribute.replace("_", "-").lower()
    return plain if plain.replace("-", "").isalnum() and plain.isascii() else safe_name(attribute)
