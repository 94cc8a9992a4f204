"""How results show themselves in a notebook: plain HTML and SVG in which every text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

_LARGEST = 640  # points: a larger page is drawn smaller
_COLOURS = {"table": "#0b6e4f", "text_block": "#4a6fa5", "title": "#a23b72"}
_OTHER = "#777777"
_LONGEST_TEXT = 300
MOST_ROWS = 200

PlacedBox = tuple[str, str, tuple[float, float, float, float]]  # category, text, and place in points


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table whose first column holds names and the others numbers."""
    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="text-align:left">{escape(caption)}</caption>')
    parts.append(f"<thead><tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr></thead><tbody>")
    for row in rows:
        name, *others = (escape(cell) for cell in row)
        cells = "".join(f'<td style="text-align:right">{cell}</td>' for cell in others)
        parts.append(f'<tr><th style="text-align:left">{name}</th>{cells}</tr>')
    return "".join([*parts, "</tbody></table>"])


def html_lines(lines: Iterable[str]) -> str:
    """Return each text as a paragraph."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def page_svg(width: float, height: float, boxes: Iterable[PlacedBox]) -> str:
    """Return a page with its boxes, coloured by category; pointing at a box shows its text."""
    scale = min(1.0, _LARGEST / max(width, height, 1.0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'viewBox="0 0 {width:.2f} {height:.2f}" style="background:#fff;border:1px solid #ccc">'
    ]
    for category, text, (x0, y0, x1, y1) in boxes:
        colour = _COLOURS.get(category, _OTHER)
        shown = escape(f"{category}: {text[:_LONGEST_TEXT]}" if text else category)
        place = f'x="{x0:.2f}" y="{y0:.2f}" width="{max(x1 - x0, 0):.2f}" height="{max(y1 - y0, 0):.2f}"'
        parts.append(f'<rect {place} fill="{colour}" fill-opacity="0.15" stroke="{colour}">')
        parts.append(f"<title>{shown}</title></rect>")
    return "".join([*parts, "</svg>"])
