"""What the rows of a run say about one parser under one matching rule, as arrays ready for statistics."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.formats.model_json import page_from_json
from parsemark.matching.tables import BOX_RULE, CONFIDENCE_THRESHOLD, ORDER_RULE
from parsemark.model import AttributeValue
from parsemark.protocols.run_scores.slices import attribute_groups, element_attributes
from parsemark.protocols.run_scores.sums import Floats
from parsemark.protocols.tables.figure_definitions import metric_metadata
from parsemark.stats.document_types import Division
from parsemark.store.run_tables import RunTables

_ARRAYS = ("page", "overlap", "confidence", "positive", "count")


def is_by_place(rule: str) -> bool:
    """Return whether a rule finds tables without looking at their content."""
    return rule.startswith((BOX_RULE, ORDER_RULE))


@dataclass(frozen=True)
class TruthPages:
    """The pages with truth of a run, in a fixed order, and what summaries need to know of their tables."""

    samples: tuple[str, ...]
    documents: tuple[str, ...]
    n_truth: Floats
    negative: NDArray[np.bool_]
    division: Division | None = None  # the type of each page's document
    unread: frozenset[tuple[int, str]] = frozenset()
    """Page and id of the tables among `n_truth` that cannot be read."""
    n_unboxed: int = 0
    groups: Sequence[tuple[str, str, list[tuple[int, str]]]] = ()
    """Each attribute and value with the tables that have it, as in `unread`."""

    @classmethod
    def of(cls, tables: RunTables) -> TruthPages:
        """Return pages of a run that have a truth, which is read some pages at a time."""
        known = tables.read("samples", "sample", "n_tables", where=pl.col("n_tables").is_not_null())
        known = known.sort("sample")
        places = tables.places.among(known["sample"])
        n_truth = known["n_tables"].to_numpy().astype(float)
        pages = cls(places.samples, places.documents, n_truth, n_truth == 0, places.division)
        unread, names, n_unboxed = set[tuple[int, str]](), dict[str, str](), 0

        def members() -> Iterator[tuple[tuple[int, str], Mapping[str, AttributeValue]]]:
            nonlocal n_unboxed
            for (samples,) in tables.batches("samples"):
                truths = samples.join(pages.frame(), on="sample", maintain_order="left")
                for text, page in truths.select("truth", "page").iter_rows():
                    for table in page_from_json(json.loads(text)).tables:
                        own = page, names.setdefault(table.id, table.id)
                        n_unboxed += table.box is None
                        unread.update({own} if table.is_unread else ())
                        yield own, element_attributes(table)

        groups = attribute_groups(members())
        return replace(pages, groups=groups, unread=frozenset(unread), n_unboxed=n_unboxed)

    @cached_property
    def readable(self) -> TruthPages:
        """Return the same pages without the tables that cannot be read."""
        n_truth = self.n_truth.copy()
        for page, _ in self.unread:
            n_truth[page] -= 1
        return replace(self, n_truth=n_truth, unread=frozenset())

    def frame(self) -> pl.DataFrame:
        """Return `sample`, and its position as `page`."""
        columns = {"sample": self.samples, "page": range(len(self.samples))}
        return pl.DataFrame(columns, schema={"sample": pl.String, "page": pl.Int64})


@dataclass(frozen=True)
class MatchedTables:
    """All predictions of one parser under one rule: one entry for each match that has a prediction."""

    pages: TruthPages
    page: NDArray[np.int64]
    truth: tuple[str, ...]  # id of the truth, or empty for an extra
    pred: tuple[str, ...]
    overlap: Floats
    confidence: Floats  # 1 where the parser gives none, as in the paper
    has_confidence: bool
    positive: NDArray[np.bool_]  # whether the prediction counts as a table at the confidence threshold
    count: Floats  # how many predictions the entry stands for: several for a split
    structure: Mapping[str, Floats]
    """Structure credit, 0 to 1, by metric; 0 for an extra and where the metric failed."""

    @property
    def n_truth(self) -> float:
        """Return the number of true tables."""
        return float(self.pages.n_truth.sum())

    @cached_property
    def readable(self) -> MatchedTables:
        """Return the same without true tables that cannot be read, and without what answers them."""
        if not self.pages.unread:
            return self
        pairs = zip(self.page.tolist(), self.truth, strict=True)
        keep = np.array([pair not in self.pages.unread for pair in pairs], dtype=bool)
        arrays = {name: getattr(self, name)[keep] for name in _ARRAYS}
        truth, pred = (tuple(compress(names, keep)) for names in (self.truth, self.pred))
        structure = {metric: values[keep] for metric, values in self.structure.items()}
        return replace(self, pages=self.pages.readable, truth=truth, pred=pred, structure=structure, **arrays)


def gather(
    pages: TruthPages, tables: RunTables, metrics: Sequence[str], rules: Sequence[str]
) -> dict[tuple[str, str], MatchedTables]:
    """Return the matches of a run by rule and parser, with unmatched tables.

    The rows are read some pages at a time, and only what statistics need of them is kept.
    """
    place = pages.frame()
    parts: dict[tuple[str, str], list[pl.DataFrame]] = defaultdict(list)
    for matches, scores in tables.batches("matches", "scores"):
        answers = _answers(matches.filter(pl.col("rule").is_in(list(rules))), scores, place, metrics)
        for (rule, parser), own in answers.group_by("rule", "parser", maintain_order=True):
            parts[str(rule), str(parser)].append(own)
    names: dict[str, str] = {}
    return {
        # By text, what cannot be read cannot be found either.
        (rule, parser): _evidence(
            pages if is_by_place(rule) else pages.readable, parts.pop((rule, parser), []), metrics, names
        )
        for rule in rules
        for parser in tables.parsers
    }


_KEYS = ("sample", "parser", "rule", "element", "pred")
_KEPT = {
    "page": pl.Int64, "truth": pl.String, "pred": pl.String,
    "overlap": pl.Float64, "confidence": pl.Float64, "count": pl.Float64,
}  # fmt: skip


def _answers(
    matches: pl.DataFrame, scores: pl.DataFrame, place: pl.DataFrame, metrics: Sequence[str]
) -> pl.DataFrame:
    """Return one row for each match that has a prediction, with the value of each metric."""
    first = pl.col("truth").list.first()
    rows = (
        matches.with_columns(pl.col("truth", "pred").cast(pl.List(pl.String)))
        .filter(pl.col("pred").list.len() > 0)
        .join(place, on="sample", maintain_order="left")
        .select(
            pl.col("sample", "parser", "rule", "page", "confidence"),
            element=pl.coalesce(first, pl.col("pred").list.first()),
            truth=first.fill_null(""),
            pred=pl.col("pred").list.join("+"),
            overlap=pl.col("overlap").fill_null(0.0),
            count=pl.col("pred").list.len(),
        )
    )
    for number, metric in enumerate(metrics):
        values = scores.filter(pl.col("metric") == metric).unique(_KEYS, keep="last")
        named = values.select(*_KEYS, pl.col("value").cast(pl.Float64).alias(f"value{number}"))
        rows = rows.join(named, on=_KEYS, how="left", maintain_order="left")
    kept = [pl.col(name).cast(kind) for name, kind in _KEPT.items()]
    return rows.select("rule", "parser", *kept, pl.col(r"^value\d+$"))


def _evidence(
    pages: TruthPages, parts: list[pl.DataFrame], metrics: Sequence[str], names: dict[str, str]
) -> MatchedTables:
    """Return the matched tables of the rows of one parser under one rule, whose `value0`, `value1`, … are of
    the metrics.

    Of ids that were seen (`names`) equal ones are held once.
    """
    schema = {**_KEPT, **{f"value{number}": pl.Float64 for number in range(len(metrics))}}
    rows = pl.concat([part.select(list(schema)) for part in parts] or [pl.DataFrame(schema=schema)])
    sure = rows["confidence"].is_not_null()
    structure = {}
    for number, metric in enumerate(metrics):
        credit = metric_metadata(metric).credit
        values = rows[f"value{number}"].to_list()
        structure[metric] = np.array([0.0 if value is None else credit(value) for value in values])
    return MatchedTables(
        pages=pages,
        page=rows["page"].to_numpy(),
        truth=tuple(names.setdefault(name, name) for name in rows["truth"]),
        pred=tuple(names.setdefault(name, name) for name in rows["pred"]),
        overlap=rows["overlap"].to_numpy(),
        confidence=rows["confidence"].fill_null(1.0).to_numpy(),
        has_confidence=bool(sure.any()),
        positive=(~sure | (rows["confidence"] > CONFIDENCE_THRESHOLD)).fill_null(True).to_numpy(),
        count=rows["count"].to_numpy(),
        structure=structure,
    )
