"""What an output has made of one page, as findings: of `parsemark check`, and of the protocol `evidence`.

`page_evidence` says what became of each word. Here words become texts, numbers are looked at more closely,
and cells of tables, columns and whole tables are compared by where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, cast

from parsemark.matching.page_evidence import PageEvidence, WordFinding, placed_words
from parsemark.matching.page_findings.cells import MisplacedCells, misplaced_cells
from parsemark.matching.page_findings.columns import MixedColumns, mixed_columns
from parsemark.matching.page_findings.flattened import FlattenedTable, flattened_tables, marks_structure
from parsemark.matching.page_findings.numbers import (
    changed_around,
    how_altered,
    is_letter_spaced,
    joined_numbers,
)
from parsemark.matching.words import WordStatus, counts, is_number
from parsemark.model import Box
from parsemark.pdf import SeenPage

__all__ = ["KINDS", "FindingKind", "PageFinding", "Severity", "marks_structure", "page_findings"]

FindingKind = Literal[
    "missing_page", "number", "lost", "altered", "invented", "moved", "order", "cell", "table",
    "heading", "doubled", "leaked", "joined", "split",
]  # fmt: skip
Severity = Literal["high", "medium", "low"]
KINDS: dict[FindingKind, str] = {
    "missing_page": "page without any of its text in the output",
    "number": "number with another digit, sign, decimal point or unit",
    "lost": "text of the PDF that the output lacks",
    "altered": "word that the output replaces by a similar one",
    "invented": "text of the output that is not on the page",
    "moved": "text at another place in the output",
    "order": "lines of columns that the output mixes or has in another order",
    "cell": "cells of a table in another row or column",
    "table": "table that the output has as plain text",
    "heading": "heading that the output has as plain text",
    "doubled": "text that the output repeats",
    "leaked": "text that is hidden or covered in the PDF",
    "joined": "words without the blank between them",
    "split": "word with a blank inside",
}
"""The kinds in the order in which a verdict names them, and what each is."""
BoxSides = tuple[float, float, float, float]
_MISSING, _FEW = 0.05, 5
"""Share of a page's words up to which the page is missing, if it has so many."""
_LONG = 5  # words from which on a lost or invented text is a severe finding
_MOST_SHOWN = 300  # characters of a long text that are kept


@dataclass(frozen=True, slots=True)
class PageFinding:
    """One deviation of an output from its page."""

    kind: FindingKind
    text: str
    """The words on the page, as they are compared: without case and accents; empty where they are only in the
    output."""
    output: str
    """The words in the output; empty where it lacks them."""
    words: int
    numbers: int
    severity: Severity
    detail: str = ""
    """Of a number: digit, digits, lost digits, split digits, decimal point, sign, unit or joined
    numbers. Of a cell: its place in the output and in the PDF, or the cell in whose place it stands. Of
    `order`: columns mixed, or columns in another order. Of a table: its rows and columns."""
    boxes: tuple[BoxSides, ...] = ()
    """Places on the page: left, top, right and bottom in points from its top left."""
    span: tuple[int, int] | None = None
    """Characters of the page's output that are concerned, from 0."""


def page_findings(
    seen: SeenPage, evidence: PageEvidence, text: str, *, is_marked_up: bool
) -> Iterator[PageFinding]:
    """Yield the findings of a page, given what became of its words in an output with this text.

    `is_marked_up` says whether the output marks headings or tables anywhere; else its tables cannot be asked
    for as such.
    """
    n_words, n_said = evidence.counts["words"], evidence.counts["said"]
    kept = n_words - evidence.counts["lost"]
    if n_words >= _FEW and kept <= _MISSING * n_words and n_said <= _MISSING * n_words:
        yield _missing(evidence, n_words)
        return
    cells, columns = list(misplaced_cells(evidence)), list(mixed_columns(evidence))
    explained = {i for found in cells for own_words in found.cells for i in own_words}
    explained.update(i for found in columns for i in found.words)
    told_words = [
        (finding, words)
        for finding, words in _of_all_words(seen, evidence, text)
        if finding.kind != "moved" or not explained.issuperset(words)
    ]
    yield from _merged(told_words, evidence)
    yield from (_of_cells(found, evidence) for found in cells)
    yield from (_of_columns(found, evidence) for found in columns)
    if is_marked_up:
        yield from (_of_table(found, evidence) for found in flattened_tables(seen, evidence, text))


def _of_columns(found: MixedColumns, evidence: PageEvidence) -> PageFinding:
    comparison = evidence.comparison
    words = [text for i in found.words if counts(text := comparison.page[i].text)]
    said = " ".join(comparison.output[j] for j in found.between)
    stand = found.between or [j for i in found.words if (j := comparison.place[i]) is not None]
    span = evidence.span_of(stand)
    return PageFinding(
        "order",
        " ".join(words)[:_MOST_SHOWN],
        said[:_MOST_SHOWN],
        len(words),
        sum(map(is_number, words)),
        "high",
        found.detail,
        tuple(box.as_tuple() for box in found.boxes),
        span,
    )


def _of_table(found: FlattenedTable, evidence: PageEvidence) -> PageFinding:
    page = evidence.comparison.page
    words = [page[i].text for i in found.words]
    span = evidence.span_of(found.said)
    return PageFinding(
        "table",
        " ".join(words)[:_MOST_SHOWN],
        "",
        len(words),
        sum(map(is_number, words)),
        "medium",
        f"{found.n_rows} rows, {found.n_columns} columns",
        (Box.hull(page[i].box for i in found.words).as_tuple(),),
        span,
    )


def _of_cells(found: MisplacedCells, evidence: PageEvidence) -> PageFinding:
    page = evidence.comparison.page
    texts = [page[i].text for cell in found.cells[: 1 if found.is_exchange else None] for i in cell]
    words = [text for cell in found.cells for i in cell if counts(text := page[i].text)]
    span = evidence.span_of(found.said)
    return PageFinding(
        "cell",
        " ".join(texts),
        "",
        len(words),
        sum(map(is_number, words)),
        "high",
        found.detail,
        tuple(Box.hull(page[i].box for i in cell).as_tuple() for cell in found.cells),
        span,
    )


def _missing(evidence: PageEvidence, n_words: int) -> PageFinding:
    first = " ".join(finding.text for finding in evidence.findings if finding.kind == "lost")
    n_numbers = evidence.counts["numbers_lost"]
    return PageFinding("missing_page", first[:_MOST_SHOWN], "", n_words, n_numbers, "high")


def _of_all_words(
    seen: SeenPage, evidence: PageEvidence, text: str
) -> Iterator[tuple[PageFinding, tuple[int, ...]]]:
    """Yield findings with the words of the page that they are about."""
    comparison = evidence.comparison
    texts = [atom.text for atom in comparison.page]
    in_one_number: set[int] = set()  # words that the output has joined to the number before them
    for found in evidence.findings:
        kind = cast(FindingKind, found.kind)  # statuses of words have the names of kinds
        if kind in ("invented", "doubled", "leaked"):
            n = sum(map(counts, found.text.split()))
            severity = _severity(kind, n, found.numbers)
            finding = PageFinding(kind, "", found.text, n, found.numbers, severity, "", (), found.span)
            yield finding, ()
        elif kind == "altered":
            for is_a_number, group in groupby(found.words, key=lambda i: is_number(texts[i])):
                own_words = [i for i in group if not _is_bracketed(texts[i], comparison.said.get(i, ""))]
                for words in ([i] for i in own_words) if is_a_number else [own_words] if own_words else ():
                    altered = _altered(evidence, words, is_a_number)
                    n = joined_numbers(texts, words[0], altered.output) if is_a_number else 0
                    both = range(words[0], words[0] + n + 1)
                    in_one_number.update(both[1:])
                    if n and is_letter_spaced(comparison.page, both):
                        continue
                    yield replace(altered, detail="joined numbers") if n else altered, tuple(words)
        elif not (found.words and in_one_number.issuperset(found.words)) and not (
            kind == "joined" and (_has_blanks(found, text) or is_letter_spaced(comparison.page, found.words))
        ):
            yield _of_words(kind, found), found.words
    for change in changed_around(seen, evidence, text):
        place_of_number = evidence.places[change.place]
        span = None if place_of_number is None else (place_of_number.start, place_of_number.end)
        box = comparison.page[change.word].box.as_tuple()
        changed = PageFinding("number", change.seen, change.said, 1, 1, "high", change.detail, (box,), span)
        yield changed, (change.word,)


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


def _of_words(kind: FindingKind, found: WordFinding) -> PageFinding:
    n = sum(map(counts, found.text.split()))
    boxes = () if found.box is None else (found.box.as_tuple(),)
    severity = _severity(kind, n, found.numbers)
    return PageFinding(kind, found.text, found.said, n, found.numbers, severity, "", boxes, found.span)


def _altered(evidence: PageEvidence, words: Sequence[int], is_a_number: bool) -> PageFinding:
    """Return altered words in a row, or one number."""
    comparison = evidence.comparison
    texts = [atom.text for atom in comparison.page]
    said = " ".join(text for text, _ in groupby(comparison.said.get(i, "") for i in words) if text)
    span = evidence.span_of([at for i in words if (at := comparison.at[i]) is not None])
    boxes = tuple(comparison.page[i].box.as_tuple() for i in words)
    detail = ""
    if is_a_number:
        detail = how_altered(texts[words[0]], said)
    return PageFinding(
        "number" if is_a_number else "altered",
        " ".join(texts[i] for i in words),
        said,
        len(words),
        len(words) if is_a_number else 0,
        "high" if is_a_number else "medium",
        detail,
        boxes,
        span,
    )


def _severity(kind: FindingKind, n_words: int, n_numbers: int) -> Severity:
    if kind in ("joined", "split"):
        return "low"
    if kind in ("lost", "invented") and (n_words >= _LONG or n_numbers):
        return "high"
    return "medium"


def _merged(
    found: Sequence[tuple[PageFinding, tuple[int, ...]]], evidence: PageEvidence
) -> Iterator[PageFinding]:
    """Yield findings, with lost or moved lines that follow each other as one."""
    open_one: PageFinding | None = None
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


def _together(one: PageFinding, other: PageFinding) -> PageFinding:
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
