"""What is built sees no truth, no key and no other environment; folders are built with permission only."""

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsemark.errors import ParserError
from parsemark.parsers import Parser, get_parser
from parsemark.parsers.environment import write_lock
from parsemark.parsers.installation import ALLOW_BUILDS, network_variables
from parsemark.parsers.needs import this_machine
from parsemark.system import cache_folder
from parsemark.system.processes import why_not_confined

BACKEND = """
import json, os, pathlib, sys, zipfile

def attempts():
    yield "truth", lambda: pathlib.Path({truth!r}).read_text()
    yield "list", lambda: os.listdir(pathlib.Path({truth!r}).parent)
    yield "key", lambda: os.environ["MY_API_KEY"]
    yield "password", lambda: os.environ["UV_INDEX_OURS_PASSWORD"]
    yield "user", lambda: os.environ["UV_INDEX_OURS_USERNAME"]
    yield "login", lambda: next(v for v in os.environ.values() if "sk-of-index" in v)
    yield "settings", lambda: open(os.environ["UV_CONFIG_FILE"]).read().index("sk-of-index")
    yield "settings of uv", lambda: next(t for t in environments() if b"sk-of-index" in t)
    yield "home", lambda: os.listdir({home!r})
    yield "sources", lambda: pathlib.Path({project!r}, "new.py").write_text("x")
    yield "environment", lambda: pathlib.Path({envs!r}, "other").write_text("x")
    yield "shared cache", lambda: pathlib.Path({shared!r}, "poison").write_text("x")

def environments():
    for file in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            yield file.read_bytes()
        except OSError:
            pass

def succeeds(attempt):
    try:
        attempt()
        return True
    except (OSError, KeyError, StopIteration, ValueError):
        return False

def build_wheel(folder, settings=None, metadata=None):
    got = [name for name, attempt in attempts() if succeeds(attempt)]
    name = "hostile-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as archive:
        archive.writestr("hostile.json", json.dumps(got))
        archive.writestr("hostile-1.dist-info/METADATA",
                         "Metadata-Version: 2.1\\nName: hostile\\nVersion: 1\\n")
        archive.writestr("hostile-1.dist-info/WHEEL",
                         "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr("hostile-1.dist-info/RECORD", "hostile.json,,\\n")
    {more}
    return name
"""
PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "hostile"
version = "1"
"""
SCRIPT = """# /// script
# requires-python = ">=3.11"
# dependencies = ["{dependency}"]
# ///
"""
confines = pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("MY_API_KEY", "sk-of-somebody")
    monkeypatch.delenv(ALLOW_BUILDS, raising=False)
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "page.json").write_text("{}")
    (tmp_path / "uv").mkdir()
    yield tmp_path


def parser_with(folder: Path, dependency: str = "./hostile", more: str = "pass") -> Parser:
    project = folder / "author" / "hostile"
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text(PROJECT)
    places = {"truth": folder / "truth" / "page.json", "home": Path.home(), "project": project}
    places |= {"envs": folder / "cache" / "envs", "shared": folder / "uv"}
    code = BACKEND.format(**{name: str(path) for name, path in places.items()}, more=more)
    (project / "backend.py").write_text(code)
    script = folder / "author" / "worker.py"
    script.write_text(SCRIPT.format(dependency=dependency))
    return get_parser(str(script))


def got_by_build(parser: Parser) -> list[str]:
    (said,) = parser.environment.folder.glob("lib/python*/site-packages/hostile.json")
    return json.loads(said.read_text())  # type: ignore[no-any-return]


@confines
def test_a_build_sees_its_project_and_nothing_else(
    own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = parser_with(own_folders)
    monkeypatch.setenv(ALLOW_BUILDS, "1")
    settings = own_folders / "settings.toml"
    settings.write_text('[[index]]\nname = "ours"\nurl = "https://me:sk-of-index@example.org/simple"\n')
    for name, value in {
        "UV_CONFIG_FILE": str(settings),
        "UV_INDEX_OURS_USERNAME": "me",
        "UV_INDEX_OURS_PASSWORD": "sk-of-index",
        "UV_EXTRA_INDEX_URL": "https://sk-of-index@example.org/simple http://me:sk-of-index@a.example",
    }.items():
        monkeypatch.setenv(name, value)
    parser.install()
    assert got_by_build(parser) == []
    assert {path.name for path in (own_folders / "author" / "hostile").iterdir()} == {
        "backend.py",
        "pyproject.toml",
    }
    assert not list((own_folders / "uv").rglob("hostile*")), "its wheel is in no cache that others use"


@pytest.mark.parametrize("dependency", ["./hostile", "hostile @ git+https://example.org/hostile"])
def test_folders_and_repositories_are_built_with_permission(own_folders: Path, dependency: str) -> None:
    parser = parser_with(own_folders, dependency)
    with pytest.raises(ParserError, match="--allow-local-builds"):
        parser.install()
    assert not parser.environment.is_ready()
    if dependency.startswith("."):
        assert str(parser.state()) == "installable with --allow-local-builds"


def test_a_repository_in_a_lock_needs_permission(own_folders: Path) -> None:
    parser = parser_with(own_folders, "idna")
    lock = parser.script.with_suffix(".lock")
    with pytest.raises(ParserError):  # offline: nothing is found, and nothing is written
        write_lock(parser.script, parser.declaration)
    assert not lock.exists()
    for line in ("idna @ git+https://example.org/idna", "-e ./hostile", "idna @ file:///somewhere/idna"):
        locked = type(parser.environment)(("idna",), ">=3.11", lock=(line,))
        with pytest.raises(ParserError, match="--allow-local-builds"):
            locked.build()


@confines
def test_a_package_without_a_wheel_is_built_in_a_cache_of_its_own(
    own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tarfile

    parser_with(own_folders)
    index = own_folders / "index"
    index.mkdir()
    project = own_folders / "author" / "hostile"
    (project / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1\n")
    with tarfile.open(index / "hostile-1.tar.gz", "w:gz") as archive:
        archive.add(project, "hostile-1")
    monkeypatch.setenv("UV_FIND_LINKS", str(index))
    script = own_folders / "author" / "worker.py"
    script.write_text(SCRIPT.format(dependency="hostile==1"))
    parser = get_parser(str(script))
    parser.install()
    assert got_by_build(parser) == []
    assert not list((own_folders / "uv").rglob("hostile.json"))
    assert list((cache_folder("builds") / parser.environment.builds).rglob("hostile.json"))


@confines
def test_a_build_cannot_choose_the_interpreter(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker sees the folder that its interpreter lies in."""
    swap = """
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        for word in file.read_bytes().decode().split(chr(0)):
            if word.endswith("/bin/python") and ".draft-" in word:
                os.unlink(word)
                os.symlink("/usr/bin/env", word)
"""
    parser = parser_with(own_folders, more=swap)
    monkeypatch.setenv(ALLOW_BUILDS, "1")
    with pytest.raises(ParserError):
        parser.install()
    assert not parser.environment.is_ready()
    assert os.listdir(cache_folder("envs")) == [f"{parser.environment.key}.lock"]  # noqa: PTH208


@pytest.mark.parsers
def test_a_package_without_a_wheel_for_this_machine_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    with zipfile.ZipFile(links / "alien-1-py3-none-win32.whl", "w") as archive:
        archive.writestr("alien-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: alien\nVersion: 1\n")
        archive.writestr("alien-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-win32\n")
        archive.writestr("alien-1.dist-info/RECORD", "")
    monkeypatch.setenv("UV_FIND_LINKS", str(links))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT.format(dependency="alien==1"))
    with pytest.raises(ParserError) as caught:
        get_parser(str(script)).install()
    message = str(caught.value)
    assert message.startswith(f"alien==1 has no wheel for this Python on {this_machine()}. ")
    assert "wheels for win32." in message and f"`parsemark parsers install {script}`" in message
    assert "\n" not in message


def test_only_what_builds_nothing_gets_passwords_of_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"UV_INDEX_URL": "https://me:sk@example.org/simple", "HTTPS_PROXY": "http://me:pw@proxy:3128"}
    for name, value in {**given, "UV_INDEX_A_PASSWORD": "sk", "PIP_CLIENT_CERT": "/k.pem"}.items():
        monkeypatch.setenv(name, value)
    assert network_variables(passwords=True).items() >= {**given, "UV_INDEX_A_PASSWORD": "sk"}.items()
    rest = network_variables(passwords=False)
    assert rest["UV_INDEX_URL"] == "https://example.org/simple"
    assert rest["HTTPS_PROXY"] == given["HTTPS_PROXY"], "without its proxy a build reaches nothing"
    assert not {"UV_INDEX_A_PASSWORD", "PIP_CLIENT_CERT"} & rest.keys()
