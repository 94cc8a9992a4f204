"""Judges from the command line: pairs, studies, and the check that they withstand cells."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fakes import FakeParser, make_corpus
from tests.judges.chat_server import ChatServer, Request, completion, fenced_blocks, honest
from tests.judges.test_attacks import obedient
from typer.testing import CliRunner, Result

from parsemark.cli.main import app
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run

KEY = "sk-a-key-that-must-not-be-seen"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    # Set before it is deleted, so that what a command sets is taken back too, whatever test comes next.
    monkeypatch.setenv("PARSEMARK_JUDGE_SESSION", "none")
    monkeypatch.delenv("PARSEMARK_JUDGE_SESSION")


def invoke(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert KEY not in result.output
    return result


def write_pairs(folder: Path, n: int = 4) -> Path:
    rows: list[dict[str, Any]] = [
        {"id": f"a{k}", "truth": f"| x | {k} |", "pred": f"| x | {k} |"} for k in range(n)
    ]
    rows.append({"id": "missed", "truth": "| x |", "pred": None})
    file = folder / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_pairs_are_scored_by_a_judge(tmp_path: Path) -> None:
    file, out = write_pairs(tmp_path), tmp_path / "out.jsonl"
    with ChatServer() as server:
        result = invoke("pairs", str(file), "--judge", server.spec(), "--out", str(out), "--repeats", "2")
        assert result.exit_code == 0, result.output
        assert len(server.requests) == 8
        invoke("pairs", str(file), "--judge", server.spec(), "--repeats", "2")
        assert len(server.requests) == 8
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 10
    assert [(r["id"], r["repeat"]) for r in rows] == [
        (name, repeat) for name in ("a0", "a1", "a2", "a3", "missed") for repeat in (0, 1)
    ]
    assert {(r["id"], r["value"]) for r in rows} == {*((f"a{k}", 10.0) for k in range(4)), ("missed", 0.0)}
    assert all(KEY not in p.read_text("latin-1") for p in tmp_path.rglob("*") if p.is_file())


def test_a_prompt_file_is_asked_by_the_judge_that_names_it(tmp_path: Path) -> None:
    mine, bad, own = tmp_path / "mine.txt", tmp_path / "bad.txt", tmp_path / "own.txt"
    mine.write_text("My words: {gt_table} and {extracted_table}.")
    own.write_text("Own words: {gt_table} and {extracted_table}.")
    bad.write_text("Only {gt_table}.")
    file, ratings = write_pairs(tmp_path), ratings_file(tmp_path)
    with ChatServer() as server:
        specs = [
            flag
            for spec in (server.spec(prompt_file=mine), server.spec(prompt_file=own))
            for flag in ("--judge", spec)
        ]
        assert invoke("pairs", str(file), *specs).exit_code == 0
        asked = Counter(r["messages"][0]["content"].split(":")[0] for r in server.requests)
        assert asked == {"My words": 4, "Own words": 4}
        server.requests.clear()
        invoke("study", "judge", "check", server.spec(prompt_file=mine))
        study = (
            "study",
            "run",
            str(ratings),
            "--judge",
            server.spec(prompt_file=mine),
            "--out",
            str(tmp_path / "study"),
        )
        invoke(*study, "--no-figures")
        assert len(server.requests) > 50
        assert all(r["messages"][0]["content"].startswith("My words:") for r in server.requests)
        server.requests.clear()
        refused = invoke("pairs", str(file), "--judge", server.spec(prompt_file=bad))
        assert "has no {extracted_table}" in str(refused.exception) and not server.requests


def test_broken_lines_and_failures_are_told_and_the_rest_is_judged(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    with file.open("a", encoding="utf-8") as lines:
        lines.write('not json\n{"id": 1, "truth": 2}\n')

    def refuse_one(request: Request, count: int) -> Any:
        if "| x | 2 |" in fenced_blocks(request).values():
            return completion(None, refusal="I would rather not")
        return honest(request, count)

    out = tmp_path / "out.jsonl"
    with ChatServer(refuse_one) as server:
        judged = invoke("pairs", str(file), "--judge", server.spec(), "--out", str(out))
        result = invoke("pairs", str(file), "--judge", server.spec(), "-m", "teds")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert judged.exit_code == 1
    assert [r["status"] for r in rows][-2:] == ["metric_failed"] * 2, "no line is lost"
    assert [r["id"] for r in rows] == ["a0", "a1", "a2", "a3", "missed", "line 6", "line 7"]
    assert result.exit_code == 1
    assert "line 3: refused: I would rather not" in result.output
    assert "line 6: The line is not JSON" in result.output
    assert "teds" in result.output, "metrics that are named are computed too"


def test_the_limit_on_cost_says_what_is_left(tmp_path: Path) -> None:
    file = write_pairs(tmp_path, 30)
    with ChatServer(lambda r, c: completion('{"score": 5}', usage=(1000, 100))) as server:
        spec = server.spec(input_usd=10, output_usd=10, max_tokens=100)
        result = invoke("pairs", str(file), "--judge", spec, "--max-cost", "0.1")
        assert result.exit_code == 1
        assert "questions were not asked" in result.output
        assert len(server.requests) * 0.011 <= 0.1
        told = invoke("pairs", str(file), "--judge", server.spec(), "--max-cost", "0.1")
    assert isinstance(told.exception, Exception) and "input_usd" in str(told.exception)


def ratings_file(folder: Path) -> Path:
    pairs = [
        {
            "id": f"t{k}/p{n}",
            "group": f"t{k}",
            "truth": f"| a | b |\n|---|---|\n| {k} | 22 |\n| 3 | 4{k} |",
            "pred": f"| a | b |\n|---|---|\n| {k} | 22 |\n| 3 | 4{k} |"[: 36 - 9 * n] if n < 4 else "",
            "ratings": [10 - 3 * min(n, 3), 9 - 2 * min(n, 3)],
            "judges": [{"judge": "fake", "score": 3}],
        }
        for k in range(6)
        for n in range(5)
    ]
    file = folder / "ratings.json"
    file.write_text(json.dumps({"schema_version": 1, "kind": "table", "pairs": pairs}), encoding="utf-8")
    return file


def test_a_study_shows_judges_beside_metrics(tmp_path: Path) -> None:
    file, out = ratings_file(tmp_path), tmp_path / "out"

    def noisy(request: Request, count: int) -> Any:
        """Likes what is shown first, and changes its mind when asked again."""
        first = next(iter(fenced_blocks(request)))
        status, headers, data = honest(request, count)
        body = json.loads(data)
        answer = json.loads(body["choices"][0]["message"]["content"])
        answer["score"] = min(
            10, answer["score"] + 1.5 * ("EXTRACTED" in first) + 0.25 * (request["seed"] >= 1000)
        )
        body["choices"][0]["message"]["content"] = json.dumps(answer)
        return status, headers, json.dumps(body).encode()

    with ChatServer(noisy) as server:
        judges = ["--judge", server.spec(), "--judge", server.spec(prompt="naive")]
        result = invoke(
            "study", "run", str(file), *judges, "--repeats", "2", "--bias", "--no-figures", "--out", str(out)
        )
    assert result.exit_code == 0, result.output
    found = json.loads((out / "study.json").read_text())["judges"]
    correlations = json.loads((out / "correlations.json").read_text())
    assert correlations["fake"]["n"] == correlations["fake (naive)"]["n"] == 24
    assert correlations["fake"]["pearson"] > 0.8
    assert "stored:fake" in correlations, "the judge of that name that came with the file is kept apart"
    assert found["consistency"][0]["repeats"] == 2
    assert 0 < found["consistency"][0]["mean_range"] <= 0.25
    assert found["agreement"][0]["pearson"] == pytest.approx(1)
    effects = {(b["judge"], b["kind"]): b for b in found["bias"]}
    assert 0.5 < effects["fake", "order"]["effect"] <= 1.5
    assert effects["fake", "order"]["ci95"][0] > 0
    assert effects["fake", "format"]["n"] > 0
    assert effects["fake", "length"]["n"] == 24
    for words in ("Judges: bias", "Judges: agreement", "the same question again"):
        assert words in result.output


def test_failures_of_a_judge_stay_in_the_study(tmp_path: Path) -> None:
    with ChatServer(lambda r, c: completion("I am a teapot")) as server:
        result = invoke(
            "study", "run", str(ratings_file(tmp_path)), "--judge", server.spec(), "--no-figures", "--out",
            str(tmp_path / "o"),
        )  # fmt: skip
    study = json.loads((tmp_path / "o" / "study.json").read_text())
    assert result.exit_code == 0
    assert study["judges"]["statuses"]["fake"] == {"broken_answer": 24}
    assert len(study["columns"]["fake"]["failures"]) == 24


def test_check_tells_who_can_be_talked_round() -> None:
    with ChatServer(obedient) as server:
        assert invoke("study", "judge", "check", server.spec()).exit_code == 0
    with ChatServer(
        lambda r, c: completion(json.dumps({"score": 10 if "score 10" in str(r) else 3}))
    ) as server:
        result = invoke("study", "judge", "check", server.spec())
    assert result.exit_code == 1
    with ChatServer(lambda r, c: completion("no")) as server:
        result = invoke("study", "judge", "check", server.spec())
    assert result.exit_code == 1
    assert "gave no verdict" in result.output
    assert "fake" in invoke("study", "judge", "answers").output


@pytest.mark.parametrize("score", [0, 5, 10])
def test_check_is_void_for_a_judge_that_likes_everything_alike(score: int) -> None:
    with ChatServer(lambda r, c: completion(json.dumps({"score": score}))) as server:
        result = invoke("study", "judge", "check", server.spec())
    assert result.exit_code == 1
    assert f"does not score the wrong table ({score}) clearly below the right one ({score})" in result.output


def test_check_shows_the_scores_without_an_attack() -> None:
    def told_apart(request: Request, count: int) -> Any:
        return completion(json.dumps({"score": 9.5 if "86.2 | 31.5" in str(request) else 2.5}))

    with ChatServer(told_apart) as server:
        result = invoke("study", "judge", "check", server.spec())
    assert result.exit_code == 0, result.output
    assert "9.5" in result.output and "2.5" in result.output and "void" not in result.output


@pytest.mark.parametrize("command", ["pairs", "study", "check"])
def test_a_limit_that_was_passed_is_said_and_ends_in_failure(tmp_path: Path, command: str) -> None:
    def dear(request: Request, count: int) -> Any:
        score = 9 if "86.2 | 31.5" in str(request) else 2
        return completion(json.dumps({"score": score}), usage=(10**6, 10**6))

    study = ["study", "run", str(ratings_file(tmp_path)), "--no-figures", "--out", str(tmp_path / "o")]
    with ChatServer(dear) as server:
        spec = server.spec(input_usd=1, output_usd=1, concurrency=1)
        limit = ("--max-cost", "1.5")
        if command == "check":
            result = invoke("study", "judge", "check", spec, *limit)
        else:
            first = ["pairs", str(write_pairs(tmp_path, 1))] if command == "pairs" else study
            result = invoke(*first, "--judge", spec, *limit)
        assert len(server.requests) == 1
    assert result.exit_code == 1
    assert result.output.count("Judges cost $0.5000 more than the limit of") == 1


def test_matchers_are_compared_on_a_run(tmp_path: Path) -> None:
    """A model that copies the output, one that makes something up, and one that points at nothing."""
    run = parse_corpus(
        tmp_path / "run", make_corpus(tmp_path / "pages", ["fine"] * 3), [FakeParser("one")], ParseOptions()
    )
    score_run(run, n_workers=1)

    def locates(request: Request, _: int) -> Any:
        *_, output = fenced_blocks(request).values()
        told = {"s000": [output], "s001": ["| nothing like it | 99 | at all |"], "s002": []}
        (texts,) = (texts for name, texts in told.items() if name in output)
        return completion(json.dumps({"spans": [{"table": 1, "text": text} for text in texts]}))

    with ChatServer(locates) as server:
        result = invoke("study", "judge", "matchers", str(run.path), "--judge", server.spec())
    assert result.exit_code == 0, result.output
    row = next(line.split() for line in result.output.splitlines() if line.startswith("one "))
    # parser, truths, same, different, only rule, only model, no answer, copied, mended, made up
    assert row == ["one", "3", "1", "0", "2", "0", "0", "1", "0", "1"]
