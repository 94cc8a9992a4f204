"""`reader`: could someone who sees the extraction alone reconstruct every value with its headers?

A prediction is read against the truth in every form that a reader would accept, and the best counts: upright
or transposed, whole or in several tables with or without headings between them, side by side, with rows
folded into one, with columns run together, or as lines of text.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from parsemark.metrics.base import Metadata, Metric
from parsemark.metrics.reader.align import Likenesses, align
from parsemark.metrics.reader.events import FULL_SCORE, Account, Event, Kind
from parsemark.metrics.reader.find_events import find_events
from parsemark.metrics.reader.pages import Pages, arrangements, forms, layouts, lines_of
from parsemark.metrics.reader.prices import PARAMETERS, Parameters
from parsemark.metrics.reader.regroup import Form, joined_rows, regroup_columns, regroup_rows, unfolded
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure, read_structure
from parsemark.metrics.reader.symbols import with_no_as_in, with_symbols_of, without_citations
from parsemark.metrics.reader.texts import tight
from parsemark.metrics.reader.value_events import Asked, Side
from parsemark.metrics.reader.value_kinds import in_one_way
from parsemark.metrics.table_input import TableInput


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
    (`docs/explanation/reader.md`).

    >>> from parsemark.metrics import score
    >>> truth = "| Model | Acc. |\n|---|---|\n| A | 1.12 |\n| B | 2.31 |\n| C | 3.40 |"
    >>> result = score(truth, truth.replace("1.12", "112"), metrics=["reader"])["reader"]
    >>> result.details["errors"][0]["message"]
    'Row “A”, column “Acc.”: “112” instead of “1.12”.'
    """

    name = "reader"
    metadata = Metadata(
        title="What a reader can reconstruct",
        range=(0.0, FULL_SCORE),
        citation="parsemark; the question is Horn & Keuper's (2026), section 4.3",
        reference="human ratings of Horn & Keuper",
        both_empty=FULL_SCORE,
    )

    def compute(self, truth: TableInput, pred: TableInput) -> tuple[float, Mapping[str, Any]]:
        """Return value and the errors."""
        expected, given = truth.pages, pred.pages
        if not expected.sheets:
            value = 0.0 if given.sheets else FULL_SCORE
            return value, Account((), 0.0).details(PARAMETERS)
        account = read(expected.sheets[0], expected.structure, given, PARAMETERS)
        value = account.score(PARAMETERS) if account.total else 0.0
        return value, account.details(PARAMETERS)


_GOOD_ENOUGH = 9.4  # a reading of at least this value is not tried in another form
_PLAUSIBLE = 0.6
"""Where this share of the values is there and most stand upright, a table is not tried transposed."""
_RELATED = 0.2  # share of the truth's words that a table has to have to be tried in another form
_OF_ROWS = frozenset({Kind.CUT_OFF, Kind.NAME_LOST, Kind.NAME_MISREAD})
_OF_COLUMNS = frozenset({Kind.COLUMN_MISSING, Kind.INVENTED, Kind.VALUE_SHIFTED, Kind.VALUE_LOST})
_OF_BOTH = frozenset({Kind.ROW_MISSING, Kind.CELLS_MERGED})
"""What columns or rows run together look like where they are taken as one."""
_ROUNDING = 1e-9


def read(truth: Sheet, structure: Structure, pages: Pages, parameters: Parameters) -> Account:
    """Return the best account of a prediction as an answer to one table."""
    said = truth.texts, truth.starts, truth.present
    alike = [(sheet.texts, sheet.starts, sheet.present) == said for sheet in pages.sheets]
    if alike == [True] and not pages.as_data:
        return Account((), Asked(truth, structure, parameters.no_value).total)
    # Numbers and other values of all tables are written in one way.
    pairs = [in_one_way(truth, sheet) for sheet in pages.sheets]
    truth = pairs[0][0] if pairs else in_one_way(truth, truth)[0]
    pages = dataclasses.replace(pages, sheets=tuple(pred for _, pred in pairs))
    best: Account | None = None
    others = (in_one_way(other, other)[0] for other in layouts(truth, structure, pages.sheets))
    for layout in chain([truth], others):
        as_given = layout is truth
        asked = Asked(layout, structure if as_given else read_structure(layout), parameters.no_value)
        reader = _Reader(asked, pages, parameters)
        for found in reader.accounts(lines=as_given or not pages.sheets):
            if best is None or found.score(parameters) > best.score(parameters):
                best = found
            if best.score(parameters) >= _GOOD_ENOUGH:
                return best
    nothing = Event(Kind.ROW_MISSING, asked.total, "All is missing: the output has no table.")
    return best or Account((nothing,), asked.total)


def _words(sheet: Sheet) -> set[str]:
    return set(" ".join(map(" ".join, sheet.texts)).split())


class _Reader:
    """Reads one arrangement of a prediction in every form."""

    def __init__(self, asked: Asked, pages: Pages, parameters: Parameters) -> None:
        self.truth, self.structure, self.asked = asked.truth, asked.structure, asked
        self.pages, self.parameters = pages, parameters
        self.likenesses = Likenesses(asked.truth)

    @cached_property
    def words(self) -> set[str]:
        """Return the words of the truth."""
        return _words(self.truth)

    def accounts(self, *, lines: bool) -> Iterable[Account]:
        """Yield the accounts of all ways in which the tables of a prediction, and its lines, can be one
        table.
        """
        for sheet, extra in arrangements(self.pages, self.structure):
            # What it writes in another way, or adds to be clear, as the truth has it.
            alike = with_no_as_in(self.truth, with_symbols_of(self.truth, sheet))
            yield self.sheet(without_citations(self.truth, alike)).plus(extra)
        for sheet, severity in lines_of(self.pages, self.truth) if lines else ():
            yield self.lines(without_citations(self.truth, sheet), severity)

    def sheet(self, pred: Sheet) -> Account:
        """Return the best account of one table, upright, transposed or regrouped."""
        side = self.side(pred)
        best = find_events(side, self.pages.outside)
        if best.score(self.parameters) >= _GOOD_ENOUGH or not self.has_something_of_it(pred):
            return best
        doubtful = best.known < _PLAUSIBLE or not side.stands_upright()
        transposed = [pred.transposed()] if min(pred.n_rows, pred.n_cols) > 1 and doubtful else []
        for form in chain(transposed, forms(pred, self.truth)):
            best = self.better(best, form)
        for form, extra in self.regroupings(side.pred, {event.kind for event in best.events}):
            best = self.better(best, form, extra)
        return best

    def lines(self, pred: Sheet, severity: float) -> Account:
        """Return the account of lines of text."""
        regrouped = regroup_columns(self.truth, pred) if pred.n_cols == 1 else None
        _, sheet = in_one_way(self.truth, regrouped[0] if regrouped else pred)
        found = find_events(self.side(sheet), self.pages.outside)
        message = "The table is given as lines of text."
        return found.plus([Event(Kind.PLAIN_LINES, found.total, message, severity=severity)])

    def has_something_of_it(self, pred: Sheet) -> bool:
        """Return whether a table shares words with the truth; else no other form of it will do."""
        if len(self.words & _words(pred)) >= _RELATED * len(self.words):
            return True
        # Few cells that hold many may have run the words together as well.
        said = "".join(tight(text) for row in pred.texts for text in row)
        few = pred.n_rows * pred.n_cols < self.truth.n_rows
        return few and sum(text in said for text in self.asked.said) >= _RELATED * len(self.asked.said)

    def better(self, best: Account, form: Sheet, extra: tuple[Event, ...] = ()) -> Account:
        """Return the account of the table in another form, which cost `extra`, where it is better than the
        best.
        """
        least = best.score(self.parameters)

        def hopeless(account: Account) -> bool:
            return account.plus(extra).score(self.parameters) < least - _ROUNDING

        side = self.side(in_one_way(self.truth, form)[1])
        found = find_events(side, self.pages.outside, hopeless).plus(extra)
        return found if found.score(self.parameters) > least else best

    def side(self, pred: Sheet) -> Side:
        """Return the truth and a table, aligned, torn rows joined."""
        alignment = align(self.likenesses, pred, self.structure.n_header)
        joined, torn = joined_rows(self.truth, pred, alignment, self.structure.n_header)
        if joined is not pred:
            alignment = align(self.likenesses, joined, self.structure.n_header)
        return Side(self.asked, joined, alignment, torn)

    def regroupings(self, pred: Sheet, kinds: set[Kind]) -> Iterable[Form]:
        """Yield the table with merged rows cut, and with merged columns cut, where something points to
        that.
        """
        few, narrow = pred.n_rows < self.truth.n_rows, pred.n_cols < self.truth.n_cols
        cut: list[Form] = []
        if kinds & (_OF_ROWS | _OF_BOTH):
            rows = regroup_rows(self.truth, pred, self.structure.n_header) if few else None
            cut = [form for form in (unfolded(self.truth, pred), rows) if form]
        yield from cut
        if (narrow and Kind.NAME_LOST in kinds) or kinds & (_OF_COLUMNS | _OF_BOTH):
            cut.append((pred, ()))
        for sheet, extra in cut:
            if (sheet is pred or narrow) and (columns := regroup_columns(self.truth, sheet)):
                yield columns[0], (*extra, *columns[1])
