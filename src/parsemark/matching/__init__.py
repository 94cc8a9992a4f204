"""Decides what answers what."""

from parsemark.matching.ngrams import ContentMatching, match_by_ngrams, rank_by_ngrams
from parsemark.matching.one_to_one import (
    match_by_box,
    match_by_content,
    match_in_order,
    rank_by_box,
    rank_by_content,
)

__all__ = [
    "ContentMatching", "match_by_box", "match_by_content", "match_by_ngrams", "match_in_order",
    "rank_by_box", "rank_by_content", "rank_by_ngrams",
]  # fmt: skip
