"""What can be asked of the generator: each document, and what takes its place if it cannot be set."""

from dataclasses import dataclass
from functools import cached_property

from parsemark.corpora.making import require_name
from parsemark.corpora.synthetic import plan
from parsemark.corpora.synthetic.document import DocumentDraft
from parsemark.corpora.synthetic.document_kinds import DOCUMENT_KINDS, DocumentDrawer, document_kinds
from parsemark.corpora.synthetic.language import LANGUAGES, WRITTEN_WITH_LATEX
from parsemark.corpora.synthetic.planned_document import PlannedDrawer
from parsemark.errors import UsageError

GENERATOR = "synthetic 8"  # name and version; the version rises whenever the same seed gives other pages
LICENCE = "CC0-1.0"


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


@dataclass(frozen=True)
class SyntheticOptions(plan.PlanOptions):
    """Pages of LaTeX whose traits are planned."""

    renderer = "latex"
    licence = LICENCE
    draws = 8  # of a document as planned; a replacement has as many again, and as many of a simpler plan
    attempts = 3 * draws

    @cached_property
    def plans(self) -> list[plan.DocumentPlan]:
        """What each document must have."""
        return plan.plan_documents(self)

    @property
    def n_documents(self) -> int | None:
        """How many documents are made; None makes as many as give the pages."""
        return len(self.plans)

    def draft(self, index: int, attempt: int) -> DocumentDraft:
        """Document `index`; what could not be set is drawn again, at last with fewer and upright tables."""
        planned = self.plans[index]
        planned = plan.simpler(planned) if attempt >= 2 * self.draws else planned
        return PlannedDrawer(self, planned, attempt).draw()

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
        require_name(self.name)
        plan.require_pages(self.pages)
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
        rng = plan.stream(self.name, self.renderer, self.seed, index, attempt)
        name, family = f"{self.name}-{index + 1:04d}", RENDERERS[self.renderer].family
        drawer = DocumentDrawer(rng, name, language, self.document_pages, family)
        if kind == "report":
            return drawer.report(long=rng.random() < self.long and family == "flow")
        return DOCUMENT_KINDS[kind](drawer)

    def replacement(self, attempt: int) -> str:
        """What a document of this attempt is, if it is not the one that was drawn first."""
        return "by another draw" if attempt else ""


Options = SyntheticOptions | DocumentOptions


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
