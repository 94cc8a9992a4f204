"""`parsemark bench` and `try`: run parsers on a corpus, or on one file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from parsemark import api, corpus_calls
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import is_quiet, plain_console, say, warning
from parsemark.cli.stable import repeat_parts
from parsemark.cli.trial import print_trial
from parsemark.errors import UsageError
from parsemark.plain_words import counted, unbroken

if TYPE_CHECKING:
    from rich.console import Console


def bench(
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    parsers: opt.Parsers = None,
    protocols: opt.Protocols = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    max_cost: opt.MaxCost = None,
    cpu_hour_usd: opt.CpuHourUsd = None,
    out: opt.Out = None,
    executor: opt.Executor = api.EXECUTOR,
    cache: opt.Cache = True,
    repeats: Annotated[
        int,
        Option(
            min=1,
            help="Number of times to parse each page. With 2 or more, the cache is not used and scores are "
            "means over the repeats.",
        ),
    ] = 1,
    scaling: Annotated[
        bool,
        Option(help="Also measure how speed depends on the number of workers and on document length."),
    ] = False,
    overwrite: opt.Overwrite = False,
    strict: opt.Strict = False,
    score: Annotated[
        bool, Option(help="Score the outputs. With --no-score, only store them for `parsemark score`.")
    ] = True,
    report: Annotated[bool, Option(help="Write the HTML report.")] = True,
    route: Annotated[
        Path | None,
        Option(help="Routing rule from `choose --route`: run the parser that it selects for each page."),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Run parsers on a corpus; print a leaderboard and write an HTML report.

    The leaderboard shows scores with 95 % confidence intervals, failures and CPU time; the report also shows
    memory. If the leader is not significantly better than another parser, the output states how many more
    documents would give an even chance of a significant difference. The same command resumes an interrupted
    run.

    Truth is the correct content of a page. Its files are named after the PDF: `report.md`, or
    `report.p3.html` for page 3. If no page has truth, the protocol `evidence` compares the outputs with the
    PDFs.

    Example: parsemark bench my-documents/ --parser pdfplumber --parser camelot

    Example: parsemark bench --protocol "tables(match=content,rank_by=teds)"
    """
    console = running.result_console(as_json=as_json)
    running.offer_weights(parsers)
    with running.stoppable(console) as events:
        loaded = running.load(corpus_too or corpus, strict=strict)
        run = opt.fill(api.bench, locals(), corpus=loaded)
    if not score:
        n_failed, done = sum(events.n_failed.values()), counted(sum(events.n_done.values()), "page")
        console.print(f"{done} in {run.path}, {n_failed} failed")
        if not is_quiet():
            console.print(
                f"Outputs as files: parsemark export {run.path} --format outputs-md\n"
                f"Score them with: parsemark score {run.path}",
                soft_wrap=True,
            )
        running.require_some_success(run, events.n_pages, console)
        return
    summaries = running.show_summaries(run, None, console, cpu_hour_usd, as_json=as_json)
    if repeats > 1 and not is_quiet():
        for part in repeat_parts(api.repeats_of(run)):
            console.print(part)
    if report:
        page = api.build_report(run)
        if not is_quiet():
            console.print(f"\nReport: {page}", soft_wrap=True)
    running.require_some_success(run, events.n_pages, console)
    running.require_answers(summaries, console)


def try_file(
    file: Annotated[
        Path,
        Argument(
            metavar="FILE",
            help="PDF to parse. DOCX and HTML also work if you give one page and one --parser that reads "
            "that format.",
        ),
    ],
    *,
    parsers: Annotated[
        list[str] | None,
        Option("--parser", "-p", help="Parser to run; repeatable.", show_default="all that are installed"),
    ] = None,
    pages: Annotated[str, Option(help=opt.PAGES)] = api.TRY_PAGES,
    timeout_s: opt.TimeoutS = api.TRY_TIMEOUT_S,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/try-FILE")
    ] = None,
    browser: opt.Browser = True,
) -> None:
    """Run all installed parsers on one file and show their outputs side by side. No truth is needed.

    With one --parser and one page, its tables, worker messages and any traceback are printed. A worker
    is the script that runs a parser.

    Example: parsemark try report.pdf

    Example: parsemark try report.pdf --parser my_worker.py --pages 3-3
    """
    import webbrowser

    if not file.is_file():
        raise UsageError(f"{file} is not a file; give one document. For a folder: parsemark choose {file}")
    running.offer_weights(parsers)
    if parsers is not None and len(parsers) == 1 and (page := _one_page(pages)) is not None:
        print_trial(parsers[0], file, page, timeout_s)
        return
    console = plain_console()
    loaded = running.load(f"folder:{file}")
    with running.stoppable(console) as events:
        run = opt.fill(api.try_, locals())
    _say_failures(run, loaded, file, parsers or (), console)
    page_path = run.path / "try.html"
    console.print(f"Side by side: {page_path}", soft_wrap=True)
    if browser and console.is_terminal:
        webbrowser.open(page_path.resolve().as_uri())


def _say_failures(
    run: api.Run, corpus: api.Corpus, file: Path, parsers: Sequence[str], console: Console
) -> None:
    """Print why parsers failed, each with its first page, and the command that shows the traceback."""
    failed: dict[str, Any] = {}
    for record in run.records():
        if record.status not in ("ok", "no_prediction"):
            failed.setdefault(record.parser, record)
    specs = {Path(spec).stem: spec for spec in parsers}  # a script is named by its path
    numbers = {sample: page for sample, _, page, _ in corpus_calls.page_list(corpus)[0]} if failed else {}
    for parser, record in failed.items():
        page = numbers[record.sample]
        say(console, warning(f"{parser} failed on page {page}: {unbroken(record.error or record.status)}"))
        again = shlex.join(
            [
                "parsemark",
                "try",
                str(file),
                "--parser",
                specs.get(parser, parser),
                "--pages",
                f"{page}-{page}",
            ]
        )
        console.print(f"  {again}", soft_wrap=True)


def _one_page(pages: str) -> int | None:
    """Return the number of the page where `--pages` names exactly one, as `3-3` or `1` do."""
    first, _, last = pages.partition("-")
    if pages == "1" or (first.isdigit() and first == last):
        return int(first)
    return None
