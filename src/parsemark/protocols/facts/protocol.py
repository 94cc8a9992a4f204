"""What protocols of facts have in common: verdicts as rows of a run, figures of them, facts to look at."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from parsemark.model import Fact, Page, Prediction, Status
from parsemark.plain_words import counted
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.presentation import PageMatch, PageView, PageViews, Presentation
from parsemark.protocols.result_files import BoardRun, Files
from parsemark.protocols.run_data.rows import PageScores, ScoreRow
from parsemark.protocols.run_scores.sums import FigureSums, Floats, read_figures
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import FigureInfo, Summary

if TYPE_CHECKING:
    import polars as pl

_MAX_WORDS = 600


class TooHardError(ValueError):
    """An output on which deciding a fact would take too long; the fact counts as not passed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one fact: passed, failed, or (None) not decided, and why."""

    passed: bool | None
    why: str = ""
    counts: bool = True  # False for a fact that the benchmark itself leaves out for this parser
    found: str = ""
    """What was found, in a word, where there is more to say than passed or not; `pred` of its row."""


Decide = Callable[[Fact], Outcome]


@dataclass(frozen=True)
class FactsProtocol(PageProtocol):
    """Every test of a benchmark is passed or not; the score is the mean of the shares of groups of tests."""

    reads_facts: ClassVar[bool] = True
    is_complete: ClassVar[bool] = False
    """Whether the headline is not defined where a group has no fact that counts."""
    upstream: ClassVar[str] = ""
    """Commit or package whose rules it repeats."""
    group_word: ClassVar[str]  # what the benchmark calls a group of tests
    crashed: ClassVar[bool | None]  # what a fact is on which the benchmark's own code fails

    @property
    def rules_version(self) -> str:
        """Return the commit or package of the rules as the options choose them."""
        return self.upstream

    @cached_property
    def headline(self) -> FigureInfo:
        """Return the figure that ranks: the first one of `figures.toml` beside the protocol."""
        return next(iter(read_figures(type(self).__module__.rpartition(".")[0]).values()))

    @abstractmethod
    def deciding(self, facts: Sequence[Fact], truth: Page, prediction: Prediction) -> Decide:
        """Prepare what decides the facts of one page.

        What it gives may raise IndexError where the benchmark's own code fails, and TooHardError where ours
        gives up. Facts that cannot be read are refused by `check_fact` when their page is loaded.
        """

    @abstractmethod
    def group_of(self, fact: Fact) -> str:
        """Return the group that an assertion counts in."""

    @abstractmethod
    def result_files(self, board: BoardRun) -> Files:
        """Write the benchmark's own files."""

    def asks_about(self, fact: Fact) -> bool:
        """Return whether a fact of these rules is asked."""
        return fact.rules == self.rules

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Return one row for each fact: its metric is its group, its category its kind, its message what was
        found.

        A page on which the parser failed passes nothing; its facts stay.
        """
        facts = [fact for fact in truth.facts if self.asks_about(fact)] if truth else []
        if truth is None or not facts:
            return PageScores(scores=[ScoreRow.of_page(prediction, "facts", None, Status.NO_TRUTH)])
        has_failed = prediction.status is Status.METRIC_FAILED or (
            prediction.status is not Status.OK and prediction.text is None
        )
        decide = None if has_failed else self.deciding(facts, truth, prediction)
        rows = []
        for fact in facts:
            place = prediction.sample, fact.id, "", "", fact.kind, prediction.parser, self.group_of(fact)
            if decide is None:
                rows.append(ScoreRow(*place, None, prediction.status, prediction.message))
                continue
            outcome = self._outcome(fact, decide)
            value = None if outcome.passed is None else float(outcome.passed)
            undecided = Status.METRIC_FAILED if outcome.counts else Status.NO_TRUTH
            status = undecided if outcome.passed is None else Status.OK
            rows.append(replace(ScoreRow(*place, value, status, outcome.why or None), pred=outcome.found))
        return PageScores(scores=rows)

    def _outcome(self, fact: Fact, decide: Decide) -> Outcome:
        try:
            return decide(fact)
        except IndexError as error:
            return Outcome(self.crashed, f"upstream's code fails here: {error}")
        except TooHardError as error:
            return Outcome(None, str(error))

    def totals(self, tables: RunTables) -> FactTotals:
        """Add up the facts of a run by their groups."""
        return FactTotals.of(tables)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the headline, each group, each kind of test, and what could not be tried."""
        from parsemark.protocols.run_scores.aggregate import run_sums

        groups, kinds = self.totals(tables), FactTotals.of(tables, "category")
        return [
            groups.share(self.headline, groups.groups, complete=self.is_complete),
            *(groups.share(share_info(self.group_word, name, main=True), [name]) for name in groups.groups),
            *(kinds.share(share_info("kind", name), [name]) for name in kinds.groups),
            groups.untried(),
            *run_sums(tables),
        ]

    def summarise(self, tables: RunTables) -> Summary:
        """Return all figures, and how many facts could not be tried."""
        settings = {"rules": self.rules_version} if self.rules_version else {}
        notes = FactTotals.of(tables).notes()
        return self.summary_of(tables, self.figure_sums(tables), notes=notes, settings=settings)

    def presentation(self) -> Presentation:
        """Show facts page by page, and write the benchmark's files."""
        figure = self.headline.name

        def view(truth: Page, prediction: Prediction) -> PageView:
            """Decide the facts of a page again, and put each into words."""
            scored = self.score_page(truth, prediction)
            return view_of_facts(truth.facts, scored, prediction, figure, in_words)

        shown = PageViews(figure, "Numbers: shares of the page's assertions that passed.", view)
        return Presentation(pages=shown, result_files=self.result_files)


def view_of_facts(
    facts: Sequence[Fact],
    scored: PageScores,
    prediction: Prediction,
    figure: str,
    words: Callable[[Fact], str],
) -> PageView:
    """Return facts of a page to look at: each in words, where it stands, what the parser wrote there."""
    known = {fact.id: fact for fact in facts}
    rows = [row for row in scored.scores if row.element in known]
    matches = []
    for row in rows:
        fact = known[row.element]
        verdict = "not tried" if row.value is None else "passed" if row.value else "not passed"
        answer = f"{verdict}: {row.message}" if row.message else verdict
        kind, boxes = "pair" if row.value else "miss", () if fact.box is None else (fact.box,)
        matches.append(PageMatch(kind, row.category, words(fact), answer, row.value, boxes))
    passed = sum(row.value or 0.0 for row in rows)
    values = {figure: passed / len(rows)} if rows else {}
    message = prediction.message if prediction.status is not Status.OK else None
    return PageView(tuple(matches), (), (), (), 0, values, message)


def share_info(scope: str, name: str, *, main: bool = False) -> FigureInfo:
    """Return the share of one group or kind of tests that pass."""
    label = name.removesuffix(".jsonl").replace("_", " ")
    return FigureInfo(
        name=f"{scope}.{re.sub(r'[^A-Za-z0-9_.]', '_', name)}",
        label=label[:1].upper() + label[1:],
        definition=f"Share of the assertions of the {scope} {name} that pass.",
        denominator=f"assertions of the {scope}",
        main=main,
    )


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
        return cls.of_rows(tables, rows, sorted(rows["group"].unique()) if groups is None else groups)

    @classmethod
    def of_rows(cls, tables: RunTables, rows: pl.DataFrame, groups: Sequence[str]) -> FactTotals:
        """Add up rows of `sample`, `parser`, `value`, `status` and `group`."""
        import polars as pl

        names = tuple(groups)
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
        """Return the mean over groups of the share that passes; undefined, if `complete`, where one has no
        fact.
        """
        from parsemark.protocols.run_scores.aggregate import mean_of_quotients

        columns = [2 * self.groups.index(group) for group in groups]
        places = self.tables.places
        picked = [k for column in columns for k in (column, column + 1)]

        def cut(sums: Floats) -> Floats:
            own = sums[:, picked]
            return np.concatenate([own, own[:, 1::2].sum(axis=1, keepdims=True)], axis=1)

        sums = {parser: cut(own) for parser, own in self.sums.items()}

        def mean(totals: Floats, complete: bool = complete) -> Floats:
            return mean_of_quotients(totals[..., :-1], complete=complete)

        of_page = partial(mean, complete=False) if complete else None
        return FigureSums(info, places.samples, places.documents, sums, mean, 2 * len(columns), of_page)

    def untried(self) -> FigureSums:
        """Return how many facts were not decided."""
        from parsemark.protocols.run_scores.aggregate import total_statistic

        places = self.tables.places
        sums = {parser: own[:, -2:] for parser, own in self.sums.items()}
        info = read_figures("parsemark.protocols.run_scores", "left_out")["not_tried"]
        return FigureSums(info, places.samples, places.documents, sums, total_statistic)

    def notes(self) -> list[str]:
        """Return notes for readers of the scores."""
        most = max((float(own[:, -2].sum()) for own in self.sums.values()), default=0.0)
        said = f"Up to {counted(int(most), 'assertion')} could not be tested and count as not passed."
        return [said] if most else []


# --- facts in words -----------------------------------------------------------------------------------------


_WORDS: Mapping[str, str] = {
    "present": "The page contains {text!r}.",
    "absent": "The page does not contain {text!r}.",
    "order": "{before!r} comes before {after!r}.",
    "math": "The page has the formula {math}.",
    "format": "{text!r} is {format}.",
    "footnote": "There is a footnote {marker!r}.",
    "feature": "{means}",
    "control": "The same page without it: {title}.",
    "baseline": "The output is neither empty nor endless.",
}


def in_words(fact: Fact) -> str:
    """Return a fact as a sentence; where its kind has none, its arguments."""
    try:
        said = _WORDS[fact.kind].format(**fact.arguments)
    except (KeyError, IndexError, ValueError, AttributeError):
        arguments = json.dumps(dict(fact.arguments), ensure_ascii=False, default=str)
        said = _table_words(fact) if fact.kind in ("table", "table_cell") else f"{fact.kind}: {arguments}"
    differences = fact.arguments.get("max_diffs")
    return said[:_MAX_WORDS] + (f" It may differ in {differences}." if differences else "")


def _table_words(fact: Fact) -> str:
    arguments = {
        key: value["text"] if isinstance(value, Mapping) and "text" in value else value
        for key, value in fact.arguments.items()
        if value
    }
    cell = arguments.pop("cell", "")
    around = [f"{key.replace('_', ' ')} {value!r}" for key, value in arguments.items() if key != "max_diffs"]
    return f"A table has the cell {cell!r}" + (f" with {', '.join(around)}." if around else ".")
