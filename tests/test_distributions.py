"""The three distributions agree: one version, and the core knows what its plug-ins register."""

import pickle
import tomllib
from pathlib import Path

import pytest

from parsemark import specs
from parsemark.errors import MissingPluginError
from parsemark.specs import Registry, own_plugins

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


def test_a_name_of_a_missing_plugin_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"parsemark-boards": {"parsemark.protocols": ["parsebench"]}}
    monkeypatch.setattr(specs, "own_plugins", lambda: listed)
    registry = Registry("protocol", "parsemark.protocols", {"tables": "a:b"}, {})
    message = "`parsebench` is part of parsemark-boards: pip install parsemark-boards"
    with pytest.raises(MissingPluginError) as caught:
        registry.load("parsebench")
    assert str(caught.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
