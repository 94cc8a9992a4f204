"""`parsemark gate`: pass or fail, for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def gate(
    context: typer.Context,
    new: Annotated[Path, typer.Argument(help="The run to check.")],
    old: Annotated[Path | None, typer.Argument(help="The run, or baseline, that it is held against.")] = None,
    *,
    minimum: Annotated[
        list[str] | None, typer.Option("--min", metavar="FIGURE=VALUE", help="At least this. Repeat it.")
    ] = None,
    max_drop: Annotated[
        float | None, typer.Option(min=0, help="Plain drop of the primary figure that is allowed.")
    ] = None,
    interval: Annotated[
        bool, typer.Option("--interval/--no-interval", help="Fail on a drop that is beyond chance.")
    ] = True,
    max_failures: Annotated[int, typer.Option(min=0, help="Pages that may newly fail.")] = 0,
    max_slowdown: Annotated[
        float | None, typer.Option(min=1, help="Ratio of CPU time per page that is allowed: 1.1")
    ] = None,
    max_memory: Annotated[
        float | None, typer.Option(min=1, help="Ratio of peak memory that is allowed: 1.2")
    ] = None,
    parser: Annotated[list[str] | None, typer.Option(help="Only this parser. Repeat it.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Whose figures.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here too.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all checks as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write all checks as JUnit XML.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Make this folder the new baseline, if the gate is passed.")
    ] = None,
) -> None:
    """Is the new run good enough, and no worse than the old one? Exit code 1 if not.

    `parsemark gate NEW OLD --max-drop 0.02 --max-slowdown 1.1`, or alone: `parsemark gate NEW --min
    te_f1_con=0.7`. Runs of different pages, corpora or protocol versions are not compared (exit code 2).
    """
    from parsemark.compare.gate import GateLimits, gate_runs, save_baseline
    from parsemark.report.verdicts import gate_json, gate_junit, gate_markdown
    from parsemark.store import Run
    from parsemark.system.files import write_text

    if old is None and context.obj:  # what the settings name and is not there
        typer.echo(f"{context.obj}. Without one only fixed limits are checked.", err=True)
    limits = GateLimits(
        minimum=_values(minimum or ()),
        max_drop=max_drop,
        interval=interval,
        max_failures=max_failures,
        max_slowdown=max_slowdown,
        max_memory=max_memory,
    )
    opened = Run.open(new)
    result = gate_runs(opened, Run.open(old) if old else None, limits, parsers=parser, protocol=protocol)
    text = gate_markdown(result)
    typer.echo(text, nl=False)
    outputs = ((markdown, text), (json, gate_json(result)), (junit, gate_junit(result)))
    for path, content in outputs:
        if path is not None:
            write_text(path, content)
    if not result.passed:
        raise typer.Exit(1)
    if save is not None:
        typer.echo(f"Baseline: {save_baseline(opened, save)}")


def _values(pairs: list[str] | tuple[str, ...]) -> dict[str, float]:
    from parsemark.errors import UsageError

    values = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        try:
            values[name.strip()] = float(text)
        except ValueError as error:
            raise UsageError(f"--min {pair}: give a figure and a number, as in te_f1_con=0.7.") from error
    return values


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(gate)
