"""For each parser the list of all elements, true and invented, that the viewer steps through."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import ParsemarkError
from parsemark.report.chunks import write_chunk
from parsemark.report.source import RunSource, ShownParser, page_values
from parsemark.verdicts.error_types import Errors

KINDS = ("pair", "split", "merge", "many", "miss", "extra", "unsure")


def write_element_lists(
    root: Path,
    source: RunSource,
    folder: str,
    errors: Errors,
    *,
    pages: RunSource,
    parsers: Sequence[ShownParser],
) -> None:
    """Write `data/FOLDER/N.js` for parser number N: one entry for each element, and one value for each page.

    `errors` are empty where the lists need none; `pages` is the run by whose pages they are numbered: the
    same one, or a newer one; `parsers` are in the order of their numbers.
    """
    numbers = pages.samples.select("sample", "page")
    for number, parser in enumerate(parsers):
        own = element_table(source, parser.name, numbers)
        parses = source.parses.filter((pl.col("parser") == parser.name) & (pl.col("status") != "ok"))
        failed = numbers.join(parses.select("sample", "status"), on="sample", maintain_order="left")
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
                "errors": _errors(own, errors, parser.name),
                "failed": dict(failed.select("page", "status").iter_rows()),
                "page_value": page_values(source, parser.name, numbers["sample"]),
            },
        )


def element_table(source: RunSource, parser: str, numbers: pl.DataFrame) -> pl.DataFrame:
    """One row per element of a parser: page, element, kind, main metric's value, spread over the metrics.
    `numbers`: `sample` and the number of its `page`; those of other samples are left out.
    """
    comparable = [m for m in source.metrics if is_unit(m)]
    known = pl.col("metric").is_in([source.main_metric, *comparable]) & pl.col("value").is_not_null()
    compared = pl.col("value").filter(pl.col("metric").is_in(comparable))
    scores = (
        source.scores_of(parser)
        .filter(known)
        .group_by("sample", "element", "pred", maintain_order=True)
        .agg(
            pl.col("value").filter(pl.col("metric") == source.main_metric).first().alias("value"),
            (compared.max() - compared.min()).alias("spread"),
        )
    )
    if source.main_metric in source.shown.lower_is_better:
        scores = scores.with_columns(1 - pl.col("value"))  # lists go from bad to good
    truth, pred = pl.col("truth").list.first(), pl.col("pred").list.first()
    unsure = (pl.col("kind") == "extra") & (pl.col("confidence") <= source.shown.sure_above).fill_null(False)
    kind = pl.when(unsure).then(pl.lit("unsure")).otherwise(pl.col("kind"))
    rows = source.matches.filter(pl.col("parser") == parser).select(
        "sample",
        pl.coalesce(truth, pred).alias("element"),
        pl.col("pred").list.join("+").alias("pred"),
        kind.alias("kind"),
    )
    return (
        rows.join(scores, on=["sample", "element", "pred"], how="left", maintain_order="left")
        .join(numbers, on="sample", maintain_order="left")
        .with_columns(
            kind_code=pl.col("kind").replace_strict(list(KINDS), list(range(len(KINDS))), default=0)
        )
        .sort("page", maintain_order=True)
    )


def _errors(own: pl.DataFrame, errors: Errors, parser: str) -> dict[str, list[int]]:
    """Type of error to the numbers of the entries that have it."""
    numbered = own.with_row_index("entry").select("sample", "element", "entry")
    numbered = numbered.unique(["sample", "element"], keep="first", maintain_order=True)
    rows = errors.rows.filter(pl.col("parser") == parser)
    joined = (
        rows.join(numbered, on=["sample", "element"]).group_by("error").agg(pl.col("entry").unique().sort())
    )
    return dict(joined.sort("error").iter_rows())


def is_unit(metric: str) -> bool:
    """Whether a metric lies between 0 and 1 and is better higher, so that it can be held against others."""
    from parsemark.metrics import get_metric

    try:
        facts = get_metric(metric).facts
    except ParsemarkError:
        return False
    return facts.higher_is_better and facts.range[1] == 1


def _rounded(values: pl.Series) -> list[Any]:
    return values.round(4).to_list()
