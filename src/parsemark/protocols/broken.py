"""Pages on which a protocol itself broke: they stay in the denominator of its figures, worth nothing.

A protocol of another package may fail on a page, and fail again when it is only asked to say so. Then the
engine writes a row of its own (`BROKEN`). The figures of the protocol are made by its own code, which knows
nothing of such rows; so here each such page is added to every figure that is a mean over pages or elements,
and their number is a figure of its own. Everything that shows or compares figures takes them from here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from parsemark.protocols.aggregate import (
    mean_statistic,
    page_groups,
    page_slices,
    parser_figures,
    rank,
    total_statistic,
)
from parsemark.protocols.base import BROKEN, FigureInfo, FigureSums, PageProtocol, RunTables, Summary

BROKEN_PAGES = FigureInfo(
    name="broken_pages",
    label="Broken",
    definition="Pages on which the protocol itself failed. They count as worth nothing in its mean figures.",
    denominator="all pages",
    style="count",
    higher_is_better=False,
    main=True,
)


def broken_pages(tables: RunTables) -> dict[str, dict[str, str]]:
    """Parser to page to why the protocol could not score it."""
    rows = tables.read("scores", "parser", "sample", "message", where=pl.col("metric") == BROKEN)
    found: dict[str, dict[str, str]] = {}
    for parser, sample, message in rows.iter_rows():
        found.setdefault(parser, {})[sample] = message or ""
    return found


def complete_sums(protocol: PageProtocol, tables: RunTables) -> list[FigureSums]:
    """What the figures of a protocol are made of, with the pages on which it broke."""
    sums = protocol.figure_sums(tables)
    broken = broken_pages(tables)
    if not broken:
        return sums
    with_truth = set(tables.read("samples", "sample", where=pl.col("truth").is_not_null())["sample"])
    counted = [_with_broken(figure, broken, with_truth) for figure in sums]
    return [*counted, _count(broken, tables)]


def complete_summary(protocol: PageProtocol, tables: RunTables) -> Summary:
    """The summary of a protocol, with the pages on which it broke."""
    summary = protocol.summarise(tables)
    broken = broken_pages(tables)
    if not broken:
        return summary
    sums = complete_sums(protocol, tables)
    primary = next((f for f in sums if f.info.name == summary.primary), None)
    known = {info.name for info in summary.figures}
    figures = {p: {**own, **parser_figures(sums, p)} for p, own in summary.parsers.items()}
    is_by_page = any(part.scope == "page" for part in summary.slices)
    others = [part for part in summary.slices if part.scope != "page"]
    slices = [*page_slices(sums, page_groups(tables.samples)), *others] if is_by_page else summary.slices
    return summary.model_copy(
        update={
            "figures": [*summary.figures, *(f.info for f in sums if f.info.name not in known)],
            "parsers": figures,
            "slices": slices,
            "ranking": summary.ranking if primary is None else rank(primary),
            "notes": [*summary.notes, _note(summary, sums, broken)],
        }
    )


def _with_broken(
    figure: FigureSums, broken: Mapping[str, Mapping[str, str]], with_truth: set[str]
) -> FigureSums:
    """The figure with the worst value once for each page on which the protocol broke."""
    worst = 0.0 if figure.info.higher_is_better else figure.info.top
    if figure.info.style != "score" or figure.statistic is not mean_statistic or worst is None:
        return figure
    place = {sample: k for k, sample in enumerate(figure.samples)}
    sums = dict(figure.sums)
    for parser, pages in broken.items():
        own = np.array(sums[parser]) if parser in sums else np.zeros((len(place), 2))
        for sample in pages.keys() & place.keys() & with_truth:
            own[place[sample]] = worst, 1.0
        sums[parser] = own
    return dataclasses.replace(figure, sums=sums)


def _count(broken: Mapping[str, Mapping[str, str]], tables: RunTables) -> FigureSums:
    names, documents = tables.places.samples, tables.places.documents
    sums = {
        parser: np.array([[float(name in broken.get(parser, ())), 1.0] for name in names])
        for parser in tables.parsers
    }
    return FigureSums(BROKEN_PAGES, names, documents, sums, total_statistic)


def _note(summary: Summary, sums: Sequence[FigureSums], broken: Mapping[str, Mapping[str, str]]) -> str:
    parser = min(broken)
    sample = min(broken[parser])
    n = sum(len(pages) for pages in broken.values())
    scores = [f for f in sums if f.info.style == "score"]
    left_out = [f.info.label for f in scores if f.statistic is not mean_statistic]
    counted = "they count as 0" if len(left_out) < len(scores) else "they are in no score"
    except_for = f" (not in {', '.join(left_out)})" if left_out and len(left_out) < len(scores) else ""
    return (
        f"{summary.protocol} broke on {n} output{'s' if n > 1 else ''}: {counted}{except_for}. The first is "
        f"{sample} of {parser}: {broken[parser][sample]}"
    )
