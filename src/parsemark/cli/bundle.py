"""`parsemark bundle`, `verify`, `board`: results that others can check, many of them as one leaderboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console, say
from parsemark.plain_words import counted, size_in_words, visible
from parsemark.system.files import write_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from parsemark.engine.verify_bundle import Verification


def bundle(
    run: Annotated[Path, Argument(help="Run directory, scored.", show_default=False)],
    out: Annotated[Path | None, Option("--out", "-o", help="The file.", show_default="RUN.zip")] = None,
    truth: Annotated[
        bool,
        Option("--truth/--no-truth", help="With truths and text layers; without, `verify` needs the corpus."),
    ] = True,
    submitter: Annotated[
        str | None, Option(help="Whose results they are; shown on boards.", show_default="nobody named")
    ] = None,
) -> None:
    """Put a run into one file: raw outputs, matches, scores, versions, with a hash of each part.

    Check the file with: `parsemark verify FILE`.
    """
    target = out or run.resolve().with_name(f"{run.resolve().name}.zip")
    written = api.bundle_run(run, target, truth=truth, submitter=submitter)
    typer.echo(f"{written} ({size_in_words(written.stat().st_size)})")


def verify(
    bundle: Annotated[Path, Argument(help="File of `parsemark bundle`.", show_default=False)],
    corpus: Annotated[
        str | None,
        Option("--corpus", "-c", help="The corpus that it must be of; without, its own truth is taken."),
    ] = None,
    workers: opt.Workers = None,
    json_out: Annotated[Path | None, Option("--json", help="Write all checks as JSON.")] = None,
) -> None:
    """Score the raw outputs of a bundle anew and say whether its results follow from them.

    Exit code 0: everything agrees. 1: something does not, and is named: a damaged or swapped part, an edited
    score, another corpus, another version of a protocol. 2: it could not be checked.
    """
    from parsemark.cli.progress import progress_for

    loaded = running.load(corpus) if corpus is not None else None
    with progress_for(plain_console(stderr=True)) as events:
        found = api.verify_bundle(bundle, loaded, workers=workers, events=events)
    _show(plain_console(), found)
    if json_out is not None:
        write_text(json_out, json.dumps(found.to_json(), indent=2, ensure_ascii=False) + "\n")
    if not found.passed:
        raise typer.Exit(1)


def _show(console: Console, found: Verification) -> None:
    from rich.text import Text

    for check in found.checks:
        mark = Text("✓ ", "green") if check.passed else Text("✗ ", "red")
        text = check.text if check.passed else f"{check.n_differences} differ"
        console.print(_hanging(console, mark + Text(visible(f"{check.name}: {text}")), 2))
        for difference in check.differences:
            console.print(_hanging(console, Text(visible(f"    {difference}")), 6))
        if (more := check.n_differences - len(check.differences)) > 0:
            console.print(f"    and {more} more")
    for note in found.notes:
        console.print(_hanging(console, Text(visible(f"· {note}"), "dim"), 2))
    verdict = Text("Verified.", "bold green") if found.passed else Text("NOT verified.", "bold red")
    console.print(verdict)


def _hanging(console: Console, text: Text, indent: int) -> Text:
    """The text in lines of the console's width, all but the first moved in; words stay whole."""
    from rich.text import Text

    room = max(console.width, 40) - indent
    first, *others = text.wrap(console, max(console.width, 40), tab_size=4)
    rest = Text(" ").join(others).wrap(console, room) if others else ()
    return Text("\n").join([first, *(Text(" " * indent) + line for line in rest)])


def board(
    bundles: Annotated[list[Path], Argument(help="Bundles, or folders of them (*.zip).", show_default=False)],
    out: Annotated[Path, Option("--out", "-o", help="Folder of the site.")],
    corpus: Annotated[
        list[str] | None,
        Option("--corpus", "-c", help="Repeatable: truths for --verify, and pictures for the reports."),
    ] = None,
    verify: Annotated[
        bool, Option("--verify", help="Score every bundle anew; show only those that verify.")
    ] = False,
    reports: Annotated[
        bool, Option("--reports/--no-reports", help="Write the whole report of every league.")
    ] = True,
) -> None:
    """Make a leaderboard site of many bundles: corpora × parsers, history per parser, reports.

    Results are put together only where corpus, pages, protocol and its version are the same. Exit code 1 if
    a bundle was refused; the site is written all the same, and names it.
    """
    from parsemark.report.board_site import build_board

    console = plain_console(stderr=True)
    loaded = [running.load(spec) for spec in corpus or ()]
    with console.status("reading bundles") as status:
        result = opt.fill(
            build_board,
            locals(),
            paths=bundles,
            corpora=loaded,
            tell=lambda text: status.update(visible(text)),
        )
    for refused in result.refused:
        say(console, visible(f"! not shown: {refused.path}: {refused.why}"))
    typer.echo(f"{counted(result.n_bundles, 'bundle')}, {counted(result.n_leagues, 'league')}: {result.page}")
    if result.refused:
        raise typer.Exit(1)
