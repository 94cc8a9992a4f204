"""Parsers that are made of stored outputs of others, and confidences of their tables."""
