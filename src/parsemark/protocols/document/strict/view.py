"""A page to look at: what answers what, in which order it was read, and which text was lost."""

from collections.abc import Sequence

from parsemark.matching.edit_distance import ned
from parsemark.metrics.coverage import text_coverage
from parsemark.model import Box, Element, Page, Prediction
from parsemark.protocols.document.strict.page import PageMatches, match_page
from parsemark.protocols.document.strict.scores import covered_texts, score_page
from parsemark.protocols.presentation import PageMatch, PageView

MAX_TEXT = 6_000  # characters of a text or formula that are shown
MAX_TABLE_TEXT = 600
MAX_LOST = 40

Place = tuple[int, Box]  # where the parser has an element in its order, and where that element is on the page


def view_page(truth: Page, prediction: Prediction) -> PageView:
    """Match a page and say what there is to see; an output that cannot be read is an empty one."""
    page, _, message = match_page(truth, prediction)
    placed: list[Place] = []
    matches = [*_block_matches(page, placed), *_table_matches(page, placed)]
    texts, given = covered_texts(page)
    lost = [texts[b][start:end] for b, start, end in text_coverage(texts, given).lost_places]
    scores = score_page(truth, prediction, cdm=False).scores
    ordered = sorted((e for e in truth.elements if e.order is not None), key=lambda e: e.order or 0)
    return PageView(
        matches=tuple(matches),
        true_path=_boxes(ordered),
        pred_path=tuple(box for _, box in sorted(placed, key=lambda place: place[0])),
        lost=tuple(lost[:MAX_LOST]),
        n_lost=sum(map(len, lost)),
        values={s.metric: s.value for s in scores if s.element == "" and s.value is not None},
        message=message,
    )


def _block_matches(page: PageMatches, placed: list[Place]) -> list[PageMatch]:
    found: list[PageMatch] = []
    for match in filter(page.counts, page.blocks):
        sides = [page.truth.blocks[t] for t in match.truths], [page.pred.blocks[p] for p in match.preds]
        truths, preds = ([block.element for block in side] for side in sides)
        is_answered = bool(truths and preds)
        found.append(
            PageMatch(
                _kind(truths, preds, match.is_moved),
                str((truths or preds)[0].category),
                _content(truths),
                _content(preds),
                1 - ned(*("".join(b.text for b in side) for side in sides)) if is_answered else None,
                _boxes(truths),
                is_formula=any(e.latex and not e.text for e in (*truths, *preds)),
                is_compared=is_answered,
            )
        )
        if preds and (order := preds[0].order) is not None:
            placed += [(order, box) for box in _boxes([e for e in truths if e.order is not None])]
    return found


def _table_matches(page: PageMatches, placed: list[Place]) -> list[PageMatch]:
    true_tables, pred_tables = ({e.id: e for e in side.tables} for side in (page.truth, page.pred))
    found: list[PageMatch] = []
    for match in page.tables.matching.matches:
        kind = "miss" if not match.pred else "extra" if not match.truth else "pair"
        truths = [true_tables[t] for t in match.truth if t in true_tables]
        preds = [pred_tables[p] for p in match.pred if p in pred_tables]
        texts = _table_text(truths), _table_text(preds)
        found.append(PageMatch(kind, "table", *texts, similarity=match.overlap, boxes=_boxes(truths)))
        if preds and (order := preds[0].order) is not None:
            placed += [(order, box) for box in _boxes(truths)]
    return found


def _kind(truths: Sequence[Element], preds: Sequence[Element], moved: bool) -> str:
    if not preds:
        return "miss"
    if not truths:
        return "extra"
    if moved:
        return "moved"
    return "pair" if len(truths) == len(preds) == 1 else "split" if len(truths) == 1 else "merge"


def _boxes(elements: Sequence[Element]) -> tuple[Box, ...]:
    return tuple(e.box for e in elements if e.box is not None)


def _content(elements: Sequence[Element]) -> str:
    return "\n".join(e.text or e.latex or "" for e in elements)[:MAX_TEXT]


def _table_text(elements: Sequence[Element]) -> str:
    cells = [c.text for e in elements if e.table is not None for c in e.table.cells]
    return " | ".join(cells)[:MAX_TABLE_TEXT]
