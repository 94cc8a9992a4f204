"""Compares one output with its PDF, without truth: `parsemark check` and `parsemark.check`.

The comparison of a page is that of the protocol `evidence` (`matching/page_evidence.py`). Here whole
documents are taken apart, findings of words become findings of texts, and numbers are looked at more closely.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Literal

from parsemark.errors import UsageError
from parsemark.extras import require
from parsemark.formats import markdown_of
from parsemark.matching.page_evidence import EXTRAS, PageEvidence, WordFinding, compare, placed_words
from parsemark.matching.words import WordStatus, atoms, counts, is_number
from parsemark.model import Box, Prediction
from parsemark.pdf import SeenPage, SeenWord, count_pages, seen_document, with_picture_texts
from parsemark.plain_words import percent
from parsemark.verdicts.check.cells import MisplacedCells, misplaced_cells
from parsemark.verdicts.check.certainty import PageTraits
from parsemark.verdicts.check.columns import MixedColumns, mixed_columns
from parsemark.verdicts.check.flattened import FlattenedTable, flattened_tables, marks_structure
from parsemark.verdicts.check.headings import LostHeading, lost_headings
from parsemark.verdicts.check.numbers import (
    changed_around,
    how_altered,
    is_letter_spaced,
    joined_numbers,
)
from parsemark.verdicts.check.outputs import GivenOutput, GivenPage, output_of, read_output_of
from parsemark.verdicts.check.pages import PagePart, split_into_pages
from parsemark.verdicts.check.regions import PageRegions
from parsemark.verdicts.check.report import (
    KINDS,
    CheckedPage,
    CheckFinding,
    FindingKind,
    Limit,
    PdfCheck,
    Severity,
    read_limit,
    read_limits,
)

__all__ = ["KINDS", "CheckFinding", "CheckedPage", "Limit", "PdfCheck", "check", "read_limit", "read_limits"]

_OTHER_DOCUMENT, _ENOUGH = 0.1, 30
"""Share of an output's places that its PDF must have, if the output has so many words."""
_MISSING, _FEW = 0.05, 5
"""Share of a page's words up to which the page is missing, if it has so many."""
_LONG = 5  # words from which on a lost or invented text is a severe finding
_MOST_SHOWN = 300  # characters of a long text that are kept
_HYPHENS = ("-", "\xad", "\u2010", "\u2011")


def check(
    pdf: str | Path | bytes,
    output: str | Path | bytes,
    *,
    ocr: Literal["auto", "off"] = "auto",
    page_separator: str | None = None,
    certain: float = 0.9,
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
        self._part, self._whole = part, text if whole is None else whole
        self._first = None if given is None else given.first_line

    def line_of(self, span: tuple[int, int] | None) -> int | None:
        """Return the line of the file in which a place of the page's text stands; None if there are no
        lines.
        """
        if span is None or self._first is None:
            return None
        place = self._part.place_of(span[0])
        return self._first + self._whole.count("\n", 0, place)


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
    n_words, n_said = evidence.counts["words"], evidence.counts["said"]
    kept = n_words - evidence.counts["lost"]
    if n_words >= _FEW and kept <= _MISSING * n_words and n_said <= _MISSING * n_words:
        findings: list[CheckFinding] = [_missing(number, evidence, n_words)]
    else:
        cells = list(misplaced_cells(evidence))
        columns = list(mixed_columns(evidence))
        explained = {i for found in cells for own_words in found.cells for i in own_words}
        explained.update(i for found in columns for i in found.words)
        told_words = [
            (finding, words)
            for finding, words in _page_findings(number, seen, evidence, own)
            if finding.kind != "moved" or not explained.issuperset(words)
        ]
        findings = list(_merged(told_words, evidence))
        findings += [_of_heading(number, heading, own) for heading in headings]
        findings += [_of_cells(number, found, evidence, own) for found in cells]
        findings += [_of_columns(number, found, evidence, own) for found in columns]
        if is_marked_up:
            tables = flattened_tables(seen, evidence, text)
            findings += [_of_table(number, found, evidence, own) for found in tables]
    findings.sort(key=lambda f: list(KINDS).index(f.kind))
    regions, about = PageRegions(seen), PageTraits(seen, text)
    told = [replace(f, certainty=about.certainty(f)) for f in findings]
    shown = tuple(
        replace(f, region=regions.of([Box(*sides) for sides in f.boxes])) if f.kind == "lost" else f
        for f in told
        if f.certainty >= certain
    )
    size = seen.width, seen.height
    hidden = len(told) - len(shown)
    return CheckedPage(number, *size, seen.judged_by, n_words, n_said, shown, hidden, seen.types)


def _of_heading(number: int, heading: LostHeading, own: _OwnOutput) -> CheckFinding:
    line = " ".join(own.text[slice(*heading.span)].split())
    place = own.line_of(heading.span), own.file, heading.span
    return CheckFinding(
        "heading",
        number,
        heading.text,
        line,
        heading.n_words,
        0,
        "medium",
        "",
        (heading.box.as_tuple(),),
        *place,
    )


def _of_columns(number: int, found: MixedColumns, evidence: PageEvidence, own: _OwnOutput) -> CheckFinding:
    comparison = evidence.comparison
    words = [text for i in found.words if counts(text := comparison.page[i].text)]
    said = " ".join(comparison.output[j] for j in found.between)
    stand = found.between or [j for i in found.words if (j := comparison.place[i]) is not None]
    span = evidence.span_of(stand)
    return CheckFinding(
        "order",
        number,
        " ".join(words)[:_MOST_SHOWN],
        said[:_MOST_SHOWN],
        len(words),
        sum(map(is_number, words)),
        "high",
        found.detail,
        tuple(box.as_tuple() for box in found.boxes),
        own.line_of(span),
        own.file,
        span,
    )


def _of_table(number: int, found: FlattenedTable, evidence: PageEvidence, own: _OwnOutput) -> CheckFinding:
    page = evidence.comparison.page
    words = [page[i].text for i in found.words]
    span = evidence.span_of(found.said)
    return CheckFinding(
        "table",
        number,
        " ".join(words)[:_MOST_SHOWN],
        "",
        len(words),
        sum(map(is_number, words)),
        "medium",
        f"{found.n_rows} rows, {found.n_columns} columns",
        (Box.hull(page[i].box for i in found.words).as_tuple(),),
        own.line_of(span),
        own.file,
        span,
    )


def _of_cells(number: int, found: MisplacedCells, evidence: PageEvidence, own: _OwnOutput) -> CheckFinding:
    page = evidence.comparison.page
    texts = [page[i].text for cell in found.cells[: 1 if found.is_exchange else None] for i in cell]
    words = [text for cell in found.cells for i in cell if counts(text := page[i].text)]
    span = evidence.span_of(found.said)
    return CheckFinding(
        "cell",
        number,
        " ".join(texts),
        "",
        len(words),
        sum(map(is_number, words)),
        "high",
        found.detail,
        tuple(Box.hull(page[i].box for i in cell).as_tuple() for cell in found.cells),
        own.line_of(span),
        own.file,
        span,
    )


def _missing(number: int, evidence: PageEvidence, n_words: int) -> CheckFinding:
    first = " ".join(finding.text for finding in evidence.findings if finding.kind == "lost")
    n_numbers = evidence.counts["numbers_lost"]
    return CheckFinding("missing_page", number, first[:_MOST_SHOWN], "", n_words, n_numbers, "high")


def _page_findings(
    number: int, seen: SeenPage, evidence: PageEvidence, own: _OwnOutput
) -> Iterator[tuple[CheckFinding, tuple[int, ...]]]:
    """Yield findings with the words of the page that they are about."""
    comparison = evidence.comparison
    texts = [atom.text for atom in comparison.page]
    in_one_number: set[int] = set()  # words that the output has joined to the number before them
    for found in evidence.findings:
        kind: FindingKind = found.kind  # type: ignore[assignment]
        if kind in ("invented", "doubled", "leaked"):
            n = sum(map(counts, found.text.split()))
            severity = _severity(kind, n, found.numbers)
            place = own.line_of(found.span), own.file, found.span
            finding = CheckFinding(kind, number, "", found.text, n, found.numbers, severity, "", (), *place)
            yield finding, ()
        elif kind == "altered":
            for is_a_number, group in groupby(found.words, key=lambda i: is_number(texts[i])):
                own_words = [i for i in group if not _is_bracketed(texts[i], comparison.said.get(i, ""))]
                for words in ([i] for i in own_words) if is_a_number else [own_words] if own_words else ():
                    altered = _altered(number, evidence, own, words, is_a_number)
                    n = joined_numbers(texts, words[0], altered.output) if is_a_number else 0
                    both = range(words[0], words[0] + n + 1)
                    in_one_number.update(both[1:])
                    if n and is_letter_spaced(comparison.page, both):
                        continue
                    yield replace(altered, detail="joined numbers") if n else altered, tuple(words)
        elif not (found.words and in_one_number.issuperset(found.words)) and not (
            kind == "joined"
            and (_has_blanks(found, own.text) or is_letter_spaced(comparison.page, found.words))
        ):
            yield _of_words(kind, number, found, own), found.words
    for change in changed_around(seen, evidence, own.text):
        place_of_number = evidence.places[change.place]
        span = None if place_of_number is None else (place_of_number.start, place_of_number.end)
        box = comparison.page[change.word].box.as_tuple()
        place = own.line_of(span), own.file, span
        yield (
            CheckFinding(
                "number", number, change.seen, change.said, 1, 1, "high", change.detail, (box,), *place
            ),
            (change.word,),
        )


def _has_blanks(found: WordFinding, text: str) -> bool:
    """Return whether an output as it stands has the blanks of words that its reading as notation joined."""
    if found.span is None:
        return False
    words = " ".join(word for word, _ in placed_words(text[slice(*found.span)]))
    return f" {found.text} " in f" {words} "


def _is_bracketed(text: str, said: str) -> bool:
    """Return whether a word has TeX's angle brackets, which text layers give as `h` and `i`, and the output
    none.
    """
    return text == f"h{said}i" and bool(said)


def _of_words(kind: FindingKind, number: int, found: WordFinding, own: _OwnOutput) -> CheckFinding:
    n = sum(map(counts, found.text.split()))
    boxes = () if found.box is None else (found.box.as_tuple(),)
    place = own.line_of(found.span), own.file, found.span
    severity = _severity(kind, n, found.numbers)
    return CheckFinding(kind, number, found.text, found.said, n, found.numbers, severity, "", boxes, *place)


def _altered(
    number: int, evidence: PageEvidence, own: _OwnOutput, words: Sequence[int], is_a_number: bool
) -> CheckFinding:
    """Return altered words in a row, or one number."""
    comparison = evidence.comparison
    texts = [atom.text for atom in comparison.page]
    said = " ".join(text for text, _ in groupby(comparison.said.get(i, "") for i in words) if text)
    span = evidence.span_of([at for i in words if (at := comparison.at[i]) is not None])
    boxes = tuple(comparison.page[i].box.as_tuple() for i in words)
    detail = ""
    if is_a_number:
        detail = how_altered(texts[words[0]], said)
    return CheckFinding(
        "number" if is_a_number else "altered",
        number,
        " ".join(texts[i] for i in words),
        said,
        len(words),
        len(words) if is_a_number else 0,
        "high" if is_a_number else "medium",
        detail,
        boxes,
        own.line_of(span),
        own.file,
        span,
    )


def _severity(kind: FindingKind, n_words: int, n_numbers: int) -> Severity:
    if kind in ("joined", "split"):
        return "low"
    if kind in ("lost", "invented") and (n_words >= _LONG or n_numbers):
        return "high"
    return "medium"


def _merged(
    found: Sequence[tuple[CheckFinding, tuple[int, ...]]], evidence: PageEvidence
) -> Iterator[CheckFinding]:
    """Yield findings, with lost or moved lines that follow each other as one."""
    open_one: CheckFinding | None = None
    last = -1
    for finding, words in found:
        if open_one is not None:
            between = range(last + 1, words[0]) if words else range(0)
            is_next = words and words[0] > last and finding.kind == open_one.kind
            if is_next and all(evidence.comparison.of_page[i] is WordStatus.PASSED for i in between):
                open_one = _together(open_one, finding)
                last = words[-1]
                continue
            yield open_one
            open_one = None
        if finding.kind in ("lost", "moved") and words:
            open_one, last = finding, words[-1]
        else:
            yield finding
    if open_one is not None:
        yield open_one


def _together(one: CheckFinding, other: CheckFinding) -> CheckFinding:
    spans = [finding.span for finding in (one, other) if finding.span is not None]
    span = (min(a for a, _ in spans), max(b for _, b in spans)) if spans else None
    n_words, n_numbers = one.words + other.words, one.numbers + other.numbers
    return replace(
        one,
        text=f"{one.text} {other.text}",
        words=n_words,
        numbers=n_numbers,
        severity=_severity(one.kind, n_words, n_numbers),
        boxes=(*one.boxes, *other.boxes),
        span=one.span if one.kind == "lost" else span,
    )
