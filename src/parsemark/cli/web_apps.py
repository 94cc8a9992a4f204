"""`parsemark rate` and `annotate`: people rate pairs, or make truth for their documents, in a browser."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli import running
from parsemark.cli.printing import plain_console
from parsemark.errors import UsageError
from parsemark.extras import require
from parsemark.system.files import write_text

Host = Annotated[str, Option(help="Interface to serve; any but this machine's own gets a token in the link.")]
Port = Annotated[int, Option(min=0, max=65535, help="0 for any that is free.")]
Browser = Annotated[bool, Option("--browser/--no-browser", help="Open a browser.")]


def announce(link: str, links: Mapping[str, str], *, browser: bool) -> None:
    """Say where to go, and go there if somebody is at the terminal."""
    width = max(len(name) for name in links)
    for name, target in links.items():
        typer.echo(f"{name:<{width}}  {target}")
    typer.echo("Everything is saved as it is given. Stop with Ctrl-C.")
    sys.stdout.flush()
    if browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(link)


def _say_problems(file: Path, problems: Sequence[str]) -> None:
    for problem in problems:
        typer.echo(f"{file}: {problem}", err=True)


def rate(
    file: Annotated[
        Path, Argument(metavar="FILE", help="Pairs, made by `parsemark study sample`, or any ratings file.")
    ],
    *,
    host: Host = "127.0.0.1",
    port: Port = 8420,
    repeats: Annotated[
        float, Option(min=0, max=1, help="Share of the pairs that each rater is shown twice.")
    ] = 0.1,
    export: Annotated[
        Path | None, Option(metavar="RATINGS.json", help="Write the ratings so far and end, without serving.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace RATINGS.json.")] = False,
    browser: Browser = True,
) -> None:
    """Let people rate pairs in a browser, blind to the parser.

    Ratings are kept in FILE.ratings.sqlite as they are given; the server can be stopped and started at any
    time. Serves this machine alone unless --host names another interface; then the link holds a token.
    """
    from parsemark.study.ratings import read_tasks

    tasks = read_tasks(file)
    require("web", "The web app")
    from parsemark.web.frame import choose_address, keep_serving, open_socket, serve
    from parsemark.web.rate.app import RateApp, ratings_path
    from parsemark.web.rate.ratings import RatingStore
    from parsemark.web.rate.ratings import export as ratings_of

    if export is not None:
        if export.exists() and export.samefile(file):
            raise UsageError(
                f"{export} holds the pairs, and the export only those that are rated. Name another."
            )
        if export.exists() and not overwrite:
            raise UsageError(f"{export} exists. Name another file, or use --overwrite.")
        _say_problems(file, tasks.problems)
        store = RatingStore(ratings_path(file), tasks, repeats)
        found = ratings_of(store)
        store.close()
        write_text(export, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        typer.echo(f"{len(found['pairs'])} rated pairs written to {export}")  # type: ignore[arg-type]
        return
    listener, address = open_socket(choose_address(host, port))
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
    corpus: Annotated[str, Argument(metavar="folder:DIR", help="A folder of PDFs.")],
    *,
    run: Annotated[
        list[Path] | None,
        Option(
            "--run",
            metavar="RUN",
            help="Start from what its parsers agree on. Repeat it.",
            show_default="runs/DIR",
        ),
    ] = None,
    page: Annotated[
        list[str] | None, Option("--page", metavar="ID", help="Show it first. Repeat it.")
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8421,
    browser: Browser = True,
) -> None:
    """Make truth for your own documents: start from what parsers agree on, correct, let somebody check.

    Each page that is accepted is written as DOCUMENT.pN.json beside its PDF, which `folder:DIR` reads, in
    place of the truth that was there. Every edit is kept in DIR/.parsemark-annotate.sqlite; the server can be
    stopped and started at any time. Serves this machine alone unless --host names another interface; then the
    link holds a token.
    """
    require("web", "The web app")
    from parsemark.web.annotate.app import AnnotateApp
    from parsemark.web.annotate.edit_store import Work
    from parsemark.web.frame import choose_address, keep_serving, open_socket, serve

    place = Path(corpus.removeprefix("folder:"))
    folder = place.parent if place.is_file() else place  # the truth of a file lies beside it
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}. Give folder:DIR, a folder of PDFs.")
    default = Path("runs") / (place.stem if place.is_file() else folder.resolve().name)
    runs = run if run is not None else [default] if (default / "manifest.json").is_file() else []
    listener, address = open_socket(choose_address(host, port))
    is_first = keep_serving()
    work = Work(folder, runs, page or ())
    if unknown := [name for name in page or () if name not in work.samples]:
        work.close()
        raise UsageError(f"{corpus} has no page {unknown[0]}. `parsemark corpus list {corpus}` lists them.")
    try:
        by_hand = work.catch_up()
        running.say_remarks([*(work.remarks if is_first else ()), *by_hand], plain_console(stderr=True))
        if is_first and not runs:
            typer.echo(
                "No run to start from; pages begin empty. To start from parsers: parsemark bench -c "
                f"folder:{folder} --out {default}, then this command again."
            )
        if is_first:
            announce(address.link(), {"Annotate at": address.link()}, browser=browser)
        serve(AnnotateApp(work, address).build(), listener)
    finally:
        work.close()
