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


def choose(
    corpus: Annotated[
        str, Argument(metavar="CORPUS", help="Your documents: `folder:DIR`, or any other corpus.")
    ],
    *,
    labels: Annotated[int, Option(min=0, help="How many pages you would label at most.")] = 10,
    parser: opt.Parsers = None,
    protocol: Annotated[str, Option(help="Whose primary figure decides.")] = "tables",
    out: opt.Out = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    cache: opt.Cache = True,
    strict: opt.Strict = False,
    seed: Annotated[int, Option(help="Of the order in which pages are to be labelled.")] = 0,
    skip: Annotated[list[str] | None, Option(help="A page that you do not want to label. Repeat it.")] = None,
    route: Annotated[
        Path | None,
        Option(help="Learn from the labels which kind of page gets which parser; write the rule here."),
    ] = None,
    annotate: Annotated[
        bool, Option("--annotate", help="Open `annotate` on the pages to label (of `folder:DIR`).")
    ] = False,
) -> None:
    """Find the best parser for documents without truth, with as few labels as possible.

    Runs the parsers, guesses their quality from how far independent ones agree, and names the pages whose
    labels would tell most. Label them (`parsemark annotate`, or truth files beside the PDFs) and give the
    same command again: nothing is parsed twice, and the answer gets its interval.
    """
    from parsemark import choose as room
    from parsemark.engine.scoring.score import score_run
    from parsemark.report.choice_page import write_choice

    console = plain_console()
    how = running.parse_options(locals(), protocols=[protocol])
    loaded = running.load(corpus, strict=strict)
    if corpus.startswith("folder:") and loaded.remarks:
        # `bench` takes the other pages of a labelled document for pages without tables.
        console.print("Here only pages with a truth file of their own count as labelled.")
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
            progress=progress,
        )
    console.print(_table(choice))
    for line in (*room.in_words(choice), *choice.notes, "", *room.next_step(choice, corpus, str(run.path))):
        # A command is to be copied: it stays on one line, however long.
        console.print(line, soft_wrap=line.startswith("  "))
    if route is not None:
        routing = room.route_run(run, choice, skip=skip or (), seed=seed)
        room.write_route(routing, route)
        follow = f"  parsemark parse --corpus {shlex.quote(corpus)} --route {shlex.quote(str(route))}"
        for line in ("", *routing.in_words(), "Follow it:", follow):
            console.print(line, soft_wrap=line.startswith("  "))
    write_bytes(run.path / "choice.json", room.as_json(choice).encode())
    page = write_choice(choice, corpus, run.path)
    console.print(f"\nReport: {page}\nAll numbers: {run.path / 'choice.json'}", soft_wrap=True)
    if annotate and choice.next_pages and not choice.certain:
        from parsemark.cli.web_apps import annotate as open_annotate

        open_annotate(corpus, run=[run.path], page=list(choice.next_look))


def _table(choice: Choice) -> Table:
    known = choice.best.estimate is not None
    figures = ("score", "95 % interval", "behind the first") if known else ("guess",)
    rows = []
    for candidate in choice.candidates:
        cells = [candidate.parser, rounded(candidate.value, 2)]
        if candidate.estimate is not None:
            cells.append(f"{candidate.estimate.low:.2f}–{candidate.estimate.high:.2f}")
            gap = candidate.behind
            cells.append("" if gap is None else f"{signed(gap.low, 2)} to {signed(gap.high, 2)}")
        rows.append([*cells, rounded(candidate.cpu_s, 2), str(candidate.failed)])
    return plain_table(("parser", *figures, "s/page", "failed"), rows)
