"""The stand-ins are like the packages: every name and parameter of theirs is in the pinned wheel's source."""

import ast
from pathlib import Path

import pytest
from tests.parsers.stand_ins import sources
from tests.parsers.test_document_tools import WEIGHTS, pinned

from parsemark.parsers import Environment, get_parser

pytestmark = pytest.mark.parsers

PACKAGES = {
    "marker": "marker-pdf",
    "surya": "surya-ocr",
    "pp-structure": "paddleocr",
    "paddleocr": "paddleocr",
    "doctr": "python-doctr",
    "doclayout-yolo": "doclayout-yolo",
    "pix2tex": "pix2tex",
    "unimernet": "unimernet",
    "unstructured": "unstructured",
    "gmft": "gmft",
}
"""Nougat and GOT-OCR are in transformers, which is 13 MB; tatr's environment has it."""


@pytest.fixture(scope="module")
def site_packages() -> Path:
    wanted = {f"{package}=={pinned(get_parser(tool))[package]}" for tool, package in PACKAGES.items()}
    environment = Environment(tuple(sorted(wanted)), ">=3.11", no_deps=True)
    environment.build()
    return next(environment.folder.glob("lib/python*/site-packages"))


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    return {n.name: n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}


def parameters(function: ast.FunctionDef) -> list[str] | None:
    """Names in order; None where everything is taken."""
    arguments = function.args
    if arguments.kwarg is not None:
        return None
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


@pytest.mark.parametrize("tool", sorted(PACKAGES))
def test_names_and_parameters(tool: str, site_packages: Path) -> None:
    checked = 0
    for path, source in sources(tool).items():
        real = site_packages / path
        if not (site_packages / path.split("/")[0]).is_dir():
            continue  # a package beside the tool's own, as torch
        assert real.is_file(), f"the package has no {path}"
        theirs = definitions(ast.parse(real.read_text(encoding="utf-8")))
        for name, ours in definitions(ast.parse(source)).items():
            if name.startswith("_") or (name.islower() and name not in theirs) or name == "Result":
                continue  # a helper of the stand-in
            assert name in theirs, f"{path} has no {name}"
            checked += compare(f"{path}:{name}", ours, theirs[name])
    assert checked


def compare(where: str, ours: ast.AST, theirs: ast.AST) -> int:
    if isinstance(ours, ast.FunctionDef):
        assert isinstance(theirs, ast.FunctionDef), where
        given, wanted = parameters(theirs), parameters(ours)
        assert given is None or wanted is None or set(wanted) <= set(given), where
        return 1
    assert isinstance(ours, ast.ClassDef) and isinstance(theirs, ast.ClassDef), where
    methods = definitions(ast.Module(theirs.body, []))
    count = 1
    for name, method in definitions(ast.Module(ours.body, [])).items():
        if name in methods:
            count += compare(f"{where}.{name}", method, methods[name])
    fields = {
        n.target.id for n in theirs.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    own = {n.target.id for n in ours.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    inherited = {"polygon", "confidence", "block_type"}
    assert not own or own - inherited <= fields | inherited, f"{where}: {own - fields}"
    return count


def test_every_tool_has_a_stand_in() -> None:
    assert all(sources(tool) for tool in WEIGHTS)
