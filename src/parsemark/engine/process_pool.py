"""A pool of processes for our own work on hostile data: a task that crashes or hangs costs itself alone.

Unlike `concurrent.futures`, the pool knows which task a dead process had, ends a process that takes too
long, and goes on with a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import multiprocessing
import resource
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from parsemark.engine.forking import Template
from parsemark.errors import ParsemarkError
from parsemark.system.processes import describe_exit
from parsemark.system.scratch import ScratchFolder

TaskT = TypeVar("TaskT")


@dataclass(frozen=True, slots=True)
class Finished(Generic[TaskT]):
    """A task that was done."""

    task: TaskT
    result: Any


@dataclass(frozen=True, slots=True)
class Lost(Generic[TaskT]):
    """A task whose process died or was ended."""

    task: TaskT
    reason: str


class _Process(Protocol):
    @property
    def exitcode(self) -> int | None: ...

    def kill(self) -> None: ...

    def join(self) -> None: ...


@dataclass
class _Member(Generic[TaskT]):
    process: _Process
    pipe: Connection
    task: TaskT
    deadline: float


class ProcessPool(Generic[TaskT]):
    """Runs `function(task)`, of a module, in processes; tasks and results must pickle. Use it as a context
    manager.

    `timeout_s` is for one task, `memory_mb` for one process and each that it starts. The template forks the
    processes; without one they are forked of a server that starts from nothing.
    """

    def __init__(
        self,
        function: Callable[[TaskT], Any],
        n_processes: int,
        *,
        timeout_s: float,
        memory_mb: int,
        template: Template | None = None,
    ) -> None:
        self._function = function
        self._n_processes = n_processes
        self._timeout_s = timeout_s
        self._memory_mb = memory_mb
        # A server that has imported what is needed and nothing more forks the processes: they start fast,
        # and none of our threads or locks are copied into them.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([function.__module__])
        _keep_sockets_swept()
        self._template = template
        self._waiting: deque[TaskT] = deque()
        self._busy: dict[Connection, _Member[TaskT]] = {}
        self._idle: list[tuple[_Process, Connection]] = []

    @property
    def window(self) -> int:
        """How many tasks to submit at a time so that no process waits for one."""
        return 2 * self._n_processes

    def submit(self, task: TaskT) -> None:
        """Add a task; also while results are being read."""
        self._waiting.append(task)

    def results(self) -> Iterator[Finished[TaskT] | Lost[TaskT]]:
        """What became of each task, as they end. ParsemarkErrors are raised; a bug is a RuntimeError."""
        while self._waiting or self._busy:
            while self._waiting and len(self._busy) < self._n_processes:
                self._begin(self._waiting.popleft())
            soonest = min(member.deadline for member in self._busy.values())
            for pipe in wait(list(self._busy), timeout=max(0.0, soonest - time.monotonic())):
                yield self._end(self._busy.pop(pipe))  # type: ignore[call-overload]  # only pipes are waited for
            for member in [m for m in self._busy.values() if m.deadline <= time.monotonic()]:
                del self._busy[member.pipe]
                self._kill(member.process, member.pipe)
                yield Lost(member.task, f"took more than {self._timeout_s:g} s")

    def __enter__(self) -> ProcessPool[TaskT]:
        return self

    def __exit__(self, *_: object) -> None:
        for process, pipe in [*self._idle, *((m.process, m.pipe) for m in self._busy.values())]:
            self._kill(process, pipe)

    def _begin(self, task: TaskT) -> None:
        process, pipe = self._idle.pop() if self._idle else self._start()
        with contextlib.suppress(OSError):  # it died while idle: reading from it will tell
            pipe.send(task)
        self._busy[pipe] = _Member(process, pipe, task, time.monotonic() + self._timeout_s)

    def _start(self) -> tuple[_Process, Connection]:
        ours, theirs = self._context.Pipe()
        try:
            process = self._new_process(theirs)
        except ChildProcessError:  # the template is lost: the others come of Python's server
            self._template = None
            ours.close()  # a worker that it still may have begun ends by this
            theirs.close()
            return self._start()
        theirs.close()
        with contextlib.suppress(EOFError, OSError):  # it died at once: reading its answer will tell
            ours.recv()
        return process, ours

    def _new_process(self, pipe: Connection) -> _Process:
        if self._template is not None:
            return self._template.start(_serve, pipe, self._function, self._memory_mb)
        args = (pipe, self._function, self._memory_mb)
        process = self._context.Process(target=_serve, args=args, daemon=True)
        with _hidden_main():
            process.start()
        return process

    def _end(self, member: _Member[TaskT]) -> Finished[TaskT] | Lost[TaskT]:
        try:
            result, error, trace = member.pipe.recv()
        except (EOFError, OSError):
            member.process.join()
            code = member.process.exitcode or 0
            member.pipe.close()
            return Lost(member.task, f"its process ended {describe_exit(code)}")
        if isinstance(error, ParsemarkError):
            raise error
        if trace is not None:
            raise RuntimeError(f"{error}\n{trace}")
        self._idle.append((member.process, member.pipe))
        return Finished(member.task, result)

    @staticmethod
    def _kill(process: _Process, pipe: Connection) -> None:
        process.kill()
        process.join()
        pipe.close()


@functools.cache
def _keep_sockets_swept() -> None:
    """Have Python's server keep its socket where the next pool removes it if this process is killed."""
    folder = ScratchFolder("pmrk-")  # no longer than Python's own: names of sockets have 107 bytes at most
    atexit.register(folder.close)
    vars(multiprocessing.current_process())["_config"]["tempdir"] = str(folder.path)


@contextlib.contextmanager
def _hidden_main() -> Iterator[None]:
    """While this is open, nobody learns what the main module is.

    Python would run a user's script anew in each process that it starts, up to the call that brought us here,
    and refuse there. The processes need nothing of it: what they run is ours.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(pipe: Connection, function: Callable[[Any], Any], memory_mb: int) -> None:
    """What a process of the pool does: answer until the pool closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pool's business
    with contextlib.suppress(ValueError, OSError):
        # What is allocated, not address space: a browser that a protocol starts reserves more than it uses.
        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb * 2**20, memory_mb * 2**20))
    with contextlib.suppress(EOFError, OSError):  # the pool is gone: closed, or its process was killed
        pipe.send("ready")  # only now the clock of the first task starts
        while True:
            pipe.send(_answer(function, pipe.recv()))


def _answer(function: Callable[[Any], Any], task: Any) -> tuple[Any, Any, str | None]:
    try:
        return function(task), None, None
    except ParsemarkError as error:
        return None, error, None
    except Exception as error:  # the boundary: handed to the pool, which raises it
        return None, repr(error), traceback.format_exc()
