"""`parsemark compare`: is A better than B?"""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark.errors import UsageError

if TYPE_CHECKING:
    from parsemark.protocols import Summary
    from parsemark.store import Run


def compare(
    run: Annotated[Path | None, Argument(help="A run; the old one when two runs are compared.")] = None,
    first: Annotated[str | None, Argument(help="A parser of the run, or the folder of the new run.")] = None,
    second: Annotated[str | None, Argument(help="Another parser of the run.")] = None,
    *,
    old: Annotated[Path | None, Option(help="The old of two runs.")] = None,
    new: Annotated[Path | None, Option(help="The new of two runs.")] = None,
    protocol: Annotated[
        str | None, Option(help="Whose figures.", show_default="the first of the run")
    ] = None,
    slices: Annotated[bool, Option("--slices", help="Also on each group of pages.")] = False,
    report: Annotated[
        bool, Option("--report", help="First write the report that shows both beside the truth.")
    ] = False,
    fail_below: Annotated[
        float | None,
        Option(help="With two runs: exit 1 if a parser fell significantly and below this difference."),
    ] = None,
) -> None:
    """Is A better than B, by how much, how sure is that, and which errors are behind it? Prints Markdown.

    Two parsers of a run: `parsemark compare RUN A B`. Two runs, for instance of yesterday and today in CI:
    `parsemark compare --old OLD --new NEW --fail-below -0.01`; runs of different pages, corpora or protocol
    versions are not compared (exit code 2). The last lines say where the two can be looked at beside the
    truth, with their differences marked cell by cell.
    """
    from parsemark.store import Run

    if old is not None or new is not None:
        if old is None or new is None or run is not None:
            raise UsageError("Two runs are named as --old OLD --new NEW, and nothing else with them.")
    elif run is None or first is None:
        raise UsageError("Name two parsers of a run (RUN A B), or two runs (--old OLD --new NEW).")
    elif second is not None:
        if fail_below is not None:
            raise UsageError("--fail-below is for two runs: --old OLD --new NEW.")
        _two_parsers(Run.open(run), first, second, protocol, slices=slices, report=report)
        return
    else:
        old, new = run, _new_run(Run.open(run), first)
    _two_runs(Run.open(old), Run.open(new), protocol, fail_below, slices=slices, report=report)


def _new_run(old: Run, first: str) -> Path:
    from parsemark.verdicts.comparison import parsers_of

    if first in (names := parsers_of(old)) and not Path(first).exists():
        others = ", ".join(shlex.quote(name) for name in names if name != first) or "no other"
        raise UsageError(
            f"{first} is a parser of {old.path}: name the one to compare it with as well. The run has "
            f"{others}."
        )
    return Path(first)


def _two_parsers(run: Run, a: str, b: str, protocol: str | None, *, slices: bool, report: bool) -> None:
    from parsemark.report import build_report
    from parsemark.report.comparison_text import (
        comparison_markdown,
        errors_markdown,
        side_by_side,
        slices_markdown,
    )
    from parsemark.verdicts.comparison import compare_parsers, slice_differences
    from parsemark.verdicts.error_types import errors_beside

    comparison = compare_parsers(run, a, b, protocol)
    if report:
        build_report(run.path, run.path / "report")
    summary = run.summary(protocol)
    typer.echo(comparison_markdown(comparison), nl=False)
    (line,) = errors_markdown(f"{b} → {a}", errors_beside(run, summary.protocol, a, b))
    typer.echo(f"\n{line}")
    if slices:
        typer.echo(slices_markdown(slice_differences((summary, a), (summary, b)), a, b), nl=False)
    _say_of_which(summary)
    typer.echo("\n" + side_by_side(run, comparison), nl=False)


def _two_runs(
    old: Run, new: Run, protocol: str | None, fail_below: float | None, *, slices: bool, report: bool
) -> None:
    from parsemark.report import build_report
    from parsemark.report.comparison_text import errors_markdown, runs_markdown, side_by_side, slices_markdown
    from parsemark.verdicts.comparison import compare_runs, slice_differences
    from parsemark.verdicts.error_types import errors_between

    result = compare_runs(old, new, protocol)
    if report:
        build_report(new.path, new.path / "report", against=old.path)
    typer.echo(runs_markdown(result, fail_below), nl=False)
    shared = [comparison.a.removesuffix(" (new)") for comparison in result.comparisons]
    summary, before = new.summary(result.protocol), old.summary(result.protocol)
    for parser, changes in errors_between(old, new, summary.protocol, shared).items():
        typer.echo("\n" + "\n".join(errors_markdown(parser, changes)))
        if slices:
            found = slice_differences((summary, parser), (before, parser))
            typer.echo(slices_markdown(found, "new", "old"), nl=False)
    _say_of_which(summary)
    changed = sorted(result.comparisons, key=lambda c: math.inf if c.gain is None else c.gain)
    typer.echo("\n" + side_by_side(new, changed[0], older=old.path), nl=False)
    if fail_below is not None and result.drops(fail_below):
        raise typer.Exit(1)


def _say_of_which(summary: Summary) -> None:
    typer.echo(f"\nFigures of {summary.protocol}.")
    for note in summary.notes:
        typer.echo(f"\nNote: {note}")
