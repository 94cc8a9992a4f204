"""What is to be scored, in chunks: held as numbers of rows, read from the run when a chunk's turn comes.

So the driver's memory does not grow with truths, outputs or records: of each chunk it knows where its pages
stand in `samples.parquet` and the identity of the work.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.engine.scoring.chunk import Chunk, Output, PageTask, grouped
from parsemark.errors import StoreError
from parsemark.model import Status
from parsemark.protocols import get_protocol
from parsemark.store import Run, RunFolder
from parsemark.store.tables import NOT_PARSED

_READ_PAGES = 256  # how many pages are read together while the plan is made
_RECORD = ("sample", "parser", "status", "blob", "error")
_NO_OUTPUT = "The record says ok, but there is no output."
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class ChunkPlan(Sequence[Chunk]):
    """The chunks of a run in order; each is read when it is asked for."""

    run: Run
    protocols: tuple[str, ...]
    parsers: tuple[str, ...]
    rows: Sequence[Rows]  # of each chunk the rows of its pages in `samples.parquet`
    keys: Sequence[str]  # of each chunk the identity of its work
    n_pages: int
    missing: Mapping[str, int]  # parser to the number of pages that it was not run on
    n_blobs: int
    n_lost: int  # how many outputs are recorded, and how many of them are not there any more
    n_empty: int  # how many records are called ok and have no output at all; their pages count as failed

    @property
    def n_outputs(self) -> int:
        """How many outputs are scored in all."""
        return self.n_pages * len(self.parsers)

    def outputs_in(self, index: int) -> int:
        """How many outputs are scored in one chunk."""
        return len(self.rows[index]) * len(self.parsers)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Chunk: ...

    @overload
    def __getitem__(self, index: slice) -> list[Chunk]: ...

    def __getitem__(self, index: int | slice) -> Chunk | list[Chunk]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        with _TaskReader(self.run, self.parsers).opened() as reader:
            return Chunk(self.run.path, self.protocols, tuple(reader.pages(self.rows[index])))


def plan_chunks(
    run: Run, protocols: tuple[str, ...], max_outputs: int, min_outputs: int, n: int
) -> ChunkPlan:
    """Divide what a run has parsed into chunks, and say what each of them is made of: `n` of them, if none
    then has more than `max_outputs`, or less than `min_outputs` where there are enough.
    """
    with run.scanning("parses") as parses:
        parsers = tuple(sorted(parses.select(pl.col("parser").unique()).collect()["parser"]))
    with run.scanning("samples") as samples:
        n_pages = int(samples.select(pl.len()).collect().item())
    n_outputs = min(max_outputs, max(min_outputs, n_pages * len(parsers) // n))
    size = max(1, n_outputs // max(1, len(parsers)))
    if any(get_protocol(spec).whole_documents for spec in protocols):
        rows = list(_documents_together(run, size))
    else:
        rows = [np.arange(i, min(i + size, n_pages)) for i in range(0, n_pages, size)]
    with _TaskReader(run, parsers).opened() as reader:
        keys = [Chunk(run.path, protocols, tuple(reader.pages(part))).key for part in rows]
    return ChunkPlan(
        run, protocols, parsers, rows, keys, n_pages, reader.missing, reader.n_blobs, reader.n_lost,
        reader.n_empty,
    )  # fmt: skip


def _documents_together(run: Run, size: int) -> Iterator[Rows]:
    """The rows of pages in parts of about a size, none of which ends inside a document."""
    with run.scanning("samples") as samples:
        listed = samples.select("sample", "document", "page_number").with_row_index("row").collect()
    pages = [
        PageTask(sample, None, number, None, (), str(row), document)
        for row, sample, document, number in listed.iter_rows()
    ]
    part: list[int] = []
    for document in grouped(pages):
        if part and len(part) + len(document) > size:
            yield np.array(part)
            part = []
        part.extend(int(page.text or 0) for page in document)
    if part:
        yield np.array(part)


class _TaskReader:
    """Reads pages with what parsers made of them, by their rows; neighbouring ones are read together."""

    def __init__(self, run: Run, parsers: Sequence[str]) -> None:
        self._run = run
        self._parsers = parsers
        self._first, self._last = 0, 0
        self._pages: list[PageTask] = []
        self.missing: Counter[str] = Counter()
        self.n_blobs = 0
        self.n_lost = 0
        self.n_empty = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[_TaskReader]:
        """While this is open, pages can be read."""
        with self._run.scanning("samples") as self._samples, self._run.scanning("parses") as self._parses:
            yield self

    def pages(self, rows: Rows) -> Iterator[PageTask]:
        """The pages in some rows."""
        for row in rows:
            if not self._first <= row < self._last:
                within = rows[(rows >= row) & (rows < row + _READ_PAGES)]
                self._read(int(row), max(int(within.max()) + 1, int(row) + 1))
            page = self._pages[row - self._first]
            for output in page.outputs:
                if output.blob is not None:
                    self.n_blobs += 1
                    self.n_lost += not RunFolder.of(self._run).blobs.holds(output.blob)
                elif output == _missing(output.parser):
                    self.missing[output.parser] += 1
                elif output.error == _NO_OUTPUT:
                    self.n_empty += 1
            yield page

    def _read(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        samples = self._samples.slice(first, last - first).collect()
        first_id, last_id = samples.select(first=pl.col("sample").min(), last=pl.col("sample").max()).row(0)
        own = pl.col("sample").is_between(pl.lit(first_id), pl.lit(last_id))
        found: dict[str, dict[str, Output]] = {}
        for row in self._parses.filter(own).select(_RECORD).collect().iter_rows(named=True):
            found.setdefault(row["sample"], {})[row["parser"]] = self._output(row)
        texts = RunFolder.of(self._run).files.texts(own)
        self._pages = []
        for row in samples.iter_rows(named=True):
            place = (row["sample"], row["pdf"], row["page_number"], row["truth"])
            given = found.get(row["sample"], {})
            outputs = tuple(given.get(parser) or _missing(parser) for parser in self._parsers)
            self._pages.append(PageTask(*place, outputs, texts.get(row["sample"]), row["document"]))

    def _output(self, row: dict[str, Any]) -> Output:
        blob = row["blob"]
        if blob is not None:
            # What is stored of an output that could not be read decides again, not that it could not be read.
            return Output(row["parser"], Status.OK, blob, None)
        try:
            status = Status(row["status"])
            if status is Status.OK:
                return Output(row["parser"], Status.PARSER_FAILED, None, _NO_OUTPUT)
            return Output(row["parser"], status, None, row["error"])
        except ValueError as error:
            where = RunFolder.of(self._run).files.path_of("parses")
            raise StoreError(
                f"The record of {row['sample']} by {row['parser']} in {where} is "
                f"not valid: {error}. Remove it; its page is parsed again."
            ) from error


def _missing(parser: str) -> Output:
    """A page that was never parsed counts as a page without an answer, so that all parsers have the same."""
    return Output(parser, Status.NO_PREDICTION, None, NOT_PARSED)
