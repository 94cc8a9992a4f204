"""`parsemark study rate` and `parsemark annotate`: people rate pairs or make truth in a browser."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console
from parsemark.errors import UsageError
from parsemark.extras import require
from parsemark.plain_words import visible
from parsemark.system.files import write_text

Host = Annotated[str, Option(help="Network interface to serve. Other machines need the token in the link.")]
_PORT = "Port to serve; 0 for any free one."
RatePort = Annotated[int | None, Option(min=0, max=65535, help=_PORT, show_default="8420, or a free one")]
AnnotatePort = Annotated[int | None, Option(min=0, max=65535, help=_PORT, show_default="8421, or a free one")]


def announce(link: str, links: Mapping[str, str], *, browser: bool) -> None:
    """Print the links, and open the first in a browser if the output is a terminal."""
    width = max(len(name) for name in links)
    for name, target in links.items():
        typer.echo(f"{name:<{width}}  {target}")
    typer.echo("Every change is saved immediately. Stop with Ctrl-C.")
    sys.stdout.flush()
    if browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(link)


def _say_problems(file: Path, problems: Sequence[str]) -> None:
    for problem in problems:
        typer.echo(f"{file}: {problem}", err=True)


def rate(
    file: Annotated[
        Path, Argument(metavar="FILE", help="Pairs that `parsemark study sample` wrote, or any ratings file.")
    ],
    *,
    host: Host = "127.0.0.1",
    port: RatePort = None,
    repeats: Annotated[float, Option(min=0, max=1, help="Share of pairs that each rater sees twice.")] = 0.1,
    export: Annotated[
        Path | None, Option(metavar="RATINGS.json", help="Write the ratings so far to this file and exit.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace RATINGS.json.")] = False,
    browser: opt.Browser = True,
) -> None:
    """Let people rate pairs of tables in a browser, without seeing which parser made them.

    Every rating is saved immediately in FILE.ratings.sqlite, so the server can be restarted at any time. By
    default only this machine can connect; with another --host, the link contains an access token.

    Example: parsemark study rate pairs.json
    """
    from parsemark.study.ratings import read_tasks

    tasks = read_tasks(file)
    require("web", "The web app")
    from parsemark.web.frame import keep_serving, open_socket_near, serve
    from parsemark.web.rate.app import RateApp, ratings_path
    from parsemark.web.rate.ratings import RatingStore
    from parsemark.web.rate.ratings import export as ratings_of

    if export is not None:
        if export.exists() and export.samefile(file):
            raise UsageError(
                f"{export} is the file of pairs; the export holds rated pairs only. Choose another file."
            )
        if export.exists() and not overwrite:
            raise UsageError(f"{export} already exists. Choose another file, or use --overwrite.")
        _say_problems(file, tasks.problems)
        store = RatingStore(ratings_path(file), tasks, repeats)
        found = ratings_of(store)
        store.close()
        write_text(export, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        typer.echo(f"{len(found['pairs'])} rated pairs written to {export}")  # type: ignore[arg-type]
        return
    listener, address = open_socket_near(host, port, 8420)
    is_first = keep_serving()
    store = RatingStore(ratings_path(file), tasks, repeats)
    try:
        if is_first:
            _say_problems(file, tasks.problems)
            links = {
                "Raters open": address.link(),
                "You, the organiser": address.link(f"/organiser/{store.organiser_key}"),
            }
            announce(address.link(), links, browser=browser)
        serve(RateApp(store, address).build(), listener)
    finally:
        store.close()


def annotate(
    corpus: Annotated[str, Argument(metavar="FOLDER", help="Folder of PDFs, or one PDF.")],
    *,
    runs: Annotated[
        list[Path] | None,
        Option(
            "--run",
            metavar="RUN",
            help="Run to start from: its parsers' agreement is the first draft of the truth; repeatable.",
            show_default="runs/FOLDER",
        ),
    ] = None,
    page: Annotated[
        list[str] | None, Option("--page", metavar="ID", help="Page to show first; repeatable.")
    ] = None,
    disputes: Annotated[
        Path | None,
        Option(
            help="Disputes file, saved with “This truth is wrong” in a report; its pages are shown first."
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: AnnotatePort = None,
    browser: opt.Browser = True,
) -> None:
    """Make truth (correct content) for your documents in a browser, starting from the consensus of parsers.

    An accepted page is written as DOCUMENT.pN.json beside its PDF, replaces its earlier truth, and is read by
    every command. Edits are saved in FOLDER/.parsemark-annotate.sqlite, so the server can be restarted at any
    time. By default only this machine can connect; with another --host, the link contains an access token.

    Example: parsemark annotate my-documents/ --run runs/my-documents
    """
    require("web", "The web app")
    from parsemark.corpora.disputes import read_disputes
    from parsemark.web.annotate.app import AnnotateApp
    from parsemark.web.annotate.edit_store import Work
    from parsemark.web.frame import keep_serving, open_socket_near, serve

    place = Path(corpus.removeprefix("folder:"))
    folder = place.parent if place.is_file() else place  # the truth of a file lies beside it
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. Give a folder of PDFs.")
    default = Path("runs") / (place.stem if place.is_file() else folder.resolve().name)
    chosen = runs if runs is not None else [default] if (default / "manifest.json").is_file() else []
    entries = read_disputes(disputes) if disputes is not None else ()
    first = list(dict.fromkeys([*(page or ()), *(entry.sample for entry in entries)]))
    for entry in entries:
        typer.echo(f"Disputed: {visible(str(entry))}", err=True)
    listener, address = open_socket_near(host, port, 8421)
    is_first = keep_serving()
    work = Work(folder, chosen, first)
    if unknown := [name for name in first if name not in work.samples]:
        work.close()
        raise UsageError(
            f"{corpus} has no page {unknown[0]}. `parsemark corpus info {corpus} --pages` lists them."
        )
    try:
        by_hand = work.catch_up()
        running.say_remarks([*(work.remarks if is_first else ()), *by_hand], plain_console(stderr=True))
        if is_first and not chosen:
            typer.echo(
                "No run was given or found, so pages without truth begin empty. To begin with "
                f"parser outputs: parsemark bench {folder} --out {default}, then repeat this command."
            )
        if is_first:
            announce(address.link(), {"Annotate at": address.link()}, browser=browser)
        serve(AnnotateApp(work, address).build(), listener)
    finally:
        work.close()
