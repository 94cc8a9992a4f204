"""The recipe: its options and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsemark.model import Category, Page, Prediction
from parsemark.protocols.figures import FigureInfo, FigureSums, Floats
from parsemark.protocols.measured import (
    LeftOutError,
    MeasuredProtocol,
    html_of,
    in_order,
    own_truth,
    score_info,
)
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.run_tables import RunTables

MARKDOWN = "opendataloader_markdown"
"""Where a page keeps its true Markdown."""
_README = score_info(
    "overall_of_means",
    "Overall (README)",
    "Mean of the means of NID, TEDS and MHS: what the board's README calls overall.",
    main=True,
)


_MARKS = {str(Category.TITLE): "# ", str(Category.LIST_GROUP): "- "}


@dataclass(frozen=True)
class OpendataloaderProtocol(MeasuredProtocol):
    """NID, TEDS and MHS of Markdown pages, as opendataloader-bench computes them.

    Args:
        page_errors_drop: A page with a span that is no number disappears from all means, as upstream has it;
            else it is worth nothing.
    """

    name: ClassVar[str] = "opendataloader"
    title: ClassVar[str] = "opendataloader-bench: reading order, tables, headings"
    comparability: ClassVar[int] = 1
    infos: ClassVar[tuple[FigureInfo, ...]] = (
        score_info(
            "overall", "Overall", "Mean of NID, TEDS and MHS of a page, those that it has.", main=True
        ),
        score_info("nid", "NID", "Similarity of the whole text, tables as mark-up.", main=True),
        score_info("teds", "TEDS", "All tables of a page as one tree.", "pages with tables", main=True),
        score_info("mhs", "MHS", "Headings with the text below them.", "pages with headings", main=True),
        score_info("nid_s", "NID-S", "Similarity of the text without tables."),
        score_info("teds_s", "TEDS-S", "TEDS without content.", "pages with tables"),
        score_info("mhs_s", "MHS-S", "MHS without content.", "pages with headings"),
    )

    page_errors_drop: bool = True

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """The seven numbers of a page."""
        from parsemark.formats import markdown_of
        from parsemark.protocols.opendataloader.rules import page_scores

        try:
            return page_scores(true_markdown(truth), markdown_of(prediction))
        except ValueError as error:
            if self.page_errors_drop:
                raise LeftOutError(str(error)) from error
            raise

    def presentation(self) -> Presentation:
        """Write the board's files; see `exports.py`."""
        from parsemark.protocols.opendataloader.exports import result_files

        return Presentation(result_files=result_files)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Means over pages, and the README's overall."""
        overall, nid, teds, mhs, *rest = super().figure_sums(tables)
        joined = {
            parser: np.concatenate([figure.sums[parser] for figure in (nid, teds, mhs)], axis=1)
            for parser in nid.sums
        }
        readme = FigureSums(_README, nid.samples, nid.documents, joined, _mean_of_means)
        return [overall, nid, teds, mhs, readme, *rest]


def _mean_of_means(totals: Floats) -> Floats:
    sums, counts = totals[..., 0::2], totals[..., 1::2]
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan, dtype=float), where=counts > 0)
    known = ~np.isnan(means)
    n = known.sum(axis=-1)
    return np.where(n > 0, np.where(known, means, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


def true_markdown(page: Page) -> str:
    """The board's own truth, or one made of a page's elements as the board made its own."""
    stored = own_truth(page, MARKDOWN)
    if isinstance(stored, str):
        return stored
    from bs4 import BeautifulSoup

    parts = []
    for element in in_order(page):
        if element.category == Category.TABLE:
            parts.append(BeautifulSoup(html_of(element), "html.parser").prettify().strip())
            continue
        text = (element.text if element.text is not None else element.latex) or ""
        mark = _MARKS.get(str(element.category), "")
        parts.append(mark + text if text else "")
    return "\n\n".join(part for part in parts if part)
