"""Progress bars: on a terminal a bar, elsewhere nothing until the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def page_progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar that is moved by calling what this gives with a number of finished pages."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda pages: progress.advance(task, pages)
