"""Where is a parser weak? Scores by attribute of page or table."""

from __future__ import annotations

from collections.abc import Sequence

from parsemark.report.charts.spec import Axis, Chart
from parsemark.report.charts.structure import interval_series
from parsemark.report.source import Parser, Source

LEVELS = ("simple", "moderate", "complex")


def attribute_names(source: Source) -> list[tuple[str, str]]:
    """`(scope, attribute)` of all breakdowns that have at least two values; complexity first."""
    names = {
        (scope, attribute)
        for figures in source.figures.values()
        for scope, attributes in figures.get("by_attribute", {}).items()
        for attribute, values in attributes.items()
        if len(values) > 1
    }
    return sorted(names, key=lambda n: (n[1] != "complexity", n[0] != "table", n[1]))


def breakdown(source: Source, scope: str, attribute: str, parsers: Sequence[Parser]) -> Chart | None:
    """One attribute: a group of bars for each value, a bar for each parser."""
    groups = {
        p.name: source.figures.get(p.name, {}).get("by_attribute", {}).get(scope, {}).get(attribute, {})
        for p in parsers
    }
    values = _ordered({value for group in groups.values() for value in group})
    key = figure_key(source, scope)
    series = []
    for name, group in groups.items():
        known = [(i, group[v][key]) for i, v in enumerate(values) if v in group and key in group[v]]
        known = [(i, entry) for i, entry in known if entry["value"] is not None]
        if known:
            series.append(interval_series(name, known))
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
