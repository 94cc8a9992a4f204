"""How well few labels choose a parser: coverage, error, regret, and copies of a parser.

python -m bench choose            on a run of the demo corpus (`runs/demo`, made by `make bench`)
PARSEMARK_RUNS=a:b python -m bench choose    on runs of your own that have truth
"""

import os
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from parsemark.choose.agreement import Agreement, measure_agreement
from parsemark.choose.choice import page_scores
from parsemark.protocols import get_protocol
from parsemark.stats.prediction_powered import draw_order, estimate_mean
from parsemark.store import Run

DRAWS = 500
LABELS = (5, 10, 20)
MIN_COVERAGE, MAX_ERROR_RATIO = 0.93, 0.5


def main() -> bool:
    paths = [Path(p) for p in os.environ.get("PARSEMARK_RUNS", "runs/demo").split(":")]
    found = [study(path) for path in paths if (path / "manifest.json").exists()]
    return all(found)


def study(path: Path) -> bool:
    run = Run.open(path)
    samples = run.table("samples")
    keys, documents = list(samples["sample"]), list(samples["document"])
    parsers = sorted({record.parser for record in run.records()})
    truth, _ = page_scores(run, get_protocol(run.protocols[0]), parsers, keys)
    predictions = {(s, p): run.prediction(s, p) for s in keys for p in parsers}
    agreement = measure_agreement(predictions, parsers, keys)
    guesses, means = agreement.guesses(), truth.mean(axis=1)
    tau = kendalltau(means, guesses.mean(axis=1)).statistic
    broken = [c for c in (1, 3) for i in range(len(parsers)) if not survives(agreement, means, i, c)]
    print(
        f"{path}: {len(keys)} pages, {len(parsers)} parsers; label-free Kendall {tau:.2f}, families "
        f"{[f for f in agreement.families() if len(f) > 1]}, winner lost by copies in {len(broken)} cases"
    )
    good = not broken
    for n in (n for n in LABELS if n < len(keys)):
        found = np.array([draw(agreement, truth, documents, n, seed) for seed in range(DRAWS)])
        covered, differences, ours, classical, regret, regret_random = found.mean(axis=0)
        print(
            f"  {n:3d} labels: covers {covered:.3f}, differences {differences:.3f}, squared error "
            f"{ours / classical:.2f} of the classical one, regret {regret:.4f} (random {regret_random:.4f})"
        )
        good &= covered >= MIN_COVERAGE and differences >= MIN_COVERAGE
        good &= n != 10 or ours / classical <= MAX_ERROR_RATIO
    return good


def survives(agreement: Agreement, means: np.ndarray, copied: int, n_copies: int) -> bool:
    """Whether the first of the label-free order stays the same parser (or its copy) with copies around."""
    before = agreement.parsers[int(agreement.guesses().mean(axis=1).argmax())]
    index = [*range(len(means)), *[copied] * n_copies]
    names = (*agreement.parsers, *(f"{agreement.parsers[copied]} #{k}" for k in range(n_copies)))
    crowded = Agreement(names, agreement.samples, agreement.likeness[np.ix_(index, index)])
    return names[int(crowded.guesses().mean(axis=1).argmax())].split(" #")[0] == before


def draw(
    agreement: Agreement, truth: np.ndarray, documents: list[str], n: int, seed: int
) -> tuple[float, ...]:
    guesses, means = agreement.guesses(), truth.mean(axis=1)
    best = int(means.argmax())
    order = draw_order(agreement.doubt() + 0.05, documents, seed)
    used, chances = order.order[:n], order.inclusion(n)
    random = np.random.default_rng(seed).permutation(truth.shape[1])[:n]
    estimates = [
        estimate_mean(t[used], g, used, chances, bounds=(0, 1)) for t, g in zip(truth, guesses, strict=True)
    ]
    covered = [e.low - 1e-9 <= m <= e.high + 1e-9 for e, m in zip(estimates, means, strict=True)]
    gaps = []
    for i in range(len(means)):
        if i != best:
            gap = estimate_mean(truth[i, used] - truth[best, used], guesses[i] - guesses[best], used, chances)
            gaps.append(gap.low <= means[i] - means[best] <= gap.high)
    values, classical = np.array([e.value for e in estimates]), truth[:, random].mean(axis=1)
    return (
        float(np.mean(covered)),
        float(np.mean(gaps)),
        float(((values - means) ** 2).mean()),
        float(((classical - means) ** 2).mean()),
        float(means.max() - means[values.argmax()]),
        float(means.max() - means[classical.argmax()]),
    )
