"""What is painted on a page, one by one, and the page without some of it."""

from __future__ import annotations

import ctypes
from pathlib import Path

from parsemark.model import Box
from parsemark.pdf.child import in_child
from parsemark.pdf.document import open_document, to_page_box


@in_child()
def page_objects(pdf: Path, page_number: int) -> list[tuple[bool, Box | None]]:
    """Whether each object of a page is text, and where it lies; None where that is not known."""
    from pypdfium2 import raw

    found: list[tuple[bool, Box | None]] = []
    edges = [ctypes.c_float() for _ in range(4)]
    with open_document(pdf) as document:
        page = document[page_number - 1]
        for index in range(raw.FPDFPage_CountObjects(page)):
            item = raw.FPDFPage_GetObject(page, index)
            is_text = raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_TEXT
            is_known = raw.FPDFPageObj_GetBounds(item, *edges)
            left, bottom, right, top = (e.value for e in edges)
            found.append((is_text, to_page_box(page, left, bottom, right, top) if is_known else None))
    return found


@in_child()
def page_without(pdf: Path, page_number: int, removed: tuple[int, ...]) -> bytes:
    """One page as a PDF of its own, without the objects at these positions."""
    import io

    import pypdfium2 as pdfium
    from pypdfium2 import raw

    with open_document(pdf) as document:
        alone, written = pdfium.PdfDocument.new(), io.BytesIO()
        try:
            alone.import_pages(document, [page_number - 1])
            page = alone[0]
            for item in [raw.FPDFPage_GetObject(page, index) for index in removed]:
                raw.FPDFPage_RemoveObject(page, item)
                raw.FPDFPageObj_Destroy(item)
            raw.FPDFPage_GenerateContent(page)
            alone.save(written)
        finally:
            alone.close()
        return written.getvalue()
