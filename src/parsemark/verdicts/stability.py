"""Does a parser say the same of the same visible page, however its file is written, and when asked again?

Of each page and each variant (`corpora/stable_variants.py`) the output is compared with that of the page as
it came. A page *moves* if its score does for any of them; its output *changes* if its words or tables do. A
failure on one of both is a move and a change, as large as can be. Without a truth, how alike both outputs
are is the score.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import stdev
from typing import Any

import numpy as np
import polars as pl
from rapidfuzz.distance import Indel

from parsemark.consensus.agreement import prediction_tables, table_likeness
from parsemark.corpora.stable_variants import ORIGINAL, LeftOutVariant, RewrittenCorpus
from parsemark.matching.page_evidence import output_words
from parsemark.model import Prediction, Status
from parsemark.protocols.run_data.broken_pages import repeated, sums_of_parse
from parsemark.protocols.run_scores.aggregate import from_sums, mean_statistic
from parsemark.stats.intervals import sum_by_cluster
from parsemark.store import Run
from parsemark.store.summary import Figure
from parsemark.verdicts.scored_run import ScoredRun

STILL = 0.0005  # a score that moves by less has not


@dataclass(frozen=True, slots=True)
class VariantOutput:
    """What one parser made of one variant of a page, against the page as it came."""

    parser: str
    sample: str
    document: str
    variant: str
    status: str
    before: float | None  # score of the page as it came; None where it has no truth that the figure asks for
    after: float | None
    likeness: float  # of both outputs in words and tables, 1 if neither changed
    move: float  # of the score, or of the likeness where there is no score

    @property
    def moved(self) -> bool:
        """Return whether the score is another."""
        return self.move >= STILL


@dataclass(frozen=True)
class ParserStability:
    """One parser over all pages and variants."""

    parser: str
    rows: Sequence[VariantOutput]
    scores: Sequence[float] = ()  # of each parse, where the same pages were parsed several times

    @property
    def spread(self) -> float | None:
        """Return the standard deviation of the score between parses."""
        known = [score for score in self.scores if math.isfinite(score)]
        return stdev(known) if len(known) > 1 else None

    @cached_property
    def moved(self) -> Figure:
        """Return the share of pages whose score moves in any variant, with its 95 % CI."""
        return self._share({row.sample for row in self.rows if row.moved})

    @cached_property
    def changed(self) -> Figure:
        """Return the share of pages whose words or tables change in any variant."""
        return self._share({row.sample for row in self.rows if row.likeness < 1})

    @cached_property
    def failed(self) -> Figure:
        """Return the share of pages on which it fails in any variant. Who always fails says the same, and
        nothing.
        """
        return self._share({row.sample for row in self.rows if row.status != Status.OK})

    @property
    def worst(self) -> VariantOutput | None:
        """Return the largest move; None where nothing moves."""
        moved = [row for row in self.rows if row.moved]
        return max(moved, key=lambda row: (row.move, 1 - row.likeness, row.sample), default=None)

    def by_variant(self) -> dict[str, tuple[int, int, int]]:
        """Return for each variant the pages that move, those whose output changes, and all of them."""
        n_pages = Counter(row.variant for row in self.rows)
        moved = Counter(row.variant for row in self.rows if row.moved)
        changed = Counter(row.variant for row in self.rows if row.likeness < 1)
        return {name: (moved[name], changed[name], n) for name, n in n_pages.items()}

    def _share(self, pages: set[str]) -> Figure:
        document = {row.sample: row.document for row in self.rows}
        sums = np.array([[sample in pages, 1.0] for sample in document]).reshape(-1, 2)
        return from_sums(sum_by_cluster(sums, list(document.values()))[0], mean_statistic)


@dataclass(frozen=True)
class Stability:
    """All parsers, the steadiest first and those that always fail last, and what could not be looked at."""

    figure: str  # label of what is called score; empty where it is the likeness of outputs
    parsers: Sequence[ParserStability]
    left_out: Sequence[LeftOutVariant]

    def table(self) -> pl.DataFrame:
        """Return every row: nothing is lost."""
        rows = [asdict(row) for own in self.parsers for row in own.rows]
        return pl.DataFrame(rows, infer_schema_length=None)

    def figures(self) -> dict[str, Any]:
        """Return all figures, as stability.json has them."""
        return {
            "score": self.figure or "likeness of outputs",
            "parsers": {
                own.parser: {
                    "moved": own.moved.model_dump(),
                    "changed": own.changed.model_dump(),
                    "failed": own.failed.model_dump(),
                    "worst": None if own.worst is None else asdict(own.worst),
                    "scores": [score if math.isfinite(score) else None for score in own.scores],
                    "spread": own.spread,
                    "variants": {
                        name: {"moved": moved, "changed": changed, "pages": n}
                        for name, (moved, changed, n) in own.by_variant().items()
                    },
                }
                for own in self.parsers
            },
            "left_out": [asdict(one) for one in self.left_out],
        }


def stability_of(run: Run, made: RewrittenCorpus, parsers: Sequence[str]) -> Stability:
    """Hold every variant against its page, in a run that is scored where they have a truth. `made`: which
    sample of the run is a variant of which.
    """
    label, scores = "", dict[tuple[str, str], float]()
    if any(run.truth(sample) is not None for sample in made.origin):
        label, scores, _ = _scores(run)
    original = {page: key for key, (page, variant) in made.origin.items() if variant == ORIGINAL}
    found = [
        ParserStability(
            parser,
            [
                _row(
                    (parser, page, made.documents[page], variant),
                    (run.prediction(original[page], parser), run.prediction(key, parser)),
                    (scores.get((original[page], parser)), scores.get((key, parser))),
                )
                for key, (page, variant) in made.origin.items()
                if variant != ORIGINAL
            ],
        )
        for parser in parsers
    ]
    found.sort(key=lambda own: (all(row.status != Status.OK for row in own.rows), own.moved.value or 0.0))
    return Stability(label, found, made.left_out)


def repeats_of(run: Run, protocol: str | None = None) -> Stability:
    """Hold every further parse of a page against the first, in a run of `bench --repeats`."""
    places, tables = run.run_tables(protocol).places, run.run_tables(protocol)
    label, scores, first = _scores(run, protocol)
    rows: dict[str, list[VariantOutput]] = {}
    values = {parser: [value] for parser, value in first.items()}
    for number, again in enumerate(run.repeats, start=2):
        _, other, totals = _scores(again, protocol)
        for parser in sorted(repeated(tables, again.run_tables(protocol))):
            values.setdefault(parser, []).append(totals.get(parser, math.nan))
            rows.setdefault(parser, []).extend(
                _row(
                    (parser, sample, document, f"parse {number}"),
                    (run.prediction(sample, parser), again.prediction(sample, parser)),
                    (scores.get((sample, parser)), other.get((sample, parser))),
                )
                for sample, document in zip(places.samples, places.documents, strict=True)
            )
    return Stability(label, [ParserStability(p, own, tuple(values[p])) for p, own in rows.items()], ())


PageScores = dict[tuple[str, str], float]  # sample and parser to the score of the page


def _scores(run: Run, protocol: str | None = None) -> tuple[str, PageScores, dict[str, float]]:
    """Return the label of the primary figure, its values by page and parser, and by parser, of one parse."""
    source = ScoredRun(run, protocol)
    sums = sums_of_parse(source.recipe, run.run_tables(source.summary.protocol))
    figure = next(f for f in sums if f.info.name == source.summary.primary)
    pages = {
        (sample, parser): float(value)
        for parser in figure.sums
        for sample, value in zip(figure.samples, figure.page_values(parser), strict=True)
        if math.isfinite(value)
    }
    totals = {p: float(figure.statistic(own.sum(axis=0))) for p, own in figure.sums.items()}
    return figure.info.label, pages, totals


def _row(
    place: tuple[str, str, str, str],  # parser, sample, document, variant
    outputs: tuple[Prediction, Prediction],
    scores: tuple[float | None, float | None],
) -> VariantOutput:
    """Return one output against the one before, with the scores of both."""
    (one, other), (before, after) = outputs, scores
    alike = likeness(one, other)
    if one.status is not other.status:
        move = 1.0
    elif before is not None and after is not None:
        move = abs(after - before)
    else:
        move = 1 - alike if before is None and after is None else 1.0
    return VariantOutput(*place, other.status.value, before, after, alike, move)


def likeness(one: Prediction, other: Prediction) -> float:
    """Return how alike two outputs are in words, in their order, and in tables: the lesser of both.

    Two failures are alike; a failure is like no output.
    """
    if one.status is not Status.OK or other.status is not Status.OK:
        return float(one.status is other.status)
    if (one.text, one.elements) == (other.text, other.elements):
        return 1.0
    words = Indel.normalized_similarity(output_words(one), output_words(other))
    return min(words, table_likeness(prediction_tables(one), prediction_tables(other)))
