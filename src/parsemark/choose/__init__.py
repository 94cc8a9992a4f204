"""Answers "which parser for these documents?" with few labels, and names the page to label next.

How alike parsers are, and which of them are one family, says `consensus.agreement`.
"""

from parsemark.choose.answer import as_json, in_words, next_step
from parsemark.choose.choice import Choice, ParserCandidate, choose
from parsemark.choose.route import route_run, write_route

__all__ = [
    "Choice", "ParserCandidate", "as_json", "choose", "in_words", "next_step", "route_run", "write_route",
]  # fmt: skip
