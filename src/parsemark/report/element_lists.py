"""For each parser the list of all tables, true and invented, that the viewer steps through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from parsemark.protocols.tables import CONFIDENCE_THRESHOLD
from parsemark.report.chunks import write_chunk
from parsemark.report.page_values import page_values
from parsemark.report.source import STRUCTURE_METRICS, Source

KINDS = ("pair", "split", "merge", "many", "miss", "extra", "unsure")


def write_element_lists(root: Path, source: Source, folder: str = "lists", *, pages: Source) -> None:
    """Write `data/FOLDER/N.js` for parser number N: one entry for each table, and one value for each page.

    Args:
        root: The site's folder.
        source: The run whose parsers are listed.
        folder: Below `data`.
        pages: The run by whose pages they are numbered: the same one, or a newer one.
    """
    numbers = pages.samples.select("sample", "page")
    tables = element_table(source, numbers)
    for number, parser in enumerate(source.parsers):
        own = tables.filter(pl.col("parser") == parser.name)
        parses = source.parses.filter((pl.col("parser") == parser.name) & (pl.col("status") != "ok"))
        failed = numbers.join(parses.select("sample", "status"), on="sample", how="inner")
        write_chunk(
            root,
            f"{folder}/{number}",
            {
                "kinds": KINDS,
                "page": own["page"].to_list(),
                "element": own["element"].to_list(),
                "kind": own["kind_code"].to_list(),
                "value": _rounded(own["value"]),
                "spread": _rounded(own["spread"]),
                "failed": dict(failed.select("page", "status").iter_rows()),
                "page_value": page_values(source, parser.name, numbers["sample"]),
            },
        )


def element_table(source: Source, numbers: pl.DataFrame) -> pl.DataFrame:
    """One row per table and parser: page, element, kind, main metric's value, spread over the metrics.

    Args:
        source: The run.
        numbers: `sample` and the number of its `page`; tables of other samples are left out.
    """
    structure = [m for m in STRUCTURE_METRICS if m in source.metrics]
    known = pl.col("metric").is_in(structure) & pl.col("value").is_not_null()
    scores = (
        source.scores.filter(known)
        .group_by("sample", "parser", "element", "pred")
        .agg(
            pl.col("value").filter(pl.col("metric") == source.main_metric).first().alias("value"),
            (pl.col("value").max() - pl.col("value").min()).alias("spread"),
        )
    )
    truth, pred = pl.col("truth").list.first(), pl.col("pred").list.first()
    unsure = (pl.col("kind") == "extra") & (pl.col("confidence") <= CONFIDENCE_THRESHOLD).fill_null(False)
    kind = pl.when(unsure).then(pl.lit("unsure")).otherwise(pl.col("kind"))
    rows = source.matches.select(
        "sample",
        "parser",
        pl.coalesce(truth, pred).alias("element"),
        pl.col("pred").list.join("+").alias("pred"),
        kind.alias("kind"),
    )
    return (
        rows.join(scores, on=["sample", "parser", "element", "pred"], how="left")
        .join(numbers, on="sample")
        .with_columns(pl.col("kind").replace_strict(list(KINDS), list(range(len(KINDS)))).alias("kind_code"))
        .sort("page", maintain_order=True)
    )


def _rounded(values: pl.Series) -> list[Any]:
    return values.round(4).to_list()
