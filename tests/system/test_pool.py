import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.system.hostile_tasks import can_import, do, working_folder
from tests.waiting import is_running, wait_until

from parsemark.errors import StoreError
from parsemark.system.pool import Finished, Lost, ProcessPool, Template, serve


def run_all(
    tasks: list[str], n_processes: int = 2, timeout_s: float = 1.0, template: Template | None = None
) -> list[Finished[str] | Lost[str]]:
    with ProcessPool(do, n_processes, timeout_s=timeout_s, memory_mb=16_384, template=template) as pool:
        for task in tasks:
            pool.submit(task)
        return list(pool.results())


def test_crash_and_hang_cost_only_themselves() -> None:
    results = run_all(["a", "crash", "b", "hang", "spin", "c", "d"])
    done = {r.task: r.result for r in results if isinstance(r, Finished)}
    lost = {r.task: r.reason for r in results if isinstance(r, Lost)}
    assert done == {"a": "A", "b": "B", "c": "C", "d": "D"}
    assert lost.pop("spin") == "took more than 1 s of CPU time"
    assert lost == {"crash": "its process ended by signal SIGABRT", "hang": "did nothing for most of 10 s"}


def test_tasks_are_done_in_the_folder_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The template was started in another folder; relative paths must mean the same to both."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        with ProcessPool(working_folder, 1, timeout_s=60.0, memory_mb=16_384) as pool:
            pool.submit(".")
            (found,) = pool.results()
        assert isinstance(found, Finished) and found.result == str(folder.resolve())


PLAIN_SCRIPT = """
print("begun")
from parsemark.system.pool import ProcessPool
from tests.system.hostile_tasks import do
with ProcessPool(do, 2, timeout_s=60.0, memory_mb=16_384) as pool:
    for task in "abc":
        pool.submit(task)
    print(sorted(result.result for result in pool.results()))
print(__name__)
"""


@pytest.mark.parametrize("from_file", [True, False])
def test_a_script_without_a_guard_is_not_run_again_in_each_process(from_file: bool, tmp_path: Path) -> None:
    """Nor one that is read from standard input, which a process could not even find."""
    script = tmp_path / "script.py"
    script.write_text(PLAIN_SCRIPT)
    done = subprocess.run(
        [sys.executable, script] if from_file else [sys.executable],
        input=None if from_file else PLAIN_SCRIPT,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split("\n") == ["begun", "['A', 'B', 'C']", "__main__", ""], done.stderr


FORKING = """
import os, sys
from parsemark.system import pool as forking
assert forking.is_fresh()
from tests.system.test_pool import run_all
from parsemark.system.pool import Lost
assert not forking.is_fresh()
import polars
with forking.Template() as template:
    polars.DataFrame({"a": [1]}).lazy().select(polars.col("a") + 1).collect()  # starts threads
    tasks = run_all(["a", "crash", "frame", "b"], 2, 300.0, template)
    for result in [*tasks, *run_all(["hang"], 1, 0.5, template)]:
        print(result.task, result.reason if isinstance(result, Lost) else result.result)
    try:
        run_all(["user-error"], 1, 300.0, template)
    except Exception as error:
        print(type(error).__name__)
    left = template.pid
print("ended", not os.path.exists(f"/proc/{left}"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
def test_workers_forked_of_a_template_are_as_others() -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == [
        "StoreError",
        "a A",
        "b B",
        "crash its process ended by signal SIGABRT",
        "ended True",
        "frame 3",
        "hang did nothing for most of 5 s",
    ]


LOST = """
import os, signal
from multiprocessing import Pipe
from parsemark.system import pool as forking
from tests.system.hostile_tasks import do
from tests.waiting import is_running, wait_until
from tests.system.test_pool import run_all
from parsemark.system.pool import serve
with forking.Template() as template:
    ours, theirs = Pipe()
    worker = template.start(serve, theirs, do, 16_384)
    theirs.close()
    print(ours.recv())
    ours.send("hang")
    os.kill(template.pid, signal.SIGKILL)
    wait_until(lambda: not is_running(template.pid))
    for result in run_all(["a", "b"], 2, 300.0, template):
        print(result.task, result.result)
    code = template.end(worker, kill=True)
    wait_until(lambda: not is_running(worker))
print("ended", code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
def test_a_lost_template_costs_no_task_and_leaves_no_worker() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == ["a A", "b B", "ended -9", "ready"]


def test_errors_reach_the_caller() -> None:
    with pytest.raises(StoreError, match="a message for the user"):
        run_all(["user-error"], 1)
    with pytest.raises(RuntimeError, match=r"(?s)a bug.*Traceback"):
        run_all(["bug"], 1)


def test_tasks_may_be_added_while_results_are_read() -> None:
    with ProcessPool(do, 1, timeout_s=20, memory_mb=16_384) as pool:
        pool.submit("a")
        seen = []
        for result in pool.results():
            seen.append(result.task)
            if result.task == "a":
                pool.submit("b")
    assert seen == ["a", "b"]


def test_what_a_process_starts_has_a_bound_of_memory_that_it_cannot_raise() -> None:
    with ProcessPool(do, 1, timeout_s=60, memory_mb=3000) as pool:
        pool.submit("limits")
        (done,) = pool.results()
    assert isinstance(done, Finished) and done.result.strip() == str(3000 * 1024)


def test_a_killed_command_leaves_no_traceback_of_its_processes() -> None:
    """Whoever asked is gone before the first word: the process ends as after any other task."""
    ours, theirs = multiprocessing.Pipe()
    ours.close()
    asked = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, do, 16_384))
    asked.start()
    asked.join()
    assert asked.exitcode == 0


def test_a_killed_command_leaves_no_files() -> None:
    last = "import os, sys; sys.stdout.flush(); os.kill(os.getpid(), 9)"
    killed = PLAIN_SCRIPT.replace("print(__name__)", last)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # short: names of sockets are
        place = {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(Path(__file__).parents[2])}
        for script in (killed, PLAIN_SCRIPT):
            done = subprocess.run([sys.executable, "-c", script], env=place, capture_output=True, check=False)
            assert b"['A', 'B', 'C']" in done.stdout, done.stderr
            assert list(Path(folder).iterdir()) == []


_POOL = """
from parsemark.system.pool import ProcessPool
from tests.system.hostile_tasks import do
with ProcessPool(do, 2, timeout_s=600, memory_mb=None) as pool:
    for task in ("child", "hang"):
        pool.submit(task)
    for result in pool.results():
        print(result.result, flush=True)
"""


def test_the_processes_of_a_pool_end_with_a_command_that_is_killed() -> None:
    """Also one in the midst of a task, with what it has started."""
    command = [sys.executable, "-c", _POOL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert workers
        process.kill()
    wait_until(lambda: not any(is_running(pid) for pid in workers))


def test_workers_find_modules_where_their_caller_finds_them(tmp_path, monkeypatch):
    """A module path that changed after the shared template was started holds for new pools."""

    def found(module: str) -> bool:
        with ProcessPool(can_import, 1, timeout_s=60, memory_mb=None) as pool:
            pool.submit(module)
            (finished,) = pool.results()
        return finished.result

    (tmp_path / "plugin_of_a_test.py").write_text("")
    assert not found("plugin_of_a_test")
    monkeypatch.syspath_prepend(tmp_path)
    assert found("plugin_of_a_test")
