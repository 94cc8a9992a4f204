"""`parsemark choose`: which parser for one's own documents?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import is_quiet, page_progress, plain_table, print_answer, say_json
from parsemark.plain_words import rounded, signed

if TYPE_CHECKING:
    from rich.table import Table

    from parsemark.api import Choice


def choose(
    corpus: opt.CorpusArgument,
    *,
    corpus_too: opt.CorpusToo = None,
    labels: Annotated[
        int,
        Option(
            min=0,
            help="Maximum number of pages that you label, in total over all repetitions of the command. "
            "Labels that existed before you first ran the command do not count.",
        ),
    ] = 10,
    parsers: opt.Parsers = None,
    protocol: Annotated[
        str, Option(help="Protocol whose primary score determines the best parser.")
    ] = "tables",
    cpu_hour_usd: opt.CpuHourUsd = None,
    out: opt.Out = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    cache: opt.Cache = True,
    skip: Annotated[
        list[str] | None, Option(help="Page to leave out of the suggestions; repeatable.")
    ] = None,
    route: Annotated[
        Path | None,
        Option(help="Write a routing rule, learned from the labels, that selects a parser per page type."),
    ] = None,
    annotate: Annotated[
        bool,
        Option(
            "--annotate",
            help="Open `annotate` on the pages to label; CORPUS must be a folder of PDFs or one PDF.",
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Find the best parser for documents without truth, labelling as few pages as possible.

    Truth is the correct content of a page; to label a page is to write its truth. The command runs the
    parsers and estimates their quality from the agreement between parsers that share no engine. It lists the
    most informative pages to label. Label them (`parsemark annotate`, or truth files beside the PDFs) and
    repeat the command. It then reuses all outputs, and the result has a confidence interval.

    Example: parsemark choose my-documents/ --labels 10
    """
    corpus = corpus_too or corpus
    console = running.result_console(as_json=as_json)
    loaded = running.load(corpus)
    with running.stoppable(console) as events, page_progress("Comparing outputs", None) as progress:
        choice = opt.fill(api.choose, locals(), corpus=loaded, skip=skip or ())
    run = api.load_run(api.run_folder(out, loaded))
    running.say_old_report(run, console)
    if as_json:
        say_json("choose", choice)
    lines = api.choice_in_words(choice, corpus, run)
    answer = lines.index("") if "" in lines else len(lines)
    others = print_answer(console, lines[:answer])
    if is_quiet():
        return
    if not as_json:
        console.print()
        console.print(_table(choice))
        console.print()
    for line in (*others, *lines[answer:]):
        # A command is to be copied: it stays on one line, however long.
        console.print(line, soft_wrap=line.startswith("  "))
    if route is not None:
        follow = f"  parsemark bench {shlex.quote(corpus)} --no-score --route {shlex.quote(str(route))}"
        for line in ("", *choice.route, "Follow it:", follow):
            console.print(line, soft_wrap=line.startswith("  "))
    page, numbers = run.path / "choice.html", run.path / api.CHOICE
    console.print(f"\nReport: {page}\nAll numbers: {numbers}", soft_wrap=True)
    if annotate and choice.next_pages and not choice.certain:
        from parsemark.cli.web_apps import annotate as open_annotate

        open_annotate(corpus, runs=[run.path], page=list(choice.next_look))


def _table(choice: Choice) -> Table:
    known = choice.best.estimate is not None
    scores = ["score", "95 % CI", "difference from leader, 95 % CI"] if known else ["guess"]
    if choice.is_estimated:
        scores[:1] = ["score on labelled pages", "estimate for all pages"]
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
        rows.append([*cells, rounded(c.cpu_s, 3), str(c.failed), c.licence or ""])
    return plain_table(("parser", *scores, "s/page", "failed", "licence"), rows)
