"""What a protocol says about a run: the figures of each parser, slices, and who is better."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from parsemark.protocols.figures.figure import Figure, FigureInfo, FrozenModel

SUMMARY_VERSION = 1  # raised whenever a reader of the former version would misread a summary


class Slice(FrozenModel):
    """The figures again, for pages (or elements) that have one attribute in common."""

    scope: str  # `page`, or the category of the elements: `table`
    attribute: str
    value: str
    n: int
    figures: dict[str, dict[str, Figure]]  # parser to figure to number


State = Literal["better", "worse", "equal", "equivalent", "not_resolved"]


class Verdict(FrozenModel):
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
    difference: float | None  # a − B; None where one of both is not defined
    low: float | None
    high: float | None  # simultaneous 95 % interval of the difference: true for all pairs together
    p: float | None
    """Of the same test: below 5 % exactly where the interval leaves out 0; None without a difference."""
    state: State  # of A, seen from B, on new documents: also of new kinds, where kinds matter
    n_documents: int  # what was drawn: documents, or kinds of them where kinds matter
    here: State | None = None
    """Of A, seen from B, on documents of these very kinds; None where kinds do not matter."""
    kinds: str | None = None

    @property
    def is_level(self) -> bool:
        """Whether the figures are the same and the documents do not say more: nobody is ahead."""
        return self.state == "not_resolved" and self.difference is not None and abs(self.difference) < 1e-12

    def seen_from(self, parser: str) -> Verdict:
        """The same verdict with `parser` as A."""
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
                "here": mirrored.get(self.here, self.here),
            }
        )


class Ranking(FrozenModel):
    """Who is better in the primary figure, and how sure that is."""

    figure: str
    best: str | None = None
    ranks: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """The places that the data allow; 1 is best."""
    verdicts: list[Verdict] = Field(default_factory=list)  # every pair once
    n_documents: int = 0
    resolution: float | None = None
    """Differences to the best below this are mostly not resolved by these documents."""
    by_document: dict[str, float] = Field(default_factory=dict)
    """Parser to the figure if every document counted alike, however much it holds."""
    leverage: dict[str, float] = Field(default_factory=dict)
    """The documents that hold most of what the figure counts, with their share."""
    kinds: str | None = None  # the attribute by which documents are of kinds on which parsers do unlike
    n_kinds: int = 0
    notes: list[str] = Field(default_factory=list)
    """What can be resolved, and a warning where there are few documents."""

    def verdict(self, a: str, b: str) -> Verdict | None:
        """The verdict on A against B."""
        found = next((v for v in self.verdicts if {v.a, v.b} == {a, b}), None)
        return found.seen_from(a) if found else None

    def to_best(self, parser: str) -> Verdict | None:
        """The verdict on a parser against the best one; None for the best itself."""
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
        """What a figure is; one that nobody described is shown under its own name."""
        for known in self.figures:
            if known.name == name:
                return known
        label = name[:1].upper() + name[1:].replace("_", " ")
        said = f"{name} as the protocol computes it."
        return FigureInfo(name=name, label=label, definition=said, denominator="see the protocol")

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
