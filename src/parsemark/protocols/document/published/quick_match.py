"""Truths and items of one page, matched and written as records (sections 5 and 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from parsemark.matching.edit_distance import assignment, ned, ned_matrix
from parsemark.protocols.document.published.adjacency_search import SETTLED, AnsweredTruths, adjacency_match
from parsemark.protocols.document.published.normalise import norm_of, unwrap_formula
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import FORMULA, IGNORED, MarkdownItem, Record, Truth
from parsemark.protocols.document.published.rows import split_items, split_truths
from parsemark.protocols.document.published.table_html import norm_table

Kind = Literal["text", "formula", "mixed"]


@dataclass(slots=True)
class Strings:
    """What is compared: raw and normalised strings without the empty ones, and the items beside them.

    `truths` and `items` are looked up by the index of a string. With the published defect they still hold the
    items of empty strings, so that what stands behind one of those gets its neighbour's place.
    """

    truths: list[Truth]
    items: list[MarkdownItem]
    raw_truths: list[str]
    norm_truths: list[str]
    truth_categories: list[str]
    truth_ids: list[tuple[str, ...]]
    raw_preds: list[str]
    norm_preds: list[str]


def prepare(
    truths: Sequence[Truth], items: Sequence[MarkdownItem], profile: Profile, kind: Kind = "mixed"
) -> Strings:
    """Normalise both sides and drop what is empty."""

    def is_formula(category: str) -> bool:
        return kind == "formula" or (kind == "mixed" and category == FORMULA)

    return _strings(
        truths,
        items,
        [norm_of(t.raw, is_formula(t.category), profile) for t in truths],
        [norm_of(i.content, is_formula(i.cat), profile) for i in items],
        profile,
    )


def _strings(
    truths: Sequence[Truth],
    items: Sequence[MarkdownItem],
    norm_truths: Sequence[str],
    norm_items: Sequence[str],
    profile: Profile,
) -> Strings:
    left = [(t, norm) for t, norm in zip(truths, norm_truths, strict=True) if t.raw and norm]
    right = [(i, norm) for i, norm in zip(items, norm_items, strict=True) if i.content and norm]
    as_is = profile.filters_strings_only
    return Strings(
        list(truths) if as_is else [t for t, _ in left],
        list(items) if as_is else [i for i, _ in right],
        [t.raw for t, _ in left],
        [norm for _, norm in left],
        [t.category for t, _ in left],
        [t.ids for t, _ in left],
        [i.content for i, _ in right],
        [norm for _, norm in right],
    )


def quick_match(
    truths: Sequence[Truth],
    items: Sequence[MarkdownItem],
    profile: Profile,
    kind: Kind = "mixed",
    *,
    splits_items: bool = True,
) -> list[Record]:
    """Adjacency Search Match of one page."""
    if profile.mixes_formulas:
        truths = split_truths(list(truths), profile)
        order = sorted(range(len(items)), key=lambda i: (items[i].is_inline, items[i].start))
        items = [items[i] for i in order]
        if splits_items:
            items = split_items(list(items), profile)
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
    categories = strings.truth_categories
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
    close = matrix < SETTLED
    taken = {p for p in range(matrix.shape[1]) if close[:, p].any()}
    last: dict[int, int] = {}
    for row in range(len(ignored)):
        fits = [p for p in range(matrix.shape[1]) if close[row, p]]
        if fits:
            last[row] = fits[-1]
    open_rows = [row for row in range(len(ignored)) if row not in last]
    unused = sorted(set(taken) - set(last.values()))
    if open_rows and unused:
        for r, c in assignment(matrix[open_rows][:, unused]):
            last[open_rows[r]] = unused[c]
    return taken, [
        AnsweredTruths((t,), (last[row],), float(matrix[row, last[row]]))
        if row in last
        else AnsweredTruths((t,), (), 1)
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
    raws = [strings.raw_truths[t] for t in indices]
    record.gt = "".join(raws)
    record.norm_gt = "".join(strings.norm_truths[t] for t in indices)
    owners = [strings.truths[t] for t in indices]
    record.gt_position = [t.position for t in owners]
    record.gt_attribute = [t.attribute for t in owners]
    record.truth_ids = tuple(i for t in indices for i in strings.truth_ids[t])
    categories = [t.category for t in owners]
    counted = Counter([c for c in categories if c not in IGNORED] or categories)
    record.gt_category_type = counted.most_common(1)[0][0]
    if profile.mixes_formulas and len(indices) > 1 and record.gt_category_type == FORMULA:
        record.gt = as_array(raws, profile)


def _fill_pred(record: Record, indices: Sequence[int], strings: Strings, profile: Profile) -> None:
    raws = [strings.raw_preds[p] for p in indices]
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


def simple_match(
    truths: Sequence[Truth],
    items: Sequence[MarkdownItem],
    profile: Profile,
    kind: Kind | Literal["table"] = "table",
) -> list[Record]:
    """One record per truth, by one assignment without any threshold; tables are always matched so."""
    if kind == "table":
        strings = _table_strings(truths, items, profile)
    else:
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
            record.pred, record.norm_pred = strings.raw_preds[p], strings.norm_preds[p]
            if p != 0 or not profile.index_zero_is_missing:
                record.pred_position = strings.items[p].start
                record.pred_category_type = strings.items[p].type
        records.append(record)
    if kind != "table":
        paired = frozenset(pairs.values())
        left = [p for p in range(len(strings.norm_preds)) if p not in paired]
        if left:
            record = Record([""], list(left))
            _fill_pred(record, left, strings, profile)
            records.append(record)
    return records


def _table_strings(truths: Sequence[Truth], items: Sequence[MarkdownItem], profile: Profile) -> Strings:
    def norm(raw: str) -> str:
        if not profile.normalises_table_cells or "<table" not in raw.lower():
            return raw
        return norm_table(raw, profile)

    return _strings(truths, items, [norm(t.raw) for t in truths], [norm(i.content) for i in items], profile)
