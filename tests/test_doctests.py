"""Every example in a docstring is true."""

import doctest
import importlib
import pkgutil

import pytest

import parsemark
import parsemark_boards
import parsemark_makers


def _modules() -> list[str]:
    packages = (parsemark, parsemark_boards, parsemark_makers)
    found = [
        m for package in packages for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [m.name for m in found if ".workers" not in m.name and not m.name.endswith("._native")]


@pytest.mark.parametrize("name", _modules())
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
