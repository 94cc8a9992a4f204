"""The composite action for GitHub: its own commands, run as a runner runs them."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from tests.corpora.writing import write_corpus
from tests.engine.fakes import make_corpus

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text()
ECHO = Path(__file__).with_name("echo_parser.py")


def defaults() -> dict[str, str]:
    """The inputs with what they are where a workflow does not set them."""
    found = re.findall(r"^  (\w+):\n    description: .*\n(?:    default: (.*)\n)?", ACTION, re.M)
    return {name: default.strip('"') for name, default in found}


def steps() -> list[tuple[str, dict[str, str]]]:
    """The script of each step, and its environment as names of inputs."""
    found = []
    for step in ACTION.split("    - shell: bash\n")[1:]:
        names = dict(re.findall(r"^        (\w+): \$\{\{ inputs\.(\w+) \}\}$", step, re.M))
        script = step.split("      run: ", 1)[1].split("    - uses: ", 1)[0]
        found.append((textwrap.dedent(script.removeprefix("|\n")), names))
    return found


def act(folder: Path, **inputs: str) -> tuple[int, str]:
    """The exit code of the last step that ran, and the job's summary; nothing is installed."""
    given = {**defaults(), **inputs}
    summary = folder / "summary.md"
    summary.write_text("")
    code = 0
    for script, names in steps()[1:]:
        env = {
            **os.environ,
            **{name: given[value] for name, value in names.items()},
            "GITHUB_STEP_SUMMARY": str(summary),
            "PARSEMARK_CACHE": str(folder / "cache"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=folder, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        code = done.returncode
        if code:
            break
    return code, summary.read_text()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a parser and eight documents, each with a table that the parser reads."""
    samples = list(make_corpus(tmp_path / "docs" / "pdfs", ["fine"] * 8).samples())
    write_corpus(tmp_path / "docs", samples, name="tiny", licence="CC0-1.0")
    shutil.copy(ECHO, tmp_path / "my_parser.py")
    return tmp_path


def test_what_it_installs_is_there() -> None:
    (script, names), *_ = steps()
    assert script.strip() == 'python -m pip install --quiet "$PACKAGE"' and names == {"PACKAGE": "package"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, extra = re.fullmatch(r"(\w+)\[(\w+)\]", defaults()["package"]).groups()
    assert name == project["name"] and extra in project["optional-dependencies"]


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
    upload = ACTION.split("    - uses: actions/upload-artifact@", 1)[1]
    assert "if: always()" in upload
    assert {"runs/gate/report", "gate.*", "gate-pages", "${{ inputs.badge }}"} <= {
        line.strip() for line in upload.splitlines()
    }


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
    assert "plain drop" in said and "0.000" in said
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
