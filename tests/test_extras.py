"""What `pip install parsemark` gives alone, and that whatever else is asked names the extra it needs."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from parsemark.errors import MissingDependencyError
from parsemark.extras import DISTRIBUTIONS, EXTRAS, needed_for, require

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
PAIR = {"id": "1", "truth": "<table><tr><td>a</td></tr></table>", "pred": "| a |\n|---|"}
ABSENT = """
import sys
from parsemark.extras import EXTRAS
sys.modules |= {module: None for extra in EXTRAS for module in extra.modules}
"""
"""Python that makes all extras unimportable, as where only the core is installed."""


def packages(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[]", requirement)[0] for requirement in requirements}


def test_the_lists_are_those_of_pyproject() -> None:
    core = packages(PROJECT["dependencies"])
    optional = PROJECT["optional-dependencies"]
    assert {extra.name for extra in EXTRAS} == set(optional)
    for extra in EXTRAS:
        required = PROJECT["optional-dependencies"][extra.name]
        assert extra.name == "bench" or required[0] == "parsemark[bench]"
        named = {DISTRIBUTIONS.get(module, module) for module in extra.modules}
        assert named == packages(required) - {"parsemark"}
        assert not named & core


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", ABSENT + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_the_core_scores_reads_writes_and_matches() -> None:
    code = """
import parsemark as pm
from parsemark.kernels.assignment import linear_sum_assignment, shortest_paths
assert linear_sum_assignment() is shortest_paths
truth, pred = "<table><tr><td>a</td><td>b</td></tr></table>", "| a | c |\\n|---|---|"
for metric in pm.list_metrics():
    if type(metric).__module__.startswith("parsemark."):
        assert pm.score_pair(truth, pred, [metric.name])[metric.name].value is not None, metric.name
for form in ("html", "markdown", "latex", "csv"):
    text = pm.write_table(pm.read_table(truth), form)
    assert pm.read_table(text, form).n_cols == 2, form
try:
    pm.bench
except pm.ParsemarkError as error:
    print(error)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert "parsemark.bench needs polars" in done.stdout and "'parsemark[bench]'" in done.stdout


def test_the_commands_of_the_core_work_and_the_others_name_the_extra(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps(PAIR))
    code = """
import json
from parsemark.cli import main
for line in sys.stdin:
    sys.argv = ["parsemark", *json.loads(line)]
    try:
        main.run()
        code = 0
    except SystemExit as ended:
        code = ended.code
    print("ended", code, flush=True)
    print("ended", code, file=sys.stderr, flush=True)
"""
    fine = [["pairs", str(pairs)], ["list", "metrics"], ["doctor"], ["bench", "--help"]]
    refused = [["bench"], ["corpus", "info", "demo"], ["report", "x"], ["choose", "demo"], ["annotate", "x"]]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ABSENT + code],
        input="\n".join(json.dumps(command) for command in [*fine, *refused]),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=tmp_path,
    )
    codes = re.findall(r"^ended (\w+)$", done.stdout, re.MULTILINE)
    assert codes == [*["0"] * len(fine), *["2"] * len(refused)], done.stderr
    said = [part for part in done.stderr.split("ended 2\n") if part.strip()]
    for message, extra in zip(said, ["bench"] * 4 + ["web"], strict=True):
        assert f"pip install 'parsemark[{extra}]'" in message and "Traceback" not in message
    assert "[bench] polars" in done.stdout


def test_errors_of_other_modules_stay_what_they_are() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"), needed_for("A test"):
        importlib.import_module("nowhere")


def test_only_what_matters_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    require("embedded", "Reading sheets", ["docx"])
    with pytest.raises(
        MissingDependencyError, match=r"^Reading sheets needs openpyxl\. .*parsemark\[embedded\]"
    ):
        require("embedded", "Reading sheets", ["openpyxl", "docx"])
