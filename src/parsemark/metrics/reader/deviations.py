"""Deviations below their values: a row of standard errors belongs to the row of estimates above it.

A row that says nothing but numbers in brackets, or behind ±, has no meaning of its own. Whether it stands
below or behind the values in one cell, a reader finds the same.
"""

from __future__ import annotations

import re

from parsemark.metrics.reader.sheet import Sheet

_DEVIATION = re.compile(r"[(\[](?=[^()\[\]A-Za-z]*\d)[^()\[\]A-Za-z]*+[)\]]|±[\d.]++%?")


def says_deviations(sheet: Sheet, row: int, first: int = 0) -> bool:
    """Whether all that begins in a row, from a column on, are deviations."""
    found = False
    for text, start in zip(sheet.texts[row][first:], sheet.starts[row][first:], strict=True):
        if text and start:
            if _DEVIATION.fullmatch(text) is None:
                return False
            found = True
    return found
