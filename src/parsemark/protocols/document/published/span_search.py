"""What v1.6 does with its matches: mixed pairs as text, and a search for better runs (sections 7.3, 7.4)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from parsemark.matching.edit_distance import ned
from parsemark.protocols.document.published.normalise import (
    INLINE_PAIRS,
    inline_to_text,
    norm_formula,
    norm_text,
    unwrap_formula,
)
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import FORMULA, INLINE, TEXT, Items, Record
from parsemark.protocols.document.published.scan import replace_spans

_FORMULA_TYPES = frozenset({FORMULA, INLINE})
_HINT = re.compile(r"\$[^$]+\$|\\\([^)]*\\\)")
_HINTS = ("\\frac", "\\sum", "\\int", "\\sqrt", "\\left", "\\right")
_SEARCHED_EDIT = 0.45
_MAX_HINTS = 100_000


def compare_mixed_as_text(records: Sequence[Record], profile: Profile) -> None:
    """Records of a text and a formula are compared as text (7.3 a)."""
    for record in records:
        kinds = (record.gt_category_type, record.pred_category_type)
        if not all(kinds) or sum(kind in _FORMULA_TYPES for kind in kinds) != 1:
            continue
        record.gt, record.pred = (
            inline_to_text(unwrap_formula(text) if kind in _FORMULA_TYPES else text, profile)
            for text, kind in zip((record.gt, record.pred), kinds, strict=True)
        )
        record.norm_gt = norm_text(record.gt, profile)
        record.norm_pred = norm_text(record.pred, profile)
        both = bool(record.norm_gt) and bool(record.norm_pred)
        record.edit = ned(record.norm_gt, record.norm_pred) if both else 1


@dataclass(slots=True)
class _Stretch:
    record: Record
    first: int
    last: int
    norm: str
    edit: float
    gain: float


def search_spans(records: Sequence[Record], items: Items, profile: Profile) -> None:
    """Replace bad answers by runs of items that fit better and that no other record owns."""
    searched = [i for i, record in enumerate(records) if _is_searched(record)]
    if not searched:
        return
    pool = sorted(items, key=lambda item: (item.is_inline, item.start))
    owned = [_own(record, pool) for record in records]
    owners: dict[int, set[int]] = {}
    for index, (record, own) in enumerate(zip(records, owned, strict=True)):
        if record.has_truth:
            for item in own:
                owners.setdefault(item, set()).add(index)
    texts = [
        inline_to_text(unwrap_formula(item.content) if item.cat == FORMULA else item.content, profile)
        for item in pool
    ]
    found = [
        run
        for index in searched
        if (run := _best_run(index, records[index], owned[index], owners, pool, texts, profile)) is not None
    ]
    used: set[int] = set()
    for run in sorted(found, key=lambda r: -r.gain):
        members = range(run.first, run.last + 1)
        if not used.isdisjoint(members):
            continue
        used.update(members)
        record = run.record
        record.pred_idx = list(members)
        record.pred = "".join(pool[i].content for i in members)
        record.pred_position, record.pred_category_type = pool[run.first].start, "text_block"
        record.norm_pred, record.edit = run.norm, run.edit


def _own(record: Record, pool: Items) -> list[int]:
    own = [p for p in record.pred_idx if isinstance(p, int) and p < len(pool)]
    if own or record.pred_position == "":
        return own
    place = record.pred_position
    assert not isinstance(place, str)
    return [i for i, item in enumerate(pool) if item.start <= place <= item.end]


def _has_hint(text: str) -> bool:
    if any(mark in text for mark in _HINTS) or _HINT.search(text[:_MAX_HINTS]) is not None:
        return True
    return ("^" in text or "_" in text) and ("$" in text or "\\" in text)


def _is_searched(record: Record) -> bool:
    if not record.has_truth or record.edit <= _SEARCHED_EDIT:
        return False
    if record.gt_category_type == "title":
        return True
    return record.gt_category_type == "text_block" and (_has_hint(record.gt) or len(record.norm_gt) >= 80)


def _best_run(
    index: int,
    record: Record,
    own: Sequence[int],
    owners: dict[int, set[int]],
    pool: Items,
    texts: Sequence[str],
    profile: Profile,
) -> _Stretch | None:
    hint = _has_hint(record.gt)
    target = inline_to_text(record.gt, profile)
    if hint:
        as_formula = partial(norm_formula, profile=profile)
        target = replace_spans(record.gt, INLINE_PAIRS, lambda s: as_formula(s.inner).strip(), dotall=False)
    target = norm_text(target, profile)
    low, high = (min(own) - 8, max(own) + 8) if own else (0, len(pool) - 1)
    low, high = max(0, low), min(len(pool) - 1, high)
    allowed, only = (TEXT, FORMULA) if hint else (TEXT,), {index}
    best: tuple[float, int, int] | None = None
    chosen: _Stretch | None = None
    for first in range(low, high + 1):
        for last in range(first, min(high, first + (8 if hint else 4) - 1) + 1):
            if pool[last].cat not in allowed or owners.get(last, only) != only:
                break
            norm = norm_text("".join(texts[first : last + 1]), profile)
            if not norm:
                continue
            edit = ned(target, norm)
            key = (edit, last - first, abs(first - own[0]) if own else 0)
            if (
                best is None
                or edit < best[0] - 1e-12
                or (abs(edit - best[0]) <= 1e-12 and key[1:] < best[1:])
            ):
                best = key
                chosen = _Stretch(record, first, last, norm, edit, record.edit - edit)
    if chosen is None or chosen.edit >= record.edit - 0.2 or chosen.edit > (0.45 if hint else 0.35):
        return None
    return chosen
