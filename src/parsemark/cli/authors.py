"""`parsemark history`, `bisect`, `stable`, `repro`, `badge`: for authors of parsers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsemark import api, authors
from parsemark.cli import options as opt
from parsemark.plain_words import counted, percent, rounded

if TYPE_CHECKING:
    from rich.table import Table

    from parsemark.protocols import Figure
    from parsemark.store import Run
    from parsemark.verdicts.bisection import Bisection
    from parsemark.verdicts.stability import Stability

_MOST_REASONS = 10
Parser = Annotated[str, typer.Argument(help="A parser, with settings: camelot(flavor=stream), or worker.py.")]
Pre = Annotated[bool, typer.Option("--pre", help="Also releases before the final ones.")]


def history(
    parser: Parser,
    *,
    corpus: opt.Corpus = api.CORPUS,
    releases: Annotated[int, typer.Option(min=1, help="How many, the newest.")] = authors.RELEASES,
    also: Annotated[
        list[str] | None, typer.Option(help="Another spec beside them, such as your own version. Repeat it.")
    ] = None,
    pre: Pre = False,
    pages: opt.Pages = None,
    protocol: opt.Protocols = None,
    workers: opt.Workers = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Run directory.")] = None,
    report: Annotated[bool, typer.Option(help="Write the HTML report, with a chart of every figure.")] = True,
) -> None:
    """How did a parser do over its releases, and where did it really change? Pipes get Markdown.

    Every figure, CPU time, memory and installed size. A release that cannot be installed here is said and
    left out.
    """
    from rich.console import Console

    from parsemark.cli import running
    from parsemark.report.history_page import history_markdown

    console = Console(stderr=True)
    with running.stoppable(console) as events:
        found, run = authors.history(
            parser,
            running.load(corpus),
            releases=releases,
            also=also or (),
            pre=pre,
            pages=pages,
            protocols=protocol,
            workers=workers,
            out=out,
            events=events,
        )
    terminal = Console()
    typer.echo(history_markdown(found, terminal.width if terminal.is_terminal else None), nl=False)
    if report:
        page = api.build_report(run)
        typer.echo(f"\nCharts and pages side by side: {page.with_name('versions.html')}")


def bisect(
    parser: Parser,
    *,
    good: Annotated[str, typer.Option(help="A release or commit that is good.")],
    bad: Annotated[str, typer.Option(help="One that is bad.")],
    page: Annotated[str | None, typer.Option(help="A page of the corpus; by default all.")] = None,
    figure: Annotated[str | None, typer.Option(help="What got worse.", show_default="primary")] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="Decides instead: exit code 0 is good, 125 skips; `python` is that of the version."
        ),
    ] = None,
    repo: Annotated[
        Path | None, typer.Option(help="Look among the commits of this repository; it is not touched.")
    ] = None,
    corpus: opt.Corpus = api.CORPUS,
    drop: Annotated[float, typer.Option(min=0, help="How much worse is still good.")] = 0.0,
    pre: Pre = False,
    protocol: Annotated[str | None, typer.Option(help="Whose figure.", show_default="tables")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory.", show_default="runs/bisect-NAME")
    ] = None,
) -> None:
    """Which release, or commit, broke a page? As few versions as can be are installed and run.

    `parsemark bisect pdfplumber --good 0.10.0 --bad 0.11.4 --page demo-0003-p1`. Exit code 1 where nothing
    broke.
    """
    from rich.console import Console

    from parsemark.cli.progress import progress_for
    from parsemark.report.history_page import bisection_words

    console = Console(stderr=True)
    with progress_for(console) as events:
        found, run = authors.bisect(
            parser,
            good,
            bad,
            corpus=corpus,
            page=page,
            figure=figure,
            command=command,
            repo=repo,
            drop=drop,
            pre=pre,
            protocol=protocol,
            out=out,
            events=events,
        )
    what = "the command" if command is not None else page or "the corpus"
    for probe in found.probes:
        if probe.state == "skipped":
            typer.echo(f"Skipped: {probe.why}", err=True)
    typer.echo(bisection_words(parser, found, what))
    if run is not None and found.first_bad is not None:
        _show_both(run, parser, found)
    if found.first_bad is None:
        raise typer.Exit(1)


def stable(
    *,
    corpus: opt.Corpus = api.CORPUS,
    parser: opt.Parsers = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="Repeatable: again, threads, objects, painting, streams, fonts, split, claim, …"),
    ] = None,
    pages: opt.Pages = None,
    protocol: opt.Protocols = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory.", show_default="runs/stable-CORPUS")
    ] = None,
) -> None:
    """Does a parser say the same of the same visible page, however its file is written?

    Pages are rewritten in ten ways that nobody sees. The table says how many move in score, or change in
    words or tables; every row is in OUT/stability.parquet.
    """
    from parsemark.cli import running
    from parsemark.cli.printing import page_progress, plain_console

    console = plain_console()
    with running.stoppable(console) as events, page_progress("Rewriting pages", None) as progress:
        found, run = authors.stable(
            running.load(corpus),
            parser,
            variants=variant or (),
            pages=pages,
            protocols=protocol,
            workers=workers,
            timeout_s=timeout_s,
            memory_mb=memory_mb,
            out=out,
            events=events,
            progress=progress,
        )
    for part in _stability_parts(found):
        console.print(part)
    console.print(f"\nAll figures: {run.path / 'stability.json'}", soft_wrap=True)


def _stability_parts(found: Stability) -> Iterator[Table | str]:
    """Who is steady, which variants move whom, and what was left out."""
    from parsemark.cli.printing import plain_table

    rows = []
    for own in found.parsers:
        worst = own.worst
        said = "" if worst is None else f"{worst.sample}, {worst.variant}"
        shares = (_share(own.moved), _share(own.changed))
        rows.append([own.parser, *shares, "" if worst is None else rounded(worst.move, 2), said])
    score = found.figure or "likeness"
    yield plain_table(("parser", f"{score} moves", "output changes", "worst move", "page and variant"), rows)
    names = list(dict.fromkeys(name for own in found.parsers for name in own.by_variant()))
    by_variant = [
        [name, *("/".join(map(str, own.by_variant()[name])) for own in found.parsers)] for name in names
    ]
    yield "\nPages that move / whose output changes / all, by variant:"
    yield plain_table(("variant", *(own.parser for own in found.parsers)), by_variant)
    left_out = Counter((one.variant, one.why) for one in found.left_out)
    for (name, why), n in left_out.most_common(_MOST_REASONS):
        yield f"Left out: {name} of {counted(n, 'page')}: {why}."


def _share(figure: Figure) -> str:
    between = "–".join(percent(end).removesuffix(" %") for end in figure.interval or ())
    return f"{percent(figure.value)} [{between}]" if between else percent(figure.value)


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
    api.build_report(run)
    typer.echo(side_by_side(run, compare_parsers(run, bad, good)), nl=False)


def repro(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    parser: Annotated[str, typer.Argument(help="A parser of the run.")],
    sample: Annotated[str, typer.Argument(help="A page of the run.")],
    *,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Remove what is on the page while the parser fails as before.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="New folder.", show_default="repro-PARSER-SAMPLE")
    ] = None,
) -> None:
    """Put what shows a failure into one folder: page, truth, output, differences, and the command."""
    from parsemark.report.repro import write_repro
    from parsemark.store import Run

    for path in write_repro(Run.open(run), parser, sample, out, shrink=shrink):
        typer.echo(path)


def badge(
    run: Annotated[Path, typer.Argument(help="A scored run.")],
    *,
    parser: Annotated[str | None, typer.Option(help="Of the run, where it has several.")] = None,
    figure: Annotated[str | None, typer.Option(help="Of the run's protocol.", show_default="primary")] = None,
    link: Annotated[
        str | None, typer.Option(help="Where the badge leads: the address of the bundle.")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(help="The bundle: it is verified, and must have the figures of the run.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The SVG file.")] = Path("badge.svg"),
) -> None:
    """Write a badge: score with interval, corpus and its hash, matching rule, link to the bundle."""
    from parsemark.report.badge import badge_svg
    from parsemark.store import Run
    from parsemark.system import write_text

    write_text(out, badge_svg(Run.open(run), parser, figure, link=link, bundle=bundle))
    typer.echo(out)
