"""`parsemark report` and `figures`: the static site of a run, and its figures as files for a paper."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def report(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    out: Annotated[Path | None, Option(help="Folder of the report; by default RUN/report.")] = None,
    against: Annotated[Path | None, Option(help="An older run to compare with.")] = None,
    also: Annotated[
        list[Path] | None,
        Option(help="Repeatable: a run on another corpus, to choose from on the leaderboard."),
    ] = None,
) -> None:
    """Write the report of a run: leaderboard, figures, parsers, page viewer, comparison, provenance."""
    from parsemark.report import build_report
    from parsemark.store import Run
    from parsemark.verdicts.scored_run import readable_protocols

    for spec in readable_protocols(Run.open(run))[1]:
        typer.echo(f"Not shown: {spec}, of a package that is not installed here, or does not work.", err=True)
    typer.echo(build_report(run, out or run / "report", against=against, also=also or ()))


class FigureFormat(StrEnum):
    """Formats of figure files."""

    pdf = "pdf"
    svg = "svg"
    png = "png"


def figures(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    kind: Annotated[FigureFormat, Option("--format", help="File format.")] = FigureFormat.pdf,
    out: Annotated[Path | None, Option(help="Folder of the figures; by default RUN/figures.")] = None,
) -> None:
    """Write the figures of a run for a paper (needs matplotlib: `pip install 'parsemark[figures]'`).

    Parsers have the same colours as in the report.
    """
    from parsemark.report.figures_page import write_paper_figures

    for path in write_paper_figures(run, out or run / "figures", kind.value):
        typer.echo(path)
