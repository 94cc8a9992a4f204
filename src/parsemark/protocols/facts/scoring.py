"""Verdicts on facts as rows of a run, and figures of them: shares of groups, and the mean of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from parsemark.model import Fact, Page, Prediction, Status
from parsemark.plain_words import counted
from parsemark.protocols.figures import FigureInfo, FigureSums, Floats
from parsemark.protocols.rows import PageScores, ScoreRow
from parsemark.protocols.run_tables import RunTables


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one fact: passed, failed, or (None) not decided, and why."""

    passed: bool | None
    why: str = ""
    counts: bool = True
    """False for a fact that the board itself leaves out for this parser."""


NOT_TRIED = FigureInfo(
    name="not_tried",
    label="Not tried",
    definition="Facts that could not be decided here: no browser for a formula, or a search that takes too "
    "long. They count as not passed.",
    denominator="all facts",
    style="count",
    higher_is_better=False,
)


def facts_of(truth: Page | None, rules: str) -> tuple[Fact, ...]:
    """The facts of a page that these rules decide."""
    return () if truth is None else tuple(fact for fact in truth.facts if fact.rules == rules)


def fact_rows(
    prediction: Prediction,
    facts: Iterable[Fact],
    group_of: Callable[[Fact], str],
    decide: Callable[[Fact], Outcome],
) -> PageScores:
    """One row for each fact: its metric is its group, its category its kind, its message what was found.

    A page on which the parser failed passes nothing; its facts stay.
    """
    rows = []
    for fact in facts:
        place = prediction.sample, fact.id, "", "", fact.kind, prediction.parser, group_of(fact)
        if prediction.status is Status.METRIC_FAILED or (
            prediction.status is not Status.OK and prediction.text is None
        ):
            rows.append(ScoreRow(*place, None, prediction.status, prediction.message))
            continue
        outcome = decide(fact)
        value = None if outcome.passed is None else float(outcome.passed)
        undecided = Status.METRIC_FAILED if outcome.counts else Status.NO_TRUTH
        status = undecided if outcome.passed is None else Status.OK
        rows.append(ScoreRow(*place, value, status, outcome.why or None))
    return PageScores(scores=rows)


def nothing_to_ask(prediction: Prediction, metric: str) -> PageScores:
    """The row of a page about which nothing is asked."""
    return PageScores(scores=[ScoreRow.of_page(prediction, metric, None, Status.NO_TRUTH)])


@dataclass(frozen=True)
class FactTotals:
    """Passed facts, facts and undecided ones of each page, group by group."""

    tables: RunTables
    groups: tuple[str, ...]
    sums: dict[str, Floats]
    """Parser to (pages, 2 × groups + 2): passed and all of each group, then undecided and all."""

    @classmethod
    def of(
        cls,
        tables: RunTables,
        key: str = "metric",
        groups: Sequence[str] | None = None,
        metric: str | None = None,
    ) -> FactTotals:
        """Add up the rows of a run, or of one metric, by `metric` (the group) or `category` (the kind)."""
        import polars as pl

        where = (pl.col("element") != "") & (pl.col("metric") == metric if metric else True)
        rows = tables.read("scores", "sample", "parser", "value", "status", group=key, where=where)
        names = tuple(sorted(rows["group"].unique()) if groups is None else groups)
        position = {sample: k for k, sample in enumerate(tables.places.samples)}
        column = {name: 2 * k for k, name in enumerate(names)}
        sums = {parser: np.zeros((len(position), 2 * len(names) + 2)) for parser in tables.parsers}
        added = rows.group_by("sample", "parser", "group").agg(
            passed=pl.col("value").sum(),
            untried=(pl.col("status") == str(Status.METRIC_FAILED)).sum(),
            n=(pl.col("status") != str(Status.NO_TRUTH)).sum(),
        )
        for sample, parser, group, passed, untried, n in added.iter_rows():
            if parser not in sums or group not in column:
                continue
            row = sums[parser][position[sample]]
            row[column[group]] += passed
            row[column[group] + 1] += n
            row[-2] += untried
            row[-1] += n
        return cls(tables, names, sums)

    def share(self, info: FigureInfo, groups: Sequence[str], *, complete: bool = False) -> FigureSums:
        """The mean over groups of the share that passes; the share itself for one group.

        Args:
            info: What it is.
            groups: Which ones.
            complete: Whether it is not defined where a group has no fact that counts.
        """
        columns = [2 * self.groups.index(group) for group in groups]
        places = self.tables.places
        picked = [k for column in columns for k in (column, column + 1)]

        def cut(sums: Floats) -> Floats:
            own = sums[:, picked]
            return np.concatenate([own, own[:, 1::2].sum(axis=1, keepdims=True)], axis=1)

        sums = {parser: cut(own) for parser, own in self.sums.items()}
        statistic = complete_mean_of_shares if complete else mean_of_shares
        per_page = mean_of_shares if complete else None
        return FigureSums(info, places.samples, places.documents, sums, statistic, 2 * len(columns), per_page)

    def untried(self) -> FigureSums:
        """How many facts were not decided."""
        from parsemark.protocols.aggregate import total_statistic

        places = self.tables.places
        sums = {parser: own[:, -2:] for parser, own in self.sums.items()}
        return FigureSums(NOT_TRIED, places.samples, places.documents, sums, total_statistic)

    def notes(self) -> list[str]:
        """What whoever reads the numbers must know."""
        most = max((float(own[:, -2].sum()) for own in self.sums.values()), default=0.0)
        return (
            [f"Up to {counted(int(most), 'fact')} could not be tried and count as not passed."]
            if most
            else []
        )


def mean_of_shares(totals: Floats) -> Floats:
    """The unweighted mean of quotients; groups without a fact are left out, without any it is not defined."""
    passed, n = totals[..., 0:-1:2], totals[..., 1:-1:2]
    shares = np.divide(passed, n, out=np.zeros_like(passed, dtype=float), where=n > 0)
    known = (n > 0).sum(axis=-1)
    return np.where(known > 0, shares.sum(axis=-1) / np.maximum(known, 1), np.nan)


def complete_mean_of_shares(totals: Floats) -> Floats:
    """The same; not defined where a group has no fact."""
    return np.where((totals[..., 1:-1:2] > 0).all(axis=-1), mean_of_shares(totals), np.nan)
