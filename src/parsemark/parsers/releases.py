"""Releases and commits of a parser's own package: `pdfplumber@0.11.4`, `worker.py@git:REF`.

The worker script stays what it is; the package that it stands for is taken at another version. What else it
needs is kept at the versions that the parser is locked to, as far as that version of the package allows, so
that two versions differ in as little as they can. What was found is kept as a lock in the cache folder.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from parsemark.errors import ParserError, UsageError
from parsemark.parsers.environment import compiled, requirement_lines
from parsemark.parsers.installation import run_uv
from parsemark.parsers.parser import Parser
from parsemark.parsers.session import WorkerFailure
from parsemark.parsers.trial import require_usable
from parsemark.parsers.worker_limits import limited_session
from parsemark.parsers.working_tree import normal_name, package_name
from parsemark.system import cache_folder, locked, remove_tree, write_text

GIT = "git:"
START_TIMEOUT_S = 60.0
_GIT_TIMEOUT_S = 300
_VERSION = re.compile(r"\d[\w.+!-]*")
_DEPENDENCY = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?P<extras>\[[^\]]*\])?.*", re.DOTALL)
_PIN = re.compile(r"==\s*[^;,\s]+")
_NO_INDEX = re.compile(r"Failed to fetch|error sending request|connection broken|dns error|timed out", re.I)
_NO_BUILD = re.compile(r"Failed to build|build backend|Call to `", re.I)


@dataclass(frozen=True, slots=True)
class OwnPackage:
    """The package that a parser stands for, among those that its script lists."""

    name: str
    position: int  # of its dependency
    tree: Path | None  # the project that it is installed from; None for a package from an index


def own_package(parser: Parser) -> OwnPackage:
    """Find it, or raise UsageError: the one that the script names (`package` of `[tool.parsemark]`), the only
    one from a path, the one of the parser's name, the only one whose name has the parser's in it, or the only
    one at all.
    """
    declared, wanted = parser.declaration, normal_name(parser.short_name)
    if declared.info.npm:
        listed = ", ".join(declared.info.npm)
        raise UsageError(
            f"Parser {parser.short_name!r} uses {listed} of npm, whose version cannot be chosen with @. "
            "Copy its script and list another version there."
        )
    trees = [requirement.path for requirement in parser.requirements]
    names = [
        _parted(text)[0] or (package_name(tree) if tree else None) or text
        for text, tree in zip(declared.dependencies, trees, strict=True)
    ]
    every, plain = range(len(names)), [normal_name(name) for name in names]
    said = normal_name(declared.info.package or "")
    for found in (
        [k for k in every if plain[k] == said],
        [k for k in every if trees[k] is not None],
        [k for k in every if plain[k] == wanted],
        [k for k in every if wanted in plain[k]],
        every,
    ):
        if len(found) == 1:
            return OwnPackage(names[found[0]], found[0], trees[found[0]])
    raise UsageError(
        f"Parser {parser.short_name!r} declares no package, so its version cannot be chosen. In your own "
        'script, add package = "NAME" to [tool.parsemark].'
    )


@cache
def releases(package: str, *, pre: bool = False) -> tuple[str, ...]:
    """Return the releases of a package that the index has for this Python, oldest first; raise ParserError if
    none.
    """
    flags = ["--retries", "1", "--timeout", "20", "--disable-pip-version-check", "--no-color"]
    ours = ("run", "--no-project", "--quiet", "--python", sys.executable, "python", "-m", "pip")
    pip = ours if find_spec("pip") is not None else ("tool", "run", "--quiet", "pip")
    wanted = [*flags, "index", "versions", package, *(["--pre"] if pre else [])]
    # Where `uv` looks for packages, in the words of `pip`, which alone lists versions.
    same = {"DEFAULT_INDEX": "INDEX_URL", "INDEX": "EXTRA_INDEX_URL"}
    names = (*same, *same.values(), "FIND_LINKS", "NO_INDEX")
    given = {name: os.environ.get(f"UV_{name}", "").replace(",", " ") for name in names}
    places = {f"PIP_{same.get(name, name)}": value for name, value in given.items() if value}
    try:
        said = run_uv(*pip, *wanted, confined=False, variables=places)
    except ParserError as error:
        if _NO_INDEX.search(str(error)) or "No matching distribution" not in str(error):
            why = f"The package index cannot be reached for {package}: {last_line(error)}"
            raise ParserError(why) from error
        raise ParserError(
            f"The package index has no package {package!r} for this Python. Commits of a repository are "
            "versions too: `parsemark history PARSER --releases 0 --also PARSER@git:REF --also PARSER`."
        ) from error
    listed = re.search(r"^Available versions: (.+)$", said, re.MULTILINE)
    return tuple(reversed(listed[1].split(", "))) if listed else ()


def at_version(parser: Parser, version: str) -> Parser:
    """Return the same parser with its own package at another version: a release (`0.11.4`), a commit of the
    repository that its package lies in (`git:REF`), or of another one (`git:DIR#REF`).

    UsageError: it cannot be a version, or the parser has no package of its own. ParserError: there is no such
    release or commit, or what it needs cannot be found.
    """
    own = own_package(parser)
    if not version.startswith(GIT):
        if _VERSION.fullmatch(version) is None:
            name = parser.short_name
            raise UsageError(f"{version!r} is not a version: write {name}@1.2.3 or {name}@git:REF.")
        return _locked(parser, own, version, f"=={version}")
    folder, _, ref = version.removeprefix(GIT).rpartition("#")
    given = Path(folder).expanduser() if folder else own.tree
    if given is None:
        raise UsageError(
            f"{own.name} comes from an index, not from a working copy. Give its repository: "
            f"{parser.short_name}@{GIT}DIR#{ref}."
        )
    root = repository(given)
    commit = commit_of(root, ref)
    copy = scratch_copy(root, commit) / _project_in(root, own)
    label = f"{GIT}{root}#{commit[:12]}" if folder else f"{GIT}{commit[:12]}"
    return _locked(parser, own, label, f" @ {copy.as_uri()}")


def _project_in(root: Path, own: OwnPackage) -> Path:
    """Return where in a repository the project of a package lies: where the script takes it from, or by its
    name.
    """
    if own.tree is not None and own.tree.is_relative_to(root):
        return own.tree.relative_to(root)
    files = sorted([*root.glob("pyproject.toml"), *root.glob("*/pyproject.toml")])
    wanted = normal_name(own.name)
    named = [file.parent for file in files if normal_name(package_name(file.parent) or "") == wanted]
    return named[0].relative_to(root) if len(named) == 1 else Path()


def _locked(parser: Parser, own: OwnPackage, version: str, pin: str) -> Parser:
    """Return the parser with its own package pinned, and all others found and written down once."""
    declared = parser.declaration
    is_kept = declared.info.no_deps
    texts = [r.text if r.path or is_kept else _PIN.sub("", r.text) for r in parser.requirements]
    texts[own.position] = f"{own.name}{_parted(declared.dependencies[own.position])[1]}{pin}"
    changed = declared.model_copy(update={"dependencies": tuple(texts), "sources": {}})
    made = replace(parser, declaration=changed, lock=(), version=version)
    if changed.info.no_deps:
        return made
    environment = made.environment
    wanted = [sorted(parser.lock), environment.key, sorted(changed.overrides)]
    key = hashlib.sha256(json.dumps(wanted).encode()).hexdigest()[:20]
    path = cache_folder("locks") / f"{key}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock")):
        if not path.is_file():
            try:
                found = compiled(
                    *("--generate-hashes", "--python", environment.interpreter),
                    texts=environment.dependencies,
                    trees=environment.trees,
                    overrides=changed.overrides,
                    known=parser.lock,
                    may_build=environment.may_build,
                )
                write_text(path, found)
            except ParserError as error:
                raise ParserError(_why(made.name, own.name, version, error)) from error
    return replace(made, lock=requirement_lines(path))


def _why(name: str, package: str, version: str, error: ParserError) -> str:
    """Return one line that says why a version cannot be had."""
    said = str(error)
    if _NO_INDEX.search(said):
        return f"{name} cannot be installed: the package index cannot be reached."
    if version and f"no version of {package.lower()}" in said.lower() and not _NO_BUILD.search(said):
        listing = f"`parsemark parsers versions {name.partition('@')[0]}` lists them"
        return f"{name}: {package} has no release {version} for this Python; {listing}."
    if _NO_BUILD.search(said):
        return f"{name} must be built here, and the build failed: {last_line(error)}"
    return f"{name} cannot be installed: {last_line(error)}"


def last_line(error: Exception) -> str:
    """Return the last line of a program's output, which has its error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|cause|cannot|not found", line, re.I)]
    reasons = [line for line in lines if re.search(r"\bBecause\b", line)]  # `uv` begins with the reason
    return (reasons[:1] or telling[-1:] or lines[-1:] or ["no reason given"])[0][:300]


def require_start(parser: Parser) -> None:
    """Install a version and start its worker once; ParserError says in a line what fails."""
    name = parser.name
    require_usable(parser)
    try:
        parser.install()
    except ParserError as error:
        raise ParserError(_why(name, "", "", error)) from error
    try:
        with limited_session(parser.command(), start_timeout_s=START_TIMEOUT_S):
            pass
    except WorkerFailure as failure:
        tail = f" ({last_line(ParserError(failure.stderr_tail))})" if failure.stderr_tail.strip() else ""
        raise ParserError(f"{name} is installed but does not start: {failure}{tail}") from failure


def usable_parsers(
    specs: Sequence[str], get: Callable[[str], Parser], note: Callable[[str], None]
) -> list[Parser]:
    """Return the parsers of specs; versions that do not start are noted and left out. Raise ParserError if
    all are.
    """
    found: list[Parser] = []
    for spec in specs:
        try:
            parser = get(spec)
            if parser.version:
                require_start(parser)
            found.append(parser)
        except ParserError as error:
            if "@" not in spec or len(specs) == 1:
                raise
            note(f"Left out: {error}")
    if not found:
        raise ParserError("No version can be used here.")
    return found


def repository(folder: Path) -> Path:
    """Return the root of the working copy that a folder lies in; raise UsageError if it lies in none."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    except ParserError as error:
        raise UsageError(f"{folder} is not in a git repository.") from error


def commit_of(repo: Path, ref: str) -> str:
    """Return the commit that a branch, tag or hash names; raise UsageError if none has that name."""
    try:
        return _git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").strip()
    except ParserError as error:
        raise UsageError(f"{repo} has no commit {ref!r}.") from error


def commits_between(repo: Path, good: str, bad: str) -> list[str]:
    """Return the commits from one to a later one, both included, by first parents; raise UsageError if there
    is no way.
    """
    first, last = commit_of(repo, good), commit_of(repo, bad)
    listed = _git(repo, "rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()
    if not listed or first not in _git(repo, "rev-list", last).split():
        raise UsageError(f"{bad} does not come after {good} in {repo}. Are --good and --bad swapped?")
    return [first, *listed]


def scratch_copy(repo: Path, commit: str) -> Path:
    """Return the files of a commit, in a clone in the cache folder: the working copy is not touched."""
    name = hashlib.sha256(str(repo).encode()).hexdigest()[:8]
    copy = cache_folder("commits") / f"{name}-{commit[:20]}"
    copy.parent.mkdir(parents=True, exist_ok=True)
    with locked(copy.with_suffix(".lock")):
        if not copy.exists():
            draft = copy.with_suffix(".draft")
            remove_tree(draft)
            _git(repo, "clone", "--quiet", "--shared", "--no-checkout", str(repo), str(draft))
            _git(draft, "-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach", commit)
            draft.rename(copy)
    return copy


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ParserError(f"git {arguments[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        raise ParserError(f"git {arguments[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def _parted(dependency: str) -> tuple[str, str]:
    """Return name and extras of a dependency; empty for a path."""
    found = _DEPENDENCY.fullmatch(dependency)
    return (found["name"], found["extras"] or "") if found else ("", "")
