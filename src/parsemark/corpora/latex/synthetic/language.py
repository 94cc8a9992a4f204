"""Sentences that a person could have written: a small grammar over a vocabulary per language."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module

LANGUAGES = ("english", "french")


@dataclass(frozen=True)
class Vocabulary:
    """The words of one language. Subjects and verbs agree by number: (singular, plural)."""

    subjects: Sequence[tuple[str, bool]]
    """Noun phrase and whether it is plural."""
    verbs: Sequence[tuple[str, str]]
    objects: Sequence[str]
    circumstances: Sequence[str]
    connectives: Sequence[str]
    clauses: Sequence[str]
    """Whole subordinate clauses that may end a sentence."""
    headings: Sequence[str]
    heading_topics: Sequence[str]
    items: Sequence[str]
    notes: Sequence[str]
    table_captions: Sequence[str]
    figure_captions: Sequence[str]
    running_heads: Sequence[str]
    words: dict[str, str] = field(default_factory=dict)
    """Fixed words by key: table, figure, note, source, total, …"""
    lists: dict[str, Sequence[str]] = field(default_factory=dict)
    """Labels for tables by theme."""


@lru_cache(maxsize=len(LANGUAGES))
def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language."""
    found: Vocabulary = import_module(f"parsemark.corpora.latex.synthetic.{language}").VOCABULARY
    return found


def sentence(rng: random.Random, language: str) -> str:
    """One sentence, without its formulas."""
    words = vocabulary(language)
    subject, plural = rng.choice(words.subjects)
    verb = rng.choice(words.verbs)[plural]
    parts = [subject, verb, rng.choice(words.objects)]
    if rng.random() < 0.55:
        parts.append(rng.choice(words.circumstances))
    text = " ".join(parts)
    if rng.random() < 0.3:
        text = f"{rng.choice(words.connectives)}, {text}"
    if rng.random() < 0.3:
        text = f"{text}, {rng.choice(words.clauses)}"
    return f"{text[0].upper()}{text[1:]}."


def heading(rng: random.Random, language: str) -> str:
    """A heading."""
    words = vocabulary(language)
    text = rng.choice(words.headings)
    return f"{text} {rng.choice(words.heading_topics)}" if rng.random() < 0.6 else text


def number(value: float, decimals: int, language: str, grouped: bool = True) -> str:
    """A number as the language writes it: 1,234.5 or 1 234,5; the minus is a real one."""
    text = f"{abs(value):,.{decimals}f}" if grouped else f"{abs(value):.{decimals}f}"
    if language == "french":
        text = text.replace(",", "\u202f").replace(".", ",")
    return f"−{text}" if value < 0 and float(f"{abs(value):.{decimals}f}") != 0 else text
