"""Functions that processes of a pool run in tests; importable by name."""

import os
import subprocess
import time

import polars as pl

from parsemark.engine.scoring import chunk as real
from parsemark.errors import StoreError


def do(task: str) -> str:
    if task == "crash":
        os.abort()
    if task == "hang":
        time.sleep(600)
    if task == "user-error":
        raise StoreError("a message for the user")
    if task == "bug":
        raise ZeroDivisionError("a bug")
    if task == "limits":
        return subprocess.run(["sh", "-c", "ulimit -Hd"], capture_output=True, text=True, check=True).stdout
    if task == "frame":
        return str(pl.DataFrame({"a": [1, 2]}).lazy().select(pl.col("a").sum()).collect().item())
    return task.upper()


def score_or_die(chunk: real.Chunk) -> None:
    """Scores, but s001 ends the process, as a fault in native code would."""
    if any(page.sample == "s001" and page.lost is None for page in chunk.pages):
        os.abort()
    real.score_chunk(chunk)
