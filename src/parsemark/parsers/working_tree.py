"""Packages that a parser takes from the disk of its author, by path.

These change without changing their name or version. So they are hashed: a changed file makes another
environment and another fingerprint, and no result of the old code is taken for one of the new.
"""

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from parsemark.errors import ParserError
from parsemark.system import file_sha256

MAX_FILES = 20_000
MAX_BYTES = 2**30
_NOT_SOURCE = frozenset(
    {".git", ".hg", ".venv", "venv", ".tox", ".nox", "__pycache__", "node_modules", "build", "dist", "target"}
)
_NAMED_PATH = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?\s*@\s*(file:\S+)\s*(;.*)?")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A dependency as `uv pip install` takes it."""

    text: str
    path: Path | None = None  # the folder or the wheel that it is installed from; None if from an index


def resolve_requirement(text: str, sources: Mapping[str, Path], folder: Path) -> Requirement:
    """A dependency of a worker script, with its path made absolute, counted from the script's folder: `name @
    file:///…`, `./…`, `../…` or absolute, or in `sources` (`[tool.uv.sources]`) by the package's normal name.
    """
    if named := _NAMED_PATH.fullmatch(text):
        path = _existing(folder / unquote(urlsplit(named[3]).path), text)
        return Requirement(f"{named[1]}{named[2] or ''} @ {path.as_uri()}{named[4] or ''}", path)
    if text.startswith(("./", "../", "/", "~")) or text in (".", ".."):
        path = _existing(folder / Path(text).expanduser(), text)
        return Requirement(str(path), path)
    name = re.match(r"\s*[A-Za-z0-9][\w.-]*", text)
    if name and (given := sources.get(normal_name(name[0]))) is not None:
        path = _existing(folder / given.expanduser(), text)
        extras = re.match(r"\s*(\[[^\]]*\])", text[name.end() :])
        return Requirement(f"{name[0].strip()}{extras[1] if extras else ''} @ {path.as_uri()}", path)
    return Requirement(text)


def _existing(path: Path, text: str) -> Path:
    if not path.exists():
        raise ParserError(f"The dependency {text!r} is not there: {path} does not exist.")
    return path.resolve()


def normal_name(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def package_name(path: Path) -> str | None:
    """The name that a project folder or a wheel gives itself, where that can be told without building."""
    if path.is_file():
        return path.name.partition("-")[0] if path.suffix == ".whl" else None
    name = _project(path).get("project", {}).get("name")
    return name if isinstance(name, str) else None


def tree_hash(path: Path) -> str:
    """Hash of a project's files, and of the projects that it takes by path itself; ParserError for too many
    files to be a project.

    Version control, caches and what is built are left out.
    """
    digest = hashlib.sha256()
    pending, seen = [path.resolve()], set[Path]()
    while pending:
        root = pending.pop()
        if root in seen or not root.exists():
            continue
        seen.add(root)
        _add_tree(digest, root)
        pending += _local_sources(root)
    return digest.hexdigest()


def _add_tree(digest: Any, root: Path) -> None:
    if root.is_file():
        digest.update(file_sha256(root).encode())
        return
    n_bytes = 0
    for number, path in enumerate(_source_files(root)):
        n_bytes += path.stat().st_size
        if number >= MAX_FILES or n_bytes > MAX_BYTES:
            raise ParserError(
                f"{root} has more than {MAX_FILES:,} files or {MAX_BYTES // 2**20:,} MiB; depend on a "
                "smaller folder, or on a wheel that was built from it."
            )
        name = os.fsencode(path.relative_to(root))
        digest.update(len(name).to_bytes(4) + name + bytes.fromhex(file_sha256(path)))


def _source_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            f for f in folders if f not in _NOT_SOURCE and not f.endswith((".egg-info", "_cache"))
        )
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not name.endswith((".pyc", ".pyo")):
                yield path


def _local_sources(root: Path) -> list[Path]:
    data = _project(root)
    sources = data.get("tool", {}).get("uv", {}).get("sources", {})
    listed = sources.values() if isinstance(sources, dict) else ()
    paths = [s["path"] for s in listed if isinstance(s, dict) and isinstance(s.get("path"), str)]
    declared = data.get("project", {}).get("dependencies", [])
    for text in declared if isinstance(declared, list) else ():
        if isinstance(text, str) and (named := _NAMED_PATH.fullmatch(text)):
            paths.append(unquote(urlsplit(named[3]).path))
    return [(root / path).resolve() for path in paths]


def _project(root: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
