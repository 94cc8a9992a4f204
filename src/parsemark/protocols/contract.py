"""The contract of protocols: how a page is scored, what its figures are made of, and how a run is summed up.

A protocol is a recipe: which matching, which metrics, which figures. It is a frozen dataclass whose fields
are its options, registered under a name, so that a spec such as `tables(match=bbox)` parses to it and back.
It owns its figures: what they are called, how they are defined, over what they are taken and how they are
printed. Leaderboard, report and comparison show a `Summary` without knowing the name of a metric.

`docs/how-to/extend.md` says how to add one.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import TypeAdapter

from parsemark.errors import ParsemarkError, UsageError
from parsemark.model import Fact, Page, Prediction
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.run_data.rows import PageScores
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.specs import Registry, changed_options, check_options
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Ranking, Summary


@dataclass(frozen=True)
class WholeRun:
    """All pages of a run before any is scored, for a protocol that needs them at once."""

    folder: Path  # for files of the protocol
    parsers: tuple[str, ...]
    pages: tuple[tuple[str, str, int], ...]  # sample, document and page number of each
    truth: Callable[[str], Page | None]  # of a sample
    prediction: Callable[[str, str], Prediction]  # of a sample by a parser
    note: Callable[[str], None]  # shows a message to the user


@dataclass(frozen=True)
class PageProtocol(ABC):
    """A recipe. A subclass is a frozen dataclass; its fields are its options.

    It sets `name`, `title` and `comparability`, and implements `score_page` and `figure_sums`. All else has a
    default: the first figure ranks, and a report shows the figures.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # in words, for a page's head
    comparability: ClassVar[int]  # raised whenever the same outputs would get other numbers
    reads_facts: ClassVar[bool] = False
    """Whether it is given pages of which facts alone are known; to others they are pages without truth."""
    rules: ClassVar[str] = ""  # whose facts it decides, where it reads facts: those with these rules
    truth_models: ClassVar[Mapping[str, Any]] = {}
    """Keys under which the annotation of a page keeps truth in the protocol's own form, each with the type by
    which pydantic validates it when the page is loaded."""
    needs_labels: ClassVar[bool] = True
    """Whether truth is what figures are measured against; pages that speak for themselves need no label."""
    needs_only_pages: ClassVar[bool] = False
    """Whether it needs only the truth of pages and no judge: `study agreement` scores any run with it."""
    figures_by_kind: ClassVar[Mapping[str, str]] = {}
    """The figure that speaks of a kind of truth: `text`, `tables`, `headings`, `order`, `formulas`."""
    table_matching: ClassVar[str] = ""
    """The rule of `tables` by which it decides what answers a table; empty where it is none of them.

    A benchmark that joins the tables of a page, or takes the first, takes them in `order`.
    """
    tables_alone: ClassVar[bool] = False
    """Whether outputs differ for it only in their tables, so that their likeness is that of their tables."""
    matching_rules: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Specs by which it matches under several rules, with these: its own first. `boards` scores the others to
    tell what matching does; they are no protocols beside it."""
    serialise: Literal["raw", "neutral"] = field(default="raw", kw_only=True)
    """Whether outputs are scored as they are written, or in one spelling for all (`formats.neutral`)."""

    def __str__(self) -> str:
        """Return the spec: the name with the options that differ from the default."""
        return changed_options(self, self.name)

    @property
    def asks(self) -> bool:
        """Return whether scoring asks somebody outside, such as a language model; never done by default."""
        return False

    @property
    def whole_documents(self) -> bool:
        """Return whether `score_page` is given all pages of a document as one; its rows stand at the first
        page.
        """
        return False

    @property
    def needs_whole_run(self) -> bool:
        """Return whether `prepared` is called before pages are scored."""
        return False

    def prepared(self, run: WholeRun) -> PageProtocol:
        """Return the protocol that scores single pages, after work that needs all pages of a run at once.

        Scores are stored and shown under the spec of this protocol. Where the work gives other results, the
        specs of what is returned must differ, for example by the name of a file.
        """
        return self

    @classmethod
    def check_fact(cls, fact: Fact) -> None:
        """Raise CorpusError for a fact of its `rules` that cannot be decided, when its page is loaded."""
        return

    def preload(self) -> None:
        """Import what `score_page` imports late, once for all processes that score; by default nothing."""
        return

    @abstractmethod
    def score_page(self, truth: Page | None, prediction: Prediction, page_text: str | None) -> PageScores:
        """Match and score one page; without a truth only what can be said without one.

        Args:
            truth: The page with its elements; None where the corpus has no truth for it.
            prediction: What the parser made of it; its status says whether it made anything.
            page_text: The text layer of the PDF; None where there is none.
        """

    def score_pdf(
        self,
        pdf: Path | None,
        page_number: int,
        truth: Page | None,
        prediction: Prediction,
        page_text: str | None,
    ) -> PageScores:
        """Score one page; a protocol that looks at the PDF itself does so here, others in `score_page`."""
        return self.score_page(truth, prediction, page_text)

    @abstractmethod
    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Make what the figures that can be compared page by page are made of, the one that ranks first.

        `aggregate.page_means` and `aggregate.run_sums` make most of them.
        """

    def summarise(self, tables: RunTables) -> Summary:
        """Return the sum up a run: every figure, its groups of pages, and the ranking."""
        return self.summary_of(tables, self.figure_sums(tables))

    def fixed_specs(self, summary: Summary, parser: str) -> list[str]:
        """Return the specs under which a parser's rows can be summed without choosing anything from the run.

        A board puts results together under these, the first one preferred, so that no number depends on who
        else is there. A protocol that chooses a rule from the data names it here.
        """
        return [str(self)]

    def presentation(self) -> Presentation:
        """Return what a report shows beside the figures."""
        return Presentation()

    def summary_of(self, tables: RunTables, sums: Sequence[FigureSums], **parts: Any) -> Summary:
        """Make a summary of the sums of all figures as they are shown, the first of which ranks.

        `parts` are fields of `Summary` that it makes itself; its counts come after documents and pages.
        """
        from parsemark.protocols.run_scores.aggregate import parser_figures
        from parsemark.protocols.run_scores.pair_verdicts import rank
        from parsemark.protocols.run_scores.slices import page_slices

        places = tables.places
        primary: str = parts.setdefault("primary", sums[0].info.name)
        counts = {"documents": len(set(places.documents)), "pages": len(places.samples)}
        parts["counts"] = counts | parts.get("counts", {})
        makers: dict[str, Callable[[], Any]] = {
            "figures": lambda: [figure.info for figure in sums],
            "parsers": lambda: {parser: parser_figures(sums, parser) for parser in tables.parsers},
            "slices": lambda: page_slices(sums, tables),
            "ranking": lambda: next(
                (rank(figure) for figure in sums if figure.info.name == primary), Ranking(figure=primary)
            ),
        }
        parts |= {name: make() for name, make in makers.items() if name not in parts}
        return Summary(protocol=str(self), comparability=self.comparability, **parts)


PROTOCOLS = Registry(
    "protocol",
    "parsemark.protocols",
    {
        "answers": "parsemark.protocols.answers.protocol:AnswersProtocol",
        "document": "parsemark.protocols.document.protocol:DocumentProtocol",
        "evidence": "parsemark.protocols.evidence.protocol:EvidenceProtocol",
        "semantic": "parsemark.protocols.semantic:SemanticProtocol",
        "tables": "parsemark.protocols.tables:TablesProtocol",
    },
)
DEFAULT_PROTOCOLS = ("tables",)


@lru_cache(maxsize=64)
def get_protocol(spec: str) -> PageProtocol:
    """Return the protocol that a spec such as `tables(match=bbox)` names.

    Raises:
        UnknownNameError: No protocol has that name; the error carries the nearest ones.
        UsageError: The protocol has no such option, or the option no such value.
    """
    parsed = PROTOCOLS.spec(spec)
    cls = PROTOCOLS.load(parsed.name)
    if not (isinstance(cls, type) and issubclass(cls, PageProtocol)):
        raise PROTOCOLS.broken(parsed.name, TypeError("it is not a subclass of PageProtocol"))
    return cls(**check_options(cls, "Protocol", cls.name, parsed.as_dict()))


def page_protocols() -> list[str]:
    """Return the protocols that any run of pages can be scored by."""
    return [own.name for own in _loadable() if own.needs_only_pages]


@cache
def protocols_by_rules() -> Mapping[str, type[PageProtocol]]:
    """Return the protocol that decides facts of each rules."""
    return {own.rules: own for own in _loadable() if own.rules}


@cache
def truth_models() -> Mapping[str, TypeAdapter[Any]]:
    """Return the keys under which any protocol has truth in its own form, each with what validates it."""
    return {key: TypeAdapter(model) for own in _loadable() for key, model in own.truth_models.items()}


def _loadable() -> Iterator[type[PageProtocol]]:
    for name in PROTOCOLS:
        with suppress(ParsemarkError):  # of another package, and said where it is used
            if issubclass(cls := PROTOCOLS.load(name), PageProtocol):
                yield cls


def canonical_specs(specs: str | Iterable[str]) -> list[str]:
    """Return one or several specs as they are stored, each once; wrong ones are refused."""
    specs = [specs] if isinstance(specs, str) else specs
    return list(dict.fromkeys(str(get_protocol(spec)) for spec in specs))


def with_options(spec: str, **options: Any) -> str:
    """Return a spec with some options changed; None leaves an option as it is."""
    protocol = get_protocol(spec)
    wanted = {key: value for key, value in options.items() if value is not None}
    for key in wanted.keys() - {f.name for f in dataclasses.fields(protocol)}:
        raise UsageError(f"Protocol {protocol.name!r} has no option {key!r}.")
    checked = check_options(type(protocol), "Protocol", protocol.name, wanted)
    return str(dataclasses.replace(protocol, **checked))
