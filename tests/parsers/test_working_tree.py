"""What a parser takes from the disk decides its fingerprint and its environment."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.parsers.scripts import write_worker

from parsemark.errors import ParserError
from parsemark.parsers import Parser, get_parser
from parsemark.parsers.fingerprint import modules_in
from parsemark.parsers.installation import ALLOW_BUILDS
from parsemark.parsers.parser import KIT
from parsemark.parsers.working_tree import package_name, tree_hash

HEADER = """\
# /// script
# requires-python = ">=3.11"
# dependencies = [{dependency!r}]
#
# [tool.uv.sources]
# mytool = {{ path = "mytool" }}
# ///
"""


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW_BUILDS, "1")


def project(folder: Path, code: str = "VERSION = 1\n") -> Path:
    (folder / "src" / "mytool").mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "mytool"\nversion = "1"\n')
    (folder / "src" / "mytool" / "__init__.py").write_text(code)
    return folder


def worker(folder: Path, dependency: str, sources: str = "mytool") -> Parser:
    script = folder / "mine.py"
    script.write_text(HEADER.format(dependency=dependency).replace('"mytool" }', f'"{sources}" }}'))
    return get_parser(str(script))


@pytest.mark.parametrize("form", ["mytool", "mytool[fast]>=1", "./mytool", "mytool @ file:{folder}/mytool"])
def test_a_changed_file_of_a_project_changes_the_parser(tmp_path: Path, form: str) -> None:
    project(tmp_path / "mytool")
    dependency = form.format(folder=tmp_path)
    before = worker(tmp_path, dependency)
    assert worker(tmp_path, dependency).fingerprint == before.fingerprint
    project(tmp_path / "mytool", "VERSION = 2\n")
    after = worker(tmp_path, dependency)
    assert after.fingerprint != before.fingerprint
    assert after.environment.folder != before.environment.folder


def test_what_is_made_from_a_project_does_not_count(tmp_path: Path) -> None:
    tree = project(tmp_path)
    before = tree_hash(tree)
    for made in (
        ".git/HEAD",
        "build/lib/x.py",
        "__pycache__/x.pyc",
        ".venv/x",
        "x.egg-info/PKG",
        ".mypy_cache/x",
    ):
        (tree / made).parent.mkdir(parents=True, exist_ok=True)
        (tree / made).write_text("made")
    assert tree_hash(tree) == before
    (tree / "data.bin").write_bytes(b"model")
    assert tree_hash(tree) != before


def test_projects_behind_a_project_count(tmp_path: Path) -> None:
    tree, other = project(tmp_path / "a"), project(tmp_path / "b")
    with (tree / "pyproject.toml").open("a") as file:
        file.write('[tool.uv.sources]\nb = { path = "../b" }\n')
    with (other / "pyproject.toml").open("a") as file:
        file.write('[tool.uv.sources]\na = { path = "../a" }\n')
    before = tree_hash(tree)
    (other / "src" / "mytool" / "__init__.py").write_text("changed")
    assert tree_hash(tree) != before


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParserError, match="does not exist"):
        _ = worker(tmp_path, "mytool").environment


def test_modules_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import other, json\nfrom package import deep\n")
    (tmp_path / "other.py").write_text("import helper\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "deep.py").write_text("from . import deeper\n")
    (tmp_path / "package" / "deeper.py").write_text("")
    (tmp_path / "unused.py").write_text("")
    script = write_worker(tmp_path, "import helper\n")
    names = [path.relative_to(tmp_path).as_posix() for path in modules_in(script.parent, script)]
    assert names == ["helper.py", "other.py", "package/__init__.py", "package/deep.py", "package/deeper.py"]
    before = get_parser(str(script)).fingerprint
    (tmp_path / "package" / "deeper.py").write_text("x = 1\n")
    assert get_parser(str(script)).fingerprint != before
    changed = get_parser(str(script)).fingerprint
    (tmp_path / "unused.py").write_text("x = 1\n")
    assert get_parser(str(script)).fingerprint == changed


def test_the_kit_counts_as_far_as_a_script_imports_it() -> None:
    def used(name: str) -> set[str]:
        return {path.stem for path in modules_in(KIT.parent, get_parser(name).script)}

    assert used("pp-structure") == {"parsemark_worker", "parsemark_layout", "parsemark_pages"}
    assert used("pymupdf4llm") == {"parsemark_worker"}


def wheel(folder: Path, version: int) -> Path:
    path = folder / "mytool-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mytool.py", f"VERSION = {version}\n")
        info = "mytool-1.0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: mytool\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return path


def test_the_environment_holds_the_package_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    for version in (1, 2):
        path = wheel(tmp_path, version)
        assert package_name(path) == "mytool"
        parser = worker(tmp_path, "mytool", path.name)
        parser.install()
        ask = [str(parser.environment.python), "-c", "import mytool; print(mytool.VERSION)"]
        assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout == f"{version}\n"
