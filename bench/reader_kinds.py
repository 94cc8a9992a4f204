"""How `reader` does on tables of other kinds than papers have.

Financial statements, timetables, questionnaires, sports, laboratory, CJK and right-to-left tables. The points
in `reader_kinds.jsonl` are an author's guess of what three people would give, written before any pair was
scored; so are those of `reader_values.jsonl`, nine classes of values, headers and columns that differ, and
those of `reader_meanings.jsonl`: invoices, reference ranges, bills of materials, rules, genealogies and
fares, on which rules were tuned, and nutrition, taxes, pins, doses, laboratory protocols and leagues, which
were held out.

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
MEANINGS = PAIRS.with_name("reader_meanings.jsonl")
_DRAWS = 2000


def scored(path: Path = PAIRS, half: str = "") -> list[tuple[str, float, float]]:
    """Return each pair, or those of one half, with its points and the score of `reader`."""
    pairs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    pairs = [pair for pair in pairs if pair.get("half", "") == half]
    found = [score(pair["truth"], pair["pred"], metrics=["reader"])["reader"] for pair in pairs]
    return [(p["name"], float(p["points"]), f.value or 0.0) for p, f in zip(pairs, found, strict=True)]


def report(path: Path, half: str = "") -> None:
    """Print each pair, the furthest off first, and the agreement of all."""
    found = scored(path, half)
    for name, given, value in sorted(found, key=lambda item: -abs(item[1] - item[2])):
        print(f"{name:>28} {given:5.1f} {value:5.1f} {value - given:+5.1f}")
    points, values = np.array([item[1] for item in found]), np.array([item[2] for item in found])
    pearson, spearman = pearsonr(points, values)[0], spearmanr(points, values)[0]
    # 95 % intervals, pairs drawn with replacement.
    rng = np.random.default_rng(13)
    draws = (rng.integers(len(found), size=len(found)) for _ in range(_DRAWS))
    low, high = np.quantile([np.corrcoef(points[d], values[d])[0, 1] for d in draws], [0.025, 0.975])
    print(f"{path.stem} {half}: {len(found)} pairs, ", end="")
    print(f"Pearson {pearson:.3f} ({low:.3f} to {high:.3f}), Spearman {spearman:.3f}")


def main() -> None:
    for path, half in ((PAIRS, ""), (VALUES, ""), (MEANINGS, "tuned"), (MEANINGS, "held out")):
        report(path, half)


if __name__ == "__main__":
    main()
