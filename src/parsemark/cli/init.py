"""`parsemark init`: the settings of a project in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parsemark import api
from parsemark.cli import options as opt


def init(
    *,
    corpus: opt.Corpus = api.CORPUS,
    parser: opt.Parsers = None,
    protocol: opt.Protocols = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file.")] = Path("parsemark.toml"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
) -> None:
    """Write a commented parsemark.toml: corpus, parsers, protocols, limits of the gate.

    `bench`, `parse` and `gate` read the one of the folder in which they are called. Flags override it.
    """
    from parsemark.config import read_settings, settings_text
    from parsemark.errors import UsageError
    from parsemark.parsers import DEFAULT_PARSERS
    from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs
    from parsemark.system.files import write_text

    if out.exists() and not overwrite:
        raise UsageError(f"{out} is there already. Edit it, or replace it with --overwrite.")
    stem = Path(corpus.rpartition(":")[2]).name or "run"
    text = settings_text(
        corpus=corpus,
        parsers=parser or DEFAULT_PARSERS,
        protocols=canonical_specs(protocol or DEFAULT_PROTOCOLS),
        name=stem,
    )
    write_text(out, text)
    read_settings(out)
    typer.echo(f"{out}: edit it, then run: parsemark bench")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(init)
