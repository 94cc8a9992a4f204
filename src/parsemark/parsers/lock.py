"""Locks: all packages of a parser's environment with versions and hashes: the same name, the same code.

A script lists the few packages that it uses; `uv` finds what these need in turn. What it found is kept in a
file beside the script, `camelot.lock` for `camelot.py`, for all platforms at once, and installed from there;
a file whose hash is not in the lock is refused. A lock knows which list it was made of: after a change of
the list it must be made again.
"""

import hashlib
import json
from pathlib import Path

from parsemark.errors import ParserError
from parsemark.parsers.declaration import Declaration
from parsemark.parsers.environment import least_python, run_uv
from parsemark.system import write_text

_MADE_OF = "# made of "
_SIZE_LIMIT = 4_000_000


def lock_path(script: Path) -> Path:
    """Where a script's lock lies, if there is one."""
    return script.with_suffix(".lock")


def needs_lock(declaration: Declaration) -> bool:
    """Whether a list leaves anything open: not if it is empty, complete (`no-deps`), or of local projects."""
    return bool(declaration.dependencies) and not declaration.info.no_deps and not declaration.sources


def read_lock(script: Path, declaration: Declaration) -> tuple[str, ...]:
    """The requirements of a script's lock, or none; ParserError if that is unreadable or of another list."""
    path = lock_path(script)
    if not path.is_file() or not needs_lock(declaration):
        return ()
    if f"{_MADE_OF}{_digest(declaration)}" not in _lines(path):
        raise ParserError(
            f"{path.name} was made of other packages than {script.name} lists now: run "
            f"`parsemark parsers lock {script}`, or remove it."
        )
    return requirement_lines(path)


def requirement_lines(path: Path) -> tuple[str, ...]:
    """The requirements in a lock, each on one line with its hashes."""
    return tuple(
        " ".join(line.split()) for line in _lines(path) if line.strip() and not line.lstrip().startswith("#")
    )


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            raise ParserError(f"{path} is too large to be a lock.")
        return path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ParserError(f"Cannot read the lock {path}: {error}.") from error


def write_lock(script: Path, declaration: Declaration) -> Path | None:
    """Find all packages that a script needs and write its lock; None where there is nothing to lock."""
    if not needs_lock(declaration):
        return None
    flags = ["--universal", "--generate-hashes", "--no-annotate", "--no-header", "--quiet"]
    if (minimum := least_python(declaration.requires_python)) is not None:
        flags += ["--python-version", f"3.{minimum}"]
    found = run_uv("pip", "compile", *flags, str(script))
    head = f"# All packages of {script.name}, by `parsemark parsers lock`. Do not edit.\n"
    path = lock_path(script)
    write_text(path, f"{head}{_MADE_OF}{_digest(declaration)}\n{found.strip()}\n")
    return path


def _digest(declaration: Declaration) -> str:
    content = [sorted(declaration.dependencies), declaration.requires_python, sorted(declaration.overrides)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]
