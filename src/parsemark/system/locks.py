"""Locks between processes: files that are held. A dead process holds nothing, however it died."""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from parsemark.errors import WriteError


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, for which others wait; WriteError if it cannot be made, or is a link."""
    with _held(_open(path), fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def shared(path: Path) -> Iterator[Callable[[], bool]]:
    """Hold a lock file with others; gives what says whether nobody else does: then others wait for us."""
    with _held(_open(path), fcntl.LOCK_SH) as handle:
        yield lambda: _try_exclusive(handle)


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder itself: for folders in which no lock file should lie. It must exist."""
    with _held(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def _held(handle: int, how: int) -> Iterator[int]:
    """Lock an open file, and close it at the end."""
    try:
        fcntl.flock(handle, how)
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise WriteError(path, error) from error


def _try_exclusive(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def hold(handle: int) -> None:
    """Lock an open file for as long as it stays open."""
    fcntl.flock(handle, fcntl.LOCK_EX)


def is_locked(path: Path) -> bool:
    """Whether another process holds `path`; also if it cannot be looked at."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        return not _try_exclusive(handle)
    finally:
        os.close(handle)
