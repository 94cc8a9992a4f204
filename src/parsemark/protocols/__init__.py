"""Recipes: which matching, which metrics, which aggregates."""

from parsemark.protocols.base import PROTOCOLS, MatchRow, PageScores, ScoreRow, get_protocol

__all__ = ["PROTOCOLS", "MatchRow", "PageScores", "ScoreRow", "get_protocol"]
