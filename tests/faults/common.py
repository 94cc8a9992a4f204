"""What the sections share: cases, a small corpus, a parser, and the command line in a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from parsemark.pdf import save_picture_pdf

MEASURED = re.compile(r"cpu_s|wall_s|memory_mb|cost_usd")
"""Figures that differ from run to run."""
HANGS_S = 1200.0
"""A command that takes longer hangs: far more than any needs, even on a machine with other work."""
MARK = "PARSEMARK_FAULT"
"""An environment variable by which the processes of one attempt are found again."""

WORKER = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# gives = ["markdown"]
# file-names = true
#
# [tool.parsemark.options.errors]
# default = 0
# ///
import subprocess, time
from pathlib import Path
from parsemark_worker import serve, text_output

def parse(pdf, page, options):
    subprocess.Popen(["sleep", "60"], start_new_session=True)
    time.sleep(0.02)
    number = int(Path(pdf).stem)
    wrong = "x" if number % 5 < options["errors"] else ""
    return text_output("markdown", f"| a{number} | b{wrong} |\\n|---|---|\\n| {number} | 2 |\\n")

serve(parse)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One attempt and whether the promise held."""

    name: str
    held: bool
    note: str = ""


class Budget:
    """The time of one section: a share of `$FAULTS_MINUTES`, 20 by default; a night has 480."""

    def __init__(self, share: float) -> None:
        minutes = float(os.environ.get("FAULTS_MINUTES", "20"))
        self.nights = max(1, round(minutes / 20))
        """How many times more is tried than by default."""
        self._end = time.monotonic() + 60 * minutes * share

    @property
    def is_spent(self) -> bool:
        """Whether its time is over."""
        return time.monotonic() > self._end


def broken_before(section: str) -> list[tuple[int, int]]:
    """Seeds and numbers of what once broke something."""
    known = json.loads(Path(__file__).with_name("seeds.json").read_text())
    return [(seed, number) for seed, number in known[section]]


def tried_by_all(
    attempt: Callable[[tuple[int, int]], Case], jobs: Iterable[tuple[int, int]], budget: Budget
) -> Iterator[Case]:
    """What comes of attempts, on all cores, until they are all done or the time is over."""
    with multiprocessing.get_context("fork").Pool() as pool:
        for case in pool.imap_unordered(attempt, jobs, chunksize=20):
            yield case
            if budget.is_spent:
                return


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    output: str

    @property
    def is_clean(self) -> bool:
        """Whether it ended with a result or an error in words, not with a traceback."""
        return 0 <= self.code <= 2 and "Traceback" not in self.output and "panicked" not in self.output


def make_corpus(folder: Path, n_pages: int = 8) -> str:
    """A corpus of one-page PDFs with one table each; returns its spec."""
    folder.mkdir(parents=True)
    for number in range(n_pages):
        picture = Image.new("L", (60, 80), 255)
        # The worker answers by the name: PDFs of equal content would share one answer in the cache.
        named = f"page {number}"
        save_picture_pdf(picture, folder / f"{number}.pdf", (600, 800), quality=50, producer=named)
        (folder / f"{number}.p1.t1.csv").write_text(f"a{number},b\n{number},2\n")
    return f"folder:{folder}"


def make_worker(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "echo.py"
    script.write_text(WORKER)
    return script


def environment(work: Path, mark: str = "") -> dict[str, str]:
    return {**os.environ, "PARSEMARK_CACHE": str(work / "cache"), MARK: mark, "COLUMNS": "200"}


def start(work: Path, *arguments: str, mark: str = "", prelude: str = "") -> subprocess.Popen[str]:
    """The command line, in a process; `prelude` is Python that runs first (limits)."""
    call = "import sys\nfrom parsemark.cli.main import run\nsys.argv = ['parsemark', *sys.argv[1:]]\nrun()"
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", f"{prelude}\n{call}", *arguments],
        env=environment(work, mark),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def finish(process: subprocess.Popen[str], timeout_s: float = HANGS_S) -> Done:
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return Done(-1, f"{output}\ndid not end within {timeout_s:g} s")
    return Done(process.returncode, output)


def parsemark(
    work: Path, *arguments: str, mark: str = "", prelude: str = "", timeout_s: float = HANGS_S
) -> Done:
    return finish(start(work, *arguments, mark=mark, prelude=prelude), timeout_s)


def results(run: Path) -> dict[str, object]:
    """What a run says, without times: equal runs have equal results."""
    import polars as pl

    from parsemark.store import Run

    opened = Run.open(run)
    tables = {name: opened.table(name) for name in ("matches", "scores")}
    parses = opened.table("parses").select("sample", "parser", "status", "blob")
    predictions = opened.table("predictions").select("sample", "parser", "status", "prediction")
    found: dict[str, object] = {name: frame.to_dicts() for name, frame in tables.items()}
    found |= {"parses": parses.to_dicts(), "predictions": predictions.to_dicts()}
    summary = opened.summary()
    found["figures"] = {
        parser: {name: figures[name].value for name in sorted(figures) if not MEASURED.search(name)}
        for parser, figures in summary.parsers.items()
    }
    assert isinstance(parses, pl.DataFrame)
    return found


def living(mark: str) -> list[int]:
    """Processes that carry the mark and still run."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def new_mark() -> str:
    return uuid.uuid4().hex


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder
