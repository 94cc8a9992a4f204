"""Slices of a run: the pages that share the value of an attribute."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from parsemark.model import AttributeValue
from parsemark.report.source import Source

MOST_VALUES = 12
"""An attribute with more values than this (a file name, a date) is not something to slice by."""
FEWEST_PAGES = 2


@dataclass(frozen=True, slots=True)
class Slice:
    """Some pages of a run."""

    key: str
    attribute: str
    value: AttributeValue
    label: str
    pages: tuple[str, ...]


def whole(source: Source) -> Slice:
    """All pages."""
    return Slice("", "", None, "All pages", tuple(source.samples["sample"]))


def slices(source: Source) -> list[Slice]:
    """All pages, pages with and without tables, and each value of each attribute that divides the pages."""
    everything = whole(source)
    found = [everything]
    counts = source.samples["n_tables"].to_list()
    for key, label, keep in (("tables", "with tables", True), ("no-tables", "without tables", False)):
        pages = tuple(
            p for p, n in zip(everything.pages, counts, strict=True) if n is not None and (n > 0) == keep
        )
        if FEWEST_PAGES <= len(pages) < len(counts):
            found.append(Slice(key, "tables", keep, label, pages))
    for attribute in sorted({name for page in source.attributes for name in page}):
        found += _values_of(source, attribute, len(counts))
    return found


def _values_of(source: Source, attribute: str, n_pages: int) -> list[Slice]:
    values = Counter(page[attribute] for page in source.attributes if page.get(attribute) is not None)
    if not 1 <= len(values) <= MOST_VALUES:
        return []
    ordered = sorted(values, key=lambda v: (str(type(v)), v))
    return [
        Slice(
            f"{attribute}={value_text(v)}",
            attribute,
            v,
            value_text(v),
            tuple(source.pages_with(attribute, v)),
        )
        for v in ordered
        if FEWEST_PAGES <= values[v] < n_pages
    ]


def value_text(value: AttributeValue) -> str:
    """An attribute's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
