"""Temporary folders that are removed also if the process that made them was killed: by the next one."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from parsemark.system.files import remove_tree
from parsemark.system.locks import hold, is_locked

_HELD = ".held"
_YOUNG_S = 60.0


class ScratchFolder:
    """A temporary folder, marked as in use for as long as this process lives or until `close`.

    Args:
        prefix: Of its name. Folders of this prefix that killed processes have left are removed.
        folder: Where it lies; by default where temporary folders lie.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, prefix: str, folder: Path | None = None) -> None:
        remove_abandoned(prefix, folder)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        self._handle = os.open(self.path / _HELD, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        hold(self._handle)

    def close(self) -> None:
        """Remove it."""
        remove_tree(self.path)
        os.close(self._handle)


def remove_abandoned(prefix: str, folder: Path | None = None) -> int:
    """Remove temporary folders whose process is gone; returns how many."""
    removed = 0
    for path in (folder or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        if _is_abandoned(path):
            remove_tree(path)
            removed += not path.exists()
    return removed


def _is_abandoned(folder: Path) -> bool:
    try:
        state = folder.lstat()
        is_ours = state.st_uid == os.getuid() and not folder.is_symlink()
        if not is_ours or (time.time() - state.st_mtime < _YOUNG_S and not (folder / _HELD).exists()):
            return False
    except OSError:
        return False
    return not (folder / _HELD).exists() or not is_locked(folder / _HELD)
