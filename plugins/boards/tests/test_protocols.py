"""What the protocols of all benchmarks do alike: failed and hostile pages, folders, headlines."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmark_pages import HTML, TITLE, WORDS, page, table, values
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError
from parsemark.model import Status
from parsemark.protocols import FigureInfo, FigureSums
from parsemark.protocols.run_scores.aggregate import figure_of, mean_of_figures, mean_statistic
from parsemark.protocols.run_scores.pair_verdicts import rank
from parsemark.store import Run

INFO = FigureInfo(name="overall", label="Overall", definition="d", denominator="all dimensions")


@pytest.mark.parametrize("spec", ["opendataloader", "dp-bench", "getomni"])
def test_a_failed_page_is_worth_nothing_and_stays(spec: str) -> None:
    found = values(spec, page(TITLE, WORDS), None, status=Status.PARSER_FAILED)
    assert found[{"opendataloader": "overall", "dp-bench": "nid", "getomni": "text_similarity"}[spec]] == 0


def test_hostile_pages_are_refused_or_cost_little() -> None:
    truth = page(TITLE, table())
    for text in (
        "<table>" * 3000,
        "<table><tr><td colspan='999999999999'>" * 20,
        "|" * 100_000,
        "[" * 20_000,
    ):
        for spec in ("opendataloader", "dp-bench", "rd-tablebench", "getomni"):
            assert values(spec, truth, text)
    deep = json.dumps({"a": 1})
    for _ in range(200):
        deep = f'{{"a": {deep}}}'
    nested = page(trueMarkdownOutput="", trueJsonOutput=json.loads(deep))
    assert values("getomni", nested, deep.replace("1", "2"))["json_accuracy"] == 0


def test_folders_of_the_boards_are_loaded_and_scored(tmp_path: Path) -> None:
    element = {
        "category": "Table",
        "content": {"text": "", "html": HTML},
        "coordinates": [{"x": 0.1, "y": 0.2}] * 4,
    }
    odl = tmp_path / "odl" / "ground-truth"
    (odl / "markdown").mkdir(parents=True)
    (odl / "markdown" / "01.md").write_text("# a\n\ntext")
    (odl / "reference.json").write_text(json.dumps({"01.pdf": {"elements": [element]}}))
    (tmp_path / "dp").mkdir()
    (tmp_path / "dp" / "reference.json").write_text(json.dumps({"01.pdf": {"elements": [element]}}))
    (tmp_path / "rd" / "groundtruth").mkdir(parents=True)
    (tmp_path / "rd" / "groundtruth" / "01.html").write_text(HTML)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "01.md").write_text(f"# a\n\ntext\n\n{HTML}")
    for loader, folder, protocol, figure in (
        ("opendataloader-bench", "odl", "opendataloader", "mhs"),
        ("dp-bench", "dp", "dp-bench", "teds"),
        ("rd-tablebench", "rd", "rd-tablebench", "similarity"),
    ):
        corpus = load_corpus(f"{loader}:{tmp_path / folder}")
        assert "imported, not parsed" in str(corpus.remarks[-1])
        run = import_predictions(tmp_path / f"run-{folder}", corpus, tmp_path / "out", protocols=(protocol,))
        score_run(run, n_workers=1)
        found = Run.open(run.path).summary(protocol).parsers["out"][figure]
        assert found.value is not None and found.value > 0.4 and found.n == 1
        written = tmp_path / f"files-{folder}"
        arguments = ["export", str(run.path), "--format", "benchmark", "--out", str(written)]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert [p for p in written.rglob("*") if p.is_file() and "01" in p.read_text() + p.name]
        with pytest.raises(CorpusError, match="Is this"):
            load_corpus(f"{loader}:{tmp_path / 'out'}")


def test_a_headline_of_several_parts_needs_not_the_first_one() -> None:
    """ParseBench's overall of a corpus without tables: a number with a star, or neither."""
    names = ("p1", "p2")
    missing = np.zeros((2, 2))
    parts = [
        FigureSums(INFO, names, names, {"a": missing, "b": missing}, mean_statistic),
        FigureSums(INFO, names, names, {"a": np.ones((2, 2)), "b": missing}, mean_statistic),
    ]
    whole = mean_of_figures(INFO, parts)
    assert figure_of(whole, "a").value == 1 and figure_of(whole, "b").value is None
    ranking = rank(whole)
    assert ranking.best == "a" and ranking.notes[0].startswith("b: no Overall, so no rank.")
