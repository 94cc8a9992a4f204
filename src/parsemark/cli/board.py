"""`parsemark board`: many bundles as one public leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def board(
    bundles: Annotated[
        list[Path], typer.Argument(help="Bundles, or folders of them (*.zip).", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the site.")],
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", "-c", help="Repeatable: truths for --verify, and pictures for the reports."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Score every bundle anew; show only those that verify.")
    ] = False,
    reports: Annotated[
        bool, typer.Option("--reports/--no-reports", help="Write the whole report of every league.")
    ] = True,
) -> None:
    """Make a leaderboard site of many bundles: corpora × parsers, history per parser, reports.

    Results are put together only where corpus, pages, protocol and its version are the same. Exit code 1 if
    a bundle was refused; the site is written all the same, and names it.
    """
    from rich.console import Console

    from parsemark.cli import running
    from parsemark.report.board_site import build_board
    from parsemark.report.visible import visible

    console = Console(stderr=True)
    loaded = [running.load(spec) for spec in corpus or ()]
    with console.status("reading bundles") as status:
        result = build_board(
            bundles,
            out,
            corpora=loaded,
            verify=verify,
            reports=reports,
            tell=lambda text: status.update(visible(text)),
        )
    for refused in result.refused:
        console.print(
            visible(f"! not shown: {refused.path}: {refused.why}"),
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    typer.echo(f"{result.n_bundles} bundles, {result.n_leagues} leagues: {result.page}")
    if result.refused:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(board)
