"""What has been parsed: the journals of processes, and `parses.parquet`, into which they are folded.

A journal is finished work, one line each. Every process has its own file and holds a lock on it, so two
processes on one run directory never write to the same file, and the fold of journals into a table knows which
ones still grow. A last line that was torn by a kill or a power cut is ignored; its work is done again. Any
other line that is no record is damage.

Of two records of one page and parser the later one counts. What is later is said by the journals: each has
a number, higher than that of all before it in the same run, and its lines follow each other. Clocks are not
asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import StoreError, WriteError
from parsemark.model import Status
from parsemark.store.records import ParseRecord
from parsemark.store.tables import SEQUENCE, SORT_KEYS, TableFiles, frame_of
from parsemark.system import locked, make_folder
from parsemark.system.files import hold, is_locked

Json = dict[str, Any]
LINES = 2**32  # the sequence of an entry is the number of its journal times this, and the number of its line
_SAID_BY_READER = (str(Status.OK), str(Status.PARSER_FAILED))


class Journal:
    """The journal that this process writes. Safe to use from several threads."""

    def __init__(self, folder: Path, number: int) -> None:
        make_folder(folder.parent, folder.name)
        self.path = folder / f"n{number:06d}-{os.getpid()}-{uuid.uuid4().hex[:12]}.jsonl"
        self._handle: int | None = None
        try:
            self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        except OSError as error:
            raise WriteError(self.path, error) from error
        hold(self._handle)
        self._lock = threading.Lock()

    def append(self, entry: Json) -> None:
        """Add one entry; on return it survives a kill and a power cut."""
        line = memoryview(json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        with self._lock:
            if self._handle is None:  # its number may be that of another file by now
                raise WriteError(self.path, "it is closed")
            try:
                while line:
                    line = line[os.write(self._handle, line) :]
                os.fsync(self._handle)
            except OSError as error:
                raise WriteError(self.path, error) from error

    def close(self) -> None:
        """Give up the lock; the file stays until it is folded into a table."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _number(path: Path) -> int:
    """Return the number in a journal's name; 0 in names of earlier versions."""
    found = re.match(r"n(\d{1,9})-", path.name)
    return int(found[1]) if found else 0


def finished_journals(folder: Path) -> list[Path]:
    """Return the journals whose process is gone."""
    return [path for path in sorted(folder.glob("*.jsonl")) if not is_locked(path)]


def _entries(path: Path) -> Iterator[tuple[str, int, Json]]:
    """Yield the whole entries of a journal, each with its file and line in words, and its sequence."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # folded away by another process
        return
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror}. Remove it; its pages are parsed again."
        ) from error
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip(b" \r\0"):
            continue
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):  # torn: the process died while it wrote
                continue
            entry = None
        if not isinstance(entry, dict):
            raise StoreError(f"{where} is not a record. Remove it; its page is then parsed again.")
        yield where, _number(path) * LINES + number, entry


class ParseLog:
    """The records of a run."""

    def __init__(self, files: TableFiles) -> None:
        self._files = files
        self._journals = files.path / "journal"

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the right to replace tables of the run and to begin journals."""
        return locked(self._files.path / ".lock")

    def records(self) -> list[ParseRecord]:
        """Return the latest record of each page and parser, sorted."""
        latest: dict[tuple[str, str], ParseRecord] = {}
        # Journals before the table: what is folded away meanwhile is then in the table.
        journalled = [
            ParseRecord.from_json({**entry, SEQUENCE: order}, where)
            for path in sorted(self._journals.glob("*.jsonl"))
            for where, order, entry in _entries(path)
        ]
        where = f"A row of {self._files.path_of('parses')}"
        rows = self._files.read("parses").iter_rows(named=True)
        stored = [ParseRecord.from_json(row, where) for row in rows]
        # Of the same record the one in the table counts: see `note_unreadable`.
        for record in sorted([*journalled, *stored], key=lambda r: r.sequence):
            latest[record.sample, record.parser] = record
        return [latest[key] for key in sorted(latest)]

    def table(self) -> pl.DataFrame:
        """Return the same as a table."""
        return self._table().drop(SEQUENCE)

    def _table(self) -> pl.DataFrame:
        """Return the table with the sequence: the stored one itself, if nothing has to be done."""
        if not self._has_journals():
            stored = self._files.read("parses")
            if _are_records(stored):
                return stored
        return frame_of("parses", (r.to_json() for r in self.records()))

    @contextlib.contextmanager
    def scanning(self) -> Iterator[pl.LazyFrame]:
        """Scan the same table, to collect only the needed part."""
        if self._has_journals():
            yield self.table().lazy()
            return
        with self._files.scanning("parses") as rows:
            yield rows.drop(SEQUENCE)

    def journal(self) -> Journal:
        """Return a new journal for this process, to append `ParseRecord.to_json()` to."""
        with self.locked():
            return Journal(self._journals, self._last_number() + 1)

    def now(self) -> int:
        """Return all records that are made from now on have this sequence at least, and no earlier one
        has.
        """
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
        """Record that the parser failed on unreadable outputs, and why.

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
        return max(int(folded) // LINES, *map(_number, self._journals.glob("*.jsonl")), 0)


def _with_statuses(parses: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """Return the records of outputs, and of what is called one, with the status of what was read of them."""
    joined = parses.join(read, on=["sample", "parser"], how="left", maintain_order="left")
    answered = pl.col("blob").is_not_null() | (pl.col("status") == str(Status.OK))
    of_reader = answered & pl.col("read").is_in(_SAID_BY_READER)
    failed = pl.col("read") == str(Status.PARSER_FAILED)
    return joined.with_columns(
        status=pl.when(of_reader).then("read").otherwise("status"),
        error=pl.when(of_reader).then(pl.when(failed).then("why")).otherwise("error"),
    ).select(parses.columns)


def _are_records(parses: pl.DataFrame) -> bool:
    """Return whether all rows are records as we write them, in order and each once."""
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
