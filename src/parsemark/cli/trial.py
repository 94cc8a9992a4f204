"""One parser on one page: its tables, and what its worker printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parsemark.cli.printing import plain_console
from parsemark.errors import ParserError
from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.model import Element, Table

_SHOWN_CHARS = 60  # of each cell in the terminal


def print_trial(name: str, pdf: Path, page: int, timeout_s: float) -> None:
    """Run one parser on one page and print the tables that it returns; ParserError if it fails."""
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
    """Return the grid's texts, a spanning cell's only at its first place."""
    rows = [[""] * found.n_cols for _ in range(found.n_rows)]
    for cell in found.cells:
        rows[cell.row][cell.col] = cell.text
    return rows


def _printable(text: str) -> str:
    """Remove escape sequences of a parser's text, which the terminal must not see."""
    return "".join(c if c.isprintable() else " " for c in text)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
