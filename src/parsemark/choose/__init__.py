"""Answers "which parser for these documents?" with few labels: agreement, families, the next page."""

from parsemark.choose.answer import as_json, in_words, next_step
from parsemark.choose.audit import Suspicion, audit_page, ranked
from parsemark.choose.choice import Choice, ParserCandidate, choose
from parsemark.choose.route import read_route, route_run, write_route

__all__ = [
    "Choice",
    "ParserCandidate",
    "Suspicion",
    "as_json",
    "audit_page",
    "choose",
    "in_words",
    "next_step",
    "ranked",
    "read_route",
    "route_run",
    "write_route",
]
