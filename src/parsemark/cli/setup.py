"""`parsemark init` and `parsemark doctor`: the settings of a project in one file, and what is installed."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from parsemark import api, setup_calls
from parsemark.cli import options as opt
from parsemark.cli.printing import is_quiet, plain_console, plain_table, say_json


def init(
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    parsers: opt.Parsers = None,
    protocols: opt.Protocols = None,
    out: Annotated[Path, Option("--out", "-o", help="File to write.")] = Path("parsemark.toml"),
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write a commented parsemark.toml, so that `bench` and `gate` need no options in this folder.

    Options on the command line override the file.

    Example: parsemark init my-documents/ --parser pdfplumber
    """
    made = opt.fill(setup_calls.init, locals(), corpus=corpus_too or corpus)
    for remark in made.absent:
        typer.echo(remark, err=True)
    typer.echo(f"{out}: edit it, then run: parsemark bench")


def doctor(*, as_json: opt.Json = False) -> None:
    """Show which libraries and programs are installed, and what each missing one would enable.

    `parsemark parsers list` shows the parsers, and `parsemark list` the names to use in commands.

    Example: parsemark doctor
    """
    from rich.text import Text

    parts = setup_calls.doctor()
    if as_json:
        say_json("doctor", parts)
        return
    console, rows, missing = plain_console(), [], 0
    for item in parts:
        missing += not item.found
        mark = Text("✓", "green") if item.found else Text("–", "yellow")
        name = f"{item.name} {item.version}".strip()
        rows.append((mark, name, item.enables, "" if item.found else item.install))
    lack = f"{missing} of {len(parts)} optional libraries and programs are missing."
    console.print(lack if missing else "Nothing is missing.")
    if not is_quiet():
        console.print()
        console.print(plain_table(("", "what", "enables", "how to get it"), rows, words=4))
