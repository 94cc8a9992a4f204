"""Functions that processes of a pool run in tests; importable by name."""

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl

from parsemark.engine.scoring import chunk as real
from parsemark.errors import StoreError


def do(task: str) -> str:
    if task == "crash":
        os.abort()
    if task == "hang":
        time.sleep(600)
    if task == "spin":  # what it starts uses the time
        subprocess.run([sys.executable, "-c", "while True: pass"], check=True)
    if task == "user-error":
        raise StoreError("a message for the user")
    if task == "bug":
        raise ZeroDivisionError("a bug")
    if task == "limits":
        return subprocess.run(["sh", "-c", "ulimit -Hd"], capture_output=True, text=True, check=True).stdout
    if task == "frame":
        return str(pl.DataFrame({"a": [1, 2]}).lazy().select(pl.col("a").sum()).collect().item())
    if task == "child":
        return f"{os.getpid()} {subprocess.Popen(['sleep', '600']).pid}"
    return task.upper()


def score_or_die(chunk: real.Chunk) -> None:
    """Scores, but s001 ends the process, as a fault in native code would; s003 whatever is asked of it."""
    if any(page.sample == "s001" and page.lost is None for page in chunk.pages):
        os.abort()
    if any(page.sample == "s003" and not page.given_up for page in chunk.pages):
        os.abort()
    real.score_chunk(chunk)


def working_folder(task: str) -> str:
    """Return the folder that a relative path starts from."""
    return str(Path(task).resolve())


def can_import(module: str) -> bool:
    """Return whether a process of the pool finds a module of this name."""
    return importlib.util.find_spec(module) is not None
