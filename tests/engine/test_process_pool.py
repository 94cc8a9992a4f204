import pytest
from tests.engine.hostile_tasks import do

from parsemark.engine.process_pool import Finished, Lost, ProcessPool
from parsemark.errors import StoreError


def run_all(
    tasks: list[str], n_processes: int = 2, timeout_s: float = 5.0
) -> list[Finished[str] | Lost[str]]:
    with ProcessPool(do, n_processes, timeout_s=timeout_s, memory_mb=16_384) as pool:
        for task in tasks:
            pool.submit(task)
        return list(pool.results())


def test_crash_and_hang_cost_only_themselves() -> None:
    results = run_all(["a", "crash", "b", "hang", "c", "d"])
    done = {r.task: r.result for r in results if isinstance(r, Finished)}
    lost = {r.task: r.reason for r in results if isinstance(r, Lost)}
    assert done == {"a": "A", "b": "B", "c": "C", "d": "D"}
    assert lost == {"crash": "its process ended by signal SIGABRT", "hang": "took more than 5 s"}


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
