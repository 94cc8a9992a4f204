"""The outline of a PDF: titles and the pages that they lead to."""

from pathlib import Path
from typing import NamedTuple

from parsemark.pdf.child import in_child
from parsemark.pdf.document import open_document

_MAX_ENTRIES, _MAX_DEPTH, _MAX_LENGTH = 20_000, 12, 400
"""Entries that are read, of how many levels, and characters of a title."""


class OutlineEntry(NamedTuple):
    """An entry of an outline that leads to a page."""

    page: int
    level: int
    title: str


@in_child(cpu_s=120)
def read_outline(pdf: Path) -> list[OutlineEntry]:
    """Return the entries of an outline that lead to pages of the document; none where it has no outline."""
    found: list[OutlineEntry] = []
    with open_document(pdf) as document:
        n_pages = len(document)
        for count, bookmark in enumerate(document.get_toc(max_depth=_MAX_DEPTH)):
            if count >= _MAX_ENTRIES:
                break
            place = bookmark.get_dest()
            index = None if place is None else place.get_index()
            title = " ".join(bookmark.get_title().split())[:_MAX_LENGTH]
            if index is not None and 0 <= index < n_pages and title:
                found.append(OutlineEntry(index + 1, bookmark.level + 1, title))
    return found
