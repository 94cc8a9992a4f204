"""Decimal commas: a table that writes 1.234,5 says the same as one that writes 1,234.5.

Which of the two a table does is told by its numbers together, since 1.234 alone may be either. Only numbers
that can be nothing else are counted: 13,1 and 1.234.567 for the comma, 13.1 and 1,234,567 for the point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from parsemark.metrics.reader.sheet import Sheet, fold_cell

_AROUND = r"[-−–+±~<>≤≥≈$€£¥\\\s]*"
_AFTER = r"[\s%‰*†‡$€£¥]*(?:[A-Za-z°µ]{1,3})?\$?"
_COMMA = re.compile(
    rf"{_AROUND}(?:\d+,(?:\d{{1,2}}|\d{{4,}})|\d{{1,3}}(?:[.\s'’]\d{{3}})+,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}){_AFTER}"
)
_POINT = re.compile(
    rf"{_AROUND}(?:\d*\.(?:\d{{1,2}}|\d{{4,}})|\d{{1,3}}(?:[,\s'’]\d{{3}})+\.\d+|\d{{1,3}}(?:,\d{{3}}){{2,}}){_AFTER}"
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d{3})*(?:,\d+)?(?![\w.,])")
_LIST = re.compile(r"[(\[][^()\[\],]*,|,\s")
_LEAST = 2
"""So many numbers with a comma tell; one alone may be a list of two."""


def decimal_comma(sheet: Sheet, default: bool = False) -> bool:
    """Whether the numbers of a table have decimal commas; `default` where they do not tell."""
    # Without a comma only several points can tell of one.
    telling = [text for row in sheet.shown for text in row if "," in text or text.count(".") > 1]
    if not telling and not default:
        return False
    texts = [text for row in sheet.shown for text in row if "," in text or "." in text]
    commas = sum(_COMMA.fullmatch(text) is not None for text in telling)
    points = sum(_POINT.fullmatch(text) is not None for text in texts)
    if commas == points:
        return default
    return commas > points and (commas >= _LEAST or default)


def with_points(sheet: Sheet) -> Sheet:
    """A table of decimal commas with decimal points, and without points between thousands."""
    return sheet.with_texts(
        [list(_converted(*lines)) for lines in zip(sheet.texts, sheet.shown, strict=True)]
    )


def _converted(texts: Iterable[str], shown: Iterable[str]) -> Iterable[str]:
    for text, written in zip(texts, shown, strict=True):
        if ("," in written or "." in written) and text and not _LIST.search(written):
            yield fold_cell(_NUMBER.sub(lambda found: found[0].replace(".", "").replace(",", "."), written))
        else:
            yield text
