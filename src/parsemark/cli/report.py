"""`parsemark report`: the static site of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="Run directory.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="Folder of the report; by default RUN/report.")] = None,
    against: Annotated[Path | None, typer.Option(help="An older run to compare with.")] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option(help="Repeatable: a run on another corpus, to choose from on the leaderboard."),
    ] = None,
) -> None:
    """Write the report of a run: leaderboard, figures, parsers, page viewer, comparison, provenance."""
    from parsemark.report import build_report

    typer.echo(build_report(run, out or run / "report", against=against, also=also or ()))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(report)
