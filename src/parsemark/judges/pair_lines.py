"""Files of pairs, `{"id", "truth", "pred"}` on each line, read for judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from parsemark.judges.pairs import Pair


class PairLines:
    """Iterates over the pairs of a file once. What cannot be read is in `problems` afterwards.

    Pairs are known by the number of their line, since a file may use an id twice.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._ids: dict[str, Any] = {}
        self.problems: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[Pair]:
        for number, text in enumerate(self._lines, 1):
            line = text.removeprefix("\ufeff")
            if not line.strip():
                continue
            try:
                yield self._pair(number, line)
            except (ValueError, RecursionError) as error:
                self.problems.append((number, str(error)))

    def of(self, pair: str) -> tuple[int, Any]:
        """Number of the line, and the id that the file gives it."""
        return int(pair), self._ids[pair]

    def _pair(self, number: int, line: str) -> Pair:
        try:
            data = json.loads(line)
        except ValueError as error:
            raise ValueError(f"The line is not JSON: {error}") from error
        if not isinstance(data, dict) or not isinstance(data.get("truth"), str):
            raise ValueError('The line is not an object with "id", "truth" and "pred"')
        pred = data.get("pred")
        if pred is not None and not isinstance(pred, str):
            raise ValueError(f'"pred" must be a text or null, not {type(pred).__name__}')
        kind = data.get("kind", "table")
        if kind not in ("table", "formula"):
            raise ValueError('"kind" must be "table" or "formula"')
        self._ids[str(number)] = data.get("id", f"line {number}")
        return Pair(str(number), data["truth"], pred or "", kind)
