"""The `parsemark` command: one module per command, put together here."""

from __future__ import annotations

import sys

import typer

from parsemark.cli import (
    bench,
    compare,
    convert,
    corpus,
    doctor,
    figures,
    metrics,
    pairs,
    parse,
    parsers,
    query,
    report,
    score,
    study,
)
from parsemark.errors import ParsemarkError

app = typer.Typer(
    name="parsemark",
    help="The benchmark for PDF parsers: who is better, by how much, how sure we are, and why.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.callback()
def root() -> None:
    """The benchmark for PDF parsers: who is better, by how much, how sure we are, and why."""


for command in (
    bench,
    parse,
    score,
    report,
    figures,
    compare,
    convert,
    corpus,
    query,
    parsers,
    metrics,
    pairs,
    study,
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
