"""Answers "which parser for these documents?" with few labels, and names the page to label next.

How alike parsers are, and which of them are one family, says `consensus.agreement`.
"""

from parsemark.choosing.answer import as_json, begun_with, in_words, next_step
from parsemark.choosing.choice import Choice, ParserCandidate, choose
from parsemark.choosing.route import route_run, write_route

__all__ = [
    "Choice", "ParserCandidate", "as_json", "begun_with", "choose", "in_words", "next_step",
    "route_run", "write_route",
]  # fmt: skip
