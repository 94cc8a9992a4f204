"""A million short texts of the tokens that our scanners know: each is read, or refused in words.

What once broke something comes first: `seeds.json`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests.faults.common import Budget, Case, broken_before, tried_by_all
from tests.faults.generated import TooSlowError, at_most, readers, text

from parsemark.errors import ParsemarkError

N_TEXTS = 1_000_000
SHARE = 0.25
MAX_CPU_S = 2.0


def attack(work: Path) -> Iterator[Case]:
    budget, seed = Budget(SHARE), random.SystemRandom().randrange(10**9)
    readers()  # once, before there are several processes
    jobs = ((seed, number) for number in range(N_TEXTS * budget.nights))
    yield from tried_by_all(attempt, chain(broken_before("fuzz"), jobs), budget)


def attempt(job: tuple[int, int]) -> Case:
    """Read one text."""
    name, made = text(*job)
    problem = ""
    try:
        with at_most(MAX_CPU_S):
            readers()[name](made)
    except ParsemarkError as error:
        problem = "" if 0 < len(str(error)) < 2000 else "a message that nobody can read"
    except TooSlowError:
        problem = f"more than {MAX_CPU_S:g} s of CPU time"
    except Exception as error:  # what is looked for
        problem = repr(error)[:200]
    return Case(f"{name}, text {job[0]} {job[1]}", not problem, f"{problem} on {made[:80]!r}")
