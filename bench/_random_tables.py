"""Tables to measure with: numbers and words, and the same with noise."""

import random

WORDS = (
    "alpha",
    "beta",
    "gamma",
    "delta",
    "method",
    "model",
    "total",
    "mean",
    "error",
    "value",
    "baseline",
    "ours",
)


def _cell(rng: random.Random) -> str:
    return (
        f"{rng.uniform(0, 100):.2f}"
        if rng.random() < 0.7
        else " ".join(rng.choices(WORDS, k=rng.randint(1, 2)))
    )


def table(rows: int, cols: int, seed: int) -> list[list[str]]:
    """Return cells of a new table."""
    rng = random.Random(seed)
    return [[_cell(rng) for _ in range(cols)] for _ in range(rows)]


def with_noise(cells: list[list[str]], share: float, seed: int) -> list[list[str]]:
    """Return the table with a share of its cells replaced."""
    rng = random.Random(seed)
    return [[_cell(rng) if rng.random() < share else text for text in row] for row in cells]


def as_html(cells: list[list[str]]) -> str:
    """Return the table as the reference implementations want it."""
    rows = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in cells)
    return f"<html><body><table>{rows}</table></body></html>"
