"""The figures of a run, profile by profile (`figures.toml` says what they are), by attribute; verdicts."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from parsemark.formats.model_json import page_from_json
from parsemark.model import Page, Status
from parsemark.plain_words import counted, listed
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.document.annotation import TABLES_ONLY
from parsemark.protocols.document.omnidocbench.profile import get_profile
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_scores.aggregate import (
    failed_scores,
    make_figure,
    mean_of_figures,
    mean_statistic,
    mean_sums,
    run_sums,
)
from parsemark.protocols.run_scores.slices import MAX_VALUES, attribute_label, element_attributes, page_slices
from parsemark.protocols.run_scores.sums import FigureSums, read_figures
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import FigureInfo, Slice, Summary

NO_TRUTH = "No page of this corpus has truth, so no score and no ranking exist."
_TABLE_METRICS = ("teds", "teds_structure", "table_edit", "table_edits", "table_length")
"""Rows of whole pages that their tables make."""
_OF_PAGE = pl.col("element") == PAGE_LEVEL
_CDM = ("cdm", "cdm_f1")


@dataclass(frozen=True)
class DocumentFigures:
    """The figures of one profile: `strict` leaves nothing out, the others aggregate as published."""

    profile: str
    cdm: bool

    @property
    def infos(self) -> tuple[FigureInfo, ...]:
        """Return the metadata of the figures that are means over pages."""
        return tuple(_described("strict" if self.profile == "strict" else "published").values())

    def counted(self, tables: RunTables) -> RunTables:
        """Return the tables without parsers that are left out, and without the rows that enter no figure.

        Where LaTeX tables are set apart, those of the notation that more of a parser's tables have are kept.
        """
        if names := _left_out(tables):
            keep = ~pl.col("parser").is_in(names)
            frames = {name: tables.frame(name).filter(keep) for name in ("parses", "matches", "scores")}
            tables = tables.changed(**frames)
        is_apart = self.profile != "strict" and get_profile(self.profile).latex_tables == "apart"
        return _with_one_notation(tables) if is_apart else tables

    def sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the overall value, means over pages, totals of elements, then the figures of every
        protocol.
        """
        known = tables.scores.filter(_OF_PAGE & pl.col("value").is_not_null())
        # CDM makes a figure only if TeX drew wherever it was asked to.
        present = set(known["metric"]) - set(not_drawn(tables.scores)["metric"])
        pages = {
            info.name: mean_sums(info, page_rows(tables, info.name), "value", tables)
            for info in self.infos
            if info.name in present
        }
        totals = () if self.profile in ("strict", "v1.0") else ("text", "formula", "table", "order")
        wholes = [_whole(kind, tables) for kind in totals if f"{kind}_length" in present]
        return [*self._overall(pages), *pages.values(), *wholes, *run_sums(tables)]

    def _overall(self, pages: Mapping[str, FigureSums]) -> list[FigureSums]:
        """Return the mean of several figures, edits counted as one minus themselves but in a mean of edits
        alone.
        """
        is_strict, is_first = self.profile == "strict", self.profile == "v1.0"
        key = "overall" if "cdm" in pages else "overall_without_cdm"
        parts = ["text_edit", "teds", *(["cdm"] if "cdm" in pages else [])]
        if is_first:
            key, parts = "edits", ["text_edit", "formula_edit", "table_edit", "order_edit"]
        if is_strict:
            formulas = "cdm_f1" if "cdm_f1" in pages else "formula_f1"
            wanted = ("text_edit", formulas, "teds_f1", "order_edit")
            key, parts = "strict", [name for name in wanted if name in pages]
        if not parts or not pages.keys() >= set(parts) or (is_strict and len(parts) == 1):
            return []
        named = ", ".join(pages[name].info.label for name in parts)
        said = {"name": key if key.startswith("overall") else "overall"}
        if is_strict and len(parts) < 4:
            said = {"name": "mean_of_parts", "label": f"Mean of {named}"}
        turned = [not is_first and not pages[part].info.higher_is_better for part in parts]
        credits = [
            f"(1 − {label})" if turns else label
            for label, turns in zip((pages[name].info.label for name in parts), turned, strict=True)
        ]
        info = _described("overall", parts=listed(credits, most=len(credits)))[key].model_copy(update=said)
        return [mean_of_figures(info, [pages[part] for part in parts], turned, complete=True)]

    def primary(self, sums: Sequence[FigureSums]) -> str:
        """Return the figure of the ranking: overall, where all its parts are there."""
        names = [s.info.name for s in sums]
        own = ["overall_without_cdm", "mean_of_parts", "teds", *(info.name for info in self.infos)]
        # Without any truth none of them is there: failures alone make no order.
        return next((name for name in ("overall", *own) if name in names), "overall")

    @property
    def failures_count(self) -> bool:
        """Return whether pages on which a parser failed stand in the denominators; not in the first
        versions.
        """
        return self.profile not in ("v1.0", "v1.5")

    def notes(self) -> list[str]:
        """Return notes on defects that the profile keeps."""
        found = []
        if not self.failures_count:
            left_out = "pages without a prediction, and those on which a parser failed,"
            found.append(f"{self.profile} leaves {left_out} out of all means.")
        if self.profile not in ("strict", "v1.0"):
            found.append(
                "This profile does not count text, formulas and tables without a match in the truth."
            )
            if not self.cdm:
                found.append("CDM is not computed; the published Overall needs it: document(…,cdm=true).")
        return found

    def failure_notes(self, tables: RunTables) -> list[str]:
        """Return formulas that could not be drawn count 0, pages that went over a limit are not scored: say
        so.
        """
        is_cdm, has_failed = pl.col("metric").is_in(_CDM), pl.col("status") == str(Status.METRIC_FAILED)
        undrawn = (
            (pl.col("metric") == "cdm") & ~_OF_PAGE & pl.col("message").is_not_null() & (pl.col("value") == 0)
        )
        formulas, pages = (tables.scores.filter(of) for of in (undrawn, _OF_PAGE & has_failed & ~is_cdm))
        where = "They count as missed" if self.failures_count else "They are in no mean"
        return [
            *(
                f"{parser}: {own.height} formulas have CDM 0 because they could not be drawn. {why}"
                for parser, own, why in failed_scores(formulas, tables.parsers, 200)
            ),
            *(
                f"{parser}: {counted(own['sample'].n_unique(), 'page')} could not be scored. {where}. {why}"
                for parser, own, why in failed_scores(pages, tables.parsers, 200)
            ),
        ]


def _described(section: str, **words: str) -> dict[str, FigureInfo]:
    return read_figures("parsemark.protocols.document", section, words)


def page_rows(tables: RunTables, metric: str) -> pl.DataFrame:
    """Return the values of one measure of whole pages; a null was not measured, as CDM without its
    programs.
    """
    return tables.scores.filter(_OF_PAGE & (pl.col("metric") == metric) & pl.col("value").is_not_null())


def not_drawn(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the pages that have no CDM because TeX is missing or half installed."""
    failed = pl.col("status") == str(Status.METRIC_FAILED)
    return scores.filter(_OF_PAGE & failed & pl.col("metric").is_in(_CDM))


def _with_one_notation(tables: RunTables) -> RunTables:
    """Leave out the tables of pages whose notation is the rarer one: no mean of the published code has
    them.
    """
    from parsemark.protocols.document.omnidocbench.scores import LATEX_TABLES

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
    """Return edits over lengths of all pages together."""
    [info] = _described("whole", kind=kind, Kind=kind.capitalize()).values()
    edits, lengths = (
        mean_sums(info, page_rows(tables, f"{kind}_{part}"), "value", tables) for part in ("edits", "length")
    )
    sums = {
        parser: np.stack([edits.sums[parser][:, 0], lengths.sums[parser][:, 0]], axis=1)
        for parser in edits.sums
    }
    return FigureSums(info, edits.samples, edits.documents, sums, mean_statistic, division=edits.division)


def summarise(
    protocol: PageProtocol, tables: RunTables, profile: str, settings: Mapping[str, str], *, cdm: bool
) -> Summary:
    """Return every figure with its 95 % confidence interval, its denominator, and its groups."""
    figures = DocumentFigures(profile, cdm)
    left_out = _left_out(tables)
    counted = figures.counted(tables)
    sums = figures.sums(counted)
    known = counted.samples.filter(pl.col("truth").is_not_null()).select("sample", "truth")
    pages = {sample: page_from_json(json.loads(text)) for sample, text in known.iter_rows()}
    return protocol.summary_of(
        counted,
        sums,
        primary=figures.primary(sums),
        settings=settings,
        counts=_counts(pages),
        slices=[
            *page_slices([s for s in sums if s.info.main], counted),
            *element_slices(counted, pages),
        ],
        failures_count=figures.failures_count,
        notes=[
            *([] if pages else [NO_TRUTH]),
            *figures.notes(),
            *_incomplete(pages, is_strict=profile == "strict"),
            *(
                [f"These parsers return only tables and are not scored here: {', '.join(left_out)}."]
                if left_out
                else []
            ),
            *(f"CDM is not computed. {why}" for why in sorted(set(not_drawn(counted.scores)["message"]))),
            *figures.failure_notes(counted),
        ],
        details={"variances": _variances(sums), "left_out": left_out},
    )


def _left_out(tables: RunTables) -> list[str]:
    """Return parsers that give only tables on every page that they answer."""
    pages = tables.scores.filter(_OF_PAGE & (pl.col("metric") == "text_edit"))
    marked = pages.filter(pl.col("message") == TABLES_ONLY)
    # Where the truth has no text the row says so of every page: that there was an answer the parse tells.
    answered = tables.parses.filter(pl.col("status") == str(Status.OK)).join(
        marked, on=["sample", "parser"], how="anti"
    )
    others = answered.join(pages, on=["sample", "parser"], how="semi")["parser"]
    return sorted(set(marked["parser"]) - set(others))


def _counts(pages: Mapping[str, Page]) -> dict[str, int]:
    counting = (e for page in pages.values() for e in page.elements if not e.ignore)
    categories = Counter(str(element.category) for element in counting)
    return {
        "pages with truth": len(pages),
        "text blocks": categories["text_block"] + categories["title"] + categories["list_group"],
        "formulas": categories["equation_isolated"],
        "tables": categories["table"],
    }


def _incomplete(pages: Mapping[str, Page], *, is_strict: bool) -> list[str]:
    """Return where the truth says nothing about text, or has not all of a page: no finding about the
    parsers.
    """
    has_tables = (
        "has only tables: text, formulas and reading order are not scored there. The protocol `tables` "
        "scores such pages in more detail."
    )
    is_partial = (
        "is partial: its elements are scored, and predictions of categories that it does not cover are "
        "neither right nor invented."
    )
    is_unread = (
        "has unreadable tables: these and their possible matches are excluded from every parser's score."
    )
    counts = (
        (sum(page.only_tables for page in pages.values()), has_tables),
        (sum(page.covered is not None for page in pages.values()), is_partial),
        (is_strict and sum(any(t.is_unread for t in page.tables) for page in pages.values()), is_unread),
    )
    return [
        f"The truth of {'every page' if n == len(pages) else f'{n} of {len(pages)} pages'} {what}"
        for n, what in counts
        if n
    ]


def _variances(sums: Sequence[FigureSums]) -> dict[str, dict[str, float]]:
    """Return the variance over pages of the main figures (their Tables 4 and 5)."""
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
    """Return the elements with each value of each attribute: means over matches, as their Tables 7 and 8."""
    labels = {
        (sample, e.id): [(k, attribute_label(v)) for k, v in element_attributes(e).items() if v is not None]
        for sample, page in pages.items()
        for e in page.elements
    }
    rows = tables.scores.filter(
        ~_OF_PAGE
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
    found = []
    for (category, attribute, value), by_parser in sorted(values.items()):
        names = {"edit_distance": f"{category}_edit"}
        figures = {
            parser: {names.get(m, m): make_figure(sum(v) / len(v), len(v)) for m, v in sorted(own.items())}
            for parser, own in sorted(by_parser.items())
        }
        n = max(len(v) for own in by_parser.values() for v in own.values())
        if n_values[category, attribute] <= MAX_VALUES:
            found.append(Slice(scope=category, attribute=attribute, value=value, n=n, figures=figures))
    return found
