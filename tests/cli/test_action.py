"""The composite action for GitHub: its own commands, run as a runner runs them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.corpora.writing import write_corpus
from tests.engine.fakes import make_corpus

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
ECHO = Path(__file__).with_name("echo_parser.py")


class Runner:
    """A runner of composite actions: steps in order, their expressions, conditions, outputs and failures, as
    GitHub documents them; artefacts are copied into a folder. Nothing is installed.
    """

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder, self.artifacts = folder, folder.parent / "artifacts"
        defaults = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
        self.code = 0
        self.log = self.summary = ""

    def run(self) -> "Runner":
        for step in STEPS[1:]:
            condition = step.get("if", "")
            if condition != "always()" and (self.code or (condition and not self.holds(condition))):
                continue
            if "run" in step:
                self.shell(step)
            else:
                self.upload(step)
        return self

    def holds(self, condition: str) -> bool:
        """A conjunction of comparisons with texts, which is all that the action uses."""
        for part in condition.split(" && "):
            left, operator, right = part.split(" ")
            if (self.values.get(left, "") == right.strip("'")) is (operator == "!="):
                return False
        return True

    def filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.values.get(found[1], ""), text)

    def shell(self, step: dict[str, Any]) -> None:
        assert step["shell"] == "bash" and "${{" not in step["run"], "inputs come as variables, never as code"
        files = {name: self.folder.parent / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        env = {
            **os.environ,
            **{name: self.filled(value) for name, value in step.get("env", {}).items()},
            **{name: str(path) for name, path in files.items()},
            "PARSEMARK_CACHE": str(self.folder.parent / "cache"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.code, self.log = self.code or done.returncode, self.log + done.stdout + done.stderr
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value

    def upload(self, step: dict[str, Any]) -> None:
        options = {name: self.filled(str(value)) for name, value in step["with"].items()}
        for pattern in options["path"].split():
            for path in self.folder.glob(pattern):
                target = self.artifacts / options["name"] / path.relative_to(self.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    shutil.copytree(path, target, dirs_exist_ok=True)
                else:
                    shutil.copy(path, target)


def act(folder: Path, **inputs: str) -> tuple[int, str]:
    """The exit code of the job, and its summary."""
    done = Runner(folder, **inputs).run()
    return done.code, done.summary


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a parser and eight documents, each with a table that the parser reads."""
    folder = tmp_path / "repository"
    samples = list(make_corpus(folder / "docs" / "pdfs", ["fine"] * 8).samples())
    write_corpus(folder / "docs", samples, name="tiny", licence="CC0-1.0")
    shutil.copy(ECHO, folder / "my_parser.py")
    return folder


def test_what_it_installs_is_there_and_pinned() -> None:
    assert STEPS[0]["run"] == 'python -m pip install --quiet "$PACKAGE"'
    assert STEPS[0]["env"] == {"PACKAGE": "${{ inputs.package }}"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package = ACTION["inputs"]["package"]["default"]
    name, extra, version = re.fullmatch(r"(\w+)\[(\w+)\]==(\S+)", package).groups()
    assert name == project["name"] and extra in project["optional-dependencies"]
    assert version == project["version"]


def test_several_parsers_with_a_badge_and_a_baseline_that_are_uploaded_and_committed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The badge shows the first parser, or the one that is named; without a badge the gate passes, too."""
    monkeypatch.delenv("GITHUB_HEAD_REF", raising=False)
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    shutil.copy(repository / "my_parser.py", repository / "other_parser.py")
    remote = repository.parent / "remote.git"
    for command in (
        ["init", "-q", "--bare", "-b", "main", str(remote)], ["init", "-q", "-b", "main"],
        ["remote", "add", "origin", str(remote)],
    ):  # fmt: skip
        subprocess.run(["git", *command], cwd=repository, check=True)
    given = {"parser": "other_parser.py\n\nmy_parser.py\n", "corpus": "docs", "limits": ""}
    done = Runner(repository, **given, update="true", commit="true").run()
    assert done.code == 0, done.log
    assert "my_parser" in done.summary and "other_parser" in done.summary
    assert "::warning::" not in done.log
    assert "other_parser: " in (done.artifacts / "parsemark" / "badge.svg").read_text()
    manifest = ".parsemark/baseline/manifest.json"
    assert (done.artifacts / "parsemark-baseline" / manifest).is_file()
    show = ["git", "ls-tree", "-r", "--name-only", "main"]
    pushed = subprocess.run(show, cwd=remote, check=True, capture_output=True, text=True).stdout.split("\n")
    assert {manifest, "badge.svg"} <= set(pushed) and "my_parser.py" not in pushed
    (gate,) = (step for step in STEPS if step.get("id") == "gate")
    (repository / "folder").mkdir()
    for badge, badge_parser in (("other.svg", "my_parser"), ("folder", "my_parser"), ("no.svg", "unknown")):
        done.values |= {"inputs.badge": badge, "inputs.badge-parser": badge_parser}
        done.log = ""
        done.shell(gate)
        assert done.code == 0 and ("::warning::No badge" in done.log) == (badge != "other.svg"), done.log
    assert "my_parser: " in (repository / "other.svg").read_text()


def test_each_branch_may_have_its_own_baseline(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"parser": "my_parser.py", "corpus": "docs", "limits": "--max-drop 0.02", "branches": "true"}
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    monkeypatch.setenv("GITHUB_REF_NAME", "release/1.x")
    code, said = act(repository, **given, update="true", badge="")
    assert code == 0, said
    assert (repository / ".parsemark" / "baseline" / "release-1.x" / "manifest.json").is_file()
    assert not (repository / "badge.svg").exists()
    monkeypatch.setenv("GITHUB_BASE_REF", "other")
    assert act(repository, **given)[0] == 2, "the baseline of the branch that is merged into is absent"


def test_what_is_uploaded_is_what_is_written() -> None:
    first, second = (step for step in STEPS if "uses" in step)
    assert first["if"] == "always()"
    assert set(first["with"]["path"].split("\n")) >= {"runs/gate/report", "gate.*", "gate-pages"}
    assert second["with"]["include-hidden-files"] is True, "else .parsemark is left out"


def test_a_baseline_is_made_kept_and_held_against(repository: Path) -> None:
    given = {"parser": "my_parser.py", "corpus": "docs"}
    code, _ = act(repository, **given)
    baseline = repository / ".parsemark" / "baseline"
    assert code == 2 and not baseline.exists(), "absent, it fails, and is made only if asked for"
    again = {**given, "limits": "--max-drop 0.02\n--max-failures 0\n"}
    for update in ("true", "false"):
        shutil.rmtree(repository / "runs")
        code, said = act(repository, **again, update=update)
        assert code == 0 and (baseline / "manifest.json").is_file(), said
    assert "identical outputs" in said
    assert "failing pages" in said, "flags may stand on lines of their own"
    assert (repository / "badge.svg").read_text().startswith("<svg ")
    parser = repository / "my_parser.py"
    parser.write_text(parser.read_text().replace("| 1 | 2 |", "| 7 | 8 |\\n| 9 |  |"))
    shutil.rmtree(repository / "runs")
    before = (baseline / "manifest.json").read_bytes()
    code, said = act(repository, **again, update="true")
    assert code == 1 and "plain drop" in said
    assert (baseline / "manifest.json").read_bytes() == before, "what fails is no baseline"
    assert all((repository / f"gate.{ending}").is_file() for ending in ("md", "json", "xml"))
