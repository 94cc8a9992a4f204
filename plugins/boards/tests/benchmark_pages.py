"""Small pages with truth, and what a protocol makes of them."""

from pathlib import Path
from typing import Any

from parsemark.model import Cell, Element, Page, Prediction, Table
from parsemark.protocols import get_protocol

HTML = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
TITLE = Element("h", "title", order=0, text="Tides")
WORDS = Element("w", "text_block", order=2, text="Slack water lasts nine minutes.")


def values(spec: str, truth: Page, text: str | None, **more: Any) -> dict[str, float | None]:
    """What a protocol says of one page."""
    elements = more.pop("elements", ())
    prediction = Prediction(truth.id, "one", text=text, elements=elements, **more)
    return {row.metric: row.value for row in get_protocol(spec).score_page(truth, prediction, None).scores}


def page(*elements: Element, **annotation: Any) -> Page:
    return Page("p", 100, 100, elements, annotation=annotation or None)


def table(html: str = HTML) -> Element:
    return Element("t", "table", order=1, html=html, table=Table(1, 1, (Cell(0, 0, "a"),)))


def write(path: Path, content: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def make_pdf(path: Path) -> None:
    """An empty page."""
    import pypdfium2 as pdfium

    path.parent.mkdir(parents=True, exist_ok=True)
    document = pdfium.PdfDocument.new()
    document.new_page(595, 842)
    document.save(path)
    document.close()
