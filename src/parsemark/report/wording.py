"""How numbers and the texts of others are printed everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from parsemark.plain_words import UNDEFINED

if TYPE_CHECKING:
    from parsemark.protocols.figures import Figure, Style


DIGITS: Mapping[Style, int] = {
    "count": 0,
    "megabytes": 0,
    "rate": 2,
    "score": 3,
    "seconds": 3,
    "dollars": 4,
}
"""Of differences, and of values where the style has no form of its own."""


def format_value(value: float | None, style: Style) -> str:
    """A number as it is printed everywhere; an en dash for what does not exist.

    >>> format_value(0.98765, "score"), format_value(None, "score"), format_value(3.0, "count")
    ('0.988', '–', '3')
    >>> format_value(0.0123, "dollars"), format_value(0.0000251, "dollars"), format_value(0.0, "dollars")
    ('$0.0123', '$0.000025', '$0.0000')
    """
    if value is None or not math.isfinite(value):
        return UNDEFINED
    if style == "seconds":
        return f"{value:.3f}" if value < 1 else f"{value:.2f}"
    if style == "dollars":
        if value >= 1:
            return f"${value:,.2f}"
        # What costs anything does not cost $0.0000: two digits that count, however small it is.
        return f"${value:.{max(4, 1 - math.floor(math.log10(value))) if value > 0 else 4}f}"
    return f"{value:,.{DIGITS[style]}f}"


def figure_note(figure: Figure, style: Style) -> str:
    """Interval and denominator of a figure in words."""
    parts = []
    if figure.interval:
        low, high = (format_value(end, style) for end in figure.interval)
        parts.append(f"95 % interval {low} to {high}")
    parts.append(f"n = {figure.n:,.0f}")
    return ", ".join(parts)


_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls but tab and line feed, zero-width characters, those that change the writing direction, halves of
surrogate pairs, and tags; `assets/js/dom.js` has the same."""


def visible(text: str) -> str:
    """The text with characters that hide or move text as their code: what others say is shown as it is.

    >>> visible("gnp.\u202efdp")
    'gnp.⟨U+202E⟩fdp'
    """
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def visible_value(value: Any) -> Any:
    """What a template prints: text made visible, all else (also markup of our own) as it is."""
    return visible(value) if type(value) is str else value
