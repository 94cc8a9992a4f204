"""Locks: whole environments, made of the list that the script has now, and installed from there."""

import re
import shutil
from pathlib import Path

import pytest
from scripts.write_parser_table import unlocked

from parsemark.errors import ParserError
from parsemark.parsers import Environment, get_parser, parser_names
from parsemark.parsers.declaration import read_declaration
from parsemark.parsers.environment import _digest, lock_path, needs_lock, read_lock, write_lock

BUILT_IN = parser_names()
PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==\S+( ; [^\\]+?)?( --hash=sha256:[0-9a-f]{64})+")


def name_of(requirement: str) -> str:
    return re.split(r"[\[=<>~! ;]", requirement)[0].lower().replace("_", "-").replace(".", "-")


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_parser_is_locked(name: str) -> None:
    parser = get_parser(name)  # a stale lock would raise here
    declared = parser.declaration
    assert bool(declared.info.npm) == bool(parser.npm and parser.npm.lock)
    if not needs_lock(declared):
        assert parser.lock == ()
        assert all("==" in d for d in declared.dependencies), "a complete list needs versions"
        return
    assert parser.lock, f"run `parsemark parsers install --lock {name}`"
    assert [line for line in parser.lock if not PIN.fullmatch(line)] == []
    locked = {name_of(line) for line in parser.lock}
    assert {name_of(d) for d in declared.dependencies} <= locked


SCRIPT = """# /// script
# requires-python = ">=3.11"
# dependencies = ["idna==3.20"]
# ///
"""


def test_missing_and_stale_locks_are_made_anew(tmp_path: Path) -> None:
    scripts = [tmp_path / f"{name}.py" for name in ("missing", "stale", "good", "without")]
    for script in scripts:
        script.write_text(SCRIPT if script.stem != "without" else SCRIPT.replace('"idna==3.20"', ""))
    declared = read_declaration(scripts[2])
    lock_path(scripts[1]).write_text("# made of something else\nidna==3.20\n")
    with pytest.raises(ParserError):
        read_lock(scripts[1], declared)
    lock_path(scripts[2]).write_text(f"# made of {_digest(declared)}\nidna==3.20\n")
    assert list(unlocked(scripts)) == scripts[:2]


def test_a_lock_of_another_list_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    declared = read_declaration(script)
    assert read_lock(script, declared) == ()
    lock_path(script).write_text("# made of something else\nidna==3.20\n")
    with pytest.raises(ParserError, match=r"parsemark parsers install --lock .*mine\.py"):
        read_lock(script, declared)
    with pytest.raises(ParserError, match=r"mine\.lock does not match the packages"):
        get_parser(str(script))


def test_an_option_in_a_lock_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    declared = read_declaration(script)
    lock_path(script).write_text(f"# made of {_digest(declared)}\nidna==3.20\n--index-url http://elsewhere\n")
    with pytest.raises(ParserError, match="is an option, not a requirement"):
        read_lock(script, declared)


def test_the_versions_of_the_lock_decide_the_environment() -> None:
    plain = Environment(("a==1",), ">=3.11")
    locked = Environment(("a==1",), ">=3.11", lock=("a==1", "b==2"))
    assert len({plain.key, locked.key, Environment(("a==1",), ">=3.11", lock=("a==1", "b==3")).key}) == 3
    hashed = ("a==1 --hash=sha256:00", "b==2 --hash=sha256:11 --hash=sha256:22")
    assert Environment(("a==1",), ">=3.11", lock=hashed).key == locked.key


@pytest.mark.parsers
def test_a_script_is_locked_and_installed_from_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT.replace("idna==3.20", "requests==2.34.2"))
    path = write_lock(script, read_declaration(script))
    assert path == tmp_path / "mine.lock"
    parser = get_parser(str(script))
    assert {name_of(line) for line in parser.lock} >= {"requests", "idna", "urllib3", "certifi"}
    parser.install()
    packages = next(parser.environment.folder.glob("lib/python*/site-packages"))
    assert (packages / "urllib3").is_dir()
    # Another file under the same name and version is not installed.
    path.write_text(re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", path.read_text()))
    shutil.rmtree(parser.environment.folder)
    with pytest.raises(ParserError, match=r"[Hh]ash"):
        get_parser(str(script)).install()
    script.write_text(SCRIPT)
    with pytest.raises(ParserError, match="does not match the packages"):
        get_parser(str(script))
