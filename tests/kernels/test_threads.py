"""The kernel lets other threads run while it computes."""

import threading
import time

import pytest

from parsemark.kernels import kernel, pure


@pytest.mark.skipif(kernel is pure, reason="only the compiled kernel can release the interpreter")
def test_other_threads_run_while_the_kernel_computes() -> None:
    a, b = "ab" * 100_000, "ba" * 100_001
    steps: list[float] = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            steps.append(time.monotonic())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    n_during = 0
    for _ in range(50):  # a busy machine may leave the thread no turn in one of them
        start = time.monotonic()
        assert kernel.levenshtein(a, b) == 2
        end = time.monotonic()
        n_during += sum(start < step < end for step in steps.copy())
        if n_during >= 3:
            break
    done.set()
    counter.join()
    assert n_during >= 3
