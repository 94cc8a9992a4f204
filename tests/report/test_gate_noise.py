"""`parsemark gate` of a parser whose output varies, with pages that were parsed several times."""

import itertools
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.corpora.small_files import make_pdf

from parsemark.corpora import Corpus
from parsemark.engine import import_outputs
from parsemark.engine.scoring.score import score_run
from parsemark.formats import write_document
from parsemark.model import Box, Element, Page, Sample, Table
from parsemark.store import Run, RunFolder
from parsemark.verdicts.gate import GateLimits, gate_runs, save_baseline
from parsemark.verdicts.gate_checks import beyond_noise

N_PAGES, N_PARSES, N_RUNS, N_GATES = 16, 3, 5, 8

Edit = Callable[[str, str], str]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Pages with a table of numbers each."""
    folder, rng, samples = tmp_path_factory.mktemp("numbers"), random.Random("numbers"), []
    for k in range(N_PAGES):
        rows = [
            [f"row {r}", *(f"{rng.randint(100, 999)}.{rng.randint(10, 99)}" for _ in range(3))]
            for r in range(6)
        ]
        table = Table.from_rows([["name", "a", "b", "c"], *rows])
        make_pdf(folder / f"p{k:02d}.pdf")
        truth = Page(f"p{k:02d}", 600, 800, (Element("t", "table", Box(10, 10, 500, 400), table=table),))
        samples.append(Sample(f"p{k:02d}", f"d{k:02d}", 1, truth, folder / f"p{k:02d}.pdf"))
    return Corpus.of("numbers", samples, root=folder, version="1", licence="CC0")


@pytest.fixture(scope="module")
def parsed(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Return a run of a parser that exchanges 1 % of the digits, others with each seed."""
    texts = {s.id: write_document(s.truth) for s in corpus.samples() if s.truth is not None}

    def once(folder: Path, seed: str, edit: Edit) -> Run:
        (folder / "outputs").mkdir(parents=True)
        rng = random.Random(seed)
        for sample, text in texts.items():
            noisy = re.sub(r"\d", lambda d: str(rng.randint(0, 9)) if rng.random() < 0.01 else d[0], text)
            (folder / "outputs" / f"{sample}.md").write_text(edit(sample, noisy))
        return import_outputs.import_predictions(
            folder / "run", corpus, folder / "outputs", name="p", protocols=("tables",)
        )

    def several(seed: object, edit: Edit = lambda _, text: text, n: int = N_PARSES) -> Run:
        folder = tmp_path_factory.mktemp("parsed")
        with pytest.MonkeyPatch.context() as patch:
            # Several parses are the same work of a parser, whatever it returns.
            patch.setattr(import_outputs, "work_key", lambda *_: "work")
            runs = [once(folder / str(k), f"{seed} {k}", edit) for k in range(n)]
        for number, again in enumerate(runs[1:], start=2):
            shutil.copytree(again.path, RunFolder.of(runs[0]).repeat(number))
        score_run(runs[0], n_workers=1)
        return Run.open(runs[0].path)

    return several


@pytest.fixture(scope="module")
def runs(parsed: Callable[..., Run]) -> list[Run]:
    return [parsed(k) for k in range(N_RUNS)]


def failures(old: Run, new: Run) -> list[str]:
    return [f"{check.name}: {check.found}" for check in gate_runs(new, old, GateLimits()).failed]


def test_runs_of_the_same_noisy_parser_pass(runs: list[Run]) -> None:
    """A single parse of each page alarms in most gates; three leave the 5 % of the drop beyond chance."""
    pairs = list(itertools.combinations(runs, 2))[:N_GATES]
    alone = [bool(failures(old.repeats[0], new.repeats[0])) for old, new in pairs]
    found = [failures(old, new) for old, new in pairs]
    assert sum(alone) >= 2
    assert sum(map(bool, found)) <= 1, found


def test_a_regression_on_one_page_is_caught_in_the_noise(runs: list[Run], parsed: Callable[..., Run]) -> None:
    def last_rows_dropped(sample: str, text: str) -> str:
        return text.rstrip().rsplit("\n", 2)[0] + "\n" if sample == "p03" else text

    result = gate_runs(parsed("planted", last_rows_dropped), runs[0], GateLimits())
    assert {"TE F1 Con: pages that got worse", "errors that rose"} <= {check.name for check in result.failed}
    assert all(page.startswith("p03: ") for check in result.failed for page in check.pages)
    assert [page.sample for page in result.worse] == ["p03"]
    assert "0 pages better, 1 worse" in result.verdicts[0]


def test_a_table_is_lost_if_no_parse_finds_it(runs: list[Run], parsed: Callable[..., Run]) -> None:
    result = gate_runs(parsed("lost", lambda s, text: "" if s == "p05" else text), runs[0], GateLimits())
    (lost,) = (check for check in result.checks if check.name == "lost tables")
    assert not lost.passed and lost.found == f"1 of {N_PAGES}, 0 newly found"


def test_a_baseline_keeps_all_parses(runs: list[Run], tmp_path: Path) -> None:
    baseline = Run.open(save_baseline(runs[0], tmp_path / "baseline"))
    for new in runs[1:3]:
        assert gate_runs(new, baseline, GateLimits()).checks == gate_runs(new, runs[0], GateLimits()).checks


def test_what_is_beyond_noise() -> None:
    def moved(old: list[float], new: list[float], steady: int = 20) -> int:
        sides = [
            [{"page": value} | {f"s{k}": 0.5 for k in range(steady)} for value in of] for of in (old, new)
        ]
        return beyond_noise(sides[0], sides[1], least=0.005).get("page", 0)

    assert moved([0.5], [0.51]) == 1 and moved([0.5], [0.49]) == -1 and moved([0.5], [0.503]) == 0
    assert moved([0.9, 0.9, 0.9], [0.8, 0.8, 0.8]) == -1
    assert moved([0.9, 0.8, 0.9], [0.8, 0.6, 0.7]) == 0  # the ranges touch
    assert moved([0.9, 0.8, 0.9], [0.75, 0.6, 0.7]) == 0  # apart, by less than they are wide
    assert moved([0.9, 0.88, 0.9], [0.8, 0.82, 0.81]) == -1
    assert moved([0.9, 0.88, 0.9], [0.8]) == -1  # one run has several parses
    noisy = [{f"p{k}": 0.5 + 0.1 * parse for k in range(10)} for parse in range(3)]
    assert not beyond_noise([{**of, "q": 0.9} for of in noisy], [{**of, "q": 0.8} for of in noisy])
    assert beyond_noise([{**of, "q": 0.9} for of in noisy], [{**of, "q": 0.6} for of in noisy]) == {"q": -1}
