"""Report which benchmarks have a newer package than the one whose rules are repeated.

`plugins/boards/upstream.toml` lists the packages. The rules of a newer one may have moved. This is a report:
the exit status is 0.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

PINS = Path(__file__).parent.parent / "plugins/boards/upstream.toml"
NEWEST_PYTHON = "3.13"  # the index is asked for packages of this version, whatever runs here
TIMEOUT_S = 120


def newest_on_index(package: str) -> str | None:
    """Return the newest version of a package on pip's index; None if the index does not answer with one."""
    asked = ["index", "versions", package, "--python-version", NEWEST_PYTHON, "--only-binary=:all:"]
    try:
        found = subprocess.run(
            [sys.executable, "-m", "pip", *asked],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(rf"^{re.escape(package)} \(([^)\s]+)\)", found.stdout, re.MULTILINE)
    return version[1] if version else None


def report(pins: Path, newest: Callable[[str], str | None]) -> list[str]:
    """Return one line for each package: its version here, the newest one, and what may have moved."""
    lines = []
    for package in tomllib.loads(pins.read_text(encoding="utf-8"))["package"]:
        name, here, protocol = package["name"], package["version"], package["protocol"]
        found = newest(name)
        if found is None:
            state = "the index has no answer"
        elif found == here:
            state = "newest"
        else:
            state = f"{found} is on the index: the rules of {protocol} may have moved"
        lines.append(f"{name} {here}: {state}")
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join([*report(PINS, newest_on_index), ""]))
