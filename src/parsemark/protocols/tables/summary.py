"""Aggregates of a run under the `tables` protocol.

The leaderboard needs one rule for all contestants: `bbox` if every parser of the run gives boxes, otherwise
`ngrams`, unless the protocol was told which. Each parser's figures under every rule that applies to it stand
in the summary's details.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from parsemark.matching import bbox, content, ngrams
from parsemark.model import Status
from parsemark.protocols.aggregate import (
    make_figure,
    mean_sums,
    page_groups,
    page_slices,
    parser_figures,
    rank,
    run_sums,
)
from parsemark.protocols.base import (
    PAGE_LEVEL,
    Figure,
    FigureInfo,
    FigureSums,
    PageProtocol,
    Ranking,
    RunTables,
    Summary,
)
from parsemark.protocols.tables.evidence import Evidence, Pages, gather
from parsemark.protocols.tables.figures import THETA, SumBuilder, curves, ranked_figures, reliability
from parsemark.protocols.tables.infos import SHORT_NAMES, figure_infos, short_name
from parsemark.protocols.tables.page import TABLES_FOUND
from parsemark.protocols.tables.slices import table_slices

RULES = (bbox.RULE, content.RULE, ngrams.RULE)
PRIMARY_METRIC = "grits_con"
"""The structure metric of the ranking: of the three it agrees best with people."""
WITHOUT_TRUTH = ("tables_per_page", "invented_characters")
"""The figures that are shown first where nothing can be scored."""
_PAGE_METRICS = {
    TABLES_FOUND: "tables_per_page",
    "invented_characters": "invented_characters",
    "invented_numbers": "invented_numbers",
}
_MAX_REASON = 300


@dataclass(frozen=True)
class RunEvidence:
    """A run as arrays: for each rule, for each parser to which it applies, its evidence."""

    tables: RunTables
    pages: Pages
    metrics: tuple[str, ...]
    """The structure metrics, the one of the ranking first."""
    by_rule: Mapping[str, Mapping[str, Evidence]]
    rule: str
    """By which the leaderboard matches."""

    @classmethod
    def of(cls, tables: RunTables, match: str = "auto") -> RunEvidence:
        """Gather it."""
        pages = Pages.from_frame(tables.samples)
        metrics = _metrics(tables.scores)
        by_rule: dict[str, dict[str, Evidence]] = {rule: {} for rule in RULES}
        for parser in tables.parsers:
            for rule, evidence in _by_rule(pages, parser, tables, metrics).items():
                by_rule[rule][parser] = evidence
        return cls(tables, pages, metrics, by_rule, headline_rule(by_rule, tables.parsers, match))

    @property
    def has_truth(self) -> bool:
        """Whether any page of the run has a truth."""
        return bool(self.pages.samples)

    @cached_property
    def infos(self) -> dict[str, FigureInfo]:
        """All figures by name, the main ones first."""
        listed = [*figure_infos(self.metrics), *(f.info for f in run_sums(self.tables))]
        if not self.has_truth:
            listed = [i.model_copy(update={"main": i.main or i.name in WITHOUT_TRUTH}) for i in listed]
        return {info.name: info for info in sorted(listed, key=lambda info: not info.main)}

    def figure_sums(self, rule: str | None = None) -> list[FigureSums]:
        """The figures that add up over pages, under a rule; those that need no rule come last."""
        evidence = self.by_rule[rule or self.rule]
        found = SumBuilder(evidence, self.infos).all(self.metrics) if evidence else []
        return found if rule else [*found, *self._page_sums(), *run_sums(self.tables)]

    def _page_sums(self) -> list[FigureSums]:
        """Tables found and invented text: measures of whole pages."""
        of_pages = self.tables.scores.filter(pl.col("element") == PAGE_LEVEL)
        return [
            mean_sums(self.infos[name], of_pages.filter(pl.col("metric") == metric), "value", self.tables)
            for metric, name in _PAGE_METRICS.items()
        ]


def summarise(protocol: PageProtocol, tables: RunTables) -> Summary:
    """Every figure of the run: value, 95 % interval clustered by document, denominator."""
    run = RunEvidence.of(tables, getattr(protocol, "match", "auto"))
    sums = run.figure_sums()
    primary = f"te_f1_{short_name(run.metrics[0])}"
    evidence = run.by_rule[run.rule]
    return Summary(
        protocol=str(protocol),
        comparability=protocol.comparability,
        primary=primary,
        settings={"match": run.rule, "theta": f"{THETA:g}"},
        counts=_counts(run),
        figures=list(run.infos.values()),
        parsers={parser: _parser_figures(run, sums, parser) for parser in tables.parsers},
        slices=[
            *page_slices(sums, _groups(tables.samples)),
            *table_slices(tables.samples, evidence),
        ],
        ranking=next((rank(s) for s in sums if s.info.name == primary), Ranking(figure=primary)),
        notes=_notes(run),
        details={
            "by_rule": {
                parser: {
                    rule: _rule_figures(run, rule, parser) for rule in RULES if parser in run.by_rule[rule]
                }
                for parser in tables.parsers
            },
            "curves": {
                parser: {
                    rule: found for rule in (bbox.RULE, content.RULE) if (found := _curves(run, rule, parser))
                }
                for parser in tables.parsers
            },
            "reliability": {parser: reliability(_ranked_evidence(run, parser)) for parser in tables.parsers},
            "failures_by_status": _failures(tables),
        },
    )


def headline_rule(by_rule: Mapping[str, Mapping[str, Evidence]], parsers: list[str], match: str) -> str:
    """`bbox` if every parser gives boxes on every page on which it found anything, else `ngrams`."""
    if match != "auto":
        return match
    return bbox.RULE if all(parser in by_rule[bbox.RULE] for parser in parsers) else ngrams.RULE


def _metrics(scores: pl.DataFrame) -> tuple[str, ...]:
    """The metrics of pairs: that of the ranking first, then as they are usually named, then by name."""
    present = set(scores.filter(pl.col("element") != PAGE_LEVEL)["metric"].unique()) or set(SHORT_NAMES)
    order = [PRIMARY_METRIC, "teds", "grits_top"]
    known = [metric for metric in order if metric in present]
    return (*known, *sorted(present - set(known)))


def _by_rule(pages: Pages, parser: str, tables: RunTables, metrics: tuple[str, ...]) -> dict[str, Evidence]:
    own_matches = tables.matches.filter(pl.col("parser") == parser)
    own_scores = tables.scores.filter(pl.col("parser") == parser)
    found = {
        rule: gather(
            pages,
            own_matches.filter(pl.col("rule") == rule),
            own_scores.filter(pl.col("rule") == rule),
            metrics,
        )
        for rule in RULES
    }
    # Pages whose tables have no boxes are not matched by boxes; figures of the other pages would flatter.
    if len(found[bbox.RULE].page) < len(found[content.RULE].page):
        del found[bbox.RULE]
    return found


def _counts(run: RunEvidence) -> dict[str, int]:
    counts = {
        "documents": run.tables.samples["document"].n_unique(),
        "pages": run.tables.samples.height,
        "pages with truth": len(run.pages.samples),
    }
    if run.has_truth:
        counts["tables"] = int(run.pages.n_truth.sum())
        counts["pages without tables"] = int((run.pages.n_truth == 0).sum())
    return counts


def _parser_figures(run: RunEvidence, sums: list[FigureSums], parser: str) -> dict[str, Figure]:
    found = {
        **parser_figures(sums, parser),
        **ranked_figures(_ranked_evidence(run, parser)),
        **_agreement(run, parser),
    }
    own = _scores_of(run, parser)
    failed = own.filter(pl.col("status") == str(Status.METRIC_FAILED))
    return {**found, "metric_failures": make_figure(failed.height, own.height)}


def _scores_of(run: RunEvidence, parser: str) -> pl.DataFrame:
    return run.tables.scores.filter((pl.col("parser") == parser) & (pl.col("rule") == run.rule))


def _ranked_evidence(run: RunEvidence, parser: str) -> Evidence:
    by_box = run.by_rule[bbox.RULE]
    return by_box[parser] if parser in by_box else run.by_rule[content.RULE][parser]


def _rule_figures(run: RunEvidence, rule: str, parser: str) -> dict[str, Any]:
    """The figures under one rule as plain data."""
    found = parser_figures(run.figure_sums(rule), parser)
    # The n-gram matcher sees positive predictions only, so it has no ranked list to speak of.
    if rule != ngrams.RULE:
        found |= ranked_figures(run.by_rule[rule][parser])
    return {name: figure.model_dump() for name, figure in found.items()}


def _curves(run: RunEvidence, rule: str, parser: str) -> dict[str, list[list[float]]]:
    evidence = run.by_rule[rule].get(parser)
    return curves(evidence) if evidence else {}


def _groups(samples: pl.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Pages by attribute, and with and without tables."""
    groups = page_groups(samples)
    counted = samples.filter(pl.col("n_tables").is_not_null())
    parts = {
        "with tables": counted.filter(pl.col("n_tables") > 0)["sample"].to_list(),
        "without tables": counted.filter(pl.col("n_tables") == 0)["sample"].to_list(),
    }
    return {"tables": {k: v for k, v in parts.items() if v}, **groups}


def _failures(tables: RunTables) -> dict[str, dict[str, int]]:
    failed = tables.parses.filter(pl.col("status") != str(Status.OK))
    counts = failed.group_by("parser", "status").len().sort("parser", "status")
    found: dict[str, dict[str, int]] = {}
    for parser, status, n in counts.iter_rows():
        found.setdefault(parser, {})[status] = n
    return found


def _notes(run: RunEvidence) -> list[str]:
    """Scores that could not be computed count as zero: whoever reads the table must know."""
    notes = []
    for parser in run.tables.parsers:
        failed = _scores_of(run, parser).filter(pl.col("status") == str(Status.METRIC_FAILED))
        if failed.is_empty():
            continue
        first = failed.sort("sample", "element", "metric").row(0, named=True)
        why = " ".join(str(first["message"] or "no reason given").split())[:_MAX_REASON]
        notes.append(
            f"{parser}: {failed.height} scores could not be computed and count as zero. "
            f"{first['metric']} on {first['sample']}: {why}"
        )
    return notes


def _agreement(run: RunEvidence, parser: str) -> dict[str, Figure]:
    """How well content-Jaccard > θ tells what IoU > θ says (their Table 5)."""
    if parser not in run.by_rule[bbox.RULE]:
        return {}
    by_box, by_content = run.by_rule[bbox.RULE][parser], run.by_rule[content.RULE][parser]
    truth = {
        (p, name): bool(j > THETA)
        for p, name, j in zip(by_box.page, by_box.pred, by_box.overlap, strict=True)
    }
    guesses = zip(by_content.page, by_content.pred, by_content.overlap, strict=True)
    pairs = [(j > THETA, truth.get((p, name), False)) for p, name, j in guesses]
    both = sum(g and t for g, t in pairs)
    n_guessed, n_true = sum(g for g, _ in pairs), sum(t for _, t in pairs)
    return {
        "content_for_bbox_precision": make_figure(both / n_guessed if n_guessed else None, n_guessed),
        "content_for_bbox_recall": make_figure(both / n_true if n_true else None, n_true),
    }
