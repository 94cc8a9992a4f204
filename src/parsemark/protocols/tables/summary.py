"""Aggregates of a run under the `tables` protocol.

The leaderboard needs one rule for all parsers: the one that the protocol names, or `bbox` if every
true table has a box and every parser gives boxes, otherwise `ngrams`. The summary says which and why. Each
parser's figures under every rule that applies to it stand in its details.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from parsemark.matching.tables import BOX_RULE, CONTENT_RULE, NGRAM_RULE, ORDER_RULE, THETA
from parsemark.model import Status
from parsemark.plain_words import counted
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_scores.aggregate import (
    failed_scores,
    make_figure,
    mean_sums,
    parser_figures,
    run_sums,
)
from parsemark.protocols.run_scores.slices import page_slices
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.protocols.tables.figure_definitions import SHORT_NAMES, figure_definitions, short_name
from parsemark.protocols.tables.figures import (
    SumBuilder,
    curves,
    ranked_figures,
    reliability,
    risk_over_coverage,
    table_slices,
)
from parsemark.protocols.tables.matched_tables import MatchedTables, TruthPages, gather, is_by_place
from parsemark.protocols.tables.page import BOXES_FOUND, EVIDENT_TABLES, RANKED, TABLES_FOUND
from parsemark.specs import is_derived
from parsemark.stats.detection import is_detected
from parsemark.stats.intervals import FEWEST_DOCUMENTS
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Figure, FigureInfo, Summary

RULES = (BOX_RULE, CONTENT_RULE, NGRAM_RULE)
WITHOUT_TRUTH = ("tables_per_page", "invented_characters")
"""The figures that are shown first where nothing can be scored."""
_PAGE_METRICS = {  # of whole pages: tables found, and invented text
    TABLES_FOUND: "tables_per_page",
    "invented_characters": "invented_characters",
    "invented_numbers": "invented_numbers",
}
_MOST_NAMED = 5


@dataclass(frozen=True)
class RunMatches:
    """A run as arrays: for each rule, for each parser to which it applies, what it has matched."""

    tables: RunTables
    pages: TruthPages
    metrics: tuple[str, ...]  # the structure metrics, the one of the ranking first
    by_rule: Mapping[str, Mapping[str, MatchedTables]]
    ranked: Mapping[str, Mapping[str, MatchedTables]]
    """The same, matched in order of confidence, for AP, curves and calibration."""
    without_boxes: tuple[str, ...]
    """The parsers that give no boxes, or only for less than half of their tables."""
    rule: str

    @classmethod
    def of(cls, tables: RunTables, match: str = "auto", rank_by: str = "grits_con") -> RunMatches:
        """Gather it."""
        pages = TruthPages.of(tables)
        metrics = _metrics(tables, rank_by)
        rules = (match,) if match == ORDER_RULE else RULES
        found = gather(pages, tables, metrics, [*rules, *(rule + RANKED for rule in RULES)])
        plain = {rule: {parser: found[rule, parser] for parser in tables.parsers} for rule in rules}
        is_ranked = pl.col("rule").is_in([rule + RANKED for rule in RULES])
        pairs = tables.read("matches", pl.struct("rule", "parser").unique(), where=is_ranked).to_series()
        ranked_parsers = {(row["rule"], row["parser"]) for row in pairs}
        # A parser without confidences has the same matches ranked and unranked.
        ranked = {
            rule: {
                p: found[rule + RANKED, p] if (rule + RANKED, p) in ranked_parsers else own
                for p, own in plain[rule].items()
            }
            for rule in rules
        }
        without = _without_boxes(tables)
        # One rule for all: by place where all truths and parsers have places, else by text.
        by_data = NGRAM_RULE if without or pages.n_unboxed else BOX_RULE
        rule = by_data if match == "auto" else match
        return cls(tables, pages, metrics, plain, ranked, without, rule)

    def applies(self, rule: str, parser: str) -> bool:
        """Return whether a rule can say anything about a parser."""
        return rule != BOX_RULE or (parser not in self.without_boxes and not self.pages.n_unboxed)

    @property
    def has_truth(self) -> bool:
        """Return whether any page of the run has a truth."""
        return bool(self.pages.samples)

    @cached_property
    def infos(self) -> dict[str, FigureInfo]:
        """Return all figures by name, the main ones first."""
        listed = [*figure_definitions(self.metrics), *(f.info for f in run_sums(self.tables))]
        if not self.has_truth:
            listed = [i.model_copy(update={"main": i.main or i.name in WITHOUT_TRUTH}) for i in listed]
        return {info.name: info for info in sorted(listed, key=lambda info: not info.main)}

    def figure_sums(self, rule: str | None = None) -> list[FigureSums]:
        """Return the figures that add up over pages, under a rule; those that need no rule come last."""
        matched = self.by_rule[rule or self.rule]
        found = SumBuilder(matched, self.infos).all(self.metrics) if matched else []
        if rule:
            return found
        of_pages = [
            mean_sums(self.infos[name], _page_values(self.tables, metric), "value", self.tables)
            for metric, name in _PAGE_METRICS.items()
        ]
        return [*found, *of_pages, *run_sums(self.tables)]


def summarise(
    protocol: PageProtocol, tables: RunTables, rule: str, rank_by: str, *, is_whole: bool
) -> Summary:
    """Return every figure of the run: value, 95 % confidence interval, denominator.

    By the rule `auto` the data decide how the leaderboard matches; `is_whole` says that a truth is of a whole
    document, not of a page.
    """
    run = RunMatches.of(tables, rule, rank_by)
    sums, sums_under = run.figure_sums(), {rule: run.figure_sums(rule) for rule in run.by_rule}
    by_rule = {p: [r for r in run.by_rule if run.applies(r, p)] for p in tables.parsers}
    ranked = run.ranked[run.rule]
    n_tables = tables.read("samples", "sample", "n_tables").drop_nulls().iter_rows()
    having = {sample: {"tables": "with tables" if n else "without tables"} for sample, n in n_tables}
    return protocol.summary_of(
        tables,
        sums,
        primary=f"te_f1_{short_name(run.metrics[0])}",
        settings={"match": run.rule, "theta": f"{THETA:g}"},
        counts=_counts(run, "documents" if is_whole else "pages"),
        figures=list(run.infos.values()),
        parsers={parser: _parser_figures(run, sums, parser) for parser in tables.parsers},
        slices=[*page_slices(sums, tables, having), *table_slices(run.pages, run.by_rule[run.rule])],
        notes=_notes(run, is_rule_chosen=rule != "auto"),
        details={
            "by_rule": {p: {r: _rule_figures(run, sums_under[r], r, p) for r in by_rule[p]} for p in by_rule},
            "curves": {
                p: {r: found for r in rules if (found := curves(run.ranked[r][p]))}
                for p, rules in by_rule.items()
            },
            "reliability": {parser: reliability(own) for parser, own in ranked.items()},
            "risk_coverage": {parser: risk_over_coverage(own) for parser, own in ranked.items()},
            "failures_by_status": _failures(tables),
        },
    )


def _metrics(tables: RunTables, rank_by: str) -> tuple[str, ...]:
    """Return the metrics of pairs: that of the ranking first, then as they are usually named, then by
    name.
    """
    named = tables.read("scores", pl.col("metric").unique(), where=pl.col("element") != PAGE_LEVEL)
    present = set(named["metric"]) or set(SHORT_NAMES)
    known = [metric for metric in dict.fromkeys([rank_by, *SHORT_NAMES]) if metric in present]
    return (*known, *sorted(present - set(known)))


def _page_values(tables: RunTables, metric: str) -> pl.DataFrame:
    """Return the values measured on whole pages: `sample`, `parser`, `value`."""
    of_pages = (pl.col("element") == PAGE_LEVEL) & (pl.col("metric") == metric)
    return tables.read("scores", "sample", "parser", pl.col("value").cast(pl.Float64), where=of_pages)


def _without_boxes(tables: RunTables) -> tuple[str, ...]:
    """Return the parsers less than half of whose tables have a box; one that leaves out some does without
    them.

    A run of which that was not recorded has boxes where it was matched by them.
    """
    found, boxes = (
        dict(_page_values(tables, metric).group_by("parser").agg(pl.col("value").sum()).iter_rows())
        for metric in (TABLES_FOUND, BOXES_FOUND)
    )
    by_box = tables.read("matches", pl.col("parser").unique(), where=pl.col("rule") == BOX_RULE)["parser"]
    boxed = {p: boxes[p] >= found.get(p, 0.0) / 2 if p in boxes else p in by_box for p in tables.parsers}
    return tuple(parser for parser, is_boxed in boxed.items() if not is_boxed)


def _counts(run: RunMatches, whole: str) -> dict[str, int]:
    """Return the counts of the truth; `whole` names what one truth belongs to."""
    counts = {f"{whole} with truth": len(run.pages.samples)}
    if run.has_truth:
        counts["tables"] = int(run.pages.n_truth.sum())
        counts[f"{whole} without tables"] = int((run.pages.n_truth == 0).sum())
    return counts


def _parser_figures(run: RunMatches, sums: list[FigureSums], parser: str) -> dict[str, Figure]:
    found = parser_figures(sums, parser) | ranked_figures(run.ranked[run.rule][parser])
    found |= _pieces(run, parser) | _agreement(run, parser)
    failed = pl.col("status") == str(Status.METRIC_FAILED)
    own = (pl.col("parser") == parser) & (pl.col("rule") == run.rule)
    counts = run.tables.read("scores", failed=failed.sum(), all=pl.len(), where=own)
    return {**found, "metric_failures": make_figure(*counts.row(0))}


def _pieces(run: RunMatches, parser: str) -> dict[str, Figure]:
    """Return how many true tables came merged with another, or in pieces."""
    of_parser = (pl.col("parser") == parser) & (pl.col("rule") == NGRAM_RULE)
    n = run.pages.readable.n_truth.sum()
    merged, kind = pl.col("truth").list.len().cast(pl.Int64) - 1, pl.col("kind")
    counted = {"merged_tables": merged.filter(kind == "merge").sum(), "split_tables": (kind == "split").sum()}
    *counts, n_all = run.tables.read("matches", **counted, all=pl.len(), where=of_parser).row(0)
    figures = (make_figure(count, n) if n and n_all else make_figure(None, 0) for count in counts)
    return dict(zip(counted, figures, strict=True))


def _rule_figures(run: RunMatches, sums: list[FigureSums], rule: str, parser: str) -> dict[str, Any]:
    """Return the figures under one rule as plain data."""
    found = parser_figures(sums, parser) | ranked_figures(run.ranked[rule][parser])
    return {name: figure.model_dump() for name, figure in found.items()}


def _failures(tables: RunTables) -> dict[str, dict[str, int]]:
    failed = tables.read("parses", "parser", "status", where=pl.col("status") != str(Status.OK))
    counts = failed.group_by("parser", "status").len().sort("parser", "status")
    found: dict[str, dict[str, int]] = {}
    for parser, status, n in counts.iter_rows():
        found.setdefault(parser, {})[status] = n
    return found


def _notes(run: RunMatches, *, is_rule_chosen: bool) -> list[str]:
    """Return how tables were matched, and scores that could not be computed, for the reader of the table."""
    notes = []
    if run.has_truth:
        notes = [*_match_notes(run, is_rule_chosen), *_unread(run), *_doubtful_negatives(run)]
    is_failure = (pl.col("rule") == run.rule) & (pl.col("status") == str(Status.METRIC_FAILED))
    columns = ("parser", "sample", "element", "metric", "message")
    rows = run.tables.read("scores", *columns, where=is_failure)
    for parser, failed, why in failed_scores(rows, run.tables.parsers):
        count = "counts" if failed.height == 1 else "count"
        notes.append(
            f"{parser}: {counted(failed.height, 'score')} could not be computed and {count} as zero. "
            f"{failed['metric'][0]} on {why}"
        )
    return notes + _found(run)


def _found(run: RunMatches) -> list[str]:
    """Return notes on tables found in so few documents that nothing follows for others."""
    n_tables = int(run.pages.n_truth.sum())
    if not n_tables or len(set(run.pages.documents)) >= FEWEST_DOCUMENTS:
        return []
    said = [
        f"{parser} {int(is_detected(own.overlap, THETA)[own.positive].sum())} of {n_tables}"
        for parser, own in run.by_rule[run.rule].items()
    ]
    return [f"Tables found: {', '.join(said)}. There are too few documents for a confidence interval."]


def _match_notes(run: RunMatches, is_rule_chosen: bool) -> list[str]:
    names = ", ".join(run.without_boxes)
    n_tables, n_unboxed = int(run.pages.n_truth.sum()), run.pages.n_unboxed
    give, whose = ("gives", "its") if len(run.without_boxes) == 1 else ("give", "their")
    have, count, them = ("has", "counts", "it") if n_unboxed == 1 else ("have", "count", "them")
    unboxed = f"{n_unboxed} of {counted(n_tables, 'true table')} {have} no box"
    by_text, notes = f"matched to the truth by text ({run.rule}), since", []
    if run.rule == BOX_RULE and n_unboxed:
        notes.append(f"match=bbox, but {unboxed} and {count} as missed.")
    if run.rule == BOX_RULE and names:
        notes.append(f"match=bbox, but {names} {give} no boxes (or for less than half of {whose} tables).")
    if run.rule == BOX_RULE or is_rule_chosen:
        return notes
    if 0 < n_unboxed < n_tables:
        notes.append(f"Tables are {by_text} {unboxed}; `tables(match=bbox)` counts {them} as missed.")
    if names and not n_unboxed:
        n_others = len(run.tables.parsers) - len(run.without_boxes)
        who = "All tables are" if n_others else "Tables are"
        whose = "the other parser's" if n_others == 1 else "the other parsers'"
        hint = f' `--protocol "tables(match=bbox)"` matches {whose} tables by position.' if n_others else ""
        notes.append(f"{who} {by_text} {names} {give} no boxes.{hint}")
    return notes


def _unread(run: RunMatches) -> list[str]:
    """Return notes on unreadable true tables, and on what of them counts."""
    if not run.pages.unread:
        return []
    n, n_tables = len(run.pages.unread), int(run.pages.n_truth.sum())
    who, one = f"{n} of {counted(n_tables, 'true table')} cannot be read", n == 1
    if is_by_place(run.rule):
        found = "it counts in detection, but its" if one else "they count in detection, but their"
        return [f"{who}: {found} content is excluded from every parser's score."]
    they, pages = ("it counts", "its page") if one else ("they count", "their pages")
    return [
        f"{who}: {they} in no score of any parser. Nor do predictions on {pages} that match no other table."
    ]


def _doubtful_negatives(run: RunMatches) -> list[str]:
    """Return pages without a table in the truth on which most engines find one: perhaps it is the truth."""
    negative = [s for s, n in zip(run.pages.samples, run.pages.n_truth, strict=True) if n == 0]
    found = _page_values(run.tables, EVIDENT_TABLES).filter(
        (pl.col("value") > 0) & pl.col("sample").is_in(negative)
    )
    engines = {parser: e for parser, e in run.tables.engines.items() if not is_derived(parser)}
    pairs = found.select("sample", "parser").iter_rows()
    counts = Counter(sample for sample, _ in {(s, engines[p]) for s, p in pairs if p in engines})
    least = max(2, len(set(engines.values())) // 2 + 1)
    doubtful = sorted(sample for sample, n in counts.items() if n >= least)
    if not doubtful:
        return []
    n_more = len(doubtful) - _MOST_NAMED
    named = ", ".join(doubtful[:_MOST_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
    where = counted(len(doubtful), "page")
    return [
        f"Most parsers find a table on {where} without tables in the truth: {named}. Is the truth complete?"
    ]


def _agreement(run: RunMatches, parser: str) -> dict[str, Figure]:
    """Return how well content-Jaccard > θ tells what IoU > θ says (their Table 5)."""
    if BOX_RULE not in run.by_rule or not run.applies(BOX_RULE, parser):
        return {}
    by_box, by_content = run.by_rule[BOX_RULE][parser], run.by_rule[CONTENT_RULE][parser]
    truth = {
        (p, name): bool(j > THETA)
        for p, name, j in zip(by_box.page, by_box.pred, by_box.overlap, strict=True)
    }
    # Predictions under the threshold of confidence are no predictions of a table under either rule.
    guesses = zip(by_content.page, by_content.pred, by_content.overlap, by_content.positive, strict=True)
    pairs = [(j > THETA, truth.get((p, name), False)) for p, name, j, is_counted in guesses if is_counted]
    both = sum(g and t for g, t in pairs)
    n_guessed, n_true = sum(g for g, _ in pairs), sum(t for _, t in pairs)
    return {
        "content_for_bbox_precision": make_figure(both / n_guessed if n_guessed else None, n_guessed),
        "content_for_bbox_recall": make_figure(both / n_true if n_true else None, n_true),
    }
