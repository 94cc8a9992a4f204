"""Tables to score, and slow, obvious oracles."""

from hypothesis import strategies as st

from parsemark.model import Table

EMPTY = Table(0, 0)
PLAIN = "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>"
SPANNED = (
    '<table><thead><tr><th colspan="2">Head</th><th rowspan="2">x<b>y</b></th></tr></thead>'
    "<tbody><tr><td>10<sup>-3</sup></td><td>β</td></tr><tr><td>1</td><td></td><td>2.5</td></tr></tbody></table>"
)
LARGER = (
    "<table>"
    + "".join(f"<tr><td>row {r}</td><td>{r * r}</td><td>n/a</td></tr>" for r in range(12))
    + "</table>"
)
MARKDOWN = "| Name | Value |\n|---|---|\n| $\\alpha$ | 1.5 |\n| β | 2 |"

EXAMPLES = {"plain": PLAIN, "spanned": SPANNED, "larger": LARGER, "markdown": MARKDOWN}

texts = st.sampled_from(
    ["", "a", "ab", "12.4", "12.5", "foo bar", "x<b>y</b>", "λ", "p &lt; 0.05", "<sup>2</sup>q"]
)


@st.composite
def html_tables(draw: st.DrawFn) -> str:
    """HTML with spans, headers, ragged and empty rows, and markup in cells."""
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        cells = []
        for _ in range(draw(st.integers(0, 4))):
            tag = draw(st.sampled_from(["td", "td", "td", "th"]))
            span = draw(st.sampled_from(["", "", "", ' colspan="2"', ' rowspan="2"', ' rowspan="1"']))
            cells.append(f"<{tag}{span}>{draw(texts)}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = draw(st.integers(0, len(rows)))
    if draw(st.booleans()):
        return f"<table>{''.join(rows)}</table>"
    return f"<table><thead>{''.join(rows[:head])}</thead><tbody>{''.join(rows[head:])}</tbody></table>"
