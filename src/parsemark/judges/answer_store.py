"""Every request and every reply, kept by hash in one SQLite file, and the ledger of what may be spent.

The file can be used by several processes at once. A reply is committed when it arrives, so a killed run goes
on where it was. It holds no keys.
"""

import json
import sqlite3
import time
import zlib
from pathlib import Path
from typing import Self

from parsemark.budget import Budget
from parsemark.errors import JudgeError
from parsemark.judges.base import Reply
from parsemark.system.files import cache_folder

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
  key TEXT NOT NULL, attempt INTEGER NOT NULL, judge TEXT NOT NULL, request BLOB NOT NULL, reply BLOB NOT
  NULL, cost_usd REAL, created REAL NOT NULL, PRIMARY KEY (key, attempt)) WITHOUT ROWID;
"""
_VERSION = 1


def packed_request(encoded: str) -> bytes:
    """Return a request as the file keeps it."""
    return zlib.compress(encoded.encode(), 1)


class AnswerStore:
    """A file of answers; by default `judges/answers.sqlite` in the cache folder (`$PARSEMARK_CACHE`)."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder("judges", "answers.sqlite")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            # Without a sync for each reply: what is committed survives the death of the process.
            self._db.execute("PRAGMA synchronous=NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                why = "was written by another version of parsemark; name another file."
                raise JudgeError(f"{self.path} {why}")
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
        """Return all replies to a request, in the order in which they came."""
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
        query = "SELECT judge, COUNT(*), COALESCE(SUM(cost_usd), 0) FROM replies GROUP BY 1 ORDER BY 1"
        return [(str(j), int(n), float(c)) for j, n, c in self._db.execute(query)]

    def budget(self, session: str, limit_usd: float | None) -> Budget:
        """Return the session's budget; processes that use the same file and session share it."""
        return Budget(limit_usd, self._db, session)
