"""Made pages: tables that a parser cut in pieces, with the assignment that is known from the cutting."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from random import Random

from parsemark.model import Box, Element, Table

WORDS = (
    *("alpha", "river", "cost", "share", "north", "stone", "yield", "glass"),
    *("copper", "total", "field", "metric", "lemon", "basin", "orbit", "delta"),
)
Rows = list[list[str]]


@dataclass(frozen=True)
class CutPage:
    """Truths, what a parser made of them, and the truth that each prediction is a piece of."""

    truth: list[Element]
    pred: list[Element]
    known: list[int | None]


def cut_page(seed: int) -> CutPage:
    """One page: one to four tables, each whole or cut, below or beside each other, with or without boxes."""
    rng = Random(seed)
    n = rng.choice([1, 2, 2, 2, 3, 3, 4])
    shared = _header(rng, rng.randint(2, 6)) if rng.random() < 0.6 else None
    labels = [_text(rng, "words") for _ in range(14)] if rng.random() < 0.3 else None
    tables = [_rows(rng, shared, labels) for _ in range(n)]
    beside = n > 1 and rng.random() < 0.25
    boxed = rng.random() < 0.5
    places = [
        Box(50 + 260 * k, 100, 290 + 260 * k, 700) if beside else Box(50, 100 + 170 * k, 500, 250 + 170 * k)
        for k in range(n)
    ]
    truth = [_element(f"t{k}", rows, places[k] if boxed else None) for k, rows in enumerate(tables)]
    cuts = [_cut(rng, rows) for rows in tables]
    pieces = [(k, *piece) for k, parts in enumerate(cuts) for piece in parts]
    if beside and rng.random() < 0.7:  # read across: the first pieces of all, then the second ones
        pieces.sort(key=lambda piece: piece[2][0])
    elif n > 1 and rng.random() < 0.2:  # another table between the pieces of the first
        own = [piece for piece in pieces if piece[0] == 0]
        pieces = [*own[:1], *(p for p in pieces if p[0] == 1), *own[1:], *(p for p in pieces if p[0] > 1)]
    pred, known = [], []
    noise = rng.choice([0.0, 0.0, 0.03])
    for k, rows, part in pieces:
        read = [["".join("x" if rng.random() < noise else c for c in text) for text in row] for row in rows]
        pred.append(_element(f"p{len(pred)}", read, _inside(places[k], part) if boxed else None))
        known.append(k)
    if rng.random() < 0.2:
        junk = [
            [f"{rng.choice('qzjvw')}{rng.randint(0, 9)}§{rng.choice('kyq')}" * 2 for _ in range(3)]
            for _ in range(4)
        ]
        pred.append(_element(f"p{len(pred)}", junk, Box(50, 800, 500, 830) if boxed else None))
        known.append(None)
    return CutPage(truth, pred, known)


def _element(name: str, rows: Rows, box: Box | None) -> Element:
    return Element(name, "table", box=box, table=Table.from_rows(rows))


def _inside(box: Box, part: tuple[float, float, float, float]) -> Box:
    x0, y0, x1, y1 = part[1], part[0], part[3], part[2]
    return Box(
        box.x0 + x0 * box.width, box.y0 + y0 * box.height, box.x0 + x1 * box.width, box.y0 + y1 * box.height
    )


def _text(rng: Random, kind: str) -> str:
    if kind == "words":
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 2)))
    if kind == "short":
        return str(rng.randint(0, 99))
    return f"{rng.randint(0, 9999)}.{rng.randint(0, 99):02}"


def _header(rng: Random, n_cols: int) -> list[str]:
    return [_text(rng, "words") for _ in range(n_cols)]


def _rows(rng: Random, shared: list[str] | None, labels: list[str] | None) -> Rows:
    header = shared if shared is not None and rng.random() < 0.9 else _header(rng, rng.randint(2, 6))
    kind = rng.choice(["words", "numbers", "numbers", "short"])
    return [header] + [
        [labels[r] if labels else _text(rng, "words"), *(_text(rng, kind) for _ in header[1:])]
        for r in range(rng.randint(2, 12))
    ]


def _cut(rng: Random, rows: Rows) -> list[tuple[Rows, tuple[float, float, float, float]]]:
    """Pieces in reading order, each with its part of the table (top, left, bottom, right, from 0 to 1)."""
    n_rows, n_cols = len(rows), len(rows[0])
    how = rng.choice(["whole", "header", "header", "rows", "rows", "repeated", "columns", "both", "lost"])
    if how == "whole":
        return [(rows, (0, 0, 1, 1))]
    if how == "header" or n_rows < 3:
        return [(rows[:1], (0, 0, 1 / n_rows, 1)), (rows[1:], (1 / n_rows, 0, 1, 1))]
    at = [0, n_rows] if how == "columns" else _edges(rng, n_rows, 2 if how == "both" else 4)
    if (
        how == "repeated"
    ):  # a header alone, followed by the whole table, would be a table and something invented
        at = [0, rng.randint(2, n_rows - 1), n_rows]
    across = _edges(rng, n_cols, 3) if how in ("columns", "both") else [0, n_cols]
    pieces = [
        (
            [row[left:right] for row in (rows[:1] if how == "repeated" and top else []) + rows[top:bottom]],
            (top / n_rows, left / n_cols, bottom / n_rows, right / n_cols),
        )
        for top, bottom in itertools.pairwise(at)
        for left, right in itertools.pairwise(across)
    ]
    if how == "lost" and len(pieces) > 1:
        pieces.pop(rng.randrange(len(pieces)))
    return pieces


def _edges(rng: Random, n: int, most: int) -> list[int]:
    inner = rng.sample(range(1, n), min(rng.randint(1, most - 1), n - 1)) if n > 1 else []
    return [0, *sorted(inner), n]
