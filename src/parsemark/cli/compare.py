"""`parsemark compare` and `gate`: is A better than B, and is a run good enough for continuous integration?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli.printing import answer, is_verbose, say_json
from parsemark.errors import UsageError
from parsemark.system.files import write_text


def compare(
    run: opt.RunArgument,
    first: Annotated[
        str | None,
        Argument(help="First parser to compare. Or an older run, as with --old."),
    ] = None,
    second: Annotated[str | None, Argument(help="Second parser.")] = None,
    *,
    old: opt.Old = None,
    protocol: opt.Protocol = None,
    fail_below: Annotated[
        float | None,
        Option(
            help="With two runs: exit code 1 if the new run is significantly worse and its difference is "
            "below this value, such as -0.01."
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Compare two parsers of a run, or two runs: difference, interval and types of errors, in Markdown.

    The result counts the pages that are fixed, regressed, still failing and unchanged.

    Runs with different pages, corpora or scoring rules are not compared (exit code 2). The last lines link
    to the report, which shows both outputs beside the truth with the differing cells marked.

    Example: parsemark compare runs/demo pdfplumber camelot

    Example: parsemark compare runs/new --old runs/old --fail-below -0.01
    """
    from parsemark.report import comparison_text as text

    if second is not None and fail_below is not None:
        raise UsageError("--fail-below needs two runs: RUN --old OLD.")
    found: Any = opt.fill(api.compare, locals())
    if as_json:
        say_json("compare", found)
    elif second is not None and old is None:
        answer(text.parsers_text(api.load_run(run), found, protocol, slices=is_verbose()))
    else:
        both = api.load_run(old or Path(str(first))), api.load_run(run)
        answer(text.two_runs_text(*both, found, fail_below, slices=is_verbose()))
    if fail_below is not None and found.drops(fail_below):
        raise typer.Exit(1)


def gate(
    run: opt.RunArgument,
    old_too: opt.OldToo = None,
    *,
    old: opt.Old = None,
    minimum: Annotated[
        list[str] | None,
        Option(
            "--min",
            metavar="[SCORE=]VALUE",
            help="Required score: a minimum, or a maximum where lower is better; repeatable. VALUE alone "
            "applies to the primary score, by which the leaderboard is sorted.",
        ),
    ] = None,
    max_drop: Annotated[
        float | None, Option(min=0, help="Maximum allowed drop in the primary score, significant or not.")
    ] = None,
    interval: Annotated[
        bool, Option("--interval/--no-interval", help="Fail on a statistically significant drop.")
    ] = True,
    regressions: Annotated[
        bool,
        Option(
            "--regressions/--no-regressions",
            help="Fail if the pages that got worse are more than twice as many as those that got better. "
            "The same rule applies to lost and newly found tables, and for each type of error to pages with "
            "more and with fewer such errors.",
        ),
    ] = True,
    max_failures: Annotated[
        int, Option(min=0, help="Maximum number of pages that newly fail or return nothing.")
    ] = 0,
    max_lost_tables: Annotated[
        int | None,
        Option(
            min=0, help="Maximum number of tables of the truth that the old run found and the new one missed."
        ),
    ] = None,
    max_page_drop: Annotated[
        float | None, Option(min=0, help="Maximum allowed drop in the primary score on any page.")
    ] = None,
    max_slowdown: Annotated[
        float | None, Option(min=1, help="Maximum ratio of CPU time, new to old, such as 1.1.")
    ] = None,
    time_again: Annotated[
        int,
        Option(
            min=0,
            metavar="PAGES",
            help="To measure time, parse this many pages again on this machine, alternating between the old "
            "and the new version of the parser.",
        ),
    ] = 0,
    max_memory: Annotated[
        float | None, Option(min=1, help="Maximum ratio of peak memory, new to old, such as 1.2.")
    ] = None,
    parsers: Annotated[
        list[str] | None, Option("--parser", "-p", help="Parser to check; repeatable.", show_default="all")
    ] = None,
    protocol: opt.Protocol = None,
    save: Annotated[
        Path | None, Option(help="Save the run as the new baseline in this folder if the gate passes.")
    ] = None,
    as_json: opt.Json = False,
    outs: Annotated[
        list[Path] | None,
        Option("--out", "-o", help="Also write the result to this file: .md or .xml (JUnit); repeatable."),
    ] = None,
    pictures: Annotated[
        Path | None, Option(help="Folder for pictures of the pages with the largest score drops.")
    ] = None,
    link: Annotated[str | None, Option(help="URL of the report's folder, used for links to pages.")] = None,
) -> None:
    """Check that a run is good enough and no worse than an old one. Exit code 1 if not.

    Pages that got worse are always listed. Exit code 2 if the old run is missing, or if pages, corpora or
    protocol versions differ. On GitHub, the action in action.yml runs this command (guide:
    docs/how-to/gate.md).

    Example: parsemark gate runs/new --old runs/old --max-drop 0.02 --max-lost-tables 0

    Example: parsemark gate runs/new --min te_f1_con=0.7
    """
    from parsemark.report.comparison_text import gate_annotations, gate_junit, gate_markdown, report_link
    from parsemark.report.worst_page_pictures import write_worst_pages

    old = old or old_too
    if old is not None and save is not None and not old.exists():
        typer.echo(f"The baseline {old} does not exist yet: only fixed limits are checked.", err=True)
    if wrong := [path for path in outs or () if path.suffix not in (".md", ".xml")]:
        raise UsageError(f"--out {wrong[0]}: the name must end in .md (Markdown) or .xml (JUnit).")
    result = opt.fill(api.gate, locals(), minimum=_values(minimum or (), run, protocol))
    opened = api.load_run(run)
    text = gate_markdown(result, report_link(opened, link))
    if as_json:
        say_json("gate", result)
    else:
        answer(text)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        typer.echo(gate_annotations(result), nl=False, err=as_json)
    for path in outs or ():
        write_text(path, gate_junit(result) if path.suffix == ".xml" else text)
    if pictures is not None:
        older = api.load_run(old) if old is not None and old.exists() else None
        for picture in write_worst_pages(opened, older, result.worse, pictures):
            typer.echo(f"Picture: {picture}", err=as_json)
    if not result.passed:
        raise typer.Exit(1)
    if save is not None:
        typer.echo(f"Baseline: {save}", err=as_json)


def _values(pairs: Sequence[str], run: Path, protocol: str | None) -> dict[str, float]:
    """Return the required values by score; a value alone is for the primary score of the protocol."""
    values = {}
    for pair in pairs:
        name, _, text = pair.rpartition("=")
        try:
            value = float(text)
            values[name.strip() or api.load_run(run).summary(protocol).primary] = value
        except ValueError as error:
            raise UsageError(f"--min {pair}: give a score and a number, as in te_f1_con=0.7.") from error
    return values
