"""`bench --repeats`: pages that are parsed several times, by parsers whose output is another each time."""

from pathlib import Path

import numpy as np
import pytest
from tests.corpora.small_files import make_pdf

from parsemark import api
from parsemark.cli.stable import repeat_parts
from parsemark.corpora import Corpus
from parsemark.errors import StoreError
from parsemark.model import Box, Element, Page, Sample, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.run_data.broken_pages import complete_sums, sums_of_parse
from parsemark.protocols.run_scores.aggregate import figure_of, mean_statistic
from parsemark.protocols.run_scores.pair_verdicts import rank, verdicts_on_pairs
from parsemark.protocols.run_scores.repeats import over_repeats
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store import Run
from parsemark.store.bundle import write_bundle
from parsemark.store.summary import FigureInfo
from parsemark.verdicts.comparison import compare_runs
from parsemark.verdicts.gate import save_baseline
from parsemark.verdicts.stability import repeats_of

WORKER = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["markdown"]
# ///
import os, random
from pathlib import Path

from parsemark_worker import serve, text_output

def parse(pdf, page, options):
    wrong = NOISY and random.SystemRandom().random() < 0.5
    return text_output("markdown", "| a | b |\\n|---|---|\\n" + ("| 9 | 8 |" if wrong else "| 1 | 2 |"))

serve(parse)
"""
N_PAGES, N_PARSES = 12, 3
INFO = FigureInfo(name="f", label="F", definition="d", denominator="pages")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A parser that is right half of the time, and one that always is."""
    folder = tmp_path_factory.mktemp("noisy")
    table = Table.from_rows([["a", "b"], ["1", "2"]])
    samples = []
    for k in range(N_PAGES):
        make_pdf(folder / f"p{k:02d}.pdf")
        truth = Page(f"p{k:02d}", 600, 800, (Element("t", "table", Box(10, 10, 200, 100), table=table),))
        samples.append(Sample(f"p{k:02d}", f"d{k:02d}", 1, truth, folder / f"p{k:02d}.pdf"))
    corpus = Corpus.of("noisy", samples, root=folder, version="1", licence="CC0")
    for name, noisy in (("noisy", True), ("steady", False)):
        (folder / f"{name}.py").write_text(WORKER.replace("NOISY", str(noisy)))
    workers = [str(folder / f"{name}.py") for name in ("noisy", "steady")]
    return api.bench(corpus, workers, out=folder / "run", workers=1, repeats=N_PARSES)


def test_scores_are_means_over_parses_and_hold_how_far_they_differ(run: Run) -> None:
    assert [again.path.name for again in run.repeats] == ["2", "3"]
    summary, recipe = run.summary(), get_protocol("tables")
    parses = [sums_of_parse(recipe, one.run_tables("tables")) for one in (run, *run.repeats)]
    own = [next(f for f in sums if f.info.name == summary.primary) for sums in parses]
    values = [float(f.statistic(f.sums["noisy"].sum(axis=0))) for f in own]
    shown = summary.figure("noisy", summary.primary)
    assert shown is not None and shown.value == pytest.approx(np.mean(values))
    assert any("noisy 3, steady 3" in note for note in summary.notes)
    mean = next(f for f in complete_sums(recipe, run.run_tables("tables")) if f.info.name == summary.primary)
    assert mean.run_variance["steady"].variance == 0


def test_pages_that_change_are_counted_with_the_spread_of_the_score(run: Run) -> None:
    found = repeats_of(run)
    noisy, steady = sorted(found.parsers, key=lambda own: own.parser)
    assert noisy.changed.n == N_PAGES and 0 < (noisy.changed.value or 0) <= 1
    # A page stays as it is in three parses with a chance of one in four.
    assert len({row.sample for row in noisy.rows if row.likeness < 1}) == round(
        N_PAGES * (noisy.changed.value or 0)
    )
    assert len(noisy.scores) == N_PARSES and len(noisy.rows) == N_PAGES * (N_PARSES - 1)
    assert steady.changed.value == 0 and steady.spread == 0
    assert found.figures()["parsers"][steady.parser]["spread"] == 0.0
    assert any(
        "several parses of the same pages" in part for part in repeat_parts(found) if isinstance(part, str)
    )


def test_a_run_against_itself_is_no_change_and_cannot_be_bundled(run: Run, tmp_path: Path) -> None:
    comparison = compare_runs(run, run)
    assert all(c.primary.difference == 0 for c in comparison.comparisons)
    baseline = Run.open(save_baseline(run, tmp_path / "baseline"))
    saved = compare_runs(baseline, run)
    assert [c.primary for c in saved.comparisons] == [c.primary for c in comparison.comparisons]
    with pytest.raises(StoreError, match="several parses"):
        write_bundle(run, tmp_path / "x.zip")


def parses(rng: np.random.Generator, n: int, noise: float, of_run: float) -> list[FigureSums]:
    """The same documents, parsed several times: pages err each for itself, and all of a parse together."""
    base = rng.beta(7, 3, 40)
    names = tuple(f"d{k:02d}" for k in range(40))
    found = []
    for _ in range(n):
        values = np.clip(base + rng.normal(0, noise, 40) + rng.normal(0, of_run), 0, 1)
        sums = {"p": np.stack([values, np.ones(40)], axis=1), "q": np.stack([base, np.ones(40)], axis=1)}
        found.append(FigureSums(INFO, names, names, sums, mean_statistic))
    return found


def mean_of(found: list[FigureSums]) -> FigureSums:
    return over_repeats(found[:1], [([other], ("p", "q")) for other in found[1:]])[0]


@pytest.mark.parametrize(
    ("noise", "of_run", "least"), [(0.0, 0.0, 0.92), (0.15, 0.0, 0.92), (0.1, 0.05, 0.9)]
)
def test_intervals_of_a_noisy_parser_hold_its_mean_over_documents_and_parses(
    noise: float, of_run: float, least: float
) -> None:
    rng = np.random.default_rng(3)
    truth = np.mean([parses(rng, 1, noise, of_run)[0].sums["p"][:, 0].mean() for _ in range(3000)])
    n, covered = 400, 0
    for _ in range(n):
        found = figure_of(mean_of(parses(rng, 5, noise, of_run)), "p")
        assert found.low is not None and found.high is not None
        covered += found.low <= truth <= found.high
    assert covered / n >= least


def test_what_all_pages_of_a_parse_share_makes_verdicts_open() -> None:
    """Two parsers alike but for the luck of each parse: over documents alone they are told apart."""
    rng = np.random.default_rng(5)
    with_variance = without = 0
    for _ in range(60):
        single = mean_of(parses(rng, 3, 0.02, 0.08))
        for figure, is_whole in ((single, True), (over_repeats([single], [])[0], False)):
            (verdict,) = verdicts_on_pairs(figure, [("p", "q")])
            is_false = verdict.state in ("better", "worse")
            assert (verdict.p is not None and verdict.p < 0.05) == is_false
            with_variance += is_whole and is_false
            without += not is_whole and is_false
    assert with_variance <= 12 < 30 <= without
    assert rank(single).verdict("p", "q") is not None
