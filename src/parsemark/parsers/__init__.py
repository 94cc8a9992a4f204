"""Knows how one parser is started and what it returns."""
