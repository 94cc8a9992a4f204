"""Watches what workers use, children included, and ends those that take too much memory.

One thread watches all workers by reading `/proc`. Where there is no `/proc` nothing is watched: peak memory
is then what the worker says of itself, and only its own address space could be limited.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

PERIOD_S = 0.05
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_ADDRESS_SPACE_FACTOR = 4
_ADDRESS_SPACE_EXTRA_MB = 16_384
"""Address space is no measure of use (Java and BLAS reserve gigabytes); the limit only stops a sudden one."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its descendants use now."""

    memory_mb: float
    cpu_s: float


class Watched:
    """One worker under watch."""

    def __init__(self, pid: int, memory_mb: int) -> None:
        self.pid = pid
        self.memory_mb = memory_mb
        self.exceeded = False
        """Whether it was ended because of its memory."""
        self.begin()

    def begin(self) -> None:
        """Start a new page: peak and CPU time count from here."""
        usage = usage_of(self.pid)
        self.peak_mb = usage.memory_mb if usage else None
        self._cpu_before = usage.cpu_s if usage else 0.0
        self.cpu_s: float | None = 0.0 if usage else None

    def look(self) -> None:
        """Take one sample; end the worker's process group if it is over its limit."""
        usage = usage_of(self.pid)
        if usage is None:
            return
        self.peak_mb = max(self.peak_mb or 0.0, usage.memory_mb)
        self.cpu_s = max(self.cpu_s or 0.0, usage.cpu_s - self._cpu_before)
        if usage.memory_mb > self.memory_mb:
            self.exceeded = True
            kill_group(self.pid)


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

    def add(self, pid: int, memory_mb: int) -> Watched:
        """Watch a new worker, and bound its address space."""
        _limit_address_space(pid, memory_mb)
        watched = Watched(pid, memory_mb)
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


def usage_of(pid: int) -> Usage | None:
    """What a process and its descendants use; None if it is gone or the system does not tell."""
    memory = cpu = 0.0
    pending, found = [pid], False
    while pending:
        process = Path("/proc") / str(pending.pop())
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found = True
        # From field 3 of proc(5) on: 11 to 14 are the CPU times, own and of children waited for; 21 is RSS.
        memory += int(fields[21]) * _PAGE_MB
        cpu += sum(int(f) for f in fields[11:15]) / _TICKS_PER_S
        pending += _children(process)
    return Usage(memory, cpu) if found else None


def kill_group(pid: int) -> None:
    """End a process group at once."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _children(process: Path) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in (process / "task").iterdir():
            with contextlib.suppress(OSError):
                children += [int(child) for child in (task / "children").read_text().split()]
    return children


def _limit_address_space(pid: int, memory_mb: int) -> None:
    if sys.platform != "linux":
        return
    limit = (memory_mb * _ADDRESS_SPACE_FACTOR + _ADDRESS_SPACE_EXTRA_MB) * 2**20
    with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
