"""Pictures and words of a page, made on demand from its PDF."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from PIL import Image
from pypdfium2 import raw

from parsemark.errors import CorpusError
from parsemark.model import Box, Sample

MAX_PIXELS = 100_000_000
LINE_END_HYPHEN = 2
"""pdfium's code for a hyphen that it takes for a division of a word."""
_HYPHEN_IN_TEXT = "\ufffe"
"""The same in the text of a whole page."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text layer."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character of the text layer with the box of its ink."""

    text: str
    box: Box
    generated: bool = False
    """Whether the reader made it up (a space between words that are set apart)."""


def page_image(sample: Sample, dpi: int = 150) -> Image.Image:
    """The page as a picture; rendered once and then taken from the cache folder."""
    if sample.pdf is None:
        return _scanned_image(sample, dpi)
    cached = _cache_path(sample.pdf, sample.page_number, dpi)
    if not cached.is_file():
        picture = _render(sample.pdf, sample.page_number, dpi)
        cached.parent.mkdir(parents=True, exist_ok=True)
        unfinished = cached.with_suffix(f".{os.getpid()}.tmp")
        picture.save(unfinished, format="PNG", compress_level=1)
        unfinished.replace(cached)
        return picture
    with Image.open(cached) as picture:
        picture.load()
        return picture.copy()


def page_words(sample: Sample) -> tuple[Word, ...]:
    """The words of the page's text layer; empty for a page that is only a picture."""
    if sample.pdf is None:
        return ()
    return _words(sample.pdf, sample.page_number, sample.pdf.stat().st_mtime_ns)


def page_text(sample: Sample) -> str:
    """The words of the page, separated by blanks. Much faster than `page_words`, which finds their boxes."""
    if sample.pdf is None:
        return ""
    with open_page(sample.pdf, sample.page_number) as page:
        text = page.get_textpage()
        content: str = text.get_text_range()
        text.close()
    return " ".join(content.replace(_HYPHEN_IN_TEXT, "").split())


def page_glyphs(pdf: Path, page_number: int) -> tuple[Glyph, ...]:
    """All characters of a page's text layer, in the order of the file."""
    with open_page(pdf, page_number) as page:
        return tuple(glyphs_of(page))


def count_pages(pdf: Path) -> int:
    """How many pages a PDF has."""
    try:
        document = pdfium.PdfDocument(pdf)
    except (pdfium.PdfiumError, FileNotFoundError) as error:
        raise CorpusError(f"{pdf} cannot be opened as a PDF: {error}") from error
    try:
        return len(document)
    finally:
        document.close()


@contextmanager
def open_page(pdf: Path, page_number: int) -> Iterator[Any]:
    """A pdfium page, closed at the end."""
    try:
        document = pdfium.PdfDocument(pdf)
    except (pdfium.PdfiumError, FileNotFoundError) as error:
        raise CorpusError(f"{pdf} cannot be opened as a PDF: {error}") from error
    try:
        if not 1 <= page_number <= len(document):
            raise CorpusError(f"{pdf} has {len(document)} pages; there is no page {page_number}.")
        page = document[page_number - 1]
        yield page
        page.close()
    finally:
        document.close()


def to_page_box(page: Any, left: float, bottom: float, right: float, top: float) -> Box:
    """PDF coordinates to points from the top left of the page as it is shown."""
    x0, y0, x1, y1 = page.get_cropbox()
    rotation = page.get_rotation()
    if rotation == 0:
        corners = (left - x0, y1 - top, right - x0, y1 - bottom)
    elif rotation == 90:
        corners = (bottom - y0, left - x0, top - y0, right - x0)
    elif rotation == 180:
        corners = (x1 - right, bottom - y0, x1 - left, top - y0)
    else:
        corners = (y1 - top, x1 - right, y1 - bottom, x1 - left)
    a, b, c, d = corners
    return Box(min(a, c), min(b, d), max(a, c), max(b, d))


@lru_cache(maxsize=256)
def _words(pdf: Path, page_number: int, _modified: int) -> tuple[Word, ...]:
    with open_page(pdf, page_number) as page:
        return tuple(_join_words(glyphs_of(page)))


def _join_words(glyphs: Iterator[Glyph]) -> Iterator[Word]:
    word: list[Glyph] = []
    for glyph in glyphs:
        if glyph.text.strip() and not glyph.generated:
            word.append(glyph)
        elif word:
            yield _word(word)
            word = []
    if word:
        yield _word(word)


def _word(glyphs: list[Glyph]) -> Word:
    return Word("".join(g.text for g in glyphs), Box.hull(g.box for g in glyphs))


def glyphs_of(page: Any) -> Iterator[Glyph]:
    """The characters of an open page; a hyphen at the end of a line comes as `-`."""
    text = page.get_textpage()
    edges = [ctypes.c_double() for _ in range(4)]
    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, index)
        if code == LINE_END_HYPHEN:
            code = ord("-")
        character = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        raw.FPDFText_GetCharBox(text, index, *edges)
        left, right, bottom, top = (e.value for e in edges)
        box = to_page_box(page, left, min(bottom, top), max(left, right), max(bottom, top))
        yield Glyph(character, box, raw.FPDFText_IsGenerated(text, index) == 1)
    text.close()


def _render(pdf: Path, page_number: int, dpi: int) -> Image.Image:
    with open_page(pdf, page_number) as page:
        width, height = page.get_size()
        if width * height * (dpi / 72) ** 2 > MAX_PIXELS:
            raise CorpusError(f"Page {page_number} of {pdf} is too large for {dpi} dpi; use a smaller dpi.")
        picture: Image.Image = page.render(scale=dpi / 72).to_pil().convert("RGB")
        return picture


def _scanned_image(sample: Sample, dpi: int) -> Image.Image:
    if sample.image is None:
        raise CorpusError(f"Sample {sample.id} has neither a PDF nor an image.")
    loaded = open_picture(sample.image).convert("RGB")
    if sample.truth is None:
        return loaded
    size = (round(sample.truth.width * dpi / 72), round(sample.truth.height * dpi / 72))
    return loaded if loaded.size == size else loaded.resize(size)


def open_picture(path: Path) -> Image.Image:
    """A picture file, grey or coloured; one that is broken or too large raises CorpusError."""
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise CorpusError(f"The picture {path} has {picture.width} × {picture.height} pixels.")
            return picture.convert("L" if picture.mode in ("1", "L") else "RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise CorpusError(f"The picture {path} cannot be read: {error}.") from error


def _cache_path(pdf: Path, page_number: int, dpi: int) -> Path:
    state = pdf.stat()
    identity = f"{pdf.resolve()}|{state.st_mtime_ns}|{state.st_size}|{page_number}|{dpi}"
    name = hashlib.sha256(identity.encode()).hexdigest()
    return cache_folder("pages") / name[:2] / f"{name}.png"


def cache_folder(part: str) -> Path:
    """Where what was made on demand is kept."""
    base = os.environ.get("PARSEMARK_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "parsemark" / part
