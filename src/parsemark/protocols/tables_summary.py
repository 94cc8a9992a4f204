"""Aggregates of a run under the `tables` protocol: what `summary.json` holds.

The leaderboard needs one rule for all contestants: `bbox` if every parser of the run gives boxes, otherwise
`ngrams`. Each parser's figures under every rule that applies to it stand under `by_rule`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from parsemark.matching import bbox, content, ngrams
from parsemark.model import Status
from parsemark.protocols import tables_figures as figures
from parsemark.protocols.tables import TABLES_FOUND
from parsemark.protocols.tables_attributes import attribute_figures, attribute_groups
from parsemark.protocols.tables_evidence import Evidence, Pages, gather
from parsemark.stats.bootstrap import bootstrap_interval, sum_by_cluster
from parsemark.stats.comparison import ALPHA, PairedTest, compare_all, holm, rank_intervals
from parsemark.stats.detection import is_detected, ratio

RULES = (bbox.RULE, content.RULE, ngrams.RULE)
PRIMARY_METRIC = "grits_con"
"""The structure metric of the ranking: of the three it agrees best with people."""


def summarise(
    samples: pl.DataFrame, parses: pl.DataFrame, matches: pl.DataFrame, scores: pl.DataFrame
) -> dict[str, Any]:
    """Every figure of the run: value, 95 % interval clustered by document, denominator."""
    pages = Pages.from_frame(samples)
    parsers = sorted(parses["parser"].unique())
    evidence = {parser: _by_rule(pages, parser, matches, scores) for parser in parsers}
    rule = headline_rule(evidence)
    groups = attribute_groups(samples, pages.index)
    summary: dict[str, Any] = {
        "protocol": "tables",
        "rule": rule,
        "theta": figures.THETA,
        "primary": f"te_f1_{figures.METRIC_NAMES[PRIMARY_METRIC]}",
        "n_pages": samples.height,
        "n_pages_with_truth": len(pages.samples),
        "n_tables": int(pages.n_truth.sum()),
        "n_negative_pages": int((pages.n_truth == 0).sum()),
        "parsers": {},
    }
    for parser in parsers:
        by_rule = {name: _rule_figures(name, found) for name, found in evidence[parser].items()}
        ranked = evidence[parser].get(bbox.RULE, evidence[parser][content.RULE])
        summary["parsers"][parser] = {
            **by_rule[rule],
            **figures.confidence_figures(ranked),
            **_page_figures(samples, parses, scores, parser),
            **_metric_failures(scores, parser, rule),
            "by_rule": by_rule,
            "by_attribute": attribute_figures(groups, evidence[parser][rule]),
            **_agreement(evidence[parser]),
        }
    summary["comparison"] = _comparison({p: e[rule] for p, e in evidence.items()})
    return summary


def headline_rule(evidence: Mapping[str, Mapping[str, Evidence]]) -> str:
    """`bbox` if every parser gives boxes on every page on which it found anything, else `ngrams`."""
    return bbox.RULE if all(bbox.RULE in rules for rules in evidence.values()) else ngrams.RULE


def headline_rule_of(matches: pl.DataFrame, parser: str) -> str:
    """The rule that a parser would be judged by if it were alone."""
    own = matches.filter((pl.col("parser") == parser) & (pl.col("pred").list.len() > 0))
    n_by_box, n_by_content = (own.filter(pl.col("rule") == r).height for r in (bbox.RULE, content.RULE))
    return bbox.RULE if n_by_box >= n_by_content else ngrams.RULE


def _by_rule(pages: Pages, parser: str, matches: pl.DataFrame, scores: pl.DataFrame) -> dict[str, Evidence]:
    own_matches, own_scores = (
        matches.filter(pl.col("parser") == parser),
        scores.filter(pl.col("parser") == parser),
    )
    metrics = own_scores.filter(pl.col("rule") != "")["metric"].unique().sort().to_list()
    found = {
        rule: gather(
            pages,
            own_matches.filter(pl.col("rule") == rule),
            own_scores.filter(pl.col("rule") == rule),
            metrics or list(figures.METRIC_NAMES),
        )
        for rule in RULES
    }
    # Pages whose tables have no boxes are not matched by boxes; figures of the other pages would flatter.
    if len(found[bbox.RULE].page) < len(found[content.RULE].page):
        del found[bbox.RULE]
    return found


def _rule_figures(rule: str, evidence: Evidence) -> dict[str, Any]:
    # The n-gram matcher sees positive predictions only, so it has no ranked list to speak of.
    ranked = {} if rule == ngrams.RULE else figures.confidence_figures(evidence)
    negative = evidence.pages.n_truth == 0
    n_pred = figures.page_sums(evidence, is_detected(evidence.overlap, figures.THETA))[:, 1]
    false_tables = np.stack([n_pred, np.ones(len(n_pred)), n_pred > 0], axis=1) * negative[:, None]
    by_document = sum_by_cluster(false_tables, evidence.pages.documents)[0]
    n = int(negative.sum())
    return {
        **figures.detection_figures(evidence),
        **figures.extraction_figures(evidence),
        **ranked,
        "false_tables_per_negative_page": figures.from_sums(
            by_document, lambda t: ratio(t[..., 0], t[..., 1]), n
        ),
        "negative_pages_with_false_tables": figures.from_sums(
            by_document, lambda t: ratio(t[..., 2], t[..., 1]), n
        ),
    }


def _page_figures(
    samples: pl.DataFrame, parses: pl.DataFrame, scores: pl.DataFrame, parser: str
) -> dict[str, Any]:
    """Failures, time, memory, cost, tables found and invented text: figures that need no truth."""
    own = parses.filter(pl.col("parser") == parser).join(
        samples.select("sample", "document"), on="sample", how="left"
    )
    failed = own.filter(pl.col("status") != str(Status.OK))
    found: dict[str, Any] = {
        "failures": figures.figure(failed.height, own.height),
        "failures_by_status": {s: int(n) for s, n in failed["status"].value_counts().iter_rows()},
    }
    for column, name in (
        ("cpu_s", "cpu_s_per_page"),
        ("wall_s", "wall_s_per_page"),
        ("peak_memory_mb", "peak_memory_mb_per_page"),
        ("cost_usd", "cost_usd_per_page"),
    ):
        found[name] = _mean_figure(own.filter(pl.col(column).is_not_null()), column)
    of_pages = scores.filter(
        (pl.col("parser") == parser) & (pl.col("rule") == "") & pl.col("value").is_not_null()
    ).join(samples.select("sample", "document"), on="sample", how="left")
    for metric, name in (
        (TABLES_FOUND, "tables_per_page"),
        ("invented_characters", "invented_characters"),
        ("invented_numbers", "invented_numbers"),
    ):
        found[name] = _mean_figure(of_pages.filter(pl.col("metric") == metric), "value")
    return found


def _metric_failures(scores: pl.DataFrame, parser: str, rule: str) -> dict[str, Any]:
    """Pairs that a metric could not score; they count as zero, so they must not go unseen."""
    own = scores.filter((pl.col("parser") == parser) & (pl.col("rule") == rule))
    failed = own.filter(pl.col("status") == str(Status.METRIC_FAILED))
    first = (
        failed.sort("sample", "element", "metric").select("sample", "metric", "message").head(1).to_dicts()
    )
    return {
        "metric_failures": figures.figure(failed.height, own.height),
        "first_metric_failure": first[0] if first else None,
    }


def _mean_figure(rows: pl.DataFrame, column: str) -> figures.Figure:
    values = rows[column].to_numpy().astype(float)
    if not len(values):
        return figures.figure(None, 0)
    sums = sum_by_cluster(np.stack([values, np.ones(len(values))], axis=1), rows["document"].to_list())[0]
    interval = bootstrap_interval(sums, lambda t: ratio(t[..., 0], t[..., 1]))
    return figures.figure(float(values.mean()), len(values), interval)


def _agreement(rules: Mapping[str, Evidence]) -> dict[str, Any]:
    """How well content-Jaccard > θ tells what IoU > θ says (their Table 5)."""
    if bbox.RULE not in rules:
        return {}
    by_box, by_content = rules[bbox.RULE], rules[content.RULE]
    truth = {
        (p, name): bool(j > figures.THETA)
        for p, name, j in zip(by_box.page, by_box.pred, by_box.overlap, strict=True)
    }
    guesses = zip(by_content.page, by_content.pred, by_content.overlap, strict=True)
    pairs = [(j > figures.THETA, truth.get((p, name), False)) for p, name, j in guesses]
    both = sum(g and t for g, t in pairs)
    n_guessed, n_true = sum(g for g, _ in pairs), sum(t for _, t in pairs)
    return {
        "content_for_bbox_precision": figures.figure(both / n_guessed if n_guessed else None, n_guessed),
        "content_for_bbox_recall": figures.figure(both / n_true if n_true else None, n_true),
    }


def _other(test: PairedTest, name: str) -> str:
    return test.b if test.a == name else test.a


def _comparison(evidence: Mapping[str, Evidence]) -> dict[str, Any]:
    """Paired tests between all parsers on the primary figure, and who cannot be told from the best."""
    sums = {
        parser: figures.document_sums(found, figures.extraction_credit(found, PRIMARY_METRIC))
        for parser, found in evidence.items()
        if PRIMARY_METRIC in found.structure
    }
    if not sums or len(next(iter(sums.values()))) == 0:
        return {"best": None, "tied_with_best": [], "p_against_best": {}, "ranks": {}, "pairs": []}
    value = {parser: float(figures.f1_statistic(s.sum(axis=0))) for parser, s in sums.items()}
    best = max(value, key=lambda parser: value[parser])
    if value[best] == 0:
        return {"best": None, "tied_with_best": [], "p_against_best": {}, "ranks": {}, "pairs": []}
    tests = compare_all(sums, figures.f1_statistic)
    against_best = [t for t in tests if best in (t.a, t.b)]
    # Whether the best can be told from each other one is a question of its own, with its own correction.
    corrected = dict(
        zip((_other(t, best) for t in against_best), holm([t.p for t in against_best]), strict=True)
    )
    return {
        "best": best,
        "tied_with_best": sorted(parser for parser, p in corrected.items() if p >= ALPHA),
        "p_against_best": corrected,
        "ranks": {parser: list(r) for parser, r in rank_intervals(sums, figures.f1_statistic).items()},
        "pairs": [
            {
                "a": t.a,
                "b": t.b,
                "difference": t.difference,
                "ci95": list(t.ci95) if t.ci95 else None,
                "p": t.p,
                "p_holm": t.p_holm,
                "n_documents": t.n_clusters,
            }
            for t in tests
        ],
    }
