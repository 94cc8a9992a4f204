"""The kernel, built with the address and undefined-behaviour sanitizers, on random and extreme arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tests.faults.common import Case

ROOT = Path(__file__).resolve().parents[2]
FLAGS = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"


def attack(work: Path) -> Iterator[Case]:
    compiler = shutil.which("g++")
    if compiler is None:
        yield Case("there is a compiler", True, "none here: nothing was tried")
        return
    built = _build(work, compiler)
    if isinstance(built, str):
        yield Case("the kernel compiles with sanitizers", False, built[-400:])
        return
    runtime = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    env = {
        **os.environ,
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PARSEMARK_KERNEL": str(built),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.faults.sanitized"],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    for line in lines:
        name, _, verdict = line.rpartition(" ")
        yield Case(name, verdict == "ok", line)
    yield Case("no sanitizer spoke", done.returncode == 0 and bool(lines), done.stderr[-600:])


def _build(work: Path, compiler: str) -> Path | str:
    """The module, or what the compiler said."""
    found = subprocess.run(
        [sys.executable, "-m", "nanobind", "--include_dir"], capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        return f"nanobind is not installed: {found.stderr}"
    include = Path(found.stdout.strip())
    target = work / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    sources = [*sorted((ROOT / "cpp").glob("*.cpp")), include.parent / "src" / "nb_combined.cpp"]
    command = [
        compiler, "-std=c++17", *FLAGS.split(), "-shared", "-fPIC", "-fvisibility=hidden",
        f"-I{include}", f"-I{include.parent / 'ext' / 'robin_map' / 'include'}",
        f"-I{sysconfig.get_paths()['include']}", *map(str, sources), "-o", str(target),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return target if done.returncode == 0 else done.stderr
