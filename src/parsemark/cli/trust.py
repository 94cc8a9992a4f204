"""Whether the parsers that a `parsemark.toml` brings may be run: the user is asked once, as editors do."""

from pathlib import Path

import typer

from parsemark.cli.running import can_ask
from parsemark.config import SettingsFile
from parsemark.errors import UsageError
from parsemark.plain_words import visible
from parsemark.setup_calls import is_trusted, scripts_of, trust


def require_trust(path: Path, settings: SettingsFile, *, is_given: bool) -> None:
    """Ask once before code is run that a file names which happens to lie in this folder."""
    if is_given or is_trusted(path, settings):
        return
    named = f"{path} runs code that came with it: {', '.join(scripts_of(settings))}."
    if not can_ask():
        raise UsageError(f"{named} If you trust it: parsemark --trust-config, or --config {path}.")
    if not typer.confirm(f"{visible(named)} Do you trust it?", err=True):
        raise UsageError(f"{path} is not trusted; nothing was run.")
    trust(path, settings)
