"""`parsemark choose`: which parser for one's own documents?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress, plain_console, plain_table
from parsemark.plain_words import rounded, signed
from parsemark.system.files import write_bytes

if TYPE_CHECKING:
    from rich.table import Table

    from parsemark.choose import Choice


CHOICE = "choice.json"


def choose(
    corpus: Annotated[str, Argument(metavar="CORPUS", help="Folder of documents, or any other corpus.")],
    *,
    labels: Annotated[int, Option(min=0, help="Maximum number of new pages to label.")] = 10,
    parser: opt.Parsers = None,
    allow_local_builds: opt.AllowLocalBuilds = False,
    protocol: Annotated[str, Option(help="Protocol whose primary score decides.")] = "tables",
    cpu_hour_usd: opt.CpuHourUsd = None,
    out: opt.Out = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    cache: opt.Cache = True,
    strict: opt.Strict = False,
    seed: Annotated[int, Option(help="Random seed of the labelling order.")] = 0,
    skip: Annotated[list[str] | None, Option(help="Page not to label; repeatable.")] = None,
    route: Annotated[
        Path | None,
        Option(help="File for a rule, learned from the labels, that assigns parsers to page types."),
    ] = None,
    annotate: Annotated[
        bool, Option("--annotate", help="Open `annotate` on the pages to label (folders only).")
    ] = False,
) -> None:
    """Find the best parser for documents without truth, with as few labels as possible.

    Runs the parsers, estimates their quality from the agreement of independent ones, and lists the most
    informative pages to label. Label them (`parsemark annotate`, or truth files beside the PDFs) and repeat
    the command. Nothing is parsed twice; the result then has a confidence interval.

    Example: parsemark choose my-documents/ --labels 10
    """
    from parsemark import choose as room
    from parsemark.engine.scoring.score import score_run
    from parsemark.report.choice_page import write_choice

    console = plain_console()
    how = running.parse_options(locals(), protocols=[protocol])
    loaded = running.load(corpus, strict=strict)
    with running.stoppable(console) as events:
        run = api.parse(loaded, parser, how, out=out, events=events)
        score_run(run, n_workers=workers, events=events)
    running.say_old_report(run, console)
    with page_progress("Comparing outputs", len(run.table("samples"))) as progress:
        choice = room.choose(
            run,
            corpus=loaded,
            protocol=how.protocols[0],
            budget=labels,
            seed=seed,
            skip=skip or (),
            begun_with=room.begun_with(run.path / CHOICE),
            cpu_hour_usd=cpu_hour_usd,
            progress=progress,
        )
    console.print(_table(choice))
    for line in (*room.in_words(choice), *choice.notes, "", *room.next_step(choice, corpus, str(run.path))):
        # A command is to be copied: it stays on one line, however long.
        console.print(line, soft_wrap=line.startswith("  "))
    if route is not None:
        routing = room.route_run(run, choice, skip=skip or (), seed=seed)
        room.write_route(routing, route)
        follow = f"  parsemark bench {shlex.quote(corpus)} --no-score --route {shlex.quote(str(route))}"
        for line in ("", *routing.in_words(), "Follow it:", follow):
            console.print(line, soft_wrap=line.startswith("  "))
    write_bytes(run.path / CHOICE, room.as_json(choice).encode())
    page = write_choice(choice, corpus, run.path)
    console.print(f"\nReport: {page}\nAll numbers: {run.path / CHOICE}", soft_wrap=True)
    if annotate and choice.next_pages and not choice.certain:
        from parsemark.cli.web_apps import annotate as open_annotate

        open_annotate(corpus, run=[run.path], page=list(choice.next_look))


def _table(choice: Choice) -> Table:
    known = choice.best.estimate is not None
    scores = ["score", "95 % interval", "behind the first"] if known else ["guess"]
    if choice.is_estimated:
        scores.insert(0, "labelled pages")
    rows = []
    for c in choice.candidates:
        cells = [c.parser, rounded(c.value, 2)]
        if known:
            between = c.estimate.interval if c.estimate else None
            cells.append("" if between is None else f"{between[0]:.2f}–{between[1]:.2f}")
            low, high = (c.behind.low, c.behind.high) if c.behind else (None, None)
            cells.append("" if low is None or high is None else f"{signed(low, 2)} to {signed(high, 2)}")
        if choice.is_estimated:
            cells.insert(1, rounded(c.labelled.value if c.labelled else None, 2))
        rows.append([*cells, rounded(c.cpu_s, 2), str(c.failed), c.licence or ""])
    return plain_table(("parser", *scores, "s/page", "failed", "licence"), rows)
