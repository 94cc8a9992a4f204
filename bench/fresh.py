"""Do two seeds of one generator agree? Figures within their intervals, no resolved order turned.

`PARSEMARK_FRESH_PAGES` sets the pages of each corpus (120).
"""

import os
import tempfile
from itertools import combinations
from pathlib import Path

from scipy.stats import kendalltau

import parsemark as pm

PARSERS = ("pdfplumber", "camelot(flavor=stream)", "liteparse", "pdf-inspector", "pymupdf4llm")
SEEDS = (20261, 20262)
PAGES = int(os.environ.get("PARSEMARK_FRESH_PAGES", "120"))


def main() -> bool:
    summaries = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            corpus = Path(folder) / f"corpus-{seed}"
            pm.corpus_make("synthetic(document_pages=1)", corpus, pages=PAGES, seed=seed)
            run = pm.bench(corpus, PARSERS, out=Path(folder) / f"run-{seed}")
            summaries.append(run.summary("tables"))
    first, second = summaries
    names = [name for name in PARSERS if first.figure(name, first.primary)]
    print(f"{PAGES} pages each, seeds {SEEDS}: {first.info(first.primary).label}")
    agree = 0
    for name in names:
        a, b = first.figure(name, first.primary), second.figure(name, second.primary)
        half = [(f.high - f.low) / 2 for f in (a, b)]
        inside = abs(a.value - b.value) <= (half[0] ** 2 + half[1] ** 2) ** 0.5
        agree += inside
        told = f"{a.value:.3f} [{a.low:.3f}, {a.high:.3f}]  {b.value:.3f} [{b.low:.3f}, {b.high:.3f}]"
        print(f"  {name:24} {told}  {'agree' if inside else 'DIFFER'}")
    turned = 0
    for a, b in combinations(names, 2):
        states = {first.ranking.verdict(a, b).state, second.ranking.verdict(a, b).state}
        turned += states == {"better", "worse"}
    tau = kendalltau(*([s.figure(name, s.primary).value for name in names] for s in summaries)).statistic
    print(
        f"  {agree} of {len(names)} within the interval of a difference; Kendall tau of the ranks {tau:.2f};"
    )
    print(f"  pairs that one seed resolves one way and the other the other way: {turned}")
    return agree == len(names) and turned == 0


if __name__ == "__main__":
    main()
