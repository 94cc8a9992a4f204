"""`parsemark figures`: the figures of a run as files for a paper."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class FigureFormat(StrEnum):
    """Formats of figure files."""

    pdf = "pdf"
    svg = "svg"
    png = "png"


def figures(
    run: Annotated[Path, typer.Argument(help="Run directory.", show_default=False)],
    kind: Annotated[FigureFormat, typer.Option("--format", help="File format.")] = FigureFormat.pdf,
    out: Annotated[Path | None, typer.Option(help="Folder of the figures; by default RUN/figures.")] = None,
) -> None:
    """Write the figures of a run for a paper (needs matplotlib: `pip install 'parsemark[figures]'`).

    Parsers have the same colours as in the report.
    """
    from parsemark.report.figures import write_paper_figures

    for path in write_paper_figures(run, out or run / "figures", kind.value):
        typer.echo(path)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(figures)
