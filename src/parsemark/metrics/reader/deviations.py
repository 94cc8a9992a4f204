"""Deviations below their values: a row of standard errors belongs to the row of estimates above it.

A row that says nothing but numbers in brackets, or behind ±, has no meaning of its own. Whether it stands
below, with a name that says what it is, or behind the values in one cell, a reader finds the same.
"""

from __future__ import annotations

import re

from parsemark.metrics.reader.likeness import tight
from parsemark.metrics.reader.sheet import Sheet

_DEVIATION = re.compile(r"[(\[](?=[^()\[\]A-Za-z]*\d)[^()\[\]A-Za-z]*+[)\]]|±[\d.]++%?")
_KIND = re.compile(
    r"\W*(?:\w+\W?)?(?:(?:std|standard|s)\W*(?:err(?:or)?|e|dev(?:iation)?|d)s?|sem|[tzp]\W*(?:stat(?:istic)?|value)s?"
    r"|(?:\d\d\W*)?(?:ci|conf\w*\W*int\w*))\W*",
    re.IGNORECASE,
)
"""What deviations are called."""
_LONGEST_NAME = 80


def says_deviations(sheet: Sheet, row: int, first: int = 0) -> bool:
    """Whether all that begins in a row, from a column on, are deviations."""
    found = False
    for text, start in zip(sheet.texts[row][first:], sheet.starts[row][first:], strict=True):
        if text and start:
            if _DEVIATION.fullmatch(text) is None:
                return False
            found = True
    return found


def without_names_of_deviations(truth: Sheet, pred: Sheet) -> Sheet:
    """The prediction without names that it gives to rows of deviations, where the truth gives none."""
    if pred.n_cols < 2:
        return pred
    named = [r for r in range(1, pred.n_rows) if pred.texts[r][0] and says_deviations(pred, r, 1)]
    known = {tight(text) for row in truth.texts for text in row} if named else set()
    emptied = [
        r for r in named if tight(pred.texts[r][0]) not in known and _is_theirs(pred, r, pred.texts[r][0])
    ]
    if not emptied:
        return pred
    texts, present = list(pred.texts), list(pred.present)
    for row in emptied:
        texts[row] = ["", *texts[row][1:]]
        present[row] = [False, *present[row][1:]]
    return pred.with_texts(texts, present)


def _is_theirs(pred: Sheet, row: int, name: str) -> bool:
    """Whether the name of a row of deviations goes on from the name above, or says what they are."""
    above = pred.texts[row - 1][0]
    says_what = len(name) <= _LONGEST_NAME and _KIND.fullmatch(name) is not None
    return says_what or bool(above and name.startswith(above))
