"""The figures of whole pages: what they are called, how they are defined, over what they are taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from parsemark.model import Status
from parsemark.protocols.aggregate import mean_statistic, mean_sums
from parsemark.protocols.figures import FigureInfo, FigureSums, Floats
from parsemark.protocols.rows import PAGE_LEVEL
from parsemark.protocols.run_tables import RunTables

_OVER_PAGES = {
    "text": "pages that have text on either side as the profile counts it",
    "formula": "pages that have display formulas",
    "table": "pages that have tables",
    "order": "pages with a reading order",
}


_TABLE_METRICS = ("teds", "teds_structure", "table_edit", "table_edits", "table_length")
"""Rows of whole pages that their tables make."""


def _info(name: str, label: str, definition: str, denominator: str, *, lower: bool, main: bool) -> FigureInfo:
    return FigureInfo(
        name=name,
        label=label,
        definition=definition,
        denominator=denominator,
        higher_is_better=not lower,
        main=main,
    )


def _page_mean(metric: str, label: str, definition: str, over: str, *, lower: bool, main: bool) -> FigureInfo:
    return _info(
        metric,
        label,
        f"{definition} Mean over pages.",
        _OVER_PAGES[over],
        lower=lower,
        main=main,
    )


_PUBLISHED_PAGES = (
    _page_mean(
        "text_edit",
        "Text edit",
        "Edits over length of all matched and missed text of a page.",
        "text",
        lower=True,
        main=True,
    ),
    _page_mean(
        "formula_edit",
        "Formula edit",
        "Edits over length of the display formulas of a page, as normalised LaTeX.",
        "formula",
        lower=True,
        main=True,
    ),
    _page_mean(
        "table_edit",
        "Table edit",
        "Edits over length of the tables, as HTML.",
        "table",
        lower=True,
        main=False,
    ),
    _page_mean("teds", "TEDS", "Tree similarity of the tables of a page.", "table", lower=False, main=True),
    _page_mean(
        "teds_structure", "TEDS-S", "TEDS without the cells' content.", "table", lower=False, main=False
    ),
    _page_mean(
        "cdm", "CDM", "Formulas compared as they look: F1 of their signs.", "formula", lower=False, main=True
    ),
    _page_mean(
        "order_edit",
        "Order edit",
        "Edits that turn the predicted reading order into the true one, over the longer list.",
        "order",
        lower=True,
        main=True,
    ),
)


@dataclass(frozen=True)
class DocumentFigures(ABC):
    """The figures of one profile."""

    profile: str
    cdm: bool
    infos: tuple[FigureInfo, ...]

    @abstractmethod
    def sums(self, tables: RunTables) -> list[FigureSums]:
        """What they are made of."""

    def counted(self, tables: RunTables) -> RunTables:
        """The tables without the rows that enter no figure."""
        return tables

    @property
    def failures_count(self) -> bool:
        """Whether pages on which a parser failed stand in the denominators."""
        return True

    def primary(self, sums: Sequence[FigureSums]) -> str:
        """The figure of the ranking."""
        return "overall"

    def notes(self) -> list[str]:
        """What a reader of the figures must know."""
        return []


def page_rows(tables: RunTables, metric: str) -> pl.DataFrame:
    """The values of one measure of whole pages; a null was not measured, as CDM without its programs."""
    of_page = (pl.col("element") == PAGE_LEVEL) & (pl.col("metric") == metric)
    return tables.scores.filter(of_page & pl.col("value").is_not_null())


def page_measures(tables: RunTables) -> set[str]:
    """The measures of whole pages that make figures: CDM only if TeX drew wherever it was asked to."""
    pages = tables.scores.filter(pl.col("element") == PAGE_LEVEL)
    return set(pages.filter(pl.col("value").is_not_null())["metric"]) - set(not_drawn(pages)["metric"])


def not_drawn(scores: pl.DataFrame) -> pl.DataFrame:
    """The pages that have no CDM because TeX is missing or half installed."""
    failed = (pl.col("element") == PAGE_LEVEL) & (pl.col("status") == str(Status.METRIC_FAILED))
    return scores.filter(failed & pl.col("metric").is_in(["cdm", "cdm_f1"]))


@dataclass(frozen=True)
class PublishedFigures(DocumentFigures):
    """As the published versions aggregate."""

    @classmethod
    def of(cls, profile: str, *, cdm: bool) -> PublishedFigures:
        """The figures of a published profile."""
        return cls(profile, cdm, _PUBLISHED_PAGES)

    def counted(self, tables: RunTables) -> RunTables:
        """Where LaTeX tables are set apart, those of the notation that more of a parser's tables have."""
        from parsemark.protocols.document.published.profile import get_profile

        if get_profile(self.profile).latex_tables != "apart":
            return tables
        return _with_one_notation(tables)

    def sums(self, tables: RunTables) -> list[FigureSums]:
        """Means over pages, then the overall value, then totals over all elements."""
        present = page_measures(tables)
        pages = {
            info.name: mean_sums(info, page_rows(tables, info.name), "value", tables)
            for info in self.infos
            if info.name in present
        }
        wholes = [
            _ratio(f"{kind}_edit_whole", kind, tables)
            for kind in ("text", "formula", "table", "order")
            if f"{kind}_length" in present and self.profile != "v1.0"
        ]
        overall = self._overall(pages)
        return [*([overall] if overall is not None else []), *pages.values(), *wholes]

    def _overall(self, pages: dict[str, FigureSums]) -> FigureSums | None:
        if self.profile == "v1.0":
            parts = ["text_edit", "formula_edit", "table_edit", "order_edit"]
            info = _info(
                "overall",
                "Overall edit",
                "Mean of the four edit distances. Published per language: see the slices by language.",
                "the four figures, each over its own pages",
                lower=True,
                main=True,
            )
            return _mean_of(info, [(pages[p], False) for p in parts if p in pages], len(parts))
        parts = ["text_edit", "teds", "cdm"] if "cdm" in pages else ["text_edit", "teds"]
        name, label = (
            ("overall", "Overall") if "cdm" in pages else ("overall_without_cdm", "Overall (no CDM)")
        )
        words = "1 − text edit, TEDS and CDM" if "cdm" in pages else "1 − text edit and TEDS, without CDM"
        info = _info(
            name,
            label,
            f"Mean of {words}, each a mean over pages. Published tables multiply it by 100.",
            "the figures named, each over its own pages",
            lower=False,
            main=True,
        )
        return _mean_of(info, [(pages[p], p == "text_edit") for p in parts if p in pages], len(parts))

    def primary(self, sums: Sequence[FigureSums]) -> str:
        """Overall, where all its parts are there."""
        names = [s.info.name for s in sums]
        own = [info.name for info in self.infos]
        # Without any truth none of them is there: failures alone make no order.
        return next((n for n in ("overall", "overall_without_cdm", "teds", *own) if n in names), "overall")

    @property
    def failures_count(self) -> bool:
        """The first published versions score what is there."""
        return self.profile not in ("v1.0", "v1.5")

    def notes(self) -> list[str]:
        """Defects that the profile keeps."""
        found = []
        if not self.failures_count:
            left_out = "pages without a prediction, and those on which a parser failed,"
            found.append(f"{self.profile} leaves {left_out} out of all means.")
        if self.profile != "v1.0":
            found.append("Text, formulas and tables that answer nothing are not counted by this profile.")
        if not self.cdm and self.profile != "v1.0":
            found.append("CDM was not asked for; the published overall needs it: document(…,cdm=true).")
        return found


def _with_one_notation(tables: RunTables) -> RunTables:
    """Without the tables of pages whose notation is the rarer one: no mean of the published code has them."""
    from parsemark.protocols.document.published.scores import LATEX_TABLES

    page = ["parser", "sample"]
    is_table = pl.col("category") == "table"
    as_latex = page_rows(tables, LATEX_TABLES).select(*page, is_latex=pl.lit(value=True))
    if not as_latex.height:
        return tables
    scores = tables.scores.join(as_latex, on=page, how="left", maintain_order="left").with_columns(
        pl.col("is_latex").fill_null(value=False)
    )
    n_tables = is_table & (pl.col("metric") == "length")
    by_parser = scores.group_by("parser").agg(
        takes_latex=(n_tables & pl.col("is_latex")).sum() > (n_tables & ~pl.col("is_latex")).sum()
    )
    of_table = is_table | ((pl.col("element") == PAGE_LEVEL) & pl.col("metric").is_in(_TABLE_METRICS))
    kept = scores.join(by_parser, on="parser", how="left", maintain_order="left").filter(
        ~of_table | (pl.col("is_latex") == pl.col("takes_latex"))
    )
    return RunTables(tables.samples, tables.parses, tables.matches, kept.drop("is_latex", "takes_latex"))


def _ratio(name: str, kind: str, tables: RunTables) -> FigureSums:
    """Edits over lengths of all pages together."""
    info = _info(
        name,
        f"{kind.capitalize()} edit, whole",
        f"All edits over all lengths of the {kind} elements together.",
        "characters of the longer side, or entries of the reading order",
        lower=True,
        main=False,
    )
    edits = mean_sums(info, page_rows(tables, f"{kind}_edits"), "value", tables)
    lengths = mean_sums(info, page_rows(tables, f"{kind}_length"), "value", tables)
    sums = {
        parser: np.stack([edits.sums[parser][:, 0], lengths.sums[parser][:, 0]], axis=1)
        for parser in edits.sums
    }
    return FigureSums(info, edits.samples, edits.documents, sums, mean_statistic, kinds=edits.kinds)


def _mean_of(info: FigureInfo, parts: Sequence[tuple[FigureSums, bool]], wanted: int) -> FigureSums | None:
    """The mean of several means, where all of them are there."""
    if len(parts) != wanted:
        return None
    return mean_of_parts(info, parts)


def mean_of_parts(info: FigureInfo, parts: Sequence[tuple[FigureSums, bool]]) -> FigureSums:
    """The mean of several means; a part that is marked counts as one minus itself.

    A single page earns the mean of the parts that it has: one without tables can get better or worse, too.
    """
    turned = np.array([is_turned for _, is_turned in parts])
    first = parts[0][0]
    sums = {
        parser: np.concatenate([figure.sums[parser] for figure, _ in parts], axis=1) for parser in first.sums
    }

    def values_of(totals: Floats) -> Floats:
        values = np.stack(
            [mean_statistic(totals[..., 2 * i : 2 * i + 2]) for i in range(len(turned))], axis=-1
        )
        return np.where(turned, 1 - values, values)

    def statistic(totals: Floats) -> Floats:
        mean: Floats = values_of(totals).mean(axis=-1)
        return mean

    def page_statistic(totals: Floats) -> Floats:
        with np.errstate(all="ignore"):
            counted = values_of(totals)
            known = np.isfinite(counted)
            total: Floats = np.where(known, counted, 0).sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
            return np.where(known.any(axis=-1), total, np.nan)

    return FigureSums(
        info,
        first.samples,
        first.documents,
        sums,
        statistic,
        page_statistic=page_statistic,
        kinds=first.kinds,
    )
