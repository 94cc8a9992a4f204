"""Folders that are removed also if the process that made them was killed: by the next one."""

import contextlib
import functools
import inspect
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

from parsemark.errors import UsageError, WriteError
from parsemark.system.files import hold, is_locked, make_folder, remove_tree

P = ParamSpec("P")
R = TypeVar("R")
_HELD = ".held"
_YOUNG_S = 60.0


class ScratchFolder:
    """A temporary folder, marked as in use for as long as this process lives or until `close`; OSError if it
    cannot be made.

    As a context manager it gives its path. Folders of this prefix that killed processes have left are
    removed.
    """

    def __init__(self, prefix: str, folder: Path | None = None) -> None:
        remove_abandoned(prefix, folder)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
        # The mark gets its name when it is held: in between, no process may take the folder for abandoned.
        unheld = self.path / f"{_HELD}-soon"
        self._handle = os.open(unheld, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        hold(self._handle)
        unheld.rename(self.path / _HELD)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove it."""
        _remove(self.path)
        os.close(self._handle)


@contextlib.contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a folder that becomes `out` at the end, or never. Raise UsageError if that is not empty, or
    WriteError.
    """
    target = out.resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{out} is not empty; give a new folder, or remove it first.")
    try:
        make_folder(target.parent)
        scratch = ScratchFolder(f".{target.name}-", target.parent)
    except OSError as error:
        raise WriteError(out, error) from error
    with scratch as folder:
        made = make_folder(folder, "made")
        yield made
        try:
            made.rename(target)
        except OSError as error:
            raise WriteError(out, error) from error


def made_whole(make: Callable[P, R]) -> Callable[P, R]:
    """Make a function write its argument `out` as `whole_folder` does."""
    signature = inspect.signature(make)

    @functools.wraps(make)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        with whole_folder(bound.arguments["out"]) as folder:
            bound.arguments["out"] = folder
            return make(*bound.args, **bound.kwargs)

    return wrapped


def remove_abandoned(prefix: str, folder: Path | None = None) -> int:
    """Remove temporary folders whose process is gone; returns how many."""
    removed = 0
    for path in (folder or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        if _is_abandoned(path):
            _remove(path)
            removed += not path.exists()
    return removed


def _remove(folder: Path) -> None:
    """Remove the mark last: the rest of an interrupted removal is still known as ours."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.name != _HELD:
                remove_tree(path)
    remove_tree(folder)


def _is_abandoned(folder: Path) -> bool:
    """Return whether it is ours and nobody holds it; one without the mark only if it is empty, and not just
    made.
    """
    try:
        state = folder.lstat()
        if state.st_uid != os.getuid() or folder.is_symlink() or not folder.is_dir():
            return False
        if (folder / _HELD).is_file():
            return not is_locked(folder / _HELD)
        return time.time() - state.st_mtime >= _YOUNG_S and not any(folder.iterdir())
    except OSError:
        return False
