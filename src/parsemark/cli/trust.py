"""Whether the parsers that a `parsemark.toml` brings may be run: somebody is asked once, as editors do."""

import hashlib
import sys
from pathlib import Path

import typer

from parsemark.config import SettingsFile
from parsemark.errors import UsageError
from parsemark.plain_words import visible
from parsemark.system import cache_folder, make_folder, write_text


def require_trust(path: Path, settings: SettingsFile, *, is_given: bool) -> None:
    """Ask once before code is run that a file names which happens to lie in this folder."""
    if is_given or is_trusted(path, settings):
        return
    named = f"{path} runs code that came with it: {', '.join(scripts_of(settings))}."
    if not _can_ask():
        raise UsageError(f"{named} If you trust it: parsemark --trust-config, or --config {path}.")
    if not typer.confirm(f"{visible(named)} Do you trust it?", err=True):
        raise UsageError(f"{path} is not trusted; nothing was run.")
    trust(path, settings)


def _can_ask() -> bool:
    return sys.stdin.isatty()


def scripts_of(settings: SettingsFile) -> list[str]:
    """The parsers of a settings file that run code of whoever wrote it: scripts, and commits to build."""
    return [spec for spec in settings.bench.parsers or () if ".py" in spec or "@git:" in spec]


def is_trusted(path: Path, settings: SettingsFile) -> bool:
    """Whether this user has agreed to what the file runs; with other parsers it is another file."""
    return not scripts_of(settings) or _trust_mark(path, settings).is_file()


def trust(path: Path, settings: SettingsFile) -> None:
    """Remember that this user agrees to what the file runs."""
    mark = _trust_mark(path, settings)
    make_folder(mark.parent)
    write_text(mark, f"{path.resolve()}\n")


def _trust_mark(path: Path, settings: SettingsFile) -> Path:
    named = "\0".join([str(path.resolve()), *scripts_of(settings)])
    return cache_folder("trusted") / hashlib.sha256(named.encode()).hexdigest()[:32]
