"""0: done. 1: the check failed. 2: wrong usage. 130: stopped. For every command."""

import functools
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_twins import COMMANDS, SERVED, call_of
from tests.corpora.small_files import make_pdf
from tests.store.fabricate import fabricate_run

from parsemark.cli import main

ENOUGH: dict[str, list[str]] = {
    "try": ["{file}"],
    "bench": ["demo"],
    "score": ["{run}", "demo"],
    "choose": ["demo"],
    "stable": ["demo"],
    "report": ["{run}"],
    "check": ["{file}", "{file}"],
    "compare": ["{run}", "good", "fair"],
    "export": ["{run}"],
    "query": ["{run}", "SELECT 1"],
    "gate": ["{run}"],
    "history": ["pdfplumber", "demo"],
    "bisect": ["pdfplumber", "--good", "1", "--bad", "2"],
    "bundle": ["{run}"],
    "verify": ["x.zip"],
    "site": ["x.zip"],
    "pairs": ["pairs.jsonl"],
    "init": [],
    "list": ["metrics"],
    "doctor": [],
    "corpus make": ["typst"],
    "corpus import": ["{folder}"],
    "corpus check": ["demo"],
    "corpus info": ["demo"],
    "corpus sample": ["{folder}", "--pages", "1"],
    "corpus export": ["demo", "--format", "olmocr", "--out", "made"],
    "parsers list": [],
    "parsers install": ["pdfplumber"],
    "parsers versions": ["pdfplumber"],
    "study run": ["ratings.json"],
    "study sample": ["{run}"],
    "study agreement": ["{run}"],
    "study judge check": ["openai(model=x)"],
    "study judge matchers": ["{run}", "--judge", "openai(model=x)"],
    "study judge answers": [],
    "annotate": ["{folder}"],
    "study rate": ["ratings.json"],
}
"""What each command needs to begin its work."""
NOTHING_WRONG = {"stable", "init", "doctor", "bench", "list", "parsers list", "study judge answers"}
"""Commands that need no argument."""


def ends(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["parsemark", *words])
    try:
        main.run()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_every_command_is_here() -> None:
    assert ENOUGH.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", sorted(ENOUGH))
def test_help_is_0_and_wrong_usage_2(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert ends([*name.split(), "--help"], monkeypatch) == 0
    assert ends([*name.split(), "--no-such-option"], monkeypatch) == 2
    if name not in NOTHING_WRONG:
        assert ends(name.split(), monkeypatch) == 2, "an argument is missing"


@pytest.mark.parametrize(
    "words",
    [
        *(["bench", "nowhere/"], ["choose", "nowhere/"], ["score", "nowhere"], ["try", "nowhere.pdf"]),
        *(
            ["report", "nowhere"],
            ["compare", "nowhere", "a", "b"],
            ["export", "nowhere"],
            ["gate", "nowhere"],
        ),
        *(["query", "nowhere", "SELECT 1"], ["bundle", "nowhere"], ["verify", "nowhere.zip"]),
        *(["corpus", "check", "nowhere/"], ["corpus", "info", "nowhere/"], ["pairs", "nowhere.jsonl"]),
        *(["list", "nothing"], ["site", "nowhere", "--out", "site"], ["study", "run", "nowhere.json"]),
        *(["parsers", "install", "nothing"], ["study", "sample", "nowhere"], ["annotate", "nowhere"]),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_does_not_exist_is_2(
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ends(words, monkeypatch) == 2
    said = capsys.readouterr()
    assert said.err.strip() and "Traceback" not in said.err


@pytest.mark.parametrize("name", sorted(ENOUGH.keys() - SERVED))
def test_what_is_stopped_is_130(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    make_pdf(tmp_path / "file.pdf")
    places = {"run": fabricate_run(tmp_path / "run", 2, ("good", "fair")).path}
    places |= {"folder": tmp_path / "folder", "file": tmp_path / "file.pdf"}
    call = call_of(name)

    @functools.wraps(call)
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[call.__module__], call.__name__, stopped)
    words = [word.format(**places) for word in ENOUGH[name]]
    assert ends([*name.split(), *words], monkeypatch) == 130


def test_a_check_that_fails_is_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = str(fabricate_run(tmp_path / "run", 12, ("good", "fair")).path)
    assert ends(["gate", run, "--min", "te_f1_con=1.1"], monkeypatch) == 1
    allowed = ["gate", run, "--max-failures", "9", "--min"]
    assert ends([*allowed, "1.1"], monkeypatch) == 1, "a value alone is for the primary score"
    assert ends([*allowed, "0.01"], monkeypatch) == 0
    assert ends([*allowed, "much"], monkeypatch) == 2
    assert ends(["gate", run, "--old", run], monkeypatch) == 0
    (tmp_path / "pairs.jsonl").write_text("no json\n")
    assert ends(["pairs", "pairs.jsonl", "--metric", "teds"], monkeypatch) == 1
    capsys.readouterr()


def test_docs_name_the_codes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    meanings = {
        0: "the command succeeded",
        1: "a check failed",
        2: "wrong usage",
        130: "the command was stopped",
    }
    for code, meaning in meanings.items():
        assert f"| {code} | {meaning}" in page
