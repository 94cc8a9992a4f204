"""Texts as the glyphs that a page shows, to compare a source with what TeX made of it."""

import re
from collections import Counter

from parsemark.formats.notation import fold_notation, without_accents
from parsemark.pdf.text import LINE_END_HYPHEN

ROOTS = {"∛": "3√", "∜": "4√"}  # roots as pages set them: the index is a glyph of its own
STROKED = {"Ł": "L", "ł": "l", "ħ": "h", "ℏ": "h"}
"""Letters that old fonts set with a stroke of its own, which text layers have as a blank or not at all."""
JOINED_SIGNS = {
    "7→": "↦", "7−→": "⟼", "−→": "⟶", "←−": "⟵", "←→": "⟷", "=⇒": "⟹", "⇐=": "⟸", "⇐⇒": "⟺",
    ",→": "↪", "←-": "↩", "∼=": "≅", ".=": "≐", "|=": "⊨", "|−": "⊢", "/∈": "∉", "▷◁": "⋈",
}  # fmt: skip
"""Signs that TeX sets from glyphs over each other, by what readers take these for: `7` is the foot of a
mapping arrow, a comma its hook."""
_SAME_GLYPH = str.maketrans({"◦": "°", "∘": "°", "ˆ": "", "˜": "", "¯": "", "∆": "Δ", **ROOTS, **STROKED})
EXTENSION_FONT = re.compile(
    r"(?:^|\+)(?:CMEX|LMMathExtension|EUEX|MTEX|TXEX|PXEX)\d*(?:-Regular)?$", re.IGNORECASE
)
"""Names of fonts in the encoding of TeX's extension font (OMX)."""
EXTENSION_SIGNS = {
    **dict(zip(map(chr, range(32)), "()[]⌊⌋⌈⌉{}⟨⟩|‖/\\()()[]⌊⌋⌈⌉{}⟨⟩/\\", strict=True)),
    **dict(zip(" !\"#$%&'*+,-.", "()[]⌊⌋⌈⌉⟨⟩/\\/", strict=True)),
    **dict(zip("012389DEFGHIJKLMNO", "()[]{}⟨⟩⊔⊔∮∮⨀⨀⨁⨁⨂⨂", strict=True)),
    **dict.fromkeys("4567:;<=>?@ABC", ""),
    **dict(zip("PQRSTUVWXYZ", "∑∏∫⋃⋂⨄⋀⋁∑∏∫", strict=True)),
    **dict(zip("`abcdefghijklmnopqrst", "∐∐ˆˆˆ˜˜˜[]⌊⌋⌈⌉{}√√√√√", strict=True)),
}
"""What a glyph of such a font shows, by the character that readers take its code for: the fonts do not say.

Brackets of several pieces have their sign at the first and nothing at the others. Codes that a PDF which does
say can mean as well (brackets, slashes, `^`, `_`) are not here.
"""
_LARGEST_BRACES = {"(": "{", ")": "}"}
_BRACE_WIDTH = 0.798
_BRACE_PIECES, _PIECE_HEIGHT = "z{|}", 0.5


def extension_sign(character: str, width: float, height: float) -> str | None:
    """Return the sign that a glyph of an extension font shows; None if the PDF declares it. Sizes are in
    those of the font.

    A code can be the bracket that it looks like, if a PDF says so, or another sign: the largest braces
    (0.806) are wider than all parentheses (0.792), and pieces of a brace over or under a formula are flat.

    >>> extension_sign("(", 0.806, 3.0), extension_sign("(", 0.458, 1.2), extension_sign("{", 0.45, 0.3)
    ('{', None, '')
    """
    if character in _LARGEST_BRACES:
        return _LARGEST_BRACES[character] if width > _BRACE_WIDTH else None
    if character in _BRACE_PIECES:
        return "" if height < _PIECE_HEIGHT else None
    return EXTENSION_SIGNS.get(character)


_NO_GLYPH = re.compile(r"[\s_^{}\x00-\x1f]")


def glyph_text(text: str) -> str:
    r"""Return the glyphs of a text without blanks, script marks and accents, which fonts and extraction treat
    as they like.

    >>> glyph_text("x_1^{10} \u00b1 \u00e9"), glyph_text("x101 \u00b1 e")
    ('x110±e', 'x101±e')
    """
    folded = without_accents(fold_notation(text.translate(_SAME_GLYPH).replace("~", "∼")))
    return _NO_GLYPH.sub("", folded.translate(_SAME_GLYPH))


def without_extension_signs(missing: Counter[str], extra: Counter[str]) -> tuple[Counter[str], Counter[str]]:
    """Return what a text layer lacks and has too much, without signs for which it has codes of an extension
    font.

    >>> without_extension_signs(Counter(glyph_text("∑x")), Counter("Py"))
    (Counter({'x': 1}), Counter({'y': 1}))
    """
    missing, extra = missing.copy(), extra.copy()
    hyphen = ("-", EXTENSION_SIGNS[chr(LINE_END_HYPHEN)])
    nothing = ("\ufffd", EXTENSION_SIGNS["\0"])
    for code, sign in (*EXTENSION_SIGNS.items(), hyphen, nothing):
        for glyph in glyph_text(sign):
            n = min(missing[glyph], extra[code])
            missing[glyph] -= n
            extra[code] -= n
    return +missing, +extra


def without_joined_signs(missing: Counter[str], extra: Counter[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the same without signs and letters for which a text layer has the glyphs that they are made of.

    >>> without_joined_signs(Counter("⟹≅x"), Counter("=⇒~=y"))
    (Counter({'x': 1}), Counter({'y': 1}))
    """
    missing, extra = missing.copy(), extra.copy()
    # The longest first: a long arrow is the foot of a mapping one as well.
    made = {
        sign: fold_notation(pieces)
        for pieces, sign in sorted(JOINED_SIGNS.items(), key=lambda item: -len(item[0]))
    }
    for sign, pieces in {**made, **STROKED}.items():
        n = min(missing[sign], *(extra[piece] for piece in pieces))
        missing[sign] -= n
        for piece in pieces:
            extra[piece] -= n
    return +missing, +extra


def without_written_signs(missing: Counter[str]) -> Counter[str]:
    r"""Return what a page lacks of a text's glyphs, without the signs by which a line of text says how a
    formula is stacked: the slash of `a/b` for a fraction or a diagonal cell, and pairs of brackets as in
    `(a+b)/c`.

    >>> without_written_signs(Counter("(/)x"))
    Counter({'x': 1})
    """
    pairs = min(missing["("], missing[")"])
    return missing - Counter({"/": missing["/"], "(": pairs, ")": pairs})
