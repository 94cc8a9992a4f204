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


def latex(*lines: str, n_header: int = 1) -> str:
    width = lines[-1].count("&") + 1
    marked = [line + r" \\" for line in lines]
    body = "\n".join([r"\toprule", *marked[:n_header], r"\midrule", *marked[n_header:], r"\bottomrule"])
    return f"\\begin{{tabular}}{{{'l' * width}}}\n{body}\n\\end{{tabular}}"


def told(truth: str, pred: str) -> str:
    """All that is said about two tables."""
    return " ".join(error["message"] for error in read(truth, pred).details["errors"])
