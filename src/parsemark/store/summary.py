"""What a protocol says about a run: the figures of each parser, slices, and who is better."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from parsemark.notebook import html_lines, html_table
from parsemark.plain_words import INTERVAL, counted_name, format_value, state_words
from parsemark.stats.document_types import FEWEST_TYPES

SUMMARY_VERSION = 2  # raised whenever a reader of the former version would misread a summary
Style = Literal["score", "rate", "count", "seconds", "megabytes", "dollars"]

EQUIVALENCE_MARGIN = 0.05
"""Scores whose difference lies inside ± this share of their range, interval and all, are equivalent."""


class FrozenModel(BaseModel):
    """Data that lies in `summary.json`: nothing unknown, nothing changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FigureInfo(FrozenModel):
    """What a figure is: shown wherever its number is."""

    name: str  # its key, in letters, digits, `_` and `.`
    label: str  # short, for a table's head
    definition: str
    denominator: str  # over what it is taken, and what `Figure.n` counts
    style: Style = "score"
    higher_is_better: bool = True
    main: bool = False  # whether it is shown at first; the others come with "all columns"
    largest: float | None = None
    """The most that it can be, where its style does not say so: scores go up to 1."""

    @property
    def top(self) -> float | None:
        """Return the most that it can be; None where there is no such value."""
        return 1.0 if self.largest is None and self.style == "score" else self.largest

    @property
    def margin(self) -> float | None:
        """Return the ± within which differences are equivalent; None where it is not defined."""
        return None if self.style != "score" or self.top is None else EQUIVALENCE_MARGIN * self.top

    @property
    def worst(self) -> float | None:
        """Return the credit of a worthless page; None where there is no such value."""
        return 0.0 if self.higher_is_better else self.top

    @property
    def direction(self) -> str:
        """Return the direction in words; empty for a rate without a bound of which more is not better."""
        if self.style == "rate" and self.higher_is_better and self.top is None:
            return ""
        return "higher is better" if self.higher_is_better else "lower is better"


class Figure(FrozenModel):
    """A number with its 95 % interval and its denominator; what is not defined is None."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: float = 0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Slice(FrozenModel):
    """The figures again, for pages (or elements) that have one attribute in common."""

    scope: str  # `page`, or the category of the elements: `table`
    attribute: str
    value: str
    n: int
    figures: dict[str, dict[str, Figure]]  # parser to figure to number


State = Literal["better", "worse", "equal", "equivalent", "not_significant"]


class Verdict(FrozenModel):
    """What the data say about two parsers in one figure; the same object everywhere a pair is spoken of.

    `better` and `worse`: the interval of the difference excludes 0. `equal`: both have the same numbers on
    every document; the interval says how far apart others may set them. `equivalent`: it lies inside
    ±`FigureInfo.margin`. Else these documents do not resolve the difference. All of it is about documents
    like these; `also_for_new_types` says whether it holds for new document types as well.
    """

    a: str
    b: str
    figure: str
    value_a: float | None
    value_b: float | None
    difference: float | None  # a − B; None where one of both is not defined
    low: float | None
    high: float | None  # simultaneous 95 % interval of the difference: true for all pairs together
    p: float | None
    """Of the same test: below 5 % exactly where the interval leaves out 0; None without a difference."""
    state: State  # of A, seen from B, on documents like these
    n_documents: int  # how many were sampled
    new_types: State | None = None
    """Of A, seen from B, on new document types; None where nothing is known about types."""

    @property
    def also_for_new_types(self) -> Literal["yes", "open"] | None:
        """Return whether the verdict holds for new document types; None where nothing is known about
        types.
        """
        if self.new_types is None:
            return None
        return "yes" if self.new_types == self.state != "not_significant" else "open"

    @property
    def is_level(self) -> bool:
        """Return whether the figures are equal and the documents show no difference: no parser is ahead."""
        is_open = self.state == "not_significant" and self.difference is not None
        return is_open and abs(self.difference or 0) < 1e-12

    def undecided(self) -> Verdict:
        """Return the same values without a decision."""
        nothing = {"low": None, "high": None, "p": None, "state": "not_significant", "new_types": None}
        return self.model_copy(update=nothing)

    def seen_from(self, parser: str) -> Verdict:
        """Return the same verdict with `parser` as A."""
        if parser == self.a:
            return self
        mirrored: dict[str | None, State] = {"better": "worse", "worse": "better"}
        numbers = {"difference": self.difference, "low": self.high, "high": self.low}
        return self.model_copy(
            update={
                "a": self.b,
                "b": self.a,
                "value_a": self.value_b,
                "value_b": self.value_a,
                # Unlike −x, 0 − x makes no −0.
                **{name: None if number is None else 0.0 - number for name, number in numbers.items()},
                "state": mirrored.get(self.state, self.state),
                "new_types": mirrored.get(self.new_types, self.new_types),
            }
        )


class NewTypes(FrozenModel):
    """What the primary scores say about new types of documents."""

    attribute: str  # what documents are divided by: maker, template, producer, source or repository
    n_types: int
    scores: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Parser to the 95 % confidence interval for new types if there are six types or more (`is_answered`),
    else to the lowest and highest score on any of these types."""

    @property
    def is_answered(self) -> bool:
        """Return whether there are enough types to say anything about another one."""
        return self.n_types >= FEWEST_TYPES


class Ranking(FrozenModel):
    """Who is better in the primary figure, and how sure that is."""

    figure: str
    best: str | None = None
    ranks: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """The places that the data allow; 1 is best."""
    verdicts: list[Verdict] = Field(default_factory=list)  # every pair once
    n_documents: int = 0
    resolution: float | None = None
    """Differences from the leader below this are mostly not significant with these documents."""
    by_document: dict[str, float] = Field(default_factory=dict)
    """Parser to the figure if every document counted alike, however much it holds."""
    largest_shares: dict[str, float] = Field(
        default_factory=dict, validation_alias=AliasChoices("largest_shares", "leverage")
    )
    """The documents that hold most of what the figure counts, with their share."""
    new_types: NewTypes | None = None  # None where nothing is known about document types
    is_incomplete: bool = False  # whether answers are still to be had: until then nothing is decided
    notes: list[str] = Field(default_factory=list)
    """What can be resolved, and a warning where there are few documents."""

    @property
    def leaders(self) -> frozenset[str]:
        """Return the best parser and those equal to it, if all others are significantly worse; else
        nobody.
        """
        verdicts = {parser: v for parser in self.ranks if (v := self.to_best(parser)) is not None}
        if self.best is None or any(v.state not in ("worse", "equal") for v in verdicts.values()):
            return frozenset()
        return frozenset([self.best, *(p for p, v in verdicts.items() if v.state == "equal")])

    def verdict(self, a: str, b: str) -> Verdict | None:
        """Return the verdict on A against B."""
        found = next((v for v in self.verdicts if {v.a, v.b} == {a, b}), None)
        return found.seen_from(a) if found else None

    def to_best(self, parser: str) -> Verdict | None:
        """Return the verdict on a parser against the best one; None for the best itself."""
        return None if self.best is None or parser == self.best else self.verdict(parser, self.best)


class Summary(FrozenModel):
    """What a protocol says about a run; `summary.json` in the protocol's folder."""

    version: int = SUMMARY_VERSION
    protocol: str  # the spec, as it parses back
    comparability: int  # figures of two summaries may be compared only if protocol and this number agree
    primary: str  # the figure that the leaderboard is sorted by
    settings: dict[str, str] = Field(default_factory=dict)
    """Choices that all numbers depend on, also those made from the data: `match`, `theta`."""
    counts: dict[str, int] = Field(default_factory=dict)
    """What was scored, in words: `pages`, `tables`, … Shown in every header."""
    figures: list[FigureInfo]  # in the order in which they are shown
    parsers: dict[str, dict[str, Figure]]
    slices: list[Slice] = Field(default_factory=list)
    ranking: Ranking
    failures_count: bool = True
    """Whether pages on which a parser failed stand in the denominators of its figures."""
    failed_calls: int = 0  # to language models; `score` and `bench` then exit with 1
    notes: list[str] = Field(default_factory=list)
    """What a reader of the numbers must know: scores that failed, too few documents."""
    details: dict[str, Any] = Field(default_factory=dict)
    """What the protocol's own charts need: curves, bins, figures under other rules. Plain JSON data."""

    def info(self, name: str) -> FigureInfo:
        """Return the metadata of a figure; one without metadata is shown under its own name."""
        for known in self.figures:
            if known.name == name:
                return known
        label = name[:1].upper() + name[1:].replace("_", " ")
        said = f"{name} as the protocol computes it."
        return FigureInfo(name=name, label=label, definition=said, denominator="see the protocol")

    def figure(self, parser: str, name: str) -> Figure | None:
        """Return one number, if it is there."""
        return self.parsers.get(parser, {}).get(name)

    def shown(self) -> list[FigureInfo]:
        """Return the figures for which any parser has a value, in order."""
        present = {n for own in self.parsers.values() for n, f in own.items() if f.value is not None}
        described = [info for info in self.figures if info.name in present]
        return [*described, *(self.info(n) for n in sorted(present - {i.name for i in described}))]

    def ordered(self) -> list[str]:
        """Return the parsers from best to worst in the primary figure; those without a value last."""
        sign = -1.0 if self.info(self.primary).higher_is_better else 1.0

        def key(parser: str) -> tuple[float, str]:
            figure = self.figure(parser, self.primary)
            return (float("inf") if figure is None or figure.value is None else sign * figure.value, parser)

        return sorted(self.parsers, key=key)

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook: the main scores with their intervals."""
        main = [info for info in self.shown() if info.main]
        rows = [
            [f"{self._mark(parser)} {parser}".strip(), *(self._cell(parser, info) for info in main)]
            for parser in self.ordered()
        ]
        counts = ", ".join(counted_name(n, name) for name, n in self.counts.items())
        shown = html_table(["parser", *(info.label for info in main)], rows, f"{self.protocol}: {counts}")
        marks = f"★ leader; ? = {state_words('not_significant')}. {INTERVAL}."
        return shown + html_lines([marks, *self.notes])

    def _mark(self, parser: str) -> str:
        verdict = self.ranking.to_best(parser)
        if verdict is None:
            return "★" if parser == self.ranking.best else ""
        return "?" if verdict.state == "not_significant" else ""

    def _cell(self, parser: str, info: FigureInfo) -> str:
        figure = self.figure(parser, info.name)
        value = format_value(None if figure is None else figure.value, info.style)
        between = None if figure is None else figure.interval
        return value if between is None else f"{value} [{between[0]:.2f}, {between[1]:.2f}]"
