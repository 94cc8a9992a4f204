"""Every number of `reader` that was fitted to people, with its meaning.

`python -m bench.reader_fit RATINGS.json` fits them on rated pairs, cross-validated by table, and prints them.
The credits in use were set by hand from reading the rated pairs, and are not the ones with the least error on
them: fitted freely, they predict unseen tables a little worse. The weights, `size` and `bend` are fitted.
A *credit* is what a reader can still take from something that is not quite right: 1 is all of it, 0 nothing.
A *weight* is what one lost value costs by the way in which it was lost. Numbers that only steer the search
for the best alignment stand where they are used; they are not fitted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """The fitted numbers. Compared by identity: caches are keyed by them, and hashing has to be fast."""

    mark_lost: float = 0.93
    """Credit of a text that lacks only case, an accent, or the height of a script (mAP_50 as mAP50)."""
    mark_invented: float = 0.6
    """Credit of a text in which a script appears that the truth does not have (Deva as Dev^a)."""
    regrouped: float = 0.75
    """Credit of numbers whose digits are all there but run together ([5,000, 6,000] as [5,000,6,000])."""
    misspelling: float = 2.0
    """Power of the edit similarity of words: how fast misspelt words lose their meaning."""
    inferred: float = 0.6
    """Credit of a header that has to be guessed: by counting columns, or from text outside of the table."""
    ragged: float = 0.9
    """Credit of a group header in a row that ends before the columns it covers."""
    group: float = 0.5
    """Weight of the upper levels of a header, or of a section heading, against the last level."""
    ambiguous: float = 0.5
    """Credit factor of a header that fits another column as well."""
    spanned: float = 0.5
    """Credit of a value that spans several columns or rows and is given for the first of them alone."""
    no_value: float = 0.5
    """Weight of a cell that says there is no value, against 1 for a value."""

    value: float = 1.13
    """Weight of a wrong value."""
    header: float = 0.86
    """Weight of a value that lost its column header."""
    label: float = 0.92
    """Weight of a value that lost its row's name."""
    row: float = 2.04
    """Weight of a value whose row is missing."""
    column: float = 1.74
    """Weight of a value whose column is missing."""
    invented: float = 1.26
    """Weight of a value that the truth does not have."""
    cut_off: float = 2.0
    """Factor of `row` where the output breaks off."""
    size: float = 0.71
    """Power of the table's size by which losses are divided: 1 counts shares, 0 counts errors."""
    bend: float = 0.56
    """Power of the total: below 1, the first errors cost more than the next ones."""
    padded: float = 0.04
    """Cost of a table whose headers or names have to be carried into empty cells beside or below."""


PARAMETERS = Parameters()
"""The values in use."""
