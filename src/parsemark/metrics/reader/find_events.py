"""Finds the events between the truth and one aligned table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

from parsemark.formats.notation import fold_notation
from parsemark.metrics.reader.events import Account, Causes, Event, Kind
from parsemark.metrics.reader.likeness import ALIKE, NEAR, likeness
from parsemark.metrics.reader.naming import COLUMNS, ROWS, Around, Named, NameJudge
from parsemark.metrics.reader.paths import How, Path, column_paths, counted_paths
from parsemark.metrics.reader.presence import lost_and_invented, moved_rows
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import filled_down, is_heading, is_section
from parsemark.metrics.reader.texts import tight
from parsemark.metrics.reader.values import Side

_POINTERS = str.maketrans("\\↓→", "///")


def find_events(side: Side, outside: str, hopeless: Callable[[Account], bool] = lambda _: False) -> Account:
    """All events between the truth and an aligned table, with the folded text outside of the predicted one.

    Some of them suffice where these are `hopeless`: each further one can only make the account worse.
    """
    asked = side.asked
    moved = moved_rows(side)
    lost = lost_and_invented(side, moved, outside)
    if hopeless(account := Account(lost, asked.total)):
        return account
    causes = Causes()
    side.compare(causes)
    _find_moves(side, moved, causes)
    of_values = (*causes.events(), *lost)
    if hopeless(account := Account(of_values, asked.total)):
        return account
    causes = Causes()
    if side.alignment.rows:
        heads = tuple(tuple(filter(None, side.pred.texts[r])) for r in range(side.pred_header))
        around = Around(outside, heads, _corner(side), asked.only_beside_rows)
        NameJudge(_columns(side), COLUMNS, around, causes).judge()
        if hopeless(account := Account((*causes.events(), *of_values), asked.total)):
            return account
        around = Around(outside, corner=around.corner, of_others=asked.only_over_columns)
        NameJudge(_rows(side), ROWS, around, causes).judge()
    return Account((*causes.events(), *of_values), asked.total)


def _corner(side: Side) -> str:
    """What the corner says, which may name all rows and all columns: `Actual / Predicted`."""
    valued = [p for c, p in side.alignment.columns.items() if c not in side.structure.stubs]
    cells = [side.pred.shown[r][c] for r in range(side.pred_header) for c in range(min(valued, default=0))]
    return fold_notation(" ".join(cells).translate(_POINTERS))


def _find_moves(side: Side, slipped: Iterable[int], causes: Causes) -> None:
    """Rows whose cells have slipped, and rows and columns that are given in another order."""
    of_row, of_column = side.asked.of_row, side.asked.of_column
    for row in slipped:
        message = f"Row {side.name(row)}: its cells have slipped."
        causes.add(Event(Kind.VALUE_SHIFTED, of_row[row], message, {"row": row, "col": None}))
    for row in sorted(side.alignment.moved_rows & set(of_row)):
        message = f"Row {side.name(row)}: given in another order."
        causes.add(Event(Kind.MOVED, of_row[row], message, {"row": row, "col": None}), "row")
    for col in sorted(side.alignment.moved_columns):
        message = f"Column {side.header(col)}: given in another order."
        causes.add(Event(Kind.MOVED, of_column.get(col, 1.0), message, {"row": None, "col": col}), "column")


def _columns(side: Side) -> Iterable[Named]:
    """The columns of the truth with their headers."""
    header, stubs, partners = range(side.structure.n_header), side.structure.stubs, side.alignment.columns
    truth = column_paths(side.truth, header, How.GIVEN)
    padded = column_paths(side.truth, header, How.CARRIED)
    # A truth that says how far its groups reach leaves none to be filled.
    told = any(side.truth.goes_on(r, c) for r in header for c in range(len(truth)))
    rows = [r for r in range(side.pred_header) if not _is_caption(side, r, truth)]
    groups = [_groups(side.truth, r, partners) for r in header]
    heads, torn = _mended(side, rows, groups)
    read_so = {how: column_paths(heads, rows, how) for how in (How.GIVEN, How.CARRIED, How.SHORT)}
    read_so[How.COUNTED] = counted_paths(heads, rows, sorted(partners.values()), groups)
    for col, path in enumerate(truth):
        partner = partners.get(col)
        readings: tuple[tuple[How, Path], ...] = ((How.GIVEN, ()),)
        if partner is None and col not in stubs:
            continue  # the column is missing, header and all
        if partner is not None:
            readings = tuple((how, paths[partner]) for how, paths in read_so.items())
            given, carried = readings[0][1], readings[1][1]
            if col in side.units and side.unit_is_told(col) and given:
                continue  # its unit stands in the cells instead
            # The truth itself may leave a group's further cells empty, as the prediction does, or fills them.
            if padded[col] != path and (
                (padded[col] == given and not told) or padded[col] == carried != given
            ):
                continue
        extent = max(1.0, side.asked.of_column.get(col, 0.0))
        # The only column of values is known without a name.
        needed = col not in stubs and len(truth) - len(stubs) > 1
        where = {"row": None, "col": col}
        yield Named(path, readings, extent, where, needed, partner in torn, side.header(col))


def _mended(side: Side, rows: list[int], groups: list[list[list[int]]]) -> tuple[Sheet, set[int]]:
    """The prediction with group headers put together that were cut at the columns, and these columns."""
    texts = [list(row) for row in side.pred.texts]
    torn: set[int] = set()
    for row, columns in ((row, columns) for row, named in enumerate(groups) for columns in named):
        if len(columns) < 2:
            continue
        written = side.truth.texts[row][side.alignment.column_of[columns[0]]]
        name = tight(written)
        for at in rows:
            pieces = [side.pred.texts[at][p] for p in sorted(columns)]
            cut = len({*filter(None, pieces)}) > 1 and all(tight(p) != name for p in pieces)
            if cut and likeness(name, tight("".join(pieces))) > ALIKE:
                for p in columns:
                    texts[at][p] = written
                torn.update(columns)
    return (side.pred.with_texts(texts) if torn else side.pred), torn


def _groups(truth: Sheet, row: int, partners: dict[int, int]) -> list[list[int]]:
    """For each name in a header row of the truth the columns of the prediction that it names."""
    groups: list[list[int]] = []
    for col, text in enumerate(truth.texts[row]):
        if text and truth.starts[row][col]:
            groups.append([])
        if text and groups and col in partners:
            groups[-1].append(partners[col])
    return groups


def _is_caption(side: Side, row: int, truth: list[Path]) -> bool:
    """Whether a row above the data is one text for the whole table, and no header of the truth."""
    if not is_section(side.pred, row):
        return False
    text = side.pred.texts[row][0]
    return not any(likeness(level, text) > NEAR for path in truth for level in path)


def _rows(side: Side) -> Iterable[Named]:
    """The rows of the truth with their names: section heading and label cells."""
    truth, pred, own = side.truth, side.pred, side.asked.names
    partners = [(c, p) for c in own if (p := side.alignment.columns.get(c)) is not None]
    # The names of the prediction: all columns left of its first value, and those that answer label columns.
    answered = {p for _, p in partners}
    valued = [p for c, p in side.alignment.columns.items() if c not in side.structure.stubs]
    leading = set(range(min(valued, default=0))) - set(valued)
    columns = sorted(answered | leading)
    given = filled_down(pred, columns, side.pred_header, hanging=True)
    below = {c: [row[c] for row in pred.texts] for c in columns}
    for c, row in product(columns, range(pred.n_rows - 2, side.pred_header - 1, -1)):
        below[c][row] = below[c][row] or below[c][row + 1]
    body = range(side.structure.n_header, truth.n_rows)
    sections = _sections_above(side, {tight(texts[r]) for texts in own.values() for r in body if texts[r]})
    headings = {tight(truth.texts[r][0]) for r in side.structure.sections}
    # The heading of the first rows may have fallen into the header over them.
    over = [pred.texts[r][c] for r in range(side.pred_header) for c in columns if headings]
    first = next((text for text in over if text and tight(text) in headings), "")
    for row, extent in side.asked.of_row.items():
        at = side.alignment.rows.get(row)
        if at is None:
            continue
        path = _distinct(side.asked.section_of[row], *(texts[row] for texts in own.values()))
        above = sections[at]
        carried = [given[c][at] for c in columns]
        # Where the truth leaves a name out itself, nothing is asked that it does not ask.
        emptied = any(truth.present[row][c] and not pred.present[at][p] for c, p in partners)
        readings = [(How.GIVEN, _distinct(above, *(pred.texts[at][c] for c in columns)))]
        readings.append((How.CARRIED if emptied else How.GIVEN, _distinct(above, *carried)))
        if emptied:
            # The name of several rows may stand at the middle one of them.
            readings.append((How.SHORT, _distinct(above, *(below[c][at] for c in columns))))
        if first and not above:
            readings.append((How.SHORT, _distinct(first, *carried)))
        where = {"row": row, "col": None}
        yield Named(path, tuple(readings), extent, where, needed=len(side.asked.of_row) > 1)


def _distinct(*texts: str) -> Path:
    return tuple(dict.fromkeys(filter(None, texts)))


def _sections_above(side: Side, names: set[str]) -> list[str]:
    """For each predicted row the section heading above it.

    A heading is what answers one of the truth, or a row that says nothing but its first text and answers no
    row of data. Above the data it has to be a name of the truth: else it is a header.
    """
    pred, structure = side.pred, side.structure
    found, section = [], ""
    for row, texts in enumerate(pred.texts):
        answered = side.alignment.row_of.get(row)
        if answered is not None:
            heading = answered in structure.sections
        else:
            heading = is_heading(pred, row)
            heading = heading and (row >= side.pred_header or tight(texts[0]) in names)
        section = next(filter(None, texts), "") if heading else section
        found.append("" if heading else section)
    return found
