"""`parsemark parsers list`: list the parsers, install them, list their releases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import setup_calls
from parsemark.cli import options as opt
from parsemark.cli.printing import is_quiet, is_verbose, plain_console, plain_table, say_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from parsemark.setup_calls import Available

parsers = typer.Typer(
    name="parsers",
    cls=opt.Commands,
    no_args_is_help=True,
    help="List the parsers, install them, list their releases.",
)


@parsers.command("list", cls=opt.Command)
def list_parsers(*, as_json: opt.Json = False) -> None:
    """List the parsers: licence, output, requirements, and whether each can run here.

    `parsemark list parsers` has one line about each; `parsemark doctor` is about libraries and programs.

    Example: parsemark parsers list
    """
    if as_json:
        say_json("list", setup_calls.parsers_list())
        return
    if is_quiet():
        for entry in setup_calls.parsers_list():
            typer.echo(entry.name)
        return
    console = plain_console()
    rows = [_columns(entry) for entry in setup_calls.parsers_list()]
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


HEADS = ("parser", "licence", "returns", "needs", "weights", "options (default first)", "state")
_WIDE = 140  # columns that the whole table needs; in fewer, each parser has lines of its own


def _columns(entry: Available) -> tuple[str, ...]:
    """Return one row of the list; the row of a broken plug-in has its error."""
    return (
        (entry.name, *(text for _, text in entry.details))
        if entry.details
        else (entry.name, *[""] * (len(HEADS) - 2), entry.summary)
    )


def _print_narrow(console: Console, name: str, *columns: str) -> None:
    """Print one parser in a narrow terminal, without cutting anything that users must type."""
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
            "--lock",
            help="Only write lock files beside each script, with package versions and hashes of weights.",
        ),
    ] = False,
    accept_licence: Annotated[
        bool, Option("--accept-licence", help="Accept licences that limit the use of weights.")
    ] = False,
    weights_from: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Local folder of weights to use instead of downloads: `OWNER/NAME/…` or a cache of the "
            "Hugging Face Hub.",
        ),
    ] = None,
) -> None:
    """Fetch the weights of parsers and build their environments now instead of on first use.

    The same command resumes an interrupted installation. `HF_ENDPOINT` selects a mirror of the Hugging
    Face Hub, and `HF_TOKEN` opens its gated repositories.

    Example: parsemark parsers install docling
    """
    console = plain_console()
    with _bar(console) if console.is_terminal else nullcontext() as received:
        failed = opt.fill(setup_calls.parsers_install, locals(), progress=_step)
    if failed:
        raise typer.Exit(1)


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[int, int], None]]:
    """Draw the bytes that have arrived; gives what takes them and their total."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", visible=False)
        yield lambda done, total: progress.update(task, completed=done, total=total or None, visible=True)


_SHOWN_VERSIONS = 10


@parsers.command(cls=opt.Command)
def versions(
    name: Annotated[str, Argument(help="A parser, or path/to/worker.py.")],
    pre: Annotated[bool, Option("--pre", help="Include pre-releases.")] = False,
) -> None:
    """List the newest releases of a parser that support this Python version, the oldest first.

    Releases can be compared in one run: `parsemark bench --parser NAME@VERSION --parser NAME`.

    Example: parsemark parsers versions pdfplumber
    """
    found = setup_calls.parsers_versions(name, pre=pre)
    if not is_verbose() and len(found) > _SHOWN_VERSIONS:
        typer.echo(f"The newest {_SHOWN_VERSIONS} of {len(found)}; all of them: --verbose", err=True)
        found = found[-_SHOWN_VERSIONS:]
    for version in found:
        typer.echo(version)


def _step(label: str, what: str) -> None:
    typer.echo(f"{label}: {what}")
