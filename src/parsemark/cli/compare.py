"""`parsemark compare`: is A better than B?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    run: Annotated[Path, typer.Argument(help="A run; the old one when two runs are compared.")],
    first: Annotated[str, typer.Argument(help="A parser of the run, or the folder of the new run.")],
    second: Annotated[str | None, typer.Argument(help="Another parser of the run.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Whose figures.", show_default="the first of the run")
    ] = None,
    fail_below: Annotated[
        float | None,
        typer.Option(help="With two runs: exit 1 if a parser fell significantly and below this difference."),
    ] = None,
) -> None:
    """Is A better than B, by how much, and how sure is that? Prints Markdown.

    Two parsers of a run: `parsemark compare RUN A B`. Two runs, for instance of yesterday and today in CI:
    `parsemark compare OLD NEW --fail-below -0.01`.
    """
    from parsemark.report.comparison import compare_parsers, compare_runs, comparison_markdown, runs_markdown
    from parsemark.store import Run

    if second is not None:
        typer.echo(comparison_markdown(compare_parsers(Run.open(run), first, second, protocol)), nl=False)
        return
    result = compare_runs(Run.open(run), Run.open(first), protocol)
    typer.echo(runs_markdown(result, fail_below), nl=False)
    if fail_below is not None and result.drops(fail_below):
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(compare)
