"""A study from a file to its results, with broken entries, hostile text and stored values."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import StudyError
from parsemark.study import correlate, fitted_on, read_ratings, run_study, study_html
from parsemark.study.preparation import for_metric
from parsemark.study.ratings import Ratings

TRUTH = "| Model | Score |\n|---|---|\n| A | 1.0 |\n| B | 2.0 |\n| C | 3.0 |"
HOSTILE = "| Model | Score |\n|---|---|\n| <script>alert(1)</script> | 1.0 |\n| B | 2.0 |\n| C | 3.0 |"


def published(count: int = 6) -> list[dict[str, Any]]:
    tables = []
    for k in range(count):
        preds = [TRUTH, TRUTH.replace("2.0", "7.0"), HOSTILE, ""]
        scores = [[10, 10, 9], [6, 5, 7], [7, 4, 8], [0, 0, 0]]
        tables.append(
            {
                "gt_id": f"t{k}",
                "gt_table": TRUTH,
                "gt_table_html": "<table><tr><th>Model</th></tr><tr><td>A</td></tr></table>",
                "complexity": "simple",
                "extractions": [
                    {
                        "parser": f"p{n}",
                        "extracted_table": pred,
                        "metrics": {
                            "teds": 0.9 - 0.1 * n,
                            "grits_top": 1.0 - 0.2 * n,
                            "grits_con": 0.8 - 0.1 * k,
                        },
                        "llm_scores": [{"judge_model": "m/one", "score": 9 - n, "errors": [], "cost": 0.002}],
                        "llm_scores_naive": [{"judge_model": "m/one", "score": 8 - n + k % 2}],
                        "human_scores": rated,
                    }
                    for n, (pred, rated) in enumerate(zip(preds, scores, strict=True))
                ],
            }
        )
    return tables


def write(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.fixture
def ratings(tmp_path: Path) -> Ratings:
    return read_ratings(write(tmp_path / "r.json", published()))


def test_stored_values_correlate_as_scipy_says(ratings: Ratings) -> None:
    result = run_study(ratings, ["reader"])
    pairs = [p for p in ratings.pairs if not p.is_empty]
    stored = [p.metrics["grits_con"] for p in pairs]
    people = [p.mean_rating for p in pairs]
    found = result.correlations["grits_con"]
    assert found.pearson == pytest.approx(pearsonr(stored, people).statistic, abs=1e-12)
    assert found.spearman == pytest.approx(spearmanr(stored, people).statistic, abs=1e-12)
    assert found.kendall == pytest.approx(kendalltau(stored, people).statistic, abs=1e-12)
    assert found.n == len(pairs) == 18
    assert result.n_empty == 6


def test_means_prompts_and_costs(ratings: Ratings) -> None:
    result = run_study(ratings, ["reader", "teds"])
    names = {column.name for column in result.columns}
    assert {"reader", "teds", "stored:teds", "grits_avg", "m/one", "m/one (naive)"} <= names
    average = next(c for c in result.columns if c.name == "grits_avg")
    assert average.values[1] == pytest.approx((0.8 + 0.8) / 2)
    from parsemark.study import cost_table, prompt_table

    assert set(prompt_table(result)["m/one"]) == {"tuned", "naive"}
    assert cost_table(result)["m/one"]["usd_per_1000"] == pytest.approx(2.0)


def test_costs_are_printed_so_that_they_can_be_read(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from parsemark.cli.main import app

    judges = [
        {"judge": "one-of-a-vendor-with-a-long-name/model-with-a-long-name", "score": 9, "cost_usd": 3.1e-06},
        {"judge": "[red]dear[/red]", "score": 8, "cost_usd": 0.5},
    ]
    pair = {"truth": "|a|\n|-|\n|1|", "pred": "|a|\n|-|\n|2|", "ratings": [5, 6], "judges": judges}
    pairs = [{"id": f"t{k}", **pair} for k in range(3)]
    file = write(tmp_path / "r.json", {"schema_version": 1, "kind": "table", "pairs": pairs})
    out = str(tmp_path / "out")
    arguments = ["study", "run", str(file), "--metric", "teds", "--no-figures", "--out", out]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    costs = done.output.partition("Costs")[2]
    assert "$0.0000093" in costs and "$0.0031" in costs and "$1.50" in costs and "$500.00" in costs
    assert "3.000" not in costs and "…" not in costs and "[red]dear[/red]" in costs


def test_broken_entries_are_reported_and_counted(tmp_path: Path) -> None:
    data = published()
    data[0]["extractions"][0]["human_scores"] = ["ten"]
    data[1]["extractions"][1]["human_scores"] = [11, 3]
    del data[2]["extractions"][0]["extracted_table"]
    data.append("nonsense")  # type: ignore[arg-type]  # wrong on purpose
    ratings = read_ratings(write(tmp_path / "r.json", data))
    assert len(ratings.problems) == 4
    assert any("t0/p0" in problem for problem in ratings.problems)
    assert len(ratings.pairs) == 21


@pytest.mark.parametrize(
    "content", ["", "[1, 2]", "{}", '{"schema_version": 9, "pairs": []}', "[" * 5000, "\x00"]
)
def test_other_files_are_refused_with_a_reason(tmp_path: Path, content: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(content)
    with pytest.raises(StudyError, match=r"r\.json"):
        read_ratings(path)


def test_our_own_format(tmp_path: Path) -> None:
    pairs = [
        {"id": f"{k}", "truth": "x^2", "pred": "x^2" if k % 2 else "x^3", "ratings": [k % 2 * 5 + 3]}
        for k in range(6)
    ]
    ratings = read_ratings(
        write(tmp_path / "r.json", {"schema_version": 1, "kind": "formula", "pairs": pairs})
    )
    result = run_study(ratings, ["formula_reader"])
    assert result.correlations["formula_reader"].pearson == pytest.approx(1.0)
    with pytest.raises(StudyError, match="formula"):
        run_study(ratings, ["reader"])


def test_the_interval_is_clustered() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat(rng.normal(size=12), 20)
    x = level + 0.1 * rng.normal(size=240)
    y = level + 0.1 * rng.normal(size=240) + np.repeat(rng.normal(size=12), 20)
    clustered = correlate(x, y, [str(k // 20) for k in range(240)])
    alone = correlate(x, y, [str(k) for k in range(240)])
    assert clustered.ci95 is not None
    assert alone.ci95 is not None
    assert np.ptp(clustered.ci95) > 2 * np.ptp(alone.ci95)
    assert clustered.pearson is not None
    assert clustered.ci95[0] < clustered.pearson < clustered.ci95[1]


def test_the_command_writes_everything_and_nothing_on_the_page_runs(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", published())
    out = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["study", "run", str(file), "-m", "reader", "-m", "teds", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    correlations = json.loads((out / "correlations.json").read_text())
    assert set(correlations["reader"]) == {"pearson", "spearman", "kendall", "n", "ci95"}
    study = json.loads((out / "study.json").read_text())
    assert study["n_empty"] == 6
    assert study["agreement"]["n_raters"] == 3
    page = (out / "disagreements.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "default-src 'none'" in html.unescape(page)
    assert (out / "scatter.png").read_bytes().startswith(b"\x89PNG")
    assert len((out / "scores.jsonl").read_text().splitlines()) == 24
    assert "left out" in done.output


def test_preparation_of_markdown_loses_marked_cells() -> None:
    text = "| a | b |\n|---|---|\n| 1:2 | 3 |"
    assert "1:2" not in study_html(text)
    assert "<td" in study_html(text) and ">3<" in study_html(text)


def test_preparation_of_nested_tables_differs_by_metric() -> None:
    nested = study_html(r"\begin{tabular}{cc}a & \begin{tabular}{c}b\\c\end{tabular}\\ 1 & 2\end{tabular}")
    assert for_metric(nested, "teds").count("<table") == 2
    assert for_metric(nested, "grits_con").count("<tr>") == 4
    assert for_metric(nested, "score_index").count("<td>") == 8


@pytest.mark.conformance
def test_our_metrics_correlate_as_the_stored_ones(reference_data: Path) -> None:
    ratings = read_ratings(reference_data / "human-ratings/tables.json")
    ours = ["teds", "teds(structure_only=true)", "grits_top", "grits_con", "score_index", "score_content"]
    stored = ["stored:teds", "teds_structure", *(f"stored:{name}" for name in ours[2:])]
    result = run_study(ratings, ["reader", *ours, "grits_avg", "score_avg"])
    for mine, theirs in zip(
        [*ours, "grits_avg", "score_avg"], [*stored, "stored:grits_avg", "stored:score_avg"], strict=True
    ):
        one, other = result.correlations[mine], result.correlations[theirs]
        assert one.pearson == pytest.approx(other.pearson, abs=0.002), mine
        assert one.spearman == pytest.approx(other.spearman, abs=0.002), mine
        assert one.kendall == pytest.approx(other.kendall, abs=0.002), mine
    assert (result.correlations["reader"].pearson or 0) >= 0.90
    assert {d["pair"] for d in result.differences} <= {
        f"{g}/got_ocr2" for g in ("000_01", "001_00", "001_08", "003_05", "006_04")
    }


def test_the_command_says_by_pair_where_a_figure_is_in_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = published()
    tables[0]["gt_table"] = TRUTH.replace("Model", "Name")
    ratings = read_ratings(write(tmp_path / "r.json", tables))
    known = ratings.pairs[0].truth
    n_known = sum(pair.truth == known and not pair.is_empty for pair in ratings.pairs)
    n_pairs = sum(not pair.is_empty for pair in ratings.pairs)

    def study(metric: str) -> str:
        out = tmp_path / metric
        command = ["study", "run", str(tmp_path / "r.json"), "-m", metric, "--out", str(out), "--no-figures"]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    assert "n sample" not in study("reader"), "these pairs are nobody's"
    assert "in_sample" not in json.loads((tmp_path / "reader" / "correlations.json").read_text())["reader"]
    known_truths = {"reader": frozenset({fitted_on.fingerprint(known)})}
    monkeypatch.setattr(fitted_on, "_fitted_on", lambda: known_truths)
    said = study("reader")
    expected = f"In sample: reader was fitted to ratings of the true tables of {n_known} of these {n_pairs}"
    assert expected in said
    assert "metric, in sample" in said
    found = json.loads((tmp_path / "reader" / "correlations.json").read_text())["reader"]
    assert found["in_sample"] == n_known and found["unseen"]["n"] == n_pairs - n_known
    lines = (tmp_path / "reader" / "scores.jsonl").read_text().splitlines()
    flagged = [json.loads(line)["in_sample"] == ["reader"] for line in lines]
    assert flagged == [pair.truth == known for pair in ratings.pairs]
    assert "n sample" not in study("teds")


def test_few_tables_resolve_nothing_and_the_command_says_so(tmp_path: Path) -> None:
    def pair(table: int, k: int, score: float) -> dict[str, object]:
        truth = f"a{table},b,c\n1,2,3\n4,5,6\n"
        pred = truth.replace("5", str(70 + k)) if k else truth
        return {"id": f"t{table}/{k}", "group": f"t{table}", "truth": truth, "pred": pred, "ratings": [score]}

    pairs = [pair(t, k, 10.0 - 3 * k - t / 10) for t in range(6) for k in range(3)]
    broken = {**pair(9, 0, 1.0), "id": "t9/bad", "ratings": [11]}
    untrue = {**pair(9, 0, 1.0), "id": "t9/true", "ratings": [True, 6]}
    for n_tables in (5, 6):
        file = tmp_path / f"{n_tables}.json"
        listed = [p for p in pairs if int(str(p["group"])[1:]) < n_tables] + [broken, untrue]
        file.write_text(json.dumps({"schema_version": 1, "kind": "table", "pairs": listed}))
        command = ["study", "run", str(file), "-m", "cell_f1", "--out", str(tmp_path / "out"), "--no-figures"]
        done = CliRunner().invoke(app, command, env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output
        assert ("resolve nothing" in done.output) == (n_tables == 5)
        assert "('t9/bad'): ratings: ratings are numbers from 0 to 10" in done.output
        assert "true and false are not numbers" in done.output
        found = json.loads((tmp_path / "out" / "correlations.json").read_text())["cell_f1"]
        assert (found["ci95"] is None) == (n_tables == 5)
        printed = [line for line in done.stdout.splitlines() if not line.startswith("Written")]
        assert max(map(len, printed)) <= 80


def test_an_interval_of_a_correlation_stays_in_its_range() -> None:
    x = [0.1 * k for k in range(24)]
    found = correlate(x, [3 * v + 1 for v in x], [str(k // 2) for k in range(24)])
    assert found.ci95 is not None and -1 <= found.ci95[0] <= found.ci95[1] <= 1


def test_a_broken_entry_of_any_kind_costs_itself(tmp_path: Path) -> None:
    good = {"id": "a", "truth": "a,b\n1,2\n", "pred": "a,b\n1,2\n", "ratings": [9]}
    judged = {**good, "id": "b", "judges": [{"judge": "m", "score": 99}]}
    file = tmp_path / "ratings.json"
    file.write_text(json.dumps({"schema_version": 1, "pairs": [good, 5, judged, {**good, "pred": ""}, None]}))
    ratings = read_ratings(file)
    assert [pair.id for pair in ratings.pairs] == ["a"]
    assert ratings.problems == (
        "pair 2: the entry: must be an object",
        "pair 3 ('b'): judges.0.score: must be at most 10.0",
        "pair 4 ('a'): id: another pair has it already",
        "pair 5: the entry: must be an object, not nothing",
    )
    file.write_text(json.dumps({"schema_version": 2, "pairs": [good]}))
    with pytest.raises(StudyError, match="schema_version: must be 1"):
        read_ratings(file)


def test_numbers_that_are_none_and_names_that_do_not_fit_cost_their_pair(tmp_path: Path) -> None:
    good = {"truth": "a,b\n1,2\n", "pred": "a,b\n1,2\n", "ratings": [9, 8]}
    more = (
        {"raters": ["Ada", "Bo"]},
        {"raters": ["Ada"]},
        {"raters": ["Ada", "Ada"]},
        {"metrics": {"mine": float("inf")}},
        {"metrics": {"mine": float("nan")}},
    )
    pairs = [{**good, "id": str(k), **own} for k, own in enumerate(more)]
    file = tmp_path / "r.json"
    text = json.dumps({"schema_version": 1, "pairs": pairs})
    file.write_text("\ufeff" + text, encoding="utf-8")  # as some editors begin a file
    ratings = read_ratings(file)
    assert [pair.id for pair in ratings.pairs] == ["0"]
    said = " ".join(ratings.problems)
    assert "1 raters for 2 ratings" in said and "same name" in said and said.count("metrics.mine") == 2


@pytest.mark.parametrize(
    ("n", "rating", "said"),
    [(1, None, "fewer than 3 pairs"), (2, None, "fewer than 3 pairs"), (8, 5.0, "the same rating")],
)
def test_a_study_says_why_it_has_no_correlation(
    tmp_path: Path, n: int, rating: float | None, said: str
) -> None:
    pairs = [
        {"id": f"{k}", "truth": "a,b\n1,2\n", "pred": f"a,b\n1,{k}\n", "ratings": [rating or k]}
        for k in range(n)
    ]
    file = write(tmp_path / "r.json", {"schema_version": 1, "pairs": pairs})
    out = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["study", "run", str(file), "-m", "cell_f1", "--no-figures", "--out", str(out)]
    )
    assert done.exit_code == 0 and f"No correlation: {said}" in done.output.replace(
        "people gave all pairs ", ""
    )
    assert said in json.loads((out / "correlations.json").read_text())["cell_f1"]["why"]
