"""Compares one output with its PDF, without truth: `parsemark check` and `parsemark.check`.

Pages are compared as in the protocol `evidence` (`matching/page_findings`). Here documents are taken apart
into pages, headings are looked for, and findings get their certainty.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

from parsemark.errors import UsageError
from parsemark.extras import require
from parsemark.formats import markdown_of
from parsemark.matching.page_evidence import EXTRAS, compare
from parsemark.matching.page_findings import KINDS, PageFinding, marks_structure, page_findings
from parsemark.matching.words import atoms
from parsemark.model import Box, Prediction
from parsemark.pdf import SeenPage, SeenWord, count_pages, seen_document, with_picture_texts
from parsemark.plain_words import percent
from parsemark.verdicts.check.certainty import PageTraits
from parsemark.verdicts.check.headings import LostHeading, lost_headings
from parsemark.verdicts.check.outputs import GivenOutput, GivenPage, output_of, read_output_of
from parsemark.verdicts.check.pages import PagePart, split_into_pages
from parsemark.verdicts.check.regions import PageRegions
from parsemark.verdicts.check.report import (
    CheckedPage,
    CheckFinding,
    Limit,
    PdfCheck,
    read_limit,
    read_limits,
)

__all__ = ["KINDS", "CheckFinding", "CheckedPage", "Limit", "PdfCheck", "check", "read_limit", "read_limits"]

_OTHER_DOCUMENT, _ENOUGH = 0.1, 30
"""Share of an output's places that its PDF must have, if the output has so many words."""
_OF_PAGE = [field.name for field in fields(PageFinding)]
_HYPHENS = ("-", "\xad", "\u2010", "\u2011")


def check(
    pdf: str | Path | bytes,
    output: str | Path | bytes,
    *,
    ocr: Literal["auto", "off"] = "auto",
    page_separator: str | None = None,
    certain: float = 0.75,
) -> PdfCheck:
    """Compare the output of a parser with its PDF and return what was lost, altered or invented.

    Args:
        pdf: Path of the PDF, or its bytes.
        output: Path of a file or of a folder with one file per page; or the output itself as bytes.
        ocr: `auto` lets tesseract or rapidocr, where installed, read pages without a usable text layer and
            compare samples of the others; `off` leaves such pages unjudged.
        page_separator: Text between the pages of the output (default: usual marks are detected; without
            marks the words tell the pages).
        certain: Lowest probability of a finding to be real. Less certain findings are left out and only
            counted as `hidden`; 0 keeps all.

    Raises:
        PdfError: The PDF cannot be opened.
        FormatError: The output cannot be read.
        UsageError: The output is empty, or belongs to another PDF; or `certain` is not between 0 and 1.
    """
    require("bench", "parsemark.check", only=["pypdfium2"])
    if not 0 <= certain <= 1:
        raise UsageError(f"The certainty must be between 0 and 1, not {certain:g}.")
    if isinstance(pdf, bytes):
        with tempfile.TemporaryDirectory(prefix="parsemark-check-") as folder:
            path = Path(folder) / "document.pdf"
            path.write_bytes(pdf)
            found = check(path, output, ocr=ocr, page_separator=page_separator, certain=certain)
            return replace(found, pdf="document.pdf")
    if ocr not in ("auto", "off"):
        raise UsageError(f"ocr must be auto or off, not {str(ocr)[:40]!r}.")
    return _check(Path(pdf), output, ocr == "auto", page_separator, certain)


def _check(
    pdf: Path, output: str | Path | bytes, ocr: bool, separator: str | None, certain: float
) -> PdfCheck:
    n_pages = count_pages(pdf)
    if not isinstance(output, bytes) and Path(output).is_dir():  # perhaps of outputs of many documents
        output = output_of(Path(output), Path(pdf.name)) or output
    given = read_output_of(output, n_pages, separator)
    name = "output" if isinstance(output, bytes) else str(output)
    if not any(_text_of(page.prediction).strip() for page in given.pages):
        raise UsageError(f"{name} is empty; it cannot be compared with {pdf}.")
    seen = seen_document(pdf, ocr=ocr)
    words = [[atom for word in page.words for atom in atoms(word.text)] for page in seen]
    if given.is_whole:
        (whole,) = given.pages
        text = _text_of(whole.prediction)
        parts, share = split_into_pages(text, words)
        if n_pages > 1:
            seen = list(_with_whole_words(seen, frozenset(atoms(text))))
    else:
        text = "\n\n".join(_text_of(page.prediction) for page in given.pages)
        parts, share = [], split_into_pages(text, words)[1]
    if share < _OTHER_DOCUMENT and len(text.split()) >= _ENOUGH and _n_judged(seen):
        raise UsageError(
            f"Only {percent(share)} of the three-word sequences of {name} occur in {pdf}: is it the right "
            "file?"
        )
    pairs = list(_paired(seen, given, parts))
    texts = tuple(own.text for _, own in pairs)
    headings: dict[int, list[LostHeading]] = {}
    for number, heading in lost_headings(pdf, seen, texts):
        headings.setdefault(number, []).append(heading)
    is_marked_up = marks_structure(texts)
    pages = [
        _check_page(pdf, *page, own, certain, headings.get(page[0], ()), is_marked_up) for page, own in pairs
    ]
    return PdfCheck(str(pdf), name, tuple(pages), texts, certain)


def _n_judged(seen: Sequence[SeenPage]) -> int:
    return sum(page.source != "none" for page in seen)


def _text_of(prediction: Prediction) -> str:
    return markdown_of(prediction)


def _paired(
    seen: Sequence[SeenPage], given: GivenOutput, parts: Sequence[PagePart]
) -> Iterator[tuple[tuple[int, SeenPage], _OwnOutput]]:
    """Yield each page with its number, and with its part of the output."""
    by_number = {page.number: page for page in given.pages}
    for number, page in enumerate(seen, start=1):
        if given.is_whole:
            whole = given.pages[0]
            text, part = _text_of(whole.prediction), parts[number - 1]
            if len(seen) == 1:
                part = PagePart(((0, len(text)),))
                own = whole.prediction if whole.prediction.text is None else None
                yield (number, page), _OwnOutput(text, own or _as_text(text, whole), part, whole)
                continue
            own_text = part.text_in(text)
            yield (number, page), _OwnOutput(own_text, _as_text(own_text, whole), part, whole, text)
        elif (own_page := by_number.get(number)) is not None:
            text = _text_of(own_page.prediction)
            part = PagePart(((0, len(text)),))
            yield (number, page), _OwnOutput(text, own_page.prediction, part, own_page)
        else:
            yield (number, page), _OwnOutput("", Prediction("", "", text=""), PagePart(), None)


def _as_text(text: str, page: GivenPage) -> Prediction:
    return Prediction("", "", text=text, format=page.prediction.format)


class _OwnOutput:
    """What an output has of one page, and where that stands in its file."""

    def __init__(
        self,
        text: str,
        prediction: Prediction,
        part: PagePart,
        given: GivenPage | None,
        whole: str | None = None,
    ) -> None:
        self.text, self.prediction, self.file = text, prediction, "" if given is None else given.file
        self._part, self.whole = part, text if whole is None else whole
        self._first = None if given is None else given.first_line

    def line_of(self, span: tuple[int, int] | None) -> int | None:
        """Return the line of the file in which a place of the page's text stands; None if there are no
        lines.
        """
        if span is None or self._first is None:
            return None
        place = self._part.place_of(span[0])
        return self._first + self.whole.count("\n", 0, place)


def _with_whole_words(seen: Sequence[SeenPage], said: frozenset[str]) -> Iterator[SeenPage]:
    """Yield the pages, with words that a hyphen parts at the end of one put together as the output has
    them.
    """
    pages = list(seen)
    for k in range(len(pages) - 1):
        last = next((w for w in reversed(pages[k].words) if w.shown and not w.edge), None)
        first = next((w for w in pages[k + 1].words if w.shown and not w.edge), None)
        if last is None or first is None or not last.text.endswith(_HYPHENS):
            continue
        whole = last.text[:-1] + first.text
        if set(atoms(whole)) <= said:
            both = replace(last, text=whole)
            pages[k] = replace(pages[k], words=_replaced(pages[k].words, last, both))
            pages[k + 1] = replace(pages[k + 1], words=_replaced(pages[k + 1].words, first, None))
    yield from pages


def _replaced(words: Sequence[SeenWord], old: SeenWord, new: SeenWord | None) -> tuple[SeenWord, ...]:
    return tuple(w for word in words if (w := new if word is old else word) is not None)


# --- one page -----------------------------------------------------------------------------------------------


def _check_page(
    pdf: Path,
    number: int,
    seen: SeenPage,
    own: _OwnOutput,
    certain: float,
    headings: Sequence[LostHeading],
    is_marked_up: bool,
) -> CheckedPage:
    text = own.text
    if seen.source == "none":
        return CheckedPage(number, seen.width, seen.height, seen.judged_by, 0, 0, types=seen.types)
    evidence = compare(seen, own.prediction, text)
    if seen.unread and any(evidence.counts[kind] for kind in EXTRAS):  # perhaps they are of its pictures
        seen = with_picture_texts(pdf, number, seen)
        evidence = compare(seen, own.prediction, text)
    found = list(page_findings(seen, evidence, text, is_marked_up=is_marked_up))
    if all(finding.kind != "missing_page" for finding in found):
        found += map(_of_heading, headings, repeat(text))
    found.sort(key=lambda finding: list(KINDS).index(finding.kind))
    regions, about = PageRegions(seen), PageTraits(seen, text, own.whole)
    shown = []
    for finding in found:
        if (certainty := about.certainty(finding)) >= certain:
            region = regions.of([Box(*sides) for sides in finding.boxes]) if finding.kind == "lost" else ""
            of_page: dict[str, Any] = {name: getattr(finding, name) for name in _OF_PAGE}
            of_page.update(page=number, line=own.line_of(finding.span), file=own.file)
            shown.append(CheckFinding(**of_page, region=region, certainty=certainty))
    return CheckedPage(
        number,
        *(seen.width, seen.height, seen.judged_by, evidence.counts["words"], evidence.counts["said"]),
        tuple(shown),
        len(found) - len(shown),
        seen.types,
    )


def _of_heading(heading: LostHeading, text: str) -> PageFinding:
    line = " ".join(text[slice(*heading.span)].split())
    boxes = (heading.box.as_tuple(),)
    return PageFinding("heading", heading.text, line, heading.n_words, 0, "medium", "", boxes, heading.span)
