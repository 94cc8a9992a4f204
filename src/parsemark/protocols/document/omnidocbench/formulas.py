"""Formulas matched again by v1.6: many candidates, and the best of them (section 8)."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from parsemark.kernels import kernel
from parsemark.matching.edit_distance import assignment, ned, ned_matrix
from parsemark.protocols.document.omnidocbench.cdm import cdm_variants
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.quick_match import (
    AnsweredTruths,
    Strings,
    as_array,
    prepare,
    quick_match,
    record_of,
)
from parsemark.protocols.document.omnidocbench.records import (
    FORMULA,
    INLINE,
    RESCUE,
    Items,
    MarkdownItem,
    Record,
    Source,
    Truths,
)
from parsemark.protocols.document.omnidocbench.rows import (
    LOGIC,
    has_top_cells,
    item_rows,
    leading_environment,
    split_items,
    split_truths,
    top_rows,
)

_EPSILON = 1e-12
_RESCUED = frozenset({"text_formula", "image_formula", "formula_rescue", "table_formula_rescue"})
_FORMULA_TYPES = frozenset({"", INLINE, FORMULA})
_MAX_COMBINATIONS = 128
_MAX_PREDICTIONS = 5_000
"""Of one page above which monotone alignment is left out; the published code has no bound."""
_MAX_STATES = 200_000  # truths times predictions, likewise
_MAX_COMPARISONS = 8_000_000
"""Of truths with runs of predictions (some 30 s), likewise: rows of one formula make up to 364 each."""


def match_formulas(truths: Truths, items: Items, current: Sequence[Record], profile: Profile) -> list[Record]:
    """Return the formula records of a page."""
    pool = _pool(items)
    if not truths and not pool:
        return []
    offered = [(list(current), _Prepared(truths, pool, profile), 0)]
    offered += ((*candidate, 0) for candidate in _candidates(truths, pool, profile))
    rewritten = [replace(i, content=rewrite_logic_braces(i.content)) for i in pool]
    if changed := sum(old.content != new.content for old, new in zip(pool, rewritten, strict=True)):
        offered += ((*candidate, changed) for candidate in _candidates(truths, rewritten, profile))
    best = _chosen(offered, len(pool))
    for record in best:
        record.gt_cdm, record.pred_cdm_alt = cdm_variants(record.gt, record.pred)
    return best


def _pool(items: Items) -> list[MarkdownItem]:
    """Return formulas, then rescued ones, without repeats, each with its source."""
    seen: dict[Source, MarkdownItem] = {}
    for item in sorted((i for i in items if i.cat in (FORMULA, RESCUE)), key=lambda i: i.cat == RESCUE):
        source = (item.start, item.end, item.content, item.fine, FORMULA)
        seen.setdefault(source, replace(item, cat=FORMULA, source=source))
    return list(seen.values())


def _ftype(item: MarkdownItem) -> str:
    return FORMULA if item.type in _RESCUED else item.type


class _Prepared:
    """Truths in rows and predictions in order, ready for a matcher."""

    def __init__(self, truths: Truths, pool: Items, profile: Profile, split: bool = False) -> None:
        self.profile = profile
        ordered = sorted(pool, key=lambda i: (i.start, _ftype(i) == INLINE, i.end))
        self.items = split_items(ordered, profile) if split else ordered
        self.strings: Strings = prepare(split_truths(list(truths), profile), self.items, profile)
        self.n_truths = len(self.strings.norm_truths)
        self.n_preds = len(self.strings.norm_preds)
        self.sources = [item.source for item in self.strings.items]
        self.are_formulas = [_ftype(item) == FORMULA for item in self.strings.items]

    def row(self, truth: int, preds: Sequence[int] = ()) -> Record:
        """Return the record of one truth and a sequence of predictions."""
        s = self.strings
        record = record_of(AnsweredTruths((truth,), tuple(preds), 1), s, self.profile)
        if preds:
            record.norm_pred = " ".join(s.norm_preds[p] for p in preds)
            record.pred_category_type = _ftype(s.items[preds[0]])
            record.edit = ned(record.norm_gt, record.norm_pred)
        if len(preds) > 1:
            record.pred = as_array([s.own_items[p].content for p in preds], self.profile)
            record.pred_category_type = FORMULA
        return record


def _candidates(truths: Truths, pool: Items, profile: Profile) -> list[tuple[list[Record], _Prepared]]:
    """Return candidates 2 to 7, in their order, each with the list in which its sources are looked up."""
    whole = _Prepared(truths, pool, profile)
    quick = [r for r in quick_match(truths, pool, profile, splits_items=False) if r.has_truth]
    found = [(quick, whole), (_hungarian_rows(whole), whole)]
    found += [(rows, whole) for rows in _aligned(whole)]
    found += _partitions(truths, pool, profile)
    split = _Prepared(truths, pool, profile, split=True)
    if len(split.items) > len(whole.items):
        found += [(rows, split) for rows in _aligned(split)]
    return found


def _hungarian_rows(prepared: _Prepared) -> list[Record]:
    distances = ned_matrix(prepared.strings.norm_truths, prepared.strings.norm_preds)
    pairs = assignment(_with_stand_ins(distances))[: prepared.n_truths]
    return [prepared.row(t, (p,) if p < prepared.n_preds else ()) for t, p in pairs]


def _with_stand_ins(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost matrix of the published code, with rows and columns for no match, at a cost of 1.

    Where no truth need go without an answer they change nothing, not even among equally good assignments: an
    answer costs no more than a stand-in and is taken before it, and the rows of stand-ins, which come last,
    find their own columns or free ones. They are left out then, since of thousands of predictions they would
    make gigabytes.
    """
    g, p = distances.shape
    if p >= g:
        return distances
    square = np.ones((g + p, g + p))
    square[:g, :p] = distances
    square[g:, p:] = 0
    return square


# --- monotone alignment ------------------------------------------------------------------------------------


_Cost = tuple[float, int, int, int]
"""Of an alignment: what it costs, its edits, the lengths that they are over, how many answers are inline."""


def _is_cheaper(cost: _Cost, other: _Cost | None) -> bool:
    """Compare by cost, then by the mean of the edits, then by inline matches."""
    if other is None or abs(cost[0] - other[0]) > _EPSILON:
        return other is None or cost[0] < other[0]
    means = [edits / lengths if lengths else math.inf for _, edits, lengths, _ in (cost, other)]
    return is_less((means[0], cost[-1]), (means[1], other[-1]))


_Runs = list[list[tuple[tuple[int, ...], str]]]
"""By where they start: runs of predictions that may answer one truth, and what they are compared as."""


def _aligned(prepared: _Prepared) -> list[list[Record]]:
    """Return the rows of a monotone alignment, without and with gaps in its runs."""
    without, gaps = (_runs(prepared, gaps) for gaps in (False, True))
    rows = _dp_rows(prepared, without)
    return [rows, rows if gaps == without else _dp_rows(prepared, gaps)]


def _runs(prepared: _Prepared, gaps: bool) -> _Runs | None:
    """Return all runs; None where there are too many states or comparisons."""
    g, p = prepared.n_truths, prepared.n_preds
    if p > _MAX_PREDICTIONS or g * p > _MAX_STATES:
        return None
    found: _Runs = []
    n_comparisons = 0
    for start in range(p if g else 0):
        found.append(_sequences(prepared, start, gaps))
        n_comparisons += g * len(found[-1])
        if n_comparisons > _MAX_COMPARISONS:
            return None
    return found


def _dp_rows(prepared: _Prepared, sequences: _Runs | None) -> list[Record]:
    g, p = prepared.n_truths, prepared.n_preds
    if g == 0 or sequences is None:
        return []
    best: dict[tuple[int, int], _Cost] = {(0, 0): (0.0, 0, 0, 0)}
    origin: dict[tuple[int, int], tuple[int, int, tuple[int, ...] | None]] = {}

    def reach(t: int, q: int, cost: _Cost, came: tuple[int, int], seq: tuple[int, ...] | None) -> None:
        if _is_cheaper(cost, best.get((t, q))):
            best[t, q] = cost
            origin[t, q] = (*came, seq)

    truths = prepared.strings.norm_truths
    for here in product(range(g + 1), range(p + 1)):
        if here not in best:
            continue
        (t, q), (cost, edits, lengths, inline) = here, best[here]
        without = cost + 1, edits, lengths, inline  # one more that goes without
        if q < p:
            reach(t, q + 1, without, here, None)
        if t < g:
            reach(t + 1, q, without, here, ())
        for seq, norm in sequences[q] if t < g and q < p else ():
            distance, length = kernel.levenshtein(truths[t], norm), max(len(truths[t]), len(norm))
            is_inline = len(seq) == 1 and _ftype(prepared.strings.items[seq[0]]) == INLINE
            found = cost + distance / length, edits + distance, lengths + length, inline + is_inline
            reach(t + 1, seq[-1] + 1, found, here, seq)
    rows: dict[int, tuple[int, ...]] = {}
    state = (g, p)
    while state != (0, 0):
        before_t, before_q, step = origin[state]
        if step is not None:
            rows[before_t] = step
        state = (before_t, before_q)
    return [prepared.row(t, rows.get(t, ())) for t in range(g)]


def _sequences(prepared: _Prepared, start: int, gaps: bool) -> list[tuple[tuple[int, ...], str]]:
    """Return the runs of predictions that may answer one truth together, depth first."""
    g, p = prepared.n_truths, prepared.n_preds
    difference = abs(g - p)
    most = min(p, 10) if g <= 1 else min(p, 12 if difference >= 2 else 10)
    span, skips = most, 0
    if gaps:
        span = min(p, most + 2)
        skips = 2 if difference >= 3 else int(difference >= 1 or p >= 4)
    sources, formulas, norms = prepared.sources, prepared.are_formulas, prepared.strings.norm_preds
    found: list[tuple[tuple[int, ...], str]] = []

    def extend(seq: tuple[int, ...], text: str, skipped: int, one_source: bool, all_formulas: bool) -> None:
        found.append((seq, text))
        if len(seq) == most:
            return
        for after in range(seq[-1] + 1, min(p, start + span)):
            gap = after - seq[-1] - 1
            if skipped + gap > skips:
                break
            same = one_source and sources[after] == sources[start]
            run = all_formulas and gap == 0 and formulas[after]
            if same or run:  # else what follows would not be allowed either: a gap or a second source stays
                extend((*seq, after), f"{text} {norms[after]}", skipped + gap, same, run)

    extend((start,), norms[start], 0, True, formulas[start])
    return found


# --- partitions of rows ------------------------------------------------------------------------------------


def _partitions(truths: Truths, pool: Items, profile: Profile) -> list[tuple[list[Record], _Prepared]]:
    options = [_options(item, profile) for item in _Prepared((), pool, profile).items]
    if not 1 < math.prod(map(len, options)) <= _MAX_COMBINATIONS:
        return []
    found: dict[tuple[object, ...], tuple[list[Record], _Prepared]] = {}
    for combination in product(*options):
        prepared = _Prepared(truths, [item for option in combination for item in option], profile)
        rows = _hungarian_rows(prepared)
        key = tuple((tuple(r.gt_position), tuple(r.pred_idx), round(r.edit, 6)) for r in rows)
        found.setdefault(key, (rows, prepared))
    return list(found.values())


def _options(item: MarkdownItem, profile: Profile) -> list[list[MarkdownItem]]:
    """Return the ways to cut a formula between its rows."""
    rows = item_rows(item, profile)
    if rows is None or not 2 <= len(rows) <= 8:
        return [[item]]
    options = []
    for mask in range(2 ** (len(rows) - 1)):
        cuts = [0, *(k for k in range(1, len(rows)) if mask >> (k - 1) & 1), len(rows)]
        options.append([_segment(rows[start:end], profile) for start, end in pairwise(cuts)])
    return options


def _segment(rows: list[MarkdownItem], profile: Profile) -> MarkdownItem:
    if len(rows) == 1:
        return rows[0]
    content = "\\[" + as_array([row.content for row in rows], profile) + "\\]"
    return replace(rows[0], content=content, end=rows[-1].end, fine=FORMULA)


# --- choice ------------------------------------------------------------------------------------------------


def _chosen(offered: Sequence[tuple[list[Record], _Prepared, int]], pool_size: int) -> list[Record]:
    """Return the first complete candidate with the least key."""
    best: list[Record] = []
    least: tuple[float, ...] | None = None
    for records, prepared, changed in offered:
        for record in records:
            if record.pred_category_type in _RESCUED:
                record.pred_category_type = FORMULA
        if not _is_complete(records, prepared.n_truths):
            continue
        sources, total, n_missed, weighted = _key_parts(records, prepared)
        mean = total / len(records) if records else 0.0
        key = (total, weighted, max(0, pool_size - sources), mean, -changed, n_missed)
        if least is None or is_less(key, least):
            least, best = key, records
    return best


def _key_parts(records: list[Record], prepared: _Prepared) -> tuple[int, float, int, float]:
    """Return how many sources are used, the sum of edits, truths without an answer, edits over lengths."""
    answered = [r for r in records if r.pred_idx != [""]]
    distance = sum(kernel.levenshtein(r.norm_gt, r.norm_pred) for r in answered)
    length = sum(max(len(r.norm_gt), len(r.norm_pred)) for r in answered)
    weighted = math.inf if not records else distance / length if length else 0.0
    items = prepared.items
    sources = {items[p].source for r in records for p in r.pred_idx if isinstance(p, int) and p < len(items)}
    return len(sources), sum(r.edit for r in records), len(records) - len(answered), weighted


def _is_complete(records: Sequence[Record], n_truths: int) -> bool:
    if n_truths == 0:
        return True
    indices = {r.gt_idx[0] for r in records}
    return (
        len(records) == n_truths == len(indices)
        and all(len(r.gt_idx) == 1 for r in records)
        and all(r.pred_category_type in _FORMULA_TYPES for r in records)
    )


def is_less(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Return whether one key comes before another, by more than rounding."""
    for x, y in zip(a, b, strict=True):
        if abs(x - y) > _EPSILON:
            return x < y
    return False


# --- logic braces ------------------------------------------------------------------------------------------

_ANY_BEGIN = re.compile(r"\\begin\s*\{")


def rewrite_logic_braces(text: str, depth: int = 0) -> str:
    """Return cases that list steps of an argument, as a brace before an array."""
    if depth == 0 and "\\begin{cases}" not in text:
        return text
    parts: list[str] = []
    position = 0
    while (match := _ANY_BEGIN.search(text, position)) is not None:
        environment = leading_environment(text, match.start())
        if environment is None or depth > 50:
            parts.append(text[position : match.end()])
            position = match.end()
            continue
        parts.append(text[position : match.start()])
        body = rewrite_logic_braces(environment.body, depth + 1)
        if environment.name == "cases" and _is_logic(body, text[environment.end :]):
            parts.append(f"\\left\\{{ \\begin{{array}}{{l}} {body.strip()} \\end{{array}} \\right.")
        else:
            end = environment.body_start + len(environment.body)
            parts.append(text[match.start() : environment.body_start] + body + text[end : environment.end])
        position = environment.end
    return "".join(parts) + text[position:]


def _is_logic(body: str, after: str) -> bool:
    rows = top_rows(body)
    if len(rows) < 2 or any(has_top_cells(row) for row in rows):
        return False
    if LOGIC.search(body) or LOGIC.search(after[:200]):
        return True
    return leading_environment(after.lstrip()) is not None
