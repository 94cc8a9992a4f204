"""Kinds of pages, found in the PDF itself: no truth is needed, and no parser is asked.

Each page has one value for every trait: whether there is a text layer that can be trusted, how it lies, its
columns, lines, density, script and language, formulas, numbers (large tables are full of them), and what kind
of program made it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsemark.corpora import Corpus
from parsemark.errors import FormatError, PdfError
from parsemark.formats import read_output
from parsemark.model import Box, Prediction
from parsemark.pdf import PageInk, made_with, page_ink, page_text
from parsemark.plain_words import counted

Kinds = Mapping[str, str]
"""Trait to its value on a page."""

TRAITS = {
    "layer": "text layer",
    "turned": "direction of the text",
    "shape": "shape of the page",
    "columns": "columns",
    "lines": "ruled lines",
    "density": "density",
    "language": "language",
    "formulas": "formulas",
    "numbers": "numbers",
    "maker": "made with",
}
"""Names in plain words."""
UNREADABLE = "unreadable"
NO_LAYER, DOUBTFUL, TRUSTED = "none (scan)", "doubtful", "text"

Floats = NDArray[np.float64]

MIN_KIND = 3
"""Pages of a kind before something is said of it."""
MIN_LAYER = 20
"""A text layer of fewer characters says nothing about a page; it may be a scan."""
_BAD_SHARE = 0.05
"""Share of characters without a meaning from which on a text layer is not trusted."""
_SPARSE, _DENSE = 600, 3500
"""Characters on a page."""
_LINE_PT = 2.0
"""A painted shape thinner than this is a line."""
_RULED = 6
_GUTTER_PT = 9.0
"""Width of the white between two columns of text."""
_STOP_WORDS = {
    "English": "the of and to in is for that with are by this",
    "German": "der die und das den von zu mit ist für nicht eine",
    "French": "le la les des et du en est une pour dans que",
    "Spanish": "el los las y que en una por con para del se",
    "Italian": "il di che e la per un del non con sono della",
    "Portuguese": "o os que e do da em um para com não uma",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _STOP_WORDS.items()}


def corpus_kinds(corpus: Corpus, samples: Sequence[str]) -> dict[str, Kinds]:
    """The kinds of some pages of a corpus; a page that cannot be opened is `unreadable` in every trait."""
    makers: dict[Path, str] = {}
    found: dict[str, Kinds] = {}
    for key in samples:
        sample = corpus.read(key)
        if sample.pdf is None:
            continue
        try:
            if sample.pdf not in makers:
                makers[sample.pdf] = made_with(sample.pdf)
            found[key] = page_kinds(sample.pdf, sample.page_number, makers[sample.pdf])
        except PdfError:
            found[key] = dict.fromkeys(TRAITS, UNREADABLE)
    return found


@dataclass(frozen=True)
class KindStanding:
    """Who is best on the pages of one kind."""

    trait: str
    value: str
    n_pages: int
    n_labels: int
    parser: str
    score: float
    """Of that parser on these pages: the mean of the labels, or a guess where there are too few."""
    best_score: float
    """Of the best parser over all pages, here."""


def best_by_kind(
    kinds: Mapping[str, Kinds],
    samples: Sequence[str],
    parsers: Sequence[str],
    best: str,
    scores: Floats,
    guesses: Floats,
) -> tuple[KindStanding, ...]:
    """For each kind that some pages are of and others are not, its best parser.

    Args:
        kinds: Of the pages.
        samples: The pages.
        parsers: Their names.
        best: The best one over all pages.
        scores: (parsers, pages), NaN where nothing is known.
        guesses: (parsers, pages).
    """
    found = []
    for trait, name in TRAITS.items():
        values = np.array([kinds.get(sample, {}).get(trait, "") for sample in samples])
        for value in sorted(set(values.tolist()) - {""}):
            own = values == value
            if not MIN_KIND <= own.sum() < len(samples):
                continue
            labelled = own & ~np.isnan(scores).any(axis=0)
            known = labelled.sum() >= MIN_KIND
            means = scores[:, labelled].mean(axis=1) if known else guesses[:, own].mean(axis=1)
            first, overall = int(means.argmax()), parsers.index(best)
            if means[first] <= means[overall]:
                first = overall
            found.append(
                KindStanding(
                    name, value, int(own.sum()), int(labelled.sum()) if known else 0, parsers[first],
                    float(means[first]), float(means[overall]),
                )
            )  # fmt: skip
    return tuple(found)


def unread_scans(kinds: Mapping[str, Kinds], predictions: Mapping[tuple[str, str], Prediction]) -> str | None:
    """A warning if there are pages without a text layer and no parser says anything on them."""
    scans = {sample for sample, own in kinds.items() if own.get("layer") == NO_LAYER}
    own = (p for (sample, _), p in predictions.items() if sample in scans)
    if not scans or any(p.elements or _says_anything(p.text or "") for p in own):
        return None
    return (
        f"{counted(len(scans), 'page')} without a text layer (scans), and no parser returned anything there: "
        "add one that reads pictures, such as --parser tesseract or --parser rapid (`parsemark parsers`)."
    )


def _says_anything(text: str) -> bool:
    """Whether an output has words: a fence or a picture alone has none."""
    try:
        return any(e.text or e.latex or e.table for e in read_output(text, "markdown").elements)
    except FormatError:
        return True


def page_kinds(pdf: Path, page_number: int, maker: str) -> Kinds:
    """The value of each trait on one page."""
    ink, text = page_ink(pdf, page_number), page_text(pdf, page_number)
    return {**ink_kinds(ink), **text_kinds(text), "maker": maker}


def text_kinds(text: str) -> Kinds:
    """What the words of a page say.

    >>> text_kinds("Die Kosten und der Ertrag sind mit den Zahlen von 2019 nicht zu vergleichen")["language"]
    'German'
    """
    dense = [c for c in text if not c.isspace()]
    if len(dense) < MIN_LAYER:
        empty = {"density": "sparse", "language": "none", "formulas": "none", "numbers": "few"}
        return {"layer": NO_LAYER, **empty}
    categories = Counter(unicodedata.category(c) for c in dense)
    bad = sum(categories[k] for k in ("Co", "Cn", "Cc", "Cs")) + dense.count("\ufffd")
    words = text.split()
    numeric = sum(any(c.isdigit() for c in word) for word in words) / len(words)
    signs = sum(c in "∑∫√∞≤≥≈∂∇∈±×" or "\U0001d400" <= c <= "\U0001d7ff" or "α" <= c <= "ω" for c in dense)
    greek = sum("α" <= c <= "ω" for c in dense) > len(dense) / 4
    return {
        "layer": DOUBTFUL if bad > _BAD_SHARE * len(dense) else TRUSTED,
        "density": "sparse" if len(dense) < _SPARSE else "dense" if len(dense) > _DENSE else "medium",
        "language": _language(words, dense),
        "formulas": "some" if signs > 0.005 * len(dense) and not greek else "none",
        "numbers": "few" if numeric < 0.15 else "many" if numeric > 0.4 else "some",
    }


def _language(words: Sequence[str], dense: Sequence[str]) -> str:
    scripts = Counter(unicodedata.name(c, "?").split()[0].title() for c in dense[:2000] if c.isalpha())
    if not scripts:
        return "none"
    script = scripts.most_common(1)[0][0]
    if script != "Latin":
        return "Chinese" if script == "Cjk" else script
    counts = Counter(re.sub(r"\W", "", word.casefold()) for word in words)
    hits = {name: sum(counts[w] for w in stops) for name, stops in _LANGUAGES.items()}
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] >= max(3, 0.03 * len(words)) else "unclear"


def ink_kinds(ink: PageInk) -> Kinds:
    """What the shapes of a page say."""
    thin = [b for b in ink.boxes if min(b.width, b.height) <= _LINE_PT < max(b.width, b.height) / 8]
    lying = [b for b in thin if b.width > b.height]
    upright = len(thin) - len(lying)
    ruled = "grid" if len(lying) >= 3 and upright >= 3 else "lines" if len(thin) >= _RULED else "none"
    return {
        "turned": _direction(ink),
        "shape": "landscape" if ink.width > ink.height else "portrait",
        "columns": _columns(ink),
        "lines": ruled,
    }


def _direction(ink: PageInk) -> str:
    """Whether glyphs follow each other down the page instead of across it."""
    across = down = 0
    for one, other in zip(ink.glyphs, ink.glyphs[1:], strict=False):
        (x, y), (u, v) = one.box.centre, other.box.centre
        near = 2 * max(one.box.width, one.box.height, 4.0)
        if abs(u - x) + abs(v - y) <= near:
            across, down = across + (abs(u - x) >= abs(v - y)), down + (abs(u - x) < abs(v - y))
    return "turned" if down > across else "upright"


def _columns(ink: PageInk) -> str:
    """How many columns of text: white gutters that few lines of the page cross, with text on both sides."""
    boxes: list[Box] = [g.box for g in ink.glyphs]
    if len(boxes) < 200:
        return "1"
    width = max(int(ink.width), 1)
    bands: dict[int, set[int]] = {}
    for box in boxes:
        columns = bands.setdefault(int(box.y0 // 12), set())
        columns.update(range(max(int(box.x0), 0), min(int(box.x1) + 1, width)))
    crossed = np.zeros(width)
    for columns in bands.values():
        crossed[sorted(columns)] += 1
    middle = crossed[int(0.2 * width) : int(0.8 * width)] <= 0.1 * len(bands)
    runs = [len(run) for run in "".join("w" if white else "t" for white in middle).split("t")]
    gutters = sum(run >= _GUTTER_PT for run in runs)
    # Tables are white between their columns too: text that runs on fills its lines.
    filled = np.mean([len(columns) for columns in bands.values()]) / width
    return str(min(gutters + 1, 3)) if gutters and filled > 0.35 else "1"
