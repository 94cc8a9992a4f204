"""A SQLite file that people's work is written to: committed, on the disk, before anybody is told so.

One thread writes. It takes all that is waiting into one transaction, so that fifty people who answer in the
same moment wait for one sync of the disk and not for fifty. Readers have connections of their own.
"""

import contextlib
import queue
import secrets
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from parsemark.errors import StoreError

Result = TypeVar("Result")
Change = Callable[[sqlite3.Connection], Result]
_MOST_TOGETHER = 200
_SECRET_BYTES = 32


class Database:
    """An open file, made if it does not exist; one whose schema is of another version is refused."""

    def __init__(self, path: Path, schema: str, version: int) -> None:
        self.path = path
        self._local = threading.local()
        self._waiting: queue.SimpleQueue[tuple[Change[Any], Future[Any]] | None] = queue.SimpleQueue()
        for suffix in ("", "-wal", "-shm", "-journal"):
            if (file := path.with_name(path.name + suffix)).is_symlink():
                raise StoreError(f"{file} is a symbolic link. Remove it.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode=WAL")
            self._writer.execute("PRAGMA synchronous=FULL")
            (found,) = self._writer.execute("PRAGMA user_version").fetchone()
            if found not in (0, version):
                versions = f"({found}, not {version})"
                raise StoreError(f"{path} was written by another version of parsemark {versions}.")
            self._writer.executescript(schema)
            self._writer.execute(f"PRAGMA user_version={version}")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path} cannot be used: {error}.") from error
        self._thread = threading.Thread(target=self._write_all, name="writer", daemon=True)
        self._thread.start()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        return connection

    def read(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connect()
        rows: list[sqlite3.Row] = self._local.connection.execute(query, values).fetchall()
        return rows

    def write(self, change: Change[Result]) -> Future[Result]:
        """Do something in a transaction; the future is done once it is on the disk."""
        future: Future[Result] = Future()
        self._waiting.put((change, future))
        return future

    def secret(self) -> bytes:
        """Return the key for the values that pages send back; make a new one if it is invalid.

        It is kept in the table `facts` of names and values.
        """

        def keep(db: sqlite3.Connection) -> bytes:
            found = db.execute("SELECT value FROM facts WHERE name = 'secret'").fetchone()
            with contextlib.suppress(ValueError, TypeError):
                if found is not None and len(known := bytes.fromhex(found[0])) >= _SECRET_BYTES:
                    return known
            new = secrets.token_bytes(_SECRET_BYTES)
            db.execute("INSERT OR REPLACE INTO facts VALUES ('secret', ?)", (new.hex(),))
            return new

        return self.write(keep).result()

    def close(self) -> None:
        """Write what is waiting, and close."""
        self._waiting.put(None)
        self._thread.join(30)
        self._writer.close()

    def _write_all(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, last = [first], False
            while len(batch) < _MOST_TOGETHER and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    last = True
                    break
                batch.append(following)
            self._write_batch(batch)
            if last:
                return

    def _write_batch(self, batch: list[tuple[Change[Any], Future[Any]]]) -> None:
        done: list[tuple[Future[Any], Any]] = []
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            for change, future in batch:
                self._writer.execute("SAVEPOINT one")
                try:
                    done.append((future, change(self._writer)))
                except Exception as error:  # one person's mistake is not another's loss
                    self._writer.execute("ROLLBACK TO one")
                    future.set_exception(error)
                self._writer.execute("RELEASE one")
            self._writer.execute("COMMIT")
        except (
            sqlite3.Error
        ) as error:  # the disk is full, or the file is gone: do not confirm that it was saved
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for future, result in done:
            future.set_result(result)
