"""TEDS and GriTS against straightforward implementations, side by side, values equal, parsing included."""

from collections.abc import Callable
from typing import Any

from bench import _references as references
from bench._machine import cpu_seconds
from bench._random_tables import as_html, table, with_noise
from parsemark.metrics import TableInput, grits, teds

SIZES = ((20, 8, 200, 100), (60, 12, 1000, 200))
"""Rows, columns, and how many times faster TEDS and GriTS are to be."""


def main() -> bool:
    met = []
    print(f"{'table':>8} {'metric':>6} {'reference s':>12} {'parsemark s':>12} {'times':>7} {'wanted':>7}")
    for rows, cols, wanted_teds, wanted_grits in SIZES:
        cells = table(rows, cols, seed=1)
        truth, pred = as_html(cells), as_html(with_noise(cells, 0.08, seed=2))
        size = f"{rows}x{cols}"
        met.append(_compare(size, "teds", references.teds, teds, (truth, pred), wanted_teds))
        met.append(_compare(size, "grits", references.grits, _both_grits, (truth, pred), wanted_grits))
    return all(met)


def _both_grits(truth: str, pred: str) -> tuple[float, float]:
    return tuple(grits(TableInput(truth), TableInput(pred)))


def _compare(
    size: str,
    name: str,
    slow: Callable[..., Any],
    fast: Callable[..., Any],
    pair: tuple[str, str],
    wanted: int,
) -> bool:
    expected, value = slow(*pair), fast(*pair)
    pairs = zip(expected, value, strict=True) if isinstance(value, tuple) else [(expected, value)]
    if any(abs(a - b) > 1e-9 for a, b in pairs):
        raise AssertionError(f"{name} differs: {expected} and {value}")
    slow_s, fast_s = cpu_seconds(lambda: slow(*pair), 0.0001), cpu_seconds(lambda: fast(*pair))
    print(f"{size:>8} {name:>6} {slow_s:12.3f} {fast_s:12.6f} {slow_s / fast_s:7.0f} {wanted:7}")
    return slow_s >= wanted * fast_s
