"""A run as the files of a benchmark's own programs (`parsemark export --format benchmark`)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from parsemark.errors import CorpusError, StoreError
from parsemark.model import Page, Prediction
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.store.summary import Summary

if TYPE_CHECKING:
    import polars as pl

_MAX_BYTES = 1_000_000_000
Files = Iterator[tuple[str, str]]  # paths inside of the folder, with their text


class StoredRun(Protocol):
    """A run, as far as its pages are read again."""

    def truth(self, sample: str) -> Page | None:
        """Return the truth of a sample."""

    def prediction(self, sample: str, parser: str) -> Prediction:
        """Return a parser's prediction for a sample."""


@dataclass(frozen=True)
class BoardRun:
    """What the files of a benchmark are made of."""

    run: StoredRun
    summary: Summary
    samples: pl.DataFrame  # `sample`, `document` and `page_number` of each page
    scores: pl.DataFrame

    @property
    def parsers(self) -> Sequence[str]:
        """Return the parsers that have figures."""
        return list(self.summary.parsers)

    def pages(self) -> list[tuple[str, str, int]]:
        """Sample, document and page number of each page."""
        return list(self.samples.select("sample", "document", "page_number").iter_rows())

    def prediction(self, sample: str, parser: str) -> Prediction:
        """Return a parser's prediction for a page; nothing where it was not asked."""
        try:
            return self.run.prediction(sample, parser)
        except StoreError:
            return Prediction(sample, parser)

    def values(self, parser: str) -> dict[str, dict[str, float | None]]:
        """Sample to measure to value, of whole pages."""
        own = self.scores.filter(parser=parser, element=PAGE_LEVEL)
        found: dict[str, dict[str, float | None]] = {}
        for sample, metric, value in own.select("sample", "metric", "value").iter_rows():
            found.setdefault(sample, {})[metric] = value
        return found

    def facts(self, parser: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a parser's facts."""
        own = self.scores.filter(parser=parser).rows(named=True)
        yield from (row for row in own if row["element"] != PAGE_LEVEL)

    def figures(self, parser: str) -> dict[str, float | None]:
        """Return the numbers of a parser."""
        return {name: figure.value for name, figure in self.summary.parsers[parser].items()}


def read_lines(path: str, what: str) -> list[tuple[int, str]]:
    """Return the lines of a file that somebody else wrote, with their numbers; blank ones are passed over.

    Raises:
        CorpusError: It cannot be read, or is too large.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise CorpusError(f"{file} exceeds the size limit of {what}.")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"The {what} {file} cannot be read: {error}.") from error
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def as_json(data: Any) -> str:
    """Return indented, as benchmarks write their files."""
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def as_lines(rows: Iterator[Any]) -> str:
    """Return one JSON object in a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Return CSV with empty cells for unknown values."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["" if v is None else v for v in row] for row in rows])
    return out.getvalue()
