"""What the rooms of the package promise each other, where no import rule can hold it."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "parsemark"
ISOLATED = (PACKAGE / "parsers" / "kit", PACKAGE / "parsers" / "workers")
"""Runs in the environments of parsers, and can import nothing of ours."""


def modules() -> Iterator[Path]:
    for path in sorted([*PACKAGE.rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]):
        if not any(path.is_relative_to(folder) for folder in ISOLATED):
            yield path


def place(path: Path) -> str:
    """Where a module stands: in the core by its room, in a plug-in by its path."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).as_posix()


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(place(path))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_pdfs_are_opened_in_one_room() -> None:
    opening = re.compile(r"\bPdfDocument\b")
    found = {place(p).split("/")[0] for p in modules() if opening.search(p.read_text(encoding="utf-8"))}
    assert found == {"pdf"}


def test_the_cache_folder_is_resolved_in_one_place() -> None:
    asking = re.compile(r"environ.{0,20}PARSEMARK_CACHE|XDG_CACHE_HOME")
    found = [place(p) for p in modules() if asking.search(p.read_text(encoding="utf-8"))]
    assert found == ["system/files.py"]
