"""Waiting for what another process or thread does, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 600.0
"""When a test gives up what should have come long ago: an end for what hangs, not a measure of speed."""


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "did not come true"
        time.sleep(0.02)
