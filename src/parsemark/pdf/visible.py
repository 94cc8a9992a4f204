"""The words that can be seen on a page: one rule for corpora, for text layers that lie, and for evidence.

A word of the text layer is seen if the picture of the page changes when it is not painted. All text is left
out at once, and what cannot be told so is left out by itself: text that its object says is not painted,
transparent, as light as paper, or below something opaque that is painted later. So text that is clipped,
beside the page, of no size, of the colour of its ground, covered, or in a layer that is switched off is not
seen, whatever the reason. Where the layer cannot be trusted (scans, drawn letters, fonts whose characters
mean something else), OCR may say what is there, in scripts that it has a model for. Where layer and OCR
disagree and neither is clearly wrong, the content is unknown. Text inside of a picture on a page is not
known.
"""

from __future__ import annotations

import ctypes
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.child import in_child
from parsemark.pdf.document import Edges, count_pages, open_page, to_page_edges
from parsemark.pdf.layer_samples import (
    AGREES,
    LIES,
    SAMPLE_LETTERS,
    FontSamples,
    SeenPage,
    SeenWord,
    agreement,
    is_in,
    telling_pictures,
    texts_of,
    unknown_script,
)
from parsemark.pdf.marked import address_of
from parsemark.pdf.ocr import OCR_DPI, can_read, read_picture
from parsemark.pdf.page_kinds import BROKEN, Kinds, kinds_of
from parsemark.pdf.pictures import page_picture, render_page
from parsemark.pdf.running_heads import LayerWord, running_lines
from parsemark.pdf.text import SYMBOL_FONT, character_codes, is_raised, pack_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOK_DPI = 72
CONTRAST = 12  # of 255: a smaller difference from the ground is invisible
_FAINT, _LIGHT = 26, 230
"""Opacity up to which, and colour from which on, text must show by itself that it is painted."""
_MAX_DEPTH, _MAX_OBJECTS = 8, 100_000
_FEW_DIFFER = 32
"""Pixels for each eight that differ, at which it is no gain to look at them alone."""
_COVERS = 0.9  # share of a text that something must cover to be asked whether it hides it
_PAINTS_TEXT = re.compile(r"\bT[jJ]\b|['\"]\s")
_PICTURE_SHARE, _WHOLE_SHARE = 0.5, 0.8
"""Of the page: a picture of this size is the page itself if the words on it are hidden; or in any case."""
_INK = 0.0005  # share of the pixels that must differ from the paper for a page to say anything
_STRANGE = 0.2
"""Share of characters without meaning (private, replaced, control) above which a layer says nothing."""
_SHEETS = 2  # the second has fonts of which OCR could read too few words
_SURE_SHARE = 0.5
"""Share of its words that OCR must be sure of: of a script that it does not know it is sure of few."""


def seen_page(pdf: Path, page_number: int, *, ocr: bool = False) -> SeenPage:
    """Return the visible content of a page, by its number from 1.

    With `ocr`, and where tesseract or rapidocr is installed, samples of the text layer are compared with
    what the picture says, and pages whose layer cannot be believed are read so.
    """
    return _seen_page(pdf, page_number, pdf.stat().st_mtime_ns, ocr and can_read())


@lru_cache(maxsize=64)
def _seen_page(pdf: Path, page_number: int, _modified: int, ocr: bool) -> SeenPage:
    samples = FontSamples() if ocr else None
    page = _judged(pdf, page_number, _layer(pdf, page_number, samples), samples)
    return with_picture_texts(pdf, page_number, page)


def seen_document(pdf: Path, *, ocr: bool = False) -> list[SeenPage]:
    """Return the same for each page of a document; one that cannot be read costs only itself.

    A page is sampled only if it uses a font that no sample has confirmed. What its pictures say is not read:
    see `with_picture_texts`.
    """
    samples = FontSamples() if ocr and can_read() else None
    layers = [_typed_layer(pdf, number, samples) for number in range(1, count_pages(pdf) + 1)]
    if samples is not None and len(layers) > 1:
        pages = {k: layer.page for k, layer in enumerate(layers, start=1) if not layer.page.why}
        pages = {k: page for k, page in pages.items() if not unknown_script(page.words)}
        for _ in range(_SHEETS):
            samples.read_sheet(pdf, pages)
    seen = []
    for number, layer in enumerate(layers, start=1):
        try:
            seen.append(_judged(pdf, number, layer, samples))
        except PdfError as error:
            seen.append(SeenPage(0.0, 0.0, (), "none", str(error), types=layer.page.types))
    return seen


def with_picture_texts(pdf: Path, page_number: int, page: SeenPage) -> SeenPage:
    """Return a page of `seen_document` with what OCR reads in its pictures beside it."""
    if not page.unread:
        return page
    try:
        texts = list(texts_of(render_page(pdf, page_number, OCR_DPI), page, page.unread))
    except PdfError:
        texts = []
    return replace(page, beside=" ".join((page.beside, *texts)), unread=())


class _Layer(NamedTuple):
    page: SeenPage  # `why` has the doubts about its words
    pictures: Sequence[Box]


def _typed_layer(pdf: Path, number: int, samples: FontSamples | None) -> _Layer:
    """Return the layer of a page with its page types; one that cannot be read has no words."""
    try:
        return _layer(pdf, number, samples, with_types=True)
    except PdfError as error:
        return _Layer(SeenPage(0.0, 0.0, (), "none", str(error), types=BROKEN), ())


def _layer(pdf: Path, page_number: int, samples: FontSamples | None, *, with_types: bool = False) -> _Layer:
    has_ocr = samples is not None
    width, height, packed, beside, doubt, pictures, letters, types = _seen(
        pdf, page_number, has_ocr, with_types
    )
    words = tuple(SeenWord(word[0], Box(*word[1]), *word[2:]) for word in packed)
    page = SeenPage(width, height, words, "layer", doubt, beside, letters, types=types)
    # What covers the page is its ground, or the page itself.
    within = [Box(*edges) for edges in pictures if _area(edges) < _WHOLE_SHARE * width * height]
    within = [] if doubt == IS_PICTURE else within
    if within:
        hidden = [w for w in words if not w.shown and is_in(w.box, within)]
        page = replace(
            page,
            words=tuple(w for w in words if w.shown or not is_in(w.box, within)),
            beside=" ".join((beside, *(w.text for w in hidden))),
        )
    return _Layer(page, within)


def _judged(pdf: Path, page_number: int, layer: _Layer, samples: FontSamples | None) -> SeenPage:
    """Return the page as its layer has it if OCR agrees, as OCR reads it if not; as unknown in between.

    Without samples there is no OCR.
    """
    page, within = layer
    if samples is None or page.source == "none":
        return replace(page, source="none") if page.why else page
    if unknown := unknown_script(page.words):
        about = f"OCR has no model for {unknown}"
        why = f"{page.why}, and {about}" if page.why else f"not compared with its picture: {about}"
        return replace(page, source="none" if page.why else "layer", why=why)
    if page.why:
        return _read(pdf, page_number, layer)
    sample = samples.sample_of(page)
    if sample and samples.may_lie(render_page(pdf, page_number, OCR_DPI), page, sample):
        return _read(pdf, page_number, layer)
    return replace(page, unread=tuple(telling_pictures(page, within)))


def _read(pdf: Path, page_number: int, layer: _Layer) -> SeenPage:
    """Return a page as OCR reads it; as its layer has it if both agree after all."""
    page, within = layer
    read, sure = read_picture(render_page(pdf, page_number, OCR_DPI))
    if not page.why:
        agree = agreement(page.words, read)
        if agree is None or agree >= AGREES:
            return page
        if agree > LIES:
            return replace(page, source="none", why="its text layer and OCR disagree")
        page = replace(page, why="its text layer contradicts its picture")
    elif read and sure < _SURE_SHARE:
        return replace(page, source="none", why=f"{page.why}, and OCR is unsure of most words")
    seen = tuple(SeenWord(*word) for word in read if not is_in(word[1], within))
    if not seen:
        return replace(page, source="none", why=f"{page.why}, and OCR reads nothing outside of pictures")
    beside = " ".join((page.beside, *(word[0] for word in read if is_in(word[1], within))))
    return replace(page, words=seen, source="ocr", beside=beside)


# --- in the process that opens PDFs -------------------------------------------------------------------------

_PackedWord = tuple[str, Edges, int, bool, bool, str]
_PackedPage = tuple[
    float, float, list[_PackedWord], str, str, list[Edges], dict[str, dict[str, float]], Kinds
]


@in_child()
def _seen(pdf: Path, page_number: int, with_letters: bool, with_types: bool) -> _PackedPage:
    """Return size, words, what is beside them, why they cannot be believed, where pictures stand, and
    perhaps the shapes of letters by font and the page types.
    """
    with open_page(pdf, page_number) as page:
        width, height = page.get_size()
        text = page.get_textpage()
        (texts, boxes, generated), fonts = pack_text(page, text, with_fonts=True)
        types = kinds_of(page, text, pdf)[1] if with_types else {}
        text.close()
        beside = " ".join(_beside(page))
        objects = list(_painted(page))
        shown, ink = _shown_glyphs(page, page_number, pdf, objects, boxes)
        words = list(_words(texts, array("d", boxes), generated, shown.tolist(), fonts))
        words += _field_words(page, words)
        pictures = [to_page_edges(page, *o.bounds) for o in objects if o.is_picture]
        pictures = [edges for edges in pictures if _area(edges) >= _NO_DUST]
        letters = _letters(texts, boxes, fonts) if with_letters and fonts else {}
        why = _doubt(words, pictures, width * height, ink)
    heads = running_lines(pdf, page_number, words, height)
    packed = [(*word[:4], word[2] in heads, word[4]) for word in words]
    return width, height, packed, beside, why, pictures[:_MOST_PICTURES], letters, types


class _Painted(NamedTuple):
    """An object of a page or of a form on it, in the order of painting."""

    item: Any
    bounds: Edges
    is_text: bool
    is_picture: bool
    opaque: bool
    suspect: bool


def _painted(page: Any) -> Iterator[_Painted]:
    from pypdfium2 import raw

    edges = [ctypes.c_float() for _ in range(4)]
    channels = [ctypes.c_uint() for _ in range(4)]
    n = 0

    def walk(count: int, get: Any, matrices: tuple[Any, ...]) -> Iterator[_Painted]:
        nonlocal n
        for index in range(count):
            if (n := n + 1) > _MAX_OBJECTS:
                return
            item = get(index)
            kind = raw.FPDFPageObj_GetType(item)
            if kind == raw.FPDF_PAGEOBJ_FORM and len(matrices) < _MAX_DEPTH:
                matrix = raw.FS_MATRIX()
                raw.FPDFPageObj_GetMatrix(item, matrix)
                inside = partial(raw.FPDFFormObj_GetObject, item)
                yield from walk(raw.FPDFFormObj_CountObjects(item), inside, (matrix, *matrices))
                continue
            bounds = (0.0, 0.0, 0.0, 0.0)
            if raw.FPDFPageObj_GetBounds(item, *edges):
                bounds = _placed([e.value for e in edges], matrices)
            filled = bool(raw.FPDFPageObj_GetFillColor(item, *channels))
            red, green, blue, alpha = (c.value for c in channels)
            is_text, is_picture = kind == raw.FPDF_PAGEOBJ_TEXT, kind == raw.FPDF_PAGEOBJ_IMAGE
            suspect = is_text and (
                raw.FPDFTextObj_GetTextRenderMode(item) in (3, 7)
                or (filled and (alpha <= _FAINT or min(red, green, blue) >= _LIGHT))
            )
            opaque = is_picture or (kind == raw.FPDF_PAGEOBJ_PATH and filled and alpha == 255)
            yield _Painted(item, bounds, is_text, is_picture, opaque, suspect)

    yield from walk(raw.FPDFPage_CountObjects(page), partial(raw.FPDFPage_GetObject, page.raw), ())


def _placed(edges: Sequence[float], matrices: Sequence[Any]) -> Edges:
    """Return bounds on the page of what lies in forms."""
    left, bottom, right, top = edges
    if not matrices:
        return left, bottom, right, top
    corners = [(left, bottom), (left, top), (right, bottom), (right, top)]
    for m in matrices:
        corners = [(m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f) for x, y in corners]
    across, up = zip(*corners, strict=True)
    return min(across), min(up), max(across), max(up)


def _covered(objects: Sequence[_Painted]) -> set[int]:
    """Return texts below something opaque that is painted later."""
    import numpy as np

    bounds = np.array([o.bounds for o in objects]).reshape(-1, 4)
    opaque = np.flatnonzero([o.opaque for o in objects])
    texts = np.flatnonzero([o.is_text for o in objects])
    if not len(opaque) or not len(texts):
        return set()
    found: set[int] = set()
    x0, y0, x1, y1 = bounds[texts].T
    area = np.maximum((x1 - x0) * (y1 - y0), 1e-6)
    # Ruled lines are thinner than any text: most of what is opaque covers none.
    wide, high = (bounds[opaque, 2:] - bounds[opaque, :2]).T
    opaque = opaque[(wide >= _COVERS * (x1 - x0).min()) & (high >= _COVERS * (y1 - y0).min())]
    for k in opaque[:5000]:
        a, b, c, d = bounds[k]
        across, up = np.minimum(x1, c) - np.maximum(x0, a), np.minimum(y1, d) - np.maximum(y0, b)
        shared = across.clip(0) * up.clip(0)
        found.update(texts[(shared >= _COVERS * area) & (texts < k)].tolist())
    return found


def _shown_glyphs(
    page: Any, number: int, pdf: Path, objects: Sequence[_Painted], boxes: bytes
) -> tuple[NDArray[np.bool_], float]:
    """Return which glyphs change the picture of their page, and the share of it that is not paper without
    them.
    """
    import numpy as np

    edges = np.frombuffer(boxes, dtype=np.float64).reshape(-1, 4)
    whole = page_picture(page, number, pdf, LOOK_DPI)
    suspects = _covered(objects) | {k for k, o in enumerate(objects) if o.suspect}
    shown = np.zeros(len(edges), dtype=bool)
    doubtful = np.zeros(len(edges), dtype=bool)
    if suspects:
        doubtful = _glyphs_of(page, [objects[k].item for k in suspects], len(edges))
        _leave_out([objects[k].item for k in suspects])
        shown |= doubtful & _changed(whole, page_picture(page, number, pdf, LOOK_DPI), edges)
    _leave_out([o.item for o in objects if o.is_text])
    bare = page_picture(page, number, pdf, LOOK_DPI)
    shown |= ~doubtful & _changed(whole, bare, edges)
    paper = int(np.bincount(bare[::4, ::4].ravel()).argmax())
    low, high = max(0, paper - 2 * CONTRAST), min(255, paper + 2 * CONTRAST)
    return shown, np.count_nonzero((bare < low) | (bare > high)) / bare.size


def _leave_out(items: Sequence[Any]) -> None:
    from pypdfium2 import raw

    for item in items:
        raw.FPDFPageObj_SetIsActive(item, False)


def _glyphs_of(page: Any, items: Sequence[Any], count: int) -> NDArray[np.bool_]:
    """Return which glyphs belong to some objects."""
    import numpy as np
    from pypdfium2 import raw

    own, text = {address_of(item) for item in items}, page.get_textpage()
    found = [address_of(raw.FPDFText_GetTextObject(text, k)) in own for k, _ in character_codes(text)]
    text.close()
    return np.array(found[:count], dtype=bool)


def _changed(
    one: NDArray[np.uint8], other: NDArray[np.uint8], edges: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return the boxes in which two pictures differ."""
    import numpy as np

    height, width = one.shape
    # Few pixels differ: to count them in each row of each box takes less than to sum up the picture.
    differing = _differing(one, other)
    scale = LOOK_DPI / 72
    x0, y0 = np.clip(np.floor(edges[:, :2] * scale), 0, (width, height)).astype(int).T
    x1, y1 = np.clip(np.ceil(edges[:, 2:] * scale), 0, (width, height)).astype(int).T
    rows = np.maximum(y1 - y0, 0)
    own = np.repeat(np.arange(len(edges)), rows)
    y = np.arange(len(own)) - np.repeat(np.cumsum(rows) - rows, rows) + y0[own]
    start = y * width + x0[own]
    first = np.searchsorted(differing, start)
    there = np.append(differing, height * width)[first] < start - x0[own] + x1[own]
    return np.bincount(own[there], minlength=len(edges)) > 0


def _differing(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the pixels, counted row by row, that differ visibly; eight at a time are compared first."""
    import numpy as np

    whole = one.size // 8 * 8
    first, second = one.ravel(), other.ravel()
    eights = np.flatnonzero(first[:whole].view(np.uint64) != second[:whole].view(np.uint64))
    if len(eights) > one.size // _FEW_DIFFER:
        return np.flatnonzero(np.maximum(first, second) - np.minimum(first, second) >= CONTRAST)
    near = (eights[:, None] * 8 + np.arange(8)).ravel()
    near = np.concatenate([near, np.arange(whole, one.size)])
    a, b = first[near], second[near]
    found: NDArray[np.intp] = near[np.maximum(a, b) - np.minimum(a, b) >= CONTRAST]
    return found


def _letters(texts: str, boxes: bytes, fonts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how wide each letter of each font is for its height: the middle one of each."""
    import numpy as np

    edges = np.frombuffer(boxes, dtype=np.float64).reshape(-1, 4)
    wide, high = (edges[:, 2:] - edges[:, :2]).T
    names = {font: k for k, font in enumerate(dict.fromkeys(fonts))}
    codes = np.frombuffer(texts.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    keys = codes + 0x110000 * np.array([names[font] for font in fonts])
    shapes = wide / np.maximum(high, 1e-3)
    order = np.lexsort((shapes, keys))
    own, first, count = np.unique(keys[order], return_index=True, return_counts=True)
    middle = shapes[order][first + count // 2].round(3)
    found: dict[str, dict[str, float]] = {font: {} for font in names}
    fonts = list(names)
    for key, shape in zip(own.tolist(), middle.tolist(), strict=True):
        if (letter := chr(key % 0x110000)).isalpha():
            found[fonts[key // 0x110000]][letter] = shape
    return found


def _words(
    texts: str, boxes: array[float], generated: bytes, shown: Sequence[bool], fonts: Sequence[str]
) -> Iterator[LayerWord]:
    """Yield runs of characters between blanks; a word is shown if half of its characters are.

    Raised digits behind a number are one of their own: `12.0` with the mark of a note is not 12.03.
    """
    left, top, right, bottom = (boxes[side::4] for side in range(4))

    def edges(k: int) -> Edges:
        return left[k], top[k], right[k], bottom[k]

    def is_mark(k: int, start: int) -> bool:
        digits = ((texts[j], edges(j), edges(j)) for j in range(k - 1, start - 1, -1) if texts[j].isdigit())
        return is_raised(texts[k], edges(k), edges(k), digits)

    symbols = {font for font in set(fonts) if SYMBOL_FONT.fullmatch(font)}
    line, start = 0, -1
    for k, text in enumerate(f"{texts} "):
        is_blank = not text.strip() or bool(generated[k])
        if start >= 0 and (is_blank or (text.isdigit() and is_mark(k, start))):
            own = slice(start, k)
            hull = min(left[own]), min(top[own]), max(right[own]), max(bottom[own])
            word = texts[own]
            if not symbols.isdisjoint(fonts[own]):
                word = "".join(map(_without_symbol, word, fonts[own]))
            yield word, hull, line, 2 * sum(shown[own]) >= k - start, fonts[start]
            start = -1
        if is_blank:
            line += text == "\n"
        elif start < 0:
            start = k


_SIGN = "\u25a1"  # a square


def _without_symbol(sign: str, font: str) -> str:
    """Return a mere sign for a letter or digit that such a font cannot have."""
    found = SYMBOL_FONT.fullmatch(font) if sign.isalnum() else None
    return _SIGN if found and not (found["capitals"] and sign.isupper()) else sign


_LEADERS = frozenset(".·…_-–—=*|+")
IS_PICTURE = "the page is a picture"
_NO_DUST, _MOST_PICTURES = 400.0, 200  # square points of a picture that may hold text; how many are looked at


def _area(edges: Edges) -> float:
    x0, y0, x1, y1 = edges
    return max(x1 - x0, 0.0) * max(y1 - y0, 0.0)


def _doubt(words: Sequence[LayerWord], pictures: Sequence[Edges], area: float, ink: float) -> str:
    """Return why the words of a page are no evidence for its visible content; empty if they are."""
    n_shown = sum(word[3] for word in words)
    largest, covered = max(map(_area, pictures), default=0.0), sum(map(_area, pictures))
    is_read = bool(words) and largest >= _PICTURE_SHARE * area and 2 * n_shown <= len(words)
    if is_read or (not n_shown and covered >= _WHOLE_SHARE * area):
        return IS_PICTURE
    if not n_shown and ink > _INK:
        return "the page shows no text"
    letters = "".join(word[0] for word in words if word[3])
    strange = sum(c == "\ufffd" or c < " " or "\ue000" <= c <= "\uf8ff" for c in letters)
    signs = [c for c in letters if c not in _LEADERS]
    no_words = len(signs) >= SAMPLE_LETTERS and sum(map(str.isalnum, signs)) < _STRANGE * len(signs)
    has_none = strange > _STRANGE * len(letters) or no_words
    return "the characters of its fonts have no meaning" if has_none else ""


def _beside(page: Any) -> Iterator[str]:
    """Yield values of forms, notes and targets of links."""
    from pypdfium2 import raw

    document = page.pdf
    for note in _annotations(page):
        for key in (b"Contents", b"V", b"DV"):
            yield _said_by(raw.FPDFAnnot_GetStringValue, note, key)
        action = raw.FPDFLink_GetAction(raw.FPDFAnnot_GetLink(note))
        if action and 1 < (size := raw.FPDFAction_GetURIPath(document, action, None, 0)) < 10_000:
            path = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, path, size)
            yield path.value.decode("utf-8", "replace")


def _annotations(page: Any) -> Iterator[Any]:
    from pypdfium2 import raw

    for index in range(min(raw.FPDFPage_GetAnnotCount(page), 1000)):
        note = raw.FPDFPage_GetAnnot(page, index)
        try:
            yield note
        finally:
            raw.FPDFPage_CloseAnnot(note)


def _said_by(get: Any, note: Any, key: Any) -> str:
    """Return a text of an annotation; empty where it has none, or one that is too long."""
    size = get(note, key, None, 0)
    if not 2 < size < 100_000:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    get(note, key, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")


def _field_words(page: Any, words: Sequence[LayerWord]) -> Iterator[LayerWord]:
    """Yield the words of form fields that the page itself lacks: values whose appearance paints text."""
    from pypdfium2 import raw

    centres = [((x0 + x1) / 2, (y0 + y1) / 2) for _, (x0, y0, x1, y1), _, shown, _ in words if shown]
    for number, note in enumerate(_annotations(page)):
        unseen = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
        if raw.FPDFAnnot_GetSubtype(note) != raw.FPDF_ANNOT_WIDGET or raw.FPDFAnnot_GetFlags(note) & unseen:
            continue
        painted = _said_by(raw.FPDFAnnot_GetAP, note, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL)
        value, rect = _said_by(raw.FPDFAnnot_GetStringValue, note, b"V"), raw.FS_RECTF()
        if not value or not _PAINTS_TEXT.search(painted) or not raw.FPDFAnnot_GetRect(note, rect):
            continue
        x0, y0, x1, y1 = edges = to_page_edges(page, rect.left, rect.bottom, rect.right, rect.top)
        if not any(x0 <= x <= x1 and y0 <= y <= y1 for x, y in centres):
            yield from ((word, edges, -1 - number, True, "") for word in value.split())
