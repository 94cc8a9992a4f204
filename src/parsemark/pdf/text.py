"""The text layer of pages: glyphs, words, and the plain text."""

import ctypes
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.child import in_child
from parsemark.pdf.direction import PlacedSign, in_reading_order
from parsemark.pdf.document import Edges, open_document, open_page, to_page_boxes

LINE_END_HYPHEN = 2  # pdfium's code for a hyphen that it takes for a division of a word
MAX_GLYPHS = 1_000_000  # on a page; a dense one has 20,000
_LIGATURES = {0x1B + k: chr(0xFB00 + k) for k in range(5)}
"""Ligatures of f in TeX's fonts, by the codes that pdfium returns if glyphs have no names; as characters
these codes cannot be seen.
"""
_BLANKS = frozenset(map(ord, " \r\n"))  # all that pdfium makes up
HYPHEN_IN_TEXT = "\ufffe"  # the same in the text of a whole page
_LONGEST_NAME = 256  # bytes of the name of a font
SYMBOL_FONT = re.compile(r"(?:[A-Z]{6}\+)?(?:(?P<capitals>CMB?SY)|CMEX|LCIRCLEW?|LINEW?|MSAM)\d+")
"""Fonts of TeX's symbols. Without names of glyphs, their arrows, brackets and circles are extracted as
letters or digits.
"""
LONGEST_RAISED = 8  # glyphs of a superscript


@dataclass(frozen=True, slots=True)
class PageWord:
    """A word of the text layer."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character of the text layer with the box of its ink."""

    text: str
    box: Box
    generated: bool = False  # whether the reader made it up (a space between words that are set apart)


def page_words(pdf: Path, page_number: int) -> tuple[PageWord, ...]:
    """Return the words of a page's text layer."""
    return _words(pdf, page_number, pdf.stat().st_mtime_ns)


@in_child()
def page_text(pdf: Path, page_number: int) -> str:
    """Return the words of a page, separated by blanks. Much faster than `page_words`, which finds their
    boxes.
    """
    with open_page(pdf, page_number) as page:
        text = page.get_textpage()
        content: str = text.get_text_range()
        if is_right_to_left(content):  # pdfium turns lines round at times
            codes = (code for _, code in character_codes(text) if code != LINE_END_HYPHEN)
            content = "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
        text.close()
    return " ".join(content.replace(HYPHEN_IN_TEXT, "").split())


def page_glyphs(pdf: Path, page_number: int) -> tuple[Glyph, ...]:
    """Return all characters of a page's text layer, in the order of the file."""
    return unpack_glyphs(_page_glyphs(pdf, page_number))


def document_glyphs(pdf: Path) -> list[tuple[Glyph, ...]]:
    """Return the same for each page of a document."""
    return [unpack_glyphs(page) for page in _document_glyphs(pdf)]


PackedGlyphs = tuple[str, bytes, bytes]
"""Texts, boxes and whether they were made up: objects would take longer to send than to read."""


@in_child()
def _page_glyphs(pdf: Path, page_number: int) -> PackedGlyphs:
    with open_page(pdf, page_number) as page:
        return pack_glyphs(page)


@in_child(cpu_s=600)
def _document_glyphs(pdf: Path) -> list[PackedGlyphs]:
    with open_document(pdf) as document:
        return [pack_glyphs(document[index]) for index in range(len(document))]


def pack_glyphs(page: Any) -> PackedGlyphs:
    """Return the characters of an open page; a hyphen at the end of a line comes as `-`."""
    text = page.get_textpage()
    packed, _ = pack_text(page, text)
    text.close()
    return packed


def pack_text(page: Any, text: Any, *, with_fonts: bool = False) -> tuple[PackedGlyphs, list[str]]:
    """Return the same of an open text page, perhaps with the name of the font of each character."""
    from pypdfium2 import raw

    if (count := text.count_chars()) > MAX_GLYPHS:
        raise PdfError(f"A page has {count:,} characters; the limit is {MAX_GLYPHS:,}.")
    codes, handle, char_box = list(character_codes(text)), text.raw, _char_box()
    address = ctypes.cast(handle, ctypes.c_void_p).value
    boxes, generated = array("d", bytes(32 * len(codes))), bytearray()
    left = boxes.buffer_info()[0]  # addresses: numbers of ctypes would take as long as pdfium itself
    for index, code in codes:
        char_box(address, index, left, left + 16, left + 8, left + 24)
        generated.append(code in _BLANKS and raw.FPDFText_IsGenerated(handle, index) == 1)
        left += 32
    signs = "".join(_sign(code) for _, code in codes)
    fonts = list(_fonts(handle, codes, signs, generated)) if with_fonts else []
    return (signs, to_page_boxes(page, boxes), bytes(generated)), fonts


def _fonts(
    handle: Any, codes: Sequence[tuple[int, int]], signs: str, generated: Sequence[int]
) -> Iterator[str]:
    """Yield the name of the font of each character; pdfium is asked about the middle of a word only if its
    ends differ, or are of a font of symbols.
    """
    from pypdfium2 import raw

    name, flags = ctypes.create_string_buffer(_LONGEST_NAME), ctypes.c_int()

    def font_of(k: int) -> str:
        size = raw.FPDFText_GetFontInfo(handle, codes[k][0], name, _LONGEST_NAME, flags)
        return name.value.decode("utf-8", "replace") if 1 < size <= _LONGEST_NAME else ""

    start = -1
    for k, sign in enumerate(f"{signs} "):
        if k < len(signs) and not sign.isspace() and not generated[k]:
            start = k if start < 0 else start
            continue
        if start >= 0:
            first = font_of(start)
            is_one = k - start == 1 or (font_of(k - 1) == first and not SYMBOL_FONT.fullmatch(first))
            yield from [first] * (k - start) if is_one else map(font_of, range(start, k))
            start = -1
        if k < len(signs):
            yield ""


def _sign(code: int) -> str:
    if code == LINE_END_HYPHEN:
        return "-"
    if code in _LIGATURES:
        return _LIGATURES[code]
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


@lru_cache(maxsize=1)
def _char_box() -> Any:
    """Return pdfium's function for the box of a character, with addresses for left, right, bottom and top."""
    from pypdfium2 import raw

    kinds = ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4
    return ctypes.CFUNCTYPE(*kinds)(ctypes.cast(raw.FPDFText_GetCharBox, ctypes.c_void_p).value or 0)


def unpack_glyphs(packed: PackedGlyphs) -> tuple[Glyph, ...]:
    """Return packed glyphs."""
    texts, boxes, generated = packed
    edges = iter(array("d", boxes))
    places = zip(edges, edges, edges, edges, strict=True)
    glyphs = zip(texts, places, generated, strict=True)
    return tuple(Glyph(text, Box(*four), bool(made_up)) for text, four, made_up in glyphs)


def character_codes(text: Any) -> Sequence[tuple[int, int]]:
    """Return index and code point of each character of a text page, lines from right to left as they are
    read.
    """
    codes = list(_file_codes(text))
    kinds = Counter[str]()
    for code, n in Counter(code for _, code in codes).items():
        kinds[unicodedata.bidirectional(chr(code))] += n
    if not (n_right := kinds["R"] + kinds["AL"]):
        return codes
    found: list[tuple[int, int]] = []
    mostly_right = n_right > kinds["L"]
    for ends, group in groupby(codes, key=lambda part: part[1] in (10, 13)):
        line = list(group)
        own = {unicodedata.bidirectional(chr(code)) for _, code in line}
        turned = "R" in own or "AL" in own or (mostly_right and "L" not in own)
        found += _read_line(text, line, mostly_right) if turned and not ends else line
    return found


def _read_line(text: Any, line: list[tuple[int, int]], mostly_right: bool) -> list[tuple[int, int]]:
    """Return a line with letters from right to left in the order in which it is read; one on its side as it
    is.
    """
    from pypdfium2 import raw

    x, y, room = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    signs, heights = [], list[float]()
    for index, code in line:
        raw.FPDFText_GetCharOrigin(text, index, x, y)
        raw.FPDFText_GetLooseCharBox(text, index, room)
        is_thin = room.right - room.left < 0.05  # a blank that stands for a move of the pen
        made_up = code in _BLANKS and (is_thin or raw.FPDFText_IsGenerated(text, index) == 1)
        signs.append(
            PlacedSign(index, chr(code), x.value, max(room.right, x.value), room.top - room.bottom, made_up)
        )
        heights += [] if made_up else [y.value]
    if not heights or max(heights) - min(heights) > max(sign.height for sign in signs):
        return line
    return [(s.index, ord(s.text)) for s in in_reading_order(signs, mostly_right=mostly_right)]


def _file_codes(text: Any) -> Iterator[tuple[int, int]]:
    """Yield index and code point of each character in pdfium's order, which has two for one beyond 16
    bits.
    """
    from pypdfium2 import raw

    codes = list(map(partial(raw.FPDFText_GetUnicode, text.raw), range(text.count_chars())))
    if all(not 0xD800 <= code < 0xE000 for code in set(codes)):
        yield from enumerate(codes)
        return
    around = zip([0, *codes], codes, [*codes[1:], 0], strict=False)
    for index, (before, code, after) in enumerate(around):
        if 0xD800 <= code < 0xDC00 <= after < 0xE000:
            yield index, 0x10000 + ((code - 0xD800) << 10) + (after - 0xDC00)
        elif not 0xD800 <= before < 0xDC00 <= code < 0xE000:
            yield index, code


@lru_cache(maxsize=256)
def _words(pdf: Path, page_number: int, _modified: int) -> tuple[PageWord, ...]:
    runs = groupby(page_glyphs(pdf, page_number), key=lambda g: bool(g.text.strip()) and not g.generated)
    words = (list(run) for is_inked, run in runs if is_inked)
    return tuple(PageWord("".join(g.text for g in own), Box.hull(g.box for g in own)) for own in words)


def is_raised(text: str, ink: Edges, body: Edges, before: Iterable[tuple[str, Edges, Edges]]) -> bool:
    """Return whether a glyph is a superscript: smaller and higher than those before it, or a digit drawn so.

    Its `body` is its box with the room that its font gives it; if that is unknown, its ink. Of the
    glyphs `before` it in its word the last one comes first.
    """
    size, high = body[3] - body[1], ink[3] - ink[1]
    for sign, (_, _, _, foot), (_, upper, _, lower) in islice(before, LONGEST_RAISED):
        if sign != "." and (not sign.isalnum() or sign in "gjpqyQJ"):
            continue  # it does not stand on the line
        height, up = lower - upper, lower - body[3]
        if size < 0.88 * height and up > max(0.15 * height, 0.55 * high):
            return True
        if text.isdigit() and high < 0.55 * height and foot - ink[3] > 0.27 * height:
            return True
        if abs(up) > 0.1 * height:
            return False
    return False


def is_right_to_left(text: str) -> bool:
    """Return whether any letter of it is written from right to left."""
    return any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)
