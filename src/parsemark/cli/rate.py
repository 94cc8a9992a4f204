"""`parsemark rate`: people rate pairs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parsemark.cli import serving


def rate(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Pairs, made by `parsemark study sample`, or any ratings file."),
    ],
    *,
    host: serving.Host = "127.0.0.1",
    port: serving.Port = 8420,
    repeats: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the pairs that each rater is shown twice.")
    ] = 0.1,
    export: Annotated[
        Path | None,
        typer.Option(metavar="RATINGS.json", help="Write the ratings so far and end, without serving."),
    ] = None,
    browser: serving.Browser = True,
) -> None:
    """Let people rate pairs in a browser, blind to the parser.

    Ratings are kept in FILE.ratings.sqlite as they are given; the server can be stopped and started at any
    time. Serves this machine alone unless --host names another interface; then the link holds a token.
    """
    import json

    from parsemark.study.tasks import read_tasks
    from parsemark.system.files import write_text

    tasks = read_tasks(file)
    serving.require_web()
    from parsemark.web.frame import choose_address, open_socket, serve
    from parsemark.web.rate.app import RateApp, ratings_path
    from parsemark.web.rate.ratings import RatingStore
    from parsemark.web.rate.ratings import export as ratings_of

    store = RatingStore(ratings_path(file), tasks, repeats)
    try:
        if export is not None:
            found = ratings_of(store)
            write_text(export, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
            typer.echo(f"{len(found['pairs'])} rated pairs written to {export}")  # type: ignore[arg-type]
            return
        listener, address = open_socket(choose_address(host, port))
        serving.announce(
            address.link(),
            {
                "Raters open": address.link(),
                "You, the organiser": address.link(f"/organiser/{store.organiser_key}"),
            },
            browser=browser,
        )
        serve(RateApp(store, address).build(), listener)
    finally:
        store.close()


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(rate)
