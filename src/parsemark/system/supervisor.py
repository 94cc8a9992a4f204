"""Starts a program and ends, with it, everything that it has started. Run as a script, never imported.

    python -I -S supervisor.py LIFELINE CONFINEMENT PROGRAM ARGUMENT…

The supervisor waits for one byte on the descriptor LIFELINE (so that limits can be set on it first, which the
program inherits), starts the program in a session of its own, and then waits for the first of: the program
ends, the lifeline closes (the process that started it is gone, however it died), SIGTERM. Then it ends all
descendants, and ends as the program ended.

On Linux it is a subreaper: a descendant whose parent dies becomes the supervisor's child, also one that has
left its session and its group, so none can escape by forking. When the supervisor is gone, they are all gone.
Only the standard library, and only what starts fast.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys

SET_CHILD_SUBREAPER = 36
CANNOT_START = 127


def main() -> None:
    """Keep one program."""
    lifeline, confinement, program = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    # Linux gives us the orphans among our descendants; elsewhere only the process group is ended.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    alarm = catch_signals()
    if not os.read(lifeline, 1):
        os._exit(0)
    child = start(program, confinement)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # they are the program's own: their other ends must see when it closes them
        os.dup2(nothing, stream)
    status = wait_for_an_end(child, lifeline, alarm)
    end_all(child)
    end_as(status)


def catch_signals() -> int:
    """Make signals wake `select` through a pipe, and return its reading end."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP):  # Ctrl-C is the business of our parent
        signal.signal(number, signal.SIG_IGN)
    return reading


def start(program: list[str], confinement: str) -> int:
    """Fork and become the program there, confined as `confinement.py` does it; empty for no confinement."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    ignored = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python, and the program would inherit that
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, *ignored):
        signal.signal(number, signal.SIG_DFL)
    try:
        if confinement and not confine(confinement):
            os.write(2, b"This system promised to confine programs, and did not.\n")
            os._exit(CANNOT_START)
        os.execvp(program[0], program)
    except OSError as error:
        os.write(2, f"Cannot start {program[0]}: {error.strerror}\n".encode())
    os._exit(CANNOT_START)


def confine(rights_as_json: str) -> bool:
    """Give up rights; False if that cannot be, and must be."""
    import json

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - starts faster
    import confinement  # type: ignore[import-not-found,unused-ignore] # beside this script

    rights = json.loads(rights_as_json)
    required = rights.pop("required")
    return bool(confinement.confine(**rights)) or not required


def wait_for_an_end(child: int, lifeline: int, alarm: int) -> int | None:
    """Return the child's status if it has ended by itself; None if it is to be ended."""
    while True:
        ready, _, _ = select.select([lifeline, alarm], [], [])
        status = reap(child)
        if status is not None:
            return status
        if lifeline in ready:
            return None
        if alarm in ready and signal.SIGTERM in os.read(alarm, 4096):
            return None


def reap(child: int) -> int | None:
    """Collect all that have ended; the child's status if it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                found = status
    return found


def end_all(child: int) -> None:
    """Stop all descendants, so that none can fork on, then end them and collect them."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while True:
        stopped: set[int] = set()
        while new := descendants(os.getpid()) - stopped:
            send(new, signal.SIGSTOP)
            stopped |= new
        send(stopped, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def descendants(pid: int) -> set[int]:
    """Return all processes below one, by `/proc`; none where there is no `/proc`."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        tasks = f"/proc/{pending.pop()}/task"
        with contextlib.suppress(OSError):
            for task in os.listdir(tasks):  # noqa: PTH208 - pathlib would double the start-up time
                with contextlib.suppress(OSError), open(f"{tasks}/{task}/children") as file:  # noqa: PTH123
                    children = {int(word) for word in file.read().split()} - found
                    found |= children
                    pending += children
    return found


def send(pids: set[int], number: int) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_as(status: int | None) -> None:
    """End as the program did, so that our parent learns how."""
    code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler to reset
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
