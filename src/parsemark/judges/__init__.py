"""Asks a language model, and records what it answered and what it cost."""

from parsemark.judges.answer_store import AnswerStore
from parsemark.judges.ask import Asker, AskOptions
from parsemark.judges.base import Answered, Call, Judge, JudgeOutcome, Question, get_judge, object_schema
from parsemark.judges.fence import fenced
from parsemark.judges.pairs import Pair, PairVerdict, judge_pairs
from parsemark.judges.replies import read_reply

__all__ = [
    "AnswerStore", "Answered", "AskOptions", "Asker", "Call", "Judge", "JudgeOutcome", "Pair", "PairVerdict",
    "Question", "fenced", "get_judge", "judge_pairs", "object_schema", "read_reply",
]  # fmt: skip
