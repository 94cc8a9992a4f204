"""`parsemark compare` and `gate`: is A better than B, and is a run good enough for continuous integration?"""

from __future__ import annotations

import math
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark.cli.options import fill
from parsemark.errors import UsageError
from parsemark.system.files import write_text

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
