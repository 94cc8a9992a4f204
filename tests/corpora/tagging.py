"""Small tagged PDFs, written by hand: what stands where, and what the tree says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

Text = tuple[int, float, float, str]
"""Number of its marked content (-1: none, -2: an artefact), x, y from the top, and what it says.

After `^` it is small."""
Node = tuple[Any, ...]
"""Role, then numbers of content on its page, other nodes, and a dict of further entries."""
HEIGHT = 400


def write_tagged(
    path: Path,
    pages: Sequence[Sequence[Text]],
    tree: Sequence[Node],
    *,
    change: Callable[[pikepdf.Pdf, Any], None] = lambda pdf, root: None,
    **root: Any,
) -> Path:
    """Write a PDF; a node's dict may have `page` (from 0) and whatever an element may have."""
    pdf = pikepdf.new()
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    for texts in pages:
        page = pdf.add_blank_page(page_size=(300, HEIGHT))
        page.Resources = Dictionary(Font=Dictionary(F=font))
        page.Contents = pdf.make_stream(b"\n".join(_painted(*text) for text in texts))
    top = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot, **root))
    top.K = Array([_element(pdf, node, 0) for node in tree])
    pdf.Root.StructTreeRoot = top
    pdf.Root.MarkInfo = Dictionary(Marked=True)
    change(pdf, top)
    pdf.save(path)
    return path


def _painted(number: int, x: float, y: float, text: str) -> bytes:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    size, escaped = (6, escaped[1:]) if escaped.startswith("^") else (10, escaped)
    shown = f"BT /F {size} Tf {x} {HEIGHT - y} Td ({escaped}) Tj ET"
    marks = {-1: "", -2: "/Artifact BMC "}
    before = marks.get(number, f"/Span <</MCID {number}>> BDC ")
    return f"{before}{shown}{' EMC' if before else ''}".encode("latin-1")


def _element(pdf: pikepdf.Pdf, node: Node, page: int) -> Any:
    role, *parts = node
    more = dict(parts.pop()) if parts and isinstance(parts[-1], dict) else {}
    page = more.pop("page", page)
    element = pdf.make_indirect(Dictionary(Type=Name.StructElem, S=Name("/" + role), Pg=pdf.pages[page].obj))
    for key, value in more.items():
        element[f"/{key}"] = String(value) if isinstance(value, str) else value
    element.K = Array([part if isinstance(part, int) else _element(pdf, part, page) for part in parts])
    return element


def span(**attributes: Any) -> dict[str, Any]:
    """The dict of a cell with attributes of tables."""
    return {"A": Dictionary(O=Name.Table, **attributes)}


def grid(rows: Sequence[Sequence[str]], top: float = 50, first: int = 0) -> tuple[list[Text], Node]:
    """A plain table: its texts on the page, and its element; the first row is the head."""
    texts: list[Text] = []
    lines: list[Node] = []
    for r, row in enumerate(rows):
        cells: list[Node] = []
        for c, text in enumerate(row):
            number = first + len(texts)
            texts.append((number, 20 + 80 * c, top + 20 * r, text))
            cells.append(("TD" if r else "TH", number))
        lines.append(("TR", *cells))
    return texts, ("Table", *lines)
