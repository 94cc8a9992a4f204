"""`parsemark doctor`: what is missing, and the extra that brings it."""

import importlib.util
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark import setup_calls
from parsemark.cli.main import app
from parsemark.system import pdflatex

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]


def test_every_extra_is_listed_with_a_library_of_its_own() -> None:
    listed = {
        item.name.partition("]")[0].removeprefix("["): item.name.partition("] ")[2]
        for item in setup_calls.doctor()
        if item.name.startswith("[")
    }
    assert listed.keys() == EXTRAS.keys()
    for extra, library in listed.items():
        assert any(requirement.startswith(library) for requirement in EXTRAS[extra]), extra


def test_what_is_missing_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "matplotlib" else found(name, *more)
    )
    monkeypatch.setenv("COLUMNS", "160")
    shown = CliRunner().invoke(app, ["doctor"]).stdout
    assert "pip install 'parsemark[figures]'" in shown and "[figures] matplotlib" in shown


def test_plugin_distributions_are_listed_with_what_they_bring(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = {"parsemark-nothing": {"parsemark.makers": ["a", "b"], "parsemark.checks": ["c"]}, "pytest": {}}
    monkeypatch.setattr(setup_calls, "own_plugins", lambda: plugins)
    absent, present = (item for item in setup_calls.doctor() if item.name in plugins)
    assert not absent.found and absent.enables == "checks c; makers a, b"
    assert absent.install == "pip install parsemark-nothing"
    assert present.found and present.version == pytest.__version__


def test_fonts_that_some_papers_want_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for found in (False, True):
        monkeypatch.setattr(pdflatex, "has_tex_file", lambda name, found=found: found)
        (fonts,) = (item for item in setup_calls.doctor() if item.name == "texlive-fonts-extra")
        assert fonts.found is found and fonts.install == "make system FONTS_EXTRA=1"
