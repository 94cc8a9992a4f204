"""Shares of words over the pages of a run, who invented numbers, and the worst pages."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from parsemark.matching.page_evidence import EXTRAS, FOUND, NUMBERS, PAGE_STATUSES, TABLES_ALONE, agreement
from parsemark.plain_words import counted, listed
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_data.unread_pages import unscored
from parsemark.protocols.run_scores.aggregate import mean_statistic, run_sums, total_statistic
from parsemark.protocols.run_scores.sums import FigureSums, read_figures
from parsemark.store.run_tables import RunTables

MAX_WORST = 50
_NAMED = 3  # examples in a note
_OF_FINDINGS = {"numbers_altered": "number", "cells": "cell", "order": "order", "tables": "table"}
"""Figures that count findings, and the kinds of these."""
_SHARED_SHARE, _SHARED_WORDS = 0.05, 4
"""Of a page's words: so many that all parsers read otherwise, in the same way, are errors of the reading."""


def _counts(tables: RunTables) -> pl.DataFrame:
    """Return one row for each page of a parser: how many words have which status."""
    columns = ("sample", "parser", "metric", "value")
    rows = tables.read("scores", *columns, where=pl.col("element") == PAGE_LEVEL)
    rows = rows.filter(~pl.col("sample").is_in(list(unscored(tables))))
    return rows.pivot("metric", index=["sample", "parser"], values="value", aggregate_function="first")


def _pages(tables: RunTables) -> pl.DataFrame:
    """Return the same with null where it is unknown, and without what is not required of a parser."""
    pages = _counts(tables)
    if not {TABLES_ALONE, "said"} <= set(pages.columns):
        return pages
    # Who gives tables alone and found none on a page is asked for none of its words.
    unasked = (pl.col(TABLES_ALONE).min().over("parser") == 1) & (pl.col("said") == 0)
    unasked &= pl.col(TABLES_ALONE) == 1
    names = [name for name in pages.columns if name not in ("sample", "parser", TABLES_ALONE)]
    is_suspect = pl.col("sample").is_in(list(suspects(tables)))
    value = {n: pl.when(is_suspect).then(None).when(unasked).then(0.0).otherwise(pl.col(n)) for n in names}
    missing = {*PAGE_STATUSES, *EXTRAS, *_OF_FINDINGS.values()} - set(
        names
    )  # of a run that was scored before there was such a kind
    return pages.with_columns(
        **value, **dict.fromkeys(missing, pl.when(pl.col("words").is_not_null()).then(0.0))
    )


def suspects(tables: RunTables) -> dict[str, str]:
    """Return pages of which all parsers read the same words otherwise, in the same way, each with these
    words.
    """
    pages = _counts(tables)
    if not {TABLES_ALONE, "said"} <= set(pages.columns):
        return {}
    found = tables.read("scores", "sample", "parser", "category", "message", where=pl.col("metric") == FOUND)
    theirs: dict[str, dict[str, tuple[Counter[str], Counter[str]]]] = {}
    asked = pages.filter((pl.col("said") > 0) & (pl.col(TABLES_ALONE) == 0))
    for sample, parser in asked.select("sample", "parser").iter_rows():
        theirs.setdefault(sample, {})[parser] = Counter(), Counter()
    for sample, parser, kind, message in found.iter_rows():
        if (own := theirs.get(sample, {}).get(parser)) is None:
            continue
        entry = json.loads(message)
        if kind in ("lost", "altered", "number"):
            own[0].update(entry.get("text", "").split())
        if kind in ("invented", "altered", "number"):
            own[1].update(entry.get("said", "").split())
    n_words = dict(pages.group_by("sample").agg(pl.col("words").max()).iter_rows())
    told = {}
    for sample, by_parser in theirs.items():
        seen, said = (_shared([both[k] for both in by_parser.values()]) for k in (0, 1))
        least = max(_SHARED_WORDS, _SHARED_SHARE * (n_words[sample] or 0))
        if len(by_parser) > 1 and min(seen.total(), said.total()) >= least:
            told[sample] = f"{' '.join(list(seen)[:_NAMED])} for {' '.join(list(said)[:_NAMED])}"
    return told


def _shared(words: list[Counter[str]]) -> Counter[str]:
    first, *others = words
    for other in others:
        first = first & other
    return first


def finders_of_tables(pages: pl.DataFrame) -> list[str]:
    """Return parsers that give tables alone, where others read whole pages.

    Fewer words are asked of them, so a rank beside the others would be that of another question.
    """
    if TABLES_ALONE not in pages.columns:
        return []
    known = pages.group_by("parser").agg(pl.col(TABLES_ALONE).min()).drop_nulls().sort("parser")
    finders = known.filter(pl.col(TABLES_ALONE) == 1)["parser"].to_list()
    return finders if len(finders) < known.height else []


def figure_sums(tables: RunTables) -> list[FigureSums]:
    """Return every figure: shares of what pages show and of what outputs say, and pages without either."""
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
            wanted, of = agreement(pl.col)
        elif name in _OF_FINDINGS:
            wanted = pl.col(_OF_FINDINGS[name])
            is_judged = pl.col("words").is_not_null()
            of = pl.col(f"{NUMBERS}words") if name == "numbers_altered" else is_judged
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
        found.append(
            FigureSums(info, places.samples, places.documents, sums, statistic, division=places.division)
        )
    return [*found, *run_sums(tables)]


def details(tables: RunTables) -> dict[str, Any]:
    """Return `invented_numbers` by parser, who is `not_ranked`, and `worst_pages` of them all, the worst
    first.
    """
    wanted = pl.col("category").is_in(["invented", "number"]) & pl.col("message").str.contains('"numbers"')
    rows = tables.read("scores", "sample", "parser", "category", "message", where=wanted)
    invented: dict[str, list[dict[str, str]]] = {}
    for sample, parser, kind, message in rows.sort("parser", "sample").iter_rows():
        told = json.loads(message)
        said = told.get("said", "")
        if any(len(word) > 1 and word[0].isdigit() for word in said.split()):
            how = "invented" if kind == "invented" else "altered"
            invented.setdefault(parser, []).append({"sample": sample, "kind": how, "said": said})
    pages = _pages(tables)
    told_of = {
        "invented_numbers": invented,
        "not_ranked": finders_of_tables(pages),
        "judged_by": _judged_by(tables),
        "suspect": suspects(tables),
    }
    if not {"words", "said"} <= set(pages.columns):
        return {**told_of, "worst_pages": []}
    judged = pages.filter(pl.col("words").is_not_null() & (pl.col("wrong") > 0))
    order, descending = ["wrong", "lost", "sample", "parser"], [True, True, False, False]
    worst = judged.sort(order, descending=descending).head(MAX_WORST)
    shown = ("sample", "parser", "wrong", "words", *PAGE_STATUSES[1:], *EXTRAS)
    return {**told_of, "worst_pages": worst.select(shown).to_dicts()}


def _judged_by(tables: RunTables) -> dict[str, str]:
    """Return the source that judged each page, where it was not the text layer alone."""
    rows = tables.read("scores", "sample", "value", "message", where=pl.col("metric") == "words")
    found: dict[str, str] = {}
    for sample, value, message in rows.sort("sample").iter_rows():
        told = (
            f"not judged: {message}" if value is None else json.loads(message).get("judged_by", "text layer")
        )
        if told != "text layer":
            found[sample] = told
    return found


def notes(told: Mapping[str, Any]) -> list[str]:
    """Return how pages were judged, who is not ranked, the veto list by the columns that count it, a worst
    page.
    """
    found = []
    for how, n in Counter(told["judged_by"].values()).most_common(_NAMED):
        example = next(sample for sample, other in told["judged_by"].items() if other == how)
        found.append(f"{counted(n, 'page')} ({example}{', …' if n > 1 else ''}): {how}.")
    if suspect := told["suspect"]:
        some = listed([f"{sample} ({words})" for sample, words in list(suspect.items())[:_NAMED]])
        found.append(
            f"Not judged, since all parsers differ from the reference text in the same words, in the same "
            f"way: {some}{f' and {len(suspect) - _NAMED} more' if len(suspect) > _NAMED else ''}. "
            "The reference text of these pages is suspect, not the parsers."
        )
    if finders := told["not_ranked"]:
        found.append(
            f"Not ranked, since they return only tables and are judged only on tables: {', '.join(finders)}."
        )
    for parser, own in told["invented_numbers"].items():
        for kind in ("invented", "altered"):
            places = [entry for entry in own if entry["kind"] == kind]
            some = ", ".join(f"{entry['said']} ({entry['sample']})" for entry in places[:_NAMED])
            if places:
                where = counted(len(places), "place")
                found.append(f"{parser} {kind} numbers in {where}; it wrote: {some}.")
    if told["worst_pages"]:
        page = told["worst_pages"][0]
        what = [f"{int(page[kind])} {kind}" for kind in (*PAGE_STATUSES[1:], *EXTRAS) if page[kind]]
        found.append(f"The worst page: {page['sample']} by {page['parser']} ({', '.join(what)}).")
    return found
