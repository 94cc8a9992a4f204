"""A copy of this process, made while nothing ran beside its main thread, of which workers are forked.

A worker that is forked of it has everything imported at once. A process that starts from nothing, as
Python's own fork server does, imports the same libraries again, which costs more than to score some pages.
A process in which threads may hold locks must not be forked; so the copy is made first of all, or not at all.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

_STARTS_THREADS = ("polars",)
"""Libraries that keep threads from their first use on; merely imported, they may be forked."""


def is_fresh() -> bool:
    """Whether nothing has been done in this process yet that a copy could suffer from."""
    return threading.active_count() == 1 and not any(name in sys.modules for name in _STARTS_THREADS)


class Template:
    """The copy; it lives until it is closed, or this process ends. A context manager."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._requests, theirs = context.Pipe()
        self._process = context.Process(target=_bear, args=(theirs, self._requests))
        self._process.start()
        theirs.close()

    def __enter__(self) -> Template:
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.close()
        self._process.join()

    def start(self, function: Callable[..., None], pipe: Connection, *args: Any) -> ForkedProcess:
        """A new process that does `function(pipe, *args)`.

        Raises:
            ChildProcessError: Somebody has ended the copy.
        """
        try:
            self._requests.send(("start", function, args))
            reduction.send_handle(self._requests, pipe.fileno(), self._process.pid)
            return ForkedProcess(self, int(self._requests.recv()))
        except (EOFError, OSError) as error:
            raise ChildProcessError("The process that starts workers has ended.") from error

    def wait_for(self, pid: int, *, kill: bool) -> int:
        """The exit code of a process that has ended, or is ended now."""
        try:
            self._requests.send(("kill" if kill else "join", pid, ()))
            return int(self._requests.recv())
        except (EOFError, OSError):  # the copy was ended: nobody knows more of its workers
            return -signal.SIGKILL


class ForkedProcess:
    """A process that the template has forked, as the pool wants it."""

    def __init__(self, template: Template, pid: int) -> None:
        self.pid = pid
        self.exitcode: int | None = None
        self._template = template

    def kill(self) -> None:
        """End it now."""
        self.exitcode = self._template.wait_for(self.pid, kill=True)

    def join(self) -> None:
        """Wait until it has ended."""
        if self.exitcode is None:
            self.exitcode = self._template.wait_for(self.pid, kill=False)


def _bear(requests: Connection, theirs: Connection) -> None:
    """What the copy does: fork workers until the other side is closed; then it ends, and they with it."""
    theirs.close()
    for stop in (signal.SIGINT, signal.SIGTERM):  # the business of the pool, which closes the other side
        signal.signal(stop, signal.SIG_IGN)
    context = multiprocessing.get_context("fork")
    workers: dict[int, Any] = {}
    while True:
        try:
            what, subject, args = requests.recv()
        except (EOFError, OSError):
            return
        if what == "start":
            pipe = Connection(reduction.recv_handle(requests))
            worker = context.Process(target=_work, args=(requests, subject, pipe, *args), daemon=True)
            worker.start()
            pipe.close()
            workers[worker.pid or 0] = worker
            requests.send(worker.pid)
        else:
            worker = workers.pop(subject)
            if what == "kill":
                worker.kill()
            worker.join()
            requests.send(worker.exitcode)
            worker.close()


def _work(requests: Connection, function: Callable[..., None], pipe: Connection, *args: Any) -> None:
    requests.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    function(pipe, *args)
