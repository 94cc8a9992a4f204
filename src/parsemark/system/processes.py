"""Processes that we start: what they and their children use, how they ended, and how to end them all.

A program that we did not write is started by `Supervised`, under a supervisor (`supervisor.py`) that ends
with it all that it has started, also when this process is killed. One that runs on input nobody has read is
started by `start_confined` (`confined.py`): with bounded means, and without files but its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


SUPERVISOR = Path(__file__).with_name("supervisor.py")
_CLOSE_S = 5.0
"""How long the supervisor may take to end all; then we end them ourselves."""


_DYING_S = 60.0
"""How long what was killed may take to be gone before we go on without it."""


class Supervised:
    """A running program with its pipes, and everything that it has started, ended together by `close`.

    Args:
        argv: The program and its arguments.
        env: Its environment.
        cwd: Its folder.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str) -> None:
        lifeline, self._lifeline = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), *argv],
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=[lifeline],
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(lifeline)
        self._closed = False

    @property
    def pid(self) -> int:
        """The supervisor's process id; the program and all its descendants are below it."""
        return self.process.pid

    def begin(self) -> None:
        """Let the program start: until now only the supervisor runs, and limits can be set on it."""
        with contextlib.suppress(OSError):
            os.write(self._lifeline, b"b")

    def close(self) -> None:
        """End everything; on return it is gone."""
        if self._closed:
            return
        self._closed = True
        os.close(self._lifeline)
        try:
            self.process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:  # somebody has stopped the supervisor, or the machine is very busy
            ended = kill_tree(self.pid)
            self.process.wait()
            _wait_for_the_end(ended)


def end_supervised(pid: int) -> None:
    """Have a supervisor end its program and all that it has started, without waiting for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Process:
    """What the system says of one process. A process id is given again; together with the start it is not."""

    pid: int
    started: int
    memory_mb: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What several processes use now."""

    memory_mb: float
    cpu_s: float


def processes_below(pid: int) -> list[Process]:
    """All descendants of a process; empty if there are none or the system does not tell."""
    found: dict[int, Process] = {}
    pending = _children(pid)
    while pending:
        child = pending.pop()
        if child not in found and (process := _look_at(child)) is not None:
            found[child] = process
            pending += _children(child)
    return list(found.values())


def usage_of(processes: Iterable[Process]) -> Usage:
    """What they use together."""
    listed = list(processes)
    return Usage(sum(p.memory_mb for p in listed), sum(p.cpu_s for p in listed))


def kill_tree(pid: int) -> list[Process]:
    """End a process and all its descendants; they are stopped first, so that none can fork on.

    Returns:
        The descendants, which may take a moment to be gone.
    """
    _send(pid, signal.SIGSTOP)
    stopped: dict[int, Process] = {}
    while new := [p for p in processes_below(pid) if p.pid not in stopped]:
        for member in new:
            _send(member.pid, signal.SIGSTOP)
        stopped |= {member.pid: member for member in new}
    for number in (pid, *stopped):
        _send(number, signal.SIGKILL)
    return list(stopped.values())


def kill_survivors(processes: Iterable[Process]) -> int:
    """End those that are still there and not only waiting to be collected; returns how many there were.

    On return they are gone.
    """
    survivors = [p for p in processes if is_alive(p)]
    for process in survivors:
        _send(process.pid, signal.SIGKILL)
    _wait_for_the_end(survivors)
    return len(survivors)


def _wait_for_the_end(killed: Sequence[Process]) -> None:
    """SIGKILL is a promise of the system, which a busy one keeps later; one that hangs in a device may never
    be gone, and nobody waits for it for ever.
    """
    end = time.monotonic() + _DYING_S
    while any(map(is_alive, killed)) and time.monotonic() < end:
        time.sleep(0.002)


def is_alive(process: Process) -> bool:
    """Whether it is that process that runs under the id, and it has not ended."""
    fields = _stat(process.pid)
    return fields is not None and int(fields[19]) == process.started and fields[0] not in "ZX"


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


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _look_at(pid: int) -> Process | None:
    fields = _stat(pid)
    if fields is None:
        return None
    # 11 to 14 are the CPU times, own and of children waited for; 19 is the start, 21 the resident memory.
    cpu_s = sum(int(f) for f in fields[11:15]) / _TICKS_PER_S
    return Process(pid, int(fields[19]), int(fields[21]) * _PAGE_MB, cpu_s)


def _stat(pid: int) -> list[str] | None:
    """`/proc/PID/stat` from field 3 of proc(5) on: the name before it may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    children: list[int] = []
    tasks = Path(f"/proc/{pid}/task")
    with contextlib.suppress(OSError):
        for task in tasks.iterdir():
            with contextlib.suppress(OSError):
                children += [int(child) for child in (task / "children").read_text().split()]
    return children


LAUNCHER = Path(__file__).with_name("confined.py")


@dataclass(frozen=True, slots=True)
class Rights:
    """What a confined program may use."""

    cpu_s: int
    memory_mb: int
    file_mb: int
    """Size of each file that it writes."""
    read: Sequence[str]
    """Folders and files that it may read and run (where the kernel has Landlock)."""
    write: Sequence[str]
    """Folders and files that it may also write."""


def start_confined(
    command: Sequence[str], rights: Rights, *, cwd: Path, env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a program that has no more than these rights, in a process group of its own, without streams."""
    wanted = {
        "cpu_s": rights.cpu_s,
        "memory_mb": rights.memory_mb,
        "file_mb": rights.file_mb,
        "read": list(rights.read),
        "write": list(rights.write),
    }
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(wanted), *command],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
