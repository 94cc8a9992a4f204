"""What synthetic pages cost: CPU seconds per page of LaTeX and Typst, and linear in pages.

Each corpus is made by a process of its own, so that its children (TeX, what opens PDFs) are counted.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_CPU_S = {"synthetic": 0.6, "typst": 0.1}
"""Per page beyond the start of the program: what 100 pages cost more than 50."""
MAX_GROWTH = 1.3
"""Twice the pages may cost this much more than twice the time (documents differ)."""


def cost(command: str, pages: int, folder: Path) -> float:
    """Return CPU seconds of making so many pages, with all children."""
    out = folder / f"{command}-{pages}"
    arguments = ["corpus", "make", command, "--pages", str(pages), "--seed", "1", "--out", str(out)]
    arguments += ["--workers", "1"] if command == "synthetic" else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "parsemark", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> bool:
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["PARSEMARK_CACHE"] = str(folder / "cache")
        for command, most in MOST_CPU_S.items():
            first = cost(command, 1, folder)
            print(f"{command}: first page, with the start and the precompiled formats: {first:.1f} CPU s")
            costs = {pages: cost(command, pages, folder) for pages in (50, 100)}
            for pages, seconds in costs.items():
                print(f"{pages:4d} pages: {seconds:6.1f} CPU s, {seconds / pages:.3f} CPU s per page")
            page, growth = (costs[100] - costs[50]) / 50, costs[100] / (2 * costs[50])
            print(f"beyond the start: {page:.3f} CPU s per page (aim: {most})")
            print(f"100 pages against twice 50 pages: {growth:.2f}")
            good = good and page <= most and growth <= MAX_GROWTH
    return good
