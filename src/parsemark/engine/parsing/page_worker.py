"""One parser's worker as the engine uses it: kept alive from page to page, replaced when it dies.

Whatever a worker does, it costs one page: the page gets a `PageOutcome` that says what happened. A failure is
tried once more where that makes sense:

- The worker died or wrote garbage: once more, in a new worker.
- It ran out of time or memory, or answered too much: once more only if the worker had served other pages
  before, since what those left behind may be the cause. In a new worker the page itself is the cause.
- The parser itself reported an error: not again, it would report it again.
"""

import dataclasses
import os
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from parsemark.engine.parsing.plan import PlannedPage
from parsemark.errors import ParserError
from parsemark.model import Status
from parsemark.parsers.environment import Progress
from parsemark.parsers.messages import WHOLE_DOCUMENT, Answer, Hello, ProtocolError, pages_in
from parsemark.parsers.parser import Parser
from parsemark.parsers.session import WorkerFailure, WorkerSession
from parsemark.parsers.worker_limits import DISK_MB, MEMORY_MB, Watch, Watched
from parsemark.system.processes import end_supervised

STDERR_KEPT = 2_000
_MACHINE_MB = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Limits of one page by one parser."""

    timeout_s: float = 60.0
    """CPU time of the worker and all processes that it has started, from the request to the whole answer."""
    patience: float = 3.0  # wall-clock time, as a multiple of it: for workers that wait, and busy machines
    memory_mb: int = MEMORY_MB
    disk_mb: int = DISK_MB
    start_timeout_s: float = 120.0  # wall-clock time until a new worker has shaken hands
    max_answer_bytes: int = 64 * 1024 * 1024  # size of an answer; no more than this is ever held in memory

    def __str__(self) -> str:
        """Return the limits as text, which names failures in the cache: other limits, other failures."""
        return f"timeout_s={self.timeout_s:g} memory_mb={self.memory_mb} bytes={self.max_answer_bytes}"


class ParserUnusableError(ParserError):
    """The parser's worker cannot be started: no page of it can be parsed."""


def install_usable(parser: Parser, progress: Progress | None = None) -> None:
    """Build a parser's environment unless that is done; raise ParserError if it misses what we cannot
    install.
    """
    state = parser.state()
    if state.kind == "missing":
        raise ParserError(f"{state}.")
    if state.kind == "installable":
        parser.install(progress)


class StoppedError(Exception):
    """The run was stopped while the page was being parsed; the page counts as not done."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """What became of one page."""

    status: Status
    output: bytes | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    peak_memory_mb: float | None = None
    attempts: int = 1
    error: str | None = None
    stderr_tail: str | None = None
    cost_usd: float | None = None


class PageWorker:
    """Parses pages with one parser, in one process at a time."""

    def __init__(
        self, parser: Parser, limits: PageLimits, watch: Watch, hidden: Collection[Path] = ()
    ) -> None:
        self.parser = parser
        self._hidden = hidden
        self.hello: Hello | None = None  # what the worker said of itself; None before the first page
        self._limits = limits
        self._watch = watch
        self._session: WorkerSession | None = None
        self._watched: Watched | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def parse(self, pages: Sequence[PlannedPage]) -> list[PageOutcome]:
        """Have pages of one document parsed; one outcome for each.

        A parser of whole documents is asked once, and has as much time as the pages would have. What it took
        is shared equally, so that the pages together took what the document took. Its peak of memory is that
        of each page, and so is its failure. ParserUnusableError: the worker does not start; StoppedError:
        `stop` was called.
        """
        pdf, timeout_s = str(pages[0].pdf), self._limits.timeout_s
        if self.parser.info.scope != "document":
            return [self._parse(pdf, page.number, timeout_s) for page in pages]
        whole = self._parse(pdf, WHOLE_DOCUMENT, timeout_s * len(pages))
        return shared_by_pages(whole, [page.number for page in pages])

    def _parse(self, pdf: str, page: int, timeout_s: float) -> PageOutcome:
        outcome, again = self._attempt(pdf, page, timeout_s)
        if again:
            second, _ = self._attempt(pdf, page, timeout_s)
            outcome = dataclasses.replace(second, attempts=2)
        return outcome

    def stop(self) -> None:
        """End the worker from another thread; a page that is being parsed gets no outcome."""
        with self._lock:
            self._stopped = True
            if self._watched is not None:
                end_supervised(self._watched.pid)

    def close(self) -> None:
        """End the worker."""
        if self._watched is not None:
            self._watch.remove(self._watched)
        if self._session is not None:
            self._session.close()
        if self._watched is not None:
            self._watched.end_survivors()
        self._session = self._watched = None

    def _attempt(self, pdf: str, page: int, timeout_s: float) -> tuple[PageOutcome, bool]:
        """Return one attempt, and whether another one makes sense."""
        worn = self._session is not None
        if self._session is None or self._watched is None:
            self._start()
        assert self._session is not None and self._watched is not None
        session, watched = self._session, self._watched
        session.prepare(self.parser.options, timeout_s=self._limits.start_timeout_s)
        watched.begin(timeout_s)
        started = time.perf_counter()
        try:
            answer = session.ask(pdf, page, self.parser.options, timeout_s=timeout_s * self._limits.patience)
        except WorkerFailure as failure:
            watched.look()
            elapsed = time.perf_counter() - started
            n_left = watched.end_survivors()
            self._forget()
            by_chance = failure.kind in ("died", "garbage") and not watched.was_ended
            return self._failed(failure, watched, elapsed, n_left, timeout_s), worn or by_chance
        elapsed = time.perf_counter() - started
        watched.look()
        return self._answered(answer, watched, elapsed), False

    def _start(self) -> None:
        try:
            command = self.parser.command(self._hidden)
        except ParserError as error:
            raise ParserUnusableError(str(error)) from error
        for is_last in (False, True):
            if self._stopped:
                raise StoppedError
            try:
                self._session = WorkerSession(
                    command,
                    start_timeout_s=self._limits.start_timeout_s,
                    max_answer_bytes=self._limits.max_answer_bytes,
                    disk_mb=self._limits.disk_mb,
                    on_start=self._started,
                )
            except WorkerFailure as failure:
                self._forget()
                if is_last:
                    tail = failure.stderr_tail.strip()[-STDERR_KEPT:]
                    said = f"{failure} Its stderr ends: {tail}" if tail else str(failure)
                    raise ParserUnusableError(f"{self.parser.name} does not start: {said}") from failure
            else:
                self.hello = self._session.hello
                return

    def _started(self, pid: int, folder: Path | None) -> None:
        with self._lock:
            self._watched = self._watch.add(pid, self._limits.memory_mb, folder, self._limits.disk_mb)
            if self._stopped:
                end_supervised(pid)

    def _forget(self) -> None:
        """Drop a session that has ended by itself; it has closed what it held."""
        if self._watched is not None:
            self._watch.remove(self._watched)
        self._session = self._watched = None
        if self._stopped:
            raise StoppedError

    def _failed(
        self, failure: WorkerFailure, watched: Watched, elapsed: float, n_left: int, timeout_s: float
    ) -> PageOutcome:
        if watched.was_ended:
            error = watched.why_ended
        elif failure.kind == "timeout":
            used = f"{watched.cpu_s or 0:.1f} s of CPU time were used, of {timeout_s:g}"
            within_s = timeout_s * self._limits.patience
            error = f"The worker did not answer within {within_s:g} s and was ended ({used})."
        else:
            error = str(failure)
        if n_left:
            error += f" {n_left} of its processes had outlived their supervisor and were ended."
        return PageOutcome(
            Status.PARSER_TIMEOUT if failure.kind == "timeout" or watched.overtime else Status.PARSER_FAILED,
            wall_s=elapsed,
            cpu_s=watched.cpu_s,
            peak_memory_mb=watched.peak_mb,
            error=error,
            stderr_tail=failure.stderr_tail.strip()[-STDERR_KEPT:] or None,
        )

    def _answered(self, answer: Answer, watched: Watched, elapsed: float) -> PageOutcome:
        """Return our measurements; the worker's own count only where the system gives none."""
        most_cpu_s = (elapsed + 1.0) * (os.cpu_count() or 1)
        return PageOutcome(
            Status.OK if answer.output is not None else Status.PARSER_FAILED,
            output=answer.output,
            wall_s=elapsed,
            cpu_s=_believed(watched.cpu_s, answer.cpu_s, most_cpu_s),
            peak_memory_mb=_believed(watched.peak_mb, answer.peak_memory_mb, _MACHINE_MB),
            error=answer.error,
            cost_usd=answer.cost_usd,
        )


def shared_by_pages(whole: PageOutcome, pages: Sequence[int]) -> list[PageOutcome]:
    """Return the outcome of each page of a document that was parsed in one call."""
    n = len(pages)
    wall_s, cpu_s, cost_usd = (
        None if value is None else value / n for value in (whole.wall_s, whole.cpu_s, whole.cost_usd)
    )
    each = dataclasses.replace(whole, output=None, wall_s=wall_s, cpu_s=cpu_s, cost_usd=cost_usd)
    if whole.output is None:
        return [each] * n
    try:
        found = pages_in(whole.output)
    except ProtocolError as error:
        why = f"The worker's answer for the document is not valid: {error}."
        return [dataclasses.replace(each, status=Status.PARSER_FAILED, error=why)] * n
    return [
        dataclasses.replace(each, output=found[page])
        if page in found
        else dataclasses.replace(
            each, status=Status.PARSER_FAILED, error=f"The parser's document has no page {page}."
        )
        for page in pages
    ]


def _believed(measured: float | None, said: float | None, most: float) -> float | None:
    return said if measured is None and said is not None and said <= most else measured
