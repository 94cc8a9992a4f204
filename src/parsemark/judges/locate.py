"""The matcher by language model (Horn & Keuper, 3.2): which span of an output answers which truth.

The model is a locator and nothing else. Whatever it returns is looked for in the output, and what counts is
the literal span found there; text that is not in the output finds nothing. So a model can point at the
wrong place, but it cannot add, mend or invent a character.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel, Field

from parsemark.judges.ask import Asker
from parsemark.judges.base import Answered, Call, Judge, JudgeOutcome, Question, Reply, object_schema
from parsemark.judges.fence import fenced
from parsemark.judges.replies import read_reply

MAX_CHARACTERS = 400_000
MIN_LIKENESS = 80.0  # of a returned text and the span taken for it, from 0 to 100; below there is no span
MAX_ALIGNED = 20_000  # of a returned text that is not literally there and looked for; alignment is quadratic
MIN_LENGTH = 4  # shorter texts occur by chance
SAME_PLACE = 0.8  # two spans that share this part of the shorter one are the same place

_TASK = (
    "A program has turned a printed page into text. You are shown the tables that stood on the page, each as "
    "its source and with a number, and then the whole output of the program. For each table find the part of "
    "the output that renders it, in whatever notation, complete or not, right or wrong. Copy that part "
    "exactly, character by character, from its first to its last line, without anything around it.\n"
    "A table that is cut into several parts of the output has one entry for each part, in order. A part of "
    "the output that renders several tables at once is given for each of them. If the output gives a table "
    "twice, take the more complete one. A table that is not in the output has no entry. Never write what is "
    "not there."
)
_FORM = (
    'Answer with one JSON object: "spans", a list of objects with "table" (the number) and "text" (the copy).'
)


class SpanAnswer(BaseModel, extra="ignore", strict=True, frozen=True):
    """One part of the output, as the model copied it."""

    table: int
    text: str


class SpansAnswer(BaseModel, extra="ignore", strict=True, frozen=True):
    """The answer as a whole."""

    spans: list[SpanAnswer] = Field(max_length=1000)


@dataclass(frozen=True, slots=True)
class OutputSpan:
    """A part of the output: `output[start:end]`."""

    start: int
    end: int
    exact: bool  # whether the model copied it character by character


@dataclass(frozen=True, slots=True)
class LocatedTruths:
    """Where an output renders each truth; an empty tuple where it does not."""

    spans: tuple[tuple[OutputSpan, ...], ...]  # for each truth, in their order
    n_lost: int  # texts that the model returned and that are not in the output
    n_unknown: int  # entries for tables that do not exist


def locate_question(truths: Sequence[str], output: str) -> Question:
    """Return the question where `output` renders each of `truths`."""
    blocks = {f"TABLE {k}": truth for k, truth in enumerate(truths, 1)}
    rule, shown = fenced({**blocks, "OUTPUT": output})
    entry = object_schema({"table": {"type": "integer"}, "text": {"type": "string"}})
    schema = object_schema({"spans": {"type": "array", "items": entry}})
    copying = "Leave the marks at the beginnings of lines out of your copies."
    return Question(
        system=f"{_TASK}\n\n{rule} {copying}\n\n{_FORM}",
        user=f"{shown}\n\nThat was all the data. Answer with the JSON object.",
        schema=schema,
    )


def locate(
    pages: Iterable[tuple[Any, Sequence[str], str]],
    judge: Judge,
    asker: Asker,
    deliver: Callable[[Any, JudgeOutcome], None],
) -> None:
    """Ask where each page's truths are in its output: whatever the caller knows a page by, truths, output.

    `deliver` gets the page's name and what came of it, a `LocatedTruths` as its value.
    """

    def calls() -> Iterator[Call]:
        for tag, truths, output in pages:
            if not truths or not output.strip():
                nothing = LocatedTruths(tuple(() for _ in truths), 0, 0)
                deliver(tag, JudgeOutcome(Answered.OK, nothing, "nothing to locate; no judge was asked"))
            elif sum(map(len, truths)) + len(output) > MAX_CHARACTERS:
                deliver(tag, JudgeOutcome(Answered.UNFIT, message=f"more than {MAX_CHARACTERS:,} characters"))
            else:
                read = partial(_read, n_truths=len(truths), output=output)
                yield Call(judge, locate_question(truths, output), read, tag)

    asker.ask(calls(), lambda call, outcome: deliver(call.tag, outcome))


def _read(reply: Reply, n_truths: int, output: str) -> JudgeOutcome:
    outcome = read_reply(reply, SpansAnswer)
    if outcome.status is not Answered.OK:
        return outcome
    return JudgeOutcome(Answered.OK, recover(outcome.value.spans, n_truths, output))


def recover(answers: Sequence[SpanAnswer], n_truths: int, output: str) -> LocatedTruths:
    """Return the literal spans that the returned texts stand for."""
    found: list[list[OutputSpan]] = [[] for _ in range(n_truths)]
    n_lost = n_unknown = 0
    for answer in answers:
        if not answer.text.strip():
            continue
        if not 1 <= answer.table <= n_truths:
            n_unknown += 1
            continue
        own = found[answer.table - 1]
        span = find_span(answer.text, output, own)
        if span is None:
            n_lost += 1
        elif not any(_same_place(span, other) for other in own):
            own.append(span)
    return LocatedTruths(tuple(tuple(sorted(own, key=lambda s: s.start)) for own in found), n_lost, n_unknown)


def find_span(text: str, output: str, taken: Sequence[OutputSpan] = ()) -> OutputSpan | None:
    """Return where `text` stands in `output`: literally, else where it fits best; None where it does not.

    Places that are `taken` count as used, if the text occurs again elsewhere.
    """
    from rapidfuzz import fuzz
    from rapidfuzz.distance import Indel

    wanted = text.strip()
    if len(wanted) < MIN_LENGTH:
        return None
    start = output.find(wanted)
    while start >= 0:
        span = OutputSpan(start, start + len(wanted), True)
        if not any(_same_place(span, other) for other in taken):
            return span
        start = output.find(wanted, start + 1)
    if (first := output.find(wanted)) >= 0:
        return OutputSpan(first, first + len(wanted), True)
    # A window of about the text's length slides over the output; a text that is longer has no window.
    if len(wanted) > min(2 * len(output), MAX_ALIGNED):
        return None
    alignment = fuzz.partial_ratio_alignment(wanted, output, score_cutoff=MIN_LIKENESS)
    if alignment is None or alignment.score < MIN_LIKENESS:
        return None
    start, end = alignment.dest_start, alignment.dest_end
    if len(wanted) > len(output):  # the shorter one slides over the longer one
        start, end = 0, len(output)
    # What at the ends of the window has no part in the text: a copy with slips has another length.
    blocks = [block for block in Indel.opcodes(wanted, output[start:end]) if block.tag == "equal"]
    if blocks:
        start, end = start + blocks[0].dest_start, start + blocks[-1].dest_end
    return OutputSpan(*_whole_lines(output, start, end), False)


def _whole_lines(output: str, start: int, end: int) -> tuple[int, int]:
    """Return the window grown to the ends of the lines that it cuts near their ends; a table is made of
    lines.
    """
    line_start = output.rfind("\n", 0, start) + 1
    line_end = output.find("\n", end)
    line_end = len(output) if line_end < 0 else line_end
    reach = max(8, (end - start) // 20)
    return (
        line_start if start - line_start <= reach else start,
        line_end if line_end - end <= reach else end,
    )


def _same_place(one: OutputSpan, other: OutputSpan) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared > SAME_PLACE * max(1, min(one.end - one.start, other.end - other.start))
