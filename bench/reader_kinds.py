"""How `reader` does on tables of other kinds than papers have.

Financial statements, timetables, questionnaires, sports, laboratory, CJK and right-to-left tables. The points
in `reader_kinds.jsonl` are an author's guess of what three people would give, written before any pair was
scored; so are those of `reader_values.jsonl`, nine classes of values, headers and columns that differ.

    python -m bench.reader_kinds
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr

from parsemark.metrics import score

PAIRS = Path(__file__).with_suffix(".jsonl")
VALUES = PAIRS.with_name("reader_values.jsonl")


def scored(path: Path = PAIRS) -> list[tuple[str, float, float]]:
    """Each pair with its points and what `reader` gives."""
    pairs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    found = [score(pair["truth"], pair["pred"], metrics=["reader"])["reader"] for pair in pairs]
    return [(p["name"], float(p["points"]), f.value or 0.0) for p, f in zip(pairs, found, strict=True)]


def report(path: Path) -> None:
    """Print each pair, the furthest off first, and the agreement of all."""
    found = scored(path)
    for name, given, value in sorted(found, key=lambda item: -abs(item[1] - item[2])):
        print(f"{name:>28} {given:5.1f} {value:5.1f} {value - given:+5.1f}")
    points, values = np.array([item[1] for item in found]), np.array([item[2] for item in found])
    pearson, spearman = pearsonr(points, values)[0], spearmanr(points, values)[0]
    print(f"{len(found)} pairs, Pearson {pearson:.3f}, Spearman {spearman:.3f}")


def main() -> None:
    for path in (PAIRS, VALUES):
        report(path)


if __name__ == "__main__":
    main()
