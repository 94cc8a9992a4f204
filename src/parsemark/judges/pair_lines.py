"""Files of pairs, `{"id", "truth", "pred"}` on each line, read for judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from parsemark.judges.pairs import Pair


class PairLines:
    """Iterates over the pairs of a file once. What cannot be read is in `problems` afterwards.

    Pairs are known by the number of their line, since a file may use an id twice.

    Args:
        lines: The lines of the file.
        on_problem: Told the number of a line that cannot be read, and why, when it is met.
    """

    def __init__(
        self, lines: Iterable[str], on_problem: Callable[[int, str], None] = lambda number, why: None
    ) -> None:
        self._lines = lines
        self._on_problem = on_problem
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
                self._on_problem(number, str(error))

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


class RowsInOrder:
    """Writes the rows of each line together and in the order of the lines, whenever they come.

    Args:
        write: Takes the text of a row.
        n_rows: How many rows each line gets.
    """

    def __init__(self, write: Callable[[str], object], n_rows: int) -> None:
        self._write = write
        self._n_rows = n_rows
        self._begun: list[int] = []
        self._rows: dict[int, list[tuple[tuple[int, int], str]]] = {}

    def begin(self, line: int) -> None:
        """A line that will get rows; called in the order of the lines."""
        self._begun.append(line)
        self._rows[line] = []

    def put(self, line: int, place: tuple[int, int], row: str) -> None:
        """A row of a line: the number of its judge, the number of the repeat, and the text."""
        self._rows[line].append((place, row))
        while self._begun and len(self._rows[self._begun[0]]) >= self._n_rows:
            for _, text in sorted(self._rows.pop(self._begun.pop(0))):
                self._write(text + "\n")

    def finish(self) -> None:
        """Write what is left, where rows never came."""
        for line in self._begun:
            for _, text in sorted(self._rows.pop(line)):
                self._write(text + "\n")
        self._begun = []
