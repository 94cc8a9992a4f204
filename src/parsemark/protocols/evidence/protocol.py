"""The recipe: words that can be seen on a page, looked for in an output, and what became of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from parsemark.errors import PdfError
from parsemark.formats import markdown_of
from parsemark.matching.page_evidence import (
    EXTRAS,
    FOUND,
    NUMBERS,
    PAGE_STATUSES,
    TABLES_ALONE,
    compare,
    gives_tables_alone,
)
from parsemark.matching.page_findings import PageFinding, marks_structure, page_findings
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
_MAX_BOXES, _MAX_TEXT = 50, 2_000  # places of a finding, and characters of its texts
COUNTED = ("number", "cell", "order", "table")
"""Kinds of findings that are counted by page: metrics of the page under their own names."""


@dataclass(frozen=True)
class EvidenceProtocol(PageProtocol):
    """Agreement of outputs with the text and pictures of the PDF; needs no truth.

    Every word that can be seen on a page is looked for in the output: kept, joined, split, altered, moved or
    lost. Every word of the output is looked for on the page: doubled, invented, or hidden there. The findings
    are those of `parsemark check`, without its certainty: `docs/reference/evidence.md`.

    Args:
        ocr: `auto`: tesseract or rapidocr, where one is installed, checks samples of the text layer and reads
            pages without one that can be believed, in scripts that it has a model for; `off`: such pages are
            counted and not scored.
    """

    name: ClassVar[str] = "evidence"
    title: ClassVar[str] = "Page evidence"
    comparability: ClassVar[int] = 4
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
    text = prediction.text if prediction.text is not None else markdown_of(prediction)
    evidence = compare(seen, prediction, text)
    rows = []
    names = ("words", "said", *PAGE_STATUSES, *EXTRAS)
    page = {"width": seen.width, "height": seen.height, "judged_by": seen.judged_by}
    for name in (*names, *(NUMBERS + name for name in names)):
        told = json.dumps(page) if name == "words" else None
        rows.append(ScoreRow.of_page(prediction, name, float(evidence.counts[name]), Status.OK, told))
    wrong = sum(evidence.counts[name] for name in (*PAGE_STATUSES[1:], *EXTRAS))
    rows.append(ScoreRow.of_page(prediction, WRONG, float(wrong), Status.OK))
    found: list[PageFinding] = []
    if not failed:
        alone = float(gives_tables_alone(prediction))
        rows.append(ScoreRow.of_page(prediction, TABLES_ALONE, alone, Status.OK))
        found = list(page_findings(seen, evidence, text, is_marked_up=marks_structure([text])))
    for kind in COUNTED:
        n = sum(finding.kind == kind for finding in found)
        rows.append(ScoreRow.of_page(prediction, kind, float(n), Status.OK))
    for k, finding in enumerate(found[:MAX_FINDINGS]):
        place = prediction.sample, f"{finding.kind}-{k}", "", "", finding.kind, prediction.parser
        rows.append(ScoreRow(*place, FOUND, None, Status.OK, _message(finding, text)))
    return PageScores(scores=rows)


def _message(finding: PageFinding, text: str) -> str:
    """Return what is stored of a finding, as JSON: only what it has."""
    line = None if finding.span is None else text.count("\n", 0, finding.span[0]) + 1
    boxes = [[round(side, 1) for side in box] for box in finding.boxes[:_MAX_BOXES]]
    entry = {
        **{"text": finding.text[:_MAX_TEXT], "said": finding.output[:_MAX_TEXT], "detail": finding.detail},
        **{"boxes": boxes, "numbers": finding.numbers, "line": line},
    }
    return json.dumps({key: value for key, value in entry.items() if value}, ensure_ascii=False)
