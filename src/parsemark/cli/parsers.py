"""`parsemark parsers list`: list the parsers, install them, list their releases."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import version_history
from parsemark.cli import options as opt
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import ParserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from parsemark.available import Available

parsers = typer.Typer(
    name="parsers",
    cls=opt.Commands,
    no_args_is_help=True,
    help="List the parsers, install them, list their releases.",
)


@parsers.command("list", cls=opt.Command)
def list_parsers() -> None:
    """List the parsers with licence, what they return, what they need, and whether they can run here.

    Example: parsemark parsers list
    """
    from parsemark.available import available

    console = plain_console()
    rows = [_columns(entry) for entry in available("parsers")]
    if not console.is_terminal:
        typer.echo("\t".join(HEADS))
        for row in rows:
            typer.echo("\t".join(row))
        return
    if console.width < _WIDE:
        for row in rows:
            _print_narrow(console, *row)
        return
    table = plain_table(HEADS, rows, words=len(HEADS))
    table.columns[0].no_wrap = True
    console.print(table)


HEADS = ("parser", "licence", "returns", "needs", "options (default first)", "state")
_WIDE = 140  # columns that the whole table needs; in fewer, each parser has lines of its own


def _columns(entry: Available) -> tuple[str, ...]:
    """Return one row of the list; a plug-in that is broken says so in its own row."""
    return (
        (entry.name, *(text for _, text in entry.details))
        if entry.details
        else (entry.name, *[""] * 4, entry.summary)
    )


def _print_narrow(console: Console, name: str, *columns: str) -> None:
    """Print one parser in a narrow terminal: what one must type is never cut."""
    from rich.padding import Padding
    from rich.text import Text

    console.print(Text(name, style="bold"))
    for head, text in zip(HEADS[1:], columns, strict=True):
        if text:
            console.print(Padding(Text(f"{head.partition(' ')[0]}: {text}", overflow="fold"), (0, 0, 0, 2)))


@parsers.command(cls=opt.Command)
def install(
    names: Annotated[list[str], Argument(metavar="NAME…", help="Parsers or worker scripts, or `all`.")],
    lock: Annotated[
        bool,
        Option(
            "--lock", help="Instead, write the versions of all packages to a lock file beside each script."
        ),
    ] = False,
    allow_local_builds: opt.AllowLocalBuilds = False,
) -> None:
    """Build the environments of parsers now instead of on first use.

    Example: parsemark parsers install docling
    """
    from parsemark.parsers import get_parser, parser_names
    from parsemark.parsers.trial import require_usable

    console = plain_console()
    selected = parser_names() if names == ["all"] else names
    if lock:
        _write_locks(selected)
        return
    chosen = [get_parser(name) for name in selected]
    failed = []
    for number, parser in enumerate(chosen, start=1):
        label = f"[{number}/{len(chosen)}] {parser.name}"
        try:
            require_usable(parser)
            with console.status(label) if console.is_terminal else nullcontext():
                parser.install(partial(_step, label))
            _step(label, "ready")
        except ParserError as error:
            failed.append(parser.name)
            _step(label, str(error))
    if failed:
        raise typer.Exit(1)


def _write_locks(names: Sequence[str]) -> None:
    from parsemark.parsers.catalogue import find_script
    from parsemark.parsers.declaration import read_declaration
    from parsemark.parsers.environment import write_lock

    for name in names:
        script = find_script(name)
        path = write_lock(script, read_declaration(script))
        _step(name, f"locked in {path}" if path is not None else "nothing to lock: its list is complete")


_SHOWN_VERSIONS = 10


@parsers.command(cls=opt.Command)
def versions(
    name: Annotated[str, Argument(help="A parser, or path/to/worker.py.")],
    pre: Annotated[bool, Option("--pre", help="Include pre-releases.")] = False,
    all_: Annotated[bool, Option("--all", help="Show all releases.")] = False,
) -> None:
    """List the newest releases of a parser that the package index has for this Python, oldest first.

    Releases can be compared in one run: `parsemark bench --parser NAME@VERSION --parser NAME`.

    Example: parsemark parsers versions pdfplumber
    """
    found = version_history.versions(name, pre=pre)
    if not all_ and len(found) > _SHOWN_VERSIONS:
        typer.echo(f"The newest {_SHOWN_VERSIONS} of {len(found)}; all of them: --all", err=True)
        found = found[-_SHOWN_VERSIONS:]
    for version in found:
        typer.echo(version)


def _step(label: str, what: str) -> None:
    typer.echo(f"{label}: {what}")
