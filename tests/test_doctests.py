"""Every example in a docstring is true."""

import doctest
import importlib
import pkgutil

import pytest

import parsemark


def _modules() -> list[str]:
    found = pkgutil.walk_packages(parsemark.__path__, "parsemark.")
    return [m.name for m in found if ".workers" not in m.name and not m.name.endswith("._native")]


@pytest.mark.parametrize("name", _modules())
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
