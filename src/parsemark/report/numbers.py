"""How numbers are printed everywhere."""

from __future__ import annotations

from parsemark.protocols import Figure
from parsemark.protocols.base import Style


def format_value(value: float | None, style: Style) -> str:
    """A number as it is printed everywhere; an en dash for what does not exist.

    >>> format_value(0.98765, "score"), format_value(None, "score"), format_value(3.0, "count")
    ('0.988', '–', '3')
    """
    if value is None:
        return "–"
    if style == "seconds":
        return f"{value:.3f}" if value < 1 else f"{value:.2f}"
    if style == "dollars":
        return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
    digits = {"count": 0, "megabytes": 0, "rate": 2, "score": 3}[style]
    return f"{value:,.{digits}f}"


def figure_note(figure: Figure, style: Style) -> str:
    """Interval and denominator of a figure in words."""
    parts = []
    if figure.interval:
        low, high = (format_value(end, style) for end in figure.interval)
        parts.append(f"95 % interval {low} to {high}")
    parts.append(f"n = {figure.n:,.0f}")
    return ", ".join(parts)


def plural(word: str, n: float) -> str:
    """The word for so many of a thing.

    >>> plural("page", 1), plural("page", 0)
    ('page', 'pages')
    """
    return word if n == 1 else f"{word}s"
