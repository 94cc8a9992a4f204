"""What `rate` and `annotate` share: where to serve, and what to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

Host = Annotated[
    str, typer.Option(help="Interface to serve; any but this machine's own gets a token in the link.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")]


def require_web() -> None:
    """Say what to install where the extra `web` is missing."""
    from parsemark.extras import require

    require("web", "The web app")


def announce(link: str, links: Mapping[str, str], *, browser: bool) -> None:
    """Say where to go, and go there if somebody is at the terminal."""
    import sys

    width = max(len(name) for name in links)
    for name, target in links.items():
        typer.echo(f"{name:<{width}}  {target}")
    typer.echo("Everything is saved as it is given. Stop with Ctrl-C.")
    sys.stdout.flush()
    if browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(link)
