"""Asks a language model, and records what it answered and what it cost."""

from parsemark.judges.answer_store import AnswerStore
from parsemark.judges.ask import Asker, AskOptions
from parsemark.judges.base import Answered, Judge, get_judge
from parsemark.judges.pairs import Pair, PairVerdict, judge_pairs

__all__ = [
    "AnswerStore", "Answered", "AskOptions", "Asker", "Judge", "Pair", "PairVerdict", "get_judge",
    "judge_pairs",
]  # fmt: skip
