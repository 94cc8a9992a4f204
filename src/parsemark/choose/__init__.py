"""Answers "which parser for these documents?" with few labels: agreement, families, the next page."""

from parsemark.choose.agreement import Agreement, measure_agreement
from parsemark.choose.audit import Suspicion, audit_page, ranked
from parsemark.choose.choice import Candidate, Choice, choose
from parsemark.choose.words import as_json, in_words, next_step

__all__ = [
    "Agreement",
    "Candidate",
    "Choice",
    "Suspicion",
    "as_json",
    "audit_page",
    "choose",
    "in_words",
    "measure_agreement",
    "next_step",
    "ranked",
]
