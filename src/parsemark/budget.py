"""Money that may be spent: what something can cost is set aside first, and settled by what it did cost.

One rule for judges, whose processes share a file, and for parsers that are paid by the page.
"""

import sqlite3
import threading
from collections.abc import Iterable
from typing import Literal

from parsemark.errors import ParsemarkError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (
  session TEXT PRIMARY KEY, spent REAL NOT NULL, reserved REAL NOT NULL, n_open INTEGER NOT NULL) WITHOUT
  ROWID;
"""
_ROUNDING = 1e-9


class SpentError(ParsemarkError):
    """The next page might cost more than is left."""


class Budget:
    """What one session may spend (limit None: any sum) and has spent, in a table that processes share."""

    def __init__(
        self, limit_usd: float | None, db: sqlite3.Connection | None = None, session: str = ""
    ) -> None:
        self.limit_usd = limit_usd
        self._session = session
        self._db = db or sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.executescript(_SCHEMA)

    def reserve(self, worst: float) -> Literal["yes", "wait", "no"]:
        """Set `worst` dollars aside if the limit allows it; `wait`: it may, once others are settled."""
        if self.limit_usd is None:
            return "yes"
        self._db.execute("INSERT OR IGNORE INTO ledger VALUES (?, 0, 0, 0)", (self._session,))
        changed = self._db.execute(
            "UPDATE ledger SET reserved = reserved + ?1, n_open = n_open + 1 "
            "WHERE session = ?2 AND spent + reserved + ?1 <= ?3",
            (worst, self._session, self.limit_usd + _ROUNDING),
        )
        if changed.rowcount == 1:
            return "yes"
        own = "SELECT n_open FROM ledger WHERE session = ?"
        (n_open,) = self._db.execute(own, (self._session,)).fetchone()
        return "wait" if n_open and self.spent() + worst <= self.limit_usd + _ROUNDING else "no"

    def settle(self, worst: float, paid: float) -> None:
        """Replace what was set aside by what was paid."""
        if self.limit_usd is not None:
            self._db.execute(
                "UPDATE ledger SET reserved = MAX(0, reserved - ?1), spent = spent + ?2, n_open = n_open - 1 "
                "WHERE session = ?3",
                (worst, paid, self._session),
            )

    def spent(self) -> float:
        """Return the amount paid so far, if there is a limit to compare it with."""
        row = self._db.execute("SELECT spent FROM ledger WHERE session = ?", (self._session,)).fetchone()
        return float(row[0]) if row else 0.0

    def over_usd(self) -> float:
        """Return the overrun of the limit: only calls that cost more than they could cause one."""
        return 0.0 if self.limit_usd is None else max(0.0, self.spent() - self.limit_usd)


class PageBudget:
    """Money for pages: one is asked for only if there is enough left for the dearest so far.

    What a parser's page costs is known after its first one, which is therefore asked for alone. So the limit
    is passed only by a first page, or by one that is dearer than all before it. `before`: parser and cost of
    the pages that the run has paid for already.
    """

    def __init__(self, limit_usd: float, before: Iterable[tuple[str, float | None]] = ()) -> None:
        self._limit = limit_usd
        self._budget = Budget(limit_usd)
        self._dearest: dict[str, float] = {}
        self._asked: dict[str, int] = {}
        self._changed = threading.Condition()
        self._budget.reserve(0.0)
        self._budget.settle(0.0, sum(self._learn(parser, cost, 1) for parser, cost in before))

    def reserve(self, parser: str, n_pages: int = 1) -> float:
        """Put aside what the next pages of a parser may cost, else SpentError; `settle` gives it back."""
        with self._changed:
            while parser not in self._dearest and self._asked.get(parser):
                self._changed.wait()
            price = self._dearest.get(parser, 0.0) * n_pages
            spent = self._budget.spent()
            if spent >= self._limit or self._budget.reserve(price) != "yes":
                raise SpentError(
                    f"--max-cost {self._limit:g} is reached: {spent:.4f} USD spent; the next page may "
                    f"cost {price:.4f} USD."
                )
            self._asked[parser] = self._asked.get(parser, 0) + 1
            return price

    def settle(self, parser: str, price: float, cost_usd: float | None, n_pages: int = 1) -> None:
        """Pay pages that were reserved, or take the money back."""
        with self._changed:
            self._asked[parser] -= 1
            self._budget.settle(price, self._learn(parser, cost_usd, n_pages))
            self._changed.notify_all()

    def _learn(self, parser: str, cost_usd: float | None, n_pages: int) -> float:
        if cost_usd:
            self._dearest[parser] = max(self._dearest.get(parser, 0.0), cost_usd / n_pages)
        return cost_usd or 0.0
