"""Judging pairs: one verdict for each pair, judge and repeat, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from parsemark.judges.ask import Asker
from parsemark.judges.base import Answered, Call, Judge, JudgeOutcome, Question, Reader
from parsemark.judges.prompts import PROMPT_VERSIONS, ScoreAnswer, pair_question
from parsemark.judges.replies import read_reply

MAX_CHARACTERS = 400_000
"""A pair with more is not sent: no model that is asked here reads so much."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is judged."""

    id: str
    truth: str
    pred: str
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What a judge made of a pair. `score` is from 0 to 10, and None unless the status is `ok`."""

    pair: str
    judge: str
    prompt: str
    prompt_version: int
    repeat: int
    status: Answered
    score: float | None
    errors: tuple[str, ...] = ()
    message: str | None = None
    cost_usd: float | None = 0.0
    spent_usd: float = 0.0
    seconds: float = 0.0
    stored: bool = False


def judge_pairs(
    pairs: Iterable[Pair],
    judges: Sequence[Judge],
    asker: Asker,
    deliver: Callable[[PairVerdict], None],
    *,
    repeats: int = 1,
) -> None:
    """Ask every judge about every pair, `repeats` times; each verdict is delivered when it is known.

    An empty extraction scores 0 without being asked about, as a missed table does in the published study.
    """
    asker.ask(_calls(pairs, judges, repeats, deliver), lambda call, outcome: deliver(_verdict(call, outcome)))


def _calls(
    pairs: Iterable[Pair], judges: Sequence[Judge], repeats: int, deliver: Callable[[PairVerdict], None]
) -> Iterator[Call]:
    for pair in pairs:
        for judge in judges:
            for repeat in range(repeats):
                ruled = _without_asking(pair)
                if ruled is not None:
                    deliver(_of(pair.id, judge, repeat, ruled))
                    continue
                question = pair_question(
                    pair.truth,
                    pair.pred,
                    prompt=judge.prompt_text or judge.prompt,
                    order=judge.order,
                    kind=pair.kind,
                    repeat=repeat,
                    fence=judge.fence,
                )
                shown = f"{pair.truth}\n{pair.pred}"
                yield Call(judge, question, _reader(question, shown), (pair.id, repeat))


def _without_asking(pair: Pair) -> JudgeOutcome | None:
    if not pair.pred.strip():
        return JudgeOutcome(Answered.OK, ScoreAnswer(score=0.0), "an empty extraction; no judge was asked")
    if len(pair.truth) + len(pair.pred) > MAX_CHARACTERS:
        why = f"the pair has more than {MAX_CHARACTERS:,} characters"
        return JudgeOutcome(Answered.UNFIT, message=why)
    return None


def _reader(question: Question, shown: str) -> Reader:
    return lambda reply: read_reply(reply, ScoreAnswer, question.key, shown)


def _verdict(call: Call, outcome: JudgeOutcome) -> PairVerdict:
    pair, repeat = call.tag
    return _of(pair, call.judge, repeat, outcome)


def _of(pair: str, judge: Judge, repeat: int, outcome: JudgeOutcome) -> PairVerdict:
    answer = outcome.value if isinstance(outcome.value, ScoreAnswer) else None
    return PairVerdict(
        pair=pair,
        judge=str(judge),
        prompt=judge.prompt,
        prompt_version=0 if judge.prompt_file else PROMPT_VERSIONS[judge.prompt],
        repeat=repeat,
        status=outcome.status,
        score=answer.score if answer is not None else None,
        errors=answer.errors if answer is not None else (),
        message=outcome.message,
        cost_usd=outcome.cost_usd,
        spent_usd=outcome.spent_usd,
        seconds=outcome.seconds,
        stored=outcome.stored,
    )
