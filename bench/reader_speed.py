"""CPU time of `reader` for one pair of tables, reading included, no text kept from an earlier pair.

Run with `python -m bench reader_speed`. Every pair is made of new random tables, and what is kept by text is
forgotten between pairs, as for a parser's next table; of several tries the least is taken, since the machine
may be shared.
"""

import gc
import time
from functools import _lru_cache_wrapper

from bench._random_tables import as_html, table, with_noise
from parsemark.metrics import TableInput, get_metric

_PAIRS = 12
_TRIES = 7
_NOISE = 0.08

AIMS = (
    ("20 x 8", 20, 8, False, 5.0),
    ("20 x 8, unrelated", 20, 8, True, 10.0),
    ("60 x 12", 60, 12, False, 25.0),
)
"""Name, rows, columns, whether the two tables have nothing to do with each other, and milliseconds."""


def main() -> bool:
    """Print milliseconds of CPU for one pair of each size."""
    met = []
    print(f"{'tables':>18} {'ms':>7} {'median':>7} {'aim':>6}")
    for name, rows, cols, unrelated, aim in AIMS:
        pairs = [_pair(rows, cols, 10 * k, unrelated) for k in range(_PAIRS)]
        per_pair = sorted(min(_milliseconds(*pair) for _ in range(_TRIES)) for pair in pairs)
        mean, median = sum(per_pair) / _PAIRS, per_pair[_PAIRS // 2]
        print(f"{name:>18} {mean:7.2f} {median:7.2f} {aim:6.1f}")
        met.append(mean <= aim)
    return all(met)


def _pair(rows: int, cols: int, seed: int, unrelated: bool) -> tuple[str, str]:
    cells = table(rows, cols, seed)
    other = table(rows, cols, seed + 5) if unrelated else with_noise(cells, _NOISE, seed + 1)
    return as_html(cells), as_html(other)


def _milliseconds(truth: str, pred: str) -> float:
    metric = get_metric("reader")
    for kept in [o for o in gc.get_objects() if isinstance(o, _lru_cache_wrapper)]:
        if kept.__module__.startswith(("parsemark.metrics.reader", "parsemark.formats")):
            kept.cache_clear()
    start = time.process_time()
    metric.compute(TableInput(truth), TableInput(pred))
    return 1000 * (time.process_time() - start)
