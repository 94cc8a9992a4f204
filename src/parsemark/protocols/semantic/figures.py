"""The figures of a run: the columns of Horn & Keuper's Table 3, and the histograms of their Figure 6."""

import json
from typing import Any

import polars as pl

from parsemark.formats.model_json import page_from_json
from parsemark.model import Status
from parsemark.plain_words import counted
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_scores.aggregate import failed_scores, mean_sums, run_sums, sums_of_rows
from parsemark.protocols.run_scores.pair_verdicts import rank
from parsemark.protocols.run_scores.slices import page_slices
from parsemark.protocols.run_scores.sums import FigureSums, read_figures
from parsemark.protocols.semantic.options import SemanticOptions
from parsemark.protocols.semantic.page import (
    EXTRA_TABLES,
    JUDGE_COST,
    JUDGE_SECONDS,
    NOT_JUDGED,
    SEMANTIC,
    TEDS,
    truth_complexity,
)
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Ranking, Summary

PRIMARY = "semantic"
LEVELS = ("simple", "moderate", "complex")
_SKIPPED = pl.col("message").fill_null("").str.starts_with(NOT_JUDGED) & pl.col("value").is_null()


def figure_sums(judge: str, tables: RunTables) -> list[FigureSums]:
    """Return the sums behind the figures, page by page."""
    levels = [{"level": level, "Level": level.capitalize()} for level in LEVELS]
    infos = read_figures(__package__, words={"judge": judge}, each={"level": levels})
    rows, _ = _table_rows(tables)
    semantic = rows.filter(pl.col("metric") == SEMANTIC)
    # Who judges is shown what was matched; so where nothing was, it was the matcher who gave no answer.
    matched = ~(_SKIPPED & (pl.col("pred") == ""))
    # All means are over the same tables: what was not judged for one parser, of those for which the judge was
    # asked at all, is left out for all.
    asked = semantic.filter(~_SKIPPED)["parser"].unique().implode()
    skipped = semantic.filter(_SKIPPED & pl.col("parser").is_in(asked))
    judged = semantic.filter(~_SKIPPED).join(skipped, on=["sample", "element"], how="anti")
    value = pl.col("value").fill_null(0.0)
    answered = pl.col("pred") != ""
    teds = rows.filter(
        (pl.col("metric") == TEDS) & matched & (pl.col("message").fill_null("") != "the truth has no grid")
    )
    pages = tables.scores.filter(pl.col("element") == PAGE_LEVEL)

    def sums(name: str, frame: pl.DataFrame, expression: pl.Expr) -> FigureSums:
        return sums_of_rows(infos[name], frame, expression, tables)

    found = [
        sums(PRIMARY, judged, value),
        *(sums(f"{PRIMARY}_{level}", judged.filter(pl.col("level") == level), value) for level in LEVELS),
        sums(TEDS, teds, value),
        sums("found", semantic.filter(matched), answered),
        sums("semantic_found", judged.filter(answered), value),
        sums("perfect", judged, value >= 9.95),
        sums("useless", judged, value < 0.5),
        sums("not_judged", semantic, _SKIPPED),
    ]
    names = {"extra_tables_per_page": EXTRA_TABLES, "judge_usd_per_page": JUDGE_COST}
    for name, metric in (names | {"judge_s_per_page": JUDGE_SECONDS}).items():
        found.append(mean_sums(infos[name], pages.filter(pl.col("metric") == metric), "value", tables))
    return [*found, *run_sums(tables)]


def _table_rows(tables: RunTables) -> tuple[pl.DataFrame, int]:
    """Return the scores of tables, with the complexity of each truth, and how many truths cannot be read."""
    truths = (
        (sample, truth.id, truth_complexity(truth), truth.is_unread)
        for sample, text in tables.samples.select("sample", "truth").iter_rows()
        if text
        for truth in page_from_json(json.loads(text)).tables
    )
    schema = {"sample": pl.String, "element": pl.String, "level": pl.String, "unread": pl.Boolean}
    known = pl.DataFrame(list(truths), schema=schema, orient="row")
    of_tables = tables.scores.filter(pl.col("element") != PAGE_LEVEL)
    rows = of_tables.join(known.drop("unread"), on=["sample", "element"], how="left")
    return rows, int(known["unread"].sum())


def summarise(protocol: SemanticOptions, tables: RunTables) -> Summary:
    """Return every figure of the run: value, 95 % confidence interval, denominator."""
    sums = figure_sums(protocol.judge, tables)
    rows, n_unread = _table_rows(tables)
    semantic = rows.filter(pl.col("metric") == SEMANTIC)
    first = semantic.unique(["sample", "element"], keep="first", maintain_order=True)
    failed = semantic.filter(pl.col("status") == str(Status.METRIC_FAILED))
    n_skipped = semantic.filter(_SKIPPED).height
    ranking = rank(sums[0])
    return protocol.summary_of(
        tables,
        sums,
        ranking=_open(ranking) if n_skipped else ranking,
        settings={"judge": protocol.judge, "match": protocol.match},
        counts={
            "tables": first.height,
            **{f"{level} tables": first.filter(pl.col("level") == level).height for level in LEVELS},
        },
        slices=page_slices([s for s in sums if s.info.main], tables),
        notes=[
            *[
                f"This run is incomplete: {counted(n_skipped, 'verdict')} are missing, so the "
                "comparison stays open. Score the run again; only the missing verdicts are requested."
            ]
            * bool(n_skipped),
            *[f"{counted(n_unread, 'true table')} cannot be read and are excluded from every parser's score."]
            * bool(n_unread),
            *(
                f"{who}: {counted(own.height, 'table')} {'have' if len(own) > 1 else 'has'} no verdict. {why}"
                for who, own, why in failed_scores(failed, tables.parsers)
            ),
        ],
        details={"histogram": {parser: histogram(semantic, parser) for parser in tables.parsers}},
    )


def _open(ranking: Ranking) -> Ranking:
    """Return the same pairs without a decision: tables that were not judged must win nothing for anybody."""
    open_: dict[str, Any] = {
        "best": None,
        "ranks": dict.fromkeys(ranking.ranks, (1, len(ranking.ranks))),
        "verdicts": [verdict.undecided() for verdict in ranking.verdicts],
        "resolution": None,
        "is_incomplete": True,
    }
    return ranking.model_copy(update=open_)


def histogram(semantic: pl.DataFrame, parser: str) -> dict[str, Any]:
    """Return how many tables have which score, rounded; missed tables apart from those that score 0."""
    own = semantic.filter(pl.col("parser") == parser)
    scores = own["value"].drop_nulls().round().cast(pl.Int64).to_list()
    skipped = own.filter(_SKIPPED).height
    return {
        "scores": [scores.count(k) for k in range(11)],
        "without_value": own.height - len(scores) - skipped,
        "not_judged": skipped,
    }
