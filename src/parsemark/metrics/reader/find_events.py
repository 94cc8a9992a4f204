"""Finds the events between the truth and one aligned table: what is missing, invented, moved or misnamed."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import groupby, product
from operator import and_

from parsemark.formats.notation import fold_notation
from parsemark.metrics.reader.events import UNASKED, Account, Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import ALIKE, NEAR, likeness
from parsemark.metrics.reader.name_events import COLUMNS, ROWS, Named, NameJudge
from parsemark.metrics.reader.paths import How, Path, column_paths, counted_paths, holds, worded
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import filled_down, is_heading, is_section
from parsemark.metrics.reader.texts import is_numeric, tight
from parsemark.metrics.reader.value_events import Position, Side

_CAPTION_LINES = 2
_NAMED = 0.4  # severity of columns that moved, against 1 for rows: each has its header
_BESIDE = 0.3  # severity of rows given as text beside the table, against 1 for all of it
_POINTERS = str.maketrans("\\↓→", "///")


def find_events(side: Side, outside: str, hopeless: Callable[[Account], bool] = lambda _: False) -> Account:
    """Return all events between the truth and an aligned table, with the folded text outside of the predicted
    one.

    Some of them suffice where these are `hopeless`: each further one can only make the account worse.
    """
    asked, pred = side.asked, side.pred
    lost = (*_missing(side, outside), *_invented(side), *_notes_lost(side, outside))
    if hopeless(account := Account(lost, asked.total)):
        return account
    causes = Causes()
    side.compare(causes)
    _find_moves(side, causes)
    of_values = (*causes.events(), *lost)
    if hopeless(account := Account(of_values, asked.total)):
        return account
    causes = Causes()
    if side.alignment.rows:
        heads = range(side.pred_header)
        # What the corner says, which may name all rows and all columns: `Actual / Predicted`.
        cells = [pred.shown[r][c] for r in heads for c in range(min(side.valued.values(), default=0))]
        corner = fold_notation(" ".join(cells).translate(_POINTERS))
        headers = [tuple(filter(None, pred.texts[r])) for r in heads]
        NameJudge(_columns(side), COLUMNS, causes, outside, corner, asked.only_beside_rows, headers).judge()
        if hopeless(account := Account((*causes.events(), *of_values), asked.total)):
            return account
        NameJudge(_rows(side), ROWS, causes, outside, corner, asked.only_over_columns).judge()
    return Account((*causes.events(), *of_values), asked.total)


def _missing(side: Side, outside: str) -> Iterable[Event]:
    """Yield rows and columns that nothing answers, neighbours as one event, and all rows that are torn as
    one.
    """
    of_row, of_column = side.asked.of_row, side.asked.of_column
    gone = of_row.keys() - side.alignment.rows.keys()
    cut = _cut_off(side)
    missing = [r for r in of_row if r in gone and r not in side.slipped]
    beside = [r for r in missing if _is_told_in(outside, side.truth.texts[r])]
    if beside:
        message = f"Row {side.name(beside[0])}{_and_more(beside)}: given as text outside of the table."
        extent = sum(of_row[r] for r in beside)
        yield Event(Kind.PLAIN_LINES, extent, message, {"row": beside[0], "col": None}, _BESIDE)
    missing = [r for r in missing if r not in beside]
    for run in _runs(missing, list(of_row)):
        kind = Kind.CUT_OFF if run[-1] in cut else Kind.ROW_MISSING
        why = ": the output breaks off before" if run[-1] in cut else ""
        message = f"Row {side.name(run[0])}{_and_more(run)}: missing{why}."
        yield Event(kind, sum(of_row[r] for r in run), message, {"row": run[0], "col": None})
    columns = [c for c in sorted(of_column) if c not in side.alignment.columns]
    for run in _runs(columns, sorted(of_column)):
        extent = sum(w for (r, c), w in side.asked.weights.items() if c in run and r not in gone)
        if extent:
            message = f"Column {side.header(run[0])}{_and_more(run)}: missing."
            yield Event(Kind.COLUMN_MISSING, extent, message, {"row": None, "col": run[0]})
    torn = [r for r in of_row if r in side.torn]
    if torn:
        message = f"Row {side.name(torn[0])}{_and_more(torn)}: torn into several rows."
        yield Event(Kind.ROW_SPLIT, sum(of_row[r] for r in torn), message, {"row": torn[0], "col": None})


def _is_told_in(outside: str, texts: list[str]) -> bool:
    """Return whether a name and values stand together in the text outside of the table."""
    said = list(filter(None, texts))
    if len(said) < 2 or is_numeric(said[0]):
        return False
    line = r"\W{1,5}".join(map(re.escape, said))
    return re.search(rf"(?<!\w){line}(?!\w)", outside) is not None


def _notes_lost(side: Side, outside: str) -> Iterable[Event]:
    """Yield notes below the data that stand neither in the prediction nor around it."""
    row = side.truth.n_rows - 1
    while row in side.structure.sections:
        words = worded(side.truth.texts[row][0]).split()
        said = {word for text in (outside, *side.pred.said) for word in worded(text).split()}
        if 2 * sum(word in said for word in words) < len(words):
            message = f"The note {quote(side.truth.shown[row][0])} is lost."
            yield Event(Kind.SECTION_LOST, 1.0, message, {"row": row, "col": 0})
        row -= 1


def _runs(chosen: list[int], all_of_them: list[int]) -> Iterable[list[int]]:
    """Yield neighbours among all of them, together."""
    rank = {value: k for k, value in enumerate(all_of_them)}
    for _, run in groupby(enumerate(chosen), key=lambda pair: rank[pair[1]] - pair[0]):
        yield [value for _, value in run]


def _and_more(run: list[int]) -> str:
    return f" and {len(run) - 1} more" if len(run) > 1 else ""


def _cut_off(side: Side) -> range:
    """Return the last rows of the truth if they are missing and the last row before them is not complete."""
    last = max(side.alignment.rows, default=side.truth.n_rows)
    at = side.alignment.rows.get(last)
    if at is None or at != side.pred.n_rows - 1:
        return range(0)
    begun = sum(map(and_, side.truth.present[last], side.truth.starts[last]))
    return range(last + 1, side.truth.n_rows) if sum(side.pred.present[at]) < begun else range(0)


def _says_in_row(side: Side, row: int, text: str) -> bool:
    """Return whether a text stands in a row, in the section heading above it, or is a part of its name."""
    if tight(text) in map(tight, (side.asked.section_of.get(row, ""), *side.truth.texts[row])):
        return True
    return not is_numeric(text) and any(holds(names[row], text) for names in side.asked.names.values())


def _invented(side: Side) -> Iterable[Event]:
    """Yield the rows, columns and single values that are in the prediction but not in the truth."""
    pred, rows, cols = side.pred, side.alignment.row_of, side.alignment.column_of
    truth, asked, slipped = side.truth, side.asked, {*side.slipped.values()}

    def again(row: int, text: str) -> bool:
        """Return whether a number is given once more than the truth has it in this row."""
        theirs = sum(pred.texts[row][p] == text for p in cols)
        return is_numeric(text) and theirs >= truth.texts[rows[row]].count(text)

    # One line or two above the data may be a caption; a line that stands above and below is none.
    above = [r for r in range(side.pred_header) if is_section(pred, r)]
    foreign = [r for r in above if tight(pred.texts[r][0]) not in asked.said]
    heads = {tuple(pred.texts[r]) for r in range(side.pred_header) if r not in foreign}
    by_row: Counter[int] = Counter(foreign[_CAPTION_LINES:])
    by_column: defaultdict[int, set[int]] = defaultdict(set)
    single: list[Position] = []
    for r in range(side.pred_header, pred.n_rows):
        answered = rows.get(r)
        if r in slipped or (answered is None and tuple(pred.texts[r]) in heads):
            continue  # a row that slipped, or a header that comes again
        section = answered is None and is_heading(pred, r)
        for c, (text, start) in enumerate(zip(pred.texts[r], pred.starts[r], strict=True)):
            if not text or not start:
                continue
            if answered is None:
                # What the truth says elsewhere is moved, not invented: a heading, a name given again.
                by_row[r] += 0 if section and tight(text) in asked.said else 1
            elif c not in cols:
                if not _says_in_row(side, answered, text) or again(r, text):
                    by_column[c].add(r)
            elif not truth.present[answered][cols[c]]:
                names = asked.names.get(cols[c])
                if names is None or names[answered] != text:
                    single.append((r, c))
    # A header that comes again between invented rows, or a row that slipped, does not part them.
    counted = sorted(r for r in range(pred.n_rows) if r in rows or by_row[r])
    answering = {tuple(pred.texts[r]) for r in rows}
    for run in _runs([r for r in counted if r not in rows], counted):
        twice = answering.issuperset(tuple(pred.texts[r]) for r in run)
        shown = quote(" ".join(filter(None, pred.shown[run[0]])))
        what = "given twice" if twice else "not in the truth"
        message = f"Row {shown}{_and_more(run)} of the output: {what}."
        extent = float(sum(by_row[r] for r in run))
        where = {"pred_row": run[0], "pred_col": None}
        yield Event(Kind.INVENTED, extent, message, where, UNASKED if twice else 1.0)
    for run in _runs(sorted(by_column), list(range(pred.n_cols))):
        message = f"Column {run[0] + 1}{_and_more(run)} of the output: not in the truth."
        touched = len(set().union(*(by_column[c] for c in run)))
        # A row that runs away touches itself, however far it runs.
        extent = float(min(sum(len(by_column[c]) for c in run), touched * truth.n_cols))
        yield Event(Kind.INVENTED, extent, message, {"pred_row": None, "pred_col": run[0]})
    for r, c in sorted({*single} - {*side.went_to.values()} if single else ()):
        message = f"{quote(pred.shown[r][c])} in row {r + 1}, column {c + 1} of the output: not in the truth."
        yield Event(Kind.INVENTED, 1.0, message, {"pred_row": r, "pred_col": c})


def _find_moves(side: Side, causes: Causes) -> None:
    """Find rows whose cells have slipped, and rows and columns that are given in another order."""
    of_row, of_column = side.asked.of_row, side.asked.of_column
    for row in side.slipped:
        message = f"Row {side.name(row)}: its cells have slipped."
        causes.add(Event(Kind.VALUE_SHIFTED, of_row[row], message, {"row": row, "col": None}))
    for row in sorted(side.alignment.moved_rows & set(of_row)):
        message = f"Row {side.name(row)}: given in another order."
        causes.add(Event(Kind.MOVED, of_row[row], message, {"row": row, "col": None}), "row")
    for col in sorted(side.alignment.moved_columns):
        message = f"Column {side.header(col)}: given in another order."
        where, extent = {"row": None, "col": col}, of_column.get(col, 1.0)
        causes.add(Event(Kind.MOVED, extent, message, where, _NAMED), "column")


def _columns(side: Side) -> Iterable[Named]:
    """Yield the columns of the truth with their headers."""
    header, stubs, partners = range(side.structure.n_header), side.structure.stubs, side.alignment.columns
    truth = column_paths(side.truth, header, How.GIVEN)
    padded = column_paths(side.truth, header, How.REPEATED)
    # A truth that says how far its groups reach leaves none to be filled.
    told = any(side.truth.goes_on(r, c) for r in header for c in range(len(truth)))
    # One text over the whole table that is no header of the truth is its caption.
    levels, said = {level for path in truth for level in path}, side.pred.texts
    above = [r for r in range(side.pred_header) if is_section(side.pred, r)]
    captions = {r for r in above if not any(likeness(level, said[r][0]) > NEAR for level in levels)}
    rows = [r for r in range(side.pred_header) if r not in captions]
    groups = [_groups(side.truth, r, partners) for r in header]
    heads, torn = _mended(side, rows, groups)
    given_paths = column_paths(heads, rows, How.GIVEN)
    is_filled = all(all(heads.present[r]) for r in rows)  # then there is nothing to carry
    read_so = {
        how: given_paths if is_filled else column_paths(heads, rows, how)
        for how in (How.GIVEN, How.REPEATED, How.SHORT)
    }
    read_so[How.COUNTED] = counted_paths(heads, rows, sorted(partners.values()), groups)
    for col, path in enumerate(truth):
        partner = partners.get(col)
        readings: tuple[tuple[How, Path], ...] = ((How.GIVEN, ()),)
        if partner is None and col not in stubs:
            continue  # the column is missing, header and all
        if partner is not None:
            readings = tuple((how, paths[partner]) for how, paths in read_so.items())
            given, repeated = readings[0][1], readings[1][1]
            if col in side.units and side.unit_is_told(col) and given:
                continue  # its unit stands in the cells instead
            # The truth itself may leave a group's further cells empty, as the prediction does, or fills them.
            alike = (padded[col] == given and not told) or padded[col] == repeated != given
            if padded[col] != path and alike:
                continue
        extent = max(1.0, side.asked.of_column.get(col, 0.0))
        # The only column of values is known without a name.
        needed = col not in stubs and len(truth) - len(stubs) > 1
        where = {"row": None, "col": col}
        yield Named(path, readings, extent, where, side.header(col), needed, partner in torn)


def _mended(side: Side, rows: list[int], groups: list[list[list[int]]]) -> tuple[Sheet, set[int]]:
    """Return the prediction with group headers put together that were cut at the columns, and these
    columns.
    """
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
    """Return for each name in a header row of the truth the columns of the prediction that it names."""
    groups: list[list[int]] = []
    for col, text in enumerate(truth.texts[row]):
        if text and truth.starts[row][col]:
            groups.append([])
        if text and groups and col in partners:
            groups[-1].append(partners[col])
    return groups


def _rows(side: Side) -> Iterable[Named]:
    """Yield the rows of the truth with their names: section heading and label cells."""
    truth, pred, own = side.truth, side.pred, side.asked.names
    partners = [(c, p) for c in own if (p := side.alignment.columns.get(c)) is not None]
    # The names of the prediction: all columns left of its first value, and those that answer label columns.
    answered = {p for _, p in partners}
    leading = set(range(min(side.valued.values(), default=0))) - {*side.valued.values()}
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
    # Numbers that count the rows from the first one on name nothing that is not known without them.
    counts = [str(k) for k in range(1, len(side.asked.of_row) + 1)]
    counted = len(own) == 1 and [next(iter(own.values()))[r].rstrip(".") for r in side.asked.of_row] == counts
    for row, extent in side.asked.of_row.items():
        at = side.alignment.rows.get(row)
        if at is None:
            continue
        path = _distinct(side.asked.section_of[row], *(texts[row] for texts in own.values()))
        above = sections[at]
        given_path = _distinct(above, *(pred.texts[at][c] for c in columns))
        where, words = {"row": row, "col": None}, quote(" / ".join(path))
        needed = len(side.asked.of_row) > 1
        if counted and not given_path:
            continue
        if given_path == path:
            yield Named(path, ((How.GIVEN, path),), extent, where, words, needed)
            continue
        repeated = [given[c][at] for c in columns]
        # Where the truth leaves a name out itself, nothing is asked that it does not ask.
        emptied = any(truth.present[row][c] and not pred.present[at][p] for c, p in partners)
        readings = [(How.GIVEN, given_path)]
        readings.append((How.REPEATED if emptied else How.GIVEN, _distinct(above, *repeated)))
        if emptied:
            # The name of several rows may stand at the middle one of them.
            readings.append((How.SHORT, _distinct(above, *(below[c][at] for c in columns))))
        if first and not above:
            readings.append((How.SHORT, _distinct(first, *repeated)))
        yield Named(path, tuple(readings), extent, where, words, needed)


def _distinct(*texts: str) -> Path:
    return tuple(dict.fromkeys(filter(None, texts)))


def _sections_above(side: Side, names: set[str]) -> list[str]:
    """Return for each predicted row the section heading above it.

    A heading is what answers one of the truth, or a row that says nothing but its first text and answers no
    row of data. Above the data it has to be a name of the truth: else it is a header.
    """
    pred, structure = side.pred, side.structure
    found, section = [], ""
    for row, texts in enumerate(pred.texts):
        answered = side.alignment.row_of.get(row)
        heading = answered in structure.sections
        if answered is None:
            heading = is_heading(pred, row) and (row >= side.pred_header or tight(texts[0]) in names)
        section = next(filter(None, texts), "") if heading else section
        found.append("" if heading else section)
    return found
