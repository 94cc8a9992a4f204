"""Every example in a docstring is true."""

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = ("parsemark", "parsemark_boards", "parsemark_makers")


def _modules() -> list[str]:
    found = [m for p in PACKAGES for m in pkgutil.walk_packages(importlib.import_module(p).__path__, f"{p}.")]
    return [m.name for m in found if ".workers" not in m.name and not m.name.endswith("._native")]


@pytest.mark.parametrize("name", _modules())
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
