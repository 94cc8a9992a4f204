"""`parsemark bench` and `try`: run parsers on a corpus, or on one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console
from parsemark.cli.stable import repeat_parts
from parsemark.cli.trial import print_trial
from parsemark.errors import UsageError
from parsemark.plain_words import counted


def bench(
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    parser: opt.Parsers = None,
    allow_local_builds: opt.AllowLocalBuilds = False,
    protocol: opt.Protocols = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    max_cost: opt.MaxCost = None,
    cpu_hour_usd: opt.CpuHourUsd = None,
    out: opt.Out = None,
    executor: opt.Executor = api.EXECUTOR,
    address: opt.Address = None,
    cache: opt.Cache = True,
    repeats: Annotated[
        int, Option(min=1, help="Number of parses per page, without the cache; scores are means.")
    ] = 1,
    overwrite: opt.Overwrite = False,
    strict: opt.Strict = False,
    score: Annotated[
        bool, Option(help="Score the outputs. With --no-score they are only stored, for `parsemark score`.")
    ] = True,
    report: Annotated[bool, Option(help="Write the HTML report.")] = True,
    route: Annotated[
        Path | None,
        Option(help="Rule written by `choose --route`: run its parser on each page."),
    ] = None,
) -> None:
    """Run parsers on a corpus; print a leaderboard and write an HTML report.

    CORPUS may be a folder of PDFs, Word or HTML files, one PDF, or `demo`. Where there is no truth, the
    protocol `evidence` compares the outputs with the PDFs. The same command resumes an interrupted run.

    Example: parsemark bench my-documents/ --parser pdfplumber --parser camelot

    Example: parsemark bench --protocol "tables(match=content,rank_by=teds)"
    """
    from parsemark.verdicts.stability import repeats_of

    console, corpus = plain_console(), corpus_too or corpus
    specs = running.canonical(protocol)
    how = running.parse_options(locals(), protocols=specs)
    if route is not None and parser:
        raise UsageError("--route names the parsers: leave --parser out.")
    with running.stoppable(console) as events:
        loaded = running.load(corpus, strict=strict)
        if route is not None:
            run = api.parse_routed(loaded, route, how, out=out, overwrite=overwrite, events=events)
        else:
            run = api.parse(loaded, parser, how, out=out, overwrite=overwrite, events=events)
        if score:
            from parsemark.engine.scoring.score import score_run

            summaries = score_run(run, n_workers=workers, events=events, executor=executor, address=address)
    if not score:
        n_failed, done = sum(events.n_failed.values()), counted(sum(events.n_done.values()), "page")
        console.print(f"{done} in {run.path}, {n_failed} failed")
        console.print(
            f"Outputs as files: parsemark export {run.path} --format outputs-md\n"
            f"Score them with: parsemark score {run.path}",
            soft_wrap=True,
        )
        running.require_some_success(run, events.n_pages, console)
        return
    running.show_summaries(run, summaries, console, cpu_hour_usd)
    if repeats > 1:
        for part in repeat_parts(repeats_of(run)):
            console.print(part)
    if report:
        from parsemark.report import build_report

        page = build_report(run.path, run.path / "report")
        console.print(f"\nReport: {page}", soft_wrap=True)
    running.require_some_success(run, events.n_pages, console)
    running.require_answers(summaries, console)


def try_file(
    file: Annotated[
        Path, Argument(metavar="FILE", help="The document: a PDF, or DOCX or HTML for parsers that read it.")
    ],
    *,
    parser: Annotated[
        list[str] | None,
        Option("--parser", "-p", help="Parser to run; repeatable.", show_default="all that are installed"),
    ] = None,
    allow_local_builds: opt.AllowLocalBuilds = False,
    pages: Annotated[str | None, Option(help=opt.PAGES, show_default="the first 5")] = None,
    workers: opt.Workers = None,
    timeout_s: opt.TrialTimeoutS = opt.TRIAL_TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/try-FILE")
    ] = None,
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
) -> None:
    """Run all installed parsers on one file and show their outputs side by side. No truth is needed.

    With a single --parser and a page number, that parser's tables are printed here, with all that its worker
    printed and the traceback of a failure.

    Example: parsemark try report.pdf

    Example: parsemark try report.pdf --parser my_worker.py --pages 3-3
    """
    import webbrowser

    from parsemark.parsers import get_parser, parser_names
    from parsemark.report.try_page import write_try

    if not file.is_file():
        raise UsageError(f"{file} is not a file; give one document. For a folder: parsemark choose {file}")
    if parser is not None and len(parser) == 1 and (page := _one_page(pages)) is not None:
        print_trial(parser[0], file, page, timeout_s)
        return
    chosen = parser or [name for name in parser_names() if get_parser(name).state().kind == "ready"]
    console = plain_console()
    how = running.parse_options({**locals(), "pages": pages or "5"}, protocols=None)
    folder = out or Path("runs") / f"try-{file.stem}"
    loaded = running.load(f"folder:{file}", strict=False)
    with running.stoppable(console) as events:
        run = api.parse(loaded, chosen or None, how, out=folder, events=events)
    page_path = write_try(run, loaded, run.path / "try.html")
    console.print(f"Side by side: {page_path}", soft_wrap=True)
    if browser and console.is_terminal:
        webbrowser.open(page_path.resolve().as_uri())


def _one_page(pages: str | None) -> int | None:
    """Return the number of the page where `--pages` names exactly one, as `3-3` or `1` do."""
    first, _, last = (pages or "").partition("-")
    if pages == "1" or (first.isdigit() and first == last):
        return int(first)
    return None
