"""Packages that a parser takes from the disk of its author, by path.

These change without changing their name or version. So they are hashed: a changed file makes another
environment and another fingerprint, and no result of the old code is taken for one of the new.
"""

import hashlib
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    """Return a dependency of a worker script, with its path made absolute, counted from the script's folder:
    `name @ file:///…`, `./…`, `../…` or absolute, or in `sources` (`[tool.uv.sources]`) by the package's
    normal name.
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
        raise ParserError(f"The dependency {text!r} is missing: {path} does not exist.")
    return path.resolve()


def normal_name(name: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def package_name(path: Path) -> str | None:
    """Return the name that a project folder or a wheel gives itself, where that can be told without
    building.
    """
    if path.is_file():
        return path.name.partition("-")[0] if path.suffix == ".whl" else None
    name = _project(path).get("project", {}).get("name")
    return name if isinstance(name, str) else None


def tree_hash(path: Path) -> str:
    """Return the hash of a project's files, and of the projects that it takes by path itself; raise
    ParserError for too many files to be a project.

    Version control, caches and what is built are left out.
    """
    digest = hashlib.sha256()
    for root in _projects_behind(path):
        _add_tree(digest, root)
    return digest.hexdigest()


def is_wheel(path: Path) -> bool:
    """Return whether it is installed without being built."""
    return path.suffix == ".whl" and path.is_file()


class Copies:
    """Copies of projects and of those that they take by path, to be built: a build writes into its sources.

    A link leads to the history of the repository that each lies in, from which version numbers are made.
    """

    def __init__(self, projects: Iterable[Path], folder: Path) -> None:
        self.read: list[Path] = []  # what a build may read beside the copies
        self._places: list[tuple[str, str]] = []
        for project in projects:
            for root in _projects_behind(project):
                copy = folder / root.relative_to(root.anchor)
                self._copy(root, copy)
                if root == project.resolve():
                    self._places += [(root.as_uri(), copy.as_uri()), (str(root), str(copy))]

    def _copy(self, root: Path, copy: Path) -> None:
        copy.parent.mkdir(parents=True, exist_ok=True)
        if root.is_file():
            shutil.copy(root, copy)
            return
        shutil.copytree(root, copy, symlinks=True, ignore=_left_out(root), dirs_exist_ok=True)
        git = next((path for f in (root, *root.parents) if (path := f / ".git").is_dir()), None)
        if git is None:
            return
        link = copy.joinpath(*[".."] * len(root.relative_to(git.parent).parts), ".git").resolve()
        if not link.exists():
            link.symlink_to(git)
        borrowed = git / "objects" / "info" / "alternates"
        listed = borrowed.read_text(encoding="utf-8").splitlines() if borrowed.is_file() else []
        self.read += [git, *map(Path, listed)]

    def named_in(self, text: str) -> str:
        """Return a requirement with the copies in the place of the projects."""
        for original, copy in self._places:
            text = re.sub(rf"(?<!\S){re.escape(original)}(?=[\s;\[#]|$)", copy.replace("\\", r"\\"), text)
        return text

    def named_back(self, text: str) -> str:
        """Return a list with the projects in the place of the copies."""
        for original, copy in self._places:
            text = text.replace(copy, original)
        return text


def _left_out(root: Path) -> Callable[[str, list[str]], set[str]]:
    def ignored(folder: str, names: list[str]) -> set[str]:
        made = {"build", "dist", "target"}
        return set(_NOT_SOURCE.intersection(names)) - (set() if Path(folder) == root else made)

    return ignored


def _projects_behind(path: Path) -> Iterator[Path]:
    pending, seen = [path.resolve()], set[Path]()
    while pending:
        root = pending.pop()
        if root in seen or not root.exists():
            continue
        seen.add(root)
        yield root
        pending += _local_sources(root)


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
