"""Every number of `reader` that was fitted to people, with its meaning.

`python -m bench.reader_fit RATINGS.json` fits the prices on rated pairs, held near the ones in use, and
says how well they do on tables that were left out. A *price* is what an event costs that touches the whole
table: a table is worth 10 · exp(−Σ price · severity · extent^`growth`). Numbers that only steer the search
for the best alignment stand where they are used; they are not fitted.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameters:
    """The prices of events, and how they grow."""

    value: float = 1.0  # a wrong or a lost value
    reversed: float = 0.5
    """The least that values cost which say the opposite, or have another sign, unit or order of magnitude:
    one of them is a disaster in any table. Held, since people have rated few of them."""
    notation: float = 0.4  # numbers run together, digits spaced apart, scripts where there are none
    misread: float = 0.82
    """Wrong letters in a header, a name or a word, by a power of the share of letters that are wrong."""
    header: float = 0.95  # a header or a name is lost, and with it which column or row it is
    context: float = 0.24
    """A header or section heading is lost that no column or row needs to be identified, or covers what is not
    its own; a column or row is torn into several."""
    missing: float = 1.3  # rows or columns are missing
    cut_off: float = 2.5  # the output breaks off before the last rows
    invented: float = 1.0  # rows, columns or values that the truth does not have
    merged: float = 1.45  # columns or rows run together in one
    counted: float = 0.56
    """Columns have to be counted out: headers stand over the wrong ones, all are lines of text, or a value of
    several is given once."""
    padded: float = 0.05
    """Headers or names have to be carried into empty cells. Held where such tables stay equivalent."""

    growth: float = 0.5  # power of an event's extent, a share of the table's values
    severity: float = 0.57  # power of the share of wrong letters in a misread text
    bend: float = 0.73  # power of the sum: below 1, the first events cost more than the next ones
    no_value: float = 0.5  # weight of a cell that says there is no value, against 1 for a value


PARAMETERS = Parameters()  # the values in use
