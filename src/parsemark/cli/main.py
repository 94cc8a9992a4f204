"""The `parsemark` command: one module per command, put together here."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from parsemark import __version__
from parsemark.cli import (
    bench,
    choose,
    compare,
    convert,
    corpus,
    doctor,
    figures,
    judge,
    metrics,
    pairs,
    parse,
    parsers,
    query,
    rate,
    report,
    score,
    structure,
    study,
)
from parsemark.cli.plain_help import Commands
from parsemark.errors import ParsemarkError

app = typer.Typer(
    name="parsemark",
    cls=Commands,
    help="The benchmark for PDF parsers: who is better, by how much, how sure we are, and why.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"parsemark {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The benchmark for PDF parsers: who is better, by how much, how sure we are, and why."""


for command in (
    bench,
    parse,
    score,
    report,
    figures,
    choose,
    compare,
    convert,
    corpus,
    query,
    parsers,
    metrics,
    pairs,
    study,
    judge,
    rate,
    structure,
    doctor,
):
    command.register(app)


def run() -> None:
    """Entry point: a user's error is one line on stderr, a bug is a traceback."""
    try:
        app()
    except ParsemarkError as error:
        sys.stderr.write(f"parsemark: {error}\n")
        sys.exit(2)
