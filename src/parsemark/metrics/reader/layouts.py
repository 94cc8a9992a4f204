"""The truth laid out in other ways that say the same, where a prediction points to one of them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable

from parsemark.metrics.reader.likeness import is_numeric, tight
from parsemark.metrics.reader.marks import answers
from parsemark.metrics.reader.pages import MOST_LINES, NARROW, Pages
from parsemark.metrics.reader.paths import holds
from parsemark.metrics.reader.rejoin import lines_joined
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.stack import MOST_KEYS, parts_beside, pivoted, recorded, stacked, widened
from parsemark.metrics.reader.structure import Structure

_TOP_ROWS = 3
"""Rows of a prediction in which headers are looked for."""


def layouts(truth: Sheet, structure: Structure, pages: Pages) -> Iterable[Sheet]:
    """The truth in other layouts."""
    found = (
        lines_joined(truth, structure.n_header, pages.sheets),
        _below_each_other(truth, structure),
        answers(truth) if all(sheet.n_cols <= NARROW for sheet in pages.sheets) else None,
        parts_beside(truth),
        recorded(truth),
        pivoted(truth),
        *(widened(truth, _heads(truth, sheet)) for sheet in pages.sheets[:1]),
    )
    return (layout for layout in found if layout is not None)


def _heads(truth: Sheet, pred: Sheet) -> frozenset[str]:
    """What the truth says again and again, and the prediction in its first rows, tight."""
    over = " | ".join(text for row in pred.texts[:_TOP_ROWS] for text in row if text)
    texts = Counter(text for row in truth.texts[1:] for text in row[:MOST_KEYS] if text)
    again = [text for text, count in texts.items() if count > 1 and not is_numeric(text)]
    return frozenset(tight(text) for text in again[:MOST_LINES] if holds(over, text))


def _below_each_other(truth: Sheet, structure: Structure) -> Sheet | None:
    """The truth with the tables that stand beside each other in it put below each other."""
    begins = [c for c, labels in enumerate(structure.labels) if not labels]
    ends = [*begins[1:], truth.n_cols]
    widths = {end - begin for begin, end in zip(begins, ends, strict=True)}
    if len(begins) < 2 or len(widths) > 1 or widths == {1}:
        return None
    blocks = []
    for begin, end in zip(begins, ends, strict=True):
        columns = list(range(begin, end))
        rows = [r for r in range(truth.n_rows) if any(truth.present[r][c] for c in columns)]
        block = truth.part(rows, columns)
        blocks.append(dataclasses.replace(block, header_rows=structure.n_header))
    return stacked(blocks, [""] * len(blocks))
