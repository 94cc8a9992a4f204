"""What parsers that are paid by the page may spend in one run, however often it is gone on with."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from parsemark.errors import ParsemarkError
from parsemark.store import ParseRecord


class SpentError(ParsemarkError):
    """The next page might cost more than is left."""


class Budget:
    """Money for pages: one is asked for only if there is enough left for the dearest so far.

    What a parser's page costs is known after its first one, which is therefore asked for alone. So the limit
    is passed only by a first page, or by one that is dearer than all before it.
    """

    def __init__(self, limit_usd: float, before: Iterable[ParseRecord] = ()) -> None:
        """Begin with what the records of the run have cost already.

        Args:
            limit_usd: Most that the run may cost.
            before: Records of the run.
        """
        self._limit = limit_usd
        self._spent = self._reserved = 0.0
        self._dearest: dict[str, float] = {}
        self._asked: dict[str, int] = {}
        self._changed = threading.Condition()
        for record in before:
            self._pay(record.parser, record.cost_usd)

    def reserve(self, parser: str, n_pages: int = 1) -> float:
        """Put aside what the next pages of a parser may cost; `settle` gives it back.

        Raises:
            SpentError: There is not enough left.
        """
        with self._changed:
            while parser not in self._dearest and self._asked.get(parser):
                self._changed.wait()
            price = self._dearest.get(parser, 0.0) * n_pages
            taken = self._spent + self._reserved
            if taken >= self._limit or taken + price > self._limit + 1e-9:
                raise SpentError(
                    f"--max-cost {self._limit:g} is reached: {taken:.4f} USD are spent, and a page may cost "
                    f"{price:.4f}."
                )
            self._reserved += price
            self._asked[parser] = self._asked.get(parser, 0) + 1
            return price

    def settle(self, parser: str, price: float, cost_usd: float | None, n_pages: int = 1) -> None:
        """Pay pages that were reserved, or take the money back."""
        with self._changed:
            self._reserved -= price
            self._asked[parser] -= 1
            self._pay(parser, cost_usd, n_pages)
            self._changed.notify_all()

    def _pay(self, parser: str, cost_usd: float | None, n_pages: int = 1) -> None:
        if cost_usd:
            self._spent += cost_usd
            self._dearest[parser] = max(self._dearest.get(parser, 0.0), cost_usd / n_pages)
