"""`parsemark export`: a run in the form of other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ExportFormat(StrEnum):
    """What a run can be written as."""

    OMNIDOCBENCH = "omnidocbench"


def export(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    *,
    format: Annotated[ExportFormat, typer.Option(help="Whose files to write.")] = ExportFormat.OMNIDOCBENCH,
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
) -> None:
    """Write the result files of another program: the same fields, from our computation.

    `omnidocbench` writes `…_metric_result.json` and `…_{element}_result.json` for each published profile that
    the run was scored by.
    """
    from rich.console import Console

    from parsemark.report.omnidocbench import export_omnidocbench
    from parsemark.store import Run

    console = Console()
    with console.status("") as status:
        written = export_omnidocbench(Run.open(run), out, progress=status.update)
    console.print(f"{len(written)} files in {out}", highlight=False)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(export)
