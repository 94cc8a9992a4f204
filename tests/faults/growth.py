"""Shapes of up to three tokens, repeated to 100 kB: at most 2 s of CPU time, and no more than linear."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from tests.faults.common import Budget, Case, broken_before, tried_by_all
from tests.faults.generated import TooSlowError, at_most, readers, shape
from tests.growth import slowness

from parsemark.errors import ParsemarkError

N_SHAPES = 10_000
SHARE = 0.35
SMALL, LARGE = 10_000, 100_000
MAX_CPU_S = 2.0
MAX_EXPONENT = 1.3
CHEAP_S = 0.015
"""At 10 kB; even a cost that grows with the square of the size is in bounds at 100 kB then."""
NOISE_S = 0.25
"""At 100 kB; less is not told from noise."""


def attack(work: Path) -> Iterator[Case]:
    budget, seed = Budget(SHARE), random.SystemRandom().randrange(10**9)
    for read in readers().values():
        read("a")  # what is imported at first use is no cost of a text
    jobs = ((seed, number) for number in range(N_SHAPES * budget.nights))
    yield from tried_by_all(attempt, chain(broken_before("growth"), jobs), budget)


def attempt(job: tuple[int, int]) -> Case:
    """Measure one shape."""
    (name, make), factor = shape(*job), slowness()
    try:
        return _measured(f"{name}, shape {job[0]} {job[1]}", name, make, factor)
    except Exception as error:
        return Case(f"{name}, shape {job[0]} {job[1]}", False, f"{error!r:.200} on {make(60)!r}")


def _measured(title: str, name: str, make: Callable[[int], str], factor: float) -> Case:
    small = seconds(name, make(SMALL))
    large = seconds(name, make(LARGE)) if small > CHEAP_S else 0.0
    if large > NOISE_S:  # another process can only make one slower
        small, large = (min(s, seconds(name, make(n))) for s, n in ((small, SMALL), (large, LARGE)))
    exponent = math.log10(large / max(small, 1e-6)) if large > NOISE_S * factor else 1.0
    if exponent > MAX_EXPONENT:  # longer texts may be read in another way: that is a step, and growth goes on
        further = seconds(name, make(3 * LARGE)) / max(seconds(name, make(3 * SMALL)), 1e-6)
        exponent = min(exponent, math.log10(max(further, 1e-6)))
    held = small < MAX_CPU_S * factor and large <= MAX_CPU_S * factor and exponent <= MAX_EXPONENT
    note = f"{small:.3f} s at 10 kB, {large:.2f} s at 100 kB, exponent {exponent:.2f}: {make(60)!r}"
    return Case(title, held, note)


def seconds(name: str, text: str) -> float:
    """CPU time; ten times the bound if it is more than that. What is not refused in words is raised."""
    begun = time.process_time()
    try:
        with at_most(10 * MAX_CPU_S):
            readers()[name](text)
    except ParsemarkError:
        pass  # a refusal is an answer
    except TooSlowError:
        return 10 * MAX_CPU_S
    return time.process_time() - begun
