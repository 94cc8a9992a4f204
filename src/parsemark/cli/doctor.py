"""`parsemark doctor`: what is installed, and what each missing thing would enable."""

from __future__ import annotations

import typer


def doctor() -> None:
    """Show what is installed here, and what each missing thing would enable."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from parsemark.cli.installed import everything

    console = Console()
    grid = Table(box=None, pad_edge=False)
    for column in ("", "what", "enables", "how to get it"):
        grid.add_column(column, overflow="fold")
    missing = 0
    for item in everything():
        missing += not item.found
        mark = "[green]✓[/]" if item.found else "[yellow]–[/]"
        name = Text(f"{item.name} {item.version}".strip())
        grid.add_row(mark, name, item.enables, Text("" if item.found else item.install))
    console.print(grid)
    console.print(f"\n{missing} optional things are missing." if missing else "\nEverything is here.")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(doctor)
