"""Nothing is in the packages that nothing in them uses: what tests or we alone use is elsewhere."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "parsemark"
PLUGINS = sorted(ROOT.glob("plugins/*/src/*"))
FOR_TESTS = PACKAGE / "testing.py"
"""Public help for tests of plug-ins."""
PLAIN_DECORATORS = {
    *("property", "cached_property", "cache", "lru_cache", "staticmethod", "classmethod", "abstractmethod"),
    *("contextmanager", "dataclass", "total_ordering", "runtime_checkable", "override", "setter"),
}
"""Others register what they decorate: commands, checks of a model, hooks of a library."""
CALLED_FROM_OUTSIDE = {
    "format_commands": "typer calls it to list commands",
    "format_epilog": "typer calls it to end the help of a command",
    "format_help_text": "typer calls it to write the help of a command",
    "find_class": "pickle.Unpickler calls it",
    "readinto": "io.BufferedReader calls it",
    "handle_starttag": "html.parser calls it",
    "handle_endtag": "html.parser calls it",
    "handle_data": "html.parser calls it",
    "serve_document": "workers of other people call it (docs/how-to/parsers.md)",
    "page_means": "protocols of other packages call it (docs/how-to/extend.md)",
    "homepage": "the table of parsers in docs/reference/parsers.md links it",
    "editable": "uv's own key in a worker's header; it is allowed and makes no difference",
    "merge_list": "OmniDocBench's own key in its annotation; it is kept as it came",
    "line_with_spans": "OmniDocBench's own key in its annotation; nothing is read from it",
    "REFERENCE": "a category of OmniDocBench: elements of it are named by their value",
}
"""Names that others call, each with who does."""
_WORD = re.compile(r"[A-Za-z_]\w*")


def definitions(tree: ast.Module) -> Iterator[str]:
    """What a module defines: functions, classes, methods, fields and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = {ast.unparse(d).partition("(")[0].rpartition(".")[2] for d in node.decorator_list}
            if decorators <= PLAIN_DECORATORS:
                yield node.name
        if isinstance(node, ast.ClassDef | ast.Module):
            for child in node.body:
                targets = child.targets if isinstance(child, ast.Assign) else []
                for target in [child.target] if isinstance(child, ast.AnnAssign) else targets:
                    yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def uses(tree: ast.Module) -> Iterator[str]:
    """What a module reads, calls or names in a string; docstrings, imports and `__all__` are no use."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        for child in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                silent.add(id(child.value))
            if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "__all__":
                silent.update(map(id, ast.walk(child)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield from _WORD.findall(node.value)


def unused(trees: dict[str, ast.Module], named_elsewhere: set[str]) -> list[str]:
    used = named_elsewhere | {name for tree in trees.values() for name in uses(tree)}
    return sorted(
        f"{where}: {name}"
        for where, tree in trees.items()
        for name in definitions(tree)
        if name not in used and not name.startswith("__") and name not in CALLED_FROM_OUTSIDE
    )


def test_nothing_is_unused() -> None:
    trees = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for package in (PACKAGE, *PLUGINS)
        for path in sorted(package.rglob("*.py"))
        if path != FOR_TESTS
    }
    public = set(_WORD.findall((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
    data = [path for package in (PACKAGE, *PLUGINS) for path in package.rglob("*")]
    for path in [*data, *ROOT.glob("plugins/*/pyproject.toml")]:
        if path.suffix in {".html", ".j2", ".js", ".toml", ".tex"}:
            public.update(_WORD.findall(path.read_text(encoding="utf-8")))
    found = unused(trees, public)
    assert not found, "delete these, or move them to what uses them:\n" + "\n".join(found)
    defined = Counter(name for tree in trees.values() for name in definitions(tree))
    assert set(CALLED_FROM_OUTSIDE) <= set(defined), "the list names what is gone"


def test_the_check_sees_what_is_unused() -> None:
    source = '''
"""lonely()"""
__all__ = ["lonely"]
LIMIT = 3
SPARE = 4
def lonely(): ...
@app.command()
def command(): ...
class Thing:
    """lonely"""
    size: int
    @property
    def spare(self): return self.size + LIMIT
thing = Thing(); print(thing)
'''
    assert unused({"m": ast.parse(source)}, set()) == ["m: SPARE", "m: lonely", "m: spare"]
