"""What synthetic pages cost: at most 1 CPU second per page at 100 pages, and linear in pages."""

import os
import resource
import tempfile
from pathlib import Path

from parsemark.corpora.synthetic.make import make_synthetic
from parsemark.corpora.synthetic.options import SyntheticOptions

MAX_CPU_S_PER_PAGE = 1.0
MAX_GROWTH = 1.3
"""Twice the pages may cost this much more than twice the time (documents differ)."""


def cpu_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def cost(pages: int, folder: Path) -> float:
    before = cpu_s()
    make_synthetic(SyntheticOptions(pages, seed=1), folder / str(pages), workers=1)
    return cpu_s() - before


def main() -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["PARSEMARK_CACHE"] = str(folder / "cache")
        first = cost(1, folder)
        print(f"first page, with the precompiled formats: {first:.1f} CPU s")
        costs = {pages: cost(pages, folder) for pages in (25, 50, 100)}
    for pages, seconds in costs.items():
        print(f"{pages:4d} pages: {seconds:6.1f} CPU s, {seconds / pages:.3f} CPU s per page")
    growth = costs[100] / (2 * costs[50])
    print(f"100 pages against twice 50 pages: {growth:.2f}")
    return costs[100] / 100 <= MAX_CPU_S_PER_PAGE and growth <= MAX_GROWTH
