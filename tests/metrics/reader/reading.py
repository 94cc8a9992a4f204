"""What `reader` says of two tables, for its tests."""

from __future__ import annotations

from parsemark.metrics import score
from parsemark.model import Score, Status, Table

Rows = list[list[str]]
"""The texts of a table, row by row."""


def read(truth: str | Table, pred: str | Table) -> Score:
    return score(truth, pred, metrics=["reader"])["reader"]


def value(truth: str | Table, pred: str | Table) -> float:
    found = read(truth, pred)
    assert found.status is Status.OK and found.value is not None, found.message
    return found.value


def rows(*lines: str) -> Rows:
    return [[cell.strip() for cell in line.split("&")] for line in lines]


def markdown(table: Rows) -> str:
    lines = [table[0], ["---"] * len(table[0]), *table[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
