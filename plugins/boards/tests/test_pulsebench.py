"""PulseBench-Tab: pairs scored as its own code scores them, both means, and its loader."""

import json
from pathlib import Path

import pytest
from benchmark_pages import HTML, page, table, values, write

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import FormatError
from parsemark.metrics import TableInput, get_metric
from parsemark.verdicts.run_verdict import run_verdict
from parsemark_boards.pulsebench.tlag import table_edges, tlag


@pytest.mark.conformance
def test_pairs_have_the_scores_of_the_benchmarks_own_code(reference_data: Path) -> None:
    n_pairs = 0
    for path in sorted((reference_data / "rules" / "t-lag").glob("pairs-*.jsonl")):
        for line in path.read_text().splitlines()[1:]:
            example = json.loads(line)
            expected = example["output"]
            n_pairs += 1
            if "error" in expected:
                with pytest.raises(ValueError, match="empty"):
                    tlag(example["truth"], example["pred"])
                continue
            found = tlag(example["truth"], example["pred"])
            shares = [expected[key] for key in ("score", "precision", "recall")]
            assert list(found[:3]) == pytest.approx(shares, abs=1e-9), example["id"]
            assert found[3:] == (expected["gt_edges"], expected["pred_edges"]), example["id"]
    assert n_pairs >= 130


def test_a_wrong_cell_costs_all_its_edges() -> None:
    grid = [[f"{row}{column}" * 3 for column in "xyz"] for row in "abc"]
    html = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in grid)
    wrong = html.replace("bybyby", "QQQQQQ")
    found = tlag(f"<table>{html}</table>", f"<table>{wrong}</table>")
    assert found.true_edges == 12 and found.score == pytest.approx(8 / 12, abs=1e-3)
    assert get_metric("tlag").score(TableInput(HTML), TableInput(HTML)).value == 1


def test_spans_comments_and_words_for_nothing_are_read_as_upstream_reads_them() -> None:
    assert tlag("<table><tr><td>n/a</td><td>a<!-- c -->b</td></tr></table>", HTML).true_edges == 1
    same = "<table><tr><td>-</td><td>ab</td></tr></table>"
    assert tlag("<table><tr><td>n/a</td><td>a<!-- c -->b</td></tr></table>", same).score == 1
    assert (
        len(table_edges("<table><tr><td rowspan=0>a</td><td>b</td></tr><tr><td>c</td></tr></table>").edges)
        == 3
    )
    with pytest.raises(FormatError, match="span more than"):
        table_edges("<table><tr><td colspan=99999999>a</td></tr></table>")


def test_both_means_are_shown(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / "ground_truth" / f"{name}.html", HTML)
    write(tmp_path / "out" / "a.html", HTML)
    write(tmp_path / "out" / "b.html", "")
    corpus = load_corpus(f"pulsebench-tab:{tmp_path}")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=("pulsebench-tab",))
    [summary] = score_run(run, n_workers=1)
    figures = summary.parsers["out"]
    assert figures["tlag"].value == 0.5 and figures["tlag_answered"].value == 1
    [verdict] = run_verdict(summary, [], "demo")[:1]
    assert verdict.startswith("out: its score for PulseBench-Tab (T-LAG) is 0.50")
    assert summary.info("tlag").main and summary.info("tlag_answered").main
    assert summary.settings["rules"] == "PulseBench-Tab 594fbd0 (April 2026)"
    assert values("pulsebench-tab", page(table(), table()), HTML) == {"tlag": None, "tlag_answered": None}
