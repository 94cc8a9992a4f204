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
import unicodedata
from array import array
from collections import Counter
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
from parsemark.pdf.ocr import OCR_DPI, ReadWord, can_read, read_picture, scripts
from parsemark.pdf.pictures import page_picture, render_page
from parsemark.pdf.running_heads import LayerWord, running_lines
from parsemark.pdf.text import character_codes, is_raised, pack_glyphs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

LOOK_DPI = 72
CONTRAST = 12  # of 255: a smaller difference from the ground is invisible
_FAINT, _LIGHT = 26, 230
"""Opacity up to which, and colour from which on, text must show by itself that it is painted."""
_MAX_DEPTH, _MAX_OBJECTS = 8, 100_000
_COVERS = 0.9  # share of a text that something must cover to be asked whether it hides it
_PAINTS_TEXT = re.compile(r"\bT[jJ]\b|['\"]\s")
_PICTURE_SHARE, _WHOLE_SHARE = 0.5, 0.8
"""Of the page: a picture of this size is the page itself if the words on it are hidden; or in any case."""
_INK = 0.0005  # share of the pixels that must differ from the paper for a page to say anything
_STRANGE = 0.2
"""Share of characters without meaning (private, replaced, control) above which a layer says nothing."""
_SAMPLE_LINES, _SAMPLE_LETTERS = 4, 40
"""How many lines of a layer are compared with their picture, and how many letters they must have at least."""
_MIN_WORD, _MIN_WORDS, _ALIKE = 3, 8, 0.6
"""Letters of a word, and words, for layer and OCR to be compared; how alike both readings of one must be."""
_AGREES, _LIES = 0.5, 0.2
"""Share of such words that agree from which on the layer is believed, and up to which OCR is."""
_ROW = 12.0  # points: words in neighbouring rows of this height are looked at together
_AROUND_WORDS = ".,;:!?()[]{}<>\"'«»„“”‘’*-–—/"
_TELLING, _MOST_READ = 0.02, 2
"""Share of the page that a picture must have to be read for what it says, and how many are."""
_SURE_SHARE = 0.5
"""Share of its words that OCR must be sure of: of a script that it does not know it is sure of few."""

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
    why: str = ""  # why the text layer was not believed, or not compared with its picture
    beside: str = ""
    """What belongs to the page without being its text: values of forms, notes, targets of links, and what
    OCR or a hidden layer says of pictures."""

    @property
    def judged_by(self) -> str:
        """Return the source that decides which words are visible."""
        name = {"layer": "text layer", "ocr": "OCR", "none": "not judged"}[self.source]
        return f"{name}: {self.why}" if self.why else name


def seen_page(pdf: Path, page_number: int, *, ocr: bool = False) -> SeenPage:
    """Return the visible content of a page, by its number from 1.

    With `ocr`, and where tesseract or rapidocr is installed, samples of the text layer are compared with
    what the picture says, and pages whose layer cannot be believed are read so.
    """
    return _seen_page(pdf, page_number, pdf.stat().st_mtime_ns, ocr and can_read())


@lru_cache(maxsize=64)
def _seen_page(pdf: Path, page_number: int, _modified: int, ocr: bool) -> SeenPage:
    width, height, packed, beside, doubt, pictures = _seen(pdf, page_number)
    words = tuple(SeenWord(text, Box(*edges), line, shown, edge) for text, edges, line, shown, edge in packed)
    page = SeenPage(width, height, words, "layer", doubt, beside)
    # What covers the page is its ground, or the page itself.
    within = [Box(*edges) for edges in pictures if _area(edges) < _WHOLE_SHARE * width * height]
    within = [] if doubt == IS_PICTURE else within
    if within:
        hidden = [w for w in words if not w.shown and _is_in(w.box, within)]
        page = replace(
            page,
            words=tuple(w for w in words if w.shown or not _is_in(w.box, within)),
            beside=" ".join((beside, *(w.text for w in hidden))),
        )
    if not doubt and not ocr:
        return page
    if not ocr:
        return replace(page, source="none")
    if unknown := _unknown_script(words):
        about = f"OCR has no model for {unknown}"
        if doubt:
            return replace(page, source="none", why=f"{doubt}, and {about}")
        return replace(page, why=f"not compared with its picture: {about}")
    return _checked(pdf, page_number, page, within)


def _checked(pdf: Path, page_number: int, page: SeenPage, within: Sequence[Box]) -> SeenPage:
    """Return the page as its layer has it if OCR agrees, as OCR reads it if not; as unknown in
    between.
    """
    picture = render_page(pdf, page_number, OCR_DPI)
    if not page.why:
        if not _may_lie(picture, page):
            return replace(page, beside=" ".join((page.beside, *_texts_of(picture, page, within))))
        read, _ = read_picture(picture)
        agree = _agreement(page.words, read)
        if agree is None or agree >= _AGREES:
            return page
        if agree > _LIES:
            return replace(page, source="none", why="its text layer and OCR disagree")
        page = replace(page, why="its text layer contradicts its picture")
    else:
        read, sure = read_picture(picture)
        if read and sure < _SURE_SHARE:
            return replace(page, source="none", why=f"{page.why}, and OCR is unsure of most words")
    seen = tuple(SeenWord(*word) for word in read if not _is_in(word[1], within))
    if not seen:
        return replace(page, source="none", why=f"{page.why}, and OCR reads nothing outside of pictures")
    beside = " ".join((page.beside, *(word[0] for word in read if _is_in(word[1], within))))
    return replace(page, words=seen, source="ocr", beside=beside)


def _is_in(box: Box, pictures: Sequence[Box]) -> bool:
    return any(picture.holds_centre(box) for picture in pictures)


# --- in the process that opens PDFs -------------------------------------------------------------------------

_PackedWord = tuple[str, Edges, int, bool, bool]


@in_child()
def _seen(pdf: Path, page_number: int) -> tuple[float, float, list[_PackedWord], str, str, list[Edges]]:
    """Return size, words, what is beside them, why they cannot be believed, and where pictures stand."""
    with open_page(pdf, page_number) as page:
        width, height = page.get_size()
        texts, boxes, generated = pack_glyphs(page)
        beside = " ".join(_beside(page))
        objects = list(_painted(page))
        shown, ink = _shown_glyphs(page, page_number, pdf, objects, boxes)
        words = list(_words(texts, array("d", boxes), generated, shown.tolist()))
        words += _field_words(page, words)
        pictures = [to_page_edges(page, *o.bounds) for o in objects if o.is_picture]
        pictures = [edges for edges in pictures if _area(edges) >= _NO_DUST]
        why = _doubt(words, pictures, width * height, ink)
    heads = running_lines(pdf, page_number, words, height)
    return width, height, [(*w[:4], w[2] in heads) for w in words], beside, why, pictures[:_MOST_PICTURES]


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
    return shown, float(((bare < low) | (bare > high)).mean())


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
    """Yield runs of characters between blanks; a word is shown if half of its characters are.

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
    no_words = len(signs) >= _SAMPLE_LETTERS and sum(map(str.isalnum, signs)) < _STRANGE * len(signs)
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


_SCRIPT_NAMES = {"CJK": "Chinese characters", "HANGUL": "Korean"}
"""Of scripts whose letters have other names in Unicode."""


def _unknown_script(words: Sequence[SeenWord]) -> str:
    """Return the script of most letters of a page, if OCR has no model for it; empty if it has."""
    letters = [c for word in words for c in word.text if c.isalpha()]
    if not letters:
        return ""
    (script, n), *_ = Counter(unicodedata.name(c, "?").split()[0] for c in letters).most_common(1)
    n_known = sum(unicodedata.name(c, "?").startswith(tuple(scripts())) for c in letters)
    return _SCRIPT_NAMES.get(script, script.capitalize()) if 2 * n_known < len(letters) and n else ""


def _may_lie(picture: Image.Image, page: SeenPage) -> bool:
    """Return whether the lines that have most to compare read otherwise than they look."""
    words = [word for word in page.words if word.shown and word.box.height < word.box.width * 3]
    rank = {line: k for k, line in enumerate(sorted({word.line for word in words}))}
    samples: dict[int, list[SeenWord]] = {}
    for word in sorted(words, key=lambda word: word.line):
        samples.setdefault(rank[word.line] // _SAMPLE_LINES, []).append(word)
    best = max(samples.values(), key=_n_comparable, default=[])
    if _n_comparable(best) < _SAMPLE_LETTERS:
        return False
    hull = Box.hull(word.box for word in best)
    agree = _agreement(best, _read_part(picture, hull))
    return agree is not None and agree < _AGREES


def _texts_of(picture: Image.Image, page: SeenPage, within: Sequence[Box]) -> Iterator[str]:
    """Yield the OCR texts of the largest pictures of a page."""
    whole = page.width * page.height
    large = [box for box in within if box.width * box.height >= _TELLING * whole]
    for box in sorted(large, key=lambda box: -box.width * box.height)[:_MOST_READ]:
        over = [word.box for word in page.words if word.shown and box.holds_centre(word.box)]
        yield from (text for text, own, _ in _read_part(picture, box) if not _is_in(own, over))


def _read_part(picture: Image.Image, part: Box) -> list[ReadWord]:
    """Return the words of a part of a picture, at their places in the whole."""
    scale, margin = OCR_DPI / 72, 16
    left, top, right, bottom = (int(side * scale) for side in part.as_tuple())
    left, top = max(left - margin, 0), max(top - margin, 0)
    cut = picture.crop((left, top, min(right + margin, picture.width), min(bottom + margin, picture.height)))
    if min(cut.size) < margin:
        return []
    x, y = left / scale, top / scale
    return [
        (text, Box(box.x0 + x, box.y0 + y, box.x1 + x, box.y1 + y), line)
        for text, box, line in read_picture(cut)[0]
    ]


def _agreement(words: Sequence[SeenWord], read: Sequence[ReadWord]) -> float | None:
    """Return the share of words of the layer that OCR reads alike at their place; None if too few can be
    compared.

    Words with digits or signs in them say nothing: OCR takes names of parts (`p16f84a`) for words.
    """
    by_row: dict[int, list[tuple[Box, str]]] = {}
    for text, box, _ in read:
        if _is_comparable(text):
            by_row.setdefault(int(box.centre[1] // _ROW), []).append((box, text))
    n = n_alike = 0
    for word in words:
        if not word.shown or not _is_comparable(word.text):
            continue
        row = int(word.box.centre[1] // _ROW)
        near = (pair for k in (row - 1, row, row + 1) for pair in by_row.get(k, ()))
        there = [text for box, text in near if box.holds_centre(word.box) or word.box.holds_centre(box)]
        if there:
            n += 1
            n_alike += max(_likeness(word.text, text) for text in there) >= _ALIKE
    return n_alike / n if n >= _MIN_WORDS else None


def _likeness(one: str, other: str) -> float:
    both = (unicodedata.normalize("NFKD", text).casefold() for text in (one, other))
    return Indel.normalized_similarity(*both)


def _is_comparable(text: str) -> bool:
    """Return whether it is a word of a script that OCR knows, with nothing but signs around it."""
    own = text.strip(_AROUND_WORDS)
    known = tuple(scripts())
    return len(own) >= _MIN_WORD and own.isalpha() and unicodedata.name(own[0], "?").startswith(known)


def _n_comparable(words: Sequence[SeenWord]) -> int:
    return sum(len(word.text) for word in words if _is_comparable(word.text))
