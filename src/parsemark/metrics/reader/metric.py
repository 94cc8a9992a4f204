"""`reader`: could someone who sees the extraction alone reconstruct every value with its headers?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsemark.metrics.base import Facts, Metric
from parsemark.metrics.prepared import TableInput
from parsemark.metrics.reader.best_reading import read
from parsemark.metrics.reader.events import FULL_SCORE, Account
from parsemark.metrics.reader.parameters import PARAMETERS


@dataclass(frozen=True)
class Reader(Metric[TableInput]):
    r"""A table as a person reads it, from 0 (nothing can be known from it) to 10 (everything).

    Notation is folded, and columns and rows of the extraction are aligned. The difference that is left is
    explained by few *events*: a header lost, misread or moved; rows or columns missing, merged, split or
    invented; values wrong. Each is found once, with the number of values that it touches, and has a price
    by its kind that grows slowly with its extent: 10 · exp(−(Σ price · severity · extent^g)^b), times the
    share of values that are there at all. A header or a name is judged by whether it still tells which
    column or row it is. The numbers are in `parameters.py`, with their meanings.

    Flattened, repeated or padded headers, resolved row spans, empty columns, sections given as headings over
    tables of their own, row groups folded line by line, a title or caption inside or above, look-alikes
    and a transposed table lose nothing or next to nothing.

    `Score.details["errors"]` are the events, strongest first: kind, extent, where, message, cost in points;
    `details["counts"]` has their number by kind, and `details["n_values"]` the number of values asked for.

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
        if not expected.sheets:
            value = 0.0 if given.sheets else FULL_SCORE
            return value, Account((), 0.0).details(PARAMETERS)
        account = read(expected.sheets[0], expected.structure, given, PARAMETERS)
        value = account.score(PARAMETERS) if account.total else 0.0
        return value, account.details(PARAMETERS)
