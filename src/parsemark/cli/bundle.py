"""`parsemark bundle`, `verify`, `site`: results that others can check, many of them as one leaderboard."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import is_quiet, plain_console, say, say_json
from parsemark.plain_words import counted, size_in_words, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    from parsemark.api import Verification


def bundle(
    run: opt.RunArgument,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Bundle to write.", show_default="RUN.zip")
    ] = None,
    truth: Annotated[
        bool,
        Option(
            "--truth/--no-truth",
            help="Include truth and text layers. Without them, `verify` needs the corpus.",
        ),
    ] = True,
    submitter: Annotated[
        str | None, Option(help="Name of the submitter, shown on leaderboard sites.", show_default="none")
    ] = None,
) -> None:
    """Pack a run into one file that others can verify: raw outputs, matches, scores, versions and hashes.

    Example: parsemark bundle runs/mine --out mine.zip
    """
    written = opt.fill(api.bundle, locals())
    typer.echo(f"{written} ({size_in_words(written.stat().st_size)})")


def verify(
    bundle: Annotated[Path, Argument(help="File that `parsemark bundle` wrote.", show_default=False)],
    corpus: Annotated[
        str | None,
        Option(
            "--corpus",
            "-c",
            help="Corpus to check the bundle against; its truth is used for scoring.",
            show_default="the truth in the bundle",
        ),
    ] = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
) -> None:
    """Score the outputs in a bundle again and compare the scores with those stored in the bundle.

    Exit code 0: everything agrees. 1: differences are listed, such as damaged or swapped parts, edited
    scores, or another corpus or protocol version. 2: the bundle could not be checked.

    Example: parsemark verify mine.zip --corpus my-documents/
    """
    from parsemark.cli.progress import progress_for

    loaded = running.load(corpus) if corpus is not None else None
    with progress_for(plain_console(stderr=True)) as events:
        found = api.verify(bundle, loaded, workers=workers, events=events)
    if as_json:
        say_json("verify", found)
    else:
        _show(plain_console(), found)
    if not found.passed:
        raise typer.Exit(1)


def _show(console: Console, found: Verification) -> None:
    from rich.text import Text

    verdict = Text("Verified.", "bold green") if found.passed else Text("NOT verified.", "bold red")
    console.print(verdict)
    for check in found.checks:
        if check.passed and is_quiet():
            continue
        mark = Text("✓ ", "green") if check.passed else Text("✗ ", "red")
        text = check.text if check.passed else f"{check.n_differences} differ"
        console.print(_hanging(console, mark + Text(visible(f"{check.name}: {text}")), 2))
        for difference in check.differences:
            console.print(_hanging(console, Text(visible(f"    {difference}")), 6))
        if (more := check.n_differences - len(check.differences)) > 0:
            console.print(f"    and {more} more")
    for note in () if is_quiet() else found.notes:
        console.print(_hanging(console, Text(visible(f"· {note}"), "dim"), 2))


def _hanging(console: Console, text: Text, indent: int) -> Text:
    """Return the text in lines of the console's width, all but the first moved in; words stay whole."""
    from rich.text import Text

    room = max(console.width, 40) - indent
    first, *others = text.wrap(console, max(console.width, 40), tab_size=4)
    rest = Text(" ").join(others).wrap(console, room) if others else ()
    return Text("\n").join([first, *(Text(" " * indent) + line for line in rest)])


def _tell(console: Console, status: Status, text: str) -> None:
    """Show the current step; without a terminal, on a line of its own."""
    if console.is_terminal:
        status.update(visible(text))
    else:
        say(console, visible(text))


def site(
    bundles: Annotated[list[Path], Argument(help="Bundles, or folders of them (*.zip).", show_default=False)],
    out: Annotated[Path, Option("--out", "-o", help="Folder of the site.")] = Path(api.SITE),
    corpora: Annotated[
        list[str] | None,
        Option(
            "--corpus",
            "-c",
            help="Corpus with the truth for --verify and the page pictures for reports; repeatable.",
        ),
    ] = None,
    verify: Annotated[
        bool, Option("--verify", help="Score every bundle again and show only those that pass.")
    ] = False,
    reports: Annotated[
        bool, Option("--reports/--no-reports", help="Write the full report of every leaderboard.")
    ] = True,
) -> None:
    """Build a leaderboard site from bundles: corpora × parsers, history per parser, reports.

    One bundle is enough. Results are combined only where corpus, pages, protocol and its version are the
    same. Exit code 1 if a bundle was refused; the site is still written, and lists it.

    Example: parsemark site submissions/ --out site/ --verify
    """
    console = plain_console(stderr=True)
    loaded = [running.load(spec) for spec in corpora or ()]
    with console.status("reading bundles") as status:
        tell = partial(_tell, console, status)
        result = opt.fill(api.site, locals(), corpora=loaded, progress=tell)
    for refused in result.refused:
        say(console, visible(f"! not shown: {refused.path}: {refused.why}"))
    leaderboards = counted(result.n_leaderboards, "leaderboard")
    typer.echo(f"{counted(result.n_bundles, 'bundle')}, {leaderboards}: {result.page}")
    if result.refused:
        raise typer.Exit(1)
