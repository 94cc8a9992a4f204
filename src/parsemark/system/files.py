"""Files that we write: whole or absent, and only where we mean to write; and locks between processes.

A folder that came from elsewhere may hold symbolic links under the names that we are about to write. So
nothing is ever written through one: the data goes to a new file beside its place, which is then renamed
into it, and a rename replaces a link instead of following it. Folders below a root that we own are made
here too, and a link in their place is refused. A lock is a file that is held: a dead process holds none.
"""

import contextlib
import fcntl
import hashlib
import lzma
import os
import re
import shutil
import struct
import tarfile
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from parsemark.errors import WriteError

BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    NotImplementedError,  # a zip of a later version
    RuntimeError,  # one with a password, and recursion without end
    # What is let through where headers contradict themselves:
    *(ValueError, ArithmeticError, LookupError),
)
"""What reading an archive of others may raise."""
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{12}\.tmp", re.S)


def cache_folder(*parts: str) -> Path:
    """Return where what can be made again is kept: `$PARSEMARK_CACHE`, or `parsemark` in the user's cache
    folder.
    """
    if given := os.environ.get("PARSEMARK_CACHE"):
        base = Path(given).expanduser().resolve()
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "parsemark"
    return base.joinpath(*parts)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, whose content then replaces `path`.

    Readers see the old file or the new one, never a part. An error inside leaves the old file. A link at
    `path` is replaced; what it points to stays as it is. What lies in `/dev` (`/dev/stdout`) is written to
    directly. WriteError: the disk is full, the folder cannot be written to, or `path` is a folder.
    """
    if path.parent == Path("/dev"):
        yield path
        return
    temporary, handle = None, -1
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_unfinished(path.parent)
        temporary, handle = _new_temporary(path)
        yield temporary
        _sync(temporary)
        temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise WriteError(path, error) from error
        raise
    finally:
        if handle >= 0:
            os.close(handle)


def _new_temporary(path: Path) -> tuple[Path, int]:
    """Return a new file beside `path`, locked while it is open: so others see whether its writer lives."""
    while True:
        temporary = path.parent / f".{path.name[:40]}.{uuid.uuid4().hex[:12]}.tmp"
        # Not by `mkstemp`: the file is to be what the user's umask says.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):  # where nothing can be locked nothing is removed either
            hold(handle)
        if temporary.exists():
            return temporary, handle
        os.close(handle)  # taken for unfinished before it was locked


@lru_cache(maxsize=1024)
def _remove_unfinished(folder: Path) -> None:
    """Remove what killed writers have left in a folder; once in a process, since a folder may be large."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_ours = _UNFINISHED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            if is_ours and not is_locked(Path(entry)):
                Path(entry).unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` so that `path` is never seen half written; see `replacing`."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write `text` in UTF-8 (half a surrogate pair becomes a question mark); see `replacing`."""
    write_bytes(path, text.encode("utf-8", "replace"))


def make_folder(root: Path, *parts: str) -> Path:
    """Return the folder `root/parts…`, made if need be; raise WriteError for a link below `root` on the way
    to it.
    """
    folder = root
    try:
        root.mkdir(parents=True, exist_ok=True)
        for part in parts:
            folder = folder / part
            if folder.is_symlink():
                raise WriteError(folder, "it is a symbolic link; remove it")
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise WriteError(folder, error) from error
    return folder


def remove_tree(path: Path) -> None:
    """Remove a file, a link (not what it points to) or a folder with all that is in it, if it is there."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def file_sha256(path: Path) -> str:
    """Return SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- Locks --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, for which others wait; WriteError if it cannot be made, or is a link."""
    with _held(_open(path), fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def shared(path: Path) -> Iterator[Callable[[], bool]]:
    """Hold a shared lock file; yield a function that returns whether no other process holds it."""
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
    """Return whether another process holds `path`; also if it cannot be looked at."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        return not _try_exclusive(handle)
    finally:
        os.close(handle)
