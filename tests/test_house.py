"""What the rooms of the packages promise each other, where no import rule can hold it."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "parsemark"
PLUGINS = sorted(ROOT.glob("plugins/*/src/*"))
ISOLATED = (PACKAGE / "parsers" / "kit", PACKAGE / "parsers" / "workers")
"""Runs in the environments of parsers, and can import nothing of ours."""


def modules(*packages: Path) -> Iterator[Path]:
    for package in packages:
        for path in sorted(package.rglob("*.py")):
            if not any(path.is_relative_to(folder) for folder in ISOLATED):
                yield path


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules(PACKAGE, *PLUGINS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_pdfs_are_opened_in_one_room() -> None:
    opening = re.compile(r"\bPdfDocument\b")
    paths = [p for p in modules(PACKAGE, *PLUGINS) if opening.search(p.read_text(encoding="utf-8"))]
    assert {path.parent for path in paths} == {PACKAGE / "pdf"}


def test_the_cache_folder_is_resolved_in_one_place() -> None:
    asking = re.compile(r"environ.{0,20}PARSEMARK_CACHE|XDG_CACHE_HOME")
    found = [
        p.relative_to(PACKAGE).as_posix()
        for p in modules(PACKAGE)
        if asking.search(p.read_text(encoding="utf-8"))
    ]
    assert found == ["system/files.py"]
