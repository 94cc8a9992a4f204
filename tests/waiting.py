"""Waiting for what another process or thread does, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 600.0
"""When a test gives up what should have come long ago: an end for what hangs, not a measure of speed."""


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "did not come true"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended; one that nobody has collected yet has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # it may go while it is looked at
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
