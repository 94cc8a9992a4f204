"""The recipe: words that can be seen on a page, looked for in an output, and what became of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from parsemark.errors import PdfError
from parsemark.matching.page_evidence import (
    EXTRAS,
    FOUND,
    NUMBERS,
    PAGE_STATUSES,
    TABLES_ALONE,
    compare,
    gives_tables_alone,
)
from parsemark.model import Page, Prediction, Status
from parsemark.pdf import SeenPage, seen_page
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.presentation import PageViews, Presentation
from parsemark.protocols.run_data.rows import PageScores, ScoreRow
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary

WRONG = "wrong"  # metric of the page: how many words have any other status than to be kept
MAX_FINDINGS = 500  # of a page; the figures count all of them


@dataclass(frozen=True)
class EvidenceProtocol(PageProtocol):
    """Agreement of outputs with the text and pictures of the PDF; needs no truth.

    Every word that can be seen on a page is looked for in the output: kept, joined, split, altered, moved or
    lost. Every word of the output is looked for on the page: doubled, invented, or hidden there:
    `docs/reference/evidence.md`.

    Args:
        ocr: `auto`: tesseract or rapidocr, where one is installed, checks samples of the text layer and reads
            pages without one that can be believed, in scripts that it has a model for; `off`: such pages are
            counted and not scored.
    """

    name: ClassVar[str] = "evidence"
    title: ClassVar[str] = "Page evidence"
    comparability: ClassVar[int] = 3
    needs_labels: ClassVar[bool] = False

    ocr: Literal["auto", "off"] = "auto"

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Return no verdict: there is no PDF to look at."""
        return _unknown(prediction, "there is no PDF")

    def score_pdf(
        self,
        pdf: Path | None,
        page_number: int,
        truth: Page | None,
        prediction: Prediction,
        page_text: str | None,
    ) -> PageScores:
        """Look at one page, and at what a parser made of it."""
        if pdf is None:
            return self.score_page(truth, prediction)
        try:
            seen = seen_page(pdf, page_number, ocr=self.ocr == "auto")
        except (PdfError, OSError) as error:
            return _unknown(prediction, str(error))
        return _unknown(prediction, seen.why) if seen.source == "none" else _rows(seen, prediction)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the sums behind the figures; see `figures.py`."""
        from parsemark.protocols.evidence.figures import figure_sums

        return figure_sums(tables)

    def summarise(self, tables: RunTables) -> Summary:
        """Return all figures, who invented numbers, and the worst pages."""
        from parsemark.protocols.evidence.figures import details, notes

        told = details(tables)
        return self.summary_of(tables, self.figure_sums(tables), notes=notes(told), details=told)

    def presentation(self) -> Presentation:
        """Show findings page by page, the worst first."""
        from parsemark.protocols.evidence.view import found_on, page_view

        words = "Numbers: shares of the page's words that are kept; most findings first."
        shown = PageViews("kept", words, of_rows=page_view, worst=WRONG, found=found_on)
        return Presentation(pages=shown, hidden_metrics=frozenset({FOUND}))


def _unknown(prediction: Prediction, why: str) -> PageScores:
    return PageScores(scores=[ScoreRow.of_page(prediction, "words", None, Status.NO_TRUTH, why)])


def _rows(seen: SeenPage, prediction: Prediction) -> PageScores:
    """Return counts of the page, and a row for each finding; where a parser failed, all words are lost."""
    failed = prediction.status is not Status.OK and prediction.text is None
    if failed:
        prediction = Prediction(prediction.sample, prediction.parser, prediction.status, text="")
    found = compare(seen, prediction)
    rows = []
    names = ("words", "said", *PAGE_STATUSES, *EXTRAS)
    page = {"width": seen.width, "height": seen.height, "judged_by": seen.judged_by}
    for name in (*names, *(NUMBERS + name for name in names)):
        told = json.dumps(page) if name == "words" else None
        rows.append(ScoreRow.of_page(prediction, name, float(found.counts[name]), Status.OK, told))
    wrong = sum(found.counts[name] for name in (*PAGE_STATUSES[1:], *EXTRAS))
    rows.append(ScoreRow.of_page(prediction, WRONG, float(wrong), Status.OK))
    if not failed:
        alone = float(gives_tables_alone(prediction))
        rows.append(ScoreRow.of_page(prediction, TABLES_ALONE, alone, Status.OK))
    for k, finding in enumerate(found.findings[:MAX_FINDINGS] if not failed else ()):
        box = finding.box
        corners = [round(side, 1) for side in box.as_tuple()] if box else None
        entry = {"said": finding.said[:200], "box": corners, "numbers": finding.numbers, "line": finding.line}
        entry = {"text": finding.text[:200], **{key: value for key, value in entry.items() if value}}
        place = prediction.sample, f"{finding.kind}-{k}", "", "", finding.kind, prediction.parser
        message = json.dumps(entry, ensure_ascii=False)
        rows.append(ScoreRow(*place, FOUND, None, Status.OK, message))
    return PageScores(scores=rows)
