"""Slices of a run: the pages that share the value of an attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsemark.model import AttributeValue
from parsemark.protocols import Figure
from parsemark.report.source import Source

MOST_VALUES = 12
"""An attribute with more values than this (a file name, a date) is not something to slice by."""
FEWEST_PAGES = 2


@dataclass(frozen=True, slots=True)
class PageSlice:
    """Some pages of a run with their numbers."""

    key: str
    attribute: str
    label: str
    n_pages: int
    figures: Mapping[str, Mapping[str, Figure]]


def slices(source: Source) -> list[PageSlice]:
    """All pages, and each value of each attribute that divides them."""
    n_all = len(source.samples)
    found = [PageSlice("", "", "All pages", n_all, source.figures)]
    of_pages = [part for part in source.summary.slices if part.scope == "page"]
    values: dict[str, int] = {}
    for part in of_pages:
        values[part.attribute] = values.get(part.attribute, 0) + 1
    return found + [
        PageSlice(f"{p.attribute}={value_words(p.value)}", p.attribute, value_words(p.value), p.n, p.figures)
        for p in of_pages
        if values[p.attribute] <= MOST_VALUES and FEWEST_PAGES <= p.n < n_all
    ]


def value_words(value: str) -> str:
    """A slice's value as the pages and the viewer's filter write it."""
    return {"true": "yes", "false": "no"}.get(value, value)


def value_text(value: AttributeValue) -> str:
    """An attribute's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
