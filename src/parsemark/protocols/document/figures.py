"""The figures of whole pages, profile by profile; `figures.toml` says what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from parsemark.model import Status
from parsemark.protocols.document.published.profile import get_profile
from parsemark.protocols.figures.aggregate import mean_of_figures, mean_statistic, mean_sums
from parsemark.protocols.figures.figure import FigureInfo, FigureSums, read_figures
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_data.tables import RunTables

_TABLE_METRICS = ("teds", "teds_structure", "table_edit", "table_edits", "table_length")
"""Rows of whole pages that their tables make."""
_OF_PAGE = pl.col("element") == PAGE_LEVEL


@dataclass(frozen=True)
class DocumentFigures:
    """The figures of one profile: `strict` leaves nothing out, the others aggregate as published."""

    profile: str
    cdm: bool

    @property
    def infos(self) -> tuple[FigureInfo, ...]:
        """Those that are means over pages."""
        return tuple(_described("strict" if self._is_strict else "published").values())

    @property
    def _is_strict(self) -> bool:
        return self.profile == "strict"

    @property
    def _is_first(self) -> bool:
        return self.profile == "v1.0"

    def counted(self, tables: RunTables) -> RunTables:
        """The tables without the rows that enter no figure.

        Where LaTeX tables are set apart, those of the notation that more of a parser's tables have are kept.
        """
        if self._is_strict or get_profile(self.profile).latex_tables != "apart":
            return tables
        return _with_one_notation(tables)

    def sums(self, tables: RunTables) -> list[FigureSums]:
        """The overall value, then means over pages, then totals over all elements."""
        present = _page_measures(tables)
        pages = {
            info.name: mean_sums(info, page_rows(tables, info.name), "value", tables)
            for info in self.infos
            if info.name in present
        }
        totals = () if self._is_strict or self._is_first else ("text", "formula", "table", "order")
        wholes = [_whole(kind, tables) for kind in totals if f"{kind}_length" in present]
        return [*self._overall(pages), *pages.values(), *wholes]

    def _overall(self, pages: Mapping[str, FigureSums]) -> list[FigureSums]:
        """The mean of several figures, edits counted as one minus themselves but in a mean of edits alone."""
        key = "overall" if "cdm" in pages else "overall_without_cdm"
        parts = ["text_edit", "teds", *(["cdm"] if "cdm" in pages else [])]
        if self._is_first:
            key, parts = "edits", ["text_edit", "formula_edit", "table_edit", "order_edit"]
        if self._is_strict:
            formulas = "cdm_f1" if "cdm_f1" in pages else "formula_f1"
            wanted = ("text_edit", formulas, "teds_f1", "order_edit")
            key, parts = "strict", [name for name in wanted if name in pages]
        if not parts or not pages.keys() >= set(parts) or (self._is_strict and len(parts) == 1):
            return []
        named = ", ".join(pages[name].info.label for name in parts)
        info = _described("overall", parts=named)[key]
        name = key if key.startswith("overall") else "overall"
        if self._is_strict and len(parts) < 4:
            name, info = "mean_of_parts", info.model_copy(update={"label": f"Mean of {named}"})
        turned = [not self._is_first and not pages[part].info.higher_is_better for part in parts]
        named_info = info.model_copy(update={"name": name})
        return [mean_of_figures(named_info, [pages[part] for part in parts], turned, complete=True)]

    def primary(self, sums: Sequence[FigureSums]) -> str:
        """The figure of the ranking: overall, where all its parts are there."""
        names = [s.info.name for s in sums]
        own = ["overall_without_cdm", "mean_of_parts", "teds", *(info.name for info in self.infos)]
        # Without any truth none of them is there: failures alone make no order.
        return next((name for name in ("overall", *own) if name in names), "overall")

    @property
    def failures_count(self) -> bool:
        """Whether pages on which a parser failed stand in the denominators; not in the first versions."""
        return self.profile not in ("v1.0", "v1.5")

    def notes(self) -> list[str]:
        """What a reader of the figures must know: defects that the profile keeps."""
        found = []
        if not self.failures_count:
            left_out = "pages without a prediction, and those on which a parser failed,"
            found.append(f"{self.profile} leaves {left_out} out of all means.")
        if not self._is_strict and not self._is_first:
            found.append("Text, formulas and tables that answer nothing are not counted by this profile.")
            if not self.cdm:
                found.append("CDM was not asked for; the published overall needs it: document(…,cdm=true).")
        return found


def _described(section: str, **words: str) -> dict[str, FigureInfo]:
    return read_figures("parsemark.protocols.document", section, words)


def page_rows(tables: RunTables, metric: str) -> pl.DataFrame:
    """The values of one measure of whole pages; a null was not measured, as CDM without its programs."""
    return tables.scores.filter(_OF_PAGE & (pl.col("metric") == metric) & pl.col("value").is_not_null())


def _page_measures(tables: RunTables) -> set[str]:
    """The measures of whole pages that make figures: CDM only if TeX drew wherever it was asked to."""
    known = tables.scores.filter(_OF_PAGE & pl.col("value").is_not_null())
    return set(known["metric"]) - set(not_drawn(tables.scores)["metric"])


def not_drawn(scores: pl.DataFrame) -> pl.DataFrame:
    """The pages that have no CDM because TeX is missing or half installed."""
    failed = pl.col("status") == str(Status.METRIC_FAILED)
    return scores.filter(_OF_PAGE & failed & pl.col("metric").is_in(["cdm", "cdm_f1"]))


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
    of_table = is_table | (_OF_PAGE & pl.col("metric").is_in(_TABLE_METRICS))
    kept = scores.join(by_parser, on="parser", how="left", maintain_order="left").filter(
        ~of_table | (pl.col("is_latex") == pl.col("takes_latex"))
    )
    return tables.changed(scores=kept.drop("is_latex", "takes_latex"))


def _whole(kind: str, tables: RunTables) -> FigureSums:
    """Edits over lengths of all pages together."""
    [info] = _described("whole", kind=kind, Kind=kind.capitalize()).values()
    edits, lengths = (
        mean_sums(info, page_rows(tables, f"{kind}_{part}"), "value", tables) for part in ("edits", "length")
    )
    sums = {
        parser: np.stack([edits.sums[parser][:, 0], lengths.sums[parser][:, 0]], axis=1)
        for parser in edits.sums
    }
    return FigureSums(info, edits.samples, edits.documents, sums, mean_statistic, kinds=edits.kinds)
