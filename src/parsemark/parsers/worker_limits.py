"""Watches what workers use, children included, and ends those that take too much memory or disk.

One thread watches all workers by reading `/proc`. Where there is no `/proc` nothing is watched: peak memory
is then what the worker says of itself, and only its own address space could be limited.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from parsemark.parsers.parser import WorkerCommand
from parsemark.parsers.session import START_TIMEOUT_S, WorkerFailure, WorkerSession
from parsemark.system import processes
from parsemark.system.processes import Process

MEMORY_MB = 4096  # resident memory of a worker and all processes that it has started (Linux)
DISK_MB = 2048  # what a confined worker may hold in its folder, and the size of each file it writes

PERIOD_S = 0.05
_DISK_PERIOD_S = 0.5
_MAX_FILES = 100_000  # of one worker; so many are no work of a parser
_MAX_SEEN = 1_000
_ADDRESS_SPACE_FACTOR = 4
_ADDRESS_SPACE_EXTRA_MB = 16_384
"""Address space is no measure of use (Java and BLAS reserve gigabytes); the limit only stops a sudden one."""


class Watched:
    """One worker under watch, with all that it has started."""

    def __init__(self, pid: int, memory_mb: int, folder: Path | None, disk_mb: int) -> None:
        self.pid = pid  # of the worker's supervisor
        self.memory_mb = memory_mb
        self.disk_mb = disk_mb
        self._folder = folder
        self._next_disk_look = 0.0
        self.overfull = False  # whether it was ended because of what it has written
        self.exceeded = False  # whether it was ended because of its memory
        self.overtime = False  # whether it was ended because of its CPU time
        self._seen: dict[tuple[int, int], Process] = {}
        self.begin()

    def begin(self, cpu_limit_s: float = math.inf) -> None:
        """Start a new page: peak and CPU time count from here."""
        self._cpu_limit_s = cpu_limit_s
        members = self._members()
        memory_mb, self._cpu_before = processes.usage_of(members)
        self.peak_mb = memory_mb if members else None
        self.cpu_s: float | None = 0.0 if members else None

    def look(self) -> None:
        """Take one sample; end the worker and its children if they are over their limit."""
        members = self._members()
        if not members:
            return
        memory_mb, cpu_s = processes.usage_of(members)
        self.peak_mb = max(self.peak_mb or 0.0, memory_mb)
        self.cpu_s = max(self.cpu_s or 0.0, cpu_s - self._cpu_before)
        self.exceeded = self.exceeded or memory_mb > self.memory_mb
        self.overtime = self.overtime or self.cpu_s > self._cpu_limit_s
        if self._folder is not None and time.monotonic() >= self._next_disk_look:
            begun = time.monotonic()
            self.overfull = self.overfull or disk_use_mb(self._folder, members, self.disk_mb) > self.disk_mb
            # Many files take long to look at: no more than a tenth of the time.
            self._next_disk_look = time.monotonic() + max(_DISK_PERIOD_S, 9 * (time.monotonic() - begun))
        if self.was_ended:
            processes.end_supervised(self.pid)

    @property
    def was_ended(self) -> bool:
        """Return whether it was over one of its limits."""
        return self.exceeded or self.overtime or self.overfull

    @property
    def why_ended(self) -> str:
        """Return the limit that it was over, as an error; "" if it was over none."""
        if self.exceeded:
            what = f"used more than {self.memory_mb} MB of memory"
        elif self.overfull:
            what = f"wrote more than {self.disk_mb} MB to its folder"
        elif self.overtime:
            what = f"used more than {self._cpu_limit_s:g} s of CPU time"
        else:
            return ""
        return f"The worker {what} and was ended."

    def end_survivors(self) -> int:
        """End processes that outlived a killed supervisor; return their number."""
        return processes.kill_survivors(self._seen.values())

    def _members(self) -> list[Process]:
        members = processes.processes_below(self.pid)
        if len(self._seen) > _MAX_SEEN:
            self._seen = {key: p for key, p in self._seen.items() if processes.is_alive(p)}
        self._seen.update({(p.pid, p.started): p for p in members})
        return members


class Watch:
    """The thread that looks after workers. Use it as a context manager."""

    def __init__(self) -> None:
        self._watched: dict[int, Watched] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="parsemark-watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def add(self, pid: int, memory_mb: int, folder: Path | None, disk_mb: int) -> Watched:
        """Watch a new worker by its supervisor, and bound the address space of each of its processes."""
        _limit_address_space(pid, memory_mb)
        watched = Watched(pid, memory_mb, folder, disk_mb)
        with self._lock:
            self._watched[pid] = watched
        return watched

    def remove(self, watched: Watched) -> None:
        """Watch it no longer."""
        with self._lock:
            self._watched.pop(watched.pid, None)

    def _run(self) -> None:
        while not self._stop.wait(PERIOD_S):
            with self._lock:
                for watched in self._watched.values():
                    watched.look()


@contextlib.contextmanager
def limited_session(
    command: WorkerCommand,
    *,
    start_timeout_s: float = START_TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    disk_mb: int = DISK_MB,
) -> Iterator[WorkerSession]:
    """Start a worker outside of a run, within the limits of one; a WorkerFailure names the limit that it was
    over.
    """
    watched: list[Watched] = []

    def started(pid: int, folder: Path | None) -> None:
        watched.append(watch.add(pid, memory_mb, folder, disk_mb))

    with Watch() as watch:
        try:
            with WorkerSession(
                command, start_timeout_s=start_timeout_s, disk_mb=disk_mb, on_start=started
            ) as session:
                yield session
        except WorkerFailure as failure:
            if watched and watched[0].why_ended:
                raise WorkerFailure(failure.kind, watched[0].why_ended, failure.stderr_tail) from failure
            raise
        finally:
            for worker in watched:
                watch.remove(worker)
                worker.end_survivors()


def disk_use_mb(folder: Path, members: Iterable[Process], enough_mb: float) -> float:
    """Return what a folder holds on disk, and the files without a name that its processes hold; no more is
    counted beyond `enough_mb`. Too many files are an infinite size.
    """
    used_mb = sum(processes.open_files_mb((p.pid for p in members), in_memory=False).values())
    pending, n_files = [str(folder)], 0
    while pending and used_mb <= enough_mb:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                n_files += 1
                with contextlib.suppress(OSError):
                    used_mb += entry.stat(follow_symlinks=False).st_blocks * 512 / 2**20
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                if n_files > _MAX_FILES:
                    return math.inf
    return used_mb


def _limit_address_space(pid: int, memory_mb: int) -> None:
    if sys.platform != "linux":
        return
    limit = (memory_mb * _ADDRESS_SPACE_FACTOR + _ADDRESS_SPACE_EXTRA_MB) * 2**20
    with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
