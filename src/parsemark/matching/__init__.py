"""Decides what answers what."""

from parsemark.matching.bbox import match_by_box, rank_by_box
from parsemark.matching.content import match_by_content, rank_by_content
from parsemark.matching.ngrams import ContentMatching, match_by_ngrams, rank_by_ngrams

__all__ = [
    "ContentMatching",
    "match_by_box",
    "match_by_content",
    "match_by_ngrams",
    "rank_by_box",
    "rank_by_content",
    "rank_by_ngrams",
]
