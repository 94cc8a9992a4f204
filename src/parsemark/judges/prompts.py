"""What judges are asked about a pair: three prompts in words of our own, and the published ones, versioned.

Horn & Keuper compare a tuned prompt (find errors first, then score), the same without the step of finding
errors, and a single line. A prompt's version grows with any change to its words, and a stored answer belongs
to the words it was asked with.
"""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from parsemark.judges.base import Question, object_schema
from parsemark.judges.fence import RULE, fence_key, fenced_block

Kind = Literal["table", "formula"]
PROMPT_VERSIONS = {"tuned": 2, "no_reasoning": 2, "naive": 2, "horn": 1, "horn_no_cot": 1, "horn_naive": 1}
MAX_ERRORS = 5

_TUNED = {
    "table": (
        "You examine, strictly, whether a table that a program extracted from a printed page says what the "
        "original table says. The original is given as its source (mostly LaTeX): what in it only concerns "
        "looks, such as comments, rules, fonts or colours, does not count. The extraction may be in any "
        "notation: Markdown, HTML, LaTeX or plain text are equally good as long as nothing is lost.\n"
        "Look at two things. Contents: is every value, header and label there, and right? Structure: is "
        "every row and column there, and can each value be tied to its row and column headers without doubt? "
        "A tie that is broken or doubtful is an error.\n"
        "What decides: could somebody who sees the extraction alone say, for every cell, what it is and "
        "which headers it belongs to, and so write down the whole original? If not, the extraction has "
        "failed and scores low."
    ),
    "formula": (
        "You examine, strictly, whether a formula that a program extracted from a printed page means what "
        "the original formula means. Notation that prints alike or means the same is equally good; spacing, "
        "fonts without meaning, and delimiters do not count. Every symbol, index, exponent, sign, bound and "
        "bracket does.\n"
        "What decides: would a reader who sees the extraction alone compute the same thing? If not, the "
        "extraction has failed and scores low."
    ),
}
_NAIVE = "Rate from 0 to 10 how well the extracted {kind} matches the original {kind}."
_HORN = (
    "You are a strict table evaluator. Your task is to determine if the extracted table correctly "
    "represents the ground truth table, focusing on content accuracy, structural preservation, and "
    "information completeness. The extracted table was parsed from the rendered table. Disregard "
    "LaTeX-specific elements in the ground truth (e.g., comments, styling commands, font formatting) "
    "that have no effect on content or structure.\n\nGround Truth Table (LaTeX):\n{gt_table}\n\n"
    "Extracted Table:\n{extracted_table}\n\nEvaluate the extracted table using the following "
    "criteria:\n1. Content accuracy: Are all cell values, headers, and data correctly preserved?\n2. "
    "Structure preservation: Are all rows and columns present, and can each value be unambiguously "
    "mapped to its row/column headers? Broken or ambiguous associations count as errors.\nNote: "
    "Different output formats (markdown, HTML, plain text) are acceptable as long as no information is "
    "lost.\n\nApply this key test: Could a reader who sees ONLY the extracted table—without access to "
    "the ground truth—unambiguously reconstruct every cell-to-header mapping and all content of the "
    "original table? If not, consider the parsing as failed and assign a low score.\n\n"
)
_HORN_SCORE = "assign a score from 0 to 10, where 10 is a perfect match."
PRINTED = {
    "horn": (
        f"{_HORN}First, enumerate up to 5 of the most significant errors and ambiguities found. "
        f"Then {_HORN_SCORE}"
    ),
    "horn_no_cot": f"{_HORN}A{_HORN_SCORE[1:]}",
    "horn_naive": (
        "Rate how well the extracted table matches the ground truth table on a scale from 0 to 10.\n\n"
        "Ground Truth Table (LaTeX):\n{gt_table}\n\nExtracted Table:\n{extracted_table}"
    ),
}
"""The prompts of Horn & Keuper (Figure 4 and section 4.4) as printed; line breaks are ours."""
_KEY = ' It also holds "key" with the value "{key}".'
_ERRORS_FIRST = (
    'Answer with one JSON object: first "errors", a list of at most five short sentences that name the worst '
    'errors and doubts (empty if there are none), then "score", a number from 0 (useless) to 10 (perfect).'
)
_SCORE_ONLY = 'Answer with one JSON object that holds "score", a number from 0 (useless) to 10 (perfect).'


class ScoreAnswer(BaseModel):
    """The answer to all three prompts."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    errors: tuple[str, ...] = ()
    score: float = Field(ge=0, le=10, allow_inf_nan=False)

    @field_validator("errors", mode="before")
    @classmethod
    def _short(cls, errors: Any) -> Any:
        """Models number their errors or give them as objects; what is kept is text, and not much of it."""
        if not isinstance(errors, list):
            return errors
        return tuple(str(e)[:500] for e in errors[:MAX_ERRORS])


def schema_of(*, errors: bool, key: str) -> dict[str, Any]:
    """JSON schema of the answer to a prompt."""
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
    """The question whether `pred` says what `truth` says, asked so many times before as `repeat`.

    The `prompt` is a name of `PROMPT_VERSIONS`, or a text with `{gt_table}` and `{extracted_table}`, which
    has an order of its own. With a fence around the data, an answer repeats the fence's key.
    """
    blocks = {f"ORIGINAL {kind.upper()}": truth, f"EXTRACTED {kind.upper()}": pred}
    template = PRINTED.get(prompt, prompt if "{gt_table}" in prompt else "")
    errors = prompt in ("tuned", "horn") or prompt not in PROMPT_VERSIONS
    key = fence_key(truth, pred) if fence else ""
    form = (_ERRORS_FIRST if errors else _SCORE_ONLY) + (_KEY.format(key=key) if key else "")
    schema = schema_of(errors=errors, key=key)
    if template:
        rule, (first, second) = "", blocks.values()
        if fence:
            rule = RULE.format(key=key)
            first, second = (fenced_block(name, text, key) for name, text in blocks.items())
        places = {"{gt_table}": first, "{extracted_table}": second}
        parts = re.split(r"(\{gt_table\}|\{extracted_table\})", template)
        asked = "".join(places.get(part, part) for part in parts)
        return Question("\n\n".join(filter(None, (rule, form))), asked, schema, repeat, key)
    if order == "pred_first":
        blocks = dict(reversed(blocks.items()))
    task = _NAIVE.format(kind=kind) if prompt == "naive" else _TUNED[kind]
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
