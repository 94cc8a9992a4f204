"""Tables for property tests."""

from hypothesis import strategies as st

from parsemark.formats.cell_text import clean
from parsemark.formats.html.tables import GridBuilder
from parsemark.model import Cell, Table

_SIGNS = ["|", "\\", "$", "`", "*", "_", "<", ">", "&", "~", "[", "](", "---", ",", ";", '"', "\n", " "]
_MARKUP = ["<br>", "$x_1|y$", "\\(a|b\\)", "&amp;", "<td>", "</table>", "\\begin{tabular}", "**", "![a](b)"]
_OTHERS = ["1.12", "−2.8", "α", "中", "__", "~~", "=", "+", "#", ":", "-", "\U000f0000"]
PIECES = st.sampled_from(_SIGNS + _MARKUP + _OTHERS)


def _clean(text: str) -> str:
    """What every format can hold: clean text without control characters and surrogates."""
    shown = "".join(c for c in text if c == "\n" or (c.isprintable() and not "\ud800" <= c <= "\udfff"))
    return clean(shown)


TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=5).map("".join).map(_clean)


@st.composite
def plain_tables(draw: st.DrawFn, header: bool | None = None) -> Table:
    """Tables without spans: short rows leave holes at their end."""
    widths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    rows = [[draw(TEXTS) for _ in range(width)] for width in widths]
    return Table.from_rows(rows, header_rows=None if header is None else 1)


@st.composite
def spanning_tables(draw: st.DrawFn) -> Table:
    """Any table that HTML can say: cells placed one after the other, with spans."""
    builder = GridBuilder()
    says_headers = draw(st.booleans())
    for row in range(draw(st.integers(1, 5))):
        builder.start_row()
        for col in range(draw(st.integers(0, 5))):
            header = (draw(st.booleans()) or (row, col) == (0, 0)) if says_headers else None
            builder.add(draw(TEXTS), draw(st.integers(1, 3)), draw(st.integers(1, 3)), header)
    table = builder.build()
    if says_headers and not any(cell.header for cell in table.cells):
        cells = [Cell(c.row, c.col, c.text, c.rowspan, c.colspan) for c in table.cells]
        return Table(table.n_rows, table.n_cols, tuple(cells))
    return table
