"""Pages, their elements, what a parser made of them, which of it answers what, and what that is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from parsemark.model.geometry import Box
from parsemark.model.table import Table
from parsemark.notebook import html_lines, page_svg


class Status(StrEnum):
    """Why a score, or a prediction, is as it is. Nothing is dropped: each of these is in a denominator."""

    OK = "ok"
    NO_TRUTH = "no_truth"
    NO_PREDICTION = "no_prediction"
    PARSER_FAILED = "parser_failed"
    PARSER_TIMEOUT = "parser_timeout"
    METRIC_FAILED = "metric_failed"


@dataclass(frozen=True, slots=True)
class Score:
    """The value of one metric for one pair."""

    metric: str
    value: float | None
    status: Status = Status.OK
    message: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What produced the value, where the metric explains itself; plain JSON data."""


@dataclass(frozen=True, slots=True)
class Match:
    """Truth elements answered by predicted ones.

    One truth and one prediction: a plain pair. Several predictions: a split. Several truths: a merge.
    No prediction: a miss. No truth: an extra.
    """

    truth: tuple[str, ...]
    pred: tuple[str, ...]
    overlap: float | None = None
    """The similarity that decided the match (IoU, content-Jaccard, n-gram F1); None without a pair."""

    @property
    def kind(self) -> str:
        """Return `pair`, `split`, `merge`, `many`, `miss` or `extra`."""
        if not self.pred:
            return "miss"
        if not self.truth:
            return "extra"
        if len(self.truth) == 1:
            return "pair" if len(self.pred) == 1 else "split"
        return "merge" if len(self.pred) == 1 else "many"


@dataclass(frozen=True, slots=True)
class Matching:
    """All matches of one page under one rule, without quality. Every truth and prediction occurs in one."""

    rule: str
    """`bbox`, `content` or `ngrams`."""
    matches: tuple[Match, ...]

    @property
    def pairs(self) -> tuple[Match, ...]:
        """Return the matches that have both sides."""
        return tuple(m for m in self.matches if m.truth and m.pred)


AttributeValue = str | bool | int | float | None
TRUTH_ERROR = "truth_error"
"""Attribute of an element whose truth cannot be read: why."""
BOOKKEEPING = frozenset({"start", "end", "within", TRUTH_ERROR})
"""Attributes that say where in its file an element stands, or what is wrong with it, not what it is like."""


class Category(StrEnum):
    """What an element is (OmniDocBench's vocabulary, extended by `list_group`)."""

    TITLE = "title"
    TEXT_BLOCK = "text_block"
    LIST_GROUP = "list_group"
    FIGURE = "figure"
    FIGURE_CAPTION = "figure_caption"
    FIGURE_FOOTNOTE = "figure_footnote"
    TABLE = "table"
    TABLE_CAPTION = "table_caption"
    TABLE_FOOTNOTE = "table_footnote"
    EQUATION_ISOLATED = "equation_isolated"
    EQUATION_CAPTION = "equation_caption"
    HEADER = "header"
    FOOTER = "footer"
    PAGE_NUMBER = "page_number"
    PAGE_FOOTNOTE = "page_footnote"
    CODE_TXT = "code_txt"
    CODE_TXT_CAPTION = "code_txt_caption"
    CODE_ALGORITHM = "code_algorithm"
    CODE_ALGORITHM_CAPTION = "code_algorithm_caption"
    REFERENCE = "reference"
    ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class Element:
    """A piece of a page: of its truth, or of a prediction. What is not known is None, never invented."""

    id: str
    category: str
    box: Box | None = None
    order: int | None = None
    """Position in reading order; None where the element is outside of it (a running head)."""
    text: str | None = None
    latex: str | None = None
    """LaTeX source: of a formula, or of a table where the truth has it."""
    html: str | None = None
    """HTML as it was given, for metrics that look at the markup itself."""
    table: Table | None = None
    confidence: float | None = None
    ignore: bool = False
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    derivation: str | None = None
    """How its truth was found: `structure tree`, `outline`, `source docx`, `typed by a person`, …"""

    @property
    def traits(self) -> dict[str, AttributeValue]:
        """Return the attributes by which elements can be told apart."""
        return {name: value for name, value in self.attributes.items() if name not in BOOKKEEPING}

    @property
    def is_unread(self) -> bool:
        """Return whether it is a table of which at most the place is known: there is nothing to compare it
        with.
        """
        return self.category == Category.TABLE and (
            TRUTH_ERROR in self.attributes or not (self.html if self.table is None else self.table.cells)
        )


@dataclass(frozen=True, slots=True)
class Relation:
    """A tie between two elements (`truncated`, `parent_son`, `continued`)."""

    kind: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that holds of a page, and that an output tells or does not: a text, a cell, an order."""

    id: str
    """Unique on its page."""
    kind: str
    """What is asked, in the words of its rules: `present`, `order`, `table`, `math`, …"""
    rules: str
    """Whose rules decide it: `answers`, `olmocr-bench`, … A kind means nothing without them."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the rules need to decide, plain JSON data."""
    page: int = 1
    """Page of its document, counted from 1."""
    derivation: str = "unknown"
    """How its truth was found: `publisher_markup`, `text_layer`, `generated`, `human_review`, …"""
    group: str = ""
    """The part of its benchmark that it counts in, where means are taken over such parts."""
    tags: tuple[str, ...] = ()
    """What its content is like; they select facts and decide nothing."""
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its truth."""

    id: str
    width: float
    height: float
    elements: tuple[Element, ...] = ()
    relations: tuple[Relation, ...] = ()
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    annotation: Mapping[str, Any] | None = None
    """The page as its corpus annotates it, plain JSON data, for protocols that repeat another program's
    numbers from it: spellings, spans and marks that the elements above have not."""
    only_tables: bool = False
    """Whether the truth speaks of tables alone, so that what else is on the page is not known."""
    facts: tuple[Fact, ...] = ()
    only_facts: bool = False
    """Whether the truth is its facts alone, so that no element of the page is known."""
    covered: frozenset[str] | None = None
    """The categories of which the truth has every element; None for all. An element of another one that is
    here is to be found, but the page may have more of them, so none that a parser gives is invented."""

    @property
    def tables(self) -> tuple[Element, ...]:
        """Return the elements that are tables and are not to be ignored."""
        return tuple(e for e in self.elements if e.category == Category.TABLE and not e.ignore)

    def covers(self, category: str) -> bool:
        """Return whether every element of a category is known, so that one which is not here is not on the
        page.
        """
        if self.only_facts or (self.only_tables and category != Category.TABLE):
            return False
        return self.covered is None or category in self.covered

    @property
    def knows_tables(self) -> bool:
        """Return whether the content of all tables is known, so that what says none of it is no table of
        it.
        """
        return self.covers(Category.TABLE) and not any(table.is_unread for table in self.tables)

    @property
    def n_tables(self) -> int | None:
        """Return how many tables there are to be found; None where the truth says nothing of tables."""
        return len(self.tables) if self.tables or self.covers(Category.TABLE) else None

    def _repr_html_(self) -> str:
        """Show the page with the boxes of its elements in a notebook."""
        boxes = [
            (e.category, e.text or "" if e.table is None else _size_of(e.table), e.box.as_tuple())
            for e in self.elements
            if e.box is not None
        ]
        hidden = len(self.elements) - len(boxes)
        notes = [f"{self.id}: elements without a box: {hidden}"] if hidden else [self.id]
        return page_svg(self.width, self.height, boxes) + html_lines(notes)


def _size_of(table: Table) -> str:
    return f"{table.n_rows} × {table.n_cols}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One page of a corpus: where it lies, and its truth."""

    id: str
    """Unique in its corpus, made of letters, digits, `.`, `_` and `-` alone."""
    document: str
    """Samples of one document are not independent; statistics cluster by it."""
    page_number: int
    """Page in `pdf`, counted from 1."""
    truth: Page | None
    """None for documents without truth."""
    pdf: Path | None = None
    image: Path | None = None
    aliases: tuple[str, ...] = ()
    """Other names that outputs of this page may have, in the order in which they are looked for."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one parser made of one sample."""

    sample: str
    parser: str
    status: Status = Status.OK
    elements: tuple[Element, ...] = ()
    text: str | None = None
    """The whole output as text or Markdown, where the parser gives that."""
    message: str | None = None
    """What went wrong, where something did."""
    format: str = "markdown"
    """What the text is written in, as the parser says: `markdown`, `html`, `latex` or `text`."""
    pages: tuple[str, ...] = ()
    """The samples that it is of, where it is of a whole document."""

    @property
    def tables(self) -> tuple[Element, ...]:
        """Return the elements that are tables."""
        return tuple(e for e in self.elements if e.category == Category.TABLE)
