"""Corpora from real LaTeX documents: unmodified sources, compiled with marks."""
