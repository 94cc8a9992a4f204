"""The headings that a PDF names: those of its outline, and those of its structure tree."""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from parsemark.pdf.child import in_child
from parsemark.pdf.document import open_document
from parsemark.pdf.marked import address_of
from parsemark.pdf.text import LINE_END_HYPHEN

_MAX_ENTRIES, _MAX_DEPTH, _MAX_LENGTH = 20_000, 12, 400
"""Entries that are read, of how many levels, and characters of a title."""


_HEADING = re.compile(r"H([1-6])?|Title")
_MOST_TAGS, _MOST_OBJECTS, _LONGEST_ROLE = 100_000, 50_000, 64
"""Elements and marks in the structure tree of a page, objects on it, and bytes of a role that are read."""


class OutlineEntry(NamedTuple):
    """A heading that leads to a page, or is tagged there."""

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


@in_child(cpu_s=120)
def read_tagged_headings(pdf: Path) -> list[OutlineEntry]:
    """Return the headings of the structure tree, page by page; none where the PDF has no such tree."""
    from pypdfium2 import raw

    with open_document(pdf) as document:
        if not raw.FPDFCatalog_IsTagged(document):
            return []
        found = [entry for index in range(len(document)) for entry in _tagged_on(document, index)]
    return found[:_MAX_ENTRIES]


def _tagged_on(document: Any, index: int) -> Iterator[OutlineEntry]:
    from pypdfium2 import raw

    page = document[index]
    tree = raw.FPDF_StructTree_GetForPage(page)
    try:
        roots = [
            raw.FPDF_StructTree_GetChildAtIndex(tree, k)
            for k in range(raw.FPDF_StructTree_CountChildren(tree))
        ]
        headings = _headings_below(roots)
        if not headings:
            return
        texts = _texts_by_mark(page, {number for _, numbers in headings for number in numbers})
        for level, numbers in headings:
            title = " ".join("".join(texts.get(number, "") for number in numbers).split())[:_MAX_LENGTH]
            if title:
                yield OutlineEntry(index + 1, level, title)
    finally:
        raw.FPDF_StructTree_Close(tree)
        page.close()


def _headings_below(roots: list[Any]) -> list[tuple[int, list[int]]]:
    """Return level and marked contents of each heading, in the order of the tree.

    Each element is read once, so that a tree with cycles ends.
    """
    from pypdfium2 import raw

    found: list[tuple[int, list[int]]] = []
    seen: set[int | None] = set()
    work: list[tuple[Any, list[int] | None]] = [(root, None) for root in reversed(roots)]
    steps = 0
    while work and (steps := steps + 1) <= _MOST_TAGS:
        element, own = work.pop()
        if isinstance(element, int):
            if own is not None:
                own.append(element)
            continue
        if not element or address_of(element) in seen:
            continue
        seen.add(address_of(element))
        role = _HEADING.fullmatch(_role(element)) if own is None else None
        if role:
            found.append((int(role[1] or 1), own := []))
        for k in reversed(range(min(raw.FPDF_StructElement_CountChildren(element), _MAX_ENTRIES))):
            mark = raw.FPDF_StructElement_GetMarkedContentIdAtIndex(element, k)
            kid = raw.FPDF_StructElement_GetChildAtIndex(element, k) if mark < 0 else mark
            work.append((kid, own))
    return found


def _role(element: Any) -> str:
    from pypdfium2 import raw

    buffer = ctypes.create_string_buffer(_LONGEST_ROLE)
    size = raw.FPDF_StructElement_GetType(element, buffer, _LONGEST_ROLE)
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "replace") if size <= _LONGEST_ROLE else ""


def _texts_by_mark(page: Any, numbers: set[int]) -> dict[int, str]:
    """Return the text of marked contents, object by object."""
    from pypdfium2 import raw

    layer, texts = page.get_textpage(), dict[int, str]()
    for k in range(min(raw.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        item = raw.FPDFPage_GetObject(page, k)
        number = raw.FPDFPageObj_GetMarkedContentID(item)
        if number in numbers and raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_TEXT:
            size = raw.FPDFTextObj_GetText(item, layer, None, 0)
            buffer = (ctypes.c_ushort * (size // 2 + 1))()
            raw.FPDFTextObj_GetText(item, layer, buffer, size)
            text = bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace")
            texts[number] = f"{texts.get(number, '')} {text}" if number in texts else text
    layer.close()
    return {number: text.replace(chr(LINE_END_HYPHEN), "-") for number, text in texts.items()}
