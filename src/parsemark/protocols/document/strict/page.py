"""One page: what is on either side, and what answers what."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, groupby

from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError
from parsemark.formats import read_output
from parsemark.formats.latex.formula import read_formula
from parsemark.formats.notation import fold_notation
from parsemark.matching.blocks import BlockMatch, match_blocks
from parsemark.matching.ngrams import ContentMatching, match_by_ngrams
from parsemark.model import Category, Element, Page, Prediction, Status
from parsemark.protocols.document.omnidocbench.scan import ENVELOPES, is_enclosed

NEUTRAL = frozenset({Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER, Category.ABANDON})
"""What a parser may give or leave out: it is matched so that it is no extra, and then not counted."""
SILENT = frozenset({Category.FIGURE})  # what has no content to compare
MAX_MARKDOWN = 4_000_000  # characters of a page that are read; above it the page is a failure with its reason
_BRACED_SCRIPT = re.compile(r"([\^_])\{([^{}]*)\}")
_MAX_SCRIPT_DEPTH = 4


@dataclass(frozen=True, slots=True)
class PageBlock:
    """An element that is read: a text, or a formula."""

    element: Element
    text: str  # as it is compared: one notation, no white space
    is_formula: bool
    is_neutral: bool


@dataclass(slots=True)
class PageSide:
    """The truth or the prediction of a page."""

    blocks: list[PageBlock] = field(default_factory=list)
    """In reading order; what is outside of it comes last."""
    tables: list[Element] = field(default_factory=list)
    ignored_tables: list[Element] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Share:
    """Truths of one kind and what answers them: a match, or a part of one that goes over several kinds."""

    truths: tuple[PageBlock, ...]
    preds: tuple[PageBlock, ...]
    said: str  # what the predictions say to these truths, as it is compared
    is_whole: bool = True  # whether it is all of its match

    @property
    def text(self) -> str:
        """Return the text of the truths in the form that is compared."""
        return "".join(t.text for t in self.truths)

    @property
    def is_formula(self) -> bool:
        """Return whether it counts among the formulas: what answers a text is text, and the other way
        round.
        """
        return (self.truths or self.preds)[0].is_formula

    @property
    def is_uncounted(self) -> bool:
        """Return whether the truths are matched only so that what answers them is no extra."""
        return bool(self.truths) and self.truths[0].is_neutral

    @property
    def ids(self) -> tuple[list[str], list[str]]:
        """Return the ids of both sides."""
        return [t.element.id for t in self.truths], [p.element.id for p in self.preds]


@dataclass(slots=True)
class PageMatches:
    """A page with its matches."""

    truth: PageSide
    pred: PageSide
    blocks: tuple[BlockMatch, ...]
    tables: ContentMatching
    is_complete: bool
    uncovered: frozenset[str]  # kinds of which the page may have more than its truth has

    @property
    def covers_text(self) -> bool:
        """Return whether all of the text is known."""
        return Category.TEXT_BLOCK not in self.uncovered

    def counts(self, match: BlockMatch) -> bool:
        """Return whether a match is scored: what answers nothing may be what the truth does not have."""
        if match.truths:
            return True
        is_formula = self.pred.blocks[match.preds[0]].is_formula
        return self.covers_text and not (is_formula and Category.EQUATION_ISOLATED in self.uncovered)

    def shares(self, match: BlockMatch) -> list[Share]:
        """Return a match as it is scored: where one block answers texts and formulas, each kind has its part
        of it.

        The parts are cut where a cheapest alignment of both texts passes the borders between the kinds, so
        the edits of all shares add up to those of the match.
        """
        truths = tuple(self.truth.blocks[t] for t in match.truths)
        preds = tuple(self.pred.blocks[p] for p in match.preds)
        said = "".join(p.text for p in preds)
        if truths and not self.covers_text:
            said = without_surroundings("".join(t.text for t in truths), said)
        runs = [tuple(run) for _, run in groupby(truths, key=lambda t: (t.is_neutral, t.is_formula))]
        if len(runs) < 2:
            return [Share(truths, preds, said)]
        texts = ["".join(t.text for t in run) for run in runs]
        # What is inserted between a formula and a text, as the formula's number is, is text. Of equally
        # cheap alignments those found from either end differ most; the one that fits the formulas is taken.
        to_right = [run[0].is_formula for run in runs[:-1]]
        ends = (cut_at_borders(texts, said, to_right), _cut_from_behind(texts, said, to_right))
        formulas = [k for k, run in enumerate(runs) if run[0].is_formula]
        parts = min(ends, key=lambda cut: sum(Levenshtein.distance(texts[k], cut[k]) for k in formulas))
        return [Share(run, preds, part, is_whole=False) for run, part in zip(runs, parts, strict=True)]


def cut_at_borders(texts: Sequence[str], whole: str, to_right: Sequence[bool]) -> list[str]:
    """Return the parts of a string that answer each of several texts, by a cheapest alignment with all of
    them.

    `to_right` says of each border between two texts whether what is inserted there belongs to the second.

    >>> cut_at_borders(["E=mc2", "where m is"], "E=mc2(1)where n is", [True])
    ['E=mc2', '(1)where n is']
    """
    steps = [(op.tag, op.src_pos) for op in Levenshtein.editops("".join(texts), whole)]
    cuts, k, shift = [0], 0, 0
    for border, right in zip(list(accumulate(map(len, texts)))[:-1], to_right, strict=True):
        while k < len(steps) and (steps[k][1] < border or (steps[k] == ("insert", border) and not right)):
            shift += {"insert": 1, "delete": -1, "replace": 0}[steps[k][0]]
            k += 1
        cuts.append(border + shift)
    return [whole[a:b] for a, b in zip(cuts, [*cuts[1:], len(whole)], strict=True)]


def without_surroundings(text: str, said: str) -> str:
    """Return the part of an output that answers a text: without what stands before and after it.

    >>> without_surroundings("the middle", "before; the middle. after")
    'the middle'
    """
    from rapidfuzz.fuzz import partial_ratio_alignment

    steps = [op.src_pos for op in Levenshtein.editops(text, said) if op.tag == "insert"]
    parts = [said[steps.count(0) : len(said) - steps.count(len(text))]]
    if len(said) > len(text) and (found := partial_ratio_alignment(text, said)) is not None:
        parts.append(said[found.dest_start : found.dest_end])
    return min(parts, key=lambda part: Levenshtein.distance(text, part))


def _cut_from_behind(texts: Sequence[str], whole: str, to_right: Sequence[bool]) -> list[str]:
    turned = [text[::-1] for text in reversed(texts)]
    parts = cut_at_borders(turned, whole[::-1], [not right for right in reversed(to_right)])
    return [part[::-1] for part in reversed(parts)]


@lru_cache(maxsize=8192)
def in_one_notation(text: str) -> str:
    """Return a text in one notation without white space; Unicode's compatibility forms are folded.

    Whether a script has braces depends on how it was written and on what follows, so none has: `x²y`,
    `$x^2$y` and `x<sup>2</sup> y` are the same.
    """
    folded = unicodedata.normalize("NFKC", fold_notation(text))
    for _ in range(_MAX_SCRIPT_DEPTH):
        folded = _BRACED_SCRIPT.sub(r"\1\2", folded)
    return "".join(folded.split())


@lru_cache(maxsize=8192)
def formula_symbols(latex: str) -> tuple[str, ...]:
    """Return the symbols that a formula shows; for an unreadable one, its characters."""
    try:
        return tuple(read_formula(latex))
    except FormatError:
        return tuple("".join(latex.split()))


_BULLETS = re.compile(r"[•◦‣⁃▪▫●○■□►▸➢➤❖]\s*")
_DASH = re.compile(r"\s*([-–—*·∙+])\s")
"""How an item of a list in plain text begins; a text that does not begin so is none."""


def without_bullets(text: str) -> str:
    r"""Return a text without the marks of its list items: Markdown has them as its own, so a reader gives
    none.

    >>> without_bullets("– one\n– two-fold"), without_bullets("• one • two"), without_bullets("one\n- two")
    ('one\ntwo-fold', 'one two', 'one\n- two')
    """
    bare = _BULLETS.sub("", text)
    if dash := _DASH.match(bare):  # readers of HTML join lines, so an item may begin anywhere
        bare = re.sub(rf"(?:^|(?<=\s)){re.escape(dash[1])}\s+", "", bare.lstrip())
    return bare or text


def _block(element: Element) -> PageBlock | None:
    is_formula = element.category == Category.EQUATION_ISOLATED
    source = element.latex or element.text or "" if is_formula else without_bullets(element.text or "")
    if not source.strip():
        return None
    bare = source.strip()
    for left, right in ENVELOPES if is_formula else ():
        if is_enclosed(bare, left, right):
            bare = bare[len(left) : -len(right)].strip()
    text = in_one_notation(f"${bare}$" if is_formula else source) or "".join(source.split())
    return PageBlock(element, text, is_formula, element.category in NEUTRAL or element.ignore)


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


def _truth_side(page: Page) -> PageSide:
    """Return the elements of a truth; parts of a paragraph that a column or page break cut are one."""
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
    return _side(merged)


def _pred_side(prediction: Prediction) -> PageSide:
    """Return the elements of an output: as its text reads, or as the parser gives them."""
    if prediction.text is None:
        return _side(prediction.elements)
    if len(prediction.text) > MAX_MARKDOWN:
        raise FormatError(
            f"The page has {len(prediction.text):,} characters; at most {MAX_MARKDOWN:,} are read."
        )
    return _side(read_output(prediction.text, prediction.format).elements)


def match_page(page: Page, prediction: Prediction) -> tuple[PageMatches, Status, str | None]:
    """Put everything of both sides into exactly one match; say whether there was an output, and why not.

    An output that failed, or that cannot be read, is an empty one.
    """
    truth, pred, status, why = _truth_side(page), PageSide(), prediction.status, prediction.message
    if status is Status.OK:
        try:
            pred = _pred_side(prediction)
        except FormatError as error:
            status, why = Status.METRIC_FAILED, str(error)
    n_ordered = sum(b.element.order is not None and b.element.category not in NEUTRAL for b in truth.blocks)
    matching = match_blocks([b.text for b in truth.blocks], [b.text for b in pred.blocks], n_ordered)
    tables = match_by_ngrams([*truth.tables, *truth.ignored_tables], pred.tables)
    uncovered = frozenset(category for category in Category if not page.covers(category))
    uncovered |= frozenset() if page.knows_tables else {Category.TABLE}
    matches = PageMatches(truth, pred, matching.matches, tables, matching.is_complete, uncovered)
    return matches, status, why
