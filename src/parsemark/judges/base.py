"""What a judge is: something that answers a question with JSON, and says what the answer cost.

A question becomes a *request* (plain data, free of secrets, whose hash is its identity), the request is sent
and gives a *reply*, and the caller reads the reply. Judging a pair of tables and locating tables in an
output are two kinds of questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from parsemark.errors import UsageError
from parsemark.specs import OptionValue, Registry, changed_options, check_options, parse_spec

JUDGES = Registry("judge", "parsemark.judges", {"openai": "parsemark.judges.openai:OpenAI"})
"""All judges by name."""


class Answered(StrEnum):
    """How asking a judge ended. Everything but `ok` is a failure that stays in the data."""

    OK = "ok"
    REFUSED = "refused"  # the model declined, or a filter of the endpoint stopped it
    BROKEN = "broken_answer"  # no answer in the form that was asked for, however often it was asked
    CUT_OFF = "cut_off"  # the answer reached the limit of its length before it was complete
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"  # no connection, or an error of the server
    REJECTED = "rejected"  # the endpoint accepts no request of this judge (unknown model, wrong key)
    UNFIT = "unfit"  # this one request was not accepted, mostly as too long: a matter of the output
    NOT_ASKED = "not_asked"  # asking would have passed `--max-cost`, or the endpoint had failed for good


FINAL = frozenset({Answered.OK, Answered.REFUSED})  # asking again would not change these


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked."""

    system: str
    user: str
    schema: Mapping[str, Any]  # JSON schema of the answer
    repeat: int = 0  # asked so many times before, to measure a judge's consistency with itself
    key: str = ""  # a nonce that the author of the data cannot have known; an answer repeats it


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as it is stored. `text` is the answer of the model, never trusted."""

    text: str
    finish: str | None  # why the model stopped: `stop`, `length`, `content_filter`; None if not reported
    refusal: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None  # None where the price or the tokens are not known
    seconds: float
    model: str | None = None  # the model that the endpoint says answered


@dataclass(eq=False)
class CallFailedError(Exception):
    """No reply came. The type of failure says whether to try again."""

    status: Answered
    message: str  # what is wrong, without secrets
    retry: bool = field(default=False, kw_only=True)  # whether the same request may succeed later
    retry_after_s: float | None = field(default=None, kw_only=True)  # how long the endpoint asks to wait
    lasting: bool = field(default=False, kw_only=True)  # whether every further request would fail so
    may_cost: bool = field(default=False, kw_only=True)  # whether the work may be done, and charged


@dataclass(frozen=True)
class Judge(ABC):
    """A frozen dataclass: its fields are its options, its name with options is its identity."""

    name: ClassVar[str]

    prompt: Literal["tuned", "no_reasoning", "naive", "horn", "horn_no_cot", "horn_naive"] = "tuned"
    """`horn…` are those of Horn & Keuper (who print one sentence of the naive one); the others are ours."""
    order: Literal["truth_first", "pred_first"] = "truth_first"
    fence: bool = True  # whether data are fenced, so that nothing in them passes for an instruction
    prompt_file: str = ""  # with `{gt_table}` and `{extracted_table}`, asked in place of `prompt`
    concurrency: int = 16  # requests at a time

    def check_concurrency(self) -> None:
        """Raise UsageError for a number of parallel requests out of range."""
        if not 1 <= self.concurrency <= 512:
            raise UsageError(f"concurrency of judge '{self.name}' must be from 1 to 512.")

    @property
    def prompt_text(self) -> str:
        """Return the prompt of `prompt_file`, or empty; raise UsageError if it lacks a place for one of both
        tables.
        """
        if not self.prompt_file:
            return ""
        try:
            text = Path(self.prompt_file).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"{self.prompt_file} cannot be read as a prompt: {error}.") from error
        missing = [place for place in ("{gt_table}", "{extracted_table}") if place not in text]
        if missing:
            raise UsageError(f"The prompt {self.prompt_file} has no {' and no '.join(missing)}.")
        return text

    def __str__(self) -> str:
        return changed_options(self, self.name)

    @property
    def label(self) -> str:
        """Return a short name for tables."""
        return str(self)

    @classmethod
    def from_options(cls, options: Mapping[str, OptionValue]) -> Judge:
        """Build the judge from the options of a spec, checking names and values."""
        return cls(**check_options(cls, "Judge", cls.name, options))

    @abstractmethod
    def request(self, question: Question, attempt: int) -> dict[str, Any]:
        """Return the request as plain JSON data, without secrets. Its hash at attempt 0 is its identity."""

    @abstractmethod
    def opened(self, concurrency: int) -> Any:
        """Return an asynchronous context manager that gives `async send(request) -> Reply`."""

    @abstractmethod
    def worst_cost_usd(self, question: Question) -> float | None:
        """Return the most that one request can cost; None where the price is not known."""


@lru_cache(maxsize=64)
def get_judge(spec: str) -> Judge:
    """Return the judge that a spec such as `openai(model=gpt-5-mini)` names."""
    parsed = parse_spec(spec)
    judge: Judge = JUDGES.load(parsed.name).from_options(parsed.as_dict())
    return judge


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object that has all of these and nothing else."""
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """What came of a question: a value of the asker's kind, or a status that says why there is none."""

    status: Answered
    value: Any = None
    message: str | None = None
    cost_usd: float | None = 0.0  # of all replies that it took, now or earlier; None if a price is not known
    spent_usd: float = 0.0  # what was paid for it this time
    seconds: float = 0.0  # time that the endpoint took to answer, over all replies
    n_replies: int = 0
    stored: bool = False  # whether no request was sent, because the answer was known


Reader = Callable[[Reply], JudgeOutcome]  # sets only status, value and message of the outcome


@dataclass(frozen=True, slots=True)
class Call:
    """A question to a judge, and how to read what comes back."""

    judge: Judge
    question: Question
    read: Reader
    tag: Any = None  # whatever the caller knows the call by


Deliver = Callable[[Call, JudgeOutcome], None]
