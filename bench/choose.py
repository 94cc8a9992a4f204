"""How well few labels choose a parser: error, regret, coverage, copies of a parser, and no labels at all.

    python -m bench choose                        200 synthetic pages, ICDAR-2013, pdf-parse-bench
    PARSEMARK_RUNS=a:b python -m bench choose     runs of your own that have truth

The synthetic corpus is made, and all parses are kept, in `~/.cache/parsemark/bench` (or PARSEMARK_CACHE), so
that a second call only draws. The other two corpora are read from PARSEMARK_DATA and left out without it.
Truth is known for every page; each draw pretends to know it for the first pages of a random order alone.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

import parsemark as pm
from parsemark import api
from parsemark.choosing.choice import Outputs, labelled_figure
from parsemark.choosing.estimate import centred, estimated_figure
from parsemark.choosing.label_order import draw_order, inclusion_probabilities
from parsemark.consensus.agreement import ParserAgreement, measure_agreement
from parsemark.corpora import load_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.protocols import get_protocol
from parsemark.protocols.run_scores.aggregate import figure_of
from parsemark.protocols.run_scores.pair_verdicts import verdicts_on_pairs
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store import Run
from parsemark.store.run_tables import Places
from parsemark.system.files import cache_folder

Floats = NDArray[np.float64]

DRAWS = 500
LABELS = (5, 10, 20)
N_PAGES, SEED = 200, 14
MIN_COVERAGE, MAX_ERROR_RATIO = 0.93, 0.5


@dataclass(frozen=True)
class Known:
    """A run with truth."""

    agreement: ParserAgreement
    trust: Floats
    """What each parser's guesses are multiplied with."""
    figure: FigureSums
    """The primary figure, with all pages."""
    places: Places
    sizes: Floats
    """(parsers, pages): how much pages count."""

    @cached_property
    def means(self) -> Floats:
        """Return the figure of each parser over all pages."""
        return np.array([float(self.figure.statistic(own.sum(axis=0))) for own in self.figure.sums.values()])


def main() -> bool:
    found = [study(path) for path in runs()]
    return all(found)


def runs() -> Iterator[Path]:
    """Yield the runs to study; those of the three corpora are made when they are not there."""
    if "PARSEMARK_RUNS" in os.environ:
        yield from map(Path, os.environ["PARSEMARK_RUNS"].split(":"))
        return
    home = cache_folder("bench")
    corpus = home / f"synthetic-{N_PAGES}"
    if not (corpus / "corpus.json").exists():
        shutil.rmtree(corpus, ignore_errors=True)  # half made when something stopped us
        pm.corpus_make("synthetic", corpus, pages=N_PAGES, seed=SEED)
    yield made(str(corpus), home / "choose-synthetic")
    data = os.environ.get("PARSEMARK_DATA")
    if data is None:
        print("PARSEMARK_DATA is not set: ICDAR-2013 and pdf-parse-bench are left out.")
        return
    yield made(f"icdar2013:{data}/icdar2013", home / "choose-icdar2013")
    yield made(f"pdf-parse-bench:{data}/pdf-parse-bench-tables", home / "choose-pdf-parse-bench")


def made(corpus: str, out: Path, parsers: Sequence[str] | None = None) -> Path:
    """Return a run of the default parsers (or those named), gone on with if it is there."""
    run = api.parse(load_corpus(corpus), parsers, api.parse_options(protocols=["tables"]), out=out)
    score_run(run)
    return out


def known(path: Path) -> Known:
    """Return everything that the draws need."""
    run = Run.open(path)
    outputs = Outputs.of(run, text=False, skip=())
    samples, parsers = outputs.places.samples, outputs.parsers
    figure = labelled_figure(run, get_protocol(run.protocols[0]), parsers, samples)
    agreement = measure_agreement(outputs.predictions, parsers, samples, run.manifest.engines)
    plausibility = outputs.plausibility(load_corpus(run.manifest.corpus.spec))
    return Known(agreement, plausibility.trust(), figure, outputs.places, outputs.sizes())


def study(path: Path) -> bool:
    return figures(path.name, known(path))


def figures(name: str, of: Known) -> bool:
    """Print what was measured on one run, and say whether it is what was promised."""
    agreement, means = of.agreement, of.means
    n_pages = len(of.places.samples)
    guesses = agreement.guesses() * of.trust[:, None]
    means_guessed = guesses.mean(axis=1)
    first, best = int(means_guessed.argmax()), int(means.argmax())
    broken = [c for c in (1, 3) for i in range(len(means)) if not survives(of, i, c)]
    print(
        f"{name}: {n_pages} pages of {len(set(of.places.documents))} documents, {len(means)} parsers.\n"
        f"    0 labels: Kendall {kendalltau(means, means_guessed).statistic:.2f}; "
        f"{agreement.parsers[first]} first, best is {agreement.parsers[best]}, regret "
        f"{means[best] - means[first]:.4f}; another one first with 1 or 3 copies of any parser in "
        f"{len(broken)} of {2 * len(means)} cases"
    )
    good = not broken
    for n in (n for n in LABELS if n < n_pages):
        found = np.array([draw(of, guesses, n, seed) for seed in range(DRAWS)])
        covered, best_covered, ours, classical, regret, regret_random = found.mean(axis=0)
        print(
            f"  {n:3d} labels: intervals hold the figure of all pages in {covered:.3f}, "
            f"of differences in {best_covered:.3f}; squared error {ours / classical:.2f} of that "
            f"of random labels alone; regret {regret:.4f} (random {regret_random:.4f})"
        )
        good &= covered >= MIN_COVERAGE and best_covered >= MIN_COVERAGE
        good &= n != 10 or ours / classical <= MAX_ERROR_RATIO
    return good


def survives(of: Known, copied: int, n_copies: int) -> bool:
    """Return whether the first of the label-free order stays the same parser (or its copy) with copies
    around.
    """
    agreement = of.agreement
    n = len(agreement.parsers)
    before = agreement.parsers[int((agreement.guesses().mean(axis=1) * of.trust).argmax())]
    index = [*range(n), *[copied] * n_copies]
    names = (*agreement.parsers, *(f"{agreement.parsers[copied]} #{k}" for k in range(n_copies)))
    crowded = ParserAgreement(names, agreement.samples, agreement.likeness[np.ix_(index, index)])
    after = (crowded.guesses().mean(axis=1) * of.trust[index]).argmax()
    return names[int(after)].split(" #")[0] == before


def draw(of: Known, guesses: Floats, n: int, seed: int) -> tuple[float, ...]:
    """Return one order of labelling: coverage, squared errors and regrets after n labels."""
    means, parsers = of.means, list(of.figure.sums)
    best = int(means.argmax())
    order = draw_order(of.agreement.doubt() + 0.05, of.places.documents, seed)
    added = {p: centred(*own) for p, *own in zip(parsers, guesses, of.sizes, strict=True)}
    figure = estimated_figure(
        some(of.figure, order.order[:n]), of.places, inclusion_probabilities(order.size, n), added
    )
    random = some(of.figure, np.random.default_rng(seed).permutation(len(of.places.samples))[:n])
    estimates = [figure_of(figure, parser) for parser in parsers]
    ends = [e.interval or (0.0, 1.0) for e in estimates]
    covered = [low - 1e-9 <= m <= high + 1e-9 for (low, high), m in zip(ends, means, strict=True)]
    pairs = [(parsers[i], parsers[best]) for i in range(len(means)) if i != best]
    gaps = []
    for verdict in verdicts_on_pairs(figure, pairs):
        gap = means[parsers.index(verdict.a)] - means[best]
        gaps.append(verdict.low is None or verdict.high is None or verdict.low <= gap <= verdict.high)
    values = np.array([e.value or 0.0 for e in estimates])
    sums = (random.statistic(own.sum(axis=0)) for own in random.sums.values())
    classical = np.array([0.0 if np.isnan(v) else float(v) for v in sums])
    return (
        float(np.mean(covered)),
        float(np.mean(gaps)),
        float(((values - means) ** 2).mean()),
        float(((classical - means) ** 2).mean()),
        float(means.max() - means[values.argmax()]),
        float(means.max() - means[classical.argmax()]),
    )


def some(figure: FigureSums, pages: Sequence[int]) -> FigureSums:
    """Return the figure on some pages."""
    kept = sorted(int(k) for k in pages)
    return replace(
        figure,
        samples=tuple(figure.samples[k] for k in kept),
        documents=tuple(figure.documents[k] for k in kept),
        sums={parser: own[kept] for parser, own in figure.sums.items()},
        division=figure.division
        and replace(figure.division, types=tuple(figure.division.types[k] for k in kept)),
    )
