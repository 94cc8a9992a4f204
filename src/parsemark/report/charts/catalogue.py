"""All figures of a run, in the order in which they are shown."""

from __future__ import annotations

import dataclasses

from parsemark.protocols.exhibits import Section
from parsemark.report.charts import attributes, cost
from parsemark.report.charts.tradeoff import trade_off
from parsemark.report.names import safe_name
from parsemark.report.source import Source


def all_sections(source: Source) -> list[Section]:
    """Every section that has at least one figure: those of every protocol, and the protocol's own."""
    found = [
        Section.of("overview", "Overview", [trade_off(source.figures, source), cost.time_per_page(source)]),
        *source.recipe.charts(source),
        Section.of(
            "attributes",
            "By attribute",
            [attributes.breakdown(source, *name) for name in attributes.attribute_names(source)],
        ),
    ]
    return [section for section in found if section.charts]


def stored_sections(source: Source, *, first: bool) -> list[Section]:
    """The same; sections and charts of a run's second protocol carry its name, since keys must not meet."""
    sections = all_sections(source)
    if first:
        return sections
    prefix = safe_name(source.summary.protocol)
    return [
        Section(
            f"{prefix}-{section.key}",
            section.title,
            tuple(dataclasses.replace(chart, key=f"{prefix}-{chart.key}") for chart in section.charts),
        )
        for section in sections
    ]
