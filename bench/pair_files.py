"""A real file of pairs with four metrics, reading included, the start of Python not.

Needs the reference data: PARSEMARK_DATA=folder python -m bench pair_files.
"""

import os
import time
from pathlib import Path

from parsemark.metrics import DEFAULT_METRICS
from parsemark.metrics.pair_files import score_lines

WANTED_S = 2.0


def main() -> bool:
    folder = os.environ.get("PARSEMARK_DATA")
    if not folder:
        print("skipped: set PARSEMARK_DATA to the reference data")
        return True
    path = Path(folder) / "conformance" / "table-metrics-corpus.jsonl"
    start = time.process_time()
    with path.open(encoding="utf-8") as lines:
        scores = sum(1 for _ in score_lines(lines, DEFAULT_METRICS))
    seconds = time.process_time() - start
    print(f"{scores} scores in {seconds:.2f} s of CPU (wanted: {WANTED_S:g} s)")
    return seconds <= WANTED_S
