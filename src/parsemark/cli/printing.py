"""What commands print alike: plain lines, and plain tables."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

Item = TypeVar("Item")

_detail = ContextVar("detail", default=0)  # -1: the answer alone, 1: more than usual


def set_detail(level: int) -> None:
    """Set how much commands print: -1 with `--quiet`, 1 with `--verbose`."""
    _detail.set(level)


def is_quiet() -> bool:
    """Return True if only the answer is printed: no progress, notes or tables beside it."""
    return _detail.get() < 0


def is_verbose() -> bool:
    """Return True if lists are printed whole, with all notes."""
    return _detail.get() > 0


def first(items: Sequence[Item], most: int) -> Sequence[Item]:
    """Return what is listed of many: all with `--verbose`."""
    return items if is_verbose() else items[:most]


def plain_console(*, stderr: bool = False) -> Console:
    """Return a console that prints texts as they are: names of parsers and files are no markup, `:x:` is no
    sign.
    """
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


@contextmanager
def page_progress(title: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Show a bar on a terminal; call what this yields with the number of new pages, and a total."""
    with stages() as begin:
        yield begin(title, total)


@contextmanager
def stages() -> Iterator[Callable[[str, int | None], Callable[..., None]]]:
    """Show a bar on a terminal for each stage of a command: what this yields begins one, and returns what to
    call with the number of new steps.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = plain_console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, disable=is_quiet() or not console.is_terminal, transient=True
    ) as progress:

        def begin(title: str, total: int | None) -> Callable[..., None]:
            task = progress.add_task(title, total=total)
            return lambda n=1, total=None: progress.update(task, advance=n, total=total)

        yield begin


def print_answer(console: Console, sentences: Sequence[str]) -> Sequence[str]:
    """Print the sentences that fit into five lines, at least one, and return the others."""
    room, shown = ANSWER_LINES, 0
    for sentence in sentences:
        room -= len(textwrap.wrap(sentence, console.width)) or 1
        if room < 0 and shown:
            break
        console.print(sentence)
        shown += 1
    return sentences[shown:]


ANSWER_LINES = 5


def answer(text: str) -> None:
    """Print paragraphs, of which the first one is the answer; with `--quiet` that one alone."""
    shown = text.partition("\n\n")[0] if is_quiet() else text.removesuffix("\n")
    console = plain_console()
    if not console.is_terminal:
        print(shown)
        return
    lines = shown.splitlines()
    for is_table, group in itertools.groupby(lines, key=lambda line: line.startswith("|")):
        if not is_table:
            for line in group:  # a link stays whole, to be opened
                console.print(line.replace("**", ""), soft_wrap="<" in line or "parsemark " in line)
            continue
        heads, _, *rows = ([_unescaped(cell) for cell in _CELLS.split(row)[1:-1]] for row in group)
        console.print(plain_table(heads, rows, words=1))


def _unescaped(cell: str) -> str:
    """The text of a cell that `markdown_cell` has written."""
    return cell.strip().replace("\\|", "|").replace("&lt;", "<")


_CELLS = re.compile(r"(?<!\\)\|")


def say_json(kind: str, data: Any) -> None:
    """Print a result as JSON, in the format of a schema that `parsemark list schemas` lists."""
    import json

    from parsemark.schemas import as_json

    print(json.dumps(as_json(kind, data), indent=2, ensure_ascii=False, allow_nan=False))


def say(console: Console, text: str | Text, **look: Any) -> None:
    """Print a sentence: folded between words in a terminal, on one line in logs and for other programs."""
    console.print(text, soft_wrap=not console.is_terminal, **look)


def warning(text: str) -> Text:
    """Return a line that begins with a yellow mark."""
    from rich.text import Text

    return Text.assemble(("! ", "yellow"), text)


def plain_table(
    heads: Iterable[str], rows: Iterable[Iterable[str | Text]], *, words: int = 1, **look: Any
) -> Table:
    """Return a table without lines, whose first `words` columns hold words and the others figures."""
    from rich.table import Table

    table = Table(**{"box": None, "pad_edge": False, "title_justify": "left", **look})
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number < words else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
