"""The deterministic matcher and a language model side by side, truth by truth."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from parsemark.judges import Asker, Judge
from parsemark.judges.base import JudgeOutcome
from parsemark.judges.locate import LocatedTruths, locate
from parsemark.kernels.ngrams import multiset_f1, text_bag
from parsemark.matching.tables import is_positive
from parsemark.model import Page, Prediction, Status
from parsemark.protocols.semantic.page import (
    TruthAnswer,
    deterministic_answers,
    located_answers,
    output_text,
    truth_source,
)

SAME_TEXT = 0.8  # two answers are the same if the F1 of their character 3-grams is at least this


@dataclass
class MatcherComparison:
    """How the two matchers compare on the outputs of one parser. Counts are of truths."""

    parser: str
    truths: int = 0
    same: int = 0  # both point at the same text, or both at none
    different: int = 0  # both found something, but not the same
    only_rule: int = 0
    only_model: int = 0
    not_asked: int = 0  # truths of pages on which the model gave no answer
    texts_exact: int = 0  # spans that the model copied character by character
    texts_recovered: int = 0  # spans that it copied with slips, found by alignment
    texts_lost: int = 0  # texts that are not in the output: made up, and not used
    kinds: Counter[str] = field(default_factory=Counter)  # pairs, splits, merges and misses of the model
    cost_usd: float = 0.0


def compare_matchers(
    pages: Iterable[tuple[Page, Prediction]],
    judge: Judge,
    asker: Asker,
    advance: Callable[[], None] = lambda: None,
) -> list[MatcherComparison]:
    """Match every page twice. Pages without tables, and pages on which a parser failed, are left out."""
    known = {
        (prediction.parser, page.id): (page, prediction)
        for page, prediction in pages
        if page.tables and prediction.status is Status.OK
    }
    found: dict[str, MatcherComparison] = {}

    def deliver(tag: tuple[str, str], outcome: JudgeOutcome) -> None:
        page, prediction = known[tag]
        row = found.setdefault(prediction.parser, MatcherComparison(prediction.parser))
        row.cost_usd += outcome.cost_usd or 0.0
        row.truths += len(page.tables)
        if isinstance(outcome.value, LocatedTruths):
            sure = [p for p in prediction.tables if is_positive(p.confidence)]
            ours, _ = deterministic_answers(page.tables, sure)
            theirs = located_answers(page.tables, outcome.value, output_text(prediction))
            _count(row, ours, theirs, outcome.value)
        else:
            row.not_asked += len(page.tables)
        advance()

    asked = (
        (tag, [truth_source(t) for t in page.tables], output_text(prediction))
        for tag, (page, prediction) in known.items()
    )
    locate(asked, judge, asker, deliver)
    return [found[name] for name in sorted(found)]


def _count(
    row: MatcherComparison, ours: Sequence[TruthAnswer], theirs: Sequence[TruthAnswer], located: LocatedTruths
) -> None:
    by_truth = {answer.truth.id: answer for answer in ours}
    for their in theirs:
        our = by_truth[their.truth.id]
        row.kinds[their.kind] += 1
        if bool(our.pred) != bool(their.pred):
            row.only_rule += bool(our.pred)
            row.only_model += bool(their.pred)
        elif not our.pred or _same_text(our, their):
            row.same += 1
        else:
            row.different += 1
    spans = [span for own in located.spans for span in own]
    row.texts_exact += sum(span.exact for span in spans)
    row.texts_recovered += sum(not span.exact for span in spans)
    row.texts_lost += located.n_lost


def _same_text(*answers: TruthAnswer) -> bool:
    one, other = (
        text_bag(a.text if a.table is None else " ".join(cell.text for cell in a.table.cells))
        for a in answers
    )
    return one == other or multiset_f1(one, other) >= SAME_TEXT
