"""Finds the events between the truth and one aligned table."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import groupby
from operator import and_

from parsemark.formats.notation import fold_notation
from parsemark.metrics.reader.events import Account, Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import NEAR, is_numeric, likeness, tight
from parsemark.metrics.reader.naming import COLUMNS, ROWS, Around, How, Named, judge
from parsemark.metrics.reader.paths import Fill, Path, column_paths, counted_paths, holds, match
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import is_section
from parsemark.metrics.reader.values import Asked, Position, Side, Values

_CAPTION_LINES = 2
_ARROWS = str.maketrans("↑↓", "  ")
_PARTED = re.compile(r"[\\/|\n]++")
_POINTS = re.compile(r"[↓→]")
_POINTED = re.compile(r"([^↓→\\/|]++)([↓→])")
_SET_OFF = 0.6
"""Severity of rows that are seen not to belong to the table, against 1 for such that might."""
_AGAIN = 0.3
"""Severity of rows that say what the table says already: as much as that of a further table beside it."""
_PUT_TOGETHER = 0.9
"""Pieces that are so much like a name when put together are that name, cut."""


def find_events(
    side: Side, asked: Asked, outside: str, hopeless: Callable[[Account], bool] = lambda _: False
) -> Account:
    """All events between the truth and an aligned table.

    Args:
        side: The two tables and their alignment.
        asked: The values of the truth.
        outside: Folded text around the predicted table.
        hopeless: Whether some of the events suffice; each further one can only make the account worse.
    """
    values = Values(side, asked)
    moved = _moved_rows(values)
    lost = (*_missing(values, set(moved)), *_invented(values, set(moved.values())), *_torn(values))
    if hopeless(account := Account(lost, values.total)):
        return account
    causes = Causes()
    values.compare(causes)
    _find_moves(values, moved, causes)
    of_values = (*causes.events(), *lost)
    if hopeless(account := Account(of_values, values.total)):
        return account
    causes = Causes()
    if side.alignment.rows:
        heads = tuple(tuple(filter(None, side.pred.texts[r])) for r in range(side.pred_header))
        of_rows, of_columns = _named_in_the_corner(side)
        around = Around(outside, heads, of_columns, asked.only_beside_rows)
        judge(list(_columns(values)), COLUMNS, around, causes)
        if hopeless(account := Account((*causes.events(), *of_values), values.total)):
            return account
        around = Around(outside, corner=of_rows, of_others=asked.only_over_columns)
        judge(list(_rows(values)), ROWS, around, causes)
    return Account((*causes.events(), *of_values), values.total)


def _named_in_the_corner(side: Side) -> tuple[str, str]:
    """What the corner calls all rows and all columns: `Actual / Predicted`, `Year ↓ Team →`."""
    valued = [p for c, p in side.alignment.columns.items() if c not in side.stubs]
    cells = [side.pred.shown[r][c] for r in range(side.pred_header) for c in range(min(valued, default=0))]
    corner = " ".join(filter(None, cells))
    if _POINTS.search(corner):
        told = {found[2]: found[1] for found in _POINTED.finditer(corner)}
        names = [told.get("↓", ""), told.get("→", "")]
    else:
        names = [part for part in _PARTED.split(corner) if part.strip()]
    of_rows, of_columns = names if len(names) == 2 else (corner, "")
    return fold_notation(of_rows), fold_notation(of_columns)


def _find_moves(values: Values, moved: Iterable[int], causes: Causes) -> None:
    """Rows whose cells have slipped, and rows and columns that are given in another order."""
    side = values.side
    for row in moved:
        message = f"Row {values.name(row, side.truth.n_cols - 1)}: its cells have slipped."
        event = Event(Kind.VALUE_SHIFTED, values.of_row[row], message, {"row": row, "col": None})
        causes.add((Kind.VALUE_SHIFTED,), event)
    for row in sorted(side.alignment.moved_rows & set(values.of_row)):
        message = f"Row {values.name(row, side.truth.n_cols - 1)}: given in another order."
        event = Event(Kind.MOVED, values.of_row[row], message, {"row": row, "col": None})
        causes.add((Kind.MOVED, "row"), event)
    for col in sorted(side.alignment.moved_columns):
        message = f"Column {values.header(col)}: given in another order."
        event = Event(Kind.MOVED, values.of_column.get(col, 1.0), message, {"row": None, "col": col})
        causes.add((Kind.MOVED, "column"), event)


def _columns(values: Values) -> Iterable[Named]:
    """The columns of the truth with their headers."""
    side = values.side
    truth = column_paths(side.truth, range(side.structure.n_header), Fill.NOT)
    padded = _carried(side.truth, range(side.structure.n_header), truth, Fill.PADDED)
    told = any(_spans(side.truth, r) for r in range(side.structure.n_header))
    rows = [r for r in range(side.pred_header) if not _is_caption(side, r, truth)]
    heads, torn = _mended(side, rows)
    literal = column_paths(heads, rows, Fill.NOT)
    given = {fill: _carried(heads, rows, literal, fill) for fill in Fill}
    partners = side.alignment.columns
    groups = [_groups(side.truth, r, partners) for r in range(side.structure.n_header)]
    counted = counted_paths(heads, rows, sorted(partners.values()), groups)
    one_for_all = _names_run_together(side, truth, given[Fill.NOT])
    led = _led_by_the_first(side, truth, given[Fill.NOT])
    for col, path in enumerate(truth):
        partner = side.alignment.columns.get(col)
        extent = max(1.0, values.of_column.get(col, 0.0))
        if partner is None:
            if col not in side.stubs:
                continue  # the column is missing, header and all
            readings: tuple[tuple[How, Path], ...] = ((How.GIVEN, ()),)
        else:
            readings = (
                (How.GIVEN, given[Fill.NOT][partner]),
                (How.CARRIED, given[Fill.PADDED][partner]),
                (How.SHORT, given[Fill.RAGGED][partner]),
                *(((How.SHORT, led[col]),) if col in led else ()),
                (How.COUNTED, counted[partner]),
            )
            if (text := one_for_all.get(col)) is not None:
                rest = tuple(t for t in given[Fill.NOT][partner] if t != text)
                said = tuple(t for t in path if t in rest or _says(text, t))
                readings = ((How.GIVEN, rest), (How.COUNTED, said))
            elif col in values.units and values.unit_is_told(col) and given[Fill.NOT][partner]:
                continue  # its unit stands in the cells instead
            if padded[col] != path and _is_padded(padded[col], given, partner, told=told):
                continue
        # The only column of values is known without a name, and so is what stands in a name.
        needed = col not in side.stubs | side.in_names and len(truth) - len(side.stubs) > 1
        label = values.header(col)
        yield Named(path, readings, extent, {"row": None, "col": col}, needed, partner in torn, label)


def _spans(sheet: Sheet, row: int) -> bool:
    """Whether a cell of a row that says something spans columns."""
    texts, starts = sheet.texts[row], sheet.starts[row]
    return any(texts[c] and not starts[c] and texts[c] == texts[c - 1] for c in range(1, sheet.n_cols))


def _carried(sheet: Sheet, rows: Sequence[int], literal: list[Path], fill: Fill) -> list[Path]:
    """The header paths with empty cells filled, which are the literal ones where none is empty."""
    full = all(all(sheet.present[row]) for row in rows)
    return literal if full or fill is Fill.NOT else column_paths(sheet, rows, fill)


def _names_run_together(side: Side, truth: list[Path], given: list[Path]) -> dict[int, str]:
    """Columns over which one cell holds the names of several of them, and what that cell says."""
    over: dict[str, list[int]] = defaultdict(list)
    for col, partner in side.alignment.columns.items():
        for text in given[partner]:
            if truth[col] and text not in truth[col] and _says(text, truth[col][-1]):
                over[text].append(col)
    return {
        col: text
        for text, columns in over.items()
        if len({truth[c][-1] for c in columns if all(_says(text, truth[k][-1]) for k in columns)}) > 1
        for col in columns
    }


def _led_by_the_first(side: Side, truth: list[Path], given: list[Path]) -> dict[int, Path]:
    """Columns of a group whose name stands with that of its first column alone: `CRR Val | Test`.

    The next columns have names of their own, so that the group reaches up to the next one.
    """
    led: dict[int, Path] = {}
    partners = side.alignment.columns
    for first, path in enumerate(truth):
        groups, at = path[:-1], partners.get(first)
        if not groups or at is None or first in led or len(given[at]) != 1:
            continue
        if first and truth[first - 1][:-1] == groups:
            continue
        if match(path, given[at]).credit < 1:
            continue
        for col in range(first + 1, len(truth)):
            if truth[col][:-1] != groups or (partner := partners.get(col)) is None or not given[partner]:
                break
            led[col] = (*groups, *given[partner])
    return led


def _says(text: str, name: str) -> bool:
    """Whether a header holds a name, arrows aside: they are set tight."""
    return holds(_unarrowed(text), _unarrowed(name))


def _unarrowed(text: str) -> str:
    return text if text.isascii() else text.translate(_ARROWS)


def _mended(side: Side, rows: list[int]) -> tuple[Sheet, set[int]]:
    """The prediction with group headers put together that were cut at the columns, and these columns."""
    truth, partners = side.truth, side.alignment.columns
    texts: dict[int, list[str]] = {}
    torn: set[int] = set()
    for row in range(side.structure.n_header):
        for columns in _groups(truth, row, partners):
            if len(columns) < 2:
                continue
            col = next(c for c, p in partners.items() if p == columns[0])
            name = tight(truth.texts[row][col])
            for at in rows:
                pieces = [side.pred.texts[at][p] for p in sorted(columns)]
                cut = len({*filter(None, pieces)}) > 1 and all(tight(p) != name for p in pieces)
                if cut and likeness(name, tight("".join(pieces))) > _PUT_TOGETHER:
                    line = texts.setdefault(at, list(side.pred.texts[at]))
                    for p in columns:
                        line[p] = truth.texts[row][col]
                    torn.update(columns)
    if not torn:
        return side.pred, torn
    return side.pred.with_texts([texts.get(r, line) for r, line in enumerate(side.pred.texts)]), torn


def _groups(truth: Sheet, row: int, partners: dict[int, int]) -> list[list[int]]:
    """For each name in a header row of the truth the columns of the prediction that it names."""
    groups: list[list[int]] = []
    for col, text in enumerate(truth.texts[row]):
        if text and truth.starts[row][col]:
            groups.append([])
        if text and groups and col in partners:
            groups[-1].append(partners[col])
    return groups


def _is_padded(padded: Path, given: dict[Fill, list[Path]], partner: int, *, told: bool) -> bool:
    """Whether the truth itself leaves a group's further cells empty, as the prediction does, or fills them.

    A truth that says how far its groups reach (`told`) leaves none to be filled.
    """
    filled = given[Fill.NOT][partner]
    return (padded == filled and not told) or (padded == given[Fill.PADDED][partner] != filled)


def _is_caption(side: Side, row: int, truth: list[Path]) -> bool:
    """Whether a row above the data is one text for the whole table, and no header of the truth."""
    if not is_section(side.pred, row):
        return False
    text = side.pred.texts[row][0]
    return not any(likeness(level, text) > NEAR for path in truth for level in path)


def _rows(values: Values) -> Iterable[Named]:
    """The rows of the truth with their names: section heading and label cells."""
    side = values.side
    truth, pred = side.truth, side.pred
    stubs = sorted(side.stubs)
    partners = [(c, p) for c in stubs if (p := side.alignment.columns.get(c)) is not None]
    own = _filled_down(truth, stubs, side.structure.n_header)
    # The names of the prediction: all columns left of its first value, and those that answer label columns.
    answered = {p for c, p in side.alignment.columns.items() if c in side.stubs}
    valued = [p for c, p in side.alignment.columns.items() if c not in side.stubs]
    leading = set(range(min(valued, default=0))) - set(valued)
    # A column of which only a header above reaches over it names nothing.
    leading = {c for c in leading if any(pred.present[r][c] for r in range(side.pred_header, pred.n_rows))}
    columns = sorted(answered | leading)
    given = _filled_down(pred, columns, side.pred_header, hanging=True)
    below = {c: _filled_up(pred, c, side.pred_header) for c in columns}
    body = range(side.structure.n_header, truth.n_rows)
    sections = _sections_above(side, {tight(texts[r]) for texts in own.values() for r in body if texts[r]})
    headings = {tight(truth.texts[r][0]) for r in side.structure.sections}
    # The heading of the first rows may have fallen into the header over them.
    over = [pred.texts[r][c] for r in range(side.pred_header) for c in columns if headings]
    first = next((text for text in over if text and tight(text) in headings), "")
    section = ""
    for row in body:
        if row in side.structure.sections:
            section = truth.texts[row][0]
            continue
        at = side.alignment.rows.get(row)
        if at is None or row not in values.of_row:
            continue
        path = _distinct([section, *[own[c][row] for c in stubs]])
        texts, above = pred.texts[at], sections[at]
        literal = _distinct([above, *[texts[c] for c in columns]])
        carried = _distinct([above, *[given[c][at] for c in columns]])
        # Where the truth leaves a name out itself, nothing is asked that it does not ask.
        emptied = any(truth.present[row][c] and not pred.present[at][p] for c, p in partners)
        readings = [(How.GIVEN, literal), (How.CARRIED if emptied else How.GIVEN, carried)]
        if emptied:
            # The name of several rows may stand at the middle one of them.
            readings.append((How.SHORT, _distinct([above, *[below[c][at] for c in columns]])))
        if first and not above:
            readings.append((How.SHORT, _distinct([first, *[given[c][at] for c in columns]])))
        needed = len(values.of_row) > 1
        yield Named(path, tuple(readings), values.of_row[row], {"row": row, "col": None}, needed)


def _distinct(texts: Iterable[str]) -> Path:
    return tuple(dict.fromkeys(filter(None, texts)))


def _sections_above(side: Side, names: set[str]) -> list[str]:
    """For each predicted row the section heading above it.

    A heading is what answers one of the truth, or a row that says nothing but its first text and answers no
    row of data. Above the data it has to be a name of the truth: else it is a header.
    """
    pred, structure = side.pred, side.structure
    answers = {p: t for t, p in side.alignment.rows.items()}
    found, section = [], ""
    for row, texts in enumerate(pred.texts):
        answered = answers.get(row)
        if answered is not None:
            heading = answered in structure.sections
        else:
            heading = _is_heading(pred, row)
            heading = heading and (row >= side.pred_header or tight(texts[0]) in names)
        section = next(filter(None, texts), "") if heading else section
        found.append("" if heading else section)
    return found


def _is_heading(pred: Sheet, row: int) -> bool:
    """Whether a row says one text alone, wherever it stands."""
    return sum(map(bool, pred.texts[row])) == 1 or is_section(pred, row)


def _filled_down(
    sheet: Sheet, columns: list[int], n_header: int, *, hanging: bool = False
) -> dict[int, list[str]]:
    """The texts of columns, an empty cell repeating the one above; a header that comes again is passed over.

    It repeats nothing where a name to its left begins anew: that row has one name less.

    Args:
        sheet: The table.
        columns: The label columns.
        n_header: How many leading rows are headers.
        hanging: Whether a name beside the header reaches down into the first rows of data. The truth's spans
            say that themselves.
    """
    heads = {tuple(sheet.texts[r]) for r in range(n_header)}
    rows = [r for r in range(n_header, sheet.n_rows) if tuple(sheet.texts[r]) not in heads]
    filled: dict[int, list[str]] = {}
    anew: set[int] = set()
    for col in columns:
        texts = [row[col] for row in sheet.texts]
        head = [texts[r] for r in range(n_header) if texts[r]] if hanging else []
        name = head[-1] if head else ""
        begun: list[int] = []
        for row in rows:
            if texts[row] and texts[row] != name:
                begun.append(row)
            name = texts[row] = texts[row] or ("" if row in anew else name)
        filled[col] = texts
        anew.update(begun)
    return filled


def _filled_up(sheet: Sheet, col: int, n_header: int) -> list[str]:
    """The texts of a column, an empty cell taking the next one below."""
    texts = [row[col] for row in sheet.texts]
    for row in range(sheet.n_rows - 2, n_header - 1, -1):
        texts[row] = texts[row] or texts[row + 1]
    return texts


def _moved_rows(values: Values) -> dict[int, int]:
    """Rows that nothing answers column by column, but that stand in the prediction with the same texts."""
    side = values.side
    unanswered = [row for row in values.of_row if row not in side.alignment.rows]
    if not unanswered:
        return {}
    answers = set(side.alignment.rows.values())
    left = {
        tuple(filter(None, side.pred.texts[r])): r
        for r in range(side.pred_header, side.pred.n_rows)
        if r not in answers
    }
    moved = {}
    for row in unanswered:
        texts, starts = side.truth.texts[row], side.truth.starts[row]
        begun = tuple(t for t, start in zip(texts, starts, strict=True) if t and start)
        for found in (tuple(filter(None, texts)), begun):
            if found in left:
                moved[row] = left.pop(found)
                break
    return moved


def _missing(values: Values, moved: set[int]) -> Iterable[Event]:
    """Rows and columns that nothing answers, neighbours as one event."""
    side = values.side
    rows = [r for r in sorted(values.of_row) if r not in side.alignment.rows and r not in moved]
    gone = set(rows) | moved
    cut = _cut_off(side)
    for run in _runs(rows, sorted(values.of_row)):
        is_cut = run[-1] in cut
        kind = Kind.CUT_OFF if is_cut else Kind.ROW_MISSING
        names = values.name(run[0], side.truth.n_cols - 1)
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        said = "missing: the output breaks off before" if is_cut else "missing"
        extent = sum(values.of_row[r] for r in run)
        yield Event(kind, extent, f"Row {names}{more}: {said}.", {"row": run[0], "col": None})
    columns = [c for c in sorted(values.of_column) if c not in side.alignment.columns]
    for run in _runs(columns, sorted(values.of_column)):
        extent = sum(w for (r, c), w in values.weights.items() if c in run and r not in gone)
        if extent:
            more = f" and {len(run) - 1} more" if len(run) > 1 else ""
            message = f"Column {values.header(run[0])}{more}: missing."
            yield Event(Kind.COLUMN_MISSING, extent, message, {"row": None, "col": run[0]})


def _torn(values: Values) -> Iterable[Event]:
    """Rows that are given as several, all of them one event."""
    rows = [r for r in sorted(values.side.torn) if r in values.of_row]
    if rows:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        message = f"Row {values.name(rows[0], values.side.truth.n_cols - 1)}{more}: torn into several rows."
        extent = sum(values.of_row[r] for r in rows)
        yield Event(Kind.ROW_SPLIT, extent, message, {"row": rows[0], "col": None})


def _runs(chosen: list[int], all_of_them: list[int]) -> Iterable[list[int]]:
    """Neighbours among all of them, together."""
    rank = {value: k for k, value in enumerate(all_of_them)}
    for _, run in groupby(enumerate(chosen), key=lambda pair: rank[pair[1]] - pair[0]):
        yield [value for _, value in run]


def _cut_off(side: Side) -> set[int]:
    """The last rows of the truth if they are missing and the last row before them is not complete."""
    if not side.alignment.rows:
        return set()
    last = max(side.alignment.rows)
    at = side.alignment.rows[last]
    begun = sum(map(and_, side.truth.present[last], side.truth.starts[last]))
    complete = sum(side.pred.present[at]) >= begun
    if complete or at != side.pred.n_rows - 1:
        return set()
    return set(range(last + 1, side.truth.n_rows))


class _Said:
    """What the truth says, looked up where it is asked for."""

    def __init__(self, side: Side) -> None:
        self.truth, self.structure = side.truth, side.structure
        self._in_rows: dict[int, set[str]] = {}

    @cached_property
    def anywhere(self) -> set[str]:
        """All that it says."""
        return {tight(t) for row in self.truth.texts for t in row if t}

    @cached_property
    def _sections(self) -> list[int]:
        return sorted(self.structure.sections)

    def says_in_row(self, row: int, text: str) -> bool:
        """Whether a text stands in a row, in the section heading above it, or is a part of its name."""
        if row not in self._in_rows:
            above = bisect_right(self._sections, row)
            section = self.truth.texts[self._sections[above - 1]][0] if above else ""
            self._in_rows[row] = {tight(said) for said in (section, *self.truth.texts[row])}
        if tight(text) in self._in_rows[row]:
            return True
        names = (self.name(row, col) for col in self.structure.stubs)
        return not is_numeric(text) and any(holds(name, text) for name in names)

    @cached_property
    def _names(self) -> dict[int, list[str]]:
        return _filled_down(self.truth, sorted(self.structure.stubs), self.structure.n_header)

    def name(self, row: int, col: int) -> str:
        """What names a row in a label column, be it the cell above; empty in other columns."""
        return self._names[col][row] if col in self.structure.stubs else ""


def _invented(values: Values, moved: set[int]) -> Iterable[Event]:
    """What the prediction has and the truth has not: rows, columns and single values."""
    side = values.side
    pred = side.pred
    rows = {p: t for t, p in side.alignment.rows.items()}
    cols = {p: t for t, p in side.alignment.columns.items()}
    said = _Said(side)

    def again(row: int, text: str) -> bool:
        """Whether a number is given once more than the truth has it in this row."""
        theirs = sum(pred.texts[row][p] == text for p in cols)
        return is_numeric(text) and theirs >= side.truth.texts[rows[row]].count(text)

    # One line or two above the data may be a caption; a line that stands above and below is none.
    above = [r for r in range(side.pred_header) if is_section(pred, r)]
    foreign = [r for r in above if tight(pred.texts[r][0]) not in said.anywhere]
    heads = {tuple(pred.texts[r]) for r in range(side.pred_header) if r not in foreign}
    by_row: Counter[int] = Counter(foreign[_CAPTION_LINES:])
    by_column: defaultdict[int, set[int]] = defaultdict(set)
    single: list[Position] = []
    body = range(side.pred_header, pred.n_rows)
    every_column = len(cols) == pred.n_cols
    for r in body:
        answered = rows.get(r)
        if answered is not None and every_column and all(side.truth.present[answered]):
            continue  # nothing is there that the truth does not ask for
        if r in moved or (answered is None and tuple(pred.texts[r]) in heads):
            continue  # a row that slipped, or a header that comes again
        section = answered is None and _is_heading(pred, r)
        for c, (text, start) in enumerate(zip(pred.texts[r], pred.starts[r], strict=True)):
            if not text or not start:
                continue
            if answered is None:
                # What the truth says elsewhere is moved, not invented: a heading, a name given again.
                by_row[r] += 0 if section and tight(text) in said.anywhere else 1
            elif c not in cols:
                if not said.says_in_row(answered, text) or again(r, text):
                    by_column[c].add(r)
            elif not side.truth.present[answered][cols[c]] and text != said.name(answered, cols[c]):
                single.append((r, c))
    # A header that comes again between invented rows, or a row that slipped, does not part them.
    counted = sorted(r for r in range(pred.n_rows) if r in rows or by_row[r])
    answering = {tuple(pred.texts[r]) for r in rows}
    for run in _runs([r for r in counted if r not in rows], counted):
        shown = " ".join(t for t in pred.shown[run[0]] if t)
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        twice = answering.issuperset(tuple(pred.texts[r]) for r in run)
        what = "given twice" if twice else "not in the truth"
        message = f"Row {quote(shown)}{more} of the output: {what}."
        extent = float(sum(by_row[r] for r in run))
        severity = _SET_OFF if _is_another_table(pred, run, rows) else 1.0
        severity = _AGAIN if twice else severity
        yield Event(Kind.INVENTED, extent, message, {"pred_row": run[0], "pred_col": None}, severity)
    for run in _runs(sorted(by_column), list(range(pred.n_cols))):
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        message = f"Column {run[0] + 1}{more} of the output: not in the truth."
        touched = len(set().union(*(by_column[c] for c in run)))
        # A row that runs away touches itself, however far it runs.
        extent = min(sum(len(by_column[c]) for c in run), touched * side.truth.n_cols)
        yield Event(Kind.INVENTED, float(extent), message, {"pred_row": None, "pred_col": run[0]})
    for r, c in sorted({*single} - values.went_to.keys() if single else ()):
        message = f"{quote(pred.shown[r][c])} in row {r + 1}, column {c + 1} of the output: not in the truth."
        yield Event(Kind.INVENTED, 1.0, message, {"pred_row": r, "pred_col": c})


def _is_another_table(pred: Sheet, run: list[int], answering: dict[int, int]) -> bool:
    """Whether rows behind the last one that answers the truth are a table with a header of its own."""
    if len(run) < 2 or run[0] < max(answering, default=pred.n_rows):
        return False
    head, body = pred.texts[run[0]], [text for r in run[1:] for text in pred.texts[r] if text]
    named = sum(map(bool, head)) > 1 and not any(map(is_numeric, head))
    return named and any(map(is_numeric, body))
