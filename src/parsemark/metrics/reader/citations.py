r"""Citations that a parser reads on the page, and that the truth, made of its source, leaves out.

`BERT \cite{devlin}` is printed as `BERT [12]`, `BERT [DCLT19]` or `BERT (Devlin et al., 2019)`.
"""

from __future__ import annotations

import dataclasses
import re
from functools import lru_cache

from parsemark.metrics.reader.sheet import Sheet

_NUMBERS = r"\d{1,3}(?:[;,-]\s?\d{1,3})*+"
_KEYS = r"[A-Z][A-Za-z+]{1,6}\d\d[a-z]?(?:[;,]\s?[A-Z][A-Za-z+]{1,6}\d\d[a-z]?)*+"
_YEARS = r"(?:1[89]|20)\d\d[a-z]?(?:[;,]\s?(?:1[89]|20)\d\d[a-z]?)*+"
_AUTHORS = rf"[^\W\d_][^\d()\[\]]*+{_YEARS}(?:;[^\d()\[\]]++{_YEARS})*+"
_CITATION = re.compile(
    rf"\s?(?:\^\{{?)?(?:\[(?:{_NUMBERS}|{_KEYS}|{_AUTHORS})\]|\({_AUTHORS}\))\}}?"
    rf"|(?<=[^\W\d_]{{3}})\^(?:\d{{1,3}}|\{{{_NUMBERS}\}})(?=$|[(\[])"
)
_MARKS = frozenset("[(^")
"""Without any of these there is no citation."""


def without_citations(truth: Sheet, pred: Sheet) -> Sheet:
    """The prediction without citations in names and texts, if the truth has none at all."""
    found = {text: rest for text in pred.said if (rest := _uncited(text)) != text}
    if not found or any(_uncited(text) != text for text in truth.said):
        return pred
    said = {_letters_and_digits(text) for text in truth.said}
    # What stands in brackets alone may be a value, if the truth has such ones.
    bracketed = any(text.startswith(("[", "(")) for text in truth.said)
    left_out = {
        text: rest
        for text, rest in found.items()
        if _letters_and_digits(text) not in said and (any(map(str.isalpha, rest)) or not (rest or bracketed))
    }
    # A cell that held a citation alone is empty.
    shown = pred.rewritten(lambda text, written: "" if left_out.get(text) == "" else written).texts
    present = [list(map(bool, row)) for row in shown]
    without = pred.rewritten(lambda text, _: left_out.get(text, text))
    return dataclasses.replace(without, shown=shown, present=present)


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


@lru_cache(20_000)
def _uncited(text: str) -> str:
    """A text without its citations.

    >>> _uncited("BERT[3;44]"), _uncited("BERT(Liu et al.,2019)"), _uncited("BERT^17"), _uncited("[LOG+19]")
    ('BERT', 'BERT', 'BERT', '')
    >>> _uncited("Leaf(2010)"), _uncited("61[55.2;70]"), _uncited("m^2"), _uncited("VLD[QRL]")
    ('Leaf(2010)', '61[55.2;70]', 'm^2', 'VLD[QRL]')
    """
    return text if _MARKS.isdisjoint(text) else _CITATION.sub("", text).strip()
