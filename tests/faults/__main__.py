"""Tries everything and prints a table: tried, held."""

from __future__ import annotations

import importlib
import resource
import sys
import time

from tests.faults.common import Case
from tests.faults.suites import SUITES, attack_of

from parsemark.system.scratch import ScratchFolder

SECTIONS = (
    "kills",
    "commands",
    "people",
    "workers",
    "confinement",
    "trying",
    "retrieval",
    "damage",
    "inputs",
    "sanitizer",
    "growth",
    "fuzz",
    *SUITES,
)
SHOWN = 12


def main(names: list[str]) -> int:
    rows: list[tuple[str, int, int, float, float]] = []
    failures: list[tuple[str, Case]] = []
    for name in names or SECTIONS:
        attack = attack_of(name) if name in SUITES else importlib.import_module(f"tests.faults.{name}").attack
        begun, cpu = time.monotonic(), _cpu_s()
        with ScratchFolder("parsemark-faults-") as work:  # marked as in use: commands sweep what is not
            tried = n_held = 0
            for case in attack(work):
                tried, n_held = tried + 1, n_held + case.held
                if not case.held:
                    failures.append((name, case))
                    print(f"not held: {name}: {case.name}\n  {case.note}", flush=True)
        rows.append((name, tried, n_held, time.monotonic() - begun, _cpu_s() - cpu))
        print(
            f"{name}: tried {tried:,}, held {n_held:,}, {rows[-1][3]:.0f} s, CPU {rows[-1][4]:.0f} s",
            flush=True,
        )
    print(f"\n{'section':<12}{'tried':>8}{'held':>8}{'seconds':>9}{'CPU s':>8}")
    totals = ("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:]))
    for name, tried, held, seconds, cpu in [*rows, totals]:
        print(f"{name:<12}{tried:>8,}{held:>8,}{seconds:>9.0f}{cpu:>8.0f}")
    for name, case in failures[:SHOWN]:
        print(f"not held: {name}: {case.name}")
    return 1 if failures or not rows else 0


def _cpu_s() -> float:
    """What this process and the children that it has waited for have used so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


sys.exit(main(sys.argv[1:]))
