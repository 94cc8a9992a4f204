"""Decides what answers what."""

from parsemark.matching.ngrams import ContentMatching, match_by_ngrams
from parsemark.matching.tables import match_one_to_one, rank_one_to_one

__all__ = ["ContentMatching", "match_by_ngrams", "match_one_to_one", "rank_one_to_one"]
