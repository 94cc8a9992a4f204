"""Where is a parser weak? Scores by attribute of page or table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from parsemark.protocols.exhibits import Axis, Chart, interval_bars
from parsemark.report.source import Source

LEVELS = ("simple", "moderate", "complex")
CURVES = ("severity",)
"""Attributes whose values are steps of one quantity, drawn as a curve."""


def attribute_names(source: Source) -> list[tuple[str, str]]:
    """`(scope, attribute)` of all breakdowns that have at least two values; complexity first."""
    counts = Counter((part.scope, part.attribute) for part in source.summary.slices)
    names = [name for name, n in counts.items() if n > 1]
    return sorted(names, key=lambda n: (n[1] != "complexity", n[0] == "page", n[1]))


def breakdown(source: Source, scope: str, attribute: str) -> Chart | None:
    """One attribute: a group of bars for each value, a bar for each parser."""
    parts = {p.value: p for p in source.summary.slices if (p.scope, p.attribute) == (scope, attribute)}
    values = _ordered(set(parts))
    info = source.summary.info(source.slice_figure(scope))
    series = []
    for parser in source.parsers:
        entries = [(i, parts[v].figures.get(parser.name, {}).get(info.name)) for i, v in enumerate(values)]
        known = [(i, entry) for i, entry in entries if entry is not None and entry.value is not None]
        if known:
            bars = interval_bars(parser.name, known)
            series.append(replace(bars, mark="line") if attribute in CURVES else bars)
    if not series:
        return None
    kind = scope.replace("_", " ")
    return Chart(
        f"by-{_key(scope)}-{_key(attribute)}",
        f"By {attribute} of the {kind}",
        f"{info.label} over the {kind}s with each value, with 95 % intervals where they are known. "
        f"{info.direction.capitalize()}.",
        Axis(attribute, kind="category", categories=tuple(values)),
        Axis(info.label, 0.0, 1.0 if info.style == "score" and source.is_share(info.name) else None),
        tuple(series),
    )


def _ordered(values: set[str]) -> list[str]:
    if values <= set(LEVELS):
        return [level for level in LEVELS if level in values]
    return sorted(values, key=lambda v: (not v.replace(".", "").isdigit(), v.zfill(12)))


def _key(attribute: str) -> str:
    from parsemark.report.names import safe_name

    plain = attribute.replace("_", "-").lower()
    return plain if plain.replace("-", "").isalnum() and plain.isascii() else safe_name(attribute)
