"""`parsemark parse`: run parsers and store what they return."""

from __future__ import annotations

import typer

from parsemark import api
from parsemark.cli import options as opt
from parsemark.plain_words import counted


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
) -> None:
    """Run parsers over a corpus and store what they return, to be scored with `parsemark score`."""
    from rich.console import Console

    from parsemark.cli import running
    from parsemark.cli.progress import progress_for

    console = Console()
    how = api.parse_options(
        pages=pages,
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        max_cost_usd=max_cost,
        cache=cache,
        executor=executor,
        address=address,
        protocols=protocol,
        command=running.command_line(),
    )
    events = progress_for(console)
    with running.stoppable(console, events):
        run = api.parse(
            running.load(corpus, strict=strict), parser, how, out=out, overwrite=overwrite, events=events
        )
    n_failed, pages = sum(events.n_failed.values()), counted(sum(events.n_done.values()), "page")
    console.print(
        f"{pages} in {run.path}, {n_failed} failed",
        highlight=False,
        markup=False,
    )
    console.print(
        f"Score them with: parsemark score {run.path}", highlight=False, markup=False, soft_wrap=True
    )
    running.require_some_success(run, events.n_pages, console)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(parse)
