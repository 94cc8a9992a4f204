"""The same failure on a smaller page: what is painted is removed bit by bit while the failure stays."""

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from parsemark.errors import ParsemarkError, UsageError
from parsemark.model import Box, Page, Table
from parsemark.parsers import Parser, WorkerFailure, WorkerSession, read_raw
from parsemark.pdf.document import page_alone
from parsemark.pdf.pictures import page_objects

MOST_TRIES = 300
_TIMEOUT_S = 60.0
_MARGIN = 2.0  # points around a table that belong to it: its rules
Texts = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """What is wrong with an output: an error, or for each misread table what was found in its place."""

    error: str = ""
    misread: tuple[tuple[int, Texts | None], ...] = ()
    """Number of a table of the truth, and the texts that answer it; None where nothing does."""
    invented: tuple[Texts, ...] = ()  # tables that answer none, on a page of which no table was misread

    def __bool__(self) -> bool:
        return bool(self.error or self.misread or self.invented)


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A smaller page with the same failure."""

    pdf: bytes
    n_objects: int  # that the page had
    n_left: int
    n_tries: int


def failure_of(tables: Sequence[Table], truth: Page | None) -> Failure:
    """What is wrong with the tables of an output."""
    found = [_texts(table) for table in tables]
    true = [_texts(e.table) for e in truth.tables if e.table is not None] if truth else []
    misread = tuple((k, _nearest(own, found)) for k, own in enumerate(true) if own not in found)
    invented = () if misread else tuple(sorted(texts for texts in found if texts not in true))
    return Failure("", misread, invented)


def _texts(table: Table) -> Texts:
    rows = [[""] * table.n_cols for _ in range(table.n_rows)]
    for cell in table.cells:
        rows[cell.row][cell.col] = " ".join(cell.text.split())
    return tuple(tuple(row) for row in rows)


def _nearest(wanted: Texts, found: Sequence[Texts]) -> Texts | None:
    words = Counter(text for row in wanted for text in row if text)
    shared = [(Counter(text for row in own for text in row if text) & words).total() for own in found]
    best = max(range(len(found)), key=lambda k: shared[k], default=None)
    return found[best] if best is not None and shared[best] else None


def shrink_page(parser: Parser, pdf: Path, page: int, truth: Page | None) -> Shrunk:
    """Remove what is painted on a page while the parser fails on it in the same way.

    What lies in a table that was misread stays: the truth must still be what the page shows. Where the place
    of such a table is not known, all text stays. UsageError if the parser does not fail on the page, or does
    not when it is written anew; ParserError if its worker does not start.
    """
    with closing(_Trial(parser, pdf, page, truth)) as trial:
        whole = trial.look(set())
        if not whole:
            raise UsageError(f"{parser.name} reads the page as its truth says: there is no failure to keep.")
        objects = page_objects(pdf, page)
        loose = _removable(objects, truth, whole)
        removed = reduce(loose, lambda gone: trial.look(gone) == whole, MOST_TRIES)
        content = page_alone(pdf, page, tuple(sorted(removed)))
        return Shrunk(content, len(objects), len(objects) - len(removed), trial.n_tries)


def _removable(objects: Sequence[tuple[bool, Box | None]], truth: Page | None, failure: Failure) -> list[int]:
    """Positions of what may go."""
    tables = [e for e in truth.tables if e.table is not None] if truth else []
    kept = [tables[number].box for number, _ in failure.misread]
    if None in kept:
        return [k for k, (is_text, _) in enumerate(objects) if not is_text]
    # Both are grown by half of the margin, so that also a rule, which has no area, meets its table.
    boxes = [box.expanded(_MARGIN / 2) for box in kept if box is not None]
    return [
        k
        for k, (_, box) in enumerate(objects)
        if box is None or not any(box.expanded(_MARGIN / 2).intersection_area(b) for b in boxes)
    ]


def reduce(loose: Sequence[int], still_fails: Callable[[set[int]], bool], most: int) -> set[int]:
    """As many as can be removed together, found by removing halves, quarters, … of them.

    >>> sorted(reduce(range(8), lambda gone: not gone & {2, 5}, 100))
    [0, 1, 3, 4, 6, 7]
    """
    removed: set[int] = set()
    size = len(loose)
    while size and most:
        rest = [k for k in loose if k not in removed]
        for start in range(0, len(rest), size):
            part = set(rest[start : start + size])
            if most and part:
                most -= 1
                if still_fails(removed | part):
                    removed |= part
        size = 0 if size == 1 else (min(size, len(rest)) + 1) // 2
    return removed


@dataclass
class _Trial:
    """A worker that is asked for one version of the page after the other."""

    _parser: Parser
    _pdf: Path
    _page: int
    _truth: Page | None
    _session: WorkerSession | None = None
    n_tries: int = 0

    def look(self, removed: set[int]) -> Failure:
        """How the parser fails on the page without these objects."""
        self.n_tries += 1
        with tempfile.NamedTemporaryFile(prefix="parsemark-shrink-", suffix=".pdf") as file:
            file.write(page_alone(self._pdf, self._page, tuple(sorted(removed))))
            file.flush()
            try:
                if self._session is None:
                    self._session = WorkerSession(self._parser.command())
                answer = self._session.ask(file.name, 1, self._parser.options, timeout_s=_TIMEOUT_S)
            except WorkerFailure as failure:
                self.close()
                return Failure(f"{failure.kind}")
        if answer.output is None:
            return Failure((answer.error or "failed").partition(":")[0])
        try:
            found = read_raw(answer.output, "page", self._parser.name)
        except ParsemarkError as error:
            return Failure(type(error).__name__)
        return failure_of([e.table for e in found.tables if e.table is not None], self._truth)

    def close(self) -> None:
        """End the worker."""
        if self._session is not None:
            self._session.close()
            self._session = None
