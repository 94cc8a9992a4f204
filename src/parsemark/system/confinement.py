"""Programs that run on input nobody has read: with bounded means, and without files but their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCHER = Path(__file__).with_name("confined.py")


@dataclass(frozen=True, slots=True)
class Rights:
    """What a confined program may use."""

    cpu_s: int
    memory_mb: int
    file_mb: int
    """Size of each file that it writes."""
    read: Sequence[str]
    """Folders and files that it may read and run (where the kernel has Landlock)."""
    write: Sequence[str]
    """Folders and files that it may also write."""


def start_confined(
    command: Sequence[str], rights: Rights, *, cwd: Path, env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a program that has no more than these rights, in a process group of its own, without streams."""
    wanted = {
        "cpu_s": rights.cpu_s,
        "memory_mb": rights.memory_mb,
        "file_mb": rights.file_mb,
        "read": list(rights.read),
        "write": list(rights.write),
    }
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(wanted), *command],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
