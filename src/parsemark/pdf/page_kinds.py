"""Kinds of pages, found in the PDF itself: no truth is needed, and no parser is asked.

Each page has one value for every trait: whether the file is whole, whether there is a text layer that can be
trusted, how it lies, its columns, lines, tables, density, script and language, formulas, numbers, and what
kind of program made it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark.pdf.child import in_child
from parsemark.pdf.document import maker_kind, open_page, to_page_boxes
from parsemark.pdf.pictures import painted_objects
from parsemark.pdf.text import HYPHEN_IN_TEXT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Boxes = NDArray[np.float64]

Kinds = Mapping[str, str]  # trait to its value on a page

TRAITS = {
    "file": "file", "layer": "text layer", "turned": "direction of the text", "shape": "shape of the page",
    "columns": "columns", "lines": "ruled lines", "tables": "size of tables", "density": "density",
    "language": "language", "formulas": "formulas", "numbers": "numbers", "maker": "made with",
}  # fmt: skip
"""Names in plain words."""
UNREADABLE, DAMAGED, WHOLE, OTHER_FILE = "unreadable", "damaged", "whole", "no PDF"
NO_LAYER, BLANK, DOUBTFUL, TRUSTED = "none (scan)", "blank page", "doubtful", "text"
IN_NO_SCORE = "in no score and no count of failures"
"""Text used for a file that cannot be opened and has no truth."""
BROKEN: Kinds = {"file": UNREADABLE}  # all that is known of a page that cannot be opened
NO_PDF: Kinds = {"file": OTHER_FILE}
"""The same of a file that does not begin as PDFs do: an error in words is the right answer to it."""

MIN_LAYER = 20  # a text layer of fewer characters says nothing about a page that shows more; it may be a scan
_PICTURED, _DRAWN = 0.25, 200
"""Share of a page that a picture covers, and number of shapes, from which on it shows more than few words."""
_MEANINGLESS = ("Co", "Cn", "Cc", "Cs")
_SIGN = re.compile("[∑∫√∞≤≥≈∂∇∈±×\U0001d400-\U0001d7ff]")
_BAD_SHARE = 0.05  # share of characters without a meaning from which on a text layer is not trusted
_SPARSE, _DENSE = 600, 3500  # characters on a page
_LINE_PT = 2.0  # a painted shape thinner than this is a line
_RULED = 6
_GUTTER_PT = 9.0  # width of the white between two columns of text
_MIN_TEXT_PT = 1200  # length of text that runs on in columns
_ROWS, _MANY_ROWS = 3, 15  # lines of three cells or more that make a table, and a large one
_CELL_GAP = 1.5  # white between two cells of a row, in heights of a letter
_MAX_ITEMS = 20_000
_TAIL = 1 << 16  # bytes at the end of a file in which it says where its objects stand
_STOP_WORDS = {
    "English": "the of and to in is for that with are by this",
    "German": "der die und das den von zu mit ist für nicht eine",
    "French": "le la les des et du en est une pour dans que",
    "Spanish": "el los las y que en una por con para del se",
    "Italian": "il di che e la per un del non con sono della",
    "Portuguese": "o os que e do da em um para com não uma",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _STOP_WORDS.items()}


def stored_kinds(text: str | None) -> Kinds:
    """Return kinds as a run keeps them, which may be somebody else's: nothing but traits and their values."""
    try:
        said = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    known = said.items() if isinstance(said, dict) else ()
    return {trait: value[:80] for trait, value in known if trait in TRAITS and isinstance(value, str)}


@in_child()
def look_at(pdf: Path, page_number: int) -> tuple[str, Kinds]:
    """Return the text of a page, and the value of each trait on it."""
    with open_page(pdf, page_number) as page:
        layer = page.get_textpage()
        found = kinds_of(page, layer, pdf)
        layer.close()
    return found


def kinds_of(page: Any, layer: Any, pdf: Path) -> tuple[str, Kinds]:
    """Return the same of an open page with its text, for functions that run `in_child`."""
    import numpy as np
    from pypdfium2 import raw

    items = list(islice(painted_objects(page, but=raw.FPDF_PAGEOBJ_TEXT), _MAX_ITEMS))
    shapes = [bounds for _, bounds in items]
    kinds_of_pictures = raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM
    pictures = [b for item, b in items if b and raw.FPDFPageObj_GetType(item) in kinds_of_pictures]
    text = str(layer.get_text_range()).replace(HYPHEN_IN_TEXT, "")
    # Runs of characters: their own boxes take ten times as long.
    runs = [layer.get_rect(k) for k in range(min(layer.count_rects(), _MAX_ITEMS))]
    inked, painted = (
        np.frombuffer(to_page_boxes(page, array("d", (s for b in boxes if b for s in b)))).reshape(-1, 4)
        for boxes in (runs, shapes)
    )
    size = page.get_size()
    named = [str(page.pdf.get_metadata_value(key)) for key in ("Creator", "Producer")]
    covered = sum((right - left) * (top - bottom) for left, bottom, right, top in pictures)
    shows_more = covered > _PICTURED * size[0] * size[1] or len(shapes) > _DRAWN
    said = text_kinds(text, fewest=MIN_LAYER if shows_more else 1)
    inside = ink_kinds(size, inked, painted)
    if said["layer"] == NO_LAYER:  # of what is in a picture nothing is known
        said = {"layer": NO_LAYER if shapes or len(inked) else BLANK}
        inside = {"shape": inside["shape"]}
    file = WHOLE if is_whole(pdf, pdf.stat().st_mtime_ns) else DAMAGED
    return text, {"file": file, **said, **inside, "maker": maker_kind(" ".join(named))}


@lru_cache(maxsize=64)
def is_whole(pdf: Path, _modified: int) -> bool:
    """Return whether a file ends as it should, and its objects are listed where it says.

    Readers search the whole file where this is not so; some find all of it, and some give up.
    """
    with pdf.open("rb") as file:
        before = max(file.read(1024).find(b"%PDF-"), 0)
        file.seek(-min(_TAIL, pdf.stat().st_size), 2)
        found = re.findall(rb"startxref\s+(\d{1,12})\s+%%EOF", file.read())
        if not found:
            return False
        for start in {int(found[-1]), int(found[-1]) + before}:
            file.seek(start)
            if re.match(rb"\s*(xref|\d+\s+\d+\s+obj)", file.read(64)):
                return True
    return False


def text_kinds(text: str, fewest: int = MIN_LAYER) -> Kinds:
    """Return the page types that the words show, if these are enough characters to decide.

    >>> text_kinds("Die Kosten und der Ertrag sind mit den Zahlen von 2019 nicht zu vergleichen")["language"]
    'German'
    """
    words = text.split()
    dense = "".join(words)
    if len(dense) < fewest:
        return {"layer": NO_LAYER}
    counts = Counter(dense)
    bad = counts["\ufffd"] + sum(n for c, n in counts.items() if unicodedata.category(c) in _MEANINGLESS)
    numeric = sum(any(map(str.isdigit, word)) for word in words) / len(words)
    greek = sum(n for c, n in counts.items() if "α" <= c <= "ω")
    signs = greek + sum(n for c, n in counts.items() if _SIGN.match(c))
    has_formulas = signs > 0.005 * len(dense) and greek <= len(dense) / 4
    return {
        "layer": DOUBTFUL if bad > _BAD_SHARE * len(dense) else TRUSTED,
        "density": "sparse" if len(dense) < _SPARSE else "dense" if len(dense) > _DENSE else "medium",
        "language": _language(words, counts),
        "formulas": "some" if has_formulas else "none",
        "numbers": "few" if numeric < 0.15 else "many" if numeric > 0.4 else "some",
    }


def _language(words: Sequence[str], counts: Mapping[str, int]) -> str:
    scripts: Counter[str] = Counter()
    for c, n in counts.items():
        if c.isalpha():
            scripts[unicodedata.name(c, "?").split()[0].title()] += n
    if not scripts:
        return "none"
    script = scripts.most_common(1)[0][0]
    if script != "Latin":
        return "Chinese" if script == "Cjk" else script
    folded = (word.casefold() for word in words)
    found = Counter(word if word.isalnum() else re.sub(r"\W", "", word) for word in folded)
    hits = {name: sum(found[w] for w in stops) for name, stops in _LANGUAGES.items()}
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] >= max(3, 0.03 * len(words)) else "unclear"


def ink_kinds(size: tuple[float, float], runs: Boxes, painted: Boxes) -> Kinds:
    """Return the page types that the shapes show: its size, the boxes of its text run by run, and those of
    all else.
    """
    import numpy as np

    wide, high = painted[:, 2] - painted[:, 0], painted[:, 3] - painted[:, 1]
    thin = (np.minimum(wide, high) <= _LINE_PT) & (np.maximum(wide, high) > 8 * _LINE_PT)
    lying = int((thin & (wide > high)).sum())
    upright = int(thin.sum()) - lying
    ruled = "grid" if lying >= 3 and upright >= 3 else "lines" if lying + upright >= _RULED else "none"
    across, down = runs[:, 2] - runs[:, 0], runs[:, 3] - runs[:, 1]
    is_tall = down > 2 * across  # a single letter is higher than wide, too
    is_turned = bool(down[is_tall].sum() > across[~is_tall].sum())  # most text runs down the page
    rows = _table_rows(runs[:, [1, 0, 3, 2]] if is_turned else runs)
    return {
        "turned": "turned" if is_turned else "upright",
        "shape": "landscape" if size[0] > size[1] else "portrait",
        "columns": _columns(size[0], runs),
        "lines": ruled,
        "tables": "none seen" if rows < _ROWS else "large" if rows > _MANY_ROWS else "small",
    }


def _table_rows(runs: Boxes) -> int:
    """Return how many lines consist of three parts or more that stand apart."""
    import numpy as np

    if len(runs) < 2:
        return 0
    middle = (runs[:, 1] + runs[:, 3]) / 2
    height = max(float(np.median(runs[:, 3] - runs[:, 1])), 1.0)
    order = middle.argsort(kind="stable")
    line = np.empty(len(runs), dtype=np.int64)
    line[order] = np.concatenate([[0], (np.diff(middle[order]) > 0.5 * height).cumsum()])
    order = np.lexsort((runs[:, 0], line))
    gap = runs[order[1:], 0] - runs[order[:-1], 2] > _CELL_GAP * height
    gaps = np.bincount(line[order[1:]], gap & (line[order[1:]] == line[order[:-1]]))
    return int((gaps >= 2).sum())


def _columns(page_width: float, runs: Boxes) -> str:
    """Return how many columns of text: white gutters that few lines of the page cross, with text on both
    sides.
    """
    import numpy as np

    width = min(max(int(page_width), 1), 20_000)
    if (runs[:, 2] - runs[:, 0]).sum() < _MIN_TEXT_PT:
        return "1"
    bands, band = np.unique(runs[:, 1] // 12, return_inverse=True)
    if len(bands) * width > 1 << 24:
        return "1"
    edges = np.zeros((len(bands), width + 1), dtype=np.int32)
    np.add.at(edges, (band, runs[:, 0].clip(0, width).astype(int)), 1)
    np.add.at(edges, (band, (runs[:, 2] + 1).clip(0, width).astype(int)), -1)
    inked = edges[:, :width].cumsum(axis=1) > 0
    middle = inked.sum(axis=0)[int(0.2 * width) : int(0.8 * width)] <= 0.1 * len(bands)
    whites = [len(run) for run in "".join("w" if white else "t" for white in middle).split("t")]
    gutters = sum(white >= _GUTTER_PT for white in whites)
    # Tables are white between their columns too: text that runs on fills its lines.
    filled = inked.sum(axis=1).mean() / width
    return str(min(gutters + 1, 3)) if gutters and filled > 0.35 else "1"
