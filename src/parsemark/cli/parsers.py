"""`parsemark parsers`: list the parsers, install them, try one on a page."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import version_history
from parsemark.cli import options as opt
from parsemark.cli.options import Commands
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import ParsemarkError, ParserError
from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.model import Element, Table
    from parsemark.parsers import Parser

_SHOWN_CHARS = 60  # of each cell in the terminal

parsers = typer.Typer(name="parsers", cls=Commands, help="List the parsers, install them, try one on a page.")


@parsers.callback(invoke_without_command=True)
def list_parsers(context: typer.Context) -> None:
    """List the parsers with licence, what they give, what they need, and whether they can run here."""
    if context.invoked_subcommand is not None:
        return
    console = plain_console()
    rows = [_facts(name) for name in _names()]
    if not console.is_terminal:
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


HEADS = ("parser", "licence", "gives", "needs", "options (default first)", "state")
_WIDE = 140  # columns that the whole table needs; in fewer, each parser has lines of its own


def _print_narrow(console: Console, name: str, *facts: str) -> None:
    """One parser in a narrow terminal: what one must type is never cut."""
    from rich.padding import Padding
    from rich.text import Text

    console.print(Text(name, style="bold"))
    for head, fact in zip(HEADS[1:], facts, strict=True):
        if fact:
            console.print(Padding(Text(f"{head.partition(' ')[0]}: {fact}", overflow="fold"), (0, 0, 0, 2)))


@parsers.command()
def install(names: Annotated[list[str], Argument(metavar="NAME…", help="Parsers, or `all`.")]) -> None:
    """Build the environments of parsers. Without it each is built when it is first used."""
    from parsemark.parsers import get_parser
    from parsemark.parsers.trial import require_usable

    console = plain_console()
    chosen = [get_parser(name) for name in (_names() if names == ["all"] else names)]
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


@parsers.command()
def lock(
    names: Annotated[list[str], Argument(metavar="NAME…", help="Parsers or worker scripts, or `all`.")],
) -> None:
    """Write down all packages of parsers' environments with their versions, beside their scripts."""
    from parsemark.parsers.catalogue import find_script
    from parsemark.parsers.declaration import read_declaration
    from parsemark.parsers.environment import write_lock

    for name in _names() if names == ["all"] else names:
        script = find_script(name)
        path = write_lock(script, read_declaration(script))
        _step(name, f"locked in {path}" if path is not None else "nothing to lock: its list is complete")


_SHOWN_VERSIONS = 10


@parsers.command()
def versions(
    name: Annotated[str, Argument(help="A parser, or path/to/worker.py.")],
    pre: Annotated[bool, Option("--pre", help="Also releases before the final ones.")] = False,
    all_: Annotated[bool, Option("--all", help="All of them, and not the newest ten.")] = False,
) -> None:
    """List the newest releases of a parser that the package index has for this Python, oldest first.

    Each can be used beside the others: `parsemark bench -p NAME@VERSION -p NAME`.
    """
    found = version_history.versions(name, pre=pre)
    if not all_ and len(found) > _SHOWN_VERSIONS:
        typer.echo(f"The newest {_SHOWN_VERSIONS} of {len(found)}; all of them: --all", err=True)
        found = found[-_SHOWN_VERSIONS:]
    for version in found:
        typer.echo(version)


@parsers.command("try")
def try_(
    name: Annotated[str, Argument(help="A parser: camelot(flavor=stream), or path/to/worker.py.")],
    pdf: Annotated[
        Path, Argument(metavar="FILE", help="A PDF file; DOCX or HTML for parsers that read that.")
    ],
    page: Annotated[int, Option(help="The page, counted from 1.")] = 1,
    timeout_s: opt.TrialTimeoutS = opt.TRIAL_TIMEOUT_S,
) -> None:
    """Run one parser on one page and show the tables that it finds, and what its worker printed.

    Of a page that fails the traceback is shown.
    """
    from rich.markup import escape

    from parsemark.model import Status
    from parsemark.parsers import get_parser
    from parsemark.parsers.trial import try_parser

    console, aside = plain_console(), plain_console(stderr=True)
    parser = get_parser(name)
    with aside.status(escape(_printable(parser.name))) as status:

        def tell(step: str) -> None:
            line = _printable(f"{parser.name}: {step}")
            if aside.is_terminal:
                status.update(escape(line))
            else:
                typer.echo(line, err=True)

        trial = try_parser(parser, pdf, page, timeout_s=timeout_s, progress=tell)
    if trial.prediction.status is not Status.OK:
        raise ParserError(f"{parser.name}: {trial.prediction.message}")
    versions = ", ".join(f"{package} {version}" for package, version in trial.hello.versions.items())
    tables = trial.prediction.tables
    found = counted(len(tables), "table")
    label = f"{parser.name} ({versions})" if versions else parser.name
    where = f"on page {page}" if "pdf" in parser.info.reads else f"in {_printable(pdf.name)}"
    console.print(f"{_printable(label)}: {found} {where}")
    for number, element in enumerate(tables, start=1):
        _show(console, element, number)
    wall, cpu = (rounded(t, 2) for t in (trial.answer.wall_s, trial.answer.cpu_s))
    console.print(f"{wall} s, {cpu} s of CPU")
    if trial.printed.strip():
        console.print("\nThe worker printed:")
        for line in trial.printed.rstrip().splitlines():
            console.print(_printable(line), soft_wrap=True)


def _step(label: str, what: str) -> None:
    typer.echo(f"{label}: {what}")


def _names() -> list[str]:
    from parsemark.parsers import parser_names

    return parser_names()


def _facts(name: str) -> tuple[str, ...]:
    """One row of the list; a plug-in that is broken says so in its own row."""
    from parsemark.parsers import get_parser

    try:
        parser = get_parser(name)
    except ParsemarkError as error:
        return (name, "", "", "", "", f"broken: {error}")
    info = parser.info
    return (
        name,
        info.licence,
        ", ".join(info.gives),
        ", ".join([*info.needs, *_needs_of_choices(parser)]) or "-",
        _options(parser),
        str(parser.state()),
    )


def _needs_of_choices(parser: Parser) -> list[str]:
    return [
        f"{need} ({key}={choice})"
        for key, option in parser.info.options.items()
        for choice in option.choices
        for need in option.needs_of(choice)
    ]


def _options(parser: Parser) -> str:
    from parsemark.specs import format_option

    shown = []
    for key, option in parser.info.options.items():
        others = [choice for choice in option.choices if choice != option.default]
        shown.append(f"{key}={'|'.join(format_option(v) for v in (option.default, *others))}")
    return " ".join(shown) or "-"


def _show(console: Console, element: Element, number: int) -> None:
    from rich.table import Table as View
    from rich.text import Text

    found = element.table
    facts = [f"table {number}"]
    if found is not None:
        facts.append(f"{found.n_rows} x {found.n_cols}")
    if element.box is not None:
        facts.append("box " + " ".join(f"{v:.0f}" for v in element.box.as_tuple()))
    if element.confidence is not None:
        facts.append(f"confidence {element.confidence:.2f}")
    console.print(", ".join(facts))
    view = View(show_header=False, show_lines=True)
    for row in _first_places(found) if found is not None else []:
        view.add_row(*(Text(_shortened(_printable(text))) for text in row))
    console.print(view)


def _first_places(found: Table) -> list[list[str]]:
    """The grid's texts, a spanning cell's only at its first place."""
    rows = [[""] * found.n_cols for _ in range(found.n_rows)]
    for cell in found.cells:
        rows[cell.row][cell.col] = cell.text
    return rows


def _printable(text: str) -> str:
    """A parser's text may hold escape sequences; the terminal must not see them."""
    return "".join(c if c.isprintable() else " " for c in text)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
