"""`parsemark annotate`: people make truth for their own documents in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parsemark.cli import serving


def annotate(
    corpus: Annotated[str, typer.Argument(metavar="folder:DIR", help="A folder of PDFs.")],
    *,
    run: Annotated[
        list[Path] | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Start from what its parsers agree on. Repeat it.",
            show_default="runs/DIR",
        ),
    ] = None,
    page: Annotated[
        list[str] | None, typer.Option("--page", metavar="ID", help="Show it first. Repeat it.")
    ] = None,
    host: serving.Host = "127.0.0.1",
    port: serving.Port = 8421,
    browser: serving.Browser = True,
) -> None:
    """Make truth for your own documents: start from what parsers agree on, correct, let somebody check.

    Each page that is touched or accepted is written as DOCUMENT.pN.json beside its PDF, which `folder:DIR`
    reads at once. Every edit is kept in DIR/.parsemark-annotate.sqlite; the server can be stopped and
    started at any time. Serves this machine alone unless --host names another interface; then the link
    holds a token.
    """
    from parsemark.errors import UsageError

    serving.require_web()
    from parsemark.web.annotate.app import AnnotateApp
    from parsemark.web.annotate.work import Work
    from parsemark.web.frame import choose_address, open_socket, serve

    folder = Path(corpus.removeprefix("folder:"))
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}. Give folder:DIR, a folder of PDFs.")
    default = Path("runs") / folder.resolve().name
    runs = run if run is not None else [default] if (default / "manifest.json").is_file() else []
    work = Work(folder, runs, page or ())
    if unknown := [name for name in page or () if name not in work.samples]:
        work.close()
        raise UsageError(f"{corpus} has no page {unknown[0]}. `parsemark corpus list {corpus}` lists them.")
    try:
        work.restore_files()
        if not runs:
            typer.echo(
                f"No run to start from; pages begin empty. To start from parsers: parsemark bench -c "
                f"folder:{folder} "
                f"--out {default}, then this command again."
            )
        listener, address = open_socket(choose_address(host, port))
        serving.announce(address.link(), {"Annotate at": address.link()}, browser=browser)
        serve(AnnotateApp(work, address).build(), listener)
    finally:
        work.close()


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(annotate)
