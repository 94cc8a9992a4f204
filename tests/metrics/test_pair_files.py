"""Files of pairs: order, failures, workers, and the command."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import FormatError, UnknownNameError, UsageError
from parsemark.judges import AnswerStore, Asker
from parsemark.judges.pairs import judge_lines
from parsemark.metrics import list_metrics, score, teds
from parsemark.metrics.pair_files import score_lines
from parsemark.metrics.table_input import TableInput
from parsemark.metrics.teds import Teds

from .table_examples import LARGER, MARKDOWN, PLAIN, SPANNED

PAIRS = [
    (PLAIN, PLAIN),
    (PLAIN, SPANNED),
    (LARGER, LARGER.replace("n/a", "x")),
    (MARKDOWN, PLAIN),
    (PLAIN, ""),
]


def _lines(n: int = 100) -> list[str]:
    pairs = (PAIRS[i % len(PAIRS)] for i in range(n))
    return [json.dumps({"id": f"p{i}", "truth": t, "pred": p}) for i, (t, p) in enumerate(pairs)]


def test_a_line_in_another_encoding_costs_itself(tmp_path: Path) -> None:
    good, *_ = _lines(1)
    bad = json.dumps({"id": "é", "truth": "Réponse", "pred": "Réponse"}, ensure_ascii=False).encode("latin-1")
    file, out = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    file.write_bytes(good.encode() + b"\n" + bad + b"\n")
    done = CliRunner().invoke(app, ["pairs", str(file), "-m", "teds", "--out", str(out)])
    assert done.exit_code == 1 and "line 2: The line is not UTF-8 text" in done.stderr
    assert json.loads(out.read_text().splitlines()[0])["status"] == "ok"


def test_values_and_order_do_not_depend_on_workers() -> None:
    lines = [*_lines(), "broken", *_lines(3)]
    alone = [r.as_json() for r in score_lines(lines, ["teds", "grits_con"])]
    assert alone == [r.as_json() for r in score_lines(lines, ["teds", "grits_con"], workers=2)]
    first = json.loads(alone[2])
    assert first == {"id": "p1", "metric": "teds", "value": teds(PLAIN, SPANNED), "status": "ok"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        ('{"id": 1, "truth": "x"}', 'no "pred"'),
        ('{"id": 1, "truth": 3, "pred": "x"}', '"truth" must be a text'),
        ('{"id": 1, "truth": "x", "pred": ["x"]}', '"pred" must be a text or null'),
        ('{"id": 1, "truth": "x", "pred": "x", "pred_format": "odt"}', "one of html"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_an_unreadable_line_costs_only_itself(line: str, message: str) -> None:
    good = _lines(1)[0]
    results = list(score_lines([good, line, "", good], ["teds"]))
    assert [(r.line, r.score.status.value) for r in results] == [(1, "ok"), (2, "metric_failed"), (4, "ok")]
    assert message in (results[1].score.message or "")


def test_no_prediction_is_the_worst_value() -> None:
    line = json.dumps({"id": "x", "truth": PLAIN, "pred": None})
    (result,) = score_lines([line], ["table_edit"])
    assert (result.score.value, result.score.status.value) == (1.0, "no_prediction")


def test_named_formats() -> None:
    line = json.dumps({"id": "x", "truth": "a;b\n1;2\n", "truth_format": "csv", "pred": PLAIN})
    (result,) = score_lines([line], ["teds"])
    assert result.score.value == 1.0


def test_an_unknown_metric_is_an_error_at_once() -> None:
    with pytest.raises(UnknownNameError):
        next(iter(score_lines(_lines(1), ["tedz"])))


def test_the_command(tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    pairs.write_text("\n".join([*_lines(5), "broken"]) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["pairs", str(pairs), "-m", "teds", "-m", "grits_top", "--out", str(out)])
    assert done.exit_code == 1
    assert "line 6" in done.stderr
    assert "teds" in done.stdout and "grits_top" in done.stdout
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 12 and set(rows[0]) == {"id", "metric", "value", "status"}
    assert rows[-1].pop("message").startswith("The line is not JSON")
    assert rows[-1] == {"id": "line 6", "metric": "grits_top", "value": None, "status": "metric_failed"}
    pairs.write_text("\n".join(_lines(5)), encoding="utf-8")
    assert CliRunner().invoke(app, ["pairs", str(pairs)]).exit_code == 0


def test_pairs_through_a_pipe() -> None:
    text = "\ufeff" + "\n".join(_lines(2))
    done = CliRunner().invoke(app, ["pairs", "-", "-m", "teds", "--out", "-"], input=text)
    assert done.exit_code == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["p0", "p1"]
    assert "median" in done.stderr


def test_the_pairs_are_not_overwritten(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(_lines(1)[0], encoding="utf-8")
    done = CliRunner().invoke(app, ["pairs", str(pairs), "--out", str(pairs)])
    assert isinstance(done.exception, UsageError)
    assert pairs.read_text(encoding="utf-8") == _lines(1)[0]


def test_a_truth_without_a_table_fails() -> None:
    line = json.dumps({"id": "x", "truth": "no table here", "pred": "nor here"})
    (result,) = score_lines([line], ["teds"])
    assert (result.score.value, result.score.status.value) == (None, "metric_failed")
    assert "No table was found" in (result.score.message or "")
    with pytest.raises(FormatError):
        teds("no table here", "nor here")


def test_formulas_are_scored_as_texts() -> None:
    line = json.dumps({"id": "x", "truth": r"\frac{1}{2}", "pred": r"\frac 12"})
    (result,) = score_lines([line], ["formula_reader"])
    assert result.score.value == 10.0


def test_one_metric_may_be_named_alone() -> None:
    assert list(score(PLAIN, PLAIN, "teds")) == ["teds"]


def test_the_list_of_metrics() -> None:
    listed = CliRunner().invoke(app, ["list", "metrics"])
    assert listed.exit_code == 0 and {"teds", "grits_con"} <= {
        line.split("\t")[0] for line in listed.stdout.splitlines()
    }
    one = CliRunner().invoke(app, ["list", "metrics", "grits_con"])
    for word in ("higher is better", "Smock", "option", "(default)"):
        assert word in one.stdout


def test_a_metric_that_breaks_costs_only_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(metric: Teds, truth: TableInput, pred: TableInput) -> float:
        raise ZeroDivisionError("no rows")

    monkeypatch.setattr(Teds, "compute", broken)
    (result,) = score_lines(_lines(1), ["teds"])
    assert result.score.status.value == "metric_failed"
    assert "ZeroDivisionError: no rows" in (result.score.message or "")


def test_all_metrics_and_what_they_say(tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    line = json.dumps({"id": 1, "truth": "|a|b|\n|-|-|\n|1|2|", "pred": "|a|b|\n|-|-|\n|1|3|"})
    pairs.write_text(line, encoding="utf-8")
    done = CliRunner().invoke(app, ["pairs", str(pairs), "-m", "all", "-m", "teds", "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = {row["metric"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert set(rows) == {str(m) for m in list_metrics() if m.metadata.kind == "table"}
    mean = (rows["grits_top"]["value"] + rows["grits_con"]["value"]) / 2
    assert rows["grits_avg"]["value"] == mean
    assert rows["reader"]["errors"][0]["kind"] == "value_wrong"
    assert "“3” instead of “2”" in rows["reader"]["errors"][0]["message"]
    assert "errors" not in rows["teds"] and "message" not in rows["teds"]


def test_scores_are_not_written_through_a_link(tmp_path: Path) -> None:
    """Whoever planted it, the file that it points to stays as it is."""
    pairs, out, other = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl", tmp_path / "other"
    pairs.write_text(_lines(1)[0], encoding="utf-8")
    other.write_text("mine")
    out.symlink_to(other)
    assert CliRunner().invoke(app, ["pairs", str(pairs), "-m", "teds", "--out", str(out)]).exit_code == 0
    assert other.read_text() == "mine" and not out.is_symlink()
    assert json.loads(out.read_text())["value"] is not None


@pytest.mark.parametrize("identity", ["NaN", "Infinity", '"\\ud800"', "1e999"])
def test_odd_ids_leave_the_output_readable(identity: str) -> None:
    (result,) = score_lines([f'{{"id": {identity}, "truth": "|a|\\n|-|\\n|1|", "pred": null}}'], ["teds"])
    assert "id" in json.loads(result.as_json(), parse_constant=pytest.fail)


def test_judges_and_metrics_refuse_the_same_lines(tmp_path: Path) -> None:
    lines = [
        "not json",
        "[1]",
        '{"id": NaN, "truth": "a", "pred": "a"}',
        '{"id": 1, "truth": "a"}',
        '{"truth": "a", "pred": "a"}',
        '{"id": 1, "truth": 2, "pred": "a"}',
        '{"id": 1, "truth": "a", "pred": 3}',
        '{"id": "\udc80", "truth": "a", "pred": "a"}',
        '{"id": 1, "truth": "a", "pred": "a", "pred_format": "word"}',
    ]
    told: list[tuple[int, str]] = []
    with AnswerStore(tmp_path / "answers.sqlite") as answers:
        judge_lines(lines, [], Asker(answers), tell=lambda line, why: told.append((line, why)))
    assert told == [(s.line, s.score.message) for s in score_lines(lines, ["cell_f1"])]
    assert len(told) == len(lines)
