"""The fonts of each language (Debian's Noto), and whether they have all characters of a draft."""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from parsemark.errors import MakingError
from parsemark_makers.synthetic.document import DocumentDraft

FOLDERS = (Path("/usr/share/fonts/truetype/noto"), Path("/usr/share/fonts/opentype/noto"))
PACKAGES = "fonts-noto-core fonts-noto-cjk"
OWN = {
    "zh": ("Noto Sans CJK SC", "Noto Serif CJK SC"),
    "ja": ("Noto Sans CJK JP", "Noto Serif CJK JP"),
    "ko": ("Noto Sans CJK KR", "Noto Serif CJK KR"),
    "ar": ("Noto Sans Arabic", "Noto Naskh Arabic"),
    "he": ("Noto Sans Hebrew", "Noto Serif Hebrew"),
}
"""By language: without and with serifs."""
SYMBOLS = ("Noto Sans Math", "Noto Sans Symbols", "Noto Sans Symbols2")


def families(draft: DocumentDraft) -> tuple[str, ...]:
    """Return the fonts of a draft, in the order in which characters are looked for."""
    latin = "Noto Serif" if draft.look.serif else "Noto Sans"
    own = OWN.get(draft.words.code)
    return (*((own[draft.look.serif],) if own else ()), latin, *SYMBOLS)


def font_files(wanted: Iterable[str]) -> list[Path]:
    """Return the files of font families; raises MakingError with the packages that have them."""
    found = []
    for family in dict.fromkeys(wanted):
        start = re.sub(" (SC|JP|KR)$", "", family).replace(" ", "")
        files = [
            path
            for folder in FOLDERS
            for weight in ("Regular", "Bold", "Italic")
            for path in sorted(folder.glob(f"{start}-{weight}.*"))
        ]
        if not files:
            raise MakingError(f"The font {family} is missing; install it: apt-get install {PACKAGES}")
        found += files
    return list(dict.fromkeys(found))


def require_glyphs(draft: DocumentDraft) -> None:
    """Raise MakingError if any character of a draft has no glyph in its fonts."""
    covered: set[int] = set()
    for path in font_files(families(draft)):
        if "-Regular" in path.name:
            covered |= _covered(path)
    missing = sorted(c for c in draft.characters() if c.strip() and ord(c) not in covered)
    if missing:
        raise MakingError(f"{draft.name}: no font of {', '.join(families(draft))} has {' '.join(missing)}.")


@lru_cache(maxsize=64)
def _covered(path: Path) -> frozenset[int]:
    from fontTools.ttLib import TTFont

    with TTFont(path, fontNumber=0, lazy=True) as font:
        return frozenset(font.getBestCmap())
