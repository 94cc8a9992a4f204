"""Credits for column headers, row names and values of an aligned table."""

from __future__ import annotations

from parsemark.metrics.reader.facts import Comparison, Fact, Known, Position, Side
from parsemark.metrics.reader.likeness import likeness
from parsemark.metrics.reader.names import credit_labels
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.paths import Fill, Path, column_paths, ordered_paths, path_likeness
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import is_section


def credit(side: Side, parameters: Parameters, outside: str = "") -> Comparison:
    """Credit an aligned table.

    Args:
        side: The two tables and their alignment.
        parameters: The fitted numbers.
        outside: Folded text around the predicted table.
    """
    if side.alignment.rows:
        headers = _HeaderReader(side, parameters, outside).read()
    else:
        headers = dict.fromkeys(range(side.truth.n_cols), Known(0.0))
    labels = credit_labels(side, parameters)
    facts = _credit_values(side, parameters, headers, labels)
    return Comparison(side, headers, labels, facts, _extras(side))


class _HeaderReader:
    """Credits the header of each column by the most favourable way to read the prediction's."""

    def __init__(self, side: Side, parameters: Parameters, outside: str) -> None:
        self.side, self.parameters, self.outside = side, parameters, outside
        self.known: dict[tuple[Path, Path], float] = {}
        n_truth, n_pred = side.structure.n_header, side.pred_header
        self.truth = column_paths(side.truth, range(n_truth), Fill.NOT)
        self.truth_padded = column_paths(side.truth, range(n_truth), Fill.PADDED)
        rows = [r for r in range(n_pred) if not self._is_caption(r)]
        self.pred = {fill: column_paths(side.pred, rows, fill) for fill in Fill}
        self.ordered = ordered_paths(side.pred, rows, sorted(side.alignment.columns.values()))

    def _is_caption(self, row: int) -> bool:
        """Whether a row above the data is one text for the whole table, and no header of the truth."""
        if not is_section(self.side.pred, row):
            return False
        text = self.side.pred.texts[row][0]
        levels = {level for path in self.truth for level in path}
        return not any(likeness(level, text, self.parameters) > 0.5 for level in levels)

    def read(self) -> dict[int, Known]:
        """The credit of each column of the truth."""
        found: dict[int, Known] = {}
        for col in range(self.side.truth.n_cols):
            partner = self.side.alignment.columns.get(col)
            found[col] = Known(0.0) if partner is None else self.column(col, partner)
        return found

    def column(self, col: int, partner: int) -> Known:
        """The credit of one column by the column that answers it."""
        own = self.best(col, partner)
        if own.credit == 1.0:
            return own
        rivals = [
            self.best(other, partner).credit
            for other in range(self.side.truth.n_cols)
            if self.truth[other] != self.truth[col]
        ]
        if max(rivals, default=0.0) >= own.credit:
            return Known(own.credit * self.parameters.ambiguous, own.padded)
        return own

    def best(self, col: int, partner: int) -> Known:
        """The most favourable reading of the header of `partner` as that of `col`."""
        truth, padded = self.truth[col], self.truth_padded[col]
        plain = self._likeness(truth, self.pred[Fill.NOT][partner])
        if plain == 1.0:
            return Known(1.0)
        carried = max(
            self._likeness(truth, self.pred[Fill.PADDED][partner]),
            self._likeness(padded, self.pred[Fill.NOT][partner]),
            self._likeness(padded, self.pred[Fill.PADDED][partner]),
        )
        ragged = self.parameters.ragged * self._likeness(truth, self.pred[Fill.RAGGED][partner])
        counted = self.parameters.inferred * self._likeness(truth, self.ordered[partner])
        best = max(plain, carried, ragged, counted)
        return Known(best, padded=best > plain and best == carried)

    def _likeness(self, truth: Path, pred: Path) -> float:
        found = self.known.get((truth, pred))
        if found is None:
            found = self.known[truth, pred] = path_likeness(truth, pred, self.parameters, self.outside)
        return found


def _credit_values(
    side: Side,
    parameters: Parameters,
    headers: dict[int, Known],
    labels: dict[tuple[int, tuple[int, ...]], Known],
) -> dict[Position, Fact]:
    truth, structure = side.truth, side.structure
    stubs = {s for stub in structure.labels for s in stub}
    facts = _name_headers(side, headers, stubs)
    for row in range(structure.n_header, truth.n_rows):
        if row in structure.sections:
            continue
        named_only = not any(truth.present[row][c] for c in range(truth.n_cols) if c not in stubs)
        for col in range(truth.n_cols):
            # A name is not a fact of its own where it names something: it counts with each of its values.
            if truth.present[row][col] and (named_only or not _is_name(truth, row, col, stubs)):
                label = labels[row, structure.labels[col]]
                facts[row, col] = _fact(side, parameters, row, col, headers[col], label)
    return facts


def _is_name(truth: Sheet, row: int, col: int, stubs: set[int]) -> bool:
    """Whether a cell is in a label column, or is one that begins there and spans further columns."""
    while col and col not in stubs and not truth.starts[row][col] and not truth.starts[row][col - 1]:
        col -= 1
    if col in stubs:
        return True
    spans = col > 0 and not truth.starts[row][col] and truth.texts[row][col] == truth.texts[row][col - 1]
    return spans and col - 1 in stubs


def _name_headers(side: Side, headers: dict[int, Known], stubs: set[int]) -> dict[Position, Fact]:
    """What the names of rows are names of: one fact for each label column with a header."""
    row = side.structure.n_header - 1
    facts: dict[Position, Fact] = {}
    for col in sorted(stubs):
        if not any(side.truth.present[r][col] for r in range(row + 1)):
            continue
        partner = side.alignment.columns.get(col)
        if partner is None:
            facts[row, col] = Fact(row, col, 1.0)
        else:
            known = headers[col]
            facts[row, col] = Fact(row, col, 1.0, 1.0, known.credit, 1.0, known.padded, (0, partner))
    return facts


def _fact(side: Side, parameters: Parameters, row: int, col: int, header: Known, label: Known) -> Fact:
    text = side.truth.texts[row][col]
    weight = 1.0 if text else parameters.no_value
    at, partner = side.alignment.rows.get(row), side.alignment.columns.get(col)
    if at is None or partner is None:
        return Fact(row, col, weight)
    found = side.pred.texts[at][partner]
    if not text:
        value = 0.0 if found else 1.0
    elif not found and not side.truth.starts[row][col]:
        value = parameters.spanned
    else:
        value = likeness(text, found, parameters)
    padded = header.padded or label.padded
    return Fact(row, col, weight, value, header.credit, label.credit, padded, (at, partner))


def _extras(side: Side) -> tuple[Position, ...]:
    """Invented values: in rows or columns that answer nothing, or where the truth has nothing."""
    pred = side.pred
    rows = {p: t for t, p in side.alignment.rows.items()}
    cols = {p: t for t, p in side.alignment.columns.items()}
    heads = {tuple(pred.texts[r]) for r in range(side.pred_header)}
    found: list[Position] = []
    for r in range(side.pred_header, pred.n_rows):
        if r not in rows and (tuple(pred.texts[r]) in heads):
            continue  # a header that comes again
        for c in range(pred.n_cols):
            if not pred.texts[r][c] or not pred.starts[r][c]:
                continue
            if r not in rows or c not in cols or not side.truth.present[rows[r]][cols[c]]:
                found.append((r, c))
    return tuple(found)
