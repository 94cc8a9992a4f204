"""Tries everything and prints a table: tried, held."""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.common import Case

SECTIONS = ("kills", "workers", "damage", "inputs", "sanitizer")
SHOWN = 12


def main(names: list[str]) -> int:
    rows: list[tuple[str, int, int, float]] = []
    failures: list[tuple[str, Case]] = []
    for name in names or SECTIONS:
        section = importlib.import_module(f"tests.faults.{name}")
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="parsemark-faults-") as work:
            cases = []
            for case in section.attack(Path(work)):
                cases.append(case)
                if not case.held:
                    failures.append((name, case))
                    print(f"not held: {name}: {case.name}\n  {case.note}", flush=True)
        rows.append((name, len(cases), sum(case.held for case in cases), time.monotonic() - begun))
        print(f"{name}: tried {len(cases)}, held {rows[-1][2]}, {rows[-1][3]:.0f} s", flush=True)
    print(f"\n{'section':<12}{'tried':>8}{'held':>8}{'seconds':>9}")
    for name, tried, held, seconds in rows:
        print(f"{name:<12}{tried:>8,}{held:>8,}{seconds:>9.0f}")
    tried, held = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{'all':<12}{tried:>8,}{held:>8,}{sum(row[3] for row in rows):>9.0f}")
    for name, case in failures[:SHOWN]:
        print(f"not held: {name}: {case.name}")
    return 1 if failures or not rows else 0


sys.exit(main(sys.argv[1:]))
