"""Judging pairs, or a file of them: one verdict for each pair, judge and repeat, whatever happens."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import product
from typing import Any

from parsemark.errors import FormatError
from parsemark.judges.ask import Asker
from parsemark.judges.base import Answered, Call, Judge, JudgeOutcome
from parsemark.judges.prompts import PROMPT_VERSIONS, ScoreAnswer, pair_question
from parsemark.judges.replies import read_reply
from parsemark.metrics.pair_files import read_pair

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
        """Return the score from 0 to 10; None unless the status is `ok`."""
        return self.value.score if isinstance(self.value, ScoreAnswer) else None

    @property
    def errors(self) -> tuple[str, ...]:
        """Return the errors that the judge reports."""
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

    def came(judge: Judge, tag: tuple[str, int], outcome: JudgeOutcome) -> None:
        known = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
        version = 0 if judge.prompt_file else PROMPT_VERSIONS[judge.prompt]
        known |= {"prompt": judge.prompt, "prompt_version": version, "repeat": tag[1]}
        deliver(PairVerdict(pair=tag[0], judge=str(judge), **known))

    def calls() -> Iterator[Call]:
        for pair in pairs:
            shown, ruled = f"{pair.truth}\n{pair.pred}", _without_asking(pair)
            for judge, repeat in product(judges, range(repeats)):
                if ruled is not None:
                    came(judge, (pair.id, repeat), ruled)
                    continue
                asked = {"prompt": judge.prompt_text or judge.prompt, "order": judge.order, "kind": pair.kind}
                question = pair_question(pair.truth, pair.pred, **asked, repeat=repeat, fence=judge.fence)
                read = partial(read_reply, form=ScoreAnswer, key=question.key, shown=shown)
                yield Call(judge, question, read, (pair.id, repeat))

    asker.ask(calls(), lambda call, outcome: came(call.judge, call.tag, outcome))


def _without_asking(pair: Pair) -> JudgeOutcome | None:
    if not pair.pred.strip():
        return JudgeOutcome(Answered.OK, ScoreAnswer(score=0.0), "an empty extraction; no judge was asked")
    if len(pair.truth) + len(pair.pred) > MAX_CHARACTERS:
        why = f"the pair has more than {MAX_CHARACTERS:,} characters"
        return JudgeOutcome(Answered.UNFIT, message=why)
    return None


@dataclass
class JudgedLines:
    """What judges said of the lines of a file."""

    failed: set[int] = field(default_factory=set)  # numbers of lines that did not get all their verdicts
    scores: dict[str, list[float]] = field(default_factory=dict)  # by judge
    statuses: dict[str, Counter[str]] = field(default_factory=dict)  # by judge, what became of the questions


def judge_lines(
    lines: Iterable[str],
    judges: Sequence[Judge],
    asker: Asker,
    *,
    repeats: int = 1,
    write: Callable[[str], object] = lambda _: None,
    tell: Callable[[int, str], None] = lambda line, why: None,
    advance: Callable[[], None] = lambda: None,
) -> JudgedLines:
    """Let judges score, from 0 to 10, the pairs of a file, `{"id", "truth", "pred"}` on each line.

    `write` takes a line of JSON for each pair, judge and repeat, in the order of the lines; `tell` receives
    the number of a line without a verdict, and why; `advance` is called for each verdict.
    """
    found, problems = JudgedLines(), list[tuple[int, str]]()
    asked = list(product(map(str, judges), range(repeats)))
    ids: dict[str, Any] = {}  # by number of the line: a file may use an id twice
    waiting: dict[int, list[tuple[int, str]]] = {}  # lines that are begun: which of `asked`, and its row

    def write_lines(n_rows: int) -> None:
        """Write the first lines that have so many rows."""
        while waiting and len(waiting[next(iter(waiting))]) >= n_rows:
            for _, row in sorted(waiting.pop(next(iter(waiting)))):
                write(row + "\n")

    def pairs() -> Iterator[Pair]:
        for number, text in enumerate(lines, 1):
            line = text.removeprefix("\ufeff")
            if not line.strip():
                continue
            try:
                data = read_pair(line)
                kind = data.get("kind", "table")
                if kind not in ("table", "formula"):
                    raise FormatError('"kind" must be "table" or "formula"')
            except FormatError as error:
                problems.append((number, str(error)))
                waiting[number] = []
                for k, (judge, repeat) in enumerate(asked):
                    row = {"id": f"line {number}", "metric": judge, "value": None, "status": "metric_failed"}
                    said = {"repeat": repeat, "errors": [], "message": str(error)}
                    waiting[number].append((k, json.dumps(row | said)))
                write_lines(len(asked))
            else:
                waiting[number], ids[str(number)] = [], data["id"]
                yield Pair(str(number), data["truth"], data["pred"] or "", kind)

    def deliver(verdict: PairVerdict) -> None:
        advance()
        line = int(verdict.pair)
        found.statuses.setdefault(verdict.judge, Counter())[verdict.status.value] += 1
        if verdict.score is None:
            found.failed.add(line)
            tell(line, f"{verdict.status.value}: {verdict.message}")
        else:
            found.scores.setdefault(verdict.judge, []).append(verdict.score)
        row = {"id": ids[verdict.pair], "metric": verdict.judge, "value": verdict.score}
        row |= {"status": verdict.status.value, "repeat": verdict.repeat, "errors": verdict.errors}
        row |= {"cost_usd": verdict.cost_usd, "message": verdict.message}
        waiting[line].append((asked.index((verdict.judge, verdict.repeat)), json.dumps(row)))
        write_lines(len(asked))

    judge_pairs(pairs(), judges, asker, deliver, repeats=repeats)
    write_lines(0)  # where rows never came
    for line, message in problems:
        found.failed.add(line)
        tell(line, message)
    return found
