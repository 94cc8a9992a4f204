"""What can be asked of the generator: each document, and what takes its place if it cannot be set."""

import random
from dataclasses import dataclass, field
from functools import cached_property

from parsemark.corpora.making import require_name
from parsemark.corpora.synthetic.document import DocumentDraft
from parsemark.corpora.synthetic.document_kinds import DOCUMENT_KINDS, DocumentDrawer, document_kinds
from parsemark.corpora.synthetic.language import LANGUAGES, WRITTEN_WITH_LATEX
from parsemark.corpora.synthetic.looks import LINE_STYLES
from parsemark.corpora.synthetic.plan import DocumentPlan, PagePlan, PlannedDrawer, stream
from parsemark.errors import UsageError

GENERATOR = "synthetic 8"  # name and version; the version rises whenever the same seed gives other pages
LICENCE = "CC0-1.0"
MOST_TABLES = 8


@dataclass(frozen=True)
class Renderer:
    """A program that sets documents."""

    family: str = "flow"  # of looks
    packages: tuple[str, ...] = ()  # Python packages that it needs
    batch: int = 8  # documents that are set together, where starting the program costs more than a page
    languages: tuple[str, ...] = LANGUAGES


RENDERERS = {
    "latex": Renderer("latex", (), 1, WRITTEN_WITH_LATEX),
    "typst": Renderer(packages=("typst", "fontTools")),
    "html": Renderer(packages=("playwright", "fontTools")),
    "docx": Renderer(packages=("docx", "fontTools")),
}


def _require_corpus(name: str, pages: int) -> None:
    """Raise UsageError unless files can be named so, and there is a page to make."""
    require_name(name)
    if pages < 1:
        raise UsageError(f"A corpus needs at least one page, not {pages}.")


@dataclass(frozen=True)
class SyntheticOptions:
    """Pages of LaTeX whose traits are planned: how many, and the share of each trait among them."""

    pages: int
    seed: int = 0
    name: str = "synthetic"
    empty: float = 0.3  # share of pages without any table
    double_column: float = 0.35
    french: float = 0.25
    rotated: float = 0.1  # share of pages with tables that have a table turned by ±90°
    long: float = 0.08  # share of pages that belong to a table which runs over pages
    document_pages: int = 4
    """The most pages that one document has, long tables apart. Documents of one page are independent."""
    tables_per_page: float | None = None
    """Mean number of tables on pages that have any, turned and long ones apart; None draws one to three."""
    lines: dict[str, float] = field(
        default_factory=lambda: {"full": 0.25, "booktabs": 0.4, "partial": 0.2, "none": 0.15}
    )
    """Weight of each style of lines."""

    renderer = "latex"
    licence = LICENCE
    draws = 8  # of a document as planned; a replacement has as many again, and as many of a simpler plan
    attempts = 3 * draws

    def __post_init__(self) -> None:
        _require_corpus(self.name, self.pages)
        if self.document_pages < 1:
            raise UsageError(f"A document needs at least one page, not {self.document_pages}.")
        for key in ("empty", "double_column", "french", "rotated", "long"):
            if not 0 <= getattr(self, key) <= 1:
                raise UsageError(f"The share {key} must lie between 0 and 1, not {getattr(self, key)}.")
        if self.tables_per_page is not None and not 1 <= self.tables_per_page <= MOST_TABLES:
            said = f"1 to {MOST_TABLES} of them, not {self.tables_per_page}"
            raise UsageError(f"Pages with tables have {said}.")
        unknown = sorted(set(self.lines) - set(LINE_STYLES))
        if unknown or sum(self.lines.values()) <= 0 or min(self.lines.values()) < 0:
            raise UsageError(f"Weights of the line styles {', '.join(LINE_STYLES)} cannot be {self.lines}.")

    @cached_property
    def plans(self) -> list[DocumentPlan]:
        """What each document must have: one to `document_pages` pages, and `pages` together."""
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
        """Pages with one to three tables, or so many that their mean is as asked; empty and turned ones."""
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
    def n_documents(self) -> int | None:
        """How many documents are made; None makes as many as give the pages."""
        return len(self.plans)

    def draft(self, index: int, attempt: int) -> DocumentDraft:
        """Document `index`; what could not be set is drawn again, at last with fewer and upright tables."""
        planned = self.plans[index]
        planned = planned.simpler() if attempt >= 2 * self.draws else planned
        return PlannedDrawer(planned, self.lines, self.name, self.seed, planned.name, attempt).draw()

    def replacement(self, attempt: int) -> str:
        """What a document of this attempt is, if it is not what was planned."""
        if attempt < self.draws:
            return ""
        return "by a simpler document" if attempt >= 2 * self.draws else "by another of the same plan"


@dataclass(frozen=True)
class DocumentOptions:
    """Documents of some kinds and languages, set by any renderer."""

    renderer: str
    pages: int
    seed: int = 0
    name: str = "documents"
    languages: tuple[str, ...] = ("english",)
    kinds: tuple[str, ...] = tuple(DOCUMENT_KINDS)
    """Kinds of documents; a language takes part in those that it has words for."""
    document_pages: float = 1.5  # about how long the reports are
    long: float = 0.1  # share of reports with a table that runs over pages

    attempts = 6
    n_documents = None
    licence = LICENCE

    def __post_init__(self) -> None:
        if self.renderer not in RENDERERS:
            raise UsageError(f"There is no renderer {self.renderer!r}; there are {', '.join(RENDERERS)}.")
        _require_corpus(self.name, self.pages)
        for chosen, known, what in (
            (self.languages, RENDERERS[self.renderer].languages, "language"),
            (self.kinds, tuple(DOCUMENT_KINDS), "kind of document"),
        ):
            unknown = [value for value in chosen if value not in known]
            if unknown or not chosen:
                raise UsageError(f"There is no {what} {unknown or 'given'}; there are {', '.join(known)}.")
        if not self._choices:
            raise UsageError("None of these languages has words for these kinds of documents.")

    @property
    def _choices(self) -> list[tuple[str, str]]:
        return [(own, kind) for own in self.languages for kind in document_kinds(own) if kind in self.kinds]

    def draft(self, index: int, attempt: int) -> DocumentDraft:
        """Document `index`: languages and kinds in turn, the rest drawn."""
        turn, place = divmod(index, len(self.languages))
        choices = [choice for choice in self._choices if choice[0] == self.languages[place]]
        turn, choices = (turn, choices) if choices else (index, self._choices)
        language, kind = choices[turn % len(choices)]
        rng = stream(self.name, self.renderer, self.seed, index, attempt)
        name, family = f"{self.name}-{index + 1:04d}", RENDERERS[self.renderer].family
        drawer = DocumentDrawer(rng, name, language, self.document_pages, family)
        if kind == "report":
            return drawer.report(long=rng.random() < self.long and family == "flow")
        return DOCUMENT_KINDS[kind](drawer)

    def replacement(self, attempt: int) -> str:
        """What a document of this attempt is, if it is not the one that was drawn first."""
        return "by another draw" if attempt else ""


Options = SyntheticOptions | DocumentOptions


def _spread(rng: random.Random, count: int, share: float) -> list[bool]:
    flags = [index < round(share * count) for index in range(count)]
    rng.shuffle(flags)
    return flags


def read_line_weights(text: str) -> dict[str, float]:
    """Read `full=0.5,none=0.5`."""
    weights = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(f"Cannot read {part!r}: write line styles as full=0.5,none=0.5.") from error
    return weights
