"""Judging pairs: one verdict for each pair, judge and repeat, whatever happens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import product

from parsemark.judges.ask import Asker
from parsemark.judges.base import Answered, Call, Judge, JudgeOutcome
from parsemark.judges.prompts import PROMPT_VERSIONS, ScoreAnswer, pair_question
from parsemark.judges.replies import read_reply

MAX_CHARACTERS = 400_000  # a pair with more is not sent: no model that is asked here reads so much


@dataclass(frozen=True, slots=True)
class Pair:
    """What is judged."""

    id: str
    truth: str
    pred: str
    kind: str = "table"


@dataclass(frozen=True, kw_only=True)
class PairVerdict(JudgeOutcome):
    """What a judge made of a pair: an outcome whose value is a `ScoreAnswer`."""

    pair: str
    judge: str
    prompt: str
    prompt_version: int
    repeat: int

    @property
    def score(self) -> float | None:
        """From 0 to 10; None unless the status is `ok`."""
        return self.value.score if isinstance(self.value, ScoreAnswer) else None

    @property
    def errors(self) -> tuple[str, ...]:
        """What the judge finds wrong."""
        return self.value.errors if isinstance(self.value, ScoreAnswer) else ()


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

    def came(call: Call, outcome: JudgeOutcome) -> None:
        pair, repeat = call.tag
        deliver(_of(pair, call.judge, repeat, outcome))

    asker.ask(_calls(pairs, judges, repeats, deliver), came)


def _calls(
    pairs: Iterable[Pair], judges: Sequence[Judge], repeats: int, deliver: Callable[[PairVerdict], None]
) -> Iterator[Call]:
    for pair in pairs:
        shown = f"{pair.truth}\n{pair.pred}"
        for judge, repeat in product(judges, range(repeats)):
            ruled = _without_asking(pair)
            if ruled is not None:
                deliver(_of(pair.id, judge, repeat, ruled))
                continue
            asked = {"prompt": judge.prompt_text or judge.prompt, "order": judge.order, "kind": pair.kind}
            question = pair_question(pair.truth, pair.pred, **asked, repeat=repeat, fence=judge.fence)
            read = partial(read_reply, form=ScoreAnswer, key=question.key, shown=shown)
            yield Call(judge, question, read, (pair.id, repeat))


def _without_asking(pair: Pair) -> JudgeOutcome | None:
    if not pair.pred.strip():
        return JudgeOutcome(Answered.OK, ScoreAnswer(score=0.0), "an empty extraction; no judge was asked")
    if len(pair.truth) + len(pair.pred) > MAX_CHARACTERS:
        why = f"the pair has more than {MAX_CHARACTERS:,} characters"
        return JudgeOutcome(Answered.UNFIT, message=why)
    return None


def _of(pair: str, judge: Judge, repeat: int, outcome: JudgeOutcome) -> PairVerdict:
    known = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
    version = 0 if judge.prompt_file else PROMPT_VERSIONS[judge.prompt]
    known |= {"prompt": judge.prompt, "prompt_version": version, "repeat": repeat}
    return PairVerdict(pair=pair, judge=str(judge), **known)
