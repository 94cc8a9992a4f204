"""Every request and every reply, kept by hash in one SQLite file, and the ledger of what may be spent.

The file can be used by several processes at once. A reply is committed when it arrives, so a killed run goes
on where it was. It holds no keys.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from pathlib import Path
from typing import Self

from parsemark.errors import JudgeError
from parsemark.judges.base import Reply
from parsemark.system.files import cache_folder

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
  key TEXT NOT NULL, attempt INTEGER NOT NULL, judge TEXT NOT NULL, request BLOB NOT NULL, reply BLOB NOT
  NULL, cost_usd REAL, created REAL NOT NULL, PRIMARY KEY (key, attempt)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger (
  session TEXT PRIMARY KEY, spent REAL NOT NULL, reserved REAL NOT NULL, n_open INTEGER NOT NULL) WITHOUT
  ROWID;
"""
_VERSION = 1


def default_answers_file() -> Path:
    """`$PARSEMARK_CACHE/judges/answers.sqlite`, or the same in `~/.cache/parsemark`."""
    return cache_folder("judges", "answers.sqlite")


def packed_request(encoded: str) -> bytes:
    """A request as the file keeps it."""
    return zlib.compress(encoded.encode(), 1)


class AnswerStore:
    """An open file of answers."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_answers_file()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            # Without a sync for each reply: what is committed survives the death of the process.
            self._db.execute("PRAGMA synchronous=NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise JudgeError(
                    f"{self.path} was written by another version of parsemark; name another file."
                )
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={_VERSION}")
        except (OSError, sqlite3.Error) as error:
            raise JudgeError(f"Answers cannot be kept in {self.path}: {error}. Name another file.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def replies(self, key: str) -> list[Reply]:
        """All replies to a request, in the order in which they came."""
        rows = self._db.execute("SELECT reply FROM replies WHERE key = ? ORDER BY attempt", (key,))
        return [Reply(**json.loads(zlib.decompress(blob))) for (blob,) in rows]

    def add(self, key: str, judge: str, request: bytes, reply: Reply) -> None:
        """Keep a reply after the earlier ones to the same request (packed by `packed_request`)."""
        fields = {name: getattr(reply, name) for name in Reply.__slots__}
        packed = zlib.compress(json.dumps(fields).encode(), 1)
        self._db.execute(
            "INSERT INTO replies SELECT ?1, COALESCE(MAX(attempt) + 1, 0), ?2, ?3, ?4, ?5, ?6 "
            "FROM replies WHERE key = ?1",
            (key, judge, request, packed, reply.cost_usd, time.time()),
        )

    def totals(self) -> list[tuple[str, int, float]]:
        """Judge, number of replies, and their known cost."""
        query = (
            "SELECT judge, COUNT(*), COALESCE(SUM(cost_usd), 0) FROM replies GROUP BY judge ORDER BY judge"
        )
        return [(str(j), int(n), float(c)) for j, n, c in self._db.execute(query)]

    def reserve(self, session: str, limit: float, worst: float) -> str:
        """Set `worst` dollars aside if the session's limit allows it.

        Returns:
            `yes`, `wait` (it may fit once open requests are settled), or `no`.
        """
        self._db.execute("INSERT OR IGNORE INTO ledger VALUES (?, 0, 0, 0)", (session,))
        changed = self._db.execute(
            "UPDATE ledger SET reserved = reserved + ?1, n_open = n_open + 1 "
            "WHERE session = ?2 AND spent + reserved + ?1 <= ?3",
            (worst, session, limit),
        )
        if changed.rowcount == 1:
            return "yes"
        spent, n_open = self._db.execute(
            "SELECT spent, n_open FROM ledger WHERE session = ?", (session,)
        ).fetchone()
        return "wait" if n_open and spent + worst <= limit else "no"

    def settle(self, session: str, worst: float, cost: float) -> None:
        """Replace what was set aside by what was paid."""
        self._db.execute(
            "UPDATE ledger SET reserved = MAX(0, reserved - ?1), spent = spent + ?2, n_open = n_open - 1 "
            "WHERE session = ?3",
            (worst, cost, session),
        )

    def spent(self, session: str) -> float:
        """What a session has paid so far."""
        row = self._db.execute("SELECT spent FROM ledger WHERE session = ?", (session,)).fetchone()
        return float(row[0]) if row else 0.0
