"""Outputs made to be found: whatever is added to a document, its answers are retrieved no more often."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from tests.faults.common import Budget, Case, tried_by_all
from tests.protocols.test_answers import RETRIEVAL_TRICKS, _found, sections

from parsemark.formats.document.write import write_document
from parsemark.model import Page
from parsemark.protocols.answers.derive import facts_of_page, question

N_OUTPUTS = 400
SPARE = 0.12
"""Four of the 34 answers: so many are found or lost if only the ends of chunks move, by words in front."""


@lru_cache(1)
def _truth() -> tuple[Page, str, list[str]]:
    truth = sections()
    return truth, write_document(truth), [question(fact) for fact in facts_of_page(truth)]


@lru_cache(1)
def _honest() -> float:
    truth, text, _ = _truth()
    return max(_found(text, truth).values())


def _stuffed(text: str, chosen: random.Random) -> str:
    """Questions before lines, so that every chunk looks like an answer."""
    asked = _truth()[2]
    lines = [f"{chosen.choice(asked)} {line}" if chosen.random() < 0.5 else line for line in text.split("\n")]
    return "\n".join(lines)


def _repeated(text: str, chosen: random.Random) -> str:
    """Some lines many times."""
    lines = text.split("\n")
    return "\n".join(line for line in lines for _ in range(chosen.choice((1, 1, 1, 2, 5))))


def _shuffled(text: str, chosen: random.Random) -> str:
    """Blocks in another order."""
    blocks = text.split("\n\n")
    chosen.shuffle(blocks)
    return "\n\n".join(blocks)


def _listed(text: str, chosen: random.Random) -> str:
    """All answers once more, without anything around them."""
    numbers = [word for word in text.split() if word.isdigit()]
    return f"{text}\n\n{' '.join(chosen.sample(numbers, len(numbers)))}"


def _headed(text: str, chosen: random.Random) -> str:
    """Headings among the words."""
    words = text.split(" ")
    return " ".join(f"\n\n# {word}\n\n" if chosen.random() < 0.02 else word for word in words)


TRICKS: tuple[Callable[[str, random.Random], str], ...] = (
    *(_stuffed, _repeated, _shuffled, _listed, _headed),
    *((lambda text, _, trick=trick: trick(text)) for trick in RETRIEVAL_TRICKS.values()),
)


def attack(work: Path) -> Iterator[Case]:
    budget = Budget(1 / 20)
    _honest()  # processes are forked with it
    yield from tried_by_all(_attempt, ((5, k) for k in range(N_OUTPUTS * budget.nights)), budget)


def _attempt(job: tuple[int, int]) -> Case:
    chosen = random.Random(job[0] * 1_000_003 + job[1])
    truth, text, _ = _truth()
    for trick in chosen.sample(TRICKS, chosen.randint(1, 3)):
        text = trick(text, chosen)
    found = _found(text, truth)
    held = max(found.values()) <= _honest() + SPARE
    return Case(f"output {job}", held, f"{found} over {_honest():.3f}")
