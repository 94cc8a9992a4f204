"""Runs with damaged files, planted links, full disks and places that cannot be written to."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.common import Case, fresh, make_corpus, make_worker, parsemark, results
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import ParsemarkError

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) * 2 // 3],
    "flipped": lambda data: bytes(b ^ 0x41 if i % 61 == 7 else b for i, b in enumerate(data)),
    "text": lambda data: b"{}\n",
}
DERIVED = ("predictions.parquet", "matches.parquet", "scores.parquet", "summary.json")
LIMITS = (1, 6, 30)
"""Kilobytes that a file may have: each makes another write fail."""


def attack(work: Path) -> Iterator[Case]:
    corpus, script = make_corpus(work / "corpus", 4), make_worker(work)
    bench = ["bench", "--corpus", corpus, "--parser", str(script), "--parser", f"{script}(errors=2)"]
    sound = work / "sound"
    done = parsemark(work, *bench, "--out", str(sound))
    yield Case("an undisturbed run", done.code == 0, done.output[-300:])
    if done.code != 0:
        return
    expected = results(sound)
    os.environ["PARSEMARK_CACHE"] = str(work / "cache")
    yield from _damaged(work, sound, expected)
    yield from _planted(work, sound, bench)
    yield from _full(work, sound, bench, expected)


def _damaged(work: Path, sound: Path, expected: dict[str, object]) -> Iterator[Case]:
    files = [
        f for f in sorted(sound.rglob("*")) if f.is_file() and "report" not in f.relative_to(sound).parts
    ]
    blobs = [f for f in files if "raw" in f.parts]
    files = [f for f in files if not f.name.startswith(".") and f not in blobs[1:]]
    for file in files:
        for kind, change in DAMAGE.items():
            run = fresh(work / "damaged")
            shutil.copytree(sound, run, symlinks=True)
            target = run / file.relative_to(sound)
            target.write_bytes(change(target.read_bytes()))
            problems = [p for p in _try_everything(run) if p]
            if target.name in DERIVED and not problems:
                scored = _call("score", str(run))
                problems += [scored] if scored else []
                if not problems and results(run) != expected:
                    problems.append("score does not make it anew")
            yield Case(f"{file.relative_to(sound)} {kind}", not problems, "; ".join(problems)[:300])
    run = fresh(work / "damaged")
    shutil.copytree(sound, run)
    (run / "journal").mkdir(exist_ok=True)
    (run / "journal" / "1-a.jsonl").write_text("{}\n")
    problem = next((p for p in _try_everything(run) if p), "")
    yield Case("a journal line {}", not problem, problem)


def _try_everything(run: Path) -> Iterator[str]:
    yield _call("report", str(run))
    yield _call("compare", str(run), "echo", "echo(errors=2)")
    yield _call("query", str(run), "SELECT count(*) FROM parses")
    yield _call("score", str(run))


def _call(*arguments: str) -> str:
    """What is wrong with how a command ended; empty if it ended well or with an error in words."""
    outcome = CliRunner().invoke(app, list(arguments))
    error = outcome.exception
    if error is None or isinstance(error, SystemExit | ParsemarkError):
        return ""
    return f"{arguments[0]}: {type(error).__name__}: {error}"[:200]


def _planted(work: Path, sound: Path, bench: list[str]) -> Iterator[Case]:
    """Links in place of all files that we write, each to a copy outside; then of each folder in turn."""
    run, outside = fresh(work / "planted"), fresh(work / "outside")
    shutil.copytree(sound, run, symlinks=True)
    shutil.copytree(sound, outside, symlinks=True)
    files = [f for f in sorted(run.rglob("*")) if f.is_file()]
    for file in files:
        file.unlink()
        file.symlink_to(outside / file.relative_to(run))
    _use(run, bench)
    for file in files:
        name = file.relative_to(run)
        same = (outside / name).is_file() and (outside / name).read_bytes() == (sound / name).read_bytes()
        yield Case(f"{name} is a link", same, "what it points to has changed")
    there = {p.relative_to(sound) for p in sound.rglob("*")}
    more = [str(p) for p in outside.rglob("*") if p.relative_to(outside) not in there]
    yield Case("nothing new lies outside", not more, ", ".join(more[:5]))
    for folder in [f for f in sorted(sound.rglob("*")) if f.is_dir() and len(f.relative_to(sound).parts) < 3]:
        if folder.parent.name == "raw":
            continue
        run, outside = fresh(work / "planted"), fresh(work / "outside")
        shutil.copytree(sound, run, symlinks=True)
        outside.mkdir()
        (outside / "file").write_text("mine")
        shutil.rmtree(run / folder.relative_to(sound))
        (run / folder.relative_to(sound)).symlink_to(outside)
        _use(run, bench)
        left = sorted(str(path.relative_to(outside)) for path in outside.rglob("*"))
        yield Case(f"{folder.relative_to(sound)}/ is a link", left == ["file"], f"outside: {left[:5]}")


def _use(run: Path, bench: list[str]) -> None:
    _call("score", str(run))
    _call("report", str(run))
    _call(*bench, "--out", str(run), "--no-cache")


def _full(work: Path, sound: Path, bench: list[str], expected: dict[str, object]) -> Iterator[Case]:
    for kilobytes in LIMITS:
        limit = kilobytes * 1024
        prelude = (
            "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))"
        )
        run = fresh(work / "full")
        done = parsemark(work, *bench, "--out", str(run), "--no-cache", prelude=prelude)
        again = parsemark(work, *bench, "--out", str(run), "--no-report")
        held = done.is_clean and again.code == 0 and results(run) == expected
        yield Case(
            f"files of at most {kilobytes} kB, then mended",
            held,
            f"{done.output[-200:]} | {again.output[-200:]}",
        )
    for place in ("/proc/parsemark", "/dev/full/run", str(sound / "manifest.json" / "run")):
        done = parsemark(work, *bench, "--out", place)
        yield Case(f"--out {place}", done.is_clean and done.code != 0, done.output[-300:])
    for name in (["report"], ["export", "--format", "charts-pdf"]):
        done = parsemark(work, *name, str(sound), "--out", "/proc/parsemark")
        yield Case(f"{' '.join(name)} --out /proc", done.is_clean and done.code != 0, done.output[-300:])
    yield from _tmpfs(work, bench, expected)


def _tmpfs(work: Path, bench: list[str], expected: dict[str, object]) -> Iterator[Case]:
    """A disk that is really full, where we may mount one."""
    import subprocess

    disk = work / "disk"
    disk.mkdir(exist_ok=True)
    for kilobytes in (64, 256, 768):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            if getattr(error, "errno", errno.EPERM):
                return
        try:
            done = parsemark(work, *bench, "--out", str(disk / "run"), "--no-cache")
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True, capture_output=True)
            again = parsemark(work, *bench, "--out", str(disk / "run"), "--no-report")
            held = done.is_clean and again.code == 0 and results(disk / "run") == expected
            yield Case(
                f"a disk of {kilobytes} kB, then a larger one",
                held,
                f"{done.output[-200:]} | {again.output[-200:]}",
            )
        finally:
            subprocess.run(["umount", str(disk)], check=False)
