"""Answers of models, read as what they are: text from outside that may be anything.

A model is asked for one JSON object. What it gives may be wrapped in a code fence, follow a train of
thought, be cut off, be given twice, or be something else altogether.
"""

import contextlib
import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from parsemark.judges.base import Answered, JudgeOutcome, Reply
from parsemark.plain_words import first_problem, mended

MAX_ANSWER_CHARACTERS = 400_000
_MOST_OBJECTS = 50
_THOUGHT = re.compile(r"<think(?:ing)?>")
_THOUGHT_END = re.compile(r"</think(?:ing)?>")

Form = TypeVar("Form", bound=BaseModel)


def read_reply(reply: Reply, form: type[BaseModel], key: str = "", shown: str = "") -> JudgeOutcome:
    """Return the reply as an object of `form`, or the status that says why it is none.

    Several objects of that form that say different things are no answer: one of them may be quoted from the
    data that the model was shown. One without the key of the question (if it has one) that stands in these
    data word by word is an echo, and no answer.
    """
    if reply.refusal or reply.finish == "content_filter":
        why = reply.refusal or "stopped by a content filter"
        return JudgeOutcome(Answered.REFUSED, message=_shortened(why))
    if len(reply.text) > MAX_ANSWER_CHARACTERS:
        return JudgeOutcome(Answered.BROKEN, message=f"the answer has {len(reply.text):,} characters")
    found = _objects(_after_thoughts(reply.text), form, key, _bare(shown))
    distinct = list({item.model_dump_json(): item for item in found}.values())
    if len(distinct) == 1:
        return JudgeOutcome(Answered.OK, distinct[0])
    if len(distinct) > 1:
        return JudgeOutcome(Answered.BROKEN, message="the answer contains several different objects")
    if reply.finish == "length":
        return JudgeOutcome(Answered.CUT_OFF, message="the answer was cut off at the length limit")
    return JudgeOutcome(Answered.BROKEN, message=_why(reply.text, form))


def _after_thoughts(text: str) -> str:
    """Return the text after the last closed train of thought; nothing if one is unclosed."""
    ends = list(_THOUGHT_END.finditer(text))
    if ends:
        return text[ends[-1].end() :]
    begin = _THOUGHT.search(text)
    return text[: begin.start()] if begin else text


def _bare(text: str) -> str:
    """Remove white space and the marks of a fence."""
    return "".join(text.replace("│", "").split())


def _objects(text: str, form: type[Form], key: str, shown: str) -> list[Form]:
    """Return all outermost JSON objects of the text that are of the form and no echo."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_twins, parse_constant=_refuse)
    found: list[Form] = []
    position = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            break
        try:
            data, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        is_own = not key or (isinstance(data, dict) and data.get("key") == key)
        if is_own or _bare(text[position:end]) not in shown:
            with contextlib.suppress(ValidationError):
                found.append(form.model_validate(mended(data)))
        position = text.find("{", end)
    return found


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


def _why(text: str, form: type[BaseModel]) -> str:
    stripped = text.strip()
    if not stripped:
        return "the answer is empty"
    begin = stripped.find("{")
    if begin < 0:
        return f"the answer has no JSON object: {_shortened(stripped)}"
    try:
        form.model_validate(json.loads(stripped[begin : stripped.rfind("}") + 1]))
    except ValidationError as error:
        return first_problem(error, "the answer")
    except (ValueError, RecursionError):
        return f"the answer is not JSON: {_shortened(stripped)}"
    return f"the answer is not of the form asked for: {_shortened(stripped)}"


def _shortened(text: str, limit: int = 120) -> str:
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else f"{flat[:limit]}…"
