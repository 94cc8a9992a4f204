"""No import circle in the package: what is imported late, or only for types, counts too."""

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import parsemark
import parsemark_boards
import parsemark_makers

SOURCE = Path(parsemark.__file__).parent
Graph = dict[str, set[str]]


def import_graph(root: Path) -> Graph:
    """Each module of the package with the modules of it that it imports."""
    files = {_module(path, root): path for path in root.rglob("*.py")}
    return {name: set(_imported(path, name, files)) for name, path in files.items()}


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, own: str, files: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # A name of a package may be a module in it.
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in files else node.module for name in inside]
        yield from (name for name in names if name in files and name != own)


def circles(graph: Graph) -> list[frozenset[str]]:
    """Sets of modules that reach each other (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            members = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(members) > 1:
                found.append(frozenset(members))

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found


@pytest.mark.parametrize("package", [parsemark, parsemark_boards, parsemark_makers])
def test_no_module_imports_itself_by_way_of_others(package: ModuleType) -> None:
    root = Path(str(package.__file__)).parent
    found = [sorted(circle) for circle in circles(import_graph(root))]
    assert not found


@pytest.mark.parametrize(
    ("text", "is_circle"),
    [
        ("import made.b", True),
        ("from made import b", True),
        ("from made.b import x", True),
        ("def f():\n    from made.b import x", True),
        ("import made.c", False),
    ],
)
def test_a_circle_is_found_however_it_is_imported(text: str, is_circle: bool, tmp_path: Path) -> None:
    root = tmp_path / "made"
    root.mkdir()
    for name, content in {"__init__": "", "a": text, "b": "from made.a import y", "c": ""}.items():
        (root / f"{name}.py").write_text(content)
    expected = [frozenset({"made.a", "made.b"})] if is_circle else []
    assert circles(import_graph(root)) == expected


OURS = [
    path for folder in ("tests/faults", "bench") for path in sorted((SOURCE.parents[1] / folder).glob("*.py"))
]


@pytest.mark.parametrize("path", OURS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_only_we_run_imports_names_that_are_there(path: Path) -> None:
    """No test runs these scripts, so a name that was changed is found when somebody needs them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("parsemark"):
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                assert hasattr(module, alias.name) or importlib.util.find_spec(f"{node.module}.{alias.name}")
