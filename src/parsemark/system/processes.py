"""Processes that we start: what they and their children use, how they ended, and how to end them all."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its descendants use now."""

    memory_mb: float
    cpu_s: float


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


def describe_exit(code: int) -> str:
    """How a process ended, by the return code that `subprocess` and `multiprocessing` give.

    >>> describe_exit(-9), describe_exit(3)
    ('by signal SIGKILL', 'with exit code 3')
    """
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:  # real-time signals between the first and the last have no names
        return f"by signal {-code}"


def _children(process: Path) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in (process / "task").iterdir():
            with contextlib.suppress(OSError):
                children += [int(child) for child in (task / "children").read_text().split()]
    return children
