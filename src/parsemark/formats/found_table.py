"""A table that was found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from parsemark.model import Table

Format = Literal["html", "markdown", "grid", "latex", "csv", "tsv", "plain"]
"""The formats of `read_tables`; `grid` are Markdown's and reStructuredText's drawn tables."""

FORMATS: tuple[str, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table with its place in the text: `text[start:end] == source`."""

    table: Table
    format: str
    start: int
    end: int
    source: str
