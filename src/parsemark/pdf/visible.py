"""The words that can be seen on a page: one rule for corpora, for text layers that lie, and for evidence.

A word of the text layer is seen if the picture of the page changes when it is not painted. All text is left
out at once, and what cannot be told so is left out by itself: text that its object says is not painted,
transparent, as light as paper, or below something opaque that is painted later. So text that is clipped,
beside the page, of no size, of the colour of its ground, covered, or in a layer that is switched off is not
seen, whatever the reason. Where the layer cannot be trusted (scans, drawn letters, fonts whose characters
mean something else), OCR may say what is there.
"""

from __future__ import annotations

import ctypes
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rapidfuzz.distance import Indel

from parsemark.model import Box
from parsemark.pdf.child import in_child
from parsemark.pdf.document import Edges, open_page, to_page_edges
from parsemark.pdf.marked import address_of
from parsemark.pdf.ocr import OCR_DPI, can_read, read_picture
from parsemark.pdf.pictures import page_picture, render_page
from parsemark.pdf.running_heads import LayerWord, running_lines
from parsemark.pdf.text import character_codes, is_raised, pack_glyphs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOK_DPI = 72
CONTRAST = 12  # of 255: what differs by less from its ground, nobody sees
_FAINT, _LIGHT = 26, 230
"""Opacity up to which, and colour from which on, text must show by itself that it is painted."""
_MAX_DEPTH, _MAX_OBJECTS = 8, 100_000
_COVERS = 0.9  # share of a text that something must cover to be asked whether it hides it
_PAINTS_TEXT = re.compile(r"\bT[jJ]\b|['\"]\s")
_PICTURE_SHARE = 0.5  # of the page: a picture of this size may be the page itself
_INK = 0.0005  # share of the pixels that must differ from the paper for a page to say anything
_STRANGE = 0.2
"""Share of characters without meaning (private, replaced, control) above which a layer says nothing."""
_SAMPLE_LINES, _SAMPLE_LETTERS, _ALIKE = 4, 40, 0.5
"""How many lines of a layer are compared with their picture, how many letters they must have at least, and
how alike both must be."""

Source = Literal["layer", "ocr", "none"]


@dataclass(frozen=True, slots=True)
class SeenWord:
    """A word of a page, as its text layer or OCR says it."""

    text: str
    box: Box
    line: int  # number of its line, in the order of the file; below 0 for the values of fields
    shown: bool = True
    edge: bool = False  # whether it belongs to a running head or foot, or is a page number


@dataclass(frozen=True, slots=True)
class SeenPage:
    """What can be seen on a page."""

    width: float
    height: float
    words: tuple[SeenWord, ...]  # in the order of the file, also those that are not shown
    source: Source
    why: str = ""  # why the text layer was not believed
    beside: str = ""
    """What belongs to the page without being its text: values of forms, notes, targets of links."""


def seen_page(pdf: Path, page_number: int, *, ocr: bool = False) -> SeenPage:
    """What can be seen on a page, by its number from 1.

    With `ocr`, and where tesseract or rapidocr is installed, samples of the text layer are compared with
    what the picture says, and pages whose layer cannot be believed are read so.
    """
    return _seen_page(pdf, page_number, pdf.stat().st_mtime_ns, ocr and can_read())


@lru_cache(maxsize=64)
def _seen_page(pdf: Path, page_number: int, _modified: int, ocr: bool) -> SeenPage:
    width, height, packed, beside, why = _seen(pdf, page_number)
    words = tuple(SeenWord(text, Box(*edges), line, shown, edge) for text, edges, line, shown, edge in packed)
    page = SeenPage(width, height, words, "layer", why, beside)
    if not why and ocr:
        why = _lies(pdf, page_number, page)
    if not why:
        return page
    if not ocr:
        return replace(page, source="none", why=why)
    read = tuple(SeenWord(*word) for word in read_picture(render_page(pdf, page_number, OCR_DPI)))
    if not read:
        return replace(page, source="none", why=f"{why}, and OCR reads nothing")
    return replace(page, words=read, source="ocr", why=why)


# --- in the process that opens PDFs -------------------------------------------------------------------------

_PackedWord = tuple[str, Edges, int, bool, bool]


@in_child()
def _seen(pdf: Path, page_number: int) -> tuple[float, float, list[_PackedWord], str, str]:
    """Size, words, what is beside them, and why they cannot be believed."""
    with open_page(pdf, page_number) as page:
        width, height = page.get_size()
        texts, boxes, generated = pack_glyphs(page)
        beside = " ".join(_beside(page))
        objects = list(_painted(page))
        shown, ink = _shown_glyphs(page, page_number, pdf, objects, boxes)
        words = list(_words(texts, array("d", boxes), generated, shown.tolist()))
        words += _field_words(page, words)
        why = _doubt(words, objects, width * height, ink)
    heads = running_lines(pdf, page_number, words, height)
    return width, height, [(*w[:4], w[2] in heads) for w in words], beside, why


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
    """Bounds on the page of what lies in forms."""
    left, bottom, right, top = edges
    if not matrices:
        return left, bottom, right, top
    corners = [(left, bottom), (left, top), (right, bottom), (right, top)]
    for m in matrices:
        corners = [(m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f) for x, y in corners]
    across, up = zip(*corners, strict=True)
    return min(across), min(up), max(across), max(up)


def _covered(objects: Sequence[_Painted]) -> set[int]:
    """Texts below something opaque that is painted later."""
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
    """Which glyphs change the picture of their page, and the share of it that is not paper without them."""
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
    return shown, float(((bare < low) | (bare > high)).mean())


def _leave_out(items: Sequence[Any]) -> None:
    from pypdfium2 import raw

    for item in items:
        raw.FPDFPageObj_SetIsActive(item, False)


def _glyphs_of(page: Any, items: Sequence[Any], count: int) -> NDArray[np.bool_]:
    """Which glyphs belong to some objects."""
    import numpy as np
    from pypdfium2 import raw

    own, text = {address_of(item) for item in items}, page.get_textpage()
    found = [address_of(raw.FPDFText_GetTextObject(text, k)) in own for k, _ in character_codes(text)]
    text.close()
    return np.array(found[:count], dtype=bool)


def _changed(
    one: NDArray[np.uint8], other: NDArray[np.uint8], edges: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """In which boxes two pictures differ."""
    import numpy as np

    height, width = one.shape
    # Few pixels differ: to count them in each row of each box takes less than to sum up the picture.
    differing = np.flatnonzero(np.maximum(one, other) - np.minimum(one, other) >= CONTRAST)
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


def _words(texts: str, boxes: array[float], generated: bytes, shown: Sequence[bool]) -> Iterator[LayerWord]:
    """Runs of characters between blanks; a word is shown if half of its characters are.

    Raised digits behind a number are one of their own: `12.0` with the mark of a note is not 12.03.
    """
    left, top, right, bottom = (boxes[side::4] for side in range(4))

    def edges(k: int) -> Edges:
        return left[k], top[k], right[k], bottom[k]

    def is_mark(k: int, start: int) -> bool:
        digits = ((texts[j], edges(j), edges(j)) for j in range(k - 1, start - 1, -1) if texts[j].isdigit())
        return is_raised(texts[k], edges(k), edges(k), digits)

    line, start = 0, -1
    for k, text in enumerate(f"{texts} "):
        is_blank = not text.strip() or bool(generated[k])
        if start >= 0 and (is_blank or (text.isdigit() and is_mark(k, start))):
            own = slice(start, k)
            hull = min(left[own]), min(top[own]), max(right[own]), max(bottom[own])
            yield texts[own], hull, line, 2 * sum(shown[own]) >= k - start
            start = -1
        if is_blank:
            line += text == "\n"
        elif start < 0:
            start = k


def _doubt(words: Sequence[LayerWord], objects: Sequence[_Painted], area: float, ink: float) -> str:
    """Why the words of a page are no evidence for what can be seen on it; empty if they are."""
    n_shown = sum(word[3] for word in words)
    pictures = [(x1 - x0) * (y1 - y0) for o in objects if o.is_picture for x0, y0, x1, y1 in [o.bounds]]
    is_scan = max(pictures, default=0.0) >= _PICTURE_SHARE * area
    if is_scan and 2 * n_shown <= len(words):
        return "the page is a picture"
    if not n_shown and ink > _INK:
        return "what the page shows is no text"
    letters = "".join(word[0] for word in words if word[3])
    strange = sum(c == "\ufffd" or c < " " or "\ue000" <= c <= "\uf8ff" for c in letters)
    return "the characters of its fonts have no meaning" if strange > _STRANGE * len(letters) else ""


def _beside(page: Any) -> Iterator[str]:
    """Values of forms, notes and targets of links."""
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
    """A text of an annotation; empty where it has none, or one that is too long."""
    size = get(note, key, None, 0)
    if not 2 < size < 100_000:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    get(note, key, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")


def _field_words(page: Any, words: Sequence[LayerWord]) -> Iterator[LayerWord]:
    """What fields of forms show that the page itself does not say: values whose appearance paints text."""
    from pypdfium2 import raw

    centres = [((x0 + x1) / 2, (y0 + y1) / 2) for _, (x0, y0, x1, y1), _, shown in words if shown]
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
            yield from ((word, edges, -1 - number, True) for word in value.split())


# --- what pictures say --------------------------------------------------------------------------------------


def _lies(pdf: Path, page_number: int, page: SeenPage) -> str:
    """Whether some lines of the layer read otherwise than they look; only Latin letters can be compared."""
    words = [word for word in page.words if word.shown and word.box.height < word.box.width * 3]
    rank = {line: k for k, line in enumerate(sorted({word.line for word in words}))}
    samples: dict[int, list[SeenWord]] = {}
    for word in sorted(words, key=lambda word: word.line):
        samples.setdefault(rank[word.line] // _SAMPLE_LINES, []).append(word)
    best = max(samples.values(), key=lambda words: len(_latin(words)), default=[])
    if len(_latin(best)) < _SAMPLE_LETTERS:
        return ""
    scale, hull = OCR_DPI / 72, Box.hull(word.box for word in best)
    picture = render_page(pdf, page_number, OCR_DPI)
    left, top, right, bottom = (int(side * scale) for side in hull.as_tuple())
    read = read_picture(picture.crop((left - 16, top - 16, right + 16, bottom + 16)))
    found = _latin([SeenWord(*word) for word in read])
    if len(found) < _SAMPLE_LETTERS / 2:
        return ""  # OCR cannot read it: that says nothing about the layer
    alike = Indel.normalized_similarity(_latin(best), found)
    return "its text layer says something else than its picture" if alike < _ALIKE else ""


def _latin(words: Sequence[SeenWord]) -> str:
    return re.sub(r"[^a-z0-9]", "", "".join(word.text for word in words).casefold())
