"""Texts as the glyphs that a page shows, to compare a source with what TeX made of it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from parsemark.formats.notation import fold_notation

ROOTS = {"∛": "3√", "∜": "4√"}
"""Roots as pages set them: the index is a glyph of its own."""
_SAME_GLYPH = str.maketrans({"◦": "°", "∘": "°", "ˆ": "", "˜": "", "¯": "", "∆": "Δ", **ROOTS})
_NO_GLYPH = re.compile(r"[\s_^{}\x00-\x1f]")


def glyph_text(text: str) -> str:
    r"""The glyphs of a text without blanks, script marks and accents, which fonts and extraction treat as
    they like.

    >>> glyph_text("x_1^{10} \u00b1 \u00e9"), glyph_text("x101 \u00b1 e")
    ('x110±e', 'x101±e')
    """
    folded = unicodedata.normalize("NFKD", fold_notation(text.translate(_SAME_GLYPH).replace("~", "∼")))
    letters = (c for c in folded.translate(_SAME_GLYPH) if not unicodedata.combining(c))
    return _NO_GLYPH.sub("", "".join(letters))


def without_written_signs(missing: Counter[str]) -> Counter[str]:
    r"""What a page lacks of a text's glyphs, without the signs by which a line of text says how a formula is
    stacked: the slash of `a/b` for a fraction or a diagonal cell, and pairs of brackets as in `(a+b)/c`.

    >>> without_written_signs(Counter("(/)x"))
    Counter({'x': 1})
    """
    pairs = min(missing["("], missing[")"])
    return missing - Counter({"/": missing["/"], "(": pairs, ")": pairs})
