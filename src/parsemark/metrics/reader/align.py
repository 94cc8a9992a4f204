"""Which column and which row of an extraction answers which of the truth."""

from itertools import chain, product

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from parsemark.kernels import kernel
from parsemark.kernels.pure import LONGEST_COMPARED
from parsemark.metrics.base import check_pairs
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import is_section
from parsemark.metrics.reader.texts import features

Floats = NDArray[np.floating]
Pairs = list[tuple[int, int]]

_EMPTY_MATCH = 0.1  # two empty cells say little about whether their columns belong together
_HEADER_SHARE = 0.3  # share of the header in the likeness of two columns; the rest is their values
_TOP = 3  # rows at the top of a prediction that are looked at for headers, at least
_OTHER_NUMBERS = 0.3  # what is left of the likeness of a number to a text with others
_TIE = 1e-6
_LEAST_ROW = 0.15  # rows less alike than this do not answer each other
_REFINEMENTS = 2  # how often rows are aligned by the columns, and columns by the rows
_SURELY = 0.8  # lines that are at least this alike have moved, if nothing else answers either of them
_THE_SAME = 0.95  # columns whose values are so much alike
_HARDLY = 0.5  # lines less alike than this answer each other only where no other one surely does

MAX_TEXT_PAIRS = 10_000_000
"""Different texts of one table times those of the other (3,100 each): 4 bytes each, and a second of work."""
MAX_LINE_PAIRS = 4_000_000  # rows of one table times those of the other: 2,000 each. Of columns half as many
MAX_CHARACTER_PAIRS = 2_000_000_000
"""Characters of one table times those of the other (45,000 each). Beyond, only beginnings are aligned."""
_BEGINNING = 64
MAX_VOLUME = 12_000_000
"""Pairs of rows times columns, and pairs of columns times rows, of which likenesses are looked up."""


class Alignment:
    """Partners of the truth's columns and rows in the prediction; of rows those below its header."""

    def __init__(self, columns: Pairs, moved_columns: Pairs, rows: Pairs, moved_rows: Pairs) -> None:
        self.columns, self.rows = dict([*columns, *moved_columns]), dict([*rows, *moved_rows])
        self.moved_columns, self.moved_rows = dict(moved_columns).keys(), dict(moved_rows).keys()
        """Those of the truth whose partners stand in another order."""
        self.column_of = {p: t for t, p in self.columns.items()}
        self.row_of = {p: t for t, p in self.rows.items()}
        """For each of the prediction that of the truth which it answers."""


class _Numbered:
    """A sheet with numbers for its texts, each different text once."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        every = list(chain.from_iterable(sheet.texts))
        known = {text: index for index, text in enumerate(dict.fromkeys(every))}
        ids = np.fromiter(map(known.__getitem__, every), dtype=np.intp, count=len(every))
        self.ids, self.texts = ids.reshape(sheet.n_rows, -1), list(known)
        self.filled = np.array(list(map(bool, self.texts)), dtype=bool)[self.ids]
        self.blank = np.flatnonzero(~np.any(self.filled, axis=1))
        self.sections = [row for row in range(sheet.n_rows) if is_section(sheet, row)]


class Likenesses(_Numbered):
    """Likeness of the truth's texts to those of a prediction, kept for the other forms it is read in."""

    def __init__(self, truth: Sheet) -> None:
        super().__init__(truth)
        # What a cell of several rows says may stand at any of them, as at the middle one.
        starts = np.array(truth.starts, dtype=bool)
        self.asked = self.filled & starts
        self.asked[:-1] &= starts[1:] | (self.ids[:-1] != self.ids[1:])
        self._known: dict[str, int] = {}
        self._matrix: Floats = np.zeros((len(self.texts), 0), dtype=np.float32)
        self._by_beginnings = False

    def matrix(self, pred: list[str]) -> Floats:
        """Return the similarity of each text of the truth and each of the prediction."""
        # Whether texts are aligned by their beginnings alone.
        are_long = sum(map(len, self.texts)) * sum(map(len, pred)) > MAX_CHARACTER_PAIRS
        # What one form is compared by must not depend on which other one came first.
        if are_long != self._by_beginnings or not self._known.keys() >= {*pred}:
            self._by_beginnings, self._known = are_long, {text: index for index, text in enumerate(pred)}
            self._matrix = _text_likeness(self.texts, pred, are_long)
            return self._matrix
        return self._matrix[:, [self._known[text] for text in pred]]


def _check_lines(truth: Sheet, pred: Sheet) -> None:
    """Refuse what would cost more than a second or 200 MB."""
    check_pairs("rows", truth.n_rows, pred.n_rows, MAX_LINE_PAIRS)
    check_pairs("columns", truth.n_cols, pred.n_cols, MAX_LINE_PAIRS // 2)
    rows, columns = min(truth.n_rows, pred.n_rows), min(truth.n_cols, pred.n_cols)
    check_pairs("rows", truth.n_rows, pred.n_rows, MAX_VOLUME // max(columns, 1))
    check_pairs("columns", truth.n_cols, pred.n_cols, MAX_VOLUME // max(rows, _TOP))


def _text_likeness(truth: list[str], pred: list[str], by_beginnings: bool) -> Floats:
    """Return a quick likeness of each pair, for alignment alone."""
    ours, theirs = [features(t) for t in truth], [features(p) for p in pred]
    one, other = [text for text, _, _ in ours], [text for text, _, _ in theirs]
    if by_beginnings:
        one, other = [t[:_BEGINNING] for t in one], [p[:_BEGINNING] for p in other]
    matrix = _similarities(one, other)
    known: dict[tuple[str, ...], int] = {}
    # A number is little like a text with other numbers, however many of its digits are the same.
    kinds = [
        [2 * known.setdefault(said, len(known)) + numeric if text else -1 for text, numeric, said in side]
        for side in (ours, theirs)
    ]
    kernel.square_by_kinds(matrix, *kinds, _OTHER_NUMBERS, _EMPTY_MATCH)
    return matrix


def _similarities(one: list[str], other: list[str]) -> Floats:
    """Return Levenshtein similarity of each pair, which the kernel knows of short texts, many at once."""
    if max(map(len, chain(one, other)), default=0) <= LONGEST_COMPARED:
        return np.asarray(kernel.similarity_matrix(one, other))
    return cdist(one, other, scorer=Levenshtein.normalized_similarity, dtype=np.float32)


def align(likenesses: Likenesses, sheet: Sheet, n_header: int) -> Alignment:
    """Align columns by their values and headers, then rows, then columns again by the aligned rows."""
    _check_lines(likenesses.sheet, sheet)
    numbered = _Numbered(sheet)
    check_pairs("different texts", len(likenesses.texts), len(numbered.texts), MAX_TEXT_PAIRS)
    truth, pred, matrix = likenesses.ids, numbered.ids, likenesses.matrix(numbered.texts)
    headers = _header_likeness(truth[:n_header], pred, matrix)
    body = truth[n_header:] if len(truth) > n_header else truth
    columns = best_path(_HEADER_SHARE * headers + (1 - _HEADER_SHARE) * _column_likeness(body, pred, matrix))
    rows: Pairs = []
    moved_columns: Pairs = []
    moved_rows: Pairs = []
    for _ in range(_REFINEMENTS):
        likeness = _row_likeness(likenesses, numbered, matrix, [*columns, *moved_columns])
        likeness[:n_header] -= _TIE * sum(likeness.shape)  # what a row of data says as well is that row
        rows = best_path(likeness, _LEAST_ROW)
        if not rows:
            break
        rows, moved_rows = _with_moved(likeness, rows, n_header)
        known = [pair for pair in rows if pair[0] >= n_header] or rows
        here, there = map(list, zip(*known, *moved_rows, strict=True))
        values = matrix[truth[here][:, :, None], pred[there][:, None, :]].mean(axis=0)
        scores = _HEADER_SHARE * headers + (1 - _HEADER_SHARE) * values
        # A column that says the same has moved, whatever way its levels of headers are joined.
        alike = np.where(values > _THE_SAME, np.maximum(scores, _SURELY), scores)
        refined, moved = _with_moved(alike, best_path(scores))
        if refined == columns and moved == moved_columns:
            break
        columns, moved_columns = refined, moved
    # Header rows take part, so that none of them is taken for a row of data; their partners do not matter.
    below = [pair for pair in rows if pair[0] >= n_header]
    return Alignment(columns, moved_columns, below, moved_rows)


def _with_moved(scores: Floats, pairs: Pairs, first: int = 0) -> tuple[Pairs, Pairs]:
    """Return the monotone pairs, and those that are surely each other's though they stand in another order.

    A line that stands elsewhere takes the place of what is hardly like it; what is left over then is paired
    once more. Lines of the truth before `first` have not moved.
    """
    free = scores >= _SURELY
    free[:first] = False
    for i, j in pairs:
        free[i, j] = False
    held = [(i, j) for i, j in pairs if scores[i, j] >= _HARDLY]
    free[[i for i, _ in held], :] = False
    free[:, [j for _, j in held]] = False
    found: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in np.argwhere(free).tolist():
        if i not in found and j not in taken:
            found[i] = j
            taken.add(j)
    kept = [(i, j) for i, j in pairs if i not in found and j not in taken]
    if len(kept) == len(pairs):
        return pairs, list(found.items())
    here = sorted(set(range(len(scores))) - found.keys() - {i for i, _ in kept})
    there = sorted(set(range(scores.shape[1])) - taken - {j for _, j in kept})
    again = best_path(scores[np.ix_(here, there)], _LEAST_ROW) if here and there else []
    return sorted([*kept, *((here[i], there[j]) for i, j in again)]), list(found.items())


def best_path(scores: Floats, least: float = 1e-9) -> Pairs:
    """Return the monotone one-to-one pairing with the largest sum, of pairs above `least`."""
    n, m = scores.shape
    # Among equal sums the pairing of places closest to each other wins.
    places = np.abs(np.arange(n, dtype=np.float32)[:, None] - np.arange(m, dtype=np.float32)[None, :])
    usable = np.where(scores > least, scores - np.float32(_TIE) * places, np.float32(-1.0))
    pairs: Pairs = kernel.monotone_pairs(np.ascontiguousarray(usable, dtype=np.float64))
    return pairs


def _column_likeness(truth: NDArray[np.intp], pred: NDArray[np.intp], matrix: Floats) -> Floats:
    """Return for each pair of columns how well the cells of one find a counterpart in the other."""
    # For each text of one table and each column of the other how alike the most alike of its cells is.
    forward, backward = (
        np.ascontiguousarray(np.asarray(kernel.column_maxima(np.ascontiguousarray(likenesses), ids)).T)
        for likenesses, ids in ((matrix.T, pred), (matrix, np.ascontiguousarray(truth)))
    )
    recall, precision = forward[truth].mean(axis=0), backward[pred].mean(axis=0).T
    return np.asarray((recall + precision) / 2)


def _header_likeness(truth: NDArray[np.intp], pred: NDArray[np.intp], matrix: Floats) -> Floats:
    """Return for each pair of columns how well the truth's header texts are found at the top of the other."""
    top = pred[: max(len(truth) + 2, _TOP)]
    if not len(truth):
        return np.zeros((truth.shape[1], pred.shape[1]))
    found = matrix[truth[:, :, None, None], top.T[None, None, :, :]].max(axis=3)
    return np.asarray(found.mean(axis=0))


def _row_likeness(truth: Likenesses, pred: _Numbered, matrix: Floats, columns: Pairs) -> Floats:
    """Return for each pair of rows the mean likeness of their cells, where either has content."""
    if not columns:
        return np.zeros((len(truth.ids), len(pred.ids)))
    one, other = map(list, zip(*columns, strict=True))
    ids, filled = (truth.ids.T[one], pred.ids.T[other]), (truth.asked.T[one], pred.filled.T[other])
    # Where a span repeats a text, an empty cell is no contradiction.
    likeness: Floats = np.asarray(kernel.line_likeness(matrix, *ids, *filled))
    # A section heading is alike whether it spans all columns or stands in the first one alone.
    for row, partner in product(truth.sections, pred.sections):
        likeness[row, partner] = matrix[truth.ids[row, 0], pred.ids[partner, 0]]
    # Rows of placeholders alone have nothing to compare; they answer each other in order.
    likeness[np.ix_(truth.blank, pred.blank)] = 2 * _LEAST_ROW
    return likeness
