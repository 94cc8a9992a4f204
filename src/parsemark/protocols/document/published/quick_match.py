"""Truths and items of one page, matched and written as records (sections 5 and 6)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsemark.matching.edit_distance import assignment, ned, ned_matrix
from parsemark.protocols.document.published.adjacency_search import SETTLED, AnsweredTruths, adjacency_match
from parsemark.protocols.document.published.normalise import norm_of, unwrap_formula
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import (
    FORMULA,
    IGNORED,
    Items,
    MarkdownItem,
    Record,
    Truth,
    Truths,
)
from parsemark.protocols.document.published.rows import split_items, split_truths
from parsemark.protocols.document.published.table_html import norm_table

Kind = Literal["text", "formula", "mixed", "table"]


@dataclass(slots=True)
class Strings:
    """What is compared: normalised strings without the empty ones, and whose they are.

    `truths` and `items` are looked up by the index of a string. With the published defect they still hold the
    items of empty strings, so that what stands behind one of those gets its neighbour's place.
    """

    truths: Truths
    items: Items
    own_truths: list[Truth]
    norm_truths: list[str]
    own_items: list[MarkdownItem]
    norm_preds: list[str]


def prepare(truths: Truths, items: Items, profile: Profile, kind: Kind = "mixed") -> Strings:
    """Normalise both sides and drop what is empty."""

    def norm(raw: str, category: str) -> str:
        if kind == "table":
            is_raw = not profile.normalises_table_cells or "<table" not in raw.lower()
            return raw if is_raw else norm_table(raw, profile)
        is_formula = kind == "formula" or (kind == "mixed" and category == FORMULA)
        return norm_of(raw, is_formula, profile)

    left = [(t, said) for t in truths if t.raw and (said := norm(t.raw, t.category))]
    right = [(i, said) for i in items if i.content and (said := norm(i.content, i.cat))]
    own_truths, own_items = [t for t, _ in left], [i for i, _ in right]
    owners = (truths, items) if profile.filters_strings_only else (own_truths, own_items)
    return Strings(*owners, own_truths, [said for _, said in left], own_items, [said for _, said in right])


def quick_match(
    truths: Truths,
    items: Items,
    profile: Profile,
    kind: Kind = "mixed",
    *,
    splits_items: bool = True,
) -> list[Record]:
    """Adjacency Search Match of one page."""
    if profile.mixes_formulas:
        truths = split_truths(list(truths), profile)
        items = sorted(items, key=lambda item: (item.is_inline, item.start))
        if splits_items:
            items = split_items(items, profile)
    strings = prepare(truths, items, profile, kind)
    return [_record(answer, strings, profile) for answer in _answers(strings, profile)]


def _answers(strings: Strings, profile: Profile) -> list[AnsweredTruths]:
    truths, preds = strings.norm_truths, strings.norm_preds
    if not truths:
        return [AnsweredTruths((), (p,), 1) for p in range(len(preds))]
    if not preds:
        return [AnsweredTruths((t,), (), 1) for t in range(len(truths))]
    if len(truths) == len(preds) == 1:
        return [AnsweredTruths((0,), (0,), ned(truths[0], preds[0]))]
    categories = [t.category for t in strings.own_truths]
    ignored = [t for t, c in enumerate(categories) if c in IGNORED] if profile.ignored_first else []
    taken, ignored_answers = _ignored_answers(ignored, strings)
    passed_over = frozenset(ignored)
    rows = [t for t in range(len(truths)) if t not in passed_over]
    columns = [p for p in range(len(preds)) if p not in taken]
    found = adjacency_match(
        [truths[t] for t in rows],
        [preds[p] for p in columns],
        group_limit=profile.group_limit or None,
        can_be_contained=lambda t: profile.formulas_can_be_contained or categories[rows[t]] != FORMULA,
        leftovers_by_ned=profile.leftovers_by_ned,
        repeats_unmatched=profile.repeats_unmatched_truths,
    )
    answers = [
        AnsweredTruths(tuple(rows[t] for t in a.truths), tuple(columns[p] for p in a.preds), a.edit)
        for a in found
    ]
    if profile.mixes_formulas:
        answers = [a for a in answers if a.truths or not a.preds or not strings.items[a.preds[0]].is_inline]
    return answers + ignored_answers


def _ignored_answers(ignored: list[int], strings: Strings) -> tuple[set[int], list[AnsweredTruths]]:
    """What captions, headers and the like take, and their answers."""
    if not ignored:
        return set(), []
    truths = [strings.norm_truths[t] for t in ignored]
    matrix = ned_matrix(truths, strings.norm_preds)
    close = [(row, p) for row, p in np.argwhere(matrix < SETTLED).tolist()]
    taken, last = {p for _, p in close}, dict(close)
    open_rows = [row for row in range(len(ignored)) if row not in last]
    unused = sorted(taken - set(last.values()))
    if open_rows and unused:
        for r, c in assignment(matrix[open_rows][:, unused]):
            last[open_rows[r]] = unused[c]
    edits = {row: float(matrix[row, p]) for row, p in last.items()}
    return taken, [
        AnsweredTruths((t,), (last[row],) if row in last else (), edits.get(row, 1))
        for row, t in enumerate(ignored)
    ]


def _record(answer: AnsweredTruths, strings: Strings, profile: Profile) -> Record:
    record = Record(list(answer.truths) or [""], list(answer.preds) or [""], edit=answer.edit)
    if answer.truths:
        _fill_truth(record, answer.truths, strings, profile)
    if answer.preds:
        _fill_pred(record, answer.preds, strings, profile)
    return record


def _fill_truth(record: Record, indices: Sequence[int], strings: Strings, profile: Profile) -> None:
    own = [strings.own_truths[t] for t in indices]
    raws = [t.raw for t in own]
    record.gt = "".join(raws)
    record.norm_gt = "".join(strings.norm_truths[t] for t in indices)
    owners = [strings.truths[t] for t in indices]
    record.gt_position = [t.position for t in owners]
    record.gt_attribute = [t.attribute for t in owners]
    record.truth_ids = tuple(i for t in own for i in t.ids)
    categories = [t.category for t in owners]
    counted = Counter([c for c in categories if c not in IGNORED] or categories)
    record.gt_category_type = counted.most_common(1)[0][0]
    if profile.mixes_formulas and len(indices) > 1 and record.gt_category_type == FORMULA:
        record.gt = as_array(raws, profile)


def _fill_pred(record: Record, indices: Sequence[int], strings: Strings, profile: Profile) -> None:
    raws = [strings.own_items[p].content for p in indices]
    record.pred = "".join(raws)
    record.norm_pred = "".join(strings.norm_preds[p] for p in indices)
    first = strings.items[indices[0]]
    record.pred_position = first.start
    record.pred_category_type = first.type
    if profile.mixes_formulas and len(indices) > 1 and "equation" in first.type:
        record.pred = as_array(raws, profile)


def as_array(raws: Sequence[str], profile: Profile) -> str:
    """Several formulas as the rows of one."""
    if profile.formula_norm == "v1.6":
        rows = [unwrap_formula(raw) for raw in raws]
    else:
        rows = [raw.strip("$").strip("\n") for raw in raws]
    return r"\begin{array}{l} " + r" \\ ".join(f"{{{row}}}" for row in rows) + r" \end{array}"


def simple_match(truths: Truths, items: Items, profile: Profile, kind: Kind = "table") -> list[Record]:
    """One record per truth, by one assignment without any threshold; tables are always matched so."""
    strings = prepare(truths, items, profile, kind)
    matrix = ned_matrix(strings.norm_truths, strings.norm_preds)
    pairs = dict(assignment(matrix))
    records = []
    for t in range(len(strings.norm_truths)):
        p = pairs.get(t)
        record = Record([t], [""] if p is None else [p])
        _fill_truth(record, (t,), strings, profile)
        if p is not None:
            record.edit = float(matrix[t, p])
            record.pred, record.norm_pred = strings.own_items[p].content, strings.norm_preds[p]
            if p != 0 or not profile.index_zero_is_missing:
                record.pred_position = strings.items[p].start
                record.pred_category_type = strings.items[p].type
        records.append(record)
    if kind != "table":
        paired = frozenset(pairs.values())
        left = tuple(p for p in range(len(strings.norm_preds)) if p not in paired)
        if left:
            records.append(_record(AnsweredTruths((), left, 1), strings, profile))
    return records
