"""SCORE (Unstructured): text, tokens, elements and tables."""
