"""Environments of parsers: built by `uv` on first use, kept in the cache folder, shared by their content.

An environment is named by the hash of what is in it. It is built in a temporary folder and renamed when it
is complete, so that a folder under its final name is always whole; a lock lets two processes that want the
same one build it once. A killed build leaves only a temporary folder, which the next build removes.

A script lists the few packages that it uses; `uv` finds what these need in turn. What it found is kept in a
lock beside the script, `camelot.lock` for `camelot.py`, with versions and hashes for all platforms at once,
and installed from there. A lock knows which list it was made of: after a change it must be made again.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from parsemark.errors import ParserError
from parsemark.parsers.declaration import Declaration
from parsemark.parsers.installation import BuildNeededError, require_permission, run_uv
from parsemark.parsers.npm import NpmPackages, write_npm_lock
from parsemark.parsers.working_tree import Copies, is_wheel, tree_hash
from parsemark.system import cache_folder, locked, make_folder, write_text
from parsemark.system.scratch import ScratchFolder

Progress = Callable[[str], None]

_MADE_OF = "# made of "
_LOCK_LIMIT = 4_000_000
_AT_LEAST = re.compile(r">=\s*3\.(\d+)")


@dataclass(frozen=True)
class Environment:
    """A Python environment with pinned packages."""

    dependencies: tuple[str, ...]
    requires_python: str
    no_deps: bool = False
    trees: tuple[Path, ...] = ()  # projects on this disk among the dependencies, held as they are now
    lock: tuple[str, ...] = ()  # all that is installed, with versions and hashes; empty for `uv` to find out
    may_build: bool = (
        False  # whether its trees may be built without a permission: somebody asked for a commit
    )
    npm: NpmPackages | None = None

    @property
    def python_request(self) -> str:
        """Return our own interpreter where it satisfies `requires_python`, else what `uv` finds or
        fetches.
        """
        minimum = least_python(self.requires_python)
        if minimum is not None and sys.version_info[:2] >= (3, minimum):
            return f"{sys.version_info.major}.{sys.version_info.minor}"
        return self.requires_python

    @cached_property
    def key(self) -> str:
        """Return the hash of everything that decides what the environment contains."""
        content = [
            sorted(self.dependencies),
            self.no_deps,
            self.python_request,
            sys.platform,
            platform.machine(),
            *(tree_hash(path) for path in self.trees),
            # Versions without hashes: those say whether a file is the right one, not which one it is.
            *([sorted(line.split(" --hash=")[0] for line in self.lock)] if self.lock else ()),
            *([self.npm.identity] if self.npm else ()),
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]

    @property
    def folder(self) -> Path:
        """Return where it lies once it is built."""
        return cache_folder("envs") / self.key

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return self.folder / "bin" / "python"

    def is_ready(self) -> bool:
        """Return whether it is built."""
        return self.python.exists()

    @property
    def size_mb(self) -> float:
        """Return the size of its files, without those that Python compiles on first use."""
        found = (path for path in self.folder.rglob("*") if path.suffix != ".pyc" and not path.is_symlink())
        return round(sum(path.stat().st_size for path in found if path.is_file()) / 1e6, 1)

    def build(self, progress: Progress | None = None) -> None:
        """Build it unless it is there; several processes may at once. ParserError quotes what `uv` said."""
        if self.is_ready():
            return
        make_folder(self.folder.parent)
        with locked(self.folder.with_suffix(".lock")):
            if self.is_ready():
                return
            # Under the lock nobody else builds this one: drafts are of builds that were killed.
            for draft in self.folder.parent.glob(f"{self.key}.draft-*"):
                shutil.rmtree(draft, ignore_errors=True)
            draft = self.folder.with_suffix(f".draft-{os.getpid()}")
            try:
                self._build_in(draft, progress or (lambda _: None))
                draft.rename(self.folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def _build_in(self, draft: Path, progress: Progress) -> None:
        trees = [path.as_uri() for path in self.trees]
        others = [
            text for text in (*self.dependencies, *self.lock) if not any(tree in text for tree in trees)
        ]
        is_local = require_permission(others, () if self.may_build else self.projects) or bool(self.projects)
        progress("creating the environment")
        run_uv(*self._venv(draft), confined=False)
        if self.dependencies:
            self._install_packages(draft, is_local, progress)
        if self.npm:
            progress(f"installing {', '.join(self.npm.listed)}")
            self.npm.install(draft)

    def _install_packages(self, draft: Path, is_local: bool, progress: Progress) -> None:
        progress(f"installing {', '.join(self.dependencies[:3])}{' …' if self.dependencies[3:] else ''}")
        try:
            self._install_in(draft, self.builds if is_local else None)
        except BuildNeededError:
            # Its files may be links into the shared cache, which no build may write: begin anew.
            shutil.rmtree(draft)
            run_uv(*self._venv(draft), confined=False)
            self._install_in(draft, self.builds)

    def _venv(self, draft: Path) -> tuple[str, ...]:
        return ("venv", "--quiet", "--relocatable", "--python", self.interpreter, str(draft))

    def _install_in(self, draft: Path, builds: str | None) -> None:
        """Install all packages; `builds`: as for `run_uv`. ParserError also if the interpreter is changed."""
        python = draft / "bin" / "python"
        interpreter = python.resolve()
        flags = ["--no-deps"] if self.no_deps or self.lock else []
        with ScratchFolder("parsemark-build-") as scratch:
            copies = Copies(self.projects, scratch)
            wanted = list(map(copies.named_in, self.lock or self.dependencies))
            if self.lock:
                listed = scratch / "locked.txt"
                listed.write_text("\n".join(wanted), encoding="utf-8")
                if all(" --hash=" in line for line in self.lock):
                    flags.append("--require-hashes")
                wanted = ["-r", str(listed)]
            run_uv(
                *("pip", "install", "--quiet", "--python", str(python), *flags, *wanted),
                read=[interpreter.parents[1], *map(Path.resolve, self.trees), *copies.read],
                write=[draft, scratch],
                builds=builds,
            )
        if python.resolve() != interpreter:  # workers see the folder that it lies in
            raise ParserError("Installing the packages replaced the interpreter of the environment.")

    @property
    def projects(self) -> tuple[Path, ...]:
        """Return those of its trees that must be built."""
        return tuple(path for path in self.trees if not is_wheel(path))

    @cached_property
    def builds(self) -> str:
        """Return the name of the cache for what is built for it: the same for all states of its trees."""
        content = json.dumps([sorted(self.dependencies), sorted(self.lock)])
        return hashlib.sha256(content.encode()).hexdigest()[:20]

    @property
    def interpreter(self) -> str:
        """Return the interpreter that `uv` builds it with."""
        ours = f"{sys.version_info.major}.{sys.version_info.minor}"
        return sys.executable if self.python_request == ours else self.python_request


def least_python(requires: str) -> int | None:
    """Return the 11 of `>=3.11`; None for any other way to say it."""
    minimum = _AT_LEAST.fullmatch(requires.strip())
    return int(minimum.group(1)) if minimum else None


def lock_path(script: Path) -> Path:
    """Return where a script's lock lies, if there is one."""
    return script.with_suffix(".lock")


def needs_lock(declaration: Declaration) -> bool:
    """Return whether a list leaves anything open: not if it is empty, complete (`no-deps`), or of local
    projects.
    """
    return bool(declaration.dependencies) and not declaration.info.no_deps and not declaration.sources


def read_lock(script: Path, declaration: Declaration) -> tuple[str, ...]:
    """Return the requirements of a script's lock, or none; raise ParserError if that is unreadable or of
    another list.
    """
    path = lock_path(script)
    if not path.is_file() or not needs_lock(declaration):
        return ()
    if f"{_MADE_OF}{_digest(declaration)}" not in _lines(path):
        raise ParserError(
            f"{path.name} does not match the packages that {script.name} lists: run "
            f"`parsemark parsers install --lock {script}`, or remove it."
        )
    return requirement_lines(path)


def requirement_lines(path: Path) -> tuple[str, ...]:
    """Return the requirements in a lock, each on one line with its hashes; ParserError for an option."""
    lines = [line for raw in _lines(path) if (line := " ".join(raw.split())) and not line.startswith("#")]
    if option := next((line for line in lines if line.startswith("-")), None):
        raise ParserError(f"{path}: {option[:100]!r} is an option, not a requirement. Remove it.")
    return tuple(lines)


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _LOCK_LIMIT:
            raise ParserError(f"{path} is too large to be a lock.")
        return path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ParserError(f"Cannot read the lock {path}: {error}.") from error


def write_lock(script: Path, declaration: Declaration) -> Path | None:
    """Find all packages that a script needs and write its lock; None where there is nothing to lock.

    Packages of npm have a lock of their own.
    """
    path = _write_lock(script, declaration) if needs_lock(declaration) else None
    if not declaration.info.npm:
        return path
    lock = requirement_lines(path) if path else ()
    environment = Environment(declaration.dependencies, declaration.requires_python, lock=lock)
    environment.build()
    return write_npm_lock(script, declaration, environment.folder)


def _write_lock(script: Path, declaration: Declaration) -> Path:
    flags = ["--universal", "--generate-hashes"]
    if (minimum := least_python(declaration.requires_python)) is not None:
        flags += ["--python-version", f"3.{minimum}"]
    found = compiled(*flags, texts=declaration.dependencies, script=script)
    head = f"# All packages of {script.name}, by `parsemark parsers install --lock`. Do not edit.\n"
    path = lock_path(script)
    write_text(path, f"{head}{_MADE_OF}{_digest(declaration)}\n{found.strip()}\n")
    return path


def compiled(
    *arguments: str,
    texts: Sequence[str],
    script: Path | None = None,
    trees: Sequence[Path] = (),
    overrides: Sequence[str] = (),
    known: Sequence[str] = (),
    may_build: bool = False,
) -> str:
    """Return all packages that a list of requirements comes to, as `uv pip compile` writes them: at the known
    versions where these are allowed. Nothing is built that need not be. `script`: lists them, with settings.
    """
    projects = [path for path in trees if not is_wheel(path)]
    listed = [text for text in (*texts, *known) if not any(tree.as_uri() in text for tree in trees)]
    is_local = require_permission(listed, () if may_build else projects) or bool(projects)
    builds = hashlib.sha256(json.dumps(sorted(texts)).encode()).hexdigest()[:20]
    with ScratchFolder("parsemark-lock-") as folder:
        copies = Copies(projects, folder)
        flags = ["--no-annotate", "--no-header", "--quiet"]
        names = ("wanted.txt", "forced.txt", "found.txt")
        wanted, forced, found = (folder / name for name in names)
        for path, lines in ((wanted, texts), (forced, overrides), (found, known)):
            path.write_text("\n".join(map(copies.named_in, lines)), encoding="utf-8")
        flags += ["--override", str(forced)] if overrides else []
        flags += ["--output-file", str(found), str(script or wanted)]
        read = [*trees, *copies.read, *([script] if script else ())]
        run = partial(run_uv, "pip", "compile", *arguments, *flags, read=read, write=[folder])
        try:
            run(builds=builds if is_local else None)
        except BuildNeededError:
            run(builds=builds)
        return copies.named_back(found.read_text(encoding="utf-8"))


def _digest(declaration: Declaration) -> str:
    content = [sorted(declaration.dependencies), declaration.requires_python, sorted(declaration.overrides)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]
