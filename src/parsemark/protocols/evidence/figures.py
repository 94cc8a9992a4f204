"""Shares of words over the pages of a run, who invented numbers, and the worst pages."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from parsemark.plain_words import counted
from parsemark.protocols.evidence.page_evidence import EXTRAS, NUMBERS, TABLES_ALONE
from parsemark.protocols.figures.aggregate import mean_statistic, run_sums, total_statistic
from parsemark.protocols.figures.figure import FigureSums, read_figures
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_data.tables import RunTables
from parsemark.protocols.run_data.unread_pages import unscored

MAX_WORST = 50
_NAMED = 3  # examples in a note


def _pages(tables: RunTables) -> pl.DataFrame:
    """One row for each page of a parser: how many words have which fate; null where nobody can say."""
    columns = ("sample", "parser", "metric", "value")
    rows = tables.read("scores", *columns, where=pl.col("element") == PAGE_LEVEL)
    rows = rows.filter(~pl.col("sample").is_in(list(unscored(tables))))
    pages = rows.pivot("metric", index=["sample", "parser"], values="value", aggregate_function="first")
    if not {TABLES_ALONE, "said"} <= set(pages.columns):
        return pages
    # Who gives tables alone and found none on a page is asked for none of its words.
    unasked = (pl.col(TABLES_ALONE).min().over("parser") == 1) & (pl.col("said") == 0)
    unasked &= pl.col(TABLES_ALONE) == 1
    names = [name for name in pages.columns if name not in ("sample", "parser", TABLES_ALONE)]
    return pages.with_columns(
        pl.when(unasked).then(0.0).otherwise(pl.col(name)).alias(name) for name in names
    )


def finders_of_tables(pages: pl.DataFrame) -> list[str]:
    """Parsers that give tables alone, where others read whole pages.

    Fewer words are asked of them, so a rank beside the others would be that of another question.
    """
    if TABLES_ALONE not in pages.columns:
        return []
    known = pages.group_by("parser").agg(pl.col(TABLES_ALONE).min()).drop_nulls().sort("parser")
    finders = known.filter(pl.col(TABLES_ALONE) == 1)["parser"].to_list()
    return finders if len(finders) < known.height else []


def figure_sums(tables: RunTables) -> list[FigureSums]:
    """Every figure: shares of what pages show and of what outputs say, and pages without either."""
    infos = read_figures(__package__)
    pages, places = _pages(tables), tables.places
    position = {sample: k for k, sample in enumerate(places.samples)}
    there, unranked = set(pages.columns), finders_of_tables(pages)
    found = []
    for name, info in infos.items():
        if name in ("nothing", "unknown"):
            is_seen = pl.col("words") > 0
            wanted = is_seen & (pl.col("said") == 0) if name == "nothing" else pl.col("words").is_null()
            of = is_seen if name == "nothing" else pl.lit(1.0)
        elif name == "agreement":
            wanted = 2 * pl.col("kept")
            of = wanted + 2 * pl.col("altered") + pl.sum_horizontal("lost", *EXTRAS)
        else:
            part = NUMBERS if name.startswith(NUMBERS) else ""
            wanted = pl.col(name)
            of = pl.col(part + ("said" if name.removeprefix(NUMBERS) in EXTRAS else "words"))
        sums = {parser: np.zeros((len(position), 2)) for parser in tables.parsers}
        if {"words", "said"} <= there or name == "unknown":
            two = pages.select("sample", "parser", a=wanted.cast(pl.Float64), b=of.cast(pl.Float64))
            for sample, parser, a, b in two.iter_rows():
                if parser in sums and not (name == "agreement" and parser in unranked):
                    sums[parser][position[sample]] = a or 0.0, b or 0.0
        statistic = total_statistic if info.style == "count" else mean_statistic
        found.append(FigureSums(info, places.samples, places.documents, sums, statistic, kinds=places.kinds))
    return [*found, *run_sums(tables)]


def details(tables: RunTables) -> dict[str, Any]:
    """`invented_numbers` by parser, who is `not_ranked`, and `worst_pages` of them all, the worst first."""
    wanted = pl.col("category").is_in(["invented", "altered"]) & pl.col("message").str.contains('"numbers"')
    rows = tables.read("scores", "sample", "parser", "category", "message", where=wanted)
    invented: dict[str, list[dict[str, str]]] = {}
    for sample, parser, kind, message in rows.sort("parser", "sample").iter_rows():
        told = json.loads(message)
        said = told["text"] if kind == "invented" else told.get("said", "")
        if any(len(word) > 1 and word[0].isdigit() for word in said.split()):
            invented.setdefault(parser, []).append({"sample": sample, "kind": kind, "said": said})
    pages = _pages(tables)
    told_of = {"invented_numbers": invented, "not_ranked": finders_of_tables(pages)}
    if not {"words", "said"} <= set(pages.columns):
        return {**told_of, "worst_pages": []}
    judged = pages.filter(pl.col("words").is_not_null() & (pl.col("wrong") > 0))
    order, descending = ["wrong", "lost", "sample", "parser"], [True, True, False, False]
    worst = judged.sort(order, descending=descending).head(MAX_WORST)
    shown = ("sample", "parser", "wrong", "words", "lost", "altered", "moved", *EXTRAS)
    return {**told_of, "worst_pages": worst.select(shown).to_dicts()}


def notes(told: Mapping[str, Any]) -> list[str]:
    """Who is not ranked, the veto list, by the columns that count it, and the worst page."""
    found = []
    if finders := told["not_ranked"]:
        found.append(
            f"Not ranked, since they give tables alone and are asked for nothing else: {', '.join(finders)}."
        )
    for parser, own in told["invented_numbers"].items():
        for kind in ("invented", "altered"):
            places = [entry for entry in own if entry["kind"] == kind]
            some = ", ".join(f"{entry['said']} ({entry['sample']})" for entry in places[:_NAMED])
            if places:
                where = counted(len(places), "place")
                found.append(f"{parser} {kind} numbers in {where}, and wrote: {some}.")
    if told["worst_pages"]:
        page = told["worst_pages"][0]
        what = [f"{int(page[kind])} {kind}" for kind in ("lost", "altered", "moved", *EXTRAS) if page[kind]]
        found.append(f"The worst page: {page['sample']} by {page['parser']} ({', '.join(what)}).")
    return found
