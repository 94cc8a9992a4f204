"""One colour per parser, the same in every table, chart and paper figure.

The first eight come from Okabe and Ito's palette for all kinds of colour vision, darkened where it was too
faint on white; the others keep the distance. Each has a lighter twin for dark pages.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour for light and one for dark backgrounds."""

    light: str
    dark: str


_PAIRS = (
    "#0067a5 #56a9e0, #c4470b #f2814b, #00805c #2fc297, #a3438b #db86c5, "
    "#9a6700 #e0ac3a, #3b5bdb #8fa5ff, #b3263e #f0717f, #0b7285 #4cc3d6, "
    "#5f7a0a #adc94a, #7048a8 #b79af0, #8a4b2a #cf9470, #4a5568 #a3b0c2, "
    "#006d32 #5ec27f, #ad1f6c #f47dbb, #1f4e8c #7fb0f0, #7a6a00 #d3c236, "
    "#8c2f1b #e58b74, #2b6a6c #77c2c2, #5a3e8e #a58fdd, #6b4f4f #c2a3a3"
)
PALETTE = tuple(Colour(*pair.split()) for pair in _PAIRS.split(","))
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "plus")


def colour_indices(parsers: Iterable[str]) -> dict[str, int]:
    """Return parser to palette index, by name, so that the order of a run's parsers does not matter."""
    return {name: i % len(PALETTE) for i, name in enumerate(sorted(parsers))}


def stylesheet() -> str:
    """Return the palette as CSS: `.parser-3` sets `--parser`."""
    pairs = (f"{colour.light}, {colour.dark}" for colour in PALETTE)
    return "".join(f".parser-{i} {{ --parser: light-dark({pair}); }}\n" for i, pair in enumerate(pairs))
