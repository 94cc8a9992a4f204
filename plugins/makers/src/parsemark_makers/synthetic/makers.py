"""Makers of synthetic pages: planned pages of LaTeX, and documents of any renderer."""

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from parsemark.corpora.making import option
from parsemark.errors import UsageError
from parsemark_makers.synthetic.document import DocumentDraft
from parsemark_makers.synthetic.document_kinds import DOCUMENT_KINDS, DocumentDrawer, document_kinds
from parsemark_makers.synthetic.language import LANGUAGES
from parsemark_makers.synthetic.looks import LINE_STYLES
from parsemark_makers.synthetic.make import DocumentMaker
from parsemark_makers.synthetic.plan import DocumentPlan, PagePlan, PlannedDrawer, stream

MOST_TABLES = 8


@dataclass(frozen=True, kw_only=True)
class Synthetic(DocumentMaker):
    """Pages set by LaTeX, with chosen shares of empty, two-column, rotated and long pages."""

    renderer: ClassVar[str] = "latex"
    draws: ClassVar[int] = 8
    """Of a document as planned; a replacement has as many again, and as many of a simpler plan."""
    attempts: ClassVar[int] = 3 * draws

    empty: float = option("Share of pages without tables.", 0.3)
    double_column: float = option("Share of documents with two columns.", 0.35)
    french: float = option("Share of documents in French; the others are English.", 0.25)
    rotated: float = option("Share of table pages whose table is turned by ±90°.", 0.1)
    long: float = option("Share of pages that belong to a table over several pages.", 0.08)
    document_pages: int = option("Maximum number of pages per document, not counting long tables.", 4)
    tables_per_page: float | None = option(
        "Mean number of tables on pages that have any (default: one to three).", None
    )
    lines: tuple[str, ...] = option(
        "Weights of the line styles.", ("full:0.25", "booktabs:0.4", "partial:0.2", "none:0.15")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.document_pages < 1:
            raise UsageError(f"A document needs at least one page, not {self.document_pages}.")
        for key in ("empty", "double_column", "french", "rotated", "long"):
            if not 0 <= getattr(self, key) <= 1:
                raise UsageError(f"The share {key} must be from 0 to 1, not {getattr(self, key)}.")
        if self.tables_per_page is not None and not 1 <= self.tables_per_page <= MOST_TABLES:
            raise UsageError(f"tables_per_page must be from 1 to {MOST_TABLES}, not {self.tables_per_page}.")
        weights = self.line_weights
        if set(weights) - set(LINE_STYLES) or sum(weights.values()) <= 0 or min(weights.values()) < 0:
            raise UsageError(f"Weights of the line styles {', '.join(LINE_STYLES)} cannot be {weights}.")

    @cached_property
    def line_weights(self) -> dict[str, float]:
        """Return the weight of each style of lines."""
        weights = {}
        for part in self.lines:
            style, _, value = str(part).partition(":")
            try:
                weights[style.strip()] = float(value)
            except ValueError as error:
                raise UsageError(f"Cannot read {part!r}: write line styles as full:0.5+none:0.5.") from error
        return weights

    def settings(self) -> dict[str, Any]:
        """Return the options, with the weights of line styles as numbers."""
        return {**super().settings(), "lines": self.line_weights}

    @cached_property
    def plans(self) -> list[DocumentPlan]:
        """Return the requirements of each document: one to `document_pages` pages, and `pages` together."""
        rng = stream(self.name, self.seed, "plan")
        long_lengths = self._long_lengths(rng)
        normal = self._normal_pages(rng, self.pages - sum(long_lengths))
        kinds: list[tuple[tuple[PagePlan, ...], bool]] = []
        while normal:
            length = min(rng.choice([1, 2, 2, 3, 4]), self.document_pages)
            kinds.append((tuple(normal[:length]), False))
            normal = normal[length:]
        kinds += [((PagePlan(1),) * length, True) for length in long_lengths]
        rng.shuffle(kinds)
        french, double = _spread(rng, len(kinds), self.french), _spread(rng, len(kinds), self.double_column)
        plans = []
        for index, (pages, long) in enumerate(kinds):
            columns, language = (
                2 if double[index] and not long else 1,
                "french" if french[index] else "english",
            )
            plans.append(DocumentPlan(f"{self.name}-{index + 1:04d}", pages, columns, language, long))
        return plans

    def _long_lengths(self, rng: random.Random) -> list[int]:
        left = round(self.long * self.pages)
        lengths = []
        while left >= 2:
            length = min(left, rng.choice([2, 2, 3]))
            length = length if left - length != 1 else left if left <= 3 else 2
            lengths.append(length)
            left -= length
        return lengths

    def _normal_pages(self, rng: random.Random, count: int) -> list[PagePlan]:
        """Return pages with one to three tables, or so many that their mean is as asked; empty and turned
        ones.
        """
        empty = min(count, round(self.empty * self.pages))
        rotated = min(count - empty, round(self.rotated * (self.pages - empty)))
        pages = [PagePlan(0)] * empty + [PagePlan(1, rotated=True)] * rotated
        left = count - len(pages)
        if self.tables_per_page is None:
            pages += [PagePlan(rng.choice([1, 1, 2, 2, 3])) for _ in range(left)]
        elif left:
            most, more = divmod(round(self.tables_per_page * left), left)
            pages += [PagePlan(most + (index < more)) for index in range(left)]
        rng.shuffle(pages)
        return pages

    @property
    def n_documents(self) -> int:
        """Return the number of planned documents."""
        return len(self.plans)

    def draft(self, index: int, attempt: int) -> DocumentDraft:
        """Return document `index`; what could not be set is drawn again, at last with fewer and upright
        tables.
        """
        planned = self.plans[index]
        planned = planned.simpler() if attempt >= 2 * self.draws else planned
        return PlannedDrawer(planned, self.line_weights, self.name, self.seed, planned.name, attempt).draw()

    def replacement(self, attempt: int) -> str:
        """Return what a document of this attempt is, if it is not what was planned."""
        if attempt < self.draws:
            return ""
        return "by a simpler document" if attempt >= 2 * self.draws else "by another of the same plan"


@dataclass(frozen=True, kw_only=True)
class Documents(DocumentMaker):
    """Documents of some kinds and languages."""

    attempts: ClassVar[int] = 6
    family: ClassVar[str] = "flow"  # of looks

    languages: tuple[str, ...] = option(f"Languages, in turn: {', '.join(LANGUAGES)}.", ("english", "french"))
    kinds: tuple[str, ...] = option(
        "Kinds of documents; a language takes part in those that it has words for.", tuple(DOCUMENT_KINDS)
    )
    document_pages: float = option("Approximate length of reports, in pages.", 1.5)
    long: float = option("Share of reports with a table over several pages.", 0.1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for chosen, known, what in (
            (self.languages, LANGUAGES, "language"),
            (self.kinds, tuple(DOCUMENT_KINDS), "kind of document"),
        ):
            if unknown := [value for value in chosen if value not in known]:
                raise UsageError(f"Unknown {what} {unknown[0]!r}; choose among {', '.join(known)}.")
        if not self._choices:
            raise UsageError("None of these languages has a vocabulary for these document types.")

    def settings(self) -> dict[str, Any]:
        """Return the options, and the renderer."""
        return {"renderer": self.renderer, **super().settings()}

    @property
    def n_documents(self) -> None:
        """Return the number of documents that have the pages."""

    @property
    def _choices(self) -> list[tuple[str, str]]:
        return [(own, kind) for own in self.languages for kind in document_kinds(own) if kind in self.kinds]

    def draft(self, index: int, attempt: int) -> DocumentDraft:
        """Return document `index`: languages and kinds in turn, the rest drawn."""
        turn, place = divmod(index, len(self.languages))
        choices = [choice for choice in self._choices if choice[0] == self.languages[place]]
        turn, choices = (turn, choices) if choices else (index, self._choices)
        language, kind = choices[turn % len(choices)]
        rng = stream(self.name, self.renderer, self.seed, index, attempt)
        name = f"{self.name}-{index + 1:04d}"
        drawer = DocumentDrawer(rng, name, language, self.document_pages, self.family)
        if kind == "report":
            return drawer.report(long=rng.random() < self.long and self.family == "flow")
        return DOCUMENT_KINDS[kind](drawer)

    def replacement(self, attempt: int) -> str:
        """Return what a document of this attempt is, if it is not the one that was drawn first."""
        return "by another draw" if attempt else ""


@dataclass(frozen=True, kw_only=True)
class Typst(Documents):
    """Business documents (reports, invoices, forms and more) set by Typst, in nine languages."""

    renderer: ClassVar[str] = "typst"
    name: str = option("Name of the corpus, and beginning of its ids.", "typst")
    languages: tuple[str, ...] = option("Languages, in turn.", LANGUAGES)


@dataclass(frozen=True, kw_only=True)
class Html(Documents):
    """Business documents as web pages, printed by Chromium; the HTML is kept beside the PDFs."""

    renderer: ClassVar[str] = "html"
    name: str = option("Name of the corpus, and beginning of its ids.", "html")


@dataclass(frozen=True, kw_only=True)
class Docx(Documents):
    """Business documents as Word files, set by LibreOffice; the DOCX is kept beside the PDFs."""

    renderer: ClassVar[str] = "docx"
    name: str = option("Name of the corpus, and beginning of its ids.", "docx")


def _spread(rng: random.Random, count: int, share: float) -> list[bool]:
    flags = [index < round(share * count) for index in range(count)]
    rng.shuffle(flags)
    return flags
