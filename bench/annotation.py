"""How much typing `parsemark annotate` saves: a corrector that starts from the consensus, replayed edit by
edit.

The corrector knows the truth of the demo corpus and gets there with the edits that the app has, counting
the keys that a person would press: one for each step of the cursor, each command, and each character typed
or deleted. What it reaches is compared with the truth: grid, spans, headers, and texts up to white space.
The same keys are counted for typing every table into an empty grid. Boxes are not counted on either side.
Needs a run of the demo corpus (`runs/demo`, as `make bench` leaves it, or the folder named in
PARSEMARK_DEMO_RUN).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsemark.consensus.starting_page import consensus
from parsemark.kernels.ngrams import multiset_f1, text_bag
from parsemark.matching import match_by_ngrams
from parsemark.model import Element, Page, Table
from parsemark.store import Run
from parsemark.web.annotate.edits import apply

AIM = 0.30


def main() -> bool:
    folder = Path(os.environ.get("PARSEMARK_DEMO_RUN", "runs/demo"))
    if not (folder / "manifest.json").exists():
        print(f"skipped: there is no run in {folder}; make one with: make bench")
        return True
    run = Run.open(folder)
    parsers = sorted({record.parser for record in run.records()})
    keys = typed = n_tables = n_retyped = n_exact = 0
    for sample in run.table("samples")["sample"]:
        truth = run.truth(sample)
        if truth is None:
            continue
        start = consensus({p: run.prediction(sample, p) for p in parsers}, run.manifest.engines)
        page = Page(
            sample, truth.width, truth.height, tuple(e for e in start.elements if e.table is not None)
        )
        corrector = Corrector(page)
        corrector.correct(truth)
        keys += corrector.keys
        n_retyped += corrector.n_retyped
        typed += sum(typing_keys(t.table) for t in truth.tables if t.table is not None)
        n_tables += len(truth.tables)
        n_exact += sum(
            any(same(element.table, t.table) for element in corrector.page.tables) for t in truth.tables
        )
        assert len(corrector.page.tables) == len(truth.tables)
    share = keys / typed
    print(
        f"{n_tables} tables, {len(parsers)} parsers: {keys:,} keys from the consensus, {typed:,} from "
        f"nothing: "
        f"{share:.1%} (aim <= {AIM:.0%}); {n_exact} of {n_tables} exact, {n_retyped} typed anew"
    )
    return share <= AIM and n_exact == n_tables


def folded(text: str) -> str:
    return " ".join(text.split())


def same(one: Table | None, other: Table | None) -> bool:
    """Return whether two tables are the same, up to white space."""
    if one is None or other is None or (one.n_rows, one.n_cols) != (other.n_rows, other.n_cols):
        return False
    return described(one) == described(other)


def described(table: Table) -> dict[tuple[int, int], tuple[int, int, str, bool]]:
    holes = dict.fromkeys(table.holes, (1, 1, "", False))
    cells = {(c.row, c.col): (c.rowspan, c.colspan, folded(c.text), bool(c.header)) for c in table.cells}
    return {place: what for place, what in {**holes, **cells}.items() if what != (1, 1, "", False)}


def typing_keys(table: Table) -> int:
    """Return keys for a table that is typed into an empty grid."""
    page = Page("p", 1, 1)
    corrector = Corrector(page)
    corrector.add(table)
    assert same(corrector.page.tables[-1].table, table)
    return corrector.keys


@dataclass
class Corrector:
    """Somebody who knows the truth, and counts keys."""

    page: Page
    keys: int = 0
    n_retyped: int = 0
    at: tuple[int, int] = (0, 0)
    name: str = ""
    done: list[str] = field(default_factory=list)

    def do(self, keys: int, **edit: Any) -> None:
        self.keys += keys
        self.page = apply(self.page, {"element": self.name, **edit})

    @property
    def table(self) -> Table:
        found = next(e.table for e in self.page.elements if e.id == self.name)
        assert found is not None
        return found

    def go(self, row: int, col: int) -> None:
        """Move the cursor step by step; cells that a person passes cost a key each."""
        self.keys += abs(row - self.at[0]) + abs(col - self.at[1])
        self.at = row, col

    def correct(self, truth: Page) -> None:
        """Make the tables of the page those of the truth."""
        matching = match_by_ngrams(truth.tables, self.page.tables).matching
        answers = {m.truth[0]: m.pred for m in matching.matches if m.truth}
        kept = {names[0] for names in answers.values() if names}
        for element in list(self.page.tables):
            if element.id not in kept or sum(names[:1] == (element.id,) for names in answers.values()) > 1:
                self.remove(element.id)
                kept.discard(element.id)
        for element in truth.tables:
            assert element.table is not None
            names = answers.get(element.id, ())
            if names and names[0] in kept:
                self.mend(names[0], element)
            else:
                self.add(element.table)

    def remove(self, name: str) -> None:
        self.name = name
        self.do(2, do="remove")  # to the table, and Delete

    def add(self, table: Table) -> None:
        """Type a table: grow the grid, type the cells, merge, mark headers."""
        before = {e.id for e in self.page.elements}
        self.do(1, do="add", category="table")
        self.name = next(e.id for e in self.page.elements if e.id not in before)
        self.at = 0, 0
        for _ in range(table.n_rows - 2):
            self.do(1, do="insert_row", at=self.table.n_rows)
        for _ in range(table.n_cols - 2):
            self.do(1, do="insert_col", at=self.table.n_cols)
        if table.n_rows == 1:
            self.do(1, do="delete_row", at=1)
        if table.n_cols == 1:
            self.do(1, do="delete_col", at=1)
        self.finish(table)

    def mend(self, name: str, truth: Element) -> None:
        """Correct a table, or type it anew where that is less work."""
        assert truth.table is not None
        trial = Corrector(self.page, name=name)
        trial.keys = 1  # to the table
        trial.reshape(truth.table)
        trial.finish(truth.table)
        anew = Corrector(self.page)
        anew.remove(name)
        anew.add(truth.table)
        better = trial if trial.keys <= anew.keys else anew
        self.n_retyped += better is anew
        self.keys += better.keys
        self.page = better.page

    def reshape(self, truth: Table) -> None:
        """Split what should not be merged, then insert and delete rows and columns."""
        for by_row in (True, False):
            for cell in list(self.table.cells):
                if cell.rowspan > 1 or cell.colspan > 1:
                    wanted = None
                    if cell.row < truth.n_rows and cell.col < truth.n_cols:
                        wanted = truth.cell_at(cell.row, cell.col)
                    spans = (cell.row, cell.col, cell.rowspan, cell.colspan)
                    if wanted is None or spans != (wanted.row, wanted.col, wanted.rowspan, wanted.colspan):
                        self.go(cell.row, cell.col)
                        self.do(1, do="split", row=cell.row, col=cell.col)
            self.insert_and_delete(truth, by_row=by_row)

    def insert_and_delete(self, truth: Table, *, by_row: bool) -> None:
        mine, theirs = lines(self.table, by_row=by_row), lines(truth, by_row=by_row)
        word = "row" if by_row else "col"
        shift = 0
        for kind, place in script(mine, theirs):
            at = place + shift
            self.go(min(at, self.at[0]) if not by_row else at, at if not by_row else min(at, self.at[1]))
            if kind == "delete":
                self.do(1, do=f"delete_{word}", at=at)
                shift -= 1
            else:
                self.do(1, do=f"insert_{word}", at=at)
                shift += 1

    def finish(self, truth: Table) -> None:
        """Merges, texts and headers, in reading order."""
        for cell in truth.cells:
            now = self.table.cell_at(cell.row, cell.col)
            if (cell.rowspan, cell.colspan) != ((now.rowspan, now.colspan) if now else (1, 1)):
                if now is not None and (now.rowspan > 1 or now.colspan > 1):
                    self.go(now.row, now.col)
                    self.do(1, do="split", row=now.row, col=now.col)
                self.free(cell.row, cell.col, cell.rowspan, cell.colspan)
                if cell.rowspan > 1 or cell.colspan > 1:
                    self.go(cell.row, cell.col)
                    bottom, right = cell.row + cell.rowspan - 1, cell.col + cell.colspan - 1
                    steps = cell.rowspan + cell.colspan - 2
                    self.do(steps + 1, do="merge", row=cell.row, col=cell.col, to_row=bottom, to_col=right)
            now = self.table.cell_at(cell.row, cell.col)
            text = now.text if now is not None else ""
            if folded(text) != folded(cell.text):
                self.go(cell.row, cell.col)
                self.do(text_keys(text, cell.text), do="text", row=cell.row, col=cell.col, text=cell.text)
        for row, col in truth.holes:
            now = self.table.cell_at(row, col)
            if now is not None and folded(now.text):
                self.go(row, col)
                self.do(3, do="text", row=row, col=col, text="")
        self.headers(truth)

    def free(self, row: int, col: int, rowspan: int, colspan: int) -> None:
        """Split whatever reaches into a place that is to be merged."""
        for r in range(row, row + rowspan):
            for c in range(col, col + colspan):
                now = self.table.cell_at(r, c)
                if now is not None and (now.rowspan > 1 or now.colspan > 1):
                    self.go(now.row, now.col)
                    self.do(1, do="split", row=now.row, col=now.col)

    def headers(self, truth: Table) -> None:
        wanted = {(c.row, c.col) for c in truth.cells if c.header}
        now = {(c.row, c.col) for c in self.table.cells if c.header}
        if wanted == now:
            return
        counts = range(truth.n_rows + 1)
        best = min(
            counts, key=lambda n: len({(c.row, c.col) for c in self.table.cells if c.row < n} ^ wanted)
        )
        after = {(c.row, c.col) for c in self.table.cells if c.row < best}
        if len(after ^ wanted) + 1 < len(now ^ wanted):
            self.go(max(0, best - 1), self.at[1])
            self.do(1, do="header_rows", count=best)
            now = after
        for row, col in sorted(now ^ wanted):
            self.go(row, col)
            self.do(1, do="header", row=row, col=col)


def text_keys(old: str, new: str) -> int:
    """Enter, then type over all of it or change the part that differs, then Tab."""
    head = n_shared(old, new)
    tail = n_shared(old[head:][::-1], new[head:][::-1])
    changed = (len(old) - head - tail) + (len(new) - head - tail) + 1 + min(head, tail)
    return 2 + min(len(new) if new else 1, changed)


def n_shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def lines(table: Table, *, by_row: bool) -> list[str]:
    rows = table.text_rows()
    return [" ".join(row) for row in (rows if by_row else zip(*rows, strict=True))]


def script(mine: list[str], theirs: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the fewest deletions and insertions, keeping lines together that are alike; places are in
    `mine`.
    """
    bags = [text_bag(line) for line in mine], [text_bag(line) for line in theirs]
    n, m = len(mine), len(theirs)
    # A pair of lines earns its likeness; unlike lines may still share a place, which saves two keys.
    best = [[0.0] * (m + 1) for _ in range(n + 1)]

    def pair(i: int, j: int) -> float:
        likeness = multiset_f1(bags[0][i], bags[1][j]) if bags[0][i] and bags[1][j] else 0.0
        return 0.15 + likeness + (0.2 if folded(mine[i]) == folded(theirs[j]) else 0.0)

    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + pair(i, j))
    i = j = 0
    while i < n or j < m:
        if i < n and j < m and best[i][j] == best[i + 1][j + 1] + pair(i, j):
            i, j = i + 1, j + 1
        elif i < n and (j >= m or best[i][j] == best[i + 1][j]):
            yield "delete", i
            i += 1
        else:
            yield "insert", i
            j += 1
