"""How large two tables may be to be compared: a second of work for 100 kB, and 200 MB.

Over a limit the metric fails with a message; it never hangs.
"""

from parsemark.errors import FormatError

MAX_POSITION_PAIRS = 100_000_000
"""Cells of one table times cells of the other (10,000 each): about a second of work."""
MAX_LINE_PAIRS = 100_000_000  # rows times rows, and columns times columns: one byte of memory each
MAX_CHARACTER_PAIRS = 10_000_000_000
"""Characters of one table times characters of the other (100,000 each); 64 are compared at a time."""
MAX_DIFFLIB_PAIRS = 500_000_000
"""Characters times characters (22,000 each) where difflib compares them, one at a time."""
MAX_TREE_PAIRS = 10_000_000
"""Nodes times nodes of trees that are not table > tr > td: 16 bytes of memory each."""


def check_pairs(what: str, a: int, b: int, limit: int) -> None:
    """Refuse to compare `a` things with `b` things if that is more than `limit` comparisons."""
    if a * b > limit:
        raise FormatError(f"The tables are too large to compare: {a:,} and {b:,} {what}")
