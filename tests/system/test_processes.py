"""What was ended is gone when the call returns, also where the system takes its time."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.waiting import is_running, wait_until

from parsemark.system import processes
from parsemark.system.processes import Supervised, kill_survivors, processes_below

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """A machine so busy that what was killed goes on for a while, but for the processes in this set."""
    own: set[int] = set()

    def send(pid: int, number: int) -> None:
        if number == signal.SIGKILL and pid not in own:
            threading.Timer(0.5, lambda: os.kill(pid, number)).start()
        else:
            os.kill(pid, number)

    monkeypatch.setattr(processes, "_send", send)
    return own


@pytest.mark.usefixtures("prompt")
def test_survivors_are_gone() -> None:
    with subprocess.Popen(["sleep", "3600"]) as child:
        members = [p for p in processes_below(os.getpid()) if p.pid == child.pid]
        assert kill_survivors(members) == 1
        assert not is_running(child.pid)


def test_a_program_is_gone_with_its_children_when_its_keeper_was_stopped(
    prompt: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_CLOSE_S", 0.1)
    supervised = Supervised(
        ["sh", "-c", f"sleep 3600 & echo $! > {tmp_path / 'pid'}; wait"], env=os.environ, cwd="."
    )
    prompt.add(supervised.pid)
    supervised.begin()
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    os.kill(supervised.pid, signal.SIGSTOP)
    supervised.close()
    assert not is_running(int((tmp_path / "pid").read_text()))
    for stream in (supervised.process.stdin, supervised.process.stdout, supervised.process.stderr):
        assert stream is not None
        stream.close()
