"""One page: its annotation and a Markdown prediction as the records of each element (section 7)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz.distance import Levenshtein

from parsemark.matching.edit_distance import ned
from parsemark.protocols.document.omnidocbench.extract import extract
from parsemark.protocols.document.omnidocbench.formulas import is_less, match_formulas
from parsemark.protocols.document.omnidocbench.normalise import (
    INLINE_PAIRS,
    clean,
    inline_to_text,
    latex_to_text,
    norm_formula,
    norm_text,
    unwrap_formula,
)
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.quick_match import Kind, prepare, quick_match, simple_match
from parsemark.protocols.document.omnidocbench.records import (
    FORMULA,
    IGNORED,
    INLINE,
    RESCUE,
    TEXT,
    TEXT_CATEGORIES,
    Items,
    MarkdownItem,
    PageTruth,
    Place,
    Record,
    Truth,
    Truths,
    page_truth,
)
from parsemark.protocols.document.omnidocbench.scan import replace_spans
from parsemark.protocols.document.omnidocbench.table_html import parse_html
from parsemark.protocols.document.omnidocbench.table_lines import items_of_tables

_TABLES = frozenset({"html_table", "latex_table"})
Matcher = Callable[[Truths, Items, Profile, Kind], list[Record]]


@dataclass(slots=True)
class Order:
    """Reading order of a page: the truth's, and that of what was found."""

    gt: list[Place]
    pred: list[Place]
    img_id: str
    edit: float


@dataclass(slots=True)
class PageRecords:
    """All records of a page."""

    name: str
    text: list[Record] = field(default_factory=list)
    formulas: list[Record] = field(default_factory=list)
    tables: list[Record] = field(default_factory=list)
    latex_tables: list[Record] = field(default_factory=list)  # v1.0: tables matched as LaTeX
    moved: list[Record] = field(default_factory=list)
    """v1.5: formulas answered by text, which count as text after all pages."""
    order: Order | None = None
    ignored: list[Record] = field(default_factory=list)


def page_records(
    page: Mapping[str, Any], markdown: str, profile: Profile, match: str = "quick_match"
) -> PageRecords:
    """Match one page."""
    name = image_name(page)
    truth = page_truth(page, profile)
    items = extract(markdown, profile)
    records = PageRecords(name)
    left_over = _match_tables(records, truth, items, profile)
    if profile.mixes_formulas:
        _match_mixed(records, truth, items, left_over, profile)
    else:
        _match_apart(records, truth, items, profile, match)
    counted = list(records.text)
    if profile.order_of_all:
        counted += [*records.formulas, *records.tables]
    if match != "no_split":
        records.order = reading_order(counted, name)
    for own in (records.text, records.formulas, records.tables, records.latex_tables, records.ignored):
        for record in own:
            record.img_id = name
    if profile.moves_text_formulas:
        _set_moved_apart(records, profile)
    return records


def image_name(page: Mapping[str, Any]) -> str:
    """Return N: the name of the page's picture, by which results are filed."""
    return str(page["page_info"]["image_path"]).replace("\\", "/").rpartition("/")[2]


# --- tables ------------------------------------------------------------------------------------------------


def _match_tables(
    records: PageRecords, truth: PageTruth, items: Items, profile: Profile
) -> list[MarkdownItem]:
    """Match the tables; returns the predicted ones that answer nothing and are matched as text."""
    html, latex = ([i for i in items if i.cat == cat] for cat in ("html_table", "latex_table"))
    if profile.latex_tables == "html":
        candidates = html + [MarkdownItem(i.cat, "", i.start, i.end, i.fine) for i in latex]
        if truth.tables:
            records.tables = simple_match(truth.tables, candidates, profile)
        used = {p for record in records.tables for p in record.pred_idx}
        left = [c for k, c in enumerate(candidates) if k not in used]
        return left if profile.leftover_tables_are_lines else []
    if not truth.tables:
        return []
    as_latex = len(latex) > len(html)
    candidates, matcher = (latex, _match_as_latex) if as_latex else (html, simple_match)
    found = matcher(truth.tables, candidates, profile)
    if as_latex and profile.latex_tables == "apart":
        records.latex_tables = found
    else:
        records.tables = found
    used = {p for r in found for p in r.pred_idx}
    left = [c for k, c in enumerate(candidates) if k not in used]
    if as_latex and profile.latex_tables == "zero":
        for record in found:
            record.pred, record.norm_pred, record.pred_idx = "", "", [""]
            record.pred_position = record.pred_category_type = ""
            record.edit = 1
    return left


def _match_as_latex(truths: Truths, items: Items, profile: Profile) -> list[Record]:
    """Return the truth's LaTeX decides; the record has its HTML."""
    as_latex = [Truth(t.category, t.latex or "", t.order, t.attribute, t.ids, t.latex) for t in truths]
    found = simple_match(as_latex, items, profile)
    kept = [t for t in truths if t.latex]
    for record in found:
        owner = kept[int(record.gt_idx[0])]
        record.gt, record.norm_gt = owner.raw, owner.raw
    return found


def _cells_as_text(tables: Items) -> list[MarkdownItem]:
    cells = []
    for table in tables:
        for cell in parse_html(table.content).find_all("td"):
            if cell.string is not None:
                content = str(cell.string).replace("$\\cdot$", "").strip()
                cells.append(MarkdownItem(TEXT, content, table.start, table.end, table.fine))
    return cells


# --- text and formulas -------------------------------------------------------------------------------------


def _match_apart(records: PageRecords, truth: PageTruth, items: Items, profile: Profile, match: str) -> None:
    matchers: dict[str, Matcher] = {"simple_match": simple_match, "no_split": _no_split}
    matcher = matchers.get(match, quick_match)
    texts, formulas = ([i for i in items if i.cat == cat] for cat in (TEXT, FORMULA))
    for record in matcher(truth.text, texts, profile, "text"):
        (records.ignored if record.gt_category_type in IGNORED else records.text).append(record)
    found = matcher(truth.formulas, formulas, profile, "formula")
    records.formulas = [r for r in found if r.has_truth]


def _no_split(truths: Truths, items: Items, profile: Profile, kind: Kind) -> list[Record]:
    """Return all of a page as one text."""
    strings = prepare(truths, items, profile, kind)
    gt = [i for i in range(len(strings.norm_truths)) if strings.truths[i].position != ""]
    gt.sort(key=lambda i: strings.truths[i].order or 0)
    pred = [i for i in range(len(strings.norm_preds)) if strings.items[i].start]
    pred.sort(key=lambda i: strings.items[i].start)
    if not gt and not pred:
        return []
    record = Record([0], [0], gt_category_type="text_merge", pred_category_type="text_merge")
    record.gt, record.norm_gt, record.pred, record.norm_pred = map("\n\n".join, (
        [strings.own_truths[i].raw for i in gt], [strings.norm_truths[i] for i in gt],
        [strings.own_items[i].content for i in pred], [strings.norm_preds[i] for i in pred],
    ))  # fmt: skip
    record.edit = ned(record.norm_gt, record.norm_pred)
    return [record]


def _match_mixed(
    records: PageRecords, truth: PageTruth, items: Items, left_over: Items, profile: Profile
) -> None:
    mixed = [i for i in items if i.cat not in _TABLES and i.cat != RESCUE]
    if profile.leftover_cells_are_text:
        mixed += _cells_as_text(left_over)
    if profile.leftover_tables_are_lines:
        mixed += items_of_tables(left_over)
    found = quick_match(truth.text, mixed, profile)
    if profile.refines_matches:
        _compare_mixed_as_text(found, profile)
        _search_spans(found, mixed, profile)
    for record in found:
        category = record.gt_category_type
        if category == FORMULA:
            records.formulas.append(record)
        elif category in IGNORED:
            records.ignored.append(record)
        elif category in TEXT_CATEGORIES:
            records.text.append(record)
    if profile.refines_matches:
        records.formulas = match_formulas(truth.formulas, items, records.formulas, profile)


def _set_moved_apart(records: PageRecords, profile: Profile) -> None:
    kept: list[Record] = []
    for record in records.formulas:
        if record.pred_category_type in (INLINE, FORMULA, ""):
            kept.append(record)
            continue
        record.gt = latex_to_text(record.gt, strict_braces=profile.lone_brace_empties_text) or ""
        record.norm_gt = clean(record.gt, profile)
        records.moved.append(record)
    records.formulas = kept


# --- matches of v1.6 made better: mixed pairs as text, and a search for runs that fit (sections 7.3, 7.4) ---

_FORMULA_TYPES = frozenset({FORMULA, INLINE})
_HINT = re.compile(r"\$[^$]+\$|\\\([^)]*\\\)")
_HINTS = ("\\frac", "\\sum", "\\int", "\\sqrt", "\\left", "\\right")
_SEARCHED_EDIT = 0.45
_MAX_HINTS = 100_000


def _compare_mixed_as_text(records: Sequence[Record], profile: Profile) -> None:
    """Compare records of a text and a formula as text."""
    for record in records:
        kinds = (record.gt_category_type, record.pred_category_type)
        if not all(kinds) or sum(kind in _FORMULA_TYPES for kind in kinds) != 1:
            continue
        record.gt, record.pred = (
            inline_to_text(unwrap_formula(text) if kind in _FORMULA_TYPES else text, profile)
            for text, kind in zip((record.gt, record.pred), kinds, strict=True)
        )
        record.norm_gt, record.norm_pred = norm_text(record.gt, profile), norm_text(record.pred, profile)
        both = bool(record.norm_gt) and bool(record.norm_pred)
        record.edit = ned(record.norm_gt, record.norm_pred) if both else 1


_BetterRun = tuple[float, range, str]
"""Items that follow each other and answer a record better than what it has: edit, members, norm."""


def _search_spans(records: Sequence[Record], items: Items, profile: Profile) -> None:
    """Replace bad answers by runs of items that fit better and that no other record owns."""
    searched = [i for i, record in enumerate(records) if _is_searched(record)]
    if not searched:
        return
    pool = sorted(items, key=lambda item: (item.is_inline, item.start))
    owned = [_own(record, pool) for record in records]
    owners: dict[int, set[int]] = {}
    for index, (record, own) in enumerate(zip(records, owned, strict=True)):
        for item in own if record.has_truth else ():
            owners.setdefault(item, set()).add(index)
    texts = [
        inline_to_text(unwrap_formula(item.content) if item.cat == FORMULA else item.content, profile)
        for item in pool
    ]
    found = []
    for index in searched:
        free = [owners.get(item, {index}) == {index} for item in range(len(pool))]
        if (run := _best_run(records[index], owned[index], pool, texts, free, profile)) is not None:
            found.append((records[index], *run))
    used: set[int] = set()
    for record, edit, members, norm in sorted(found, key=lambda run: run[1] - run[0].edit):
        if used.isdisjoint(members):
            used.update(members)
            record.pred_idx, record.pred = list(members), "".join(pool[i].content for i in members)
            record.pred_position, record.pred_category_type = pool[members[0]].start, "text_block"
            record.norm_pred, record.edit = norm, edit


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
    record: Record,
    own: Sequence[int],
    pool: Items,
    texts: Sequence[str],
    free: Sequence[bool],
    profile: Profile,
) -> _BetterRun | None:
    hint, target = _has_hint(record.gt), inline_to_text(record.gt, profile)
    if hint:
        target = replace_spans(
            record.gt, INLINE_PAIRS, lambda s: norm_formula(s.inner, profile).strip(), dotall=False
        )
    target = norm_text(target, profile)
    low, high = (min(own) - 8, max(own) + 8) if own else (0, len(pool))
    allowed = (TEXT, FORMULA) if hint else (TEXT,)
    least: tuple[float, ...] | None = None
    best: _BetterRun | None = None
    for first in range(max(0, low), min(len(pool), high + 1)):
        for last in range(first, min(len(pool), high + 1, first + (8 if hint else 4))):
            if pool[last].cat not in allowed or not free[last]:
                break
            if norm := norm_text("".join(texts[first : last + 1]), profile):
                edit = ned(target, norm)
                key = (edit, last - first, abs(first - own[0]) if own else 0)
                if least is None or is_less(key, least):
                    least, best = key, (edit, range(first, last + 1), norm)
    is_better = best is not None and best[0] < record.edit - 0.2 and best[0] <= (0.45 if hint else 0.35)
    return best if is_better else None


# --- reading order -----------------------------------------------------------------------------------------


def reading_order(records: Sequence[Record], name: str) -> Order | None:
    """Return the order of what was found against that of the truth; None without both."""
    with_truth = [r for r in records if r.gt_position != [""]]
    gt = sorted(p for r in with_truth for p in r.gt_position if p and not isinstance(p, str))
    placed = sorted((r for r in with_truth if r.pred_position != ""), key=lambda r: r.pred_position)
    pred = [p for r in placed for p in r.gt_position if p]
    if not gt and not pred:
        return None
    return Order(list(gt), pred, name, Levenshtein.distance(gt, pred) / max(len(gt), len(pred)))
