"""The rows of one page under the strict profile."""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from parsemark.errors import MissingDependencyError
from parsemark.formats.latex.formula import bare_formula
from parsemark.kernels import kernel
from parsemark.metrics import get_metric
from parsemark.metrics.coverage import text_coverage
from parsemark.metrics.headings import Heading, parent_accuracy, tree_similarity
from parsemark.metrics.reading_order import order_edit
from parsemark.metrics.table_input import TableInput
from parsemark.model import Category, Element, Page, Prediction, Score, Status
from parsemark.protocols.document.annotation import TRUTH_HAS_ONLY_TABLES, mark_only_tables
from parsemark.protocols.document.strict.page import (
    PageBlock,
    PageMatches,
    Share,
    formula_symbols,
    in_one_notation,
    match_page,
)
from parsemark.protocols.run_data.rows import PageScores, RowWriter

RULE = "strict"


def score_page(truth: Page | None, prediction: Prediction, *, cdm: bool) -> PageScores:
    """Match and score one page; a page on which the parser failed has everything missed."""
    writer = RowWriter(prediction, RULE)
    if truth is None:
        return writer.out
    matches, writer.status, writer.why = match_page(truth, prediction)
    if not matches.is_complete:
        writer.why = "The page exceeds the limit of the matcher, so only equal blocks were matched."
    has_text = not truth.only_tables and bool(matches.truth.blocks or matches.covers_text)
    if has_text:
        shares = [matches.shares(match) for match in matches.blocks if matches.counts(match)]
        _score_blocks(writer, shares)
        _score_formulas(writer, shares, cdm)
    _score_tables(writer, matches)
    if has_text:
        _score_order(writer, matches)
        _score_headings(writer, matches)
        _score_coverage(writer, matches)
    else:
        writer.page("text_edit", None, Status.NO_TRUTH, TRUTH_HAS_ONLY_TABLES)
    mark_only_tables(writer)
    return writer.out


def _score_blocks(writer: RowWriter, matches: Sequence[Sequence[Share]]) -> None:
    """Score text: edits over the longer side of every match; missed and extra text counts in full."""
    edits_of_page = length_of_page = 0
    for shares in matches:
        edits = [kernel.levenshtein(share.text, share.said) for share in shares]
        truths, preds = [t for share in shares for t in share.truths], shares[0].preds
        longer = max(sum(len(block.text) for block in side) for side in (truths, preds))
        ids = [t.element.id for t in truths], [p.element.id for p in preds]
        category = str((truths or preds)[0].element.category)
        writer.match(category, *ids, 1 - sum(edits) / longer if truths and preds else None)
        for share, share_edits in zip(shares, edits, strict=True):
            if share.is_uncounted or share.is_formula:
                continue
            length = max(len(share.text), len(share.said))
            edits_of_page += share_edits
            length_of_page += length
            writer.element("text", *share.ids, "edit_distance", share_edits / length)
            writer.element("text", *share.ids, "length", float(length))
    if length_of_page:
        writer.page("text_edit", edits_of_page / length_of_page)
        writer.page("text_edits", float(edits_of_page))
        writer.page("text_length", float(length_of_page))


def _score_formulas(writer: RowWriter, matches: Sequence[Sequence[Share]], cdm: bool) -> None:
    """Score formulas: similarity of what they show; a missed and an invented one are 0, each counted.

    Several that answer one, or one that answers several, are one on each side: where a formula of many rows
    is cut is a matter of notation. Of a block that also answers texts only the formula's share is compared.
    """
    similarities: list[float] = []
    pairs: list[tuple[list[str], list[str], str, str]] = []
    n_truth = n_pred = 0
    for share in (share for shares in matches for share in shares):
        if not share.is_formula or share.is_uncounted:
            continue
        n_truth += bool(share.truths)
        n_pred += bool(share.said)
        value = 0.0
        if share.truths and share.said:
            value = _formula_similarity(share)
            similarities.append(value)
            truth, pred = (
                " ".join(block.element.latex or block.element.text or "" for block in side)
                for side in (share.truths, share.preds)
            )
            pairs.append((*share.ids, truth, pred if share.is_whole else share.said))
        writer.element("formula", *share.ids, "edit_distance", 1 - value)
    if not n_truth and not n_pred:
        return
    writer.page("formula_f1", 2 * sum(similarities) / (n_truth + n_pred))
    writer.page("formula_credit", 2 * sum(similarities))
    writer.page("formula_count", float(n_truth + n_pred))
    if cdm:
        _score_cdm(writer, pairs, n_truth + n_pred)


def _formula_similarity(share: Share) -> float:
    """Return 1 less the edits over the longer side: of symbols between formulas, else of characters."""
    a, b = list(share.text), list(share.said)
    if share.is_whole and all(block.is_formula for block in (*share.truths, *share.preds)):
        a, b = (
            [s for block in side for s in formula_symbols(block.element.latex or "")]
            for side in (share.truths, share.preds)
        )
    longer = max(len(a), len(b))
    return 1 - Levenshtein.distance(a, b) / longer if longer else 1.0


def _score_cdm(writer: RowWriter, pairs: Sequence[tuple[list[str], list[str], str, str]], count: int) -> None:
    from parsemark.metrics.cdm.score import cdm_scores

    try:
        # Behind a line break a brace would be read as an escaped one.
        drawn = ([bare_formula(t).strip().replace("\\\\{", "\\\\ {") for t in pair[2:]] for pair in pairs)
        scores = cdm_scores([(truth, pred) for truth, pred in drawn], whole=True)
    except MissingDependencyError as error:
        writer.page("cdm_f1", None, Status.METRIC_FAILED, str(error))
        return
    for (truths, preds, _, _), score in zip(pairs, scores, strict=True):
        writer.element("formula", truths, preds, "cdm", score.value, score.reason)
    writer.page("cdm_f1", 2 * sum(s.value for s in scores) / count)


def _score_tables(writer: RowWriter, page: PageMatches) -> None:
    """Score tables: TEDS of each match; a missed and an invented table are 0, each counted.

    As in the protocol `tables`: the parts of a split table each count as a prediction and earn one credit
    together; a parser that merges tables has found the first of them, and the others are misses of their own.
    """
    ignored = {e.id for e in page.truth.ignored_tables}
    by_id: dict[str, Element] = {e.id: e for e in page.truth.tables}
    credits: dict[str, float] = {"teds": 0.0, "teds_structure": 0.0}
    n_truth = n_pred = n_false = 0
    metrics = {"teds": get_metric("teds"), "teds_structure": get_metric("teds(structure_only=true)")}
    for match in page.tables.matching.matches:
        if not match.truth and Category.TABLE in page.uncovered:
            continue
        writer.match("table", match.truth, match.pred, match.overlap)
        if match.truth and all(t in ignored for t in match.truth):
            continue
        n_truth += bool(match.truth)
        n_pred += len(match.pred)
        n_false += not match.truth
        for name, metric in metrics.items():
            score = Score(name, 0.0)
            if match.truth and match.pred:
                truth, answer = by_id[match.truth[0]].table, page.tables.answers[match.truth[0]]
                score = metric.score(TableInput(truth), TableInput(answer))
                credits[name] += max(0.0, score.value or 0.0)
            writer.element("table", match.truth, match.pred, name, score.value, score.message)
    if n_truth or n_pred:
        for name, total in credits.items():
            writer.page(f"{name}_f1", 2 * total / (n_truth + n_pred))
        writer.page("table_credit", 2 * credits["teds"])
        writer.page("table_count", float(n_truth + n_pred))
        writer.page("false_tables", float(n_false))


def _score_order(writer: RowWriter, page: PageMatches) -> None:
    """Reading order: the truth's places in the order of the prediction, edited into the truth's order."""
    placed: list[tuple[int, int]] = []
    expected: list[int] = []

    def place(truths: Sequence[Element], pred: Element | None) -> None:
        orders = [e.order for e in truths if e.order is not None]
        expected.extend(orders)
        placed.extend((pred.order or 0, order) for order in orders if pred is not None)

    pred_tables = {e.id: e for e in page.pred.tables}
    for match in page.blocks:
        places = [page.truth.blocks[t] for t in match.truths]
        answer = page.pred.blocks[match.preds[0]].element if match.preds else None
        place([b.element for b in places if not b.is_neutral], answer)
    true_tables = {e.id: e for e in page.truth.tables}
    # Tables that were merged into another are misses as well: here they stand where that one does.
    for found in sorted(page.tables.matching.matches, key=lambda m: -len(m.truth)):
        here = [true_tables.pop(t) for t in found.truth if t in true_tables]
        place(here, pred_tables[found.pred[0]] if found.pred else None)
    if expected:
        writer.page("order_edit", order_edit(expected, placed))


def _score_headings(writer: RowWriter, page: PageMatches) -> None:
    truth, pred = (
        {i: b for i, b in enumerate(side.blocks) if b.element.category == Category.TITLE and not b.is_neutral}
        for side in (page.truth, page.pred)
    )
    if not truth:
        return
    if Category.TITLE in page.uncovered:
        known = {p for m in page.blocks if m.truths for p in m.preds}
        pred = {i: b for i, b in pred.items() if i in known}
    where_t, where_p = ({i: k for k, i in enumerate(side)} for side in (truth, pred))
    true_tree, pred_tree = ([_heading(b) for b in side.values()] for side in (truth, pred))
    answers = {
        where_t[m.truths[0]]: where_p[m.preds[0]]
        for m in page.blocks
        if m.truths and m.preds and m.truths[0] in where_t and m.preds[0] in where_p
    }
    writer.page("heading_parents", parent_accuracy(true_tree, pred_tree, answers))
    writer.page("heading_tree", tree_similarity(true_tree, pred_tree))


def _heading(block: PageBlock) -> Heading:
    from parsemark.formats.document.write import heading_level

    level = block.element.attributes.get("level")
    if not isinstance(level, int) or isinstance(level, bool):
        level = heading_level(block.element)
    return Heading(block.text, level or 1)


def _score_coverage(writer: RowWriter, page: PageMatches) -> None:
    truth, pred = covered_texts(page)
    neutral = [b.text for b in page.truth.blocks if b.is_neutral] + _table_texts(page.truth.ignored_tables)
    found = text_coverage(truth, pred)
    writer.page("lost_text", found.lost / found.truth if found.truth else None)
    if found.pred and page.covers_text and Category.TABLE not in page.uncovered:
        known = text_coverage([*truth, *neutral], pred)
        writer.page("invented_text", known.invented / known.pred)
        writer.page("duplicated_text", known.duplicated / known.pred)


def covered_texts(page: PageMatches) -> tuple[list[str], list[str]]:
    """Return the texts and cells of which characters may be lost, and all that the output has."""
    truth = [b.text for b in page.truth.blocks if not b.is_neutral] + _table_texts(page.truth.tables)
    return truth, [b.text for b in page.pred.blocks] + _table_texts(page.pred.tables)


def _table_texts(tables: Sequence[Element]) -> list[str]:
    return [t for e in tables if e.table is not None for c in e.table.cells if (t := in_one_notation(c.text))]
