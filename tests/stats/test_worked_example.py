"""The example of docs/explanation/numbers.md, recomputed by its steps without our functions."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.stats import t as student

from parsemark.stats.intervals import jackknife_interval
from parsemark.stats.paired_test import contrasts

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "numbers.md"
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
    left = left_out - left_out.mean()
    size = 1 / (n * w)
    scale = 1 / (1 / 3 + size)
    fit, _ = nnls(np.column_stack([scale, scale * size]), scale * (n - 1) / n * left**2 / w**2)
    by_size = fit[0] * np.sum(w**2) + fit[1] / n
    df = min(int(np.sum(w**2) ** 2 / np.sum(w**4) - 1) + 2, n - 1)
    return {
        "A": value_a, "B": value_b, "d": d, "spread": spread, "unseen": unseen, "s": s, "p": p, "c": c,
        "low": d - (slope + root) / lead, "high": d + (root - slope) / lead,
        "variance": variance, "by_size": by_size, "df": df,
    }  # fmt: skip


def test_our_functions_say_what_the_hand_says() -> None:
    hand = by_hand()
    sums = {name: np.stack([own, TABLES], axis=1) for name, own in (("A", A), ("B", B))}
    (found,) = contrasts(sums, mean, [("A", "B")], weights=TABLES)
    assert (found.difference, found.p) == pytest.approx((hand["d"], hand["p"]))
    assert (found.low, found.high) == pytest.approx((hand["low"], hand["high"]), abs=1e-6)
    low, high = jackknife_interval(sums["A"], mean, weights=TABLES) or (0.0, 0.0)
    value, t = hand["A"], 2.5705818366147395  # Student's t, 5 degrees of freedom
    assert hand["df"] == 5
    variance = max(hand["variance"], hand["by_size"])
    ends = []
    for seen in (variance, variance + (0.1 / 7) ** 2):
        half = t * np.sqrt(seen) / (value * (1 - value))
        ends.append([1 / (1 + np.exp(-(np.log(value / (1 - value)) + sign * half))) for sign in (-1, 1)])
    agreeing = 0.025 ** (1 / 4)
    expected = max(ends[1][0], ends[0][0] * agreeing), min(ends[1][1], 1 - (1 - ends[0][1]) * agreeing)
    assert (low, high) == pytest.approx(expected, abs=1e-6)


def satterthwaite(w: np.ndarray, types: np.ndarray) -> int:
    parts = [w[types == name] for name in np.unique(types)]
    squares = np.array([np.sum(p**2) for p in parts])
    own = np.array([max(np.sum(p**2) ** 2 / np.sum(p**4) - 1, 1) for p in parts])
    return int(squares.sum() ** 2 / np.sum(squares**2 / own) + 1e-9)


def test_an_interval_within_types_is_that_of_the_page() -> None:
    """F1 of 14 documents of three types: one holds no true table but a predicted one, two hold nothing."""
    truths = np.array([2.0, 3, 1, 4, 2, 3, 5, 1, 1, 0, 6, 2, 0, 0])
    found = np.array([2.0, 3, 1, 3, 2, 2, 5, 2, 0, 1, 6, 3, 0, 0])
    credit = np.array([1.9, 2.7, 0.8, 2.5, 1.9, 1.6, 4.4, 0.9, 0, 0, 5.1, 1.9, 0, 0])
    types = np.array([*"aaaabbbbccccac"])
    interval = jackknife_interval(
        np.stack([credit, truths + found], axis=1),
        lambda totals: 2 * totals[..., 0] / totals[..., 1],
        weights=truths,
        types=types,
    )

    adds = truths + found > 0
    sums, earned, types, w = (truths + found)[adds], credit[adds], types[adds], (truths / truths.sum())[adds]
    n, value = len(w), 2 * earned.sum() / sums.sum()
    left_out = 2 * (earned.sum() - earned) / (sums.sum() - sums)
    v = np.zeros(n)
    for name in np.unique(types):
        own = types == name
        k = own.sum()
        v[own] = ((n - 1) / n * (left_out[own] - left_out[own].mean())) ** 2 * k / (k - 1)
    size = np.maximum(w, 0.25 / n)
    scale = 1 / (1 / 3 + 1 / (n * size))
    (b, a), _ = nnls(np.column_stack([scale, scale / (n * size)]), scale * v / size**2)
    variance = max(v.sum(), np.sum(b * w**2 + a * w / n))
    df = min(satterthwaite(w, types) + 2, satterthwaite(np.ones(n), types))
    ends = []
    for seen in (variance, variance + (0.1 / n) ** 2):
        half = student.ppf(0.975, df) * np.sqrt(seen) / (value * (1 - value))
        ends.append(1 / (1 + np.exp(-(np.log(value / (1 - value)) + np.array([-half, half])))))
    q = 0.025 ** (1 / (satterthwaite(w, np.zeros(n)) + 1))
    expected = max(ends[1][0], ends[0][0] * q), min(ends[1][1], 1 - (1 - ends[0][1]) * q)
    assert interval == pytest.approx(expected, abs=1e-6)


def test_the_page_shows_these_numbers() -> None:
    text = PAGE.read_text()
    shown = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([\d.]+) \|$", text, re.M))
    hand = by_hand()
    assert set(shown) == set(hand)
    for name, number in shown.items():
        digits = len(number.partition(".")[2])
        assert float(number) == pytest.approx(round(hand[name], digits), abs=1e-12), name
