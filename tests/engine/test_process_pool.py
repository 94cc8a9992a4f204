import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.engine.hostile_tasks import do

from parsemark.engine.forking import Template
from parsemark.engine.process_pool import Finished, Lost, ProcessPool, _serve
from parsemark.errors import StoreError


def run_all(
    tasks: list[str], n_processes: int = 2, timeout_s: float = 5.0, template: Template | None = None
) -> list[Finished[str] | Lost[str]]:
    with ProcessPool(do, n_processes, timeout_s=timeout_s, memory_mb=16_384, template=template) as pool:
        for task in tasks:
            pool.submit(task)
        return list(pool.results())


def test_crash_and_hang_cost_only_themselves() -> None:
    results = run_all(["a", "crash", "b", "hang", "c", "d"])
    done = {r.task: r.result for r in results if isinstance(r, Finished)}
    lost = {r.task: r.reason for r in results if isinstance(r, Lost)}
    assert done == {"a": "A", "b": "B", "c": "C", "d": "D"}
    assert lost == {"crash": "its process ended by signal SIGABRT", "hang": "took more than 5 s"}


PLAIN_SCRIPT = """
print("begun")
from parsemark.engine.process_pool import ProcessPool
from tests.engine.hostile_tasks import do
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
from parsemark.engine import forking
assert forking.is_fresh()
from tests.engine.test_process_pool import run_all
from parsemark.engine.process_pool import Lost
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
    left = template._process.pid
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
        "hang took more than 0.5 s",
    ]


LOST = """
import os, signal
from multiprocessing import Pipe
from parsemark.engine import forking
from tests.engine.hostile_tasks import do
from tests.waiting import is_running, wait_until
from tests.engine.test_process_pool import run_all
from parsemark.engine.process_pool import _serve
with forking.Template() as template:
    ours, theirs = Pipe()
    worker = template.start(_serve, theirs, do, 16_384)
    theirs.close()
    print(ours.recv())
    ours.send("hang")
    os.kill(template._process.pid, signal.SIGKILL)
    template._process.join()
    for result in run_all(["a", "b"], 2, 300.0, template):
        print(result.task, result.result)
    worker.kill()
    wait_until(lambda: not is_running(worker.pid))
print("ended", worker.exitcode)
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
    asked = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, do, 16_384))
    asked.start()
    asked.join()
    assert asked.exitcode == 0


def test_a_killed_command_leaves_nothing_that_the_next_does_not_remove() -> None:
    last = "import os, sys; sys.stdout.flush(); os.kill(os.getpid(), 9)"
    killed = PLAIN_SCRIPT.replace("print(__name__)", last)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # short: names of sockets are
        place = {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(Path(__file__).parents[2])}
        for script, left in ((killed, 1), (PLAIN_SCRIPT, 0)):
            done = subprocess.run([sys.executable, "-c", script], env=place, capture_output=True, check=False)
            assert b"['A', 'B', 'C']" in done.stdout, done.stderr
            names = [path.name for path in Path(folder).iterdir()]
            assert len(names) == left and all(name.startswith("pmrk-") for name in names)
