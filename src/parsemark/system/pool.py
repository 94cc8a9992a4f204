"""A pool of processes for our own work on hostile data: a task that crashes or hangs costs itself alone.

Unlike `concurrent.futures`, the pool knows which task a dead process had, ends a process that takes too
much CPU time or hangs, and goes on with a new one. The processes are forked of a template: none of our
threads or locks are copied into them, and what one of them has imported the next one has at once.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from parsemark.errors import ParsemarkError
from parsemark.system.processes import Supervised, describe_exit, look_at, processes_below

TaskT = TypeVar("TaskT")
_STARTS_THREADS = ("polars",)  # have a pool of threads from their first use on, not from their import
_IDLE, _WALL_PER_CPU = 0.01, 10
"""A task hangs if it has used less than this share of the clock after so many times its CPU time."""
_LONGEST_WAIT_S = 3600.0  # at a time; the system takes no endless ones
_FROM_NOTHING = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from parsemark.system.pool import be_template; be_template()"
)


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


@dataclass(eq=False)
class _Worker:
    """A process that its template has forked, and what it does."""

    template: Template
    pid: int
    pipe: Connection
    task: Any = None
    began: float = 0.0
    look_at: float = math.inf  # when it is to be looked at next
    used_s: float = 0.0  # CPU time that it had used when it began

    def cpu_s(self) -> float:
        """Return CPU time of the process and of what it has started; 0 where the system does not tell."""
        listed = look_at(self.pid), *processes_below(self.pid)
        return sum(one.cpu_s for one in listed if one is not None)

    def end(self, *, kill: bool = True) -> int:
        """End it, or wait until it has ended; returns its exit code."""
        code = self.template.end(self.pid, kill=kill)
        self.pipe.close()
        return code


class ProcessPool(Generic[TaskT]):
    """Runs `function(task)`, of a module, in processes; tasks and results must pickle. Use it as a context
    manager.

    `timeout_s` is CPU time of one task and of what it starts: machines may be busy, and the clock counts only
    for a task that hangs. `memory_mb` (None: no limit) is for one process and each that it starts. Without a
    template the processes are forked of one that starts from nothing, shared by all pools of this process.
    """

    def __init__(
        self,
        function: Callable[[TaskT], Any],
        n_processes: int,
        *,
        timeout_s: float,
        memory_mb: int | None,
        template: Template | None = None,
    ) -> None:
        self._n_processes = n_processes
        self._timeout_s = timeout_s
        self._arguments = function, memory_mb
        self._template = template
        self._waiting: deque[TaskT] = deque()
        self._busy: dict[Connection, _Worker] = {}
        self._idle: list[_Worker] = []

    @property
    def window(self) -> int:
        """Return how many tasks to submit at a time so that no process waits for one."""
        return 2 * self._n_processes

    def submit(self, task: TaskT) -> None:
        """Add a task; also while results are being read."""
        self._waiting.append(task)

    def results(self) -> Iterator[Finished[TaskT] | Lost[TaskT]]:
        """Yield the result of each task as it ends. ParsemarkErrors are raised; a bug is a RuntimeError."""
        while self._waiting or self._busy:
            while self._waiting and len(self._busy) < self._n_processes:
                self._begin(self._waiting.popleft())
            soonest = min(worker.look_at for worker in self._busy.values()) - time.monotonic()
            for pipe in wait(list(self._busy), timeout=max(0.0, min(soonest, _LONGEST_WAIT_S))):
                yield self._ended(self._busy.pop(pipe))  # type: ignore[call-overload]  # only pipes are waited for
            for worker in [w for w in self._busy.values() if w.look_at <= time.monotonic()]:
                if reason := self._overrun(worker):
                    del self._busy[worker.pipe]
                    worker.end()
                    yield Lost(worker.task, reason)

    def __enter__(self) -> ProcessPool[TaskT]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in [*self._idle, *self._busy.values()]:
            worker.end()

    def _begin(self, task: TaskT) -> None:
        worker = self._idle.pop() if self._idle else self._start()
        worker.task, worker.began, worker.used_s = task, time.monotonic(), worker.cpu_s()
        worker.look_at = worker.began + self._timeout_s
        with contextlib.suppress(OSError):  # it died while idle: reading from it will tell
            worker.pipe.send(task)
        self._busy[worker.pipe] = worker

    def _overrun(self, worker: _Worker) -> str:
        """Return the resource that a task has used up; empty if it may go on, with the time of the next
        check.
        """
        now, used_s = time.monotonic(), worker.cpu_s() - worker.used_s
        if used_s >= self._timeout_s:
            return f"took more than {self._timeout_s:g} s of CPU time"
        if now - worker.began >= _WALL_PER_CPU * self._timeout_s and used_s < _IDLE * (now - worker.began):
            return f"did nothing for most of {_WALL_PER_CPU * self._timeout_s:g} s"
        worker.look_at = now + max(self._timeout_s - used_s, 0.05)
        return ""

    def _start(self) -> _Worker:
        template = self._template or _shared_template(os.getpid(), tuple(sys.path))
        ours, theirs = multiprocessing.Pipe()
        with theirs:
            try:
                pid = template.start(serve, theirs, *self._arguments)
            except ChildProcessError:  # it is lost; the others come of one that starts from nothing
                ours.close()  # a worker that it still may have begun ends by this
                if template.is_new:
                    raise
                self._template = None
                _shared_template.cache_clear()
                return self._start()
        with contextlib.suppress(EOFError, OSError):  # it died at once: reading its answer will tell
            ours.recv()
        return _Worker(template, pid, ours)

    def _ended(self, worker: _Worker) -> Finished[TaskT] | Lost[TaskT]:
        try:
            result, error, trace = worker.pipe.recv()
        except (EOFError, OSError):
            return Lost(worker.task, f"its process ended {describe_exit(worker.end(kill=False))}")
        if isinstance(error, ParsemarkError):
            raise error
        if trace is not None:
            raise RuntimeError(f"{error}\n{trace}")
        self._idle.append(worker)
        return Finished(worker.task, result)


def results_of(pool: Any, tasks: Iterable[TaskT]) -> Iterator[Finished[TaskT] | Lost[TaskT]]:
    """Submit tasks to a pool of any kind, few at a time, and yield what became of each as it ends."""
    todo = iter(tasks)
    for task in islice(todo, pool.window):
        pool.submit(task)
    for result in pool.results():
        for task in islice(todo, 1):
            pool.submit(task)
        yield result


def serve(pipe: Connection, function: Callable[[Any], Any], memory_mb: int | None) -> None:
    """Answer requests in a process of the pool until the pool closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pool's business
    if memory_mb is not None:
        # What is allocated, not address space: a browser that a protocol starts reserves more than it uses.
        with contextlib.suppress(ValueError, OSError):
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


# --- The process of which they are forked -------------------------------------------------------------


def is_fresh() -> bool:
    """Return whether nothing has been done in this process yet that a copy could suffer from.

    A process in which threads may hold locks must not be forked; so a copy is made right after the imports,
    or not at all. Threads that there are then belong to libraries (polars' allocator and cleaner, numpy's
    BLAS): they wait for work, and allocator and BLAS put themselves right in a copy. Polars' pool of threads
    begins with its first use, which is why a process that has had polars before is not copied. Only on Linux:
    elsewhere the system's own libraries do not bear it.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return not any(name in sys.modules for name in _STARTS_THREADS)


class Template:
    """A process of which workers are forked; it lives until it is closed, or this process ends.

    `of_this_process`: a copy of this one with all that it has imported, if it was fresh before (`is_fresh`).
    It saves the time to import the same again, which costs more than to score some pages.
    """

    def __init__(self, *, of_this_process: bool = True) -> None:
        self.is_new = True  # whether it has forked nothing yet
        self._lock = threading.Lock()
        self._program: Supervised | None = None
        if of_this_process:
            context = multiprocessing.get_context("fork")
            self._requests, theirs = context.Pipe()
            self._process = context.Process(target=_be_copy, args=(theirs, self._requests))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads: see above which there are
                self._process.start()
            theirs.close()
            self.pid = self._process.pid or 0
            return
        ours, their_socket = socket.socketpair()
        with their_socket:
            self._requests = Connection(ours.detach())
            path = json.dumps([entry or str(Path.cwd()) for entry in sys.path])
            command = [sys.executable, "-I", "-c", _FROM_NOTHING, path]
            streams = their_socket.fileno(), None, None
            self._program = Supervised(command, env=os.environ, streams=streams)
        self._program.begin()
        self.pid = self._program.pid

    def __enter__(self) -> Template:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it and its workers."""
        self._requests.close()
        if self._program is None:
            self._process.join()
        else:
            self._program.close()

    def start(self, function: Callable[..., None], pipe: Connection, *args: Any) -> int:
        """Return the id of a new process that does `function(pipe, *args)`; ChildProcessError without one."""
        with self._asking():
            try:
                self._requests.send(("start", function, (_working_folder(), *args)))
                reduction.send_handle(self._requests, pipe.fileno(), self.pid)
                pid = self._requests.recv()
            except (EOFError, OSError) as error:
                raise ChildProcessError("The process that starts workers has ended.") from error
        if pid is None:
            raise ChildProcessError("No worker could be forked.")
        self.is_new = False
        return int(pid)

    def end(self, pid: int, *, kill: bool) -> int:
        """Return the exit code of a process that has ended, or is ended now."""
        with self._asking():
            try:
                self._requests.send(("kill" if kill else "join", pid, ()))
                return int(self._requests.recv())
            except (EOFError, OSError):  # the template was ended: nobody knows more of its workers
                if kill:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return -signal.SIGKILL

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Ask one question at a time; the answer to a question that Ctrl-C interrupted is discarded."""
        with self._lock:
            try:
                yield
            except KeyboardInterrupt:
                self._requests.close()
                raise


@functools.lru_cache(maxsize=1)
def _shared_template(_pid: int, _module_path: tuple[str, ...]) -> Template:
    """Return the template of this process that has started from nothing.

    A template finds modules where this process found them when it was started. If the module path has
    changed since, a new template is started. The old one is closed once no pool uses it any more.
    """
    template = Template(of_this_process=False)
    weakref.finalize(template, _close_template_of, os.getpid(), template._requests, template._program)
    return template


def _close_template_of(owner: int, requests: Connection, program: Supervised | None) -> None:
    """End a template and its workers. A process that was forked of the owner closes its copies alone."""
    requests.close()
    if program is not None and os.getpid() == owner:
        program.close()
    elif program is not None:
        program.let_go()


def be_template() -> None:
    """Run as the template that starts from nothing, and takes requests from its standard input."""
    requests = Connection(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    fork_workers(requests)


def _be_copy(requests: Connection, theirs: Connection) -> None:
    theirs.close()
    fork_workers(requests)


def fork_workers(requests: Connection) -> None:
    """Fork workers until the other side is closed; then it ends, and they with it."""
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


def _working_folder() -> str | None:
    """Return the folder that relative paths start from now; None where it was removed."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return None


def _work(
    requests: Connection, function: Callable[..., None], pipe: Connection, folder: str | None, *args: Any
) -> None:
    requests.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if folder is not None:  # the template may have started elsewhere
        with contextlib.suppress(OSError):
            os.chdir(folder)
    function(pipe, *args)
