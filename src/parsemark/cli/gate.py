"""`parsemark gate`: pass or fail, for continuous integration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark.cli.options import fill
from parsemark.errors import UsageError
from parsemark.system.files import write_text

if TYPE_CHECKING:
    from parsemark.store import Run


def gate(
    run: Annotated[Path | None, Argument(help="The run to check; the same as --new.")] = None,
    *,
    new: Annotated[Path | None, Option(help="The run to check.")] = None,
    old: Annotated[Path | None, Option(help="The run, or baseline, that it is held against.")] = None,
    minimum: Annotated[
        list[str] | None, Option("--min", metavar="FIGURE=VALUE", help="At least this. Repeat it.")
    ] = None,
    max_drop: Annotated[
        float | None, Option(min=0, help="Plain drop of the primary figure that is allowed.")
    ] = None,
    interval: Annotated[
        bool, Option("--interval/--no-interval", help="Fail on a drop that is beyond chance.")
    ] = True,
    max_failures: Annotated[int, Option(min=0, help="Pages that may newly fail.")] = 0,
    max_lost_tables: Annotated[
        int | None, Option(min=0, help="True tables that may be found no longer.")
    ] = None,
    max_page_drop: Annotated[
        float | None, Option(min=0, help="Drop of the primary figure that is allowed on any page.")
    ] = None,
    max_slowdown: Annotated[
        float | None, Option(min=1, help="Ratio of CPU time per page that is allowed: 1.1")
    ] = None,
    time_again: Annotated[
        int, Option(min=0, metavar="PAGES", help="Time old and new versions here, in turns on so many pages.")
    ] = 0,
    max_memory: Annotated[
        float | None, Option(min=1, help="Ratio of peak memory that is allowed: 1.2")
    ] = None,
    parser: Annotated[list[str] | None, Option(help="Only this parser. Repeat it.")] = None,
    protocol: Annotated[str | None, Option(help="Whose figures.")] = None,
    markdown: Annotated[Path | None, Option(help="Write the table here too.")] = None,
    json: Annotated[Path | None, Option(help="Write all checks as JSON.")] = None,
    junit: Annotated[Path | None, Option(help="Write all checks as JUnit XML.")] = None,
    pictures: Annotated[
        Path | None, Option(help="Write pictures of the pages that got worst into this folder.")
    ] = None,
    link: Annotated[str | None, Option(help="Address of the report's folder, for links to pages.")] = None,
    save: Annotated[
        Path | None, Option(help="Make this folder the new baseline, if the gate is passed.")
    ] = None,
) -> None:
    """Is the new run good enough, and no worse than the old one? Exit code 1 if not.

    `parsemark gate --new RUN --old BASELINE --max-drop 0.02 --max-lost-tables 0`, or alone: `parsemark gate
    RUN --min te_f1_con=0.7`. Runs of different pages, corpora or protocol versions, and an old run that is
    not there, end with exit code 2. Pages that got worse are listed whatever comes of it.
    """
    from parsemark.report.comparison_text import (
        gate_annotations,
        gate_json,
        gate_junit,
        gate_markdown,
        report_link,
    )
    from parsemark.report.worst_page_pictures import write_worst_pages
    from parsemark.store import Run
    from parsemark.verdicts.gate import GateLimits, gate_runs, save_baseline

    if (run is None) == (new is None):
        raise UsageError("Name one run to check: parsemark gate --new RUN --old BASELINE.")
    limits = fill(GateLimits, locals(), minimum=_values(minimum or ()))
    older = _older(old, save)
    opened = Run.open(new or run or Path())
    result = gate_runs(opened, older, limits, parsers=parser, protocol=protocol, time_again=time_again)
    text = gate_markdown(result, report_link(opened, link))
    typer.echo(text, nl=False)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        typer.echo(gate_annotations(result), nl=False)
    outputs = ((markdown, text), (json, gate_json(result)), (junit, gate_junit(result)))
    for path, content in outputs:
        if path is not None:
            write_text(path, content)
    if pictures is not None:
        for picture in write_worst_pages(opened, older, result.worse, pictures):
            typer.echo(f"Picture: {picture}")
    if not result.passed:
        raise typer.Exit(1)
    if save is not None:
        typer.echo(f"Baseline: {save_baseline(opened, save)}")


def _older(old: Path | None, save: Path | None) -> Run | None:
    """Open the old run; one that is named and absent fails, unless this gate is to make it."""
    from parsemark.store import Run

    if old is None:
        return None
    if (old / "manifest.json").is_file():
        return Run.open(old)
    if save is not None and save.resolve() == old.resolve() and not old.exists():
        typer.echo(f"There is no baseline {old} yet: only fixed limits are checked.", err=True)
        return None
    raise UsageError(
        f"The old run {old} is not there, so nothing can be held against it. Make it first: parsemark gate "
        f"RUN --save {old}"
    )


def _values(pairs: list[str] | tuple[str, ...]) -> dict[str, float]:
    values = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        try:
            values[name.strip()] = float(text)
        except ValueError as error:
            raise UsageError(f"--min {pair}: give a figure and a number, as in te_f1_con=0.7.") from error
    return values
