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
from parsemark.system.processes import (
    Supervised,
    confinement_for,
    kill_survivors,
    processes_below,
    run_program,
    tool_environment,
    tool_rights,
    why_not_confined,
)

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


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
def test_a_tool_sees_its_folder_and_has_bounded_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANGE_API_KEY", "sk-of-somebody-else")
    own = tmp_path / "own"
    own.mkdir()
    (own / "given").write_text("given")
    (tmp_path / "secret").write_text("treasure")
    (tmp_path / "hole").symlink_to(tmp_path / "secret")
    script = """
        cat given; cat ../secret; cat ../hole; ls ..; echo x > ../new; echo "$STRANGE_API_KEY"
        echo x > made; ulimit -d; ulimit -d unlimited && echo raised
        cat /proc/net/dev | tail -n +3 | cut -d: -f1
    """
    rights = tool_rights([], [str(own)], cpu_s=10, memory_mb=512, file_mb=1)
    env = tool_environment(own)
    done = run_program(["/bin/sh", "-c", script], rights, cwd=own, env=env, timeout_s=60)
    assert done.stdout.split()[:2] == [b"given", b"524288"] and (own / "made").exists()
    assert b"treasure" not in done.stdout and b"sk-of" not in done.stdout and not (tmp_path / "new").exists()
    if os.getuid() != 0:
        assert b"raised" not in done.stdout
    big = run_program(["/bin/sh", "-c", "cat /dev/zero > big"], rights, cwd=own, env=env, timeout_s=60)
    assert big.returncode != 0 and (own / "big").stat().st_size <= 2**20


def test_nothing_outlives_a_program_that_is_run(tmp_path: Path) -> None:
    script = f"setsid sleep 3600 & echo $! > {tmp_path / 'pid'}; sleep 3600"
    with pytest.raises(subprocess.TimeoutExpired):
        run_program(["/bin/sh", "-c", script], None, cwd=tmp_path, env=os.environ, timeout_s=3)
    assert not is_running(int((tmp_path / "pid").read_text()))
    script = f"setsid sleep 3600 & echo $! > {tmp_path / 'pid'}; echo done"
    done = run_program(["/bin/sh", "-c", script], None, cwd=tmp_path, env=os.environ, timeout_s=60)
    assert done.stdout == b"done\n" and not is_running(int((tmp_path / "pid").read_text()))


def test_a_daemon_does_not_outlive_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    script = f"(setsid sh -c 'echo $$ > {tmp_path / 'pid'}; exec sleep 3600' &) ; sleep 3600"
    supervised = Supervised(["sh", "-c", script], env=os.environ, cwd=".")
    with supervised.process:
        supervised.begin()
        wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        os.kill(supervised.pid, signal.SIGKILL)
        supervised.close()
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_confined_program_may_read_the_settings_of_every_java() -> None:
    settings = [path.resolve() for path in Path("/usr/lib/jvm").glob("*/conf/security/java.security")]
    if not settings:
        pytest.skip("no Java is installed")
    readable = [Path(root).resolve() for root in confinement_for((), (), network=False).read]
    assert [str(path) for path in settings if not any(path.is_relative_to(root) for root in readable)] == []
