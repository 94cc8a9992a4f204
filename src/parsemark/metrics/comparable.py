"""How large two tables may be to be compared. Over the limit a metric fails; it never hangs."""

from __future__ import annotations

from parsemark.errors import FormatError

MAX_POSITION_PAIRS = 400_000_000
"""Cells of one table times cells of the other (20,000 each): seconds to half a minute of work."""
MAX_LINE_PAIRS = 100_000_000
"""Rows times rows, and columns times columns: one byte of memory each."""
MAX_CHARACTER_PAIRS = 40_000_000_000
"""Characters of one table times characters of the other; 64 of them are compared at a time."""
MAX_TREE_PAIRS = 25_000_000
"""Nodes times nodes of trees that are not table > tr > td: 16 bytes of memory each."""


def check_pairs(what: str, a: int, b: int, limit: int) -> None:
    """Refuse to compare `a` things with `b` things if that is more than `limit` comparisons."""
    if a * b > limit:
        raise FormatError(f"The tables are too large to compare: {a:,} and {b:,} {what}")
