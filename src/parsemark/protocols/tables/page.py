"""Matches and scores the tables of one page.

Each page is matched three times:

- `bbox`: optimal one-to-one assignment by IoU; a table without a box is found nowhere.
- `content`: optimal one-to-one assignment by content-Jaccard; for all parsers.
- `ngrams`: by character 3-grams, with splits put together and merges cut apart; for all parsers.

or once, where that is asked for:

- `order`: the first table of the truth with the first of the output, and so on, as some boards do it.

Every matched pair is scored with each metric. A missed table, an invented one, and every table of a page on
which the parser failed get a row with a status and no value. Of a page without a truth only the measures of
the whole page are known: how many tables were found, and how much of their text was invented.

A true table that cannot be read is there to be found by its place or number, but no structure is compared.
Its match by text is unknown: it is not missed then, and no prediction on its page is invented.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import compress

from parsemark.matching import match_by_ngrams, match_one_to_one, rank_one_to_one
from parsemark.matching.tables import BOX_RULE, CONTENT_RULE, NGRAM_RULE, ORDER_RULE, THETA, is_positive
from parsemark.metrics import get_metric, guarded
from parsemark.metrics.table_input import TableInput
from parsemark.model import (
    TRUTH_ERROR,
    Category,
    Element,
    Match,
    Matching,
    Page,
    Prediction,
    Score,
    Status,
    Table,
)
from parsemark.protocols.run_data.rows import MatchRow, PageScores, ScoreRow
from parsemark.protocols.tables.invented_text import invented_text
from parsemark.protocols.tables.matched_tables import is_by_place

TABLES_FOUND = "tables_found"  # page-level measure: how many tables a parser says are on the page
BOXES_FOUND = "boxes_found"  # page-level measure: how many of them have a box
EVIDENT_TABLES = "evident_tables"
"""Page-level measure: how many of them are no list, and no text in columns without rows."""
RANKED = "-ranked"  # ending of the name of a rule where predictions were matched in order of their confidence
CATEGORY = str(Category.TABLE)


truth_input = lru_cache(maxsize=64)(TableInput)  # one truth is compared with the answers of many parsers
_BULLET = re.compile(r"\s*[•‣◦▪▫●○■□◆◇➤➢✓✔∙·⁃–—*-](?:\s|$)")
_MARK = re.compile(r"\s*(?:[^\w\s]+|\(?(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]+)[.):])?\s*")
"""What stands before the item of a list, or says nothing."""


def is_evident(table: Table) -> bool:
    """Return whether what a parser calls a table is matched for one: two rows that say something in two
    columns.

    The marks of a list say nothing, and an item of a list is one text though it was cut at its blanks.
    """
    rows: dict[int, list[str]] = {}
    for cell in sorted(table.cells, key=lambda cell: (cell.row, cell.col)):
        if cell.text.strip():
            rows.setdefault(cell.row, []).append(cell.text)
    said = [
        sum(_MARK.fullmatch(text) is None for text in texts)
        for texts in rows.values()
        if _BULLET.match(texts[0]) is None
    ]
    return sum(n >= 2 for n in said) >= 2


def known_matches(matches: Iterable[Match]) -> Iterator[Match]:
    """Yield the matches of a page that may have more tables than its truth: what answers none may be one of
    those.

    A prediction that overlaps a true table so little that this is not found is no answer to it either.
    """
    for match in matches:
        if match.pred and (match.overlap or 0.0) <= THETA:
            # Others of a merge are misses already.
            yield from (Match((truth,), ()) for truth in match.truth[:1])
        elif match.truth:
            yield match


@dataclass
class PageScorer:
    """Scores one page; holds what is shared between the rules."""

    metrics: Sequence[str]
    page: Page | None
    prediction: Prediction
    in_order: bool = False
    out: PageScores = field(default_factory=PageScores)
    inputs: dict[int, TableInput] = field(default_factory=dict)
    """What is prepared of an element, by its identity: truths and predictions may share ids."""
    known: dict[tuple[str, str, str], Score] = field(default_factory=dict)
    """Scores of plain pairs, which several rules ask for."""

    def run(self, page_text: str | None) -> PageScores:
        """Return all rows of the page."""
        if self.page is not None:
            self._match(self.page.tables)
        positive = [p for p in self.prediction.tables if is_positive(p.confidence)]
        boxes = sum(p.box is not None for p in positive)
        evident = sum(p.table is not None and is_evident(p.table) for p in positive)
        for metric, n in ((TABLES_FOUND, len(positive)), (BOXES_FOUND, boxes), (EVIDENT_TABLES, evident)):
            self._record_page(metric, float(n) if self.prediction.status is Status.OK else None)
        if page_text is not None:
            characters, numbers, culprits = invented_text(self.prediction, page_text)
            message = ", ".join(culprits) or None
            self._record_page("invented_characters", characters, message)
            self._record_page("invented_numbers", numbers, message)
        return self.out

    def _match(self, truth: Sequence[Element]) -> None:
        pred = self.prediction.tables
        confident = [is_positive(p.confidence) for p in pred]
        if self.in_order:
            self._record(match_one_to_one(ORDER_RULE, truth, pred, confident), {})
            return
        self._record(match_one_to_one(BOX_RULE, truth, pred, confident), {})
        readable = [t for t in truth if not t.is_unread]
        self._record(match_one_to_one(CONTENT_RULE, readable, pred, confident), {})
        by_characters = match_by_ngrams(readable, [*compress(pred, confident)])
        self._record(by_characters.matching, by_characters.answers)
        if any(p.confidence is not None for p in pred):
            confidence = [1.0 if p.confidence is None else p.confidence for p in pred]
            for rule in (BOX_RULE, CONTENT_RULE, NGRAM_RULE):
                matching = rank_one_to_one(rule, truth if rule == BOX_RULE else readable, pred, confidence)
                self._record(replace(matching, rule=matching.rule + RANKED), {})

    def _record(self, matching: Matching, answers: Mapping[str, Table]) -> None:
        page, by_place = self.page, is_by_place(matching.rule)
        covered = page is not None and (page.covers(Category.TABLE) if by_place else page.knows_tables)
        place = self.prediction.sample, self.prediction.parser, matching.rule, CATEGORY
        for match in matching.matches if covered else known_matches(matching.matches):
            given = [c for p in match.pred if (c := self._pred(p).confidence) is not None]
            sure = max(given, default=None)
            row = MatchRow(*place, match.truth, match.pred, match.kind, match.overlap, sure)
            self.out.matches.append(row)
            self.out.scores.extend(self._score_row(matching.rule, match, m, answers) for m in self.metrics)

    def _score_row(self, rule: str, match: Match, metric: str, answers: Mapping[str, Table]) -> ScoreRow:
        if not match.truth:
            score = Score(metric, None, Status.NO_TRUTH)
        elif not match.pred:
            failed = self.prediction.status is not Status.OK
            status = self.prediction.status if failed else Status.NO_PREDICTION
            score = Score(metric, None, status, message=self.prediction.message)
        elif (truth := self._truth(match.truth[0])).is_unread:
            why = truth.attributes.get(TRUTH_ERROR) or "The truth contains only the table's position."
            score = Score(metric, None, Status.NO_TRUTH, message=str(why))
        else:
            score = self._score(match, metric, answers.get(match.truth[0]))
        return ScoreRow.of_element(
            self.prediction, rule, CATEGORY, match.truth[:1], match.pred, replace(score, metric=metric)
        )

    def _score(self, match: Match, metric: str, answer: Table | None) -> Score:
        chosen, pred = get_metric(metric), self._pred(match.pred[0])
        truth = self._input(self._truth(match.truth[0]), truth_input)
        if answer is not None and (len(match.pred) > 1 or answer != pred.table):
            return guarded(chosen, partial(chosen.score, truth, TableInput(answer)))
        key = (match.truth[0], match.pred[0], metric)
        if key not in self.known:
            self.known[key] = guarded(chosen, partial(chosen.score, truth, self._input(pred)))
        return self.known[key]

    def _input(
        self, element: Element, prepare: Callable[[Table | str], TableInput] = TableInput
    ) -> TableInput:
        if id(element) not in self.inputs:
            source = element.table if element.table is not None else element.html or ""
            self.inputs[id(element)] = prepare(source)
        return self.inputs[id(element)]

    def _record_page(self, metric: str, value: float | None, message: str | None = None) -> None:
        status = Status.OK if value is not None else Status.NO_PREDICTION
        if self.prediction.status is not Status.OK:
            status = self.prediction.status
        self.out.scores.append(ScoreRow.of_page(self.prediction, metric, value, status, message))

    def _truth(self, element_id: str) -> Element:
        elements = self.page.elements if self.page is not None else ()
        return next(e for e in elements if e.id == element_id)

    def _pred(self, element_id: str) -> Element:
        return next(e for e in self.prediction.elements if e.id == element_id)
