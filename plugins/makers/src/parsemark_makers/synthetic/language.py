"""Sentences that a person could have written: a small grammar over a vocabulary per language."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

LANGUAGES = (
    *("english", "french", "simplified_chinese", "japanese", "korean"),
    *("arabic", "hebrew", "russian", "greek"),
)


@dataclass(frozen=True)
class Vocabulary:
    """The words of one language. Subjects and verbs agree by number: (singular, plural)."""

    code: str  # by ISO 639-1
    headings: Sequence[str]
    items: Sequence[str]
    notes: Sequence[str]
    table_captions: Sequence[str]
    figure_captions: Sequence[str]
    running_heads: Sequence[str]
    titles: Sequence[str]  # of whole documents
    people: Sequence[str]
    sentences: Sequence[str] = ()
    """Whole sentences; where there are none, they are made of the parts that follow."""
    subjects: Sequence[tuple[str, bool]] = ()  # noun phrase and whether it is plural
    verbs: Sequence[tuple[str, str]] = ()
    objects: Sequence[str] = ()
    circumstances: Sequence[str] = ()
    connectives: Sequence[str] = ()
    clauses: Sequence[str] = ()  # whole subordinate clauses that may end a sentence
    heading_topics: Sequence[str] = ()
    words: dict[str, str] = field(default_factory=dict)
    """Fixed words by key: table, figure, note, source, total, …"""
    lists: dict[str, Sequence[str]] = field(default_factory=dict)  # labels for tables by theme
    decimal_mark: str = "."
    group_mark: str = ","
    list_mark: str = ", "  # between the numbers of an interval
    right_to_left: bool = False
    spaced: bool = True  # whether blanks stand between words and sentences


@lru_cache(maxsize=len(LANGUAGES))
def vocabulary(language: str) -> Vocabulary:
    """Return the vocabulary of a language."""
    file = files("parsemark_makers.synthetic") / "words" / f"{language}.json"
    return Vocabulary(**json.loads(file.read_text(encoding="utf-8")))


def sentence(rng: random.Random, language: str) -> str:
    """Return one sentence, without its formulas."""
    words = vocabulary(language)
    if words.sentences:
        return rng.choice(words.sentences)
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


def sentences(rng: random.Random, language: str, count: int) -> list[str]:
    """Return some sentences, none of them twice in a row."""
    chosen: list[str] = []
    while len(chosen) < count:
        text = sentence(rng, language)
        if text not in chosen[-3:]:
            chosen.append(text)
    return chosen


def heading(rng: random.Random, language: str) -> str:
    """Return a heading."""
    words = vocabulary(language)
    text = rng.choice(words.headings)
    has_topic = words.heading_topics and rng.random() < 0.6
    return f"{text} {rng.choice(words.heading_topics)}" if has_topic else text


def number(value: float, decimals: int, language: str, grouped: bool = True) -> str:
    """Return a number as the language writes it: 1,234.5 or 1 234,5; the minus is a real one."""
    words = vocabulary(language)
    text = f"{abs(value):,.{decimals}f}" if grouped else f"{abs(value):.{decimals}f}"
    text = text.translate({ord(","): words.group_mark, ord("."): words.decimal_mark})
    return f"−{text}" if value < 0 and float(f"{abs(value):.{decimals}f}") != 0 else text
