"""Versions of a parser as specs: releases from a folder of wheels, commits of a working copy."""

import subprocess
from pathlib import Path

import pytest
from tests.packages import index_of_wheels, write_wheel
from tests.parsers.pages import write_page

from parsemark.errors import ParserError, UsageError
from parsemark.parsers import get_parser
from parsemark.parsers.installation import ALLOW_BUILDS
from parsemark.parsers.releases import (
    commits_between,
    own_package,
    require_start,
    usable_parsers,
)
from parsemark.parsers.trial import try_parser
from parsemark.setup_calls import parsers_versions

SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = [{dependencies}]
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["cells"]
#
# [tool.parsemark.options.mode]
# default = "fast"
# choices = ["fast", "slow"]
{more}# ///
import tabler
from parsemark_worker import elements_output, serve, table

def parse(pdf, page, options):
    return elements_output([table([[tabler.WORD, options["mode"]]], box=(1, 2, 3, 4))])

serve(parse)
"""


def write_script(
    folder: Path, dependencies: str = '"tabler==1.2"', more: str = "", name: str = "mine.py"
) -> Path:
    script = folder / name
    script.write_text(SCRIPT.format(dependencies=dependencies, more=more))
    return script


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels in place of an index, and a cache folder of its own."""
    folder = index_of_wheels(tmp_path, monkeypatch)
    for number in range(1, 4):
        write_wheel(folder, "tabler", f"1.{number}", f"WORD = 'release {number}'\n")
    return folder


def words_of(spec: str, folder: Path) -> str:
    prediction = try_parser(get_parser(spec), write_page(folder / "page.pdf")).prediction
    found = prediction.tables[0].table
    assert found is not None
    return found.cells[0].text


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_releases_are_listed_oldest_first(index: Path, tmp_path: Path) -> None:
    write_wheel(index, "tabler", "1.10", "")
    write_wheel(index, "tabler", "2.0rc1", "")
    script = str(write_script(tmp_path))
    assert parsers_versions(script) == ("1.1", "1.2", "1.3", "1.10")
    assert parsers_versions(script, pre=True)[-1] == "2.0rc1"


def test_releases_run_side_by_side_each_with_its_lock(index: Path, tmp_path: Path) -> None:
    script = write_script(tmp_path)
    first, third = (get_parser(f"{script}@1.{n}(mode=slow)") for n in (1, 3))
    assert (first.name, third.name) == ("mine@1.1(mode=slow)", "mine@1.3(mode=slow)")
    assert first.lock[0].startswith("tabler==1.1 --hash=")
    assert first.fingerprint != third.fingerprint
    assert get_parser(first.spec).fingerprint == first.fingerprint
    assert words_of(first.spec, tmp_path) == "release 1"
    assert words_of(third.spec, tmp_path) == "release 3"


def test_other_packages_stay_at_the_versions_of_the_script(index: Path, tmp_path: Path) -> None:
    """Where the release allows it: two versions shall differ in themselves alone."""
    for version in ("1", "2", "3"):
        write_wheel(index, "helper", version, "")
    write_wheel(index, "tabler", "0.9", "WORD = 'old'\n", requires="helper<2")
    write_wheel(index, "tabler", "1.4", "WORD = 'new'\n", requires="helper")
    script = write_script(tmp_path, '"tabler==1.2", "helper==2"', name="tabler_worker.py")
    script.write_text(script.read_text().replace("# licence", '# package = "tabler"\n# licence'))
    from parsemark.parsers.catalogue import read_declaration
    from parsemark.parsers.environment import write_lock

    assert write_lock(script, read_declaration(script)) is not None
    pins = {v: [line.split()[0] for line in get_parser(f"{script}@{v}").lock] for v in ("0.9", "1.4")}
    assert pins == {"0.9": ["helper==1", "tabler==0.9"], "1.4": ["helper==2", "tabler==1.4"]}


@pytest.mark.parametrize(
    ("name", "package"),
    [("camelot", "camelot-py"), ("docling", "docling"), ("pymupdf", "pymupdf"), ("tabula", "tabula-py")],
)
def test_the_package_of_a_parser_is_known_by_its_name(name: str, package: str) -> None:
    assert own_package(get_parser(name)).name == package


@pytest.mark.parametrize("name", ["aws-textract", "rapid", "pdftotext"])
def test_a_parser_without_a_package_of_its_own_says_so(name: str) -> None:
    with pytest.raises(UsageError, match="declares no package"):
        get_parser(f"{name}@1.0")


@pytest.mark.parametrize("version", ["", "newest", "--pre", "1.0 ; x"])
def test_what_is_no_version_is_refused(index: Path, tmp_path: Path, version: str) -> None:
    with pytest.raises(UsageError, match="is not a version"):
        get_parser(f"{write_script(tmp_path)}@{version}")


def test_what_cannot_be_used_is_said_in_one_line_and_the_rest_goes_on(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parsemark.parsers.releases.START_TIMEOUT_S", 3.0)
    write_wheel(index, "tabler", "1.5", "import time\ntime.sleep(600)\n")
    write_wheel(index, "tabler", "1.6", "raise ImportError('libfoo is not here')\n")
    write_wheel(index, "tabler", "1.7", "WORD = ''\n", requires="absent-helper")
    source = index / "tabler-1.8"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires=[]\nbuild-backend="b"\nbackend-path=["."]\n'
    )
    (source / "b.py").write_text("def build_wheel(*a, **k): raise SystemExit('error: no compiler gcc')\n")
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: tabler\nVersion: 1.8\n")
    subprocess.run(["tar", "-czf", "tabler-1.8.tar.gz", "tabler-1.8"], cwd=index, check=True)
    script, said = write_script(tmp_path), list[str]()
    specs = [f"{script}@1.{n}" for n in (1, 5, 6, 7, 8, 99)]
    assert [parser.name for parser in usable_parsers(specs, get_parser, said.append)] == ["mine@1.1"]
    assert all("\n" not in line and line.startswith("Left out: mine@1.") for line in said), said
    hangs, imports, needs, builds, absent = said
    assert "did not finish starting" in hangs
    assert "libfoo is not here" in imports
    assert "absent-helper" in needs
    assert "must be built here, and the build failed" in builds
    assert "tabler has no release 1.99" in absent


def test_the_only_version_that_was_asked_for_fails(index: Path, tmp_path: Path) -> None:
    with pytest.raises(ParserError, match=r"tabler has no release 7\.7"):
        usable_parsers([f"{write_script(tmp_path)}@7.7"], get_parser, print)


def test_an_index_out_of_reach_is_one_line(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    script = write_script(tmp_path)
    with pytest.raises(
        ParserError, match=r"^mine@1\.1 cannot be installed: the package index cannot be reached\.$"
    ):
        get_parser(f"{script}@1.1")
    with pytest.raises(ParserError, match="package index cannot be reached for tabler"):
        parsers_versions(str(script))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A working copy with three commits of a package, and a worker beside it."""
    folder = tmp_path / "repo"
    package = folder / "package"
    package.mkdir(parents=True)
    git(folder, "init", "-q")
    for number in range(1, 4):
        (package / "pyproject.toml").write_text(
            '[project]\nname = "tabler"\nversion = "1"\n[build-system]\nrequires = []\n'
            'build-backend = "backend"\nbackend-path = ["."]\n'
        )
        (package / "backend.py").write_text(BACKEND)
        (package / "tabler.py").write_text(f"WORD = 'commit {number}'\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"{number}")
    (package / "tabler.py").write_text("WORD = 'not committed'\n")
    return folder


BACKEND = """
import pathlib, sys, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "tabler-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as archive:
        archive.write("tabler.py")
        meta = "Metadata-Version: 2.1\\nName: tabler\\nVersion: 1\\n"
        archive.writestr("tabler-1.dist-info/METADATA", meta)
        archive.writestr("tabler-1.dist-info/WHEEL",
                         "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr("tabler-1.dist-info/RECORD", "tabler.py,,\\n")
    return name
"""


def test_commits_of_a_working_copy_beside_the_copy_itself(
    index: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = write_script(repo, '"tabler"', '#\n# [tool.uv.sources]\n# tabler = { path = "package" }\n')
    first, head = git(repo, "rev-parse", "HEAD~2"), git(repo, "rev-parse", "HEAD")
    assert get_parser(f"{script}@git:HEAD~2").name == f"mine@git:{first[:12]}"
    assert words_of(f"{script}@git:HEAD~2", repo) == "commit 1"
    assert words_of(f"{script}@git:{head}", repo) == "commit 3"
    monkeypatch.setenv(ALLOW_BUILDS, "1")
    assert words_of(str(script), repo) == "not committed"
    assert git(repo, "status", "--porcelain").split("\n")[0] == "M package/tabler.py", "it is not touched"
    assert commits_between(repo, first, "HEAD")[0] == first
    with pytest.raises(UsageError, match="does not come after"):
        commits_between(repo, "HEAD", first)
    with pytest.raises(UsageError, match="no commit 'nowhere'"):
        get_parser(f"{script}@git:nowhere")


def test_commits_of_another_repository_in_place_of_releases(index: Path, repo: Path, tmp_path: Path) -> None:
    script = write_script(tmp_path)
    parser = get_parser(f"{script}@git:{repo}#HEAD~1")
    assert words_of(parser.spec, tmp_path) == "commit 2"
    assert str(repo) not in parser.name
    require_start(parser)
    with pytest.raises(UsageError, match="Give its repository"):
        get_parser(f"{script}@git:HEAD")
    with pytest.raises(UsageError, match="not in a git repository"):
        get_parser(f"{script}@git:{index}#HEAD")
