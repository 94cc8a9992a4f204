"""The three distributions agree: one version, and the core knows what its plug-ins register."""

import json
import pickle
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark import specs
from parsemark.cli.main import app
from parsemark.corpora import CORPORA, load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import MissingDependencyError, MissingPluginError, UsageError
from parsemark.model import Element, Page, Sample
from parsemark.parsers.needs import PROGRAMS
from parsemark.protocols import PROTOCOLS, get_protocol
from parsemark.report import build_report
from parsemark.specs import Registry, own_plugins
from parsemark.store import Run, RunFolder
from parsemark.testing import write_corpus
from parsemark.version import __version__

ROOT = Path(__file__).parents[1]
PLUGINS = {
    (project := tomllib.loads(path.read_text(encoding="utf-8"))["project"])["name"]: project
    for path in ROOT.glob("plugins/*/pyproject.toml")
}


def test_the_core_lists_what_its_plugins_register() -> None:
    registered = {
        name: {group: sorted(points) for group, points in project.get("entry-points", {}).items()}
        for name, project in PLUGINS.items()
    }
    listed = {
        name: {group: sorted(names) for group, names in groups.items()}
        for name, groups in own_plugins().items()
    }
    assert listed == registered


def test_all_distributions_have_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for project in PLUGINS.values():
        assert project["version"] == version
        assert f"parsemark[bench]=={version}" in project["dependencies"]
    assert __version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_wheels_are_made_and_tried_for_every_python_that_the_tests_run_on() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^ +python: (\[.*\])$", workflow, re.MULTILINE)
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tools["cibuildwheel"]["build"] == [f"cp{v.replace('.', '')}-*" for v in json.loads(listed)]


@pytest.mark.parametrize("folder", [ROOT, *(ROOT / "plugins").iterdir()], ids=lambda path: path.name)
def test_links_of_a_readme_lead_into_the_repository(folder: Path) -> None:
    """The package index shows the text without the files beside it (`docs_site.py` has the same address)."""
    (address,) = re.findall(
        r'^REPOSITORY = "(.+)"$', (ROOT / "scripts/docs_site.py").read_text(), re.MULTILINE
    )
    tools = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    text = (folder / "README.md").read_text(encoding="utf-8")
    for change in tools["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", text)
    assert links
    for picture, link in links:
        start = address.replace("/blob/", "/raw/") if picture else address
        assert link.startswith(start) and (ROOT / link.removeprefix(start).partition("#")[0]).exists(), link


def test_the_container_has_every_program_and_extra() -> None:
    """What parsers ask to be installed with apt is in the image, from its own list or that of the tests."""
    recipe = (ROOT / "Containerfile").read_text(encoding="utf-8")
    packages = set(re.findall(r"[a-z0-9][a-z0-9+.-]+", recipe))
    script = ROOT / "scripts" / "install-system-packages.sh"
    assert f"RUN bash /src/{script.relative_to(ROOT)}" in recipe
    packages |= set(re.findall(r"[a-z0-9][a-z0-9+.-]+", script.read_text(encoding="utf-8")))
    for program in PROGRAMS.values():
        if program.install.startswith("apt install "):
            assert set(program.install.split()[2:]) <= packages, program
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.search(r'"/src\[([a-z,]+)\]"', recipe)
    assert extras is not None
    assert set(extras[1].split(",")) == set(project["optional-dependencies"]) - {"ray"}
    listed = re.search(r"--no-install-recommends \\\n(.+?) \\\n", recipe, re.DOTALL)
    assert listed is not None
    if shutil.which("apt-cache") and is_known("g++"):
        assert all(is_known(name) for name in listed[1].split())


def is_known(package: str) -> bool:
    """Whether Debian's list here has a package."""
    done = subprocess.run(["apt-cache", "show", package], capture_output=True, check=False)
    return done.returncode == 0 and bool(done.stdout)


@pytest.fixture
def core_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where no plug-in is installed."""
    for registry in (PROTOCOLS, CORPORA):
        monkeypatch.setattr(registry, "_plugins", {})
    get_protocol.cache_clear()
    yield
    get_protocol.cache_clear()


def test_a_benchmark_that_is_not_installed_gets_one_line(tmp_path: Path, core_alone: None) -> None:
    install = "`parsebench` is part of parsemark-boards: pip install parsemark-boards"
    for ask in (lambda: get_protocol("parsebench"), lambda: load_corpus(f"parsebench:{tmp_path}")):
        with pytest.raises(MissingPluginError) as caught:
            ask()
        assert str(caught.value) == install


def test_a_run_that_a_missing_benchmark_scored_can_be_opened_and_reported(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "out").mkdir()
    sample = Sample("p", "d", 1, Page("p", 9, 9, (Element("1", "text_block", order=0, text="a"),)))
    corpus = write_corpus(tmp_path / "corpus", [sample])
    (tmp_path / "out" / "p.md").write_text("a")
    specs = ("dp-bench", "document")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=specs)
    score_run(run, n_workers=1)
    request.getfixturevalue("core_alone")
    opened = Run.open(run.path)
    assert opened.summary("dp-bench").parsers["out"]["nid"].value == 1
    done = CliRunner().invoke(app, ["report", str(run.path), "--out", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    install = "`dp-bench` is part of parsemark-boards: pip install parsemark-boards"
    assert f"Not shown: dp-bench. {install}" in done.output
    only = opened.manifest.model_copy(update={"protocols": ["dp-bench"]})
    RunFolder.of(opened).update_manifest(lambda _: only)
    with pytest.raises(UsageError, match=f"was scored only by dp-bench. {install}"):
        build_report(run.path, tmp_path / "other")


def test_what_a_plugin_says_while_it_is_imported_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: str) -> None:
        raise MissingDependencyError("pandoc", "marker's scorer", "pip install pandoc")

    monkeypatch.setattr("importlib.import_module", fails)
    point = EntryPoint("marker", "a:b", "parsemark.protocols")
    registry = Registry("protocol", "parsemark.protocols", {}, {"marker": point})
    with pytest.raises(MissingDependencyError, match="marker's scorer needs pandoc"):
        registry.load("marker")


def test_a_name_of_a_missing_plugin_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"parsemark-boards": {"parsemark.protocols": ["parsebench"]}}
    monkeypatch.setattr(specs, "own_plugins", lambda: listed)
    registry = Registry("protocol", "parsemark.protocols", {"tables": "a:b"}, {})
    message = "`parsebench` is part of parsemark-boards: pip install parsemark-boards"
    with pytest.raises(MissingPluginError) as caught:
        registry.load("parsebench")
    assert str(caught.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
