"""One page: what is on either side, and what answers what."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from parsemark.errors import FormatError
from parsemark.formats import read_document, write_table
from parsemark.formats.latex.formula import read_formula
from parsemark.formats.notation import fold_notation
from parsemark.matching.blocks import BlockMatch, match_blocks
from parsemark.matching.ngrams import ContentMatching, match_by_ngrams
from parsemark.model import Category, Element, Page, Prediction

NEUTRAL = frozenset({Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER, Category.ABANDON})
"""What a parser may give or leave out: it is matched so that it is no extra, and then not counted."""
SILENT = frozenset({Category.FIGURE})
"""What has no content to compare."""
MAX_MARKDOWN = 4_000_000
"""Characters of a page that are read; above it the page is a failure with its reason."""
_BRACED_SCRIPT = re.compile(r"([\^_])\{([^{}]*)\}")
_MAX_SCRIPT_DEPTH = 4


@dataclass(frozen=True, slots=True)
class PageBlock:
    """An element that is read: a text, or a formula."""

    element: Element
    text: str
    """As it is compared: one notation, no white space."""
    is_formula: bool
    is_neutral: bool


@dataclass(slots=True)
class PageSide:
    """The truth or the prediction of a page."""

    blocks: list[PageBlock] = field(default_factory=list)
    """In reading order; what is outside of it comes last."""
    tables: list[Element] = field(default_factory=list)
    ignored_tables: list[Element] = field(default_factory=list)


@dataclass(slots=True)
class PageMatches:
    """A page with its matches."""

    truth: PageSide
    pred: PageSide
    blocks: tuple[BlockMatch, ...]
    tables: ContentMatching
    is_complete: bool


@lru_cache(maxsize=8192)
def in_one_notation(text: str) -> str:
    """A text in one notation without white space; Unicode's compatibility forms are folded.

    Whether a script has braces depends on how it was written and on what follows, so none has: `x²y`,
    `$x^2$y` and `x<sup>2</sup> y` are the same.
    """
    folded = unicodedata.normalize("NFKC", fold_notation(text))
    for _ in range(_MAX_SCRIPT_DEPTH):
        bare = _BRACED_SCRIPT.sub(r"\1\2", folded)
        if bare == folded:
            break
        folded = bare
    return "".join(folded.split())


@lru_cache(maxsize=8192)
def formula_symbols(latex: str) -> tuple[str, ...]:
    """What a formula shows; what cannot be read is its characters."""
    try:
        return tuple(read_formula(latex))
    except FormatError:
        return tuple("".join(latex.split()))


def _block(element: Element) -> PageBlock | None:
    is_formula = element.category == Category.EQUATION_ISOLATED
    source = element.latex or element.text or "" if is_formula else element.text or ""
    text = in_one_notation(f"${_undelimited(source)}$") if is_formula and source else in_one_notation(source)
    neutral = element.category in NEUTRAL or element.ignore
    return (
        PageBlock(element, text or "".join(source.split()), is_formula, neutral) if source.strip() else None
    )


def _undelimited(latex: str) -> str:
    text = latex.strip()
    for left, right in (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$")):
        if len(text) >= len(left) + len(right) and text.startswith(left) and text.endswith(right):
            text = text[len(left) : -len(right)].strip()
    return text


def _side(elements: Iterable[Element]) -> PageSide:
    side = PageSide()
    ordered = sorted(elements, key=lambda e: (e.order is None or e.category in NEUTRAL, e.order or 0))
    for element in ordered:
        if element.category in SILENT:
            continue
        if element.category == Category.TABLE and element.table is not None:
            (side.ignored_tables if element.ignore else side.tables).append(element)
        elif (block := _block(element)) is not None:
            side.blocks.append(block)
    return side


def truth_side(page: Page) -> PageSide:
    """The elements of a truth; parts of a paragraph that a column or page break cut are one."""
    return _side(_joined(page))


def _joined(page: Page) -> list[Element]:
    from dataclasses import replace

    owner: dict[str, str] = {}
    by_id = {e.id: e for e in page.elements}
    for relation in page.relations:
        if relation.kind != "truncated" or relation.source not in by_id or relation.target not in by_id:
            continue
        a, b = owner.get(relation.source, relation.source), owner.get(relation.target, relation.target)
        owner |= {member: a for member in (*owner, b, relation.target) if owner.get(member, member) in (a, b)}
    groups: dict[str, list[Element]] = {}
    for element in page.elements:
        groups.setdefault(owner.get(element.id, element.id), []).append(element)
    merged = []
    for members in groups.values():
        ordered = sorted(members, key=lambda e: (e.order is None, e.order or 0))
        text = "".join(e.text or "" for e in ordered)
        merged.append(ordered[0] if len(ordered) == 1 else replace(ordered[0], text=text))
    return merged


def pred_side(prediction: Prediction) -> PageSide:
    """The elements of an output: as its text reads, or as the parser gives them.

    Raises:
        FormatError: The text is over a limit.
    """
    if prediction.text is None:
        return _side(prediction.elements)
    if len(prediction.text) > MAX_MARKDOWN:
        raise FormatError(
            f"The page has {len(prediction.text):,} characters; at most {MAX_MARKDOWN:,} are read."
        )
    return _side(read_document(prediction.text, "markdown").elements)


def match_page(truth: PageSide, pred: PageSide) -> PageMatches:
    """Everything of both sides in exactly one match."""
    n_ordered = sum(b.element.order is not None and b.element.category not in NEUTRAL for b in truth.blocks)
    matching = match_blocks([b.text for b in truth.blocks], [b.text for b in pred.blocks], n_ordered)
    tables = match_by_ngrams([*truth.tables, *truth.ignored_tables], pred.tables)
    return PageMatches(truth, pred, matching.matches, tables, matching.is_complete)


def table_html(element: Element) -> str:
    """A table as HTML."""
    return write_table(element.table, "html") if element.table is not None else element.html or ""
