"""Shows the engine's progress: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from parsemark.cli.printing import is_quiet, warning
from parsemark.engine.events import Events
from parsemark.model import Status
from parsemark.plain_words import counted, unbroken
from parsemark.store import ParseRecord

_LINE_EVERY_S = 5.0


class ProgressEvents(Events):
    """Common to both ways: counts pages and failures of each parser. A context manager."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.n_pages: dict[str, int] = {}
        self.n_done: dict[str, int] = {}
        self.n_failed: dict[str, int] = {}
        self._apart: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def __enter__(self) -> ProgressEvents:
        return self

    def __exit__(self, *_: object) -> None: ...

    def apart(self, samples: frozenset[str]) -> None:
        """Remember them: they are in no count of failures, as in the leaderboard."""
        self._apart = samples

    def planned(self, parser: str, *, n_pages: int, n_done: int) -> None:
        """Count pages that are done already."""
        self.n_pages[parser], self.n_done[parser], self.n_failed[parser] = n_pages, n_done, 0

    def parsed(self, record: ParseRecord) -> None:
        """Count a page."""
        with self._lock:
            self.n_done[record.parser] += 1
            failed = record.status is not Status.OK and record.sample not in self._apart
            self.n_failed[record.parser] += failed
        self.changed(record.parser)

    def changed(self, parser: str) -> None:
        """Note a change of a parser's counts."""

    def unusable(self, parser: str, why: str) -> None:
        """Report it at once; the other parsers continue."""
        self._warn(f"{parser} cannot be used: {why}")

    def note(self, text: str) -> None:
        """Print a line."""
        if not is_quiet():
            self._warn(text)

    def _warn(self, text: str) -> None:
        self.console.print(warning(unbroken(text)))


class ProgressBars(ProgressEvents):
    """A bar for each parser."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", style="dim"),
            TextColumn("{task.fields[failed]}", style="red"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}", style="dim"),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def __enter__(self) -> ProgressBars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def planned(self, parser: str, *, n_pages: int, n_done: int) -> None:
        """Add a bar."""
        super().planned(parser, n_pages=n_pages, n_done=n_done)
        self._tasks[parser] = self._add(parser, n_pages, n_done)

    def installing(self, parser: str, what: str) -> None:
        """Show it beside the bar."""
        self._progress.update(self._tasks[parser], note=what)

    def changed(self, parser: str) -> None:
        """Move the bar."""
        done, failed = self.n_done[parser], self.n_failed[parser]
        since, before = self._begun.setdefault(parser, (time.monotonic(), done - 1))
        elapsed = time.monotonic() - since
        rate = f"{(done - before - 1) / elapsed:.1f}/s" if elapsed > 0.5 and done - before > 1 else ""
        shown = f"{failed} failed" if failed else ""
        self._progress.update(self._tasks[parser], completed=done, rate=rate, failed=shown, note="")

    def scoring(self, *, n_pages: int) -> None:
        """Add the last bar."""
        self._tasks[""] = self._add("[bold]scoring[/]", n_pages, 0)

    def scored(self, n_pages: int) -> None:
        """Move the last bar."""
        self._progress.advance(self._tasks[""], n_pages)

    def _add(self, title: str, total: int, done: int) -> TaskID:
        shown = title if title.startswith("[bold]") else escape(title)
        return self._progress.add_task(shown, total=total, completed=done, rate="", failed="", note="")


class ProgressLines(ProgressEvents):
    """A line for each parser every few seconds, for logs."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._last: dict[str, float] = {}

    def planned(self, parser: str, *, n_pages: int, n_done: int) -> None:
        """Print the planned work."""
        super().planned(parser, n_pages=n_pages, n_done=n_done)
        done = f", {n_done} done before" if n_done else ""
        self._say(f"{parser}: {counted(n_pages, 'page')}{done}")

    def installing(self, parser: str, what: str) -> None:
        """Print it."""
        self._say(f"{parser}: {what}")

    def changed(self, parser: str) -> None:
        """Print progress now and then and at the end."""
        done, total = self.n_done[parser], self.n_pages[parser]
        now = time.monotonic()
        if done < total and now - self._last.setdefault(parser, now) < _LINE_EVERY_S:
            return
        self._last[parser] = now
        failed = self.n_failed[parser]
        self._say(f"{parser}: {done}/{total} pages{f', {failed} failed' if failed else ''}")

    def scoring(self, *, n_pages: int) -> None:
        """Print it."""
        self._say(f"scoring {counted(n_pages, 'output')}")

    def _say(self, text: str) -> None:
        self.console.print(unbroken(text), soft_wrap=True)


def progress_for(console: Console) -> ProgressEvents:
    """Return bars in a terminal, lines elsewhere, nothing with `--quiet`."""
    if is_quiet():
        return ProgressEvents(console)
    return ProgressBars(console) if console.is_terminal else ProgressLines(console)
