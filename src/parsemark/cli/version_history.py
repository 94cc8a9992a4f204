"""`parsemark history`, `bisect`, `repro`, `badge`: for authors of parsers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import api, version_history
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.errors import UsageError
from parsemark.system import write_text

if TYPE_CHECKING:
    from parsemark.store import Run
    from parsemark.verdicts.bisection import Bisection

Parser = Annotated[str, Argument(help="A parser, with settings: camelot(flavor=stream), or worker.py.")]
Pre = Annotated[bool, Option("--pre", help="Also releases before the final ones.")]


def history(
    parser: Parser,
    *,
    corpus: opt.Corpus = api.CORPUS,
    releases: Annotated[int, Option(min=0, help="The newest; 0: only --also.")] = version_history.RELEASES,
    also: Annotated[
        list[str] | None, Option(help="Another spec beside them, such as your own version. Repeat it.")
    ] = None,
    pre: Pre = False,
    pages: opt.Pages = None,
    protocol: opt.Protocols = None,
    workers: opt.Workers = None,
    out: Annotated[Path | None, Option("--out", "-o", help="Run directory.")] = None,
    report: Annotated[bool, Option(help="Write the HTML report, with a chart of every figure.")] = True,
) -> None:
    """How did a parser do over its releases, and where did it really change? Pipes get Markdown.

    Every figure, CPU time, memory and installed size. A release that cannot be installed here is said and
    left out.
    """
    from rich.console import Console

    from parsemark.report.history_page import history_markdown

    console = Console(stderr=True)
    with running.stoppable(console) as events:
        several = {"also": also or (), "protocols": protocol}
        found, run = opt.fill(version_history.history, locals(), corpus=running.load(corpus), **several)
    terminal = Console()
    typer.echo(history_markdown(found, terminal.width if terminal.is_terminal else None), nl=False)
    if report:
        page = api.build_report(run)
        typer.echo(f"\nCharts and pages side by side: {page.with_name('versions.html')}")


def bisect(
    parser: Parser,
    *,
    good: Annotated[str, Option(help="A release or commit that is good.")],
    bad: Annotated[str, Option(help="One that is bad.")],
    page: Annotated[str | None, Option(help="A page of the corpus; by default all.")] = None,
    figure: Annotated[str | None, Option(help="What got worse.", show_default="primary")] = None,
    command: Annotated[
        str | None,
        Option(help="Decides instead: exit code 0 is good, 125 skips; `python` is that of the version."),
    ] = None,
    repo: Annotated[
        Path | None, Option(help="Look among the commits of this repository; it is not touched.")
    ] = None,
    corpus: opt.Corpus = api.CORPUS,
    drop: Annotated[float, Option(min=0, help="How much worse is still good.")] = 0.0,
    pre: Pre = False,
    protocol: Annotated[str | None, Option(help="Whose figure.", show_default="tables")] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/bisect-NAME")
    ] = None,
) -> None:
    """Which release, or commit, broke a page? As few versions as can be are installed and run.

    `parsemark bisect pdfplumber --good 0.10.0 --bad 0.11.4 --page demo-0003-p1`. Exit code 1 where nothing
    broke.
    """
    from rich.console import Console

    from parsemark.cli.progress import progress_for
    from parsemark.report.history_page import bisection_words

    with progress_for(Console(stderr=True)) as events:
        found, run = opt.fill(version_history.bisect, locals())
    what = "the command" if command is not None else page or "the corpus"
    for probe in found.probes:
        if probe.state == "skipped":
            typer.echo(f"Skipped: {probe.why}", err=True)
    typer.echo(bisection_words(parser, found, what))
    if run is not None and found.first_bad is not None:
        _show_both(run, parser, found)
    if found.first_bad is None:
        raise typer.Exit(1)


def _show_both(run: Run, parser: str, found: Bisection) -> None:
    """Both outputs: as a difference here, and beside the truth in the report."""
    from parsemark.parsers import get_parser
    from parsemark.parsers.catalogue import with_version
    from parsemark.report.comparison_text import side_by_side
    from parsemark.report.repro import output_difference
    from parsemark.verdicts.comparison import compare_parsers

    ends = (found.last_good, found.first_bad or found.last_good)
    good, bad = (get_parser(with_version(parser, version)).name for version in ends)
    typer.echo(output_difference(run, good, bad), nl=False)
    page = api.build_report(run)
    try:
        typer.echo(side_by_side(run, compare_parsers(run, bad, good)), nl=False)
    except UsageError:  # without a truth no figure compares them, but their pages can be looked at
        typer.echo(f"Report: {page}")


def repro(
    run: Annotated[Path, Argument(help="A run directory.")],
    parser: Annotated[str, Argument(help="A parser of the run; a script also by its path.")],
    sample: Annotated[str, Argument(help="A page of the run.")],
    *,
    shrink: Annotated[
        bool, Option("--shrink", help="Remove what is on the page while the parser fails as before.")
    ] = False,
    out: Annotated[
        Path | None, Option("--out", "-o", help="New folder.", show_default="repro-PARSER-SAMPLE")
    ] = None,
) -> None:
    """Put what shows a failure into one folder: page, truth, output, differences, and the command."""
    from parsemark.report.repro import write_repro
    from parsemark.store import Run

    for path in write_repro(Run.open(run), parser, sample, out, shrink=shrink):
        typer.echo(path)


def badge(
    run: Annotated[Path, Argument(help="A scored run.")],
    *,
    parser: Annotated[str | None, Option(help="Of the run, where it has several.")] = None,
    figure: Annotated[str | None, Option(help="Of the run's protocol.", show_default="primary")] = None,
    link: Annotated[str | None, Option(help="Where the badge leads: the address of the bundle.")] = None,
    bundle: Annotated[
        Path | None, Option(help="The bundle: it is verified, and must have the figures of the run.")
    ] = None,
    out: Annotated[Path, Option("--out", "-o", help="The SVG file.")] = Path("badge.svg"),
) -> None:
    """Write a badge: score with interval, corpus and its hash, matching rule, link to the bundle."""
    from parsemark.report.badge import badge_svg
    from parsemark.store import Run

    write_text(out, badge_svg(Run.open(run), parser, figure, link=link, bundle=bundle))
    typer.echo(out)
