"""Opens PDFs, in a process of their own: sizes, text, pictures, ink, producer.

Whatever is wrong with one, or whatever it does to the process, is a `PdfError`.
"""

from parsemark.pdf.child import in_child
from parsemark.pdf.document import (
    PageShape,
    count_pages,
    extract_page,
    join_pages,
    made_with,
    open_document,
    page_shapes,
    producer,
    taken_from,
    to_page_box,
)
from parsemark.pdf.layer_samples import SeenPage, SeenWord
from parsemark.pdf.outline import OutlineEntry, read_outline, read_tagged_headings
from parsemark.pdf.page_kinds import BROKEN, IN_NO_SCORE, NO_PDF, TRAITS, Kinds, look_at
from parsemark.pdf.pictures import (
    Frame,
    PageInk,
    jpegs,
    open_picture,
    page_ink,
    page_jpegs,
    painted_rectangles,
    render_page,
    save_picture_pdf,
    sharp_pixels,
)
from parsemark.pdf.text import (
    LINE_END_HYPHEN,
    Glyph,
    PageWord,
    character_codes,
    document_glyphs,
    is_right_to_left,
    page_glyphs,
    page_text,
    page_words,
)
from parsemark.pdf.visible import seen_document, seen_page, with_picture_texts

__all__ = [
    "BROKEN", "IN_NO_SCORE", "LINE_END_HYPHEN", "NO_PDF", "TRAITS", "Frame", "Glyph", "Kinds",
    "OutlineEntry", "PageInk", "PageShape", "PageWord", "SeenPage", "SeenWord", "character_codes",
    "count_pages", "document_glyphs", "extract_page", "in_child", "is_right_to_left", "join_pages", "jpegs",
    "look_at", "made_with", "open_document", "open_picture", "page_glyphs", "page_ink", "page_jpegs",
    "page_shapes", "page_text", "page_words", "painted_rectangles", "producer", "read_outline",
    "read_tagged_headings",
    "render_page", "save_picture_pdf", "seen_document", "seen_page", "sharp_pixels", "taken_from",
    "to_page_box", "with_picture_texts",
]  # fmt: skip
