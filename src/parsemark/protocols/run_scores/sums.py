"""The sums over pages that figures are made of, and the files that describe figures."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.document_types import (
    Division,
    count_types,
    range_over_types,
    typed_contrasts,
    typed_interval,
)
from parsemark.stats.intervals import Interval, Range, RunVariance, normalised, sum_by_cluster
from parsemark.stats.paired_test import Contrast
from parsemark.store.summary import FigureInfo

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Maps totals (…, quantities) to values (…); NaN where the figure is not defined."""


def read_figures(
    package: str,
    section: str = "figure",
    words: Mapping[str, str] | None = None,
    each: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
) -> dict[str, FigureInfo]:
    """Return the figures that `figures.toml` of a package describes, by name, in order.

    `words` stand for what is in braces, beside the file's own `[words]`; `each` has for the `each` of entries
    the words of each of its members: neighbours with the same one are written together, member by member.
    """
    data = read_toml(package, "figures.toml")

    def filled(text: str, own: Mapping[str, str]) -> str:
        for name, phrase in data.get("words", {}).items():
            text = text.replace(f"{{{name}}}", phrase)
        return text.format(**(words or {}), **own)

    found = []
    for kind, listed in groupby(data[section], lambda entry: entry.get("each")):
        entries = list(listed)
        for own in (each or {})[kind] if kind else ({},):
            for entry in entries:
                said = {k: filled(v, own) if isinstance(v, str) else v for k, v in entry.items()}
                found.append(FigureInfo.model_validate({k: v for k, v in said.items() if k != "each"}))
    return {info.name: info for info in found}


@cache
def read_toml(package: str, name: str) -> dict[str, Any]:
    """Return a file of data that lies in a package."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


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

    All that leaderboard, slices and comparisons need follows from it: intervals and paired tests sample whole
    documents within their types, a slice adds up some pages, two runs are compared on the pages of both.
    """

    info: FigureInfo
    samples: tuple[str, ...]
    documents: tuple[str, ...]  # of each sample; pages of one document are not independent
    sums: Mapping[str, Floats]  # parser to (pages, quantities)
    statistic: Statistic
    denominator: int = 1
    """Index of the quantity that `Figure.n` counts; by default sums are (numerator, denominator)."""
    page_statistic: Statistic | None = None  # what a single page earns, where that is not the same statistic
    division: Division | None = None  # the type of each sample's document
    run_variance: Mapping[str, RunVariance] = field(default_factory=dict)
    """By parser, of a figure over several parses: what differs between parses and no document shows."""

    def page_values(self, parser: str) -> Floats:
        """Return the value of each page; NaN where there is none."""
        return (self.page_statistic or self.statistic)(self.sums[parser])


class DocumentSums:
    """What whole documents add to one figure: the rows that intervals, tests and shares are made of.

    Every interval and verdict is about documents like these: types are fixed, documents are sampled within
    them. `new_types=True` asks about new document types instead (`parsemark.stats.document_types`).
    """

    def __init__(self, figure: FigureSums, parsers: Sequence[str] | None = None) -> None:
        self.figure = figure
        self.sums: dict[str, Floats] = {}
        for parser in figure.sums if parsers is None else parsers:
            self.sums[parser] = sum_by_cluster(figure.sums[parser], figure.documents)[0]
        self.names = [str(name) for name in dict.fromkeys(figure.documents)]
        self.types = document_types(figure.documents, figure.division)
        counts = [document_shares(own, figure.denominator) for own in self.sums.values() if len(own)]
        self.weights: Floats = np.mean(counts, axis=0) if counts else np.zeros(len(self.names))

    @property
    def n_counted(self) -> int:
        """Return how many documents add something, for any parser: of the others there may be no truth."""
        return int(np.any([np.any(own != 0, axis=1) for own in self.sums.values()], axis=0).sum())

    @property
    def n_types(self) -> int:
        """Return how many types these documents are of; 0 where nothing is known about types."""
        return count_types(list(self.sums.values()), self.types)

    def interval(self, parser: str, *, new_types: bool = False) -> Interval | None:
        """Return 95 % confidence interval of a parser's score."""
        info, top = self.figure.info, self.figure.info.top or 1.0
        bounds: Range = "positive" if info.top is None else "unit"
        ends = typed_interval(
            self.sums[parser],
            lambda totals: self.figure.statistic(totals) / top,
            self.types,
            weights=self.weights,
            bounds=bounds,
            new_types=new_types,
        )
        return None if ends is None else (ends[0] * top, ends[1] * top)

    def range_over_types(self, parser: str) -> Interval | None:
        """Return the lowest and the highest score of a parser on any document type."""
        if self.types is None:
            return None
        return range_over_types(self.sums[parser], self.figure.statistic, self.types)

    def contrasts(self, pairs: Sequence[tuple[str, str]], *, new_types: bool = False) -> list[Contrast]:
        """Return the differences of pairs, in which larger is better."""
        info, statistic = self.figure.info, self.figure.statistic
        scale = info.top or 1.0
        sign = (1.0 if info.higher_is_better else -1.0) / scale
        bounds: Range = "positive" if info.top is None else "unit"
        found = typed_contrasts(
            self.sums,
            lambda totals: sign * statistic(totals),
            pairs,
            self.types,
            weights=self.weights,
            bounds=bounds,
            new_types=new_types,
        )
        return [self._scaled(contrast, scale) for contrast in found]

    def _scaled(self, contrast: Contrast, scale: float) -> Contrast:
        """Return a contrast in the unit of the figure, with the variation between parses of the same
        pages.
        """
        a, b = (self.figure.run_variance.get(name, RunVariance()) for name in (contrast.a, contrast.b))
        return contrast.times(scale).widened(a + b)


def document_types(documents: Sequence[str], division: Division | None) -> list[str] | None:
    """Return the type of each document, in order of first appearance; None where nothing is known about
    types.
    """
    if division is None:
        return None
    of = dict(reversed(list(zip(documents, division.types, strict=True))))
    return [of[document] for document in dict.fromkeys(documents)]


def document_shares(sums: Floats, denominator: int) -> Floats:
    """Return each document's share of what a figure counts.

    For a mean of several figures it is the mean of the document's shares of each of them.
    """
    parts = range(1, sums.shape[1], 2) if denominator == 1 else [denominator]
    return np.asarray(np.mean([normalised(sums[:, k]) for k in parts], axis=0))
