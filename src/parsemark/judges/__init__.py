"""Asks a language model, and records what it answered and what it cost."""

from parsemark.judges.answers import AnswerStore, default_answers_file
from parsemark.judges.ask import Asker, AskOptions
from parsemark.judges.base import JUDGES, Answered, Judge, get_judge
from parsemark.judges.pairs import Pair, PairVerdict, judge_pairs

__all__ = [
    "JUDGES",
    "AnswerStore",
    "Answered",
    "AskOptions",
    "Asker",
    "Judge",
    "Pair",
    "PairVerdict",
    "default_answers_file",
    "get_judge",
    "judge_pairs",
]
