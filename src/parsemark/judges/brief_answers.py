"""Answers to questions from a text alone, as systems give them that search first (OHR-Bench)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pydantic import BaseModel

from parsemark.judges.ask import Asker
from parsemark.judges.base import Answered, Call, Judge, JudgeOutcome, Question, object_schema
from parsemark.judges.fence import fenced
from parsemark.judges.replies import read_reply

MAX_CHARACTERS = 400_000
_TASK = (
    "You are shown a question and a text in which a program has put what documents say. Answer the question "
    "from the text alone, as briefly as possible: a number, a name, a few words, without a sentence around "
    "them. If the text does not answer it, the answer is “Not answerable”."
)
_FORM = 'Answer with one JSON object: "response", the answer as a text.'


class BriefAnswer(BaseModel, extra="ignore", strict=True, frozen=True):
    """What a model answered."""

    response: str


def answer_all(
    asked: Iterable[tuple[Any, str, str]],
    judge: Judge,
    asker: Asker,
    deliver: Callable[[Any, JudgeOutcome], None],
) -> None:
    """Ask each question of its text: whatever the caller knows it by, the question, and the text.

    `deliver` gets the question's name and what came of it, a `BriefAnswer` as its value; a text that is too
    long is not shown at all.
    """

    def calls() -> Iterable[Call]:
        for tag, question, text in asked:
            if len(question) + len(text) > MAX_CHARACTERS:
                deliver(tag, JudgeOutcome(Answered.UNFIT, message=f"more than {MAX_CHARACTERS:,} characters"))
                continue
            rule, shown = fenced({"QUESTION": question, "TEXT": text})
            user = f"{shown}\n\nThat was all the data. Answer with the JSON object."
            schema = object_schema({"response": {"type": "string"}})
            yield Call(
                judge,
                Question(system=f"{_TASK}\n\n{rule}\n\n{_FORM}", user=user, schema=schema),
                partial(read_reply, form=BriefAnswer),
                tag,
            )

    asker.ask(calls(), lambda call, outcome: deliver(call.tag, outcome))
