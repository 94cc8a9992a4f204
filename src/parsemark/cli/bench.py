"""`parsemark bench`, `parse` and `try`: run parsers over a corpus or one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import UsageError
from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.protocols.document.component_scores import TaskResult


def bench(
    *,
    corpus: opt.Corpus = api.CORPUS,
    parser: opt.Parsers = None,
    protocol: opt.Protocols = None,
    match: opt.Match = None,
    metric: opt.Metrics = None,
    rank_by: opt.RankBy = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    max_cost: opt.MaxCost = None,
    out: opt.Out = None,
    executor: opt.Executor = api.EXECUTOR,
    address: opt.Address = None,
    cache: opt.Cache = True,
    overwrite: opt.Overwrite = False,
    strict: opt.Strict = False,
    report: Annotated[bool, Option(help="Write the HTML report.")] = True,
    task: Annotated[
        str | None,
        Option(help="Cut elements out of the pages and run parsers on these: ocr, table or formula."),
    ] = None,
) -> None:
    """Run parsers over a corpus and say who is best: leaderboard here, report in OUT/report.

    A run that was stopped goes on where it was when the same command is given again.
    """
    from parsemark.engine.scoring.score import score_run

    console = plain_console()
    specs = running.protocol_specs(protocol, match=match, metrics=metric, rank_by=rank_by)
    how = running.parse_options(locals(), protocols=specs)
    with running.stoppable(console) as events:
        loaded = running.load(corpus, strict=strict)
        if task is not None:
            if not parser:
                raise UsageError(
                    "--task needs the parsers that are to be run: --parser tesseract --parser rapidocr."
                )
            recipe = next(iter(protocol or ()), "document")
            made = api.bench_task(task, loaded, parser, how, out=out, protocol=recipe, events=events)
            _print_task(console, task, *made)
            return
        run = api.parse(loaded, parser, how, out=out, overwrite=overwrite, events=events)
        summaries = score_run(run, n_workers=workers, events=events, executor=executor, address=address)
    running.show_summaries(run, summaries, console)
    if report:
        from parsemark.report import build_report

        page = build_report(run.path, run.path / "report")
        console.print(f"\nReport: {page}", soft_wrap=True)
    running.require_some_success(run, events.n_pages, console)
    running.require_answers(summaries, console)


def _print_task(console: Console, task: str, folder: Path, results: dict[str, TaskResult]) -> None:
    """Compare what parsers made of the elements of a task, each cut out of its page."""
    from parsemark.protocols.document.component_scores import MEANINGS

    shown = list(dict.fromkeys(name for found in results.values() for name in found.figures))
    heads = [f"{name.replace('_', f'_{chr(10)}')} {MEANINGS.get(name, '')[:1]}" for name in shown]
    rows = [
        (parser, str(found.n), str(found.n_missing), *(rounded(value, 4) for value in found.figures.values()))
        for parser, found in results.items()
    ]
    console.print(plain_table(("parser", "crops", "empty", *heads), rows))
    console.print()
    for line in (f"{name}: {MEANINGS[name]}" for name in shown if name in MEANINGS):
        console.print(line, style="dim")
    for remark in dict.fromkeys(remark for found in results.values() for remark in found.remarks):
        console.print(f"Note: {remark}")
    console.print(f"What each made of the crops, for score --task {task} --predictions:")
    console.print(f"{folder}/PARSER.json", soft_wrap=True)


def parse(
    *,
    corpus: opt.Corpus = api.CORPUS,
    parser: opt.Parsers = None,
    protocol: opt.Protocols = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    max_cost: opt.MaxCost = None,
    out: opt.Out = None,
    executor: opt.Executor = api.EXECUTOR,
    address: opt.Address = None,
    cache: opt.Cache = True,
    overwrite: opt.Overwrite = False,
    strict: opt.Strict = False,
    route: Annotated[
        Path | None, Option(help="Rule of `choose --route`: which kind of page gets which parser.")
    ] = None,
) -> None:
    """Run parsers over a corpus and store what they return, to be scored with `parsemark score`."""
    console = plain_console()
    how = running.parse_options(locals(), protocols=protocol)
    with running.stoppable(console) as events:
        loaded = running.load(corpus, strict=strict)
        if route is not None and parser:
            raise UsageError("--route names the parsers: leave --parser out.")
        if route is not None:
            run = api.parse_routed(loaded, route, how, out=out, overwrite=overwrite, events=events)
        else:
            run = api.parse(loaded, parser, how, out=out, overwrite=overwrite, events=events)
    n_failed, done = sum(events.n_failed.values()), counted(sum(events.n_done.values()), "page")
    console.print(f"{done} in {run.path}, {n_failed} failed")
    console.print(
        f"Outputs as files: parsemark export {run.path} --outputs md (or html, csv, json)\n"
        f"Score them with: parsemark score {run.path}",
        soft_wrap=True,
    )
    running.require_some_success(run, events.n_pages, console)


def try_file(
    file: Annotated[Path, Argument(metavar="FILE.pdf", help="The document.")],
    *,
    parser: Annotated[
        list[str] | None,
        Option("--parser", "-p", help="As for `bench`.", show_default="all that are installed"),
    ] = None,
    pages: Annotated[str | None, Option(help=opt.PAGES, show_default="the first 5")] = "5",
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/try-FILE")
    ] = None,
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
) -> None:
    """Run all installed parsers on one file and show their outputs side by side; no truth is needed."""
    import webbrowser

    from parsemark.parsers import get_parser, parser_names
    from parsemark.report.try_page import write_try

    if not file.is_file():
        raise UsageError(f"{file} is no file; give one PDF. For a folder: parsemark choose folder:{file}")
    chosen = parser or [name for name in parser_names() if get_parser(name).state().kind == "ready"]
    console = plain_console()
    how = running.parse_options(locals(), protocols=None)
    folder = out or Path("runs") / f"try-{file.stem}"
    loaded = running.load(f"folder:{file}", strict=False)
    with running.stoppable(console) as events:
        run = api.parse(loaded, chosen or None, how, out=folder, events=events)
    page = write_try(run, loaded, run.path / "try.html")
    console.print(f"Side by side: {page}", soft_wrap=True)
    if browser and console.is_terminal:
        webbrowser.open(page.resolve().as_uri())
