"""What is published installs into an empty environment and runs: wheel, sdist uncompiled, and plug-ins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv") or "uv"
PLUGINS = sorted(path.parent.name for path in ROOT.glob("plugins/*/tests"))
PARSERS = ("pdfplumber", "liteparse")
SCORE = (
    "import parsemark as pm; from parsemark.kernels import is_native; "
    "print(is_native(), pm.teds('<table><tr><td>a</td><td>b</td></tr></table>', '| a | c |\\n|---|---|'))"
)


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and an sdist of the files that git knows, and of nothing else that lies about."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    run(UV, "build", "--sdist", "--wheel", "--out-dir", out, source)
    for plugin in PLUGINS:
        run(UV, "build", "--wheel", "--out-dir", out / plugin, source / "plugins" / plugin)
        for part in ("tests", "docs"):  # tests hold the examples of the pages
            shutil.copytree(source / "plugins" / plugin / part, out / plugin / part)
        shutil.copy(source / "plugins" / plugin / "pyproject.toml", out / plugin)
    return out


def installed(dist: Path, pattern: str, folder: Path, **environment: str) -> Path:
    """First the core, which scores pairs and names the extra for all else; then the extra."""
    (package,) = dist.glob(pattern)
    run(UV, "venv", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    run(UV, "pip", "install", "--python", python, package, **environment)
    assert " 0.6" in run(python, "-c", SCORE)
    refused = subprocess.run(
        [folder / "bin" / "parsemark", "bench"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2 and "pip install 'parsemark[bench]'" in refused.stderr
    run(UV, "pip", "install", "--python", python, f"parsemark[bench] @ {package.as_uri()}", **environment)
    return python


def demo_runs(python: Path, folder: Path) -> None:
    chosen = [argument for parser in PARSERS for argument in ("--parser", parser)]
    program = python.with_name("parsemark")
    run(program, "bench", "--corpus", "demo", "--pages", "4", *chosen, "--out", folder / "run")
    assert (folder / "run" / "report" / "index.html").is_file()
    bundle = folder / "run.zip"
    run(program, "bundle", folder / "run", "--out", bundle)
    assert "Verified." in run(program, "verify", bundle, "--corpus", "demo")


def test_wheel(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any("_native" in name for name in names), "the kernel is not in the wheel"
    assert not [name for name in names if name.startswith(("tests", "bench"))]
    python = installed(dist, "*.whl", tmp_path / "venv")
    assert run(python, "-W", "error::RuntimeWarning", "-c", SCORE).startswith("True 0.6")
    demo_runs(python, tmp_path)


def test_sdist_without_a_compiler_falls_back_with_a_warning(dist: Path, tmp_path: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    assert sdist.stat().st_size < 20e6
    python = installed(dist, "*.tar.gz", tmp_path / "venv", CXX="/bin/false", CC="/bin/false")
    said = run(python, "-c", SCORE)
    assert "False 0.6" in said and "without its compiled kernel" in said
    demo_runs(python, tmp_path)


ONE_PAGE = ("--parser", "pdfplumber", "--pages", "1-1")


def uvx(dist: Path) -> tuple[str | Path, ...]:
    (wheel,) = dist.glob("*.whl")
    source = f"parsemark[bench] @ {wheel.as_uri()}"
    return (UV, "tool", "run", "--no-cache", "--python", sys.executable, "--from", source, "parsemark")


def empty_machine(folder: Path) -> dict[str, str]:
    """As somebody who has nothing but uv: the wheel, the package index, and an empty home folder."""
    return {"HOME": str(folder), "PARSEMARK_CACHE": str(folder / "cache"), "XDG_CACHE_HOME": ""}


def test_uvx_tries_a_file_from_an_empty_machine(dist: Path, tmp_path: Path) -> None:
    pdf = ROOT / "src" / "parsemark" / "corpora" / "demo" / "pdfs" / "demo-word-0003.pdf"
    said = run(
        *uvx(dist),
        "try",
        pdf,
        *ONE_PAGE,
        "--no-browser",
        "--out",
        tmp_path / "run",
        **empty_machine(tmp_path),
    )
    assert "pdfplumber 0." in said and "on page 1" in said


def test_uvx_runs_the_benchmark_from_an_empty_machine(dist: Path, tmp_path: Path) -> None:
    said = run(*uvx(dist), "bench", *ONE_PAGE, "--out", tmp_path / "run", **empty_machine(tmp_path))
    assert "pdfplumber" in said and "TE F1" in said
    assert (tmp_path / "run" / "report" / "index.html").is_file()


def test_the_metadata_renders(dist: Path, tmp_path: Path) -> None:
    """What the package index shows: a summary, a licence and the README, as HTML without relative links."""
    files = [
        *dist.glob("*.whl"),
        *dist.glob("*.tar.gz"),
        *(p for name in PLUGINS for p in (dist / name).glob("*.whl")),
    ]
    assert len(files) == 2 + len(PLUGINS)
    run(UV, "tool", "run", "twine", "check", "--strict", *files)
    for path in files:
        metadata = message_from_bytes(metadata_of(path))
        assert metadata["Description-Content-Type"] == "text/markdown", path.name
        assert metadata["License-Expression"] == "Apache-2.0" and metadata["Summary"], path.name
        text = metadata.get_payload(decode=True)
        assert isinstance(text, bytes)
        (readme := tmp_path / "README.md").write_bytes(text)
        renderer = ("run", "--no-project", "--with", "readme-renderer[md]", "python", "-m", "readme_renderer")
        page = run(UV, *renderer, "-f", "md", readme)
        assert "<h1" in page, path.name
        links = re.findall(r'(?:href|src)="([^"]*)"', page)
        assert links and all(link.startswith(("https://", "#")) for link in links), (path.name, links)


def metadata_of(path: Path) -> bytes:
    """The metadata of a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return archive.read(next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA")))
    with tarfile.open(path) as archive:
        (found,) = [member for member in archive if re.fullmatch(r"[^/]+/PKG-INFO", member.name)]
        file = archive.extractfile(found)
        assert file is not None
        return file.read()


@pytest.mark.parametrize("plugin", PLUGINS)
def test_the_tests_of_a_plugin_pass_with_the_wheels_alone(dist: Path, tmp_path: Path, plugin: str) -> None:
    (core,), (wheel,) = dist.glob("*.whl"), (dist / plugin).glob("*.whl")
    run(UV, "venv", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    group = f"{dist / plugin / 'pyproject.toml'}:test"
    run(UV, "pip", "install", "--python", python, core, wheel, "--group", group)
    tests = subprocess.run(
        [python, "-m", "pytest", "-m", "not conformance", "-n", "auto", "-p", "no:cacheprovider"],
        cwd=dist / plugin,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout[-5000:]
    assert "passed" in tests.stdout.splitlines()[-1]
