"""`parsemark list`: what can be named in a command."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from typer import Argument

from parsemark import schemas, setup_calls
from parsemark.cli import options as opt
from parsemark.cli.printing import is_quiet, plain_console, plain_table, say_json

_DEFAULT = "parsemark"


def list_names(
    kind: Annotated[
        str | None,
        Argument(
            metavar="[KIND]",
            help="metrics, protocols, corpora, parsers, makers, judges or schemas (JSON Schemas).",
        ),
    ] = None,
    name: Annotated[str | None, Argument(metavar="[NAME]", help="Name to describe in full.")] = None,
    *,
    as_json: opt.Json = False,
) -> None:
    """List names to use in commands: metrics, protocols, corpora, parsers, makers, judges, JSON Schemas.

    Makers make corpora, and judges are language models that score. `parsemark parsers list` shows which
    parsers can run here, and `parsemark doctor` which libraries and programs are missing.

    Names from other packages show the package in brackets. In a pipe, columns are separated by tabs.

    Example: parsemark list protocols

    Example: parsemark list metrics teds
    """
    entries = setup_calls.list_(kind, name)
    if as_json:
        say_json("list", entries)
        return
    if kind is None:
        counts = [(entry.name, entry.summary, f"parsemark list {entry.name}") for entry in entries]
        plain_console().print(plain_table(("kind", "", "list them with"), counts, words=3))
        return
    if name is not None:
        if kind == "schemas":
            typer.echo(json.dumps(schemas.json_schemas()[name], indent=2))
            return
        (entry,) = entries
        typer.echo(f"{entry.name}: {entry.summary}")
        for label, text in entry.details:
            typer.echo(f"    {label}: {text}")
        return
    if is_quiet():
        for entry in entries:
            typer.echo(entry.name)
        return
    console = plain_console()
    if not console.is_terminal:
        typer.echo(f"{kind.removesuffix('s')}\tsummary\tdistribution")
        for entry in entries:
            typer.echo(f"{entry.name}\t{entry.summary}\t{entry.distribution}")
        return
    rows = [(entry.name, entry.summary + _brought(entry.distribution)) for entry in entries]
    console.print(plain_table((kind, ""), rows, words=2))


def _brought(distribution: str) -> str:
    return "" if distribution == _DEFAULT else f" ({distribution})"
