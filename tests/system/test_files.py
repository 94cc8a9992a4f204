"""Files are whole or absent, and nothing is written through a link."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from parsemark.errors import WriteError
from parsemark.system import cache_folder, is_locked, locked, make_folder, remove_tree, replacing, write_bytes
from parsemark.system.files import _remove_unfinished


def test_one_rule_for_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "own"))
    assert cache_folder("envs", "a") == tmp_path / "own" / "envs" / "a"
    monkeypatch.delenv("PARSEMARK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder("parses") == tmp_path / "xdg" / "parsemark" / "parses"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "parsemark"


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    link = tmp_path / "folder" / "file"
    link.parent.mkdir()
    link.symlink_to(outside)
    write_bytes(link, b"new")
    assert outside.read_text() == "mine"
    assert not link.is_symlink() and link.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["dangling", "fifo", "file"])
def test_what_is_no_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").touch()
    for path in (tmp_path / name / ".lock", tmp_path / name / "run" / ".lock"):
        with pytest.raises(WriteError, match=f"{tmp_path / name} is a file, or a link"), locked(path):
            pass


def test_an_error_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyError), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]  # noqa: PTH208 - hidden files are what is looked for


_KILLED = """
import os, signal, sys
from pathlib import Path
from parsemark.system import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path / "file")], check=False)
    assert len(os.listdir(tmp_path)) == 1  # noqa: PTH208 - hidden files are what is looked for
    _remove_unfinished.cache_clear()
    with replacing(tmp_path / "file") as temporary:
        temporary.write_text("mine")
        assert os.listdir(tmp_path) == [temporary.name]  # noqa: PTH208 - hidden files too
        _remove_unfinished.cache_clear()
        write_bytes(tmp_path / "other", b"")
        assert temporary.exists()
    assert (tmp_path / "file").read_text() == "mine"


def test_what_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="Cannot write"):
        write_bytes(tmp_path / "file" / "below", b"")
    with pytest.raises(WriteError, match="Cannot write"), locked(tmp_path / "file" / "lock"):
        pass
    for full in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):  # the disk, a quota, a limit of one file
        with pytest.raises(WriteError, match="Free some space") as raised, replacing(tmp_path / "full"):
            raise OSError(full, os.strerror(full))
        assert os.strerror(full).lower() in str(raised.value).lower()
    assert not (tmp_path / "full").exists()
    error = WriteError(tmp_path, OSError(errno.ENOSPC, "No space left on device"))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_folders_that_are_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    assert make_folder(root, "a", "b") == root / "a" / "b"
    (root / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(WriteError, match="symbolic link"):
        make_folder(root, "link", "c")
    assert not list((tmp_path / "outside").iterdir())


def test_a_tree_is_removed_and_not_what_its_links_point_to(tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    keep.mkdir()
    (keep / "file").write_text("")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link").symlink_to(keep)
    remove_tree(tree)
    (tmp_path / "link").symlink_to(keep)
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "not there")
    assert (keep / "file").exists() and not tree.exists() and not (tmp_path / "link").is_symlink()


def test_a_lock_is_no_link_and_ends_with_its_process(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(WriteError), locked(tmp_path / "lock"):
        pass
    assert not target.exists()
    path = tmp_path / "held"
    hold = "import sys,time;from pathlib import Path;from parsemark.system import locked\n"
    hold += "with locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", hold, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    assert is_locked(path)
    process.kill()
    process.wait()
    process.stdout.close()
    assert not is_locked(path)
