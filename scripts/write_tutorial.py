"""Run the tutorial and write what its commands print into it (`python -m scripts.write_tutorial`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "tutorial" / "which-parser.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
VARYING = [
    (re.compile(r"(?m)[\d.]+( +\d+ +[A-Z][\w.-]+)$"), r"T\1"),
    (re.compile(r"[\d.,]+\s+times\s+less"), "N times less"),
    (re.compile(r"[\d.,]+\s+CPU\s+hours"), "N CPU hours"),
]
"""Times differ between machines."""
SETTING_UP = re.compile(r"(?m)^[\w-]+: (creating the environment|installing .*|\d+/\d+ pages)\n")
"""Printed while parsers are installed and run: on a new machine more, on a busy one in another order."""


def run_page(text: str, folder: Path) -> str:
    """Return the page with the output of every command as it is now; Python blocks are run, not changed."""

    def run_block(block: re.Match[str]) -> str:
        if block[1] == "python":
            _run([sys.executable, "-c", block[2]], folder)
            return block[0]
        (command,) = [line for line in block[2].splitlines() if line.startswith("$ ")]
        words = command.split()[1:]
        assert words[0] == "parsemark", command
        return f"```console\n{command}\n{_run([sys.executable, '-m', *words], folder)}```"

    return BLOCK.sub(run_block, text)


def without_times(text: str) -> str:
    """Return the page without what differs between machines, for comparison."""
    text = SETTING_UP.sub("", text)
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "COLUMNS": "92"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(run_page(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
