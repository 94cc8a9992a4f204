"""Reads a prediction against the truth: every table of it, upright or transposed, whole or split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from parsemark.formats import FoundTable
from parsemark.formats.notation import fold_notation
from parsemark.metrics.reader.align import Lookup, align
from parsemark.metrics.reader.credit import credit
from parsemark.metrics.reader.facts import Comparison, Fact, Position, Side
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.rejoin import joined_rows
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure, read_structure
from parsemark.metrics.reader.verdict import Reading

_MOST_TABLES = 8
"""Of a prediction with more tables, the first ones are read."""
_GOOD_ENOUGH = 0.6
"""Where this share is known upright, the table is not tried transposed."""


@dataclass(frozen=True)
class Pages:
    """All that a text shows: its tables as sheets, and the text around them."""

    sheets: tuple[Sheet, ...]
    outside: str = ""

    @classmethod
    def from_found(cls, found: list[FoundTable], text: str) -> Pages:
        """The tables of a text and the folded text around them."""
        sheets = [Sheet.from_table(f.table) for f in found]
        pieces, end = [], 0
        for f in found:
            pieces.append(text[end : f.start])
            end = max(end, f.end)
        pieces.append(text[end:])
        return cls(tuple(s for s in sheets if s.n_rows)[:_MOST_TABLES], fold_notation(" ".join(pieces)))

    @cached_property
    def structure(self) -> Structure:
        """The headers of the first table."""
        return read_structure(self.sheets[0])


def read(truth: Sheet, structure: Structure, pages: Pages, parameters: Parameters) -> Reading:
    """Read all tables of a prediction as answers to one table."""
    parts: list[Comparison] = []
    for sheet in pages.sheets:
        part = _compare(truth, structure, sheet, parameters, pages.outside)
        if parts and part.side.pred_header == 0 and sheet.n_cols == parts[0].side.pred.n_cols:
            # A table that goes on without its headers: the reader remembers them.
            continued = sheet.below(parts[0].side.pred, parts[0].side.pred_header)
            part = _compare(truth, structure, continued, parameters, pages.outside)
        parts.append(part)
    return together(tuple(parts))


def _compare(
    truth: Sheet, structure: Structure, pred: Sheet, parameters: Parameters, outside: str
) -> Comparison:
    upright = _upright(truth, structure, pred, parameters, outside)
    if upright.known >= _GOOD_ENOUGH or min(pred.n_rows, pred.n_cols) < 2:
        return upright
    turned = _upright(truth, structure, pred.transposed(), parameters, outside)
    return turned if turned.known > upright.known else upright


def _upright(
    truth: Sheet, structure: Structure, pred: Sheet, parameters: Parameters, outside: str
) -> Comparison:
    alignment = align(Lookup(truth, pred), structure.n_header)
    joined = joined_rows(truth, pred, alignment, parameters)
    if joined is not pred:
        alignment = align(Lookup(truth, joined), structure.n_header)
    return credit(Side(truth, structure, joined, alignment), parameters, outside)


def together(parts: tuple[Comparison, ...]) -> Reading:
    """What is known from several tables: of each value the best that any of them says."""
    facts: dict[Position, tuple[Fact, int]] = {}
    for index, part in enumerate(parts):
        for place, fact in part.facts.items():
            known = facts.get(place)
            if known is None or fact.credit > known[0].credit or (known[0].found is None and fact.found):
                facts[place] = (fact, index)
    extras = tuple((index, place) for index, part in enumerate(parts) for place in part.extras)
    return Reading(parts, facts, extras, _cut_off(parts))


def _cut_off(parts: tuple[Comparison, ...]) -> frozenset[int]:
    """The last rows of the truth if they are missing and the last row before them is not complete."""
    rows = {t: (p, part.side) for part in parts for t, p in part.side.alignment.rows.items()}
    if not rows:
        return frozenset()
    last = max(rows)
    at, side = rows[last]
    complete = sum(side.pred.present[at]) >= sum(side.truth.present[last])
    if complete or at != side.pred.n_rows - 1:
        return frozenset()
    return frozenset(range(last + 1, side.truth.n_rows))
