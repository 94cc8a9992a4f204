"""`parsemark compare`: is A better than B?"""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from parsemark.protocols import Summary


def compare(
    run: Annotated[Path, typer.Argument(help="A run; the old one when two runs are compared.")],
    first: Annotated[str, typer.Argument(help="A parser of the run, or the folder of the new run.")],
    second: Annotated[str | None, typer.Argument(help="Another parser of the run.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Whose figures.", show_default="the first of the run")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="First write the report that shows both beside the truth.")
    ] = False,
    fail_below: Annotated[
        float | None,
        typer.Option(help="With two runs: exit 1 if a parser fell significantly and below this difference."),
    ] = None,
) -> None:
    """Is A better than B, by how much, and how sure is that? Prints Markdown.

    Two parsers of a run: `parsemark compare RUN A B`. Two runs, for instance of yesterday and today in CI:
    `parsemark compare OLD NEW --fail-below -0.01`; runs of different pages, corpora or protocol versions are
    not compared (exit code 2). The last lines say where the two can be looked at beside
    the truth, with their differences marked cell by cell.
    """
    from parsemark.errors import UsageError
    from parsemark.report import build_report
    from parsemark.report.verdicts import comparison_markdown, runs_markdown, side_by_side
    from parsemark.store import Run
    from parsemark.verdicts.comparison import compare_parsers, compare_runs, parsers_of

    if second is not None:
        comparison = compare_parsers(Run.open(run), first, second, protocol)
        if report:
            build_report(run, run / "report")
        typer.echo(comparison_markdown(comparison), nl=False)
        _say_of_which(Run.open(run).summary(protocol))
        typer.echo("\n" + side_by_side(Run.open(run), comparison), nl=False)
        return
    old = Run.open(run)
    if first in (names := parsers_of(old)) and not Path(first).exists():
        others = ", ".join(shlex.quote(name) for name in names if name != first) or "no other"
        raise UsageError(
            f"{first} is a parser of {run}: name the one to compare it with as well. The run has {others}."
        )
    new = Run.open(Path(first))
    result = compare_runs(old, new, protocol)
    if report:
        build_report(new.path, new.path / "report", against=run)
    typer.echo(runs_markdown(result, fail_below), nl=False)
    _say_of_which(new.summary(protocol))
    changed = sorted(result.comparisons, key=lambda c: math.inf if c.gain is None else c.gain)
    typer.echo("\n" + side_by_side(new, changed[0], older=run), nl=False)
    if fail_below is not None and result.drops(fail_below):
        raise typer.Exit(1)


def _say_of_which(summary: Summary) -> None:
    typer.echo(f"\nFigures of {summary.protocol}.")
    for note in summary.notes:
        typer.echo(f"\nNote: {note}")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(compare)
