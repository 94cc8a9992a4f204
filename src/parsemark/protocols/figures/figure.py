"""What a figure is, its number with an interval, and the sums over pages that it is made of."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from parsemark.stats.clusters import Contrasts, Kinds, contrasts_over_kinds, find_kinds, influences
from parsemark.stats.intervals import Range, normalised, sum_by_cluster

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Maps totals (…, quantities) to values (…); NaN where the figure is not defined."""
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


def read_figures(
    package: str,
    section: str = "figure",
    words: Mapping[str, str] | None = None,
    each: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
) -> dict[str, FigureInfo]:
    """The figures that `figures.toml` of a package describes, by name, in order.

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
    """A file of data that lies in a package."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


class Figure(FrozenModel):
    """A number with its 95 % interval and its denominator; what is not defined is None."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: float = 0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


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
    documents: tuple[str, ...]  # of each sample; pages of one document are not independent
    sums: Mapping[str, Floats]  # parser to (pages, quantities)
    statistic: Statistic
    denominator: int = 1
    """Index of the quantity that `Figure.n` counts; by default sums are (numerator, denominator)."""
    page_statistic: Statistic | None = None  # what a single page earns, where that is not the same statistic
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attribute to the kind that each sample's document is of."""

    @cached_property
    def witnesses(self) -> tuple[str, ...]:
        """What each sample is drawn with: its document, or its kind where figures are unlike on kinds."""
        if self.info.style != "score" or not self.kinds:
            return self.documents
        found = DocumentSums(self).kinds()
        return self.documents if found is None else self.kinds[found.attribute]

    def page_values(self, parser: str) -> Floats:
        """The value of each page; NaN where there is none."""
        return (self.page_statistic or self.statistic)(self.sums[parser])


class DocumentSums:
    """What whole documents add to one figure: the rows that intervals, tests and leverage are made of."""

    def __init__(self, figure: FigureSums, parsers: Sequence[str] | None = None) -> None:
        self.figure = figure
        self.sums: dict[str, Floats] = {}
        for parser in figure.sums if parsers is None else parsers:
            self.sums[parser] = sum_by_cluster(figure.sums[parser], figure.documents)[0]
        self.names = [str(name) for name in dict.fromkeys(figure.documents)]
        counts = [_shares(own, figure.denominator) for own in self.sums.values() if len(own)]
        self.weights: Floats = np.mean(counts, axis=0) if counts else np.zeros(len(self.names))

    @property
    def n_counted(self) -> int:
        """How many documents add something, for any parser: of the others there may be no truth."""
        return int(np.any([np.any(own != 0, axis=1) for own in self.sums.values()], axis=0).sum())

    @property
    def candidates(self) -> dict[str, list[str]]:
        """The kinds that each document is of, by attribute."""
        first = {document: k for k, document in reversed(list(enumerate(self.figure.documents)))}
        places = [first[name] for name in self.names]
        return {attribute: [of[k] for k in places] for attribute, of in self.figure.kinds.items()}

    def kinds(self) -> Kinds | None:
        """The kinds of documents on which the figures themselves are unlike."""
        candidates = self.candidates
        if not candidates or not self.sums:
            return None
        added = influences(list(self.sums.values()), self.figure.statistic)
        return find_kinds(added, normalised(self.weights), candidates)

    def contrasts(self, pairs: Sequence[tuple[str, str]]) -> Contrasts:
        """The differences of pairs, in which larger is better."""
        info, statistic = self.figure.info, self.figure.statistic
        scale = info.top or 1.0
        sign = (1.0 if info.higher_is_better else -1.0) / scale
        bounds: Range = "positive" if info.top is None else "unit"
        found = contrasts_over_kinds(
            self.sums, lambda totals: sign * statistic(totals), pairs, self.weights, self.candidates, bounds
        )
        here = None if found.here is None else [contrast.times(scale) for contrast in found.here]
        return Contrasts([contrast.times(scale) for contrast in found.found], found.kinds, here)


def _shares(sums: Floats, denominator: int) -> Floats:
    """Of each document in what a figure counts; of a mean of several figures, the mean of its shares."""
    parts = range(1, sums.shape[1], 2) if denominator == 1 else [denominator]
    return np.asarray(np.mean([normalised(sums[:, k]) for k in parts], axis=0))
