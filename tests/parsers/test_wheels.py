"""The stand-ins are like the packages: every name and parameter of theirs is in the pinned wheel's source."""

import ast
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.parsers.stand_ins import sources
from tests.parsers.test_document_tools import WEIGHTS, pinned

from parsemark.parsers import Environment, get_parser

pytestmark = pytest.mark.parsers

PACKAGES = {
    "marker": ("marker-pdf",),
    "mineru": ("mineru",),
    "surya": ("surya-ocr",),
    "pp-structure": ("paddleocr",),
    "paddleocr": ("paddleocr",),
    "doctr": ("python-doctr",),
    "doclayout-yolo": ("doclayout-yolo",),
    "pix2tex": ("pix2tex",),
    "unimernet": ("unimernet",),
    "unstructured": ("unstructured", "unstructured-inference"),
    "gmft": ("gmft",),
}
CODE = {
    "marker": ("marker", "surya"),
    "mineru": ("mineru",),
    "unstructured": ("unstructured", "unstructured_inference"),
}
"""Packages of which it is seen where they fetch weights."""
IN_TRANSFORMERS = ("nougat", "got-ocr")
"""Compared with transformers in the environment of tatr, which has the same version."""


@pytest.fixture(scope="module")
def site_packages() -> Path:
    wanted = {
        f"{package}=={pinned(get_parser(tool))[package]}"
        for tool, packages in PACKAGES.items()
        for package in packages
    }
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


@pytest.mark.parametrize("tool", sorted(PACKAGES.keys() - {"mineru"}))
def test_names_and_parameters(tool: str, site_packages: Path) -> None:
    hold_against(tool, site_packages)


@pytest.mark.parametrize("tool", IN_TRANSFORMERS)
def test_models_of_transformers(tool: str) -> None:
    tatr = get_parser("tatr")
    assert pinned(tatr)["transformers"] == pinned(get_parser(tool))["transformers"]
    tatr.environment.build()
    hold_against(tool, next(tatr.environment.folder.glob("lib/python*/site-packages")))


def hold_against(tool: str, site_packages: Path) -> None:
    checked = 0
    for path, source in sources(tool).items():
        package = path.split("/")[0]
        if package == "torch" or not (site_packages / package).is_dir():
            continue  # a package beside the tool's own
        assert (site_packages / path).is_file(), f"the package has no {path}"
        real = ast.parse((site_packages / path).read_text(encoding="utf-8"))
        theirs, imported = definitions(real), imports(real)
        for name, ours in definitions(ast.parse(source)).items():
            if name in imported:
                checked += 1
            elif name in theirs:
                checked += compare(f"{path}:{name}", ours, theirs[name])
            else:  # a helper of the stand-in
                assert name.startswith("_") or name.islower() or name == "Result", f"{path} has no {name}"
    assert checked


def imports(tree: ast.Module) -> set[str]:
    """The names that a module takes from others."""
    nodes = (n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name for node in nodes for alias in node.names}


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


@pytest.mark.parametrize("tool", ["marker", "mineru", "unstructured"])
def test_weights_come_from_where_the_tool_itself_fetches_them(tool: str, site_packages: Path) -> None:
    """The name of each source is in the code of its packages, and so is the name of each single file."""
    folders = [site_packages / name for name in CODE[tool]]
    code = "".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    for source in get_parser(tool).info.weights:
        if source.kind == "hf":
            assert source.name in code
            assert all(name in code for name in source.files if name.endswith(".onnx"))
        elif source.listing:
            assert urlsplit(source.source).netloc in code
            assert urlsplit(source.source).path.strip("/").removesuffix("/manifest.json") in code
        else:
            version = source.file_name.split("-")[1]
            assert f'"{version}"' in code and source.sha256[source.file_name] in code


def test_every_tool_has_a_stand_in() -> None:
    assert all(sources(tool) for tool in WEIGHTS)
