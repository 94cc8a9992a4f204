"""What has been parsed: the journals of processes, and `parses.parquet`, into which they are folded.

Of two records of one page and parser the later one counts. What is later is said by the journals: each has
a number, higher than all before it, and its lines follow each other. Clocks are not asked.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from parsemark.model import Status
from parsemark.store.journal import LINES, Journal, finished_journals, last_number, read_journals
from parsemark.store.records import ParseRecord
from parsemark.store.schemas import SEQUENCE, SORT_KEYS
from parsemark.store.tables import TableFiles, frame_of
from parsemark.system import locked

_SAID_BY_READER = (str(Status.OK), str(Status.PARSER_FAILED))


class ParseLog:
    """The records of a run."""

    def __init__(self, files: TableFiles) -> None:
        self._files = files
        self._journals = files.path / "journal"

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the right to replace tables of the run and to begin journals."""
        return locked(self._files.path / ".lock")

    def records(self) -> list[ParseRecord]:
        """The latest record of each page and parser, sorted."""
        latest: dict[tuple[str, str], ParseRecord] = {}
        # Journals before the table: what is folded away meanwhile is then in the table.
        journalled = [
            ParseRecord.from_json({**entry, SEQUENCE: order}, where)
            for where, order, entry in read_journals(self._journals)
        ]
        where = f"A row of {self._files.path_of('parses')}"
        rows = self._files.read("parses").iter_rows(named=True)
        stored = [ParseRecord.from_json(row, where) for row in rows]
        # Of the same record the one in the table counts: see `note_unreadable`.
        for record in sorted([*journalled, *stored], key=lambda r: r.sequence):
            latest[record.sample, record.parser] = record
        return [latest[key] for key in sorted(latest)]

    def table(self) -> pl.DataFrame:
        """The same as a table."""
        return self._table().drop(SEQUENCE)

    def _table(self) -> pl.DataFrame:
        """With the sequence: the stored one itself, if nothing has to be done."""
        if not self._has_journals():
            stored = self._files.read("parses")
            if _are_records(stored):
                return stored
        return frame_of("parses", (r.to_json() for r in self.records()))

    @contextlib.contextmanager
    def scanning(self) -> Iterator[pl.LazyFrame]:
        """The same, to collect from what is needed of it."""
        if self._has_journals():
            yield self.table().lazy()
            return
        with self._files.scanning("parses") as rows:
            yield rows.drop(SEQUENCE)

    def journal(self) -> Journal:
        """A new journal for this process, to append `ParseRecord.to_json()` to."""
        with self.locked():
            return Journal(self._journals, self._last_number() + 1)

    def now(self) -> int:
        """All records that are made from now on have this sequence at least, and no earlier one has."""
        with self.locked():
            return (self._last_number() + 1) * LINES

    def fold(self) -> None:
        """Move what finished journals hold into `parses.parquet`."""
        with self.locked():
            finished = finished_journals(self._journals)
            if finished or not self._files.path_of("parses").exists():
                self._replace(self._table(), finished)

    def drop(self, unwanted: Callable[[ParseRecord], bool]) -> None:
        """Write `parses.parquet` without some records. The lock is held by the caller."""
        finished = finished_journals(self._journals)
        kept = (r.to_json() for r in self.records() if not unwanted(r))
        self._replace(frame_of("parses", kept), finished)

    def note_unreadable(self) -> None:
        """Say of outputs that could not be read that the parser has failed, and why.

        Whether an output can be read is known once the predictions are made. An output that can be read by
        now, by a newer reader, is `ok` again.
        """
        with self.locked():
            finished, parses = finished_journals(self._journals), self._table()
            with self._files.scanning("predictions") as rows:
                read = rows.select("sample", "parser", read="status", why="message").collect()
            noted = _with_statuses(parses, read)
            if not noted.equals(parses):
                self._replace(noted, finished)

    def _replace(self, parses: pl.DataFrame, finished: Sequence[Path]) -> None:
        """Write the table and remove journals, which had ended before the table was made."""
        self._files.write("parses", parses)
        for path in finished:
            path.unlink(missing_ok=True)

    def _has_journals(self) -> bool:
        return any(self._journals.glob("*.jsonl"))

    def _last_number(self) -> int:
        with self._files.scanning("parses") as rows:
            folded = rows.select(pl.col(SEQUENCE).max()).collect().item() or 0
        return max(last_number(self._journals), int(folded) // LINES)


def _with_statuses(parses: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """The records of outputs, and of what is called one, with the status of what was read of them."""
    joined = parses.join(read, on=["sample", "parser"], how="left", maintain_order="left")
    answered = pl.col("blob").is_not_null() | (pl.col("status") == str(Status.OK))
    of_reader = answered & pl.col("read").is_in(_SAID_BY_READER)
    failed = pl.col("read") == str(Status.PARSER_FAILED)
    return joined.with_columns(
        status=pl.when(of_reader).then("read").otherwise("status"),
        error=pl.when(of_reader).then(pl.when(failed).then("why")).otherwise("error"),
    ).select(parses.columns)


def _are_records(parses: pl.DataFrame) -> bool:
    """Whether all rows are records as we write them, in order and each once."""
    needed = ("sample", "parser", "status", "key", "n_bytes", "attempts", "finished")
    before = [pl.col(key).shift(1) for key in SORT_KEYS["parses"]]
    sample, parser = (pl.col(key) for key in SORT_KEYS["parses"])
    in_order = (before[0] < sample) | ((before[0] == sample) & (before[1] < parser))
    checks = parses.select(
        known=pl.all_horizontal(pl.col(c).is_not_null().all() for c in needed),
        statuses=pl.col("status").is_in([str(s) for s in Status]).all(),
        in_order=in_order.fill_null(True).all(),
    )
    return all(checks.row(0))
