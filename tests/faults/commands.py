"""Every command that writes, stopped at any moment by any signal and given again: it goes on, or starts anew.

What it leaves after that has the names of an undisturbed one, nothing else, and no process outlives it.
"""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.faults.common import Case, finish, living, make_corpus, make_worker, new_mark, parsemark, start
from tests.faults.kills import within

N_KILLS = 5
"""Of each command."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
COMMANDS = (
    "bench --no-score --corpus {corpus} --parser {worker} --out {out}/run --no-cache --workers 2",
    "bench --corpus {corpus} --parser {worker} --out {out}/run --no-cache --workers 2",
    "score {run}",
    "report {run}",
    "report {run} --out {out}/site",
    "score {run} --add ensemble",
    "bundle {run} --out {out}/run.zip",
    "verify {bundle} --json",
    "site {bundle} --out {out}/site",
    "export {run} --out {out}/tables",
    "export {run} --format outputs-md --out {out}/outputs",
    "export {run} --format charts-png",
    "export {run} --format badge --parser echo --out {out}/badge.svg",
    "export {run} --format failure --parser {worker} --page 1-p1 --out {out}/failure",
    "choose {corpus} --parser {worker} --parser {worker}(errors=2) --out {out}/run --no-cache",
    "corpus make typst --pages 4 --out {out}/typst",
    "corpus make synthetic --pages 2 --out {out}/synthetic",
    "corpus make degraded --corpus {corpus} --out {out}/scans",
    "corpus make misleading --corpus {corpus} --out {out}/misleading",
    "corpus sample {pdfs} --pages 4 --out {out}/sample",
    "corpus export {corpus} --format detector --out {out}/pages",
    "corpus export demo --format assertions --out {out}/assertions.jsonl",
)


def attack(work: Path) -> Iterator[Case]:
    corpus, worker = make_corpus(work / "corpus"), make_worker(work)
    done = parsemark(
        work,
        *("bench", "--corpus", corpus, "--no-report", "--out", str(work / "sound")),
        *("--parser", str(worker), "--parser", f"{worker}(errors=2)"),
    )
    bundled = parsemark(work, "bundle", str(work / "sound"), "--out", str(work / "sound.zip"))
    if done.code or bundled.code:
        yield Case("an undisturbed run", False, (done.output + bundled.output)[-300:])
        return
    chosen = random.Random(23)
    for number, command in enumerate(COMMANDS):
        yield from _killed(work, command, work / str(number), chosen)


def _killed(work: Path, command: str, place: Path, chosen: random.Random) -> Iterator[Case]:
    begun = time.monotonic()
    arguments = _prepare(work, command, place / "whole")
    done = parsemark(work, *arguments)
    took, expected = time.monotonic() - begun, _names(place / "whole")
    if done.code != 0:
        yield Case(f"{command}: undisturbed", False, done.output[-300:])
        return
    for attempt in range(N_KILLS):
        mark, sent, folder = new_mark(), chosen.choice(SIGNALS), place / str(attempt)
        arguments = _prepare(work, command, folder)
        process = start(work, *arguments, mark=mark)
        time.sleep(chosen.uniform(0.3, 1) * took)
        was_running = process.poll() is None
        process.send_signal(sent)
        stopped = finish(process)
        alone = within(lambda mark=mark: not living(mark))
        if not was_running:
            continue
        name = f"{command}: {sent.name}"
        was_whole = _names(folder) == expected
        again = parsemark(work, *arguments, mark=mark)
        names = _names(folder)
        # What was whole when the signal came, at the very end, is not made a second time.
        went_on = again.code == 0 or (was_whole and "is not empty" in again.output)
        held = went_on and names == expected and "Traceback" not in stopped.output
        note = "" if held else f"{sorted(names ^ expected)[:5]} {stopped.output[-200:]} {again.output[-300:]}"
        yield Case(name, held and alone, note if alone else f"left: {living(mark)}")


def _prepare(work: Path, command: str, folder: Path) -> list[str]:
    """The arguments of an attempt, with a copy of the run that it may change."""
    folder.mkdir(parents=True)
    if "{run}" in command:
        shutil.copytree(work / "sound", folder / "run", symlinks=True)
    places = {
        "corpus": f"folder:{work / 'corpus'}",
        "pdfs": work / "corpus",
        "worker": work / "echo.py",
        "run": folder / "run",
        "bundle": work / "sound.zip",
        "out": folder,
    }
    return [word.format(**places) for word in command.split()]


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
