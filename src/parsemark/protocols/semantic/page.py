"""Matches and scores the tables of one page.

Each truth has a row `semantic` (0 to 10) and a row `teds` beside it. A missed table, and every table of a
page on which the parser failed, has no value and counts as zero. Where the judge failed there is no value
either: if the answer was no answer (`refused`, `broken_answer`, `cut_off`) it counts as zero, and if there
was none (`not_asked`, `timed_out`, …) the table counts as not judged. A second table that says something else
of the same truth is judged with the first. What the endpoint does not take because of the output (`unfit`)
counts as zero; where it does not take the truth beside itself either, the table counts as not judged. Where
the matcher gave no answer, the matches of the page's tables are unknown. They count as zero if the output
kept it from answering, which it does if it answers when shown the truths as the output; else, they are not
judged.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from parsemark.errors import FormatError
from parsemark.formats import read_tables, says_the_same, without_unseen, write_table
from parsemark.judges import AnswerStore, Asker, AskOptions, Pair, PairVerdict, get_judge, judge_pairs
from parsemark.judges.base import Answered, JudgeOutcome
from parsemark.judges.locate import LocatedTruths, locate
from parsemark.kernels.ngrams import multiset_f1, text_bag
from parsemark.matching import match_by_ngrams
from parsemark.matching.combine import stack_tables
from parsemark.matching.ngrams import MIN_PAIR_F1
from parsemark.matching.tables import element_text, is_positive
from parsemark.metrics import TableInput, get_metric
from parsemark.model import Category, Element, Page, Prediction, Score, Status, Table
from parsemark.model.table import complexity
from parsemark.protocols.run_data.rows import MatchRow, PageScores, ScoreRow
from parsemark.protocols.semantic.options import NGRAMS, READER, SemanticOptions

SEMANTIC, TEDS = "semantic", "teds"
EXTRA_TABLES, JUDGE_COST, JUDGE_SECONDS = "extra_tables", "judge_cost_usd", "judge_seconds"
NOT_JUDGED = "not judged: "
"""Beginning of the message of a score that is missing for reasons that have nothing to do with the output."""
LOCATED = "located"
CATEGORY = str(Category.TABLE)
_WITHOUT_ANSWER = frozenset(
    {Answered.NOT_ASKED, Answered.TIMED_OUT, Answered.RATE_LIMITED, Answered.UNREACHABLE, Answered.REJECTED}
)
_BY_THE_OUTPUT = frozenset({Answered.UNFIT, Answered.CUT_OFF, Answered.REFUSED, Answered.BROKEN})
"""The matcher gave no answer because of what it was shown: the output, or the truths."""
_TAG = re.compile(r"<(/?[A-Za-z][\w:-]*)([^<>]*)>")
_SPAN = re.compile(r"\b(rowspan|colspan)\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]{2,}")
_LONGEST_BLANK = 80  # columns of plain text stand apart by less
_EMPTY_TAG = re.compile(r"<(?!(?:t[dhr]|table)\b)(\w+)[^<>]*>\s*</\1>", re.IGNORECASE)
_DEEPEST_PADDING = 20
_EMPTY_LINES = re.compile(r"\n(?:[^\S\n]*(?:[|&][ \t|&]*)?(?:\\\\)?[^\S\n]*\n){3,}")
_EMPTY_ROW = r"<tr>\s*(?:<t[dh]>\s*</t[dh]>\s*)*</tr>\s*"
_EMPTY_ROWS = re.compile(rf"((?:{_EMPTY_ROW}){{2}})(?:{_EMPTY_ROW})+")
_DATA = re.compile(r"data:[\w/+.;=-]{0,100},[A-Za-z0-9+/=%_-]{200,}")


@dataclass(frozen=True, slots=True)
class TruthAnswer:
    """What answers one truth: as text for judges, and as a table for metrics."""

    truth: Element
    pred: tuple[str, ...]
    text: str
    table: Table | None
    overlap: float | None
    kind: str
    rivals: tuple[tuple[Element, float], ...] = ()
    """Tables of the output that would answer it too, were they alone, and how alike they are (0 to 1)."""


Spent = tuple[float, float]  # what asking cost on this page, in dollars and seconds


def score_page(how: SemanticOptions, page: Page | None, prediction: Prediction) -> PageScores:
    """Return all rows of a page."""
    out = PageScores()
    if page is None:
        return out
    readable = [table for table in page.tables if not table.is_unread]
    rule, (answers, n_extra, unmatched, locating) = _answers(how, readable, prediction)
    scores, judging = _semantic(how, answers)
    place = (prediction.sample, prediction.parser, rule, CATEGORY)
    for answer in answers:
        truths = (answer.truth.id,)
        if unmatched is None:
            out.matches.append(MatchRow(*place, truths, answer.pred, answer.kind, answer.overlap, None))
        for metric, score in ((SEMANTIC, scores.get(answer.truth.id)), (TEDS, _teds(answer))):
            own = _missing(metric, prediction, unmatched) if not answer.pred else score
            own = own or Score(metric, None, Status.METRIC_FAILED)
            out.scores.append(ScoreRow.of_element(prediction, rule, CATEGORY, truths, answer.pred, own))
    counted = prediction.status is Status.OK and unmatched is None
    measures = {EXTRA_TABLES: float(n_extra) if counted else None} if page.knows_tables else {}
    if how.asks:
        measures[JUDGE_COST], measures[JUDGE_SECONDS] = map(sum, zip(locating, judging, strict=True))
    for metric, value in measures.items():
        none = _missing(metric, prediction, unmatched)
        status, message = (none.status, none.message) if value is None else (Status.OK, None)
        out.scores.append(ScoreRow.of_page(prediction, metric, value, status, message))
    return out


def _missing(metric: str, prediction: Prediction, why: str | None) -> Score:
    """Return a truth without an answer: the parser failed, or missed it, or the matcher could not be
    asked.
    """
    if prediction.status is not Status.OK:
        return Score(metric, None, prediction.status, prediction.message)
    if why is not None:
        return Score(metric, None, Status.METRIC_FAILED, why)
    return Score(metric, None, Status.NO_PREDICTION)


def _answers(
    how: SemanticOptions, truths: Sequence[Element], prediction: Prediction
) -> tuple[str, tuple[list[TruthAnswer], int, str | None, Spent]]:
    """Return the rule; what answers each truth, how many tables answer none, why nothing was matched, the
    cost.
    """
    sure = [p for p in prediction.tables if is_positive(p.confidence)]
    if how.match == NGRAMS:
        return NGRAMS, (*deterministic_answers(truths, sure), None, (0.0, 0.0))
    sources, output = [truth_source(t) for t in truths], output_text(prediction)
    outcome = _locate_some(how, sources, output)
    cost, seconds = outcome.cost_usd or 0.0, outcome.seconds
    if not isinstance(outcome.value, LocatedTruths):
        why = f"the matcher: {outcome.status.value}: {outcome.message}"
        control = outcome
        if outcome.status in _BY_THE_OUTPUT:
            control = _locate_some(how, sources, visible("\n\n".join(sources)))
            cost, seconds = cost + (control.cost_usd or 0.0), seconds + control.seconds
        if not isinstance(control.value, LocatedTruths):
            why = NOT_JUDGED + why
        none = [TruthAnswer(t, (), "", None, None, "miss") for t in truths]
        return LOCATED, (none, 0, why, (cost, seconds))
    return LOCATED, (located_answers(truths, outcome.value, output), 0, None, (cost, seconds))


def deterministic_answers(
    truths: Sequence[Element], pred: Sequence[Element]
) -> tuple[list[TruthAnswer], int]:
    """Match by character 3-grams, with splits put together and merges cut apart."""
    matched = match_by_ngrams(truths, pred)
    by_id = {p.id: p for p in pred}
    of_truth = {t.id: t for t in truths}
    used = [name for m in matched.matching.matches if m.truth for name in m.pred]
    answers = []
    for match in matched.matching.matches:
        if not match.truth:
            continue
        table = matched.answers.get(match.truth[0])
        shared = len(match.pred) == 1 and used.count(match.pred[0]) > 1
        text = "\n\n".join(source_of(by_id[name]) for name in match.pred)
        text = write_table(table, "html") if shared and table is not None else text
        kind = "merge" if shared else match.kind
        answers.append(TruthAnswer(of_truth[match.truth[0]], match.pred, text, table, match.overlap, kind))
    extra = [by_id[name] for m in matched.matching.matches if not m.truth for name in m.pred]
    return _with_rivals(answers, extra), len(extra)


def _with_rivals(answers: Sequence[TruthAnswer], extra: Sequence[Element]) -> list[TruthAnswer]:
    """Add to each match the surplus tables that contradict its truth: a judge sees them all."""
    bags = [text_bag(element_text(a.truth)) if a.pred else None for a in answers]
    rivals: dict[int, list[tuple[Element, float]]] = {}
    for element in extra:
        own = text_bag(element_text(element))
        alike = [multiset_f1(bag, own) if bag and own else 0.0 for bag in bags]
        if max(alike, default=0.0) >= MIN_PAIR_F1:
            rivals.setdefault(alike.index(max(alike)), []).append((element, max(alike)))
    found = []
    for row, answer in enumerate(answers):
        others = tuple(rivals.get(row, ()))
        text = "\n\n".join([answer.text, *(source_of(e) for e, _ in others)])
        found.append(replace(answer, text=text, rivals=others))
    return found


def located_answers(truths: Sequence[Element], located: LocatedTruths, output: str) -> list[TruthAnswer]:
    """Match by the spans that a language model pointed at; each text is a literal part of the output."""
    answers = []
    shared = [span for spans in located.spans for span in spans]
    for truth, spans in zip(truths, located.spans, strict=True):
        text = "\n\n".join(output[s.start : s.end] for s in spans)
        names = tuple(f"{s.start}-{s.end}" for s in spans)
        kind = "miss" if not spans else "split" if len(spans) > 1 else "pair"
        if kind == "pair" and sum((s.start, s.end) == (spans[0].start, spans[0].end) for s in shared) > 1:
            kind = "merge"
        answers.append(TruthAnswer(truth, names, text, _table_of(text), None, kind))
    return answers


def output_text(prediction: Prediction) -> str:
    """Return the visible part of the whole output: as the parser returned it, or its elements one after the
    other.
    """
    if prediction.text:
        return visible(prediction.text)
    ordered = sorted(prediction.elements, key=lambda e: (e.order is None, e.order or 0))
    return visible("\n\n".join(filter(None, (source_of(e) for e in ordered))))


def visible(text: str) -> str:
    """Return the visible content: no comments, scripts, embedded pictures, padding, nor attributes but spans.

    >>> visible('<td class="x" colspan="2" data-a="…">1<!-- 2 --></td> 3 < 4 > 2')
    '<td colspan="2">1</td> 3 < 4 > 2'
    """

    def bare(tag: re.Match[str]) -> str:
        spans = "".join(f' {s[1].lower()}="{s[2]}"' for s in _SPAN.finditer(tag[2]))
        return f"<{tag[1]}{spans}>"

    return _without_padding(_TAG.sub(bare, _DATA.sub("", without_unseen(text))))


def _without_padding(text: str) -> str:
    """Remove what fills space and shows nothing: long blanks, empty tags, many empty rows."""
    text = _BLANKS.sub(lambda blanks: blanks[0][:_LONGEST_BLANK], text)
    for _ in range(_DEEPEST_PADDING):
        shorter = _EMPTY_TAG.sub("", text)
        if len(shorter) == len(text):
            break
        text = shorter
    return _EMPTY_ROWS.sub(r"\1", _EMPTY_LINES.sub("\n\n", text))


def source_of(element: Element) -> str:
    """Return the source of an element, or its grid as HTML."""
    said = element.html or element.latex
    return said or (write_table(element.table, "html") if element.table is not None else element.text or "")


def truth_source(truth: Element) -> str:
    """Return the truth as judges are shown it: LaTeX where there is any, since its rules say where headers
    end.

    Of a part of a table that goes on over pages, the LaTeX may be that of the whole; the part has its own.
    """
    if truth.latex and truth.table is not None and not says_the_same(truth.latex, truth.table):
        return write_table(truth.table, "latex")
    return truth.latex or source_of(truth)


def _table_of(text: str) -> Table | None:
    try:
        found = [f.table for f in read_tables(text)]
    except FormatError:
        return None
    return stack_tables(found) if found else None


def _locate_some(how: SemanticOptions, truths: Sequence[str], output: str) -> JudgeOutcome:
    """Ask for all truths at once; where the answer is cut off at its limit, for half of them at a time."""
    got: list[JudgeOutcome] = []
    locate([(None, truths, output)], get_judge(how.match), _asker(how), lambda _, o: got.append(o))
    (whole,) = got
    if whole.status is not Answered.CUT_OFF or len(truths) < 2:
        return whole
    middle = len(truths) // 2
    halves = [_locate_some(how, part, output) for part in (truths[:middle], truths[middle:])]
    cost = sum(o.cost_usd or 0.0 for o in (whole, *halves))
    seconds = sum(o.seconds for o in (whole, *halves))
    for half in (half for half in halves if not isinstance(half.value, LocatedTruths)):
        return replace(half, cost_usd=cost, seconds=seconds)
    one, other = (half.value for half in halves)
    n_lost, n_unknown = one.n_lost + other.n_lost, one.n_unknown + other.n_unknown
    joined = LocatedTruths(one.spans + other.spans, n_lost, n_unknown)
    return replace(halves[0], value=joined, cost_usd=cost, seconds=seconds)


def _semantic(how: SemanticOptions, answers: Sequence[TruthAnswer]) -> tuple[dict[str, Score], Spent]:
    """Return the score of each truth that has an answer."""
    answered = [a for a in answers if a.pred]
    if how.judge == READER:
        return {a.truth.id: _read_by_rule(a) for a in answered}, (0.0, 0.0)
    verdicts: list[PairVerdict] = []
    pairs = [Pair(a.truth.id, truth_source(a.truth), visible(a.text)) for a in answered]
    judge_pairs(pairs, [get_judge(how.judge)], _asker(how), verdicts.append)
    unfit = {v.pair for v in verdicts if v.status is Answered.UNFIT}
    controls: list[PairVerdict] = []  # whether the endpoint takes the truth beside itself
    alone = [Pair(pair.id, pair.truth, visible(pair.truth)) for pair in pairs if pair.id in unfit]
    judge_pairs(alone, [get_judge(how.judge)], _asker(how), controls.append)
    untaken = {v.pair for v in controls if v.status is Answered.UNFIT or v.status in _WITHOUT_ANSWER}
    scores = {v.pair: _verdict_score(v, is_taken=v.pair not in untaken) for v in verdicts}
    asked = [*verdicts, *controls]
    return scores, (sum(v.cost_usd or 0.0 for v in asked), sum(v.seconds for v in asked))


def _read_by_rule(answer: TruthAnswer) -> Score:
    truth = answer.truth
    known = truth.table if truth.table is not None else truth.html or ""
    found = _of_all(answer, SEMANTIC, READER, truth_source(truth) if truth.latex else known)
    errors = [str(e.get("message")) for e in found.details.get("errors", ())][:3]
    return replace(found, message=found.message or " ".join(errors) or None)


def _of_all(answer: TruthAnswer, name: str, metric: str, expected: Table | str) -> Score:
    """Return the score of what answers a truth; of several tables the mean, each as far as it is alike the
    truth.
    """
    given = answer.table if answer.table is not None else answer.text
    found = get_metric(metric).score(TableInput(expected), TableInput(given))
    total, weights = found.value, 1.0
    for rival, weight in answer.rivals:
        other = get_metric(metric).score(TableInput(expected), TableInput(rival.table or source_of(rival)))
        if total is not None:
            total, weights = total + weight * min(other.value or 0.0, found.value or 0.0), weights + weight
    return replace(found, metric=name, value=None if total is None else total / weights)


def _verdict_score(verdict: PairVerdict, *, is_taken: bool) -> Score:
    """Return the judge's score; `is_taken`: whether the endpoint takes the truth beside itself."""
    if verdict.score is not None:
        return Score(SEMANTIC, verdict.score, message=" ".join(verdict.errors) or None)
    why = f"{verdict.status.value}: {verdict.message}"
    if verdict.status in _WITHOUT_ANSWER or not is_taken:
        why = NOT_JUDGED + why
    return Score(SEMANTIC, None, Status.METRIC_FAILED, why)


def _teds(answer: TruthAnswer) -> Score:
    if answer.truth.table is None or not answer.pred:
        return Score(TEDS, None, Status.METRIC_FAILED, "the truth has no grid")
    return _of_all(answer, TEDS, TEDS, answer.truth.table)


@lru_cache(maxsize=4)
def _asker(how: SemanticOptions) -> Asker:
    """Return one for each process; processes of one command share the answers and the limit on cost."""
    options = AskOptions(concurrency=how.concurrency, max_cost_usd=how.max_cost or None)
    return Asker(AnswerStore(), options)


def truth_complexity(truth: Element) -> str | None:
    """Return `simple`, `moderate` or `complex`: what the corpus says, or by rule."""
    said = truth.attributes.get("complexity")
    if isinstance(said, str):
        return said
    return complexity(truth.table) if truth.table is not None else None
