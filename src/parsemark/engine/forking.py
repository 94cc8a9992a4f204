"""A copy of this process, made before it has done anything, of which workers are forked.

A worker that is forked of it has everything imported at once. A process that starts from nothing, as
Python's own fork server does, imports the same libraries again, which costs more than to score some pages.

A process in which threads may hold locks must not be forked; so the copy is made right after the imports, or
not at all. Threads that there are then belong to libraries (polars' allocator and cleaner, numpy's BLAS):
they wait for work, and allocator and BLAS put themselves right in a copy. Polars' pool of threads begins with
its first use, which is why a process that has had polars before is not copied. Only on Linux: elsewhere the
system's own libraries do not bear it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

_STARTS_THREADS = ("polars",)  # have a pool of threads from their first use on, not from their import


def is_fresh() -> bool:
    """Whether nothing has been done in this process yet that a copy could suffer from."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return not any(name in sys.modules for name in _STARTS_THREADS)


class Template:
    """The copy; it lives until it is closed, or this process ends. A context manager."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._requests, theirs = context.Pipe()
        self._process = context.Process(target=fork_worker, args=(theirs, self._requests))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: see above which there are
            self._process.start()
        theirs.close()

    def __enter__(self) -> Template:
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.close()
        self._process.join()

    def start(self, function: Callable[..., None], pipe: Connection, *args: Any) -> ForkedProcess:
        """A new process that does `function(pipe, *args)`; ChildProcessError if the copy cannot fork it."""
        try:
            self._requests.send(("start", function, args))
            reduction.send_handle(self._requests, pipe.fileno(), self._process.pid)
            pid = self._requests.recv()
        except (EOFError, OSError) as error:
            raise ChildProcessError("The process that starts workers has ended.") from error
        except KeyboardInterrupt:  # a question was left in the middle: the next answer would be of another
            self._requests.close()
            raise
        if pid is None:
            raise ChildProcessError("No worker could be forked.")
        return ForkedProcess(self, pid)

    def wait_for(self, pid: int, *, kill: bool) -> int:
        """The exit code of a process that has ended, or is ended now."""
        try:
            self._requests.send(("kill" if kill else "join", pid, ()))
            return int(self._requests.recv())
        except (EOFError, OSError):  # the copy was ended: nobody knows more of its workers
            if kill:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return -signal.SIGKILL
        except KeyboardInterrupt:  # a question was left in the middle: the next answer would be of another
            self._requests.close()
            raise


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


def fork_worker(requests: Connection, theirs: Connection) -> None:
    """What the copy does: fork workers until the other side is closed; then it ends, and they with it."""
    theirs.close()
    for stop in (signal.SIGINT, signal.SIGTERM):  # the business of the pool, which closes the other side
        signal.signal(stop, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError, RuntimeError):  # closed, given up in the middle, or killed
        _fork_as_asked(requests)


def _fork_as_asked(requests: Connection) -> None:
    context = multiprocessing.get_context("fork")
    workers: dict[int, Any] = {}
    while True:
        what, subject, args = requests.recv()
        if what == "start":
            pipe = Connection(reduction.recv_handle(requests))
            worker = context.Process(target=_work, args=(requests, subject, pipe, *args), daemon=True)
            try:
                worker.start()
            except OSError:  # no room for a further process
                pipe.close()
                requests.send(None)
                continue
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
