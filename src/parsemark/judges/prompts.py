"""What judges are asked about a pair: three prompts, versioned, in words of our own.

Horn & Keuper compare a tuned prompt (find errors first, then score), the same without the step of finding
errors, and a single line. A prompt's version grows with any change to its words, and a stored answer belongs
to the words it was asked with.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from parsemark.judges.base import Question
from parsemark.judges.fence import fenced

Kind = Literal["table", "formula"]
PROMPT_VERSIONS = {"tuned": 1, "no_reasoning": 1, "naive": 1}
MAX_ERRORS = 5

_TUNED = {
    "table": (
        "You examine, strictly, whether a table that a program extracted from a printed page says what the "
        "original table says. The original is given as its source (mostly LaTeX): what in it only concerns "
        "looks, such as comments, rules, fonts or colours, does not count. The extraction may be in any "
        "notation: Markdown, HTML, LaTeX or plain text are equally good as long as nothing is lost.\n"
        "Look at two things. Contents: is every value, header and label there, and right? Structure: "
        "is every "
        "row and column there, and can each value be tied to its row and column headers without doubt? A tie "
        "that is broken or doubtful is an error.\n"
        "What decides: could somebody who sees the extraction alone say, for every cell, what it is "
        "and which "
        "headers it belongs to, and so write down the whole original? If not, the extraction has failed and "
        "scores low."
    ),
    "formula": (
        "You examine, strictly, whether a formula that a program extracted from a printed page means "
        "what the "
        "original formula means. Notation that prints alike or means the same is equally good; spacing, "
        "fonts without meaning, and delimiters do not count. Every symbol, index, exponent, sign, bound and "
        "bracket does.\n"
        "What decides: would a reader who sees the extraction alone compute the same thing? If not, the "
        "extraction has failed and scores low."
    ),
}
_NAIVE = "Rate from 0 to 10 how well the extracted {kind} matches the original {kind}."
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


def schema_of(prompt: str) -> dict[str, Any]:
    """JSON schema of the answer to a prompt."""
    properties: dict[str, Any] = {"score": {"type": "number", "minimum": 0, "maximum": 10}}
    if prompt == "tuned":
        listed = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ERRORS}
        properties = {"errors": listed, **properties}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def pair_question(
    truth: str, pred: str, *, prompt: str, order: str, kind: str = "table", repeat: int = 0
) -> Question:
    """The question whether `pred` says what `truth` says."""
    blocks = {f"ORIGINAL {kind.upper()}": truth, f"EXTRACTED {kind.upper()}": pred}
    if order == "pred_first":
        blocks = dict(reversed(blocks.items()))
    rule, shown = fenced(blocks)
    task = _NAIVE.format(kind=kind) if prompt == "naive" else _TUNED[kind]
    form = _ERRORS_FIRST if prompt == "tuned" else _SCORE_ONLY
    return Question(
        system=f"{task}\n\n{rule}\n\n{form}",
        user=f"{shown}\n\nThat was all the data. Compare the two and answer with the JSON object.",
        schema=schema_of(prompt),
        repeat=repeat,
    )
