"""Yields samples of a named, versioned corpus; corpora/latex makes them."""

from parsemark.corpora.base import CORPORA, Corpus, load_corpus

__all__ = ["CORPORA", "Corpus", "load_corpus"]
