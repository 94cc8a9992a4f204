"""The errors behind a value, in words: which cell, which header, what was lost, what was invented."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from parsemark.metrics.reader.facts import Comparison, Fact
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.verdict import FULL_SCORE, Losses, Reading

_MOST_ERRORS = 50
"""Errors beyond this many are counted, not told."""
_LONGEST_QUOTE = 60
_LEAST_LOSS = 1e-6


@dataclass(frozen=True, slots=True)
class Error:
    """One error, and the points it cost."""

    kind: str
    """wrong_value, lost_header, lost_name, missing_row, missing_column, cut_off, invented or padded."""
    where: dict[str, Any]
    """`row` and `col` in the truth, or `pred_row`, `pred_col` and `table` in the prediction."""
    message: str
    cost: float


def explain(reading: Reading, lost: Losses, parameters: Parameters) -> list[Error]:
    """All errors, the costliest first. Their costs sum up to what the table has lost of 10 points."""
    errors = [
        *_wrong_values(reading, parameters),
        *_lost_headers(reading, parameters),
        *_lost_names(reading, parameters),
        *_missing(reading, parameters),
        *_invented(reading, parameters),
        *_padded(reading, lost, parameters),
    ]
    points = FULL_SCORE - lost.score(parameters)
    total = sum(error.cost for error in errors)
    scale = points / total if total > 0 else 0.0
    scaled = [Error(e.kind, e.where, e.message, round(e.cost * scale, 4)) for e in errors]
    return sorted(scaled, key=lambda e: (-e.cost, e.kind, str(e.where)))


def as_details(errors: list[Error], lost: Losses) -> dict[str, Any]:
    """The explanation as plain data."""
    return {
        "errors": [asdict(error) for error in errors[:_MOST_ERRORS]],
        "n_errors": len(errors),
        "lost": {name: round(value, 4) for name, value in asdict(lost).items()},
    }


def _found(reading: Reading) -> Iterable[tuple[Fact, Comparison]]:
    for fact, part in reading.facts.values():
        if fact.found is not None:
            yield fact, reading.parts[part]


def _wrong_values(reading: Reading, parameters: Parameters) -> Iterable[Error]:
    for fact, part in _found(reading):
        if fact.value > 1 - _LEAST_LOSS or fact.found is None:
            continue
        truth, pred = part.side.truth, part.side.pred
        written, given = truth.shown[fact.row][fact.col], pred.shown[fact.found[0]][fact.found[1]]
        place = _place(part, fact.row, fact.col)
        said = f"{_quote(given)} instead of {_quote(written)}" if given else f"{_quote(written)} is lost"
        cost = parameters.value * fact.weight * (1 - fact.value)
        yield Error("wrong_value", {"row": fact.row, "col": fact.col}, f"{place}: {said}.", cost)


def _lost_headers(reading: Reading, parameters: Parameters) -> Iterable[Error]:
    by_column: dict[int, list[tuple[Fact, Comparison]]] = defaultdict(list)
    for fact, part in _found(reading):
        if fact.header < 1 - _LEAST_LOSS:
            by_column[fact.col].append((fact, part))
    for col, found in by_column.items():
        part = found[0][1]
        cost = sum(parameters.header * f.weight * f.value * (1 - f.header) for f, _ in found)
        partner = part.side.alignment.columns.get(col, 0)
        given = _header_text(part.side.pred, part.side.pred_header, partner)
        said = f"is read as {_quote(given)}" if given else "has no header"
        values = f" ({len(found)} values)" if len(found) > 1 else ""
        message = f"Column {_quote(_header(part, col))} {said}{values}."
        yield Error("lost_header", {"row": None, "col": col}, message, cost)


def _lost_names(reading: Reading, parameters: Parameters) -> Iterable[Error]:
    by_row: dict[int, list[tuple[Fact, Comparison]]] = defaultdict(list)
    for fact, part in _found(reading):
        if fact.label < 1 - _LEAST_LOSS:
            by_row[fact.row].append((fact, part))
    for row, found in by_row.items():
        fact, part = found[0]
        cost = sum(parameters.label * f.weight * f.value * f.header * (1 - f.label) for f, _ in found)
        stub = part.side.structure.labels[fact.col]
        partners = [part.side.alignment.columns[s] for s in stub if s in part.side.alignment.columns]
        at = part.side.alignment.rows[row]
        given = " / ".join(t for c in partners if (t := part.side.pred.shown[at][c]))
        said = f"is named {_quote(given)}" if given else "has lost its name"
        values = f" ({len(found)} values)" if len(found) > 1 else ""
        message = f"Row {_quote(_name(part, row, fact.col))} {said}{values}."
        yield Error("lost_name", {"row": row, "col": None}, message, cost)


def _missing(reading: Reading, parameters: Parameters) -> Iterable[Error]:
    rows: dict[int, list[Fact]] = defaultdict(list)
    columns: dict[int, list[Fact]] = defaultdict(list)
    known = {row for part in reading.parts for row in part.side.alignment.rows}
    for fact, _ in reading.facts.values():
        if fact.found is None:
            (columns[fact.col] if fact.row in known or fact.row < _first(reading) else rows[fact.row]).append(
                fact
            )
    for row, facts in rows.items():
        part = reading.parts[0]
        cut = row in reading.cut_off
        weight = parameters.row * (parameters.cut_off if cut else 1.0)
        name = _quote(_name(part, row, part.side.truth.n_cols - 1))
        said = "is missing: the output breaks off before it" if cut else "is missing"
        message = f"Row {name} {said} ({len(facts)} values)."
        kind = "cut_off" if cut else "missing_row"
        yield Error(kind, {"row": row, "col": None}, message, weight * sum(f.weight for f in facts))
    for col, facts in columns.items():
        header = _quote(_header(reading.parts[0], col))
        message = f"Column {header} is missing ({len(facts)} values)."
        cost = parameters.column * sum(f.weight for f in facts)
        yield Error("missing_column", {"row": None, "col": col}, message, cost)


def _invented(reading: Reading, parameters: Parameters) -> Iterable[Error]:
    for index, (row, col) in reading.extras:
        text = reading.parts[index].side.pred.shown[row][col]
        where = {"table": index, "pred_row": row, "pred_col": col}
        message = f"{_quote(text)} in row {row + 1}, column {col + 1} of the output is not in the truth."
        yield Error("invented", where, message, parameters.invented)


def _padded(reading: Reading, lost: Losses, parameters: Parameters) -> Iterable[Error]:
    if lost.padded:
        message = (
            f"The headers or names of {sum(f.padded for f, _ in reading.facts.values())} values have to be "
            "carried into empty cells."
        )
        yield Error(
            "padded", {"row": None, "col": None}, message, parameters.padded * lost.padded / lost.total
        )


def _first(reading: Reading) -> int:
    return reading.parts[0].side.structure.n_header


def _place(part: Comparison, row: int, col: int) -> str:
    return f"Row {_quote(_name(part, row, col))}, column {_quote(_header(part, col))}"


def _header(part: Comparison, col: int) -> str:
    return _header_text(part.side.truth, part.side.structure.n_header, col) or f"number {col + 1}"


def _header_text(sheet: Sheet, n_header: int, col: int) -> str:
    return " / ".join(dict.fromkeys(sheet.shown[r][col] for r in range(n_header) if sheet.shown[r][col]))


def _name(part: Comparison, row: int, col: int) -> str:
    truth = part.side.truth
    names = dict.fromkeys(truth.shown[row][s] for s in part.side.structure.labels[col] if truth.shown[row][s])
    return " / ".join(names) or f"number {row - part.side.structure.n_header + 1}"


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + '…'}”"
