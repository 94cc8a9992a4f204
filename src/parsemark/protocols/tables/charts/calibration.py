"""Can the confidence be trusted, and can content stand in for boxes?"""

from __future__ import annotations

import polars as pl

from parsemark.plain_words import rounded
from parsemark.protocols.exhibits import Chart, ChartAxis, Guide, Series
from parsemark.protocols.presentation import RunParser, RunView
from parsemark.protocols.tables.charts.detection import RULE_NAMES

DIAGONAL = Guide("", (0.0, 1.0), (0.0, 1.0))
MOST_POINTS = 600


def reliability(run: RunView, parser: RunParser) -> Chart | None:
    """Precision by confidence, with the distribution of the confidences."""
    bins = run.details("reliability", parser.name)
    if not bins:
        return None
    total = sum(b["n"] for b in bins) or 1
    centres = [(b["low"] + b["high"]) / 2 for b in bins]
    known = [(c, b["precision"]) for c, b in zip(centres, bins, strict=True) if b["precision"] is not None]
    d_ece = run.summary.figure(parser.name, "d_ece")
    note = f" D-ECE {rounded(d_ece.value)}." if d_ece and d_ece.value is not None else ""
    return Chart(
        f"reliability-{parser.key}",
        f"Reliability of {parser.name}",
        "Bars: precision of the predictions in each bin of confidence; on the diagonal it would equal the "
        f"confidence.{note} Matched by {RULE_NAMES.get(run.rule, run.rule)}. Dashed: share of all "
        "predictions in the bin.",
        ChartAxis("confidence", 0.0, 1.0),
        ChartAxis("precision", 0.0, 1.0),
        (
            Series(
                "precision",
                "bars",
                tuple(c for c, _ in known),
                tuple(p for _, p in known),
                parser=parser.name,
            ),
            Series(
                "share of predictions", "line", tuple(centres), tuple(b["n"] / total for b in bins), dash=True
            ),
        ),
        (DIAGONAL,),
    )


def risk_over_coverage(run: RunView) -> Chart | None:
    """Which share is wrong if only the surest predictions are taken, by how many that are."""
    series = []
    for parser in run.parsers:
        found = run.details("risk_coverage", parser.name)
        if found and found["points"]:
            points = found["points"]
            every = max(1, -(-len(points) // MOST_POINTS))
            shown = [*points[::every], points[-1]] if every > 1 else points
            xs, ys = tuple(p[0] for p in shown), tuple(p[1] for p in shown)
            series.append(Series(parser.name, "line", xs, ys, parser=parser.name))
    if not series:
        return None
    return Chart(
        "risk-coverage",
        "Risk over coverage",
        "If only the predictions with the highest confidence were taken: the share of all that this is, and "
        "how many of them are wrong (an overlap of at most one half, matched by "
        f"{RULE_NAMES.get(run.rule, run.rule)}). A confidence that knows right from wrong begins at 0 "
        "and rises late. Confidences of estimated(…) and ensemble are parsemark's.",
        ChartAxis("coverage", 0.0, 1.0),
        ChartAxis("risk", 0.0, 1.0),
        tuple(series),
    )


def content_against_boxes(run: RunView) -> Chart | None:
    """Content-Jaccard over IoU for each predicted table."""
    overlaps = predicted_overlaps(run)
    series = []
    for parser in run.parsers:
        own = overlaps.filter(pl.col("parser") == parser.name)
        shown = own.gather_every(max(1, -(-own.height // MOST_POINTS)))
        if not shown.is_empty():
            xs, ys = tuple(shown["bbox"]), tuple(shown["content"])
            series.append(Series(parser.name, "points", xs, ys, parser=parser.name, faint=True))
    if not series:
        return None
    halves = (Guide("", (0.5, 0.5), (0.0, 1.0)), Guide("", (0.0, 1.0), (0.5, 0.5)))
    return Chart(
        "content-iou",
        "Content-Jaccard against IoU",
        "One point for each predicted table with a box: how much it overlaps its match by place and content; "
        "0 where it has no match. In the upper right and lower left quarter both rules agree.",
        ChartAxis("IoU", 0.0, 1.0),
        ChartAxis("content-Jaccard", 0.0, 1.0),
        tuple(series),
        halves,
        square=True,
    )


def predicted_overlaps(run: RunView) -> pl.DataFrame:
    """For each predicted table its overlap by `bbox` and by `content`; 0 without a match."""
    rows = (
        run.scan("matches")
        .filter(pl.col("rule").is_in(["bbox", "content"]) & (pl.col("pred").list.len() == 1))
        .select("sample", "parser", pl.col("pred").list.first(), "rule", pl.col("overlap").fill_null(0.0))
        .collect()
    )
    keys = ["sample", "parser", "pred"]
    sides = [
        rows.filter(pl.col("rule") == rule).select(*keys, pl.col("overlap").alias(rule))
        for rule in ("bbox", "content")
    ]
    return sides[0].join(sides[1], on=keys).sort(keys)
