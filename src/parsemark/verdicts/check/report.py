"""What a check found, as data: findings, pages, the verdict in one sentence, and limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsemark.errors import UsageError
from parsemark.matching.page_findings import KINDS, FindingKind, PageFinding
from parsemark.plain_words import counted
from parsemark.verdicts.check.regions import Region

SCHEMA_VERSION = 1
OF_OUTPUT = frozenset({"invented", "doubled", "leaked"})
"""Kinds whose words are words of the output."""
COUNTED_ONCE: dict[FindingKind, str] = {
    "missing_page": "{page} missing",
    "number": "{number} altered",
    "cell": "cells misplaced in {place}",
    "order": "columns out of order on {page}",
    "table": "{table} as plain text",
    "heading": "{heading} as plain text",
}
"""Kinds of which findings are counted, and not their words; and how a number of them is told."""


def count_in_words(kind: FindingKind, n: int) -> str:
    """Return what was counted of a kind: pages, numbers and the like, or words.

    >>> count_in_words("number", 2), count_in_words("lost", 1)
    ('2 numbers altered', '1 word lost')
    """
    text = COUNTED_ONCE.get(kind, f"{{word}} {kind}")
    return re.sub(r"\{(\w+)\}", lambda noun: counted(n, noun[1]), text)


@dataclass(frozen=True, slots=True)
class CheckFinding(PageFinding):
    """One deviation of an output from its PDF."""

    page: int = 1
    """From 1."""
    line: int | None = None
    """Line of the output, from 1; of lost text the line behind which it should stand. None for JSON."""
    file: str = ""
    """File of the output, where it is a folder."""
    region: Region = ""
    """Of lost text: body, table, note, header or footer."""
    certainty: float = 1.0
    """Probability that the deviation is real."""


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """One page of the PDF."""

    number: int
    width: float
    height: float
    judged_by: str
    """`text layer`, `OCR`, or `not judged`; with the reason behind a colon."""
    words: int
    """Words that can be seen, without running heads and page numbers."""
    said: int
    """Words of the output."""
    findings: tuple[CheckFinding, ...] = ()
    hidden: int = 0
    """Number of findings that are less certain than asked for."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Its page types by trait, as `layer`, `columns` or `tables`."""

    @property
    def is_judged(self) -> bool:
        """Return whether the page shows text that an output can be compared with."""
        return not self.judged_by.startswith("not judged")


@dataclass(frozen=True)
class PdfCheck:
    """What `parsemark check` found in an output of a PDF."""

    pdf: str
    output: str
    pages: tuple[CheckedPage, ...]
    texts: tuple[str, ...] = field(default=(), repr=False)
    """The output of each page, as text."""
    certain: float = 0.0
    """Lowest certainty of the findings."""

    @property
    def findings(self) -> tuple[CheckFinding, ...]:
        """Return all findings, page by page."""
        return tuple(finding for page in self.pages for finding in page.findings)

    @property
    def hidden(self) -> int:
        """Number of findings that are less certain than asked for; nothing else counts them."""
        return sum(page.hidden for page in self.pages)

    def count(self, kind: FindingKind) -> int:
        """Return how many words, numbers or pages are concerned."""
        own = [finding for finding in self.findings if finding.kind == kind]
        return len(own) if kind in COUNTED_ONCE else sum(finding.words for finding in own)

    def share(self, kind: FindingKind) -> float:
        """Return the share of the words of the PDF, or for text that only the output has, of those of the
        output.
        """
        n_words = sum(finding.words for finding in self.findings if finding.kind == kind)
        of = sum(page.said if kind in OF_OUTPUT else page.words for page in self.pages)
        return n_words / of if of else 0.0

    @property
    def verdict(self) -> str:
        """Return the result in one sentence: numbers and lost pages first."""
        judged = [page for page in self.pages if page.is_judged]
        unjudged = len(self.pages) - len(judged)
        parts: list[str] = []
        parts += [count_in_words(kind, n) for kind in COUNTED_ONCE if (n := self.count(kind))]
        pages = {kind: {f.page for f in self.findings if f.kind == kind} for kind in KINDS}
        if lost := pages["lost"]:
            parts.append(f"{len(lost)} of {counted(len(self.pages), 'page')} lost text")
        for kind in ("altered", "invented", "moved", "doubled", "leaked", "joined", "split"):
            if own := pages[kind]:
                parts.append(f"{count_in_words(kind, self.count(kind))} on {counted(len(own), 'page')}")
        none = "no certain deviation found" if self.hidden else "no deviation found"
        text = "; ".join(parts) if parts else f"{none} on {counted(len(judged), 'page')}"
        if not judged:
            text = f"none of {counted(len(self.pages), 'page')} could be judged"
        elif unjudged:
            text += f"; {counted(unjudged, 'page')} not judged"
        return text[0].upper() + text[1:] + "."

    def over(self, limits: Mapping[str, Limit]) -> list[str]:
        """Return a sentence for each limit that is exceeded."""
        found = []
        for name, limit in limits.items():
            kinds = _LIMITED[name]
            value = sum(self.count(kind) for kind in kinds)
            if name == "lost":  # the words of missing pages count among them
                value = sum(finding.words for finding in self.findings if finding.kind in kinds)
            shares = value / max(1, self._denominator(kinds))
            if (shares if limit.is_share else value) > limit.value:
                said = f"{100 * shares:.2f} %" if limit.is_share else str(value)
                found.append(f"{name}: {said} exceeds the limit of {limit}")
        return found

    def _denominator(self, kinds: Sequence[FindingKind]) -> int:
        return sum(page.said if kinds[0] in OF_OUTPUT else page.words for page in self.pages)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data: `check.schema.json` describes it."""
        return {
            "schema": "parsemark.check",
            "schema_version": SCHEMA_VERSION,
            "pdf": self.pdf,
            "output": self.output,
            "verdict": self.verdict,
            "certain": self.certain,
            "hidden": self.hidden,
            "counts": {kind: self.count(kind) for kind in KINDS},
            "pages": [
                {
                    "number": page.number,
                    "width": round(page.width, 2),
                    "height": round(page.height, 2),
                    "judged_by": page.judged_by,
                    "words": page.words,
                    "said": page.said,
                    "hidden": page.hidden,
                    "types": dict(page.types),
                    "findings": [_finding_json(finding) for finding in page.findings],
                }
                for page in self.pages
            ],
        }


def _finding_json(finding: CheckFinding) -> dict[str, Any]:
    data: dict[str, Any] = {
        name: getattr(finding, name)
        for name in (
            "kind",
            "page",
            "text",
            "output",
            "words",
            "numbers",
            "severity",
            "detail",
            "line",
            "file",
            "region",
            "certainty",
        )
    }
    data["boxes"] = [[round(side, 1) for side in box] for box in finding.boxes]
    data["span"] = None if finding.span is None else list(finding.span)
    return data


# --- limits -------------------------------------------------------------------------------------------------

_LIMITED: dict[str, tuple[FindingKind, ...]] = {
    "lost": ("lost", "missing_page"),
    "altered": ("altered", "number"),
    "numbers": ("number",),
    "invented": ("invented",),
    "moved": ("moved",),
    "doubled": ("doubled",),
    "leaked": ("leaked",),
    "order": ("order",),
    "cells": ("cell",),
    "tables": ("table",),
    "headings": ("heading",),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """How many words or numbers may be concerned, or which share of the words."""

    value: float
    is_share: bool

    def __str__(self) -> str:
        return f"{100 * self.value:g} %" if self.is_share else f"{self.value:g}"


def read_limit(text: str | float) -> Limit:
    """Read a limit: `0.5%` is a share of the words, `3` a number of words.

    >>> str(read_limit("0.5%")), str(read_limit("3"))
    ('0.5 %', '3')
    """
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*(%?)\s*", str(text))
    if not found or (found[2] and float(found[1]) > 100):
        raise UsageError(f"The limit {str(text)[:40]!r} is not a number of words (3) or a share (0.5%).")
    return Limit(float(found[1]) / 100 if found[2] else float(found[1]), bool(found[2]))


def read_limits(given: Iterable[str]) -> dict[str, Limit]:
    """Read limits as they are given in a command: `lost=0.5%`."""
    limits = {}
    for text in given:
        name, _, limit = text.partition("=")
        if name not in _LIMITED or not limit:
            raise UsageError(f"--max {text}: give one of {', '.join(_LIMITED)} and a limit, as in lost=0.5%.")
        limits[name] = read_limit(limit)
    return limits
