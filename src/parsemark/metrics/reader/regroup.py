"""Columns or rows that a parser has run together, or torn apart, put back as the truth has them.

Every row of the two tables is read as one string. Where the strings agree, each cell of the truth has its
place in the cells of the prediction: several of them in one cell, row after row, are columns run together.
Rows run together are the same on the transposed tables, and lines of plain text are a table of one column.
A row that is torn apart, a cell of three lines given as three rows, is joined where that makes it more alike.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise, permutations, product, takewhile
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from parsemark.formats.notation import is_placeholder
from parsemark.metrics.reader.align import Alignment, best_path
from parsemark.metrics.reader.events import Event, Kind
from parsemark.metrics.reader.likeness import likeness
from parsemark.metrics.reader.sheet import Entries, Sheet
from parsemark.metrics.reader.structure import says_deviations
from parsemark.metrics.reader.texts import is_numeric, tight

_LEAST_ALIKE = 0.3  # rows less alike than this are not compared cell by cell
_SHARE = 0.5  # columns belong together if they do in this share of the rows
_LONGEST = 2000  # characters of a row; longer ones are left as they are
_MOST_ROWS = 400
_UP_TO = re.compile(r"(?<=\w)\s?[–—]\s?(?=\w)|(?<=\d)(?:-|\s-\s)(?=\d)")
_DASH = re.compile(r"(?<=[\w%])[–—-]$")
_ROWS_TOGETHER = 0.8  # severity of rows run together with spaces between them, against 1 without
_SEPARATE = 0.9  # rows are folded, not merged, if this share of their cells has a line for each part
_GAIN = 0.05  # likeness that a piece has to add
_MOST_LINES = 6  # a torn row has at most this many pieces on each side of the one that was recognised


Form = tuple[Sheet, tuple[Event, ...]]  # a prediction put as the truth has it, and what had been done to it


class _Grouped(NamedTuple):
    """Lines (columns, or rows) of the truth that one line of the prediction holds."""

    lines: tuple[int, ...]
    held: float  # number of cells in which they are run together
    separate: float
    """Share of these cells in which each part stands on a line of its own, or they say from what to what."""
    glued: float  # share of these cells in which not even a space is between the parts


_Pieces = list[tuple[int, str]]  # what the cells say that begin in a row, each with its column


class _Row(NamedTuple):
    """Where the cells of a row of the truth stand in a row of the prediction."""

    parts: dict[int, list[tuple[int, int, int]]]
    """For each column of the prediction: column of the truth, and where it begins and ends in the text."""
    spread: dict[int, tuple[int, ...]]
    """For each column of the truth the columns of the prediction that hold its parts."""
    spanning: frozenset[int]  # columns of the truth whose cell in this row spans further ones


def regroup_columns(truth: Sheet, pred: Sheet) -> Form | None:
    """Put columns back that were run together or torn apart, or None if there are none."""
    found = _regrouped(truth, pred)
    if found is None:
        return None
    sheet, merged, split = found
    events = [*_merged(truth, merged, Kind.COLUMNS_MERGED, 1)]
    if split:
        where = _listed([f"{lines[0] + 1}–{lines[-1] + 1}" for lines in split])
        message = f"Columns {where} of the output are one in the truth."
        events.append(Event(Kind.COLUMN_SPLIT, float(truth.n_rows * len(split)), message))
    return sheet, tuple(events)


def regroup_rows(truth: Sheet, pred: Sheet, n_header: int = 0) -> Form | None:
    """Return `regroup_columns` for rows; torn rows are joined, and headers flattened, elsewhere."""
    found = _regrouped(truth.transposed(), pred.transposed(), join=False, kept=n_header)
    if found is None:
        return None
    sheet, merged, _ = found
    return sheet.transposed(), tuple(_merged(truth, merged, Kind.ROWS_MERGED, 1 - n_header))


def _merged(truth: Sheet, groups: list[_Grouped], kind: Kind, first: int) -> Iterable[Event]:
    """Return the events of lines that were merged into one; messages count the lines from `first` on."""
    if not groups:
        return
    held, of_rows = sum(group.held for group in groups), kind is Kind.ROWS_MERGED
    names = [(group.lines[0] + first, group.lines[-1] + first) for group in groups]
    listed = _listed([f"{begin}–{end}" if begin > 0 else f"the header–{end}" for begin, end in names])
    which = f"{'Rows' if of_rows else 'Columns'} {listed}"

    def share(of: Callable[[_Grouped], float]) -> float:
        return sum(of(group) * group.held for group in groups) / held if held else 0.0

    # Two columns are easier to separate than four, and impossible to separate without a space.
    apart = 1 - share(lambda group: 1 / len(group.lines))
    apart = max(apart, _ROWS_TOGETHER) if of_rows else apart
    if of_rows and all(_goes_on(truth, group.lines[1:]) for group in groups):
        why = "a text goes on, or deviations stand behind their values"
        yield Event(Kind.PADDED, held, f"{which} are given as one: {why}.")
    elif share(lambda group: group.separate) >= _SEPARATE:
        yield Event(Kind.PADDED, held, f"{which} are folded into one, each part on its own line.")
    else:
        severity = apart + (1 - apart) * share(lambda group: group.glued)
        yield Event(kind, held, f"{which} are run together.", severity=severity)


def _goes_on(truth: Sheet, rows: Sequence[int]) -> bool:
    """Return whether each of some rows says one text without a name, or all of them deviations of the
    values.
    """
    texts = [truth.texts[r] for r in rows]
    lines = all(not t[0] and sum(map(bool, t)) == 1 and not is_numeric("".join(t)) for t in texts)
    return truth.n_cols == 1 or lines or all(says_deviations(truth, r) for r in rows)


def _listed(names: list[str]) -> str:
    """Return the first of some names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _regrouped(
    truth: Sheet, pred: Sheet, *, join: bool = True, kept: int = 0
) -> tuple[Sheet, list[_Grouped], list[tuple[int, ...]]] | None:
    """Separate columns that were run together, and (if `join`) join those that were torn apart.

    Of the first columns of the truth, `kept` many, it does not matter whether they are run together.
    """
    if max(truth.n_rows, pred.n_rows) > _MOST_ROWS:
        return None
    rows = _located(truth, pred)
    votes: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    torn: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for row in rows.values():
        for column, parts in row.parts.items():
            # A cell of several lines is given once for them, whether they are run together or not.
            if len(parts) > 1 or parts[0][0] not in row.spanning:
                votes[column][tuple(part[0] for part in parts)] += 1
        for column, places in row.spread.items():
            torn[column][places] += 1
    together = {
        c: lines for c, counts in votes.items() if len(lines := _majority(counts)) > 1 and lines[-1] >= kept
    }
    several = {lines for counts in torn.values() if join and len(lines := _majority(counts)) > 1}
    apart = {lines for lines in several if together.keys().isdisjoint(lines)}
    if not together and not apart:
        return None
    merged = [_grouped(pred, rows, column, lines) for column, lines in sorted(together.items())]
    return _rebuilt(pred, rows, together, apart), merged, sorted(apart)


def unfolded(truth: Sheet, sheet: Sheet) -> Form | None:
    """Return the table with rows cut whose cells have equally many lines, or None if there are none.

    A cell of one line stands for all of them, as a cell that spans rows does. A row of which a single cell
    has several lines is cut if rows are missing.
    """
    if not any("\n" in text for row in sheet.shown for text in row):
        return None
    parts: list[Sheet] = []
    for row, shown in enumerate(sheet.shown):
        lines = [text.split("\n") for text in shown]
        counts = {len(cell) for cell, text in zip(lines, shown, strict=True) if text}
        count = max(counts, default=1)
        several = sum(len(cell) == count for cell in lines)
        if count > 1 and counts <= {1, count} and (several > 1 or sheet.n_rows < truth.n_rows):
            parts.append(Sheet.from_rows([[cell[k % len(cell)] for cell in lines] for k in range(count)]))
        else:
            parts.append(sheet.part([row], range(sheet.n_cols)))
    found = Sheet.stacked(parts)
    message = "Several rows are folded into one, each on its own line."
    event = Event(Kind.PADDED, float(truth.n_rows * truth.n_cols), message)
    return (found, (event,)) if found.n_rows > sheet.n_rows else None


def _majority(counts: Counter[tuple[int, ...]]) -> tuple[int, ...]:
    lines, count = max(counts.items(), key=lambda item: (item[1], len(item[0])))
    return lines if count >= _SHARE * counts.total() else ()


def _located(truth: Sheet, pred: Sheet) -> dict[int, _Row]:
    """Return the places of the cells of each predicted row that matches a true one."""
    ours, theirs = (
        [
            [(c, text) for c, begins in enumerate(starts) if begins and (text := tight(sheet.full(r, c)))]
            for r, starts in enumerate(sheet.starts)
        ]
        for sheet in (truth, pred)
    )
    one, other = (["".join(text for _, text in row) for row in rows] for rows in (ours, theirs))
    if max(map(len, one + other), default=0) > _LONGEST:
        return {}
    scorer = Levenshtein.normalized_similarity
    scores = cdist(one, other, scorer=scorer, score_cutoff=_LEAST_ALIKE, dtype=np.float32)
    found: dict[int, _Row] = {}
    for t, p in best_path(scores, _LEAST_ALIKE):
        spans = (c for c in range(truth.n_cols) if truth.starts[t][c] and len(truth.span_in_row(t, c)) > 1)
        if ours[t] == theirs[p]:
            parts = {column: [(column, 0, len(text))] for column, text in ours[t]}
            found[p] = _Row(parts, {column: (column,) for column in parts}, frozenset(spans))
        else:
            found[p] = _locate(ours[t], theirs[p], _places(ours[t], one[t], other[p]), frozenset(spans))
    return found


def _locate(ours: _Pieces, theirs: _Pieces, places: list[int], spanning: frozenset[int]) -> _Row:
    ends = list(accumulate(len(text) for _, text in theirs))
    bounds = [(column, end - len(text), end) for (column, text), end in zip(theirs, ends, strict=True)]
    held_by: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    spread: dict[int, tuple[int, ...]] = {}
    for (column, _), (begin, end) in zip(ours, pairwise(places), strict=True):
        first, last = bisect_right(ends, begin), bisect_left(ends, end) + 1
        held = [(min(end, e) - max(begin, b), c, b, e) for c, b, e in bounds[first:last]]
        if not end or not held:
            continue
        spread[column] = tuple(c for _, c, _, _ in held)
        _, where, b, e = max(held, key=lambda h: h[0])
        held_by[where].append((column, max(begin, b) - b, min(end, e) - b))
    return _Row(dict(held_by), spread, spanning)


def _places(pieces: _Pieces, one: str, other: str) -> list[int]:
    """Return where the beginnings of a text's pieces, and its end, have gone in another text."""
    places: list[int] = []
    steps = accumulate((len(text) for _, text in pieces), initial=0)
    position = next(steps)
    for op in Levenshtein.opcodes(one, other):
        while position < op.src_end:
            places.append(op.dest_start + min(position - op.src_start, op.dest_end - op.dest_start))
            position = next(steps)
    return [*places, len(other)]


def _grouped(pred: Sheet, rows: dict[int, _Row], column: int, lines: tuple[int, ...]) -> _Grouped:
    held = [r for r, row in rows.items() if len(row.parts.get(column, ())) > 1]
    cells = [(pred.shown[r][column], len(rows[r].parts[column])) for r in held]
    joints = [text.count("\n") or len(_UP_TO.findall(text)) for text, _ in cells]
    separate = sum(n == count - 1 for n, (_, count) in zip(joints, cells, strict=True))
    glued = sum(len(text.split()) < count for text, count in cells)
    n = max(1, len(held))
    return _Grouped(lines, float(sum(count for _, count in cells)), separate / n, glued / n)


def _rebuilt(
    pred: Sheet, rows: dict[int, _Row], together: dict[int, tuple[int, ...]], apart: set[tuple[int, ...]]
) -> Sheet:
    """Return the prediction with merged columns cut where the truth's cells end, and torn ones joined."""
    joined = {c for lines in apart for c in lines[1:]}
    firsts = {lines[0]: lines for lines in apart}

    def cells(r: int) -> Iterable[Entries]:
        for column in range(pred.n_cols):
            if column in together:
                yield from _cut(pred, r, column, together[column], rows.get(r))
            elif column not in joined:
                yield pred.as_one([(r, c) for c in firsts.get(column, (column,))])

    return Sheet.from_cells([list(cells(r)) for r in range(pred.n_rows)], pred.header_rows)


def _cut(pred: Sheet, r: int, column: int, lines: tuple[int, ...], row: _Row | None) -> Iterable[Entries]:
    """Return a cell cut into those of some lines of the truth."""
    parts = {line: (b, e) for line, b, e in row.parts.get(column, ())} if row else {}
    starts = pred.starts[r][column]
    if sum(line in parts for line in lines) < 2:  # one text for all of them, as a group header is
        text, shown, _, *rest = pred.cell(r, column)
        return [(text, shown, starts and not k, *rest) for k in range(len(lines))]
    whole = tight(pred.full(r, column))
    pieces = [_DASH.sub("", whole[slice(*parts[line])]) if line in parts else "" for line in lines]
    return [("" if is_placeholder(p) else p, p, starts or not p, bool(p), False) for p in pieces]


def joined_rows(
    truth: Sheet, pred: Sheet, alignment: Alignment, n_header: int
) -> tuple[Sheet, frozenset[int]]:
    """Return the prediction with torn rows joined, if there are some, and the rows of the truth that were
    torn.

    So many leading rows of the prediction as `n_header` are none of data.
    """
    if len(alignment.rows) == pred.n_rows or not alignment.rows:
        return pred, frozenset()
    matched = sorted(alignment.rows.items(), key=lambda pair: pair[1])
    first = min(matched[0][1], n_header)
    bounds = [first - 1, *(p for _, p in matched), pred.n_rows]
    groups: dict[int, list[int]] = {}
    torn: list[int] = []
    for position, (row, partner) in enumerate(matched):
        above = list(range(bounds[position] + 1, partner))[-_MOST_LINES:]
        below = list(range(partner + 1, bounds[position + 2]))[:_MOST_LINES]
        if not above and not below:
            continue
        columns = alignment.columns.items()
        wanted = [(text, column) for own, column in columns if (text := truth.texts[row][own])]
        best = _best_group(wanted, pred, partner, above, below)
        if len(best) > 1:
            groups[partner] = best
            # Deviations may stand below their values.
            if not all(says_deviations(pred, r, 1) for r in best if r != partner):
                torn.append(row)
    return (_merge(pred, groups) if groups else pred), frozenset(torn)


def columns_joined(sheet: Sheet, given: Sequence[Sheet], n_header: int) -> Sheet | None:
    """Return a table with columns joined as one of some others has them, where a reader still tells them
    apart.

    So are a value and its unit or flag, the ends of a range, or two names with a stroke between them.
    """
    if sheet.n_rows > _MOST_ROWS:
        return None
    columns = [[_unspaced(row[c]) for row in sheet.texts[n_header:]] for c in range(sheet.n_cols)]
    for other in given:
        if other.n_cols == sheet.n_cols or other.n_rows > _MOST_ROWS:
            continue
        said = [{_DASH.sub("", _unspaced(row[p])) for row in other.texts} for p in range(other.n_cols)]
        held = [[sum(map(texts.__contains__, column)) for column in columns] for texts in said]
        owners = {max(range(len(columns)), key=counts.__getitem__): max(counts) for counts in held}
        gone = {c for c, column in enumerate(columns) if 2 * owners.get(c, 0) < len(column)}
        keyed = [{_key(text): text for text in texts} for texts in said]
        pairs = [pair for pair in permutations(range(sheet.n_cols), 2) if not gone.isdisjoint(pair)]
        for (a, b), (p, texts) in product(pairs, enumerate(keyed)):
            found = [texts.get(_key(one + two), "") for one, two in zip(columns[a], columns[b], strict=True)]
            rows = list(zip(columns[a], columns[b], found, strict=True))
            both = [_are_told_apart(*row) for row in rows if row[0] and row[1]]
            alone = [text == one + two for one, two, text in rows if not (one and two)]
            if sum(both) < max(2, _SEPARATE * len(both)) or sum(alone) < _SEPARATE * len(alone):
                continue
            over = {tight(row[p]) for row in other.texts[: n_header + 1]}
            cells = [[sheet.cell(r, c) for c in range(sheet.n_cols)] for r in range(sheet.n_rows)]
            for r, row in enumerate(cells):
                # One of their headers tells which column it is.
                named = [] if r >= n_header else [c for c in (a, b) if tight(sheet.texts[r][c]) in over]
                joined = sheet.as_one([(r, c) for c in named or (a, b)])
                row[a] = (found[r - n_header] or joined[0], *joined[1:]) if r >= n_header else joined
                del row[b]
            result = Sheet.from_cells(cells, sheet.header_rows)
            return columns_joined(result, given, n_header) or result
    return None


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _are_told_apart(one: str, other: str, joined: str) -> bool:
    """Return whether a text joins two others so that each is recognisable: by a sign, or as a number and a
    word.
    """
    between, held, behind = joined.removeprefix(one).rpartition(other)
    if not held or not joined.startswith(one) or any(map(str.isalnum, between + behind)):
        return False
    if between:
        return between not in (".", ",")
    ends = [(c.isdigit(), c.isalpha()) for c in (one[-1], other[0])]
    return ends[0] != ends[1] and other[0] not in "-." and (is_numeric(one) or is_numeric(other))


def lines_joined(truth: Sheet, first: int, given: Sequence[Sheet]) -> Sheet | None:
    """Return the truth with rows of data (from `first` on) joined to the one above that only go on with its
    texts.

    None, unless the predicted tables do so.
    """
    going_on = [r for r in range(first + 1, truth.n_rows) if _may_go_on(truth, r)]
    if not going_on:
        return None
    said = {tight(text) for sheet in given for text in sheet.said if text}
    groups: dict[int, list[int]] = {}
    begins = {r: r for r in range(truth.n_rows)}
    for row in going_on:
        begin = begins[row - 1]
        group = [*groups.get(begin, [begin]), row]
        columns = [c for c, text in enumerate(truth.texts[row]) if text]
        wanted = {tight(truth.text_in([(r, c) for r in group])) for c in columns}
        if all(any(text.startswith(part) for text in said) for part in wanted):
            groups[begin] = group
            begins[row] = begin
    return _merge(truth, groups) if groups else None


def _may_go_on(truth: Sheet, row: int) -> bool:
    """Return whether a row says little, and no numbers, below one that says more."""
    texts = [t for t, starts in zip(truth.texts[row], truth.starts[row], strict=True) if t and starts]
    more = sum(map(bool, truth.texts[row - 1]))
    return 0 < 2 * len(texts) <= truth.n_cols and len(texts) <= more and not any(map(is_numeric, texts))


def _best_group(
    wanted: list[tuple[str, int]], pred: Sheet, partner: int, above: list[int], below: list[int]
) -> list[int]:
    """Return the rows above and below a partner that make it most like what is wanted when joined to it.

    What is wanted are texts of the truth, each with the column where it should stand.
    """

    def is_piece(row: int) -> bool:
        return any((text := tight(pred.texts[row][c])) and text in tight(true) for true, c in wanted)

    def worth(group: list[int]) -> float:
        return sum(likeness(text, pred.text_in([(r, column) for r in group])) for text, column in wanted)

    above = list(takewhile(is_piece, reversed(above)))[::-1]
    below = list(takewhile(is_piece, below))
    best, most = [partner], worth([partner]) if above or below else 0.0
    for up, down in product(range(len(above) + 1), range(len(below) + 1)):
        group = [*above[len(above) - up :], partner, *below[:down]]
        if len(group) > 1 and (value := worth(group)) > most + _GAIN:
            best, most = group, value
    return best


def _merge(sheet: Sheet, groups: dict[int, list[int]]) -> Sheet:
    """Return the sheet with groups of rows as one each."""
    merged = {row: group for group in groups.values() for row in group}
    kept = [group for row in range(sheet.n_rows) if (group := merged.get(row, [row]))[0] == row]
    cells = [[sheet.as_one([(r, c) for r in group]) for c in range(sheet.n_cols)] for group in kept]
    return Sheet.from_cells(cells, sheet.header_rows)
