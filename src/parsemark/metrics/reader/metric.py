"""`reader`: could someone who sees the extraction alone reconstruct every value with its headers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsemark.metrics.base import Facts, Metric
from parsemark.metrics.comparable import check_pairs
from parsemark.metrics.prepared import TableInput
from parsemark.metrics.reader.explain import as_details, explain
from parsemark.metrics.reader.parameters import PARAMETERS
from parsemark.metrics.reader.read import read
from parsemark.metrics.reader.verdict import FULL_SCORE, Losses, losses

MAX_CELL_PAIRS = 120_000_000
"""Cells of one table times cells of the other (11,000 each): 4 bytes each, and seconds of work."""


@dataclass(frozen=True)
class Reader(Metric[TableInput]):
    r"""A table as a person reads it, from 0 (nothing can be known from it) to 10 (everything).

    Each value of the truth is a fact: the value, under its column header, in its named row. Notation is
    folded; columns and rows of the extraction are aligned; and each fact is credited with what is left of its
    value, its header and its name. What is lost is weighted by the way it was lost, set in relation to the
    table's size, and bent, since the first errors cost people's trust and the later ones less:
    10 · exp(−(Σ weight · lost / size^s)^b). The numbers are in `parameters.py`, with their meanings.

    Flattened, repeated or padded headers, resolved row spans, empty columns, a table split in two with its
    headers repeated, a caption inside of the table and a transposed table lose nothing or next to nothing.

    `Score.details["errors"]` are the errors that cost points, strongest first: kind, where, message, cost.

    Empty cases: two empty tables have 10; an empty table against another has 0.

    Differences from the reference: there is none; it was fitted to people's ratings and checked against them
    (`docs/reader.md`).

    >>> from parsemark.metrics import score
    >>> truth = "| Model | Acc. |\n|---|---|\n| A | 1.12 |\n| B | 2.31 |\n| C | 3.40 |"
    >>> result = score(truth, truth.replace("1.12", "112"), metrics=["reader"])["reader"]
    >>> result.details["errors"][0]["message"]
    'Row “A”, column “Acc.”: “112” instead of “1.12”.'
    """

    name = "reader"
    facts = Facts(
        title="What a reader can reconstruct",
        kind="table",
        range=(0.0, FULL_SCORE),
        higher_is_better=True,
        symmetric=False,
        citation="parsemark; the question is Horn & Keuper's (2026), section 4.3",
        reference="human ratings of Horn & Keuper",
        both_empty=FULL_SCORE,
        one_empty=0.0,
    )

    def compute(self, truth: TableInput, pred: TableInput) -> tuple[float, Mapping[str, Any]]:
        """The value and the errors."""
        expected, given = truth.pages, pred.pages
        if not expected.sheets or not given.sheets:
            empty = not expected.sheets and not given.sheets
            lost = Losses(total=0.0)
            return (FULL_SCORE if empty else 0.0), as_details([], lost)
        sheet = expected.sheets[0]
        for other in given.sheets:
            check_pairs("cells", sheet.n_rows * sheet.n_cols, other.n_rows * other.n_cols, MAX_CELL_PAIRS)
        reading = read(sheet, expected.structure, given, PARAMETERS)
        lost = losses(reading)
        return lost.score(PARAMETERS), as_details(explain(reading, lost, PARAMETERS), lost)
