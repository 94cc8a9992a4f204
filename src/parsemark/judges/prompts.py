"""What judges are asked about a pair: three prompts in words of our own, and the published ones, versioned.

Horn & Keuper compare a tuned prompt (find errors first, then score), the same without the step of finding
errors, and a single line. A prompt's version grows with any change to its words, and a stored answer belongs
to the words it was asked with.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from parsemark.errors import UsageError
from parsemark.judges.base import Question, object_schema
from parsemark.judges.fence import RULE, fence_key, fenced_block

Kind = Literal["table", "formula"]
PROMPT_VERSIONS = {"tuned": 2, "no_reasoning": 2, "naive": 2, "horn": 2, "horn_no_cot": 2, "horn_naive": 2}
MAX_ERRORS = 5

_WORDS = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))
_NAIVE = "Rate from 0 to 10 how well the extracted {kind} matches the original {kind}."
_HORN_SCORE = "assign a score from 0 to 10, where 10 is a perfect match."
_HORN = _WORDS["printed"]["horn"]
PRINTED = {
    "horn": f"{_HORN}{_WORDS['printed']['errors']} Then {_HORN_SCORE}",
    "horn_no_cot": f"{_HORN}A{_HORN_SCORE[1:]}",
    "horn_naive": _WORDS["printed"]["horn_naive"],
}
"""The prompts of Horn & Keuper (Figure 4 and section 4.4) as printed; line breaks are ours, and so are the
labelled blocks of `horn_naive`, of which they print the sentence alone."""
_KEY = ' It also holds "key" with the value "{key}".'
_ERRORS_FIRST = (
    'Answer with one JSON object: first "errors", a list of at most five short sentences that name the worst '
    'errors and doubts (empty if there are none), then "score", a number from 0 (useless) to 10 (perfect).'
)
_SCORE_ONLY = 'Answer with one JSON object that holds "score", a number from 0 (useless) to 10 (perfect).'


class ScoreAnswer(BaseModel, extra="ignore", strict=True, frozen=True):
    """The answer to all three prompts."""

    errors: tuple[str, ...] = ()
    score: float = Field(ge=0, le=10, allow_inf_nan=False)

    @field_validator("errors", mode="before")
    @classmethod
    def _short(cls, errors: Any) -> Any:
        """Return a short text of errors, which models number or give as objects."""
        if not isinstance(errors, list):
            return errors
        return tuple(str(e)[:500] for e in errors[:MAX_ERRORS])


def schema_of(*, errors: bool, key: str) -> dict[str, Any]:
    """Return the JSON Schema of the answer to a prompt."""
    properties: dict[str, Any] = {"score": {"type": "number", "minimum": 0, "maximum": 10}}
    if errors:
        listed = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ERRORS}
        properties = {"errors": listed, **properties}
    if key:
        properties["key"] = {"type": "string", "enum": [key]}
    return object_schema(properties)


def pair_question(
    truth: str,
    pred: str,
    *,
    prompt: str,
    order: str,
    kind: str = "table",
    repeat: int = 0,
    fence: bool = True,
) -> Question:
    """Return the question whether `pred` agrees with `truth`, asked so many times before as `repeat`.

    The `prompt` is a name of `PROMPT_VERSIONS`, or a text with `{gt_table}` and `{extracted_table}`. With a
    fence around the data, these are named there and follow in the other message, and an answer repeats the
    fence's key. UsageError for `pred_first` without a fence if the text has no two sections to exchange.
    """
    blocks = dict(zip(_names(kind), (truth, pred), strict=True))
    template = PRINTED.get(prompt, prompt if "{gt_table}" in prompt else "")
    errors = prompt in ("tuned", "horn") or prompt not in PROMPT_VERSIONS
    key = fence_key(truth, pred) if fence else ""
    form = (_ERRORS_FIRST if errors else _SCORE_ONLY) + (_KEY.format(key=key) if key else "")
    schema = schema_of(errors=errors, key=key)
    if order == "pred_first":
        blocks = dict(reversed(blocks.items()))
    if template and fence:  # instructions stand in the system message alone, and the blocks in the other
        named = {place: f"(the block {name})" for place, name in zip(_PLACES, _names(kind), strict=True)}
        task = _filled(template, named)
    elif template:
        if order == "pred_first":
            template = _swapped(template)
        asked = _filled(template, dict(zip(_PLACES, (truth, pred), strict=True)))
        return Question(form, asked, schema, repeat, key)
    else:
        task = _NAIVE.format(kind=kind) if prompt == "naive" else _WORDS["tuned"][kind]
    shown = "\n\n".join(
        fenced_block(name, text, key) if fence else f"{name}:\n{text}" for name, text in blocks.items()
    )
    rule = f"{RULE.format(key=key)}\n\n" if fence else ""
    return Question(
        system=f"{task}\n\n{rule}{form}",
        user=f"{shown}\n\nThat was all the data. Compare the two and answer with the JSON object.",
        schema=schema,
        repeat=repeat,
        key=key,
    )


_PLACES = ("{gt_table}", "{extracted_table}")
_SECTIONS = re.compile(r"^([^\n{}]*:\n\{gt_table\})(\s+)([^\n{}]*:\n\{extracted_table\})", re.MULTILINE)


def _names(kind: str) -> tuple[str, str]:
    return f"ORIGINAL {kind.upper()}", f"EXTRACTED {kind.upper()}"


def _filled(template: str, texts: Mapping[str, str]) -> str:
    """Fill in both tables in one pass: a text that names a place does not get the other one."""
    return re.sub(r"\{gt_table\}|\{extracted_table\}", lambda place: texts[place[0]], template)


def _swapped(template: str) -> str:
    swapped, n = _SECTIONS.subn(r"\3\2\1", template)
    if n != 1:
        raise UsageError(
            "order=pred_first needs a prompt in which a line with a colon stands before {gt_table} and then "
            "before {extracted_table}. Swap them in the prompt, or keep the fence."
        )
    return swapped
