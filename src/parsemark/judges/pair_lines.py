"""Files of pairs, `{"id", "truth", "pred"}` on each line, read for judges."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsemark.errors import FormatError
from parsemark.judges.ask import Asker
from parsemark.judges.base import Judge
from parsemark.judges.pairs import Pair, PairVerdict, judge_pairs
from parsemark.metrics.pair_files import read_pair


class PairLines:
    """Iterates over the pairs of a file once. What cannot be read is in `problems` afterwards.

    Pairs are known by the number of their line, since a file may use an id twice. `on_problem` receives the
    number of a line that cannot be read, and why, when it is met.
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
                data = read_pair(line)
                kind = data.get("kind", "table")
                if kind not in ("table", "formula"):
                    raise FormatError('"kind" must be "table" or "formula"')
                self._ids[str(number)] = data["id"]
                yield Pair(str(number), data["truth"], data["pred"] or "", kind)
            except FormatError as error:
                self.problems.append((number, str(error)))
                self._on_problem(number, str(error))

    def of(self, pair: str) -> tuple[int, Any]:
        """Number of the line, and the id that the file gives it."""
        return int(pair), self._ids[pair]


class RowsInOrder:
    """Writes the rows of each line, `n_rows`, together and in the order of the lines, whenever they come."""

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
        self.finish(self._n_rows)

    def finish(self, n_rows: int = 0) -> None:
        """Write the first lines that have so many rows; by default what is left, where rows never came."""
        while self._begun and len(self._rows[self._begun[0]]) >= n_rows:
            for _, text in sorted(self._rows.pop(self._begun.pop(0))):
                self._write(text + "\n")


@dataclass
class JudgedLines:
    """What judges said of the lines of a file."""

    failed: set[int] = field(default_factory=set)  # numbers of lines that did not get all their verdicts
    scores: dict[str, list[float]] = field(default_factory=dict)  # by judge
    statuses: dict[str, Counter[str]] = field(default_factory=dict)  # by judge, what became of the questions


def judge_lines(
    lines: Iterable[str],
    judges: Sequence[Judge],
    asker: Asker,
    *,
    repeats: int = 1,
    write: Callable[[str], object] = lambda _: None,
    tell: Callable[[int, str], None] = lambda line, why: None,
    advance: Callable[[], None] = lambda: None,
) -> JudgedLines:
    """Let judges score, from 0 to 10, the pairs of a file, `{"id", "truth", "pred"}` on each line.

    `write` takes a line of JSON for each pair, judge and repeat, in the order of the lines; `tell` receives
    the number of a line without a verdict, and why; `advance` is called for each verdict.
    """
    found = JudgedLines()
    names = [str(judge) for judge in judges]
    rows = RowsInOrder(write, len(names) * repeats)

    def unreadable(line: int, message: str) -> None:
        rows.begin(line)
        for k, name in enumerate(names):
            row = {"id": f"line {line}", "metric": name, "value": None, "status": "metric_failed"}
            for repeat in range(repeats):
                text = json.dumps({**row, "repeat": repeat, "errors": [], "message": message})
                rows.put(line, (k, repeat), text)

    pairs = PairLines(lines, unreadable)

    def begun() -> Iterator[Pair]:
        for pair in pairs:
            rows.begin(pairs.of(pair.id)[0])
            yield pair

    def deliver(verdict: PairVerdict) -> None:
        advance()
        line, identity = pairs.of(verdict.pair)
        found.statuses.setdefault(verdict.judge, Counter())[verdict.status.value] += 1
        if verdict.score is None:
            found.failed.add(line)
            tell(line, f"{verdict.status.value}: {verdict.message}")
        else:
            found.scores.setdefault(verdict.judge, []).append(verdict.score)
        row = {"id": identity, "metric": verdict.judge, "value": verdict.score}
        row |= {"status": verdict.status.value, "repeat": verdict.repeat, "errors": verdict.errors}
        row |= {"cost_usd": verdict.cost_usd, "message": verdict.message}
        rows.put(line, (names.index(verdict.judge), verdict.repeat), json.dumps(row))

    judge_pairs(begun(), judges, asker, deliver, repeats=repeats)
    rows.finish()
    for line, message in pairs.problems:
        found.failed.add(line)
        tell(line, message)
    return found
