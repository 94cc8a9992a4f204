"""Opens PDFs: sizes, text, pictures, ink, producer. Whatever is wrong with one is a `PdfError`."""

from parsemark.pdf.document import (
    PageShape,
    count_pages,
    extract_page,
    made_with,
    maker_kind,
    open_document,
    open_page,
    page_shapes,
    producer,
    taken_from,
    to_page_box,
)
from parsemark.pdf.pictures import (
    MAX_PIXELS,
    PageInk,
    open_picture,
    page_ink,
    painted_rectangles,
    render_page,
    save_picture_pdf,
)
from parsemark.pdf.text import Glyph, PageWord, glyphs_of, page_glyphs, page_text, page_words

__all__ = [
    "MAX_PIXELS",
    "Glyph",
    "PageInk",
    "PageShape",
    "PageWord",
    "count_pages",
    "extract_page",
    "glyphs_of",
    "made_with",
    "maker_kind",
    "open_document",
    "open_page",
    "open_picture",
    "page_glyphs",
    "page_ink",
    "page_shapes",
    "page_text",
    "page_words",
    "painted_rectangles",
    "producer",
    "render_page",
    "save_picture_pdf",
    "taken_from",
    "to_page_box",
]
