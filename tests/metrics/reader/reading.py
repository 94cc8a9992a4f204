"""What `reader` says of two tables, for its tests."""

from __future__ import annotations

from parsemark.metrics import score
from parsemark.model import Score, Status, Table


def read(truth: str | Table, pred: str | Table) -> Score:
    return score(truth, pred, metrics=["reader"])["reader"]


def value(truth: str | Table, pred: str | Table) -> float:
    found = read(truth, pred)
    assert found.status is Status.OK and found.value is not None, found.message
    return found.value
