"""Temporary folders of killed processes are removed by the next one."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.waiting import wait_until

from parsemark.errors import UsageError
from parsemark.system.scratch import ScratchFolder, made_whole, remove_abandoned

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


def test_a_folder_of_somebody_else_stays(tmp_path: Path) -> None:
    """It begins as ours do, but has no mark of ours: it is old, and has something in it."""
    theirs = tmp_path / ".corpus-of-mine"
    theirs.mkdir()
    (theirs / "thesis.tex").write_text("x")
    os.utime(theirs, (1, 1))
    assert remove_abandoned(".corpus-", tmp_path) == 0 and (theirs / "thesis.tex").exists()


@made_whole
def make(out: Path, *, fail: bool = False) -> str:
    (out / "page").write_text("x")
    if fail:
        raise OSError(28, "No space left on device")
    return "made"


def test_a_whole_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    with pytest.raises(OSError, match="No space"):
        make(out, fail=True)
    assert list(tmp_path.iterdir()) == []
    out.mkdir()
    assert make(out) == "made" and (out / "page").exists() and list(tmp_path.iterdir()) == [out]
    assert out.stat().st_mode & 0o777 == 0o777 & ~_umask()
    with pytest.raises(UsageError, match="not empty"):
        make(out)


def test_what_was_killed_while_it_made_a_folder_is_made_when_given_again(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    code = f"""
import time
from pathlib import Path
from parsemark.system.scratch import whole_folder
with whole_folder(Path({str(out)!r})) as folder:
    (folder / "page").write_text("x")
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        wait_until(lambda: any(tmp_path.glob(".corpus-*/made/page")))
        process.kill()
    assert make(out) == "made" and list(tmp_path.iterdir()) == [out]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
