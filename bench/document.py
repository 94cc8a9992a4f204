"""Whole pages: CPU time of the published profiles on OmniDocBench's demo, and of CDM.

Needs the reference data: the folder in PARSEMARK_DATA, by default the one beside the project. Aims are tenths
of what the reference programs need for the same pages: 16.6 s for v1.6, and 50 s more for CDM of 23 formulas.
"""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench._machine import cpu_seconds
from parsemark.matching.blocks import match_blocks

DATA = Path(os.environ.get("PARSEMARK_DATA", Path(__file__).parents[2] / "shared" / "data"))
PR_SET_CHILD_SUBREAPER = 36
AIM_S, AIM_CDM_S = 1.66, 6.66


def main() -> bool:
    return demo() & scaling()


def demo() -> bool:
    folder = DATA / "omnidocbench-demo"
    if not folder.is_dir():
        print(f"skipped: {folder} is not here")
        return True
    good = True
    adopt_orphans()
    for spec, aim in (
        ("document(profile=v1.5)", AIM_S),
        ("document(profile=v1.6)", AIM_S),
        ("document", AIM_S),
        ("document(profile=v1.6,cdm=true)", AIM_CDM_S if shutil.which("pdflatex") else None),
    ):
        if aim is None:
            print(f"{spec}: skipped, there is no pdflatex")
            continue
        cpu_s = score(folder, spec)
        good &= cpu_s <= aim
        print(f"{spec}, 18 pages: {cpu_s:.2f} s CPU, process start included (aim ≤ {aim:g})")
    return good


def score(folder: Path, spec: str) -> float:
    """Return CPU seconds of one `parsemark score` on one core, with nothing in the caches but byte code."""
    with tempfile.TemporaryDirectory() as place:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        command = [
            sys.executable, "-m", "parsemark", "score", "--workers", "1",
            "--corpus", f"omnidocbench:{folder / 'OmniDocBench_demo.json'}",
            str(folder / "predictions"), "--protocol", spec,
        ]  # fmt: skip
        for attempt in range(2):  # the first writes byte code and TeX formats, as they lie there for users
            environment["XDG_CACHE_HOME"] = str(Path(place) / "cache")
            shutil.rmtree(Path(place) / "cache" / "parsemark" / "cdm", ignore_errors=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            out = ["--out", str(Path(place) / f"run{attempt}")]
            subprocess.run([*command, *out], check=True, env=environment, stdout=subprocess.DEVNULL)
            wait_for_orphans()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def adopt_orphans() -> None:
    """Become the parent of processes whose parent ends: the scoring workers, whose time has to be counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def scaling() -> bool:
    """Time strict matching of pages of more and more paragraphs; equal ones are anchors, so it is near
    linear.
    """
    times = {}
    for n in (250, 1000, 4000):
        truth = [f"paragraph {i} says something that the others do not say, {i * 7919}" for i in range(n)]
        pred = [text if i % 10 else text[:-3] + "xyz" for i, text in enumerate(truth)]
        times[n] = cpu_seconds(lambda truth=truth, pred=pred: match_blocks(truth, pred))
    growth = times[4000] / times[1000]
    print(
        ", ".join(f"{n} blocks {t:.3f} s" for n, t in times.items())
        + f"; ×4 blocks cost ×{growth:.1f} (aim < 16)"
    )
    return growth < 16
