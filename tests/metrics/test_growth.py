"""Metrics take bounded time for 100 kB of anything, or fail with a message."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.growth import CEILING, HTML, MAX_CPU_S, N_SHAPES, excess, inputs, measure, slowness

from parsemark.metrics import METRICS, TableInput, get_metric
from parsemark.model import Status

TRUTH = "<table><tr><td>a</td><td>1,111</td></tr><tr><td>b</td><td>$x_1$</td></tr></table>"
NAMES = [name for name in METRICS.builtin if get_metric(name).metadata.kind == "table" and name != "reader"]


def _table(rows: Callable[[random.Random, int], list[str]]) -> Callable[[int], str]:
    return lambda size: f"<table>{''.join(rows(random.Random(size), size))}</table>"


def _word(rng: random.Random, length: int) -> str:
    return "".join(rng.choice("abcdefgh") for _ in range(length))


LARGE = {
    "a row": _table(lambda r, n: ["<tr>", *(f"<td>{_word(r, 1)}" for _ in range(n // 5))]),
    "a column": _table(lambda r, n: [f"<tr><td>{_word(r, 1)}" for _ in range(n // 9)]),
    "a square": _table(
        lambda r, n: (
            ["<tr>" + "".join(f"<td>{_word(r, 2)}" for _ in range(int((n / 6) ** 0.5)))] * int((n / 6) ** 0.5)
        )
    ),
    "a text": _table(lambda r, n: [f"<tr><td>{_word(r, n)}"]),
    "long cells": _table(lambda r, n: [f"<tr><td>{_word(r, 100)}" for _ in range(n // 108)]),
}


def _score(name: str, truth: str, pred: str) -> None:
    score = get_metric(name).score(TableInput(truth), TableInput(pred))
    assert score.status in (Status.OK, Status.METRIC_FAILED)
    assert score.status is Status.OK or score.message


@pytest.mark.parametrize("name", NAMES)
def test_markup_costs_no_more_than_its_size(name: str) -> None:
    found = []
    for number, (shape, make) in enumerate(inputs(HTML)):
        if number % N_SHAPES != number // N_SHAPES % N_SHAPES:
            continue
        read = lambda text: _score(name, TRUTH, f"<table><tr><td>{text}</td></tr></table>")  # noqa: E731
        if growth := excess(read, make):
            found.append(f"{shape}: {growth.seconds} s")
    assert not found


@pytest.mark.parametrize("shape", LARGE)
@pytest.mark.parametrize("name", NAMES)
def test_large_tables_are_compared_or_refused(name: str, shape: str) -> None:
    """Comparing is quadratic, so here only the bound at 100 kB counts."""
    growth = measure(lambda text: _score(name, text, text.replace("a", "b")), LARGE[shape])
    assert growth.seconds[-1] <= CEILING * MAX_CPU_S * slowness(), growth
