"""Temporary folders of killed processes are removed by the next one."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from parsemark.system.scratch import ScratchFolder, remove_abandoned

MAKE = """
import sys, time
from parsemark.system.scratch import ScratchFolder
folder = ScratchFolder("parsemark-test-")
(folder.path / "document.pdf").write_bytes(b"x")
print(folder.path, flush=True)
time.sleep(600)
"""


def test_folders_of_the_dead_go_and_those_of_the_living_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE], stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path)}
        )
        for _ in range(2)
    ]
    dead, living = (Path(p.stdout.readline().strip()) for p in processes)
    keep = tmp_path / "keep"
    keep.mkdir()
    (tmp_path / "parsemark-test-link").symlink_to(keep)
    processes[0].kill()
    processes[0].wait()
    assert remove_abandoned("parsemark-test-") == 1
    assert not dead.exists() and (living / "document.pdf").exists() and keep.exists()
    processes[1].kill()
    processes[1].wait()
    mine = ScratchFolder("parsemark-test-")
    assert not living.exists() and mine.path.is_dir()
    mine.close()
    assert not mine.path.exists()
    for process in processes:
        process.stdout.close()
