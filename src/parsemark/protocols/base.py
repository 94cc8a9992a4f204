"""The contract of protocols: what they record of a page, and how they say what came of a run.

A protocol is a recipe: which matching, which metrics, which figures. It is a frozen dataclass whose fields
are its options, registered under a name, so that a spec such as `tables(match=bbox)` parses to it and back.
It owns its figures: what they are called, how they are defined, over what they are taken and how they are
printed. Leaderboard, report and comparison show a `Summary` without knowing the name of a metric.

`docs/protocols.md` says how to add one.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from parsemark.errors import UsageError
from parsemark.model import Page, Prediction, Status
from parsemark.protocols.presentation import Presentation
from parsemark.registry import Registry, changed_options, check_options, parse_spec, tool_of

if TYPE_CHECKING:
    import polars as pl
    from polars._typing import IntoExpr

PAGE_LEVEL = ""
"""`ScoreRow.element`, and `category`, of a measure of the whole page."""
BROKEN = "protocol_broken"
"""`ScoreRow.metric` of a page that the protocol did not score; the engine writes it (see `broken.py`)."""
BATCH_PAGES = 512
"""How many pages are looked at together where a run may have any number of them."""
SUMMARY_VERSION = 1
"""Raised whenever a reader of the former version would misread a summary."""

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Maps totals (…, quantities) to values (…); NaN where the figure is not defined."""
Style = Literal["score", "rate", "count", "seconds", "megabytes", "dollars"]


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match of one page under one rule, as it lies in `matches.parquet`."""

    sample: str
    parser: str
    rule: str
    category: str
    """Of the truth, or of the prediction where there is no truth: `table`, `text_block`, …"""
    truth: tuple[str, ...]
    pred: tuple[str, ...]
    kind: str
    overlap: float | None
    confidence: float | None
    """Of the prediction; for a split the largest one; None where the parser gives none."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score, as it lies in `scores.parquet`: of a pair, or of the whole page."""

    sample: str
    element: str
    """Id of the truth, or of the prediction where there is no truth, or empty for the whole page."""
    pred: str
    """Ids of the predictions joined by `+`; empty where there is none."""
    rule: str
    category: str
    """As in `MatchRow`; empty for the whole page."""
    parser: str
    metric: str
    value: float | None
    status: Status
    message: str | None = None


@dataclass(frozen=True, slots=True)
class PageScores:
    """All that a protocol says about one page of one parser."""

    matches: list[MatchRow] = field(default_factory=list)
    scores: list[ScoreRow] = field(default_factory=list)

    def extend(self, other: PageScores) -> None:
        """Add the rows of another page."""
        self.matches.extend(other.matches)
        self.scores.extend(other.scores)


@dataclass(frozen=True, slots=True)
class Places:
    """The pages of a run in order, each with its document."""

    samples: tuple[str, ...]
    documents: tuple[str, ...]


class RunTables:
    """The tables of a run that aggregates are made of; matches and scores are those of one protocol.

    `samples`, `parses`, `matches` and `scores` are whole frames. What is made to hold for any number of pages
    takes no more than it needs, by `read` and `batches`.
    """

    def __init__(
        self, samples: pl.DataFrame, parses: pl.DataFrame, matches: pl.DataFrame, scores: pl.DataFrame
    ) -> None:
        self._frames = {"samples": samples, "parses": parses, "matches": matches, "scores": scores}

    def frame(self, name: str) -> pl.DataFrame:
        """A whole table."""
        return self._frames[name]

    @property
    def samples(self) -> pl.DataFrame:
        """One row for each page, with its truth."""
        return self.frame("samples")

    @property
    def parses(self) -> pl.DataFrame:
        """One row for each page and parser."""
        return self.frame("parses")

    @property
    def matches(self) -> pl.DataFrame:
        """One row for each match of a page."""
        return self.frame("matches")

    @property
    def scores(self) -> pl.DataFrame:
        """One row for each score."""
        return self.frame("scores")

    @cached_property
    def parsers(self) -> list[str]:
        """Names of the parsers, sorted."""
        import polars as pl

        return sorted(self.read("parses", pl.col("parser").unique())["parser"])

    @cached_property
    def engines(self) -> dict[str, str]:
        """What each parser stands on, as far as its name says; settings of one tool are one voice."""
        return {parser: tool_of(parser) for parser in self.parsers}

    @cached_property
    def places(self) -> Places:
        """The pages in order of their ids."""
        listed = self.read("samples", "sample", "document").sort("sample")
        return Places(tuple(listed["sample"]), tuple(listed["document"]))

    def changed(self, **frames: pl.DataFrame) -> RunTables:
        """The same tables, some of them exchanged: `changed(samples=…)`."""
        other = copy(self)
        for derived in ("places", "parsers", "engines"):
            other.__dict__.pop(derived, None)
        other._frames = {**self._frames, **frames}
        return other

    @contextmanager
    def scanning(self, name: str) -> Iterator[pl.LazyFrame]:
        """A table, to collect from what is needed of it."""
        yield self.frame(name).lazy()

    def read(
        self, name: str, *columns: IntoExpr, where: pl.Expr | None = None, **named: IntoExpr
    ) -> pl.DataFrame:
        """Some columns, or what follows from them, of the rows for which something holds."""
        with self.scanning(name) as rows:
            return (rows if where is None else rows.filter(where)).select(*columns, **named).collect()

    def batches(self, *names: str) -> Iterator[list[pl.DataFrame]]:
        """Tables page by page, some pages at a time in the order of their ids: the rows of these pages."""
        import polars as pl

        ids = self.places.samples
        with ExitStack() as opened:
            tables = [opened.enter_context(self.scanning(name)) for name in names]
            for first in range(0, len(ids), BATCH_PAGES):
                last = min(first + BATCH_PAGES, len(ids)) - 1
                own = pl.col("sample").is_between(pl.lit(ids[first]), pl.lit(ids[last]))
                yield [table.filter(own).collect() for table in tables]


class _FrozenModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


EQUIVALENCE_MARGIN = 0.05
"""Scores whose difference lies inside ± this share of their range, interval and all, are equivalent."""


class FigureInfo(_FrozenModel):
    """What a figure is: shown wherever its number is."""

    name: str
    """Its key, in letters, digits, `_` and `.`."""
    label: str
    """Short, for a table's head."""
    definition: str
    denominator: str
    """Over what it is taken, and what `Figure.n` counts."""
    style: Style = "score"
    higher_is_better: bool = True
    main: bool = False
    """Whether it is shown at first; the others come with "all columns"."""
    largest: float | None = None
    """The most that it can be, where its style does not say so: scores go up to 1."""

    @property
    def top(self) -> float | None:
        """The most that it can be; None where there is no such value."""
        return 1.0 if self.largest is None and self.style == "score" else self.largest

    @property
    def margin(self) -> float | None:
        """Differences inside ± this are equivalent; None where nothing says what is small."""
        return None if self.style != "score" or self.top is None else EQUIVALENCE_MARGIN * self.top

    @property
    def worst(self) -> float | None:
        """What a page earns that is worth nothing; None where there is no such value."""
        return 0.0 if self.higher_is_better else self.top

    @property
    def direction(self) -> str:
        """In words."""
        return "higher is better" if self.higher_is_better else "lower is better"


class Figure(_FrozenModel):
    """A number with its 95 % interval and its denominator; what is not defined is None."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: float = 0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Slice(_FrozenModel):
    """The figures again, for pages (or elements) that have one attribute in common."""

    scope: str
    """`page`, or the category of the elements: `table`."""
    attribute: str
    value: str
    n: int
    """How many pages, or elements, it holds."""
    figures: dict[str, dict[str, Figure]]
    """Parser to figure to number."""


State = Literal["better", "worse", "equal", "equivalent", "not_resolved"]


class Verdict(_FrozenModel):
    """What the data say about two parsers in one figure; the same object everywhere a pair is spoken of.

    `better` and `worse`: the interval of the difference leaves out 0. `equal`: both have the same numbers on
    every document; the interval says how far apart others may set them. `equivalent`: it lies inside
    ±`FigureInfo.margin`. Else these documents do not resolve the difference.
    """

    a: str
    b: str
    figure: str
    value_a: float | None
    value_b: float | None
    difference: float | None
    """A − B; None where one of both is not defined."""
    low: float | None
    high: float | None
    """Simultaneous 95 % interval of the difference: true for all pairs together."""
    p: float | None
    """Of the same test: below 5 % exactly where the interval leaves out 0; None without a difference."""
    state: State
    """Of A, seen from B."""
    n_documents: int

    def seen_from(self, parser: str) -> Verdict:
        """The same verdict with `parser` as A."""
        if parser == self.a:
            return self
        mirrored: dict[State, State] = {"better": "worse", "worse": "better"}
        return self.model_copy(
            update={
                "a": self.b,
                "b": self.a,
                "value_a": self.value_b,
                "value_b": self.value_a,
                # Unlike −x, 0 − x makes no −0.
                "difference": None if self.difference is None else 0.0 - self.difference,
                "low": None if self.high is None else 0.0 - self.high,
                "high": None if self.low is None else 0.0 - self.low,
                "state": mirrored.get(self.state, self.state),
            }
        )


class Ranking(_FrozenModel):
    """Who is better in the primary figure, and how sure that is."""

    figure: str
    best: str | None = None
    ranks: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """The places that the data allow; 1 is best."""
    verdicts: list[Verdict] = Field(default_factory=list)
    """Every pair once."""
    n_documents: int = 0
    resolution: float | None = None
    """Differences to the best below this are mostly not resolved by these documents."""
    notes: list[str] = Field(default_factory=list)
    """What can be resolved, and a warning where there are few documents."""

    def verdict(self, a: str, b: str) -> Verdict | None:
        """The verdict on A against B."""
        found = next((v for v in self.verdicts if {v.a, v.b} == {a, b}), None)
        return found.seen_from(a) if found else None

    def to_best(self, parser: str) -> Verdict | None:
        """The verdict on a parser against the best one; None for the best itself."""
        return None if self.best is None or parser == self.best else self.verdict(parser, self.best)


class Summary(_FrozenModel):
    """What a protocol says about a run; `summary.json` in the protocol's folder."""

    version: int = SUMMARY_VERSION
    protocol: str
    """The spec, as it parses back."""
    comparability: int
    """Figures of two summaries may be compared only if protocol and this number agree."""
    primary: str
    """The figure that the leaderboard is sorted by."""
    settings: dict[str, str] = Field(default_factory=dict)
    """Choices that all numbers depend on, also those made from the data: `match`, `theta`."""
    counts: dict[str, int] = Field(default_factory=dict)
    """What was scored, in words: `pages`, `tables`, … Shown in every header."""
    figures: list[FigureInfo]
    """In the order in which they are shown."""
    parsers: dict[str, dict[str, Figure]]
    """Parser to figure to number."""
    slices: list[Slice] = Field(default_factory=list)
    ranking: Ranking
    failures_count: bool = True
    """Whether pages on which a parser failed stand in the denominators of its figures."""
    notes: list[str] = Field(default_factory=list)
    """What whoever reads the numbers must know: scores that failed, too few documents."""
    details: dict[str, Any] = Field(default_factory=dict)
    """What the protocol's own charts need: curves, bins, figures under other rules. Plain JSON data."""

    def info(self, name: str) -> FigureInfo:
        """What a figure is; one that nobody described is shown under its own name."""
        for known in self.figures:
            if known.name == name:
                return known
        label = name.replace("_", " ")
        return FigureInfo(
            name=name,
            label=label[:1].upper() + label[1:],
            definition=f"{name} as the protocol computes it.",
            denominator="see the protocol",
        )

    def figure(self, parser: str, name: str) -> Figure | None:
        """One number, if it is there."""
        return self.parsers.get(parser, {}).get(name)

    def shown(self) -> list[FigureInfo]:
        """The figures for which any parser has a value, in order."""
        present = {n for own in self.parsers.values() for n, f in own.items() if f.value is not None}
        described = [info for info in self.figures if info.name in present]
        return [*described, *(self.info(n) for n in sorted(present - {i.name for i in described}))]

    def ordered(self) -> list[str]:
        """The parsers from best to worst in the primary figure; those without a value last."""
        sign = -1.0 if self.info(self.primary).higher_is_better else 1.0

        def key(parser: str) -> tuple[float, str]:
            figure = self.figure(parser, self.primary)
            return (float("inf") if figure is None or figure.value is None else sign * figure.value, parser)

        return sorted(self.parsers, key=key)


class SumsOnDemand(Mapping[str, Floats]):
    """Parser to sums that are made when they are asked for, and not held: for figures of many pages."""

    def __init__(self, parsers: Sequence[str], make: Callable[[str], Floats]) -> None:
        self._parsers = tuple(parsers)
        self._make = make

    def __getitem__(self, parser: str) -> Floats:
        if parser not in self._parsers:
            raise KeyError(parser)
        return self._make(parser)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsers)

    def __len__(self) -> int:
        return len(self._parsers)


@dataclass(frozen=True)
class FigureSums:
    """What a figure is made of, page by page: sums that add up, and the statistic of their totals.

    All that leaderboard, slices and comparisons need follows from it: intervals and paired tests draw whole
    documents, a slice adds up some pages, two runs are compared on the pages that both have.
    """

    info: FigureInfo
    samples: tuple[str, ...]
    documents: tuple[str, ...]
    """Of each sample; pages of one document are not independent."""
    sums: Mapping[str, Floats]
    """Parser to (pages, quantities)."""
    statistic: Statistic
    denominator: int = 1
    """Index of the quantity that `Figure.n` counts; by default sums are (numerator, denominator)."""
    page_statistic: Statistic | None = None
    """What a single page earns, where that is not the same statistic."""

    def page_values(self, parser: str) -> Floats:
        """The value of each page; NaN where there is none."""
        return (self.page_statistic or self.statistic)(self.sums[parser])


@dataclass(frozen=True)
class PageProtocol(Presentation, ABC):
    """A recipe. A subclass is a frozen dataclass; its fields are its options.

    It sets `name`, `comparability` and `title`, and implements `score_page`, `figure_sums` and `summarise`.
    Charts, tables for papers and types of errors are `Presentation`: what it has of its own it overrides.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    """In words, for a page's head."""
    comparability: ClassVar[int]
    """Raised whenever the same outputs would get other numbers."""

    def __str__(self) -> str:
        """The spec: the name with the options that differ from the default."""
        return changed_options(self, self.name)

    @property
    def asks(self) -> bool:
        """Whether scoring asks somebody outside, such as a language model; nobody scores so unasked."""
        return False

    @property
    def whole_documents(self) -> bool:
        """Whether `score_page` is given all pages of a document as one; its rows stand at the first page."""
        return False

    def preload(self) -> None:
        """Import what `score_page` imports late, once for all processes that will score."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> PageProtocol:
        """Build the protocol from the options of a spec, checking names and values."""
        return cls(**check_options(cls, "Protocol", cls.name, options))

    @abstractmethod
    def score_page(self, truth: Page | None, prediction: Prediction, page_text: str | None) -> PageScores:
        """Match and score one page; without a truth only what can be said without one.

        Args:
            truth: The page with its elements; None where the corpus has no truth for it.
            prediction: What the parser made of it; its status says whether it made anything.
            page_text: The text layer of the PDF; None where there is none.
        """

    @abstractmethod
    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """What the figures that can be compared page by page are made of."""

    @abstractmethod
    def summarise(self, tables: RunTables) -> Summary:
        """Aggregates over a whole run."""


PROTOCOLS = Registry(
    "protocol",
    "parsemark.protocols",
    {
        "document": "parsemark.protocols.document.protocol:DocumentProtocol",
        "semantic": "parsemark.protocols.semantic:SemanticProtocol",
        "tables": "parsemark.protocols.tables:TablesProtocol",
    },
)
DEFAULT_PROTOCOLS = ("tables",)


@lru_cache(maxsize=64)
def get_protocol(spec: str) -> PageProtocol:
    """The protocol that a spec such as `tables(match=bbox)` names.

    Raises:
        UnknownNameError: No protocol has that name; the error carries the nearest ones.
        UsageError: The protocol has no such option, or the option no such value.
    """
    parsed = parse_spec(spec)
    cls = PROTOCOLS.load(parsed.name)
    if not (isinstance(cls, type) and issubclass(cls, PageProtocol)):
        raise PROTOCOLS.broken(parsed.name, TypeError("it is no subclass of PageProtocol"))
    return cls.from_options(parsed.as_dict())


def canonical_specs(specs: Iterable[str]) -> list[str]:
    """The specs as they are stored, each once; wrong ones are refused."""
    return list(dict.fromkeys(str(get_protocol(spec)) for spec in specs))


def with_options(spec: str, **options: Any) -> str:
    """A spec with some options changed; None leaves an option as it is."""
    protocol = get_protocol(spec)
    known = {f.name for f in dataclasses.fields(protocol)}
    wanted = {key: value for key, value in options.items() if value is not None}
    for key in wanted:
        if key not in known:
            raise UsageError(f"Protocol {protocol.name!r} has no option {key!r}.")
    checked = check_options(type(protocol), "Protocol", protocol.name, wanted)
    return str(dataclasses.replace(protocol, **checked))
