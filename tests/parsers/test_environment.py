"""Environments: named by content, built once, never half."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import PATIENCE_S

from parsemark.errors import ParserError, WriteError
from parsemark.parsers import Environment
from parsemark.system import cache_folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


EMPTY = Environment((), ">=3.11")

BUILD = """
import sys
from pathlib import Path
from parsemark.parsers import Environment
Environment((), ">=3.11").build(lambda step: Path(sys.argv[1]).open("a").write(step + "\\n"))
"""

DIE_WHILE_BUILDING = """
import os, signal
from pathlib import Path
from parsemark.parsers import Environment, environment

def die(*arguments, confined):
    Path(arguments[-1]).mkdir()
    (Path(arguments[-1]) / "half").touch()
    os.kill(os.getpid(), signal.SIGKILL)

environment.run_uv = die
Environment((), ">=3.11").build()
"""


def test_the_key_says_what_is_inside() -> None:
    base = Environment(("a==1", "b==2"), ">=3.11")
    assert base.key == Environment(("b==2", "a==1"), ">=3.11").key
    others = [
        Environment(("a==1", "b==3"), ">=3.11"),
        Environment(("a==1", "b==2"), "==3.10.*"),
        Environment(("a==1", "b==2"), ">=3.11", no_deps=True),
    ]
    assert len({base.key, *(other.key for other in others)}) == 4


def test_our_python_is_used_where_it_serves() -> None:
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert Environment((), ">=3.11").python_request == ours
    assert Environment((), ">=3.99").python_request == ">=3.99"
    assert Environment((), "<3.11").python_request == "<3.11"


def test_a_build_is_whole_and_repeated_builds_are_free(own_cache: Path) -> None:
    assert not EMPTY.is_ready()
    steps: list[str] = []
    EMPTY.build(steps.append)
    assert EMPTY.is_ready() and steps
    assert EMPTY.folder.parent == own_cache / "envs" == cache_folder() / "envs"
    subprocess.run([EMPTY.python, "-c", "import sys; assert sys.prefix != sys.base_prefix"], check=True)
    steps.clear()
    EMPTY.build(steps.append)
    assert not steps


def test_processes_that_want_the_same_build_it_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    builders = [subprocess.Popen([sys.executable, "-c", BUILD, str(log)]) for _ in range(3)]
    assert [builder.wait(timeout=PATIENCE_S) for builder in builders] == [0, 0, 0]
    assert EMPTY.is_ready()
    assert log.read_text().count("creating") == 1


def test_a_killed_build_leaves_nothing_under_the_name_and_the_next_cleans_up() -> None:
    killed = subprocess.run([sys.executable, "-c", DIE_WHILE_BUILDING], check=False)
    assert killed.returncode == -9
    drafts = list(EMPTY.folder.parent.glob("*.draft-*"))
    assert len(drafts) == 1
    assert not EMPTY.is_ready() and not EMPTY.folder.exists()
    EMPTY.build()  # the dead process holds no lock
    assert EMPTY.is_ready()
    assert not list(EMPTY.folder.parent.glob("*.draft-*"))


def test_a_build_that_fails_says_why_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    environment = Environment(("no-such-package-anywhere==1.0",), ">=3.11")
    with pytest.raises(ParserError, match="no-such-package-anywhere"):
        environment.build()
    assert not environment.is_ready()
    assert not list(environment.folder.parent.glob("*.draft-*"))


def test_a_cache_that_cannot_be_written_is_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "file"))
    with pytest.raises(WriteError, match="Cannot write"):
        EMPTY.build()
