"""Facts that PDFs embed beside their pages: outlines, links and the values of forms.

An entry of an outline is a fact only if a line of its page says it, with the number that the entry may lack:
so the fact has the words of the page, and what the outline merely names is none.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from parsemark.errors import PdfError
from parsemark.extras import require
from parsemark.model import Box, Fact
from parsemark.pdf import Glyph, OutlineEntry, document_glyphs, in_child, read_outline
from parsemark.pdf.document import open_page, to_page_box
from parsemark.pdf.tags import dictionary_items, link_address, open_qpdf, text_of

RULES = "answers"
OUTLINE, LINK, FORM_VALUE = "outline", "link annotation", "form field"
MAX_ENTRIES = 20_000  # links and fields of a document; what is more is not read
_HIDDEN = 2 | 32  # flags of annotations that are hidden, or not shown on screens
_NUMBER = re.compile(
    r"(?:(?:chapter|section|part|appendix|kapitel|chapitre)\s+)?[\dA-Z]{1,3}(?:\.\d{1,3})*[.:)]?", re.I
)
"""What stands before a heading, and which an outline may leave out."""
_Draft = tuple[str, dict[str, Any], str, Box | None]  # kind, arguments, derivation and place of a fact
_Line = tuple[str, Box]


def embedded_facts(pdf: Path) -> dict[int, tuple[Fact, ...]]:
    """Return the facts of a document's outline, links and forms, by page."""
    require("embedded", "Reading links and forms", {"pikepdf"})
    entries = read_outline(pdf)
    links, fields = _read_annotations(pdf)
    if not entries and not links and not fields:
        return {}
    facts: dict[int, tuple[Fact, ...]] = {}
    for number, glyphs in enumerate(document_glyphs(pdf), start=1):
        own = list(_headings([entry for entry in entries if entry.page == number], glyphs))
        for box, target in (link[1:] for link in links if link[0] == number):
            inside = "".join(glyph.text for glyph in glyphs if box.holds_centre(glyph.box))
            if text := " ".join(inside.split()):
                own.append(("link", {"text": text, "target": target}, LINK, box.rounded()))
        for box, name, value in (field[1:] for field in fields if field[0] == number):
            own.append(("field", {"field": name, "answer": value}, FORM_VALUE, box.rounded()))
        facts[number] = tuple(
            Fact(f"embedded-{k}", kind, RULES, arguments, number, how, box=box)
            for k, (kind, arguments, how, box) in enumerate(own)
        )
    return {number: own for number, own in facts.items() if own}


@in_child(cpu_s=120)
def _read_annotations(pdf: Path) -> tuple[list[tuple[int, Box, str]], list[tuple[int, Box, str, str]]]:
    """Return links with page, place and address, and fields of forms that are filled in, with name and
    text.
    """
    links, fields = list[tuple[int, Box, str]](), list[tuple[int, Box, str, str]]()
    with open_qpdf(pdf) as document:
        for number, page in enumerate(document.pages, start=1):
            for annotation in dictionary_items(page.get("/Annots")):
                if len(links) + len(fields) >= MAX_ENTRIES:
                    return links, fields
                kind = str(annotation.get("/Subtype"))
                box = _place(pdf, number, annotation.get("/Rect")) if kind in ("/Link", "/Widget") else None
                flags = annotation.get("/F", 0)
                if box is None or (isinstance(flags, int) and flags & _HIDDEN):
                    continue
                if kind == "/Link" and (target := link_address(annotation)):
                    links.append((number, box, target))
                elif kind == "/Widget" and (value := _inherited(annotation, "/V")):
                    fields.append((number, box, _inherited(annotation, "/T") or "", value))
    return links, fields


def _inherited(field: Any, key: str) -> str | None:
    """Return the text of a field, or of one that it is a part of."""
    for _ in range(8):
        if (text := text_of(field.get(key))) is not None:
            return " ".join(text.split())
        field = next(iter(dictionary_items(field.get("/Parent"))), {})
    return None


def _place(pdf: Path, number: int, edges: Any) -> Box | None:
    try:
        x0, y0, x1, y1 = (float(value) for value in edges)
        with open_page(pdf, number) as page:
            return to_page_box(page, *Box.of_points((x0, x1), (y0, y1)).as_tuple())
    except (TypeError, ValueError, PdfError):
        return None


def _headings(entries: Sequence[OutlineEntry], glyphs: Sequence[Glyph]) -> Iterator[_Draft]:
    lines = list(_lines(glyphs))
    edges = (min((box.y0 for _, box in lines), default=0.0), max((box.y1 for _, box in lines), default=0.0))
    shown = [(entry, line) for entry in entries if (line := _line_of(entry.title, lines, edges)) is not None]
    for _, line in shown:
        yield "heading", {"text": line[0]}, OUTLINE, line[1]
    for (one, first), (other, second) in pairwise(shown):
        answer = "above" if one.level < other.level else "below" if one.level > other.level else "beside"
        if first[0] != second[0]:
            yield "level", {"text": first[0], "other": second[0], "answer": answer}, OUTLINE, first[1]


def _lines(glyphs: Sequence[Glyph]) -> Iterator[_Line]:
    """Yield the lines of a page as its reader parts them."""
    line: list[Glyph] = []
    for glyph in (*glyphs, Glyph("\n", Box(0, 0, 0, 0))):
        if glyph.text not in "\r\n":
            line.append(glyph)
            continue
        text = " ".join("".join(g.text for g in line).split())
        ink = [g.box for g in line if g.text.strip() and not g.generated]
        if text and ink:
            yield text, Box.hull(ink)
        line = []


def _line_of(title: str, lines: Sequence[_Line], edges: tuple[float, float]) -> _Line | None:
    """Return the line that says a title, else the two lines that do, with a number before it if it lacks one.

    The signs are those of the line, if it is one. The first or last line of a page that has the title in
    capitals is a running head.
    """

    def bare(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    wanted = bare(title)
    numbers = range(1 if _NUMBER.fullmatch(title.split(" ", maxsplit=1)[0]) else 3)
    pairs = ((f"{one} {two}", Box.hull((box, other))) for (one, box), (two, other) in pairwise(lines))
    for k, (said, frame) in enumerate((*lines, *pairs)):
        at_edge = frame.y0 == edges[0] or frame.y1 == edges[1]
        if at_edge and said.isupper() and not title.isupper():
            continue
        words = said.split(" ")
        for n in numbers[: len(words)]:
            before = " ".join(words[:n])
            if bare(" ".join(words[n:])) == wanted and (not n or _NUMBER.fullmatch(before)):
                return (said if k < len(lines) else f"{before} {title}".strip()), frame.rounded()
    return None
