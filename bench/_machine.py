"""What the measurements ran on."""

import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from parsemark.kernels import is_native


def describe() -> str:
    """Return processor, versions, and which kernel is in use."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("parsemark", "apted", "lxml", "rapidfuzz", "numpy")
    )
    return (
        f"{models[0] if models else platform.processor()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}\n"
        f"Python {sys.version.split()[0]}, {packages}, kernel {'native' if is_native() else 'Python'}"
    )


def cpu_seconds(call: Callable[[], object], at_least_s: float = 0.2) -> float:
    """Return CPU time of one call, the least of several where calls are short."""
    best, spent = float("inf"), 0.0
    while spent < at_least_s:
        start = time.process_time()
        call()
        taken = time.process_time() - start
        best, spent = min(best, taken), spent + taken
    return best
