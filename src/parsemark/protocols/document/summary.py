"""Aggregates of a run: the figures of a profile, by parser, by attribute, and who is better."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from parsemark.formats.model_json import page_from_json
from parsemark.model import Page, Status
from parsemark.plain_words import counted
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.document.annotation import TABLES_ONLY
from parsemark.protocols.document.figures import DocumentFigures, not_drawn
from parsemark.protocols.figures.aggregate import (
    MAX_VALUES,
    attribute_label,
    element_attributes,
    failed_scores,
    make_figure,
    page_groups,
    page_slices,
    run_sums,
)
from parsemark.protocols.figures.figure import FigureSums
from parsemark.protocols.figures.summary import Slice, Summary
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_data.tables import RunTables

NO_TRUTH = "No page of this corpus has truth, so nothing could be scored, and there is no order of parsers."


def figure_sums(profile: str, tables: RunTables, *, cdm: bool) -> list[FigureSums]:
    """The figures that can be compared page by page, then those of every protocol."""
    figures = DocumentFigures(profile, cdm)
    counted = figures.counted(_without_left_out(tables))
    return [*figures.sums(counted), *run_sums(counted)]


def summarise(
    protocol: PageProtocol, tables: RunTables, profile: str, settings: Mapping[str, str], *, cdm: bool
) -> Summary:
    """Every figure with its interval over documents, its denominator, and its groups."""
    figures = DocumentFigures(profile, cdm)
    left_out = _left_out(tables)
    counted = figures.counted(_without_left_out(tables))
    sums = figure_sums(profile, tables, cdm=cdm)
    known = counted.samples.filter(pl.col("truth").is_not_null()).select("sample", "truth")
    pages = {sample: page_from_json(json.loads(text)) for sample, text in known.iter_rows()}
    return protocol.summary_of(
        counted,
        sums,
        primary=figures.primary(sums),
        settings=settings,
        counts=_counts(counted, pages),
        slices=[
            *page_slices([s for s in sums if s.info.main], page_groups(counted)),
            *element_slices(counted, pages),
        ],
        failures_count=figures.failures_count,
        notes=[
            *([] if pages else [NO_TRUTH]),
            *figures.notes(),
            *_incomplete(pages),
            *(f"{p} is left out: {TABLES_ONLY}" for p in left_out),
            *(f"CDM is not computed. {why}" for why in sorted(set(not_drawn(counted.scores)["message"]))),
            *_failed(counted),
            *_not_scored(counted, profile),
        ],
        details={"variances": _variances(sums), "left_out": left_out},
    )


def _left_out(tables: RunTables) -> list[str]:
    """Parsers that give only tables on every page that they answer."""
    pages = tables.scores.filter((pl.col("element") == PAGE_LEVEL) & (pl.col("metric") == "text_edit"))
    marked = pages.filter(pl.col("message") == TABLES_ONLY)
    # Where the truth has no text the row says so of every page: that there was an answer the parse tells.
    answered = tables.parses.filter(pl.col("status") == str(Status.OK)).join(
        marked, on=["sample", "parser"], how="anti"
    )
    others = answered.join(pages, on=["sample", "parser"], how="semi")["parser"]
    return sorted(set(marked["parser"]) - set(others))


def _without_left_out(tables: RunTables) -> RunTables:
    names = _left_out(tables)
    if not names:
        return tables
    keep = ~pl.col("parser").is_in(names)
    frames = {name: tables.frame(name).filter(keep) for name in ("parses", "matches", "scores")}
    return tables.changed(**frames)


def _counts(tables: RunTables, pages: Mapping[str, Page]) -> dict[str, int]:
    counting = (e for page in pages.values() for e in page.elements if not e.ignore)
    categories = Counter(str(element.category) for element in counting)
    return {
        "documents": len(set(tables.places.documents)),
        "pages": tables.samples.height,
        "pages with truth": len(pages),
        "text blocks": categories["text_block"] + categories["title"] + categories["list_group"],
        "formulas": categories["equation_isolated"],
        "tables": categories["table"],
    }


def _incomplete(pages: Mapping[str, Page]) -> list[str]:
    """Where the truth says nothing about text, or has not all of a page: no finding about the parsers."""
    has_tables = (
        "has only tables: text, formulas and reading order are not scored there. The protocol `tables` says "
        "more about them."
    )
    is_partial = (
        "is partial: what it has is scored, and what a parser gives of kinds that it does not cover is "
        "neither right nor invented."
    )
    counts = (
        (sum(page.only_tables for page in pages.values()), has_tables),
        (sum(page.covered is not None for page in pages.values()), is_partial),
    )
    return [
        f"The truth of {'every page' if n == len(pages) else f'{n} of {len(pages)} pages'} {what}"
        for n, what in counts
        if n
    ]


def _failed(tables: RunTables) -> list[str]:
    """Formulas that could not be drawn count 0: say so to the reader of the figure."""
    failed = tables.scores.filter(
        (pl.col("metric") == "cdm") & (pl.col("element") != PAGE_LEVEL) & pl.col("message").is_not_null()
    )
    return [
        f"{parser}: {own.height} formulas have CDM 0 because they could not be drawn. {why}"
        for parser, own, why in failed_scores(failed, tables.parsers, 200)
    ]


def _not_scored(tables: RunTables, profile: str) -> list[str]:
    """Pages that went over a limit while they were scored."""
    failed = (pl.col("element") == PAGE_LEVEL) & (pl.col("status") == str(Status.METRIC_FAILED))
    rows = tables.scores.filter(failed & ~pl.col("metric").is_in(["cdm", "cdm_f1"]))
    where = "They are in no mean" if profile in ("v1.0", "v1.5") else "They count as missed"
    return [
        f"{parser}: {counted(own['sample'].n_unique(), 'page')} could not be scored. {where}. {why}"
        for parser, own, why in failed_scores(rows, tables.parsers, 200)
    ]


def _variances(sums: Sequence[FigureSums]) -> dict[str, dict[str, float]]:
    """Variance over pages of the main figures (their Tables 4 and 5)."""
    import numpy as np

    found: dict[str, dict[str, float]] = {}
    for figure in sums:
        if not figure.info.main or figure.info.style != "score":
            continue
        for parser in figure.sums:
            values = figure.page_values(parser)
            values = values[np.isfinite(values)]
            if len(values) > 1:
                found.setdefault(parser, {})[figure.info.name] = float(np.var(values, ddof=1))
    return found


def element_slices(tables: RunTables, pages: Mapping[str, Page]) -> list[Slice]:
    """The elements with each value of each attribute: means over matches, as their Tables 7 and 8."""
    labels = _element_labels(pages)
    rows = tables.scores.filter(
        (pl.col("element") != PAGE_LEVEL)
        & pl.col("metric").is_in(["edit_distance", "teds", "teds_structure", "cdm"])
        & pl.col("value").is_not_null()
    )
    values: dict[tuple[str, str, str], dict[str, dict[str, list[float]]]] = {}
    columns = ("sample", "element", "category", "parser", "metric", "value")
    for sample, element, category, parser, metric, value in rows.select(columns).iter_rows():
        for label in {label for e in element.split("+") for label in labels.get((sample, e), ())}:
            by_parser = values.setdefault((category, *label), {})
            by_parser.setdefault(parser, {}).setdefault(metric, []).append(value)
    n_values = Counter((category, attribute) for category, attribute, _ in values)
    return [
        Slice(
            scope=category,
            attribute=attribute,
            value=value,
            n=max(len(v) for metrics in by_parser.values() for v in metrics.values()),
            figures={
                parser: {
                    f"{category}_edit" if name == "edit_distance" else name: make_figure(
                        sum(v) / len(v), len(v)
                    )
                    for name, v in sorted(metrics.items())
                }
                for parser, metrics in sorted(by_parser.items())
            },
        )
        for (category, attribute, value), by_parser in sorted(values.items())
        if n_values[category, attribute] <= MAX_VALUES
    ]


def _element_labels(pages: Mapping[str, Page]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    return {
        (sample, element.id): [
            (name, attribute_label(value))
            for name, value in element_attributes(element).items()
            if value is not None
        ]
        for sample, page in pages.items()
        for element in page.elements
        if element_attributes(element)
    }
