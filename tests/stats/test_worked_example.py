"""The example of docs/numbers.md, recomputed by the steps that it names and without our functions."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from parsemark.stats.intervals import jackknife_interval
from parsemark.stats.paired_test import contrasts

PAGE = Path(__file__).parents[2] / "docs" / "numbers.md"
TABLES = np.array([2.0, 3.0, 1.0, 4.0, 2.0, 3.0, 5.0])
A = np.array([1.9, 2.7, 0.8, 3.5, 1.9, 2.6, 4.4])
B = np.array([1.4, 2.2, 0.5, 3.3, 1.0, 1.8, 3.9])


def mean(totals: np.ndarray) -> np.ndarray:
    return totals[..., 0] / totals[..., 1]


def by_hand() -> dict[str, float]:
    n, total = len(TABLES), TABLES.sum()
    value_a, value_b = A.sum() / total, B.sum() / total
    d, w = value_a - value_b, TABLES / total
    u = (A - value_a * TABLES) / total - (B - value_b * TABLES) / total
    z = u + d * w
    spread, unseen = np.sqrt(np.sum(z**2)), 0.25 / n
    s = d / np.hypot(spread, unseen)
    sums = np.sort([abs(np.dot((1, *signs), z)) / spread for signs in product((1, -1), repeat=n - 1)])[::-1]
    p = np.mean(sums >= s - 1e-9)
    c = sums[int(np.ceil(0.05 * len(sums))) - 1]
    lead, slope = 1 - c**2 * np.sum(w**2), c**2 * np.dot(u, w)
    root = np.sqrt(slope**2 + lead * c**2 * (np.sum(u**2) + unseen**2))
    left_out = (A.sum() - A) / (total - TABLES)
    variance = (n - 1) / n * np.sum((left_out - left_out.mean()) ** 2)
    df = int(np.sum(w**2) ** 2 / np.sum(w**4) - 1)
    return {
        "A": value_a, "B": value_b, "d": d, "spread": spread, "unseen": unseen, "s": s, "p": p, "c": c,
        "low": d - (slope + root) / lead, "high": d + (root - slope) / lead,
        "variance": variance, "df": df,
    }  # fmt: skip


def test_our_functions_say_what_the_hand_says() -> None:
    hand = by_hand()
    sums = {name: np.stack([own, TABLES], axis=1) for name, own in (("A", A), ("B", B))}
    (found,) = contrasts(sums, mean, [("A", "B")], weights=TABLES)
    assert (found.difference, found.p) == pytest.approx((hand["d"], hand["p"]))
    assert (found.low, found.high) == pytest.approx((hand["low"], hand["high"]), abs=1e-6)
    low, high = jackknife_interval(sums["A"], mean, weights=TABLES) or (0.0, 0.0)
    value, t = hand["A"], 3.1824463052842638  # Student's t, 3 degrees of freedom
    assert hand["df"] == 3
    ends = []
    for seen in (hand["variance"], hand["variance"] + (0.1 / 7) ** 2):
        half = t * np.sqrt(seen) / (value * (1 - value))
        ends.append([1 / (1 + np.exp(-(np.log(value / (1 - value)) + sign * half))) for sign in (-1, 1)])
    agreeing = 0.025 ** (1 / 4)
    expected = max(ends[1][0], ends[0][0] * agreeing), min(ends[1][1], 1 - (1 - ends[0][1]) * agreeing)
    assert (low, high) == pytest.approx(expected, abs=1e-6)


def test_the_page_shows_these_numbers() -> None:
    text = PAGE.read_text()
    shown = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([\d.]+) \|$", text, re.M))
    hand = by_hand()
    assert set(shown) == set(hand)
    for name, number in shown.items():
        digits = len(number.partition(".")[2])
        assert float(number) == pytest.approx(round(hand[name], digits), abs=1e-12), name
