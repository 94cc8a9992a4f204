"""How well few labels choose a parser: coverage, error, regret, copies of a parser, and no labels at all.

    python -m bench choose                        200 synthetic pages, ICDAR-2013, pdf-parse-bench
    PARSEMARK_RUNS=a:b python -m bench choose     runs of your own that have truth

The synthetic corpus is made, and all parses are kept, in `~/.cache/parsemark/bench` (or PARSEMARK_CACHE), so
that a second call only draws. The other two corpora are read from PARSEMARK_DATA and left out without it.
Truth is known for every page; each draw pretends to know it for the first pages of a random order alone.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

import parsemark as pm
from parsemark import api
from parsemark.choose.choice import page_scores
from parsemark.choose.label_order import draw_order
from parsemark.choose.sanity import layer_texts, measure_sanity
from parsemark.consensus.agreement import ParserAgreement, measure_agreement
from parsemark.corpora import load_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.protocols import get_protocol
from parsemark.stats.prediction_powered import estimate_mean, standings
from parsemark.store import Run
from parsemark.system.files import cache_folder

Floats = NDArray[np.float64]

DRAWS = 500
LABELS = (5, 10, 20)
N_PAGES, SEED = 200, 14
MIN_COVERAGE, MAX_ERROR_RATIO = 0.93, 0.5


@dataclass(frozen=True)
class Known:
    """A run with truth, as arrays."""

    agreement: ParserAgreement
    trust: Floats
    """What each parser's guesses are multiplied with."""
    truth: Floats
    """(parsers, pages)."""
    documents: list[str]


def main() -> bool:
    found = [study(path) for path in runs()]
    return all(found)


def runs() -> Iterator[Path]:
    """The runs to study; those of the three corpora are made when they are not there."""
    if "PARSEMARK_RUNS" in os.environ:
        yield from map(Path, os.environ["PARSEMARK_RUNS"].split(":"))
        return
    home = cache_folder("bench")
    corpus = home / f"synthetic-{N_PAGES}"
    if not (corpus / "corpus.json").exists():
        shutil.rmtree(corpus, ignore_errors=True)  # half made when something stopped us
        pm.make_corpus("synthetic", corpus, pages=N_PAGES, seed=SEED)
    yield made(str(corpus), home / "choose-synthetic")
    data = os.environ.get("PARSEMARK_DATA")
    if data is None:
        print("PARSEMARK_DATA is not set: ICDAR-2013 and pdf-parse-bench are left out.")
        return
    yield made(f"icdar2013:{data}/icdar2013", home / "choose-icdar2013")
    yield made(f"pdf-parse-bench:{data}/pdf-parse-bench-tables", home / "choose-pdf-parse-bench")


def made(corpus: str, out: Path, parsers: Sequence[str] | None = None) -> Path:
    """A run of the default parsers (or those named), gone on with if it is there."""
    run = api.parse(load_corpus(corpus), parsers, api.parse_options(protocols=["tables"]), out=out)
    score_run(run)
    return out


def known(path: Path) -> Known:
    """Everything that the draws need."""
    run = Run.open(path)
    samples = run.table("samples")
    keys, documents = list(samples["sample"]), list(samples["document"])
    parsers = sorted({record.parser for record in run.records()})
    truth, _ = page_scores(run, get_protocol(run.protocols[0]), parsers, keys)
    predictions = {(s, p): run.prediction(s, p) for s in keys for p in parsers}
    agreement = measure_agreement(predictions, parsers, keys, run.manifest.engines)
    sanity = measure_sanity(
        predictions, parsers, keys, layer_texts(load_corpus(run.manifest.corpus.spec), keys)
    )
    return Known(agreement, sanity.trust(), truth, documents)


def study(path: Path) -> bool:
    return figures(path.name, known(path))


def figures(name: str, of: Known) -> bool:
    """Print what was measured on one run, and say whether it is what was promised."""
    agreement, means = of.agreement, of.truth.mean(axis=1)
    n_pages = of.truth.shape[1]
    guesses = agreement.guesses() * of.trust[:, None]
    means_guessed = guesses.mean(axis=1)
    first, best = int(means_guessed.argmax()), int(means.argmax())
    broken = [c for c in (1, 3) for i in range(len(means)) if not survives(of, i, c)]
    print(
        f"{name}: {n_pages} pages of {len(set(of.documents))} documents, {len(means)} parsers.\n"
        f"    0 labels: Kendall {kendalltau(means, means_guessed).statistic:.2f}; "
        f"{agreement.parsers[first]} first, best is {agreement.parsers[best]}, regret "
        f"{means[best] - means[first]:.4f}; another one first with 1 or 3 copies of any parser in "
        f"{len(broken)} of {2 * len(means)} cases"
    )
    good = not broken
    for n in (n for n in LABELS if n < n_pages):
        found = np.array([draw(of, guesses, n, seed) for seed in range(DRAWS)])
        covered, differences, ours, classical, regret, regret_random = found.mean(axis=0)
        print(
            f"  {n:3d} labels: intervals cover {covered:.3f}, of differences {differences:.3f}; squared "
            f"error {ours / classical:.2f} of that of random labels alone; regret {regret:.4f} (random "
            f"{regret_random:.4f})"
        )
        good &= covered >= MIN_COVERAGE and differences >= MIN_COVERAGE
        good &= n != 10 or ours / classical <= MAX_ERROR_RATIO
    return good


def survives(of: Known, copied: int, n_copies: int) -> bool:
    """Whether the first of the label-free order stays the same parser (or its copy) with copies around."""
    agreement = of.agreement
    n = len(agreement.parsers)
    before = agreement.parsers[int((agreement.guesses().mean(axis=1) * of.trust).argmax())]
    index = [*range(n), *[copied] * n_copies]
    names = (*agreement.parsers, *(f"{agreement.parsers[copied]} #{k}" for k in range(n_copies)))
    crowded = ParserAgreement(names, agreement.samples, agreement.likeness[np.ix_(index, index)])
    after = (crowded.guesses().mean(axis=1) * of.trust[index]).argmax()
    return names[int(after)].split(" #")[0] == before


def draw(of: Known, guesses: Floats, n: int, seed: int) -> tuple[float, ...]:
    """One order of labelling: coverage, squared errors and regrets after n labels."""
    truth, means = of.truth, of.truth.mean(axis=1)
    best = int(means.argmax())
    order = draw_order(of.agreement.doubt() + 0.05, of.documents, seed)
    used, chances = order.order[:n], order.inclusion(n)
    random = np.random.default_rng(seed).permutation(truth.shape[1])[:n]
    estimates = [
        estimate_mean(t[used], g, used, chances, bounds=(0, 1)) for t, g in zip(truth, guesses, strict=True)
    ]
    covered = [e.low - 1e-9 <= m <= e.high + 1e-9 for e, m in zip(estimates, means, strict=True)]
    gaps = []
    for i in range(len(means)):
        if i != best:
            labels, proxies = truth[i, used] - truth[best, used], guesses[i] - guesses[best]
            gap = estimate_mean(labels, proxies, used, chances, bounds=(-1, 1))
            gaps.append(gap.low <= means[i] - means[best] <= gap.high)
    values, classical = np.array([e.value for e in estimates]), truth[:, random].mean(axis=1)
    return (
        float(np.mean(covered)),
        float(np.mean(gaps)),
        float(((values - means) ** 2).mean()),
        float(((classical - means) ** 2).mean()),
        float(means.max() - means[standings(truth[:, used], guesses, used, chances).argmax()]),
        float(means.max() - means[classical.argmax()]),
    )
