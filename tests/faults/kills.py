"""Runs that are killed at any moment, and two writers of one run of which one is paused."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.common import (
    Case,
    finish,
    living,
    make_corpus,
    make_worker,
    new_mark,
    parsemark,
    results,
    start,
)

N_RUNS = 10
PAUSES = ("journal", "parts", ".publish.lock", "protocols")
"""Each is the file whose appearance is the moment of the pause."""


def attack(work: Path) -> Iterator[Case]:
    corpus, script = make_corpus(work / "corpus"), make_worker(work)
    bench = ["bench", "--corpus", corpus, "--no-report", "--workers", "2"]
    one, two = ["--parser", str(script)], ["--parser", f"{script}(errors=2)"]
    sound = work / "sound"
    began = time.monotonic()
    done = parsemark(work, *bench, *one, *two, "--out", str(sound), "--no-cache")
    if done.code != 0:
        yield Case("an undisturbed run", False, done.output[-300:])
        return
    expected, took = results(sound), time.monotonic() - began
    chosen = random.Random(17)
    for number in range(N_RUNS):
        run, mark = work / f"killed-{number}", new_mark()
        arguments = [*bench, *one, *two, "--out", str(run), "--cache" if number % 2 else "--no-cache"]
        n_kills = 0
        for _ in range(chosen.randint(1, 3)):
            process = start(work, *arguments, mark=mark)
            time.sleep(chosen.uniform(0.2, took))
            n_kills += process.poll() is None
            process.kill()
            finish(process)
        orphans = within(lambda mark=mark: not living(mark))
        done = parsemark(work, *arguments, mark=mark)
        same = done.code == 0 and results(run) == expected
        yield Case(f"{n_kills} kills, then resumed", same, done.output[-300:] if not same else "")
        yield Case("nothing outlives the killed", orphans, f"{living(mark)}")
    for pause in PAUSES:
        run = work / f"paused-{pause.strip('.')}"
        first = start(work, *bench, *one, "--out", str(run))
        within(
            lambda run=run, pause=pause, first=first: any(run.glob(pause)) or first.poll() is not None, 600
        )
        first.send_signal(signal.SIGSTOP)
        second = start(work, *bench, *two, "--out", str(run))
        time.sleep(took)
        first.send_signal(signal.SIGCONT)
        ended = [finish(first), finish(second)]
        both = parsemark(work, "score", str(run)) if pause == "journal" else ended[0]
        held = [d.code for d in ended] == [0, 0] and both.code == 0 and results(run) == expected
        yield Case(f"paused at {pause} while another writes", held, "" if held else ended[0].output[-300:])


def within(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
