"""`parsemark history` and `bisect`: the versions of a parser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from parsemark import api, version_history
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import say_json
from parsemark.errors import UsageError

if TYPE_CHECKING:
    from parsemark.api import Run
    from parsemark.version_history import Bisection

Parser = Annotated[
    str,
    Argument(
        help="Name of a parser, a name with options such as `camelot(flavor=stream)`, or the path of a "
        "worker script."
    ),
]


def history(
    parser: Parser,
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    releases: Annotated[
        int,
        Option(
            min=0,
            help="Number of releases to compare, starting with the newest. With 0, only the parsers given by "
            "--also are compared.",
        ),
    ] = version_history.RELEASES,
    also: Annotated[
        list[str] | None, Option(help="Another parser to compare with, such as your own version; repeatable.")
    ] = None,
    pre: Annotated[bool, Option("--pre", help="Include pre-releases.")] = False,
    pages: opt.Pages = None,
    protocols: opt.TableProtocols = None,
    workers: opt.Workers = None,
    out: Annotated[Path | None, Option("--out", "-o", help="Run directory.")] = None,
    as_json: opt.Json = False,
) -> None:
    """Compare scores, CPU time, memory and size of a parser's releases, and mark significant changes.

    Releases that cannot be installed here are reported and skipped. Piped output is Markdown.

    Example: parsemark history pdfplumber my-documents/ --releases 6
    """
    from rich.console import Console

    from parsemark.report.history_page import history_markdown

    console = Console(stderr=True)
    with running.stoppable(console) as events:
        loaded = running.load(corpus_too or corpus)
        found, run = opt.fill(version_history.history, locals(), corpus=loaded, also=also or ())
    terminal = Console()
    if as_json:
        say_json("history", found)
    else:
        typer.echo(history_markdown(found, terminal.width if terminal.is_terminal else None), nl=False)
    page = api.build_report(run)
    typer.echo(f"\nCharts and pages side by side: {page.with_name('versions.html')}", err=as_json)


def bisect(
    parser: Parser,
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    good: Annotated[str, Option(help="A release or commit known to be good.")],
    bad: Annotated[str, Option(help="A release or commit known to be bad.")],
    page: Annotated[str | None, Option(help="Page to compare.", show_default="all")] = None,
    score: Annotated[
        str | None, Option(help="Score that got worse.", show_default="the primary score")
    ] = None,
    command: Annotated[
        str | None,
        Option(
            help="Command that tests a version. Exit code 0: the version is good; 125: it is skipped; any "
            "other: it is bad. In the command, `python` is the interpreter of that version's environment."
        ),
    ] = None,
    repo: Annotated[
        Path | None, Option(help="Search the commits of this repository; it is not modified.")
    ] = None,
    drop: Annotated[float, Option(min=0, help="Largest drop in the score that still counts as good.")] = 0.0,
    protocol: Annotated[str | None, Option(help="Protocol of the score.", show_default="tables")] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/bisect-NAME")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Find the release or commit that broke a page, installing as few versions as possible.

    Pre-releases are tried only if --good or --bad is one. Exit code 1 if nothing broke. To save a failure as
    a folder, run `parsemark export RUN --format failure`.

    Example: parsemark bisect pdfplumber --good 0.10.0 --bad 0.11.4 --page demo-0003-p1
    """
    from rich.console import Console

    from parsemark.cli.progress import progress_for
    from parsemark.report.history_page import bisection_words

    corpus = corpus_too or corpus
    with progress_for(Console(stderr=True)) as events:
        found, run = opt.fill(version_history.bisect, locals())
    what = "the command" if command is not None else page or "the corpus"
    for probe in found.probes:
        if probe.state == "skipped":
            typer.echo(f"Skipped: {probe.why}", err=True)
    if as_json:
        say_json("bisect", found)
    else:
        typer.echo(bisection_words(parser, found, what))
    if not as_json and run is not None and found.first_bad is not None:
        _show_both(run, parser, found)
    if found.first_bad is None:
        raise typer.Exit(1)


def _show_both(run: Run, parser: str, found: Bisection) -> None:
    """Print the difference of both outputs, and a link to both beside the truth in the report."""
    from parsemark.report.comparison_text import side_by_side
    from parsemark.report.repro import output_difference

    good, bad = version_history.names_of(parser, found)
    typer.echo(output_difference(run, good, bad), nl=False)
    page = api.build_report(run)
    try:
        found_between: Any = api.compare(run, bad, good)
        typer.echo(side_by_side(run, found_between), nl=False)
    except UsageError:  # without truth they have no scores to compare, but their pages can be viewed
        typer.echo(f"Report: {page}")
