"""What parsers returned, byte for byte, in files named by their SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from pathlib import Path

from parsemark.errors import StoreError
from parsemark.system import make_folder, replacing, write_bytes

_HASH = re.compile(r"[0-9a-f]{64}")


class BlobStore:
    """A folder of blobs: `ab/abcdef…`, where the name is the SHA-256 of the content."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, blob: str) -> Path:
        """Return where a blob lies, or would lie."""
        if _HASH.fullmatch(blob) is None:
            raise StoreError(f"{blob!r} is not the name of a blob (64 hexadecimal digits).")
        return self.root / blob[:2] / blob

    def put(self, data: bytes) -> str:
        """Store `data` and return its name. Storing the same bytes twice costs one file."""
        blob = hashlib.sha256(data).hexdigest()
        path = self.path(blob)
        if not self._complete(path, len(data)):
            self._make_folder(blob)
            write_bytes(path, data)
        return blob

    def has(self, blob: str, n_bytes: int) -> bool:
        """Return whether the blob is stored and has its size."""
        return self._complete(self.path(blob), n_bytes)

    def holds(self, blob: str) -> bool:
        """Return whether there is a file for the blob in the folder itself, and not where a link leads."""
        return not self.root.is_symlink() and self.path(blob).is_file()

    def get(self, blob: str) -> bytes:
        """Return the bytes of a blob, checked against its name."""
        path = self.path(blob)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreError(f"Blob {blob[:12]}… cannot be read at {path}: {error.strerror}.") from error
        if hashlib.sha256(data).hexdigest() != blob:
            raise StoreError(
                f"Blob {path} is damaged: its content does not match its hash. Delete it "
                "and run the command again."
            )
        return data

    def adopt(self, blob: str, other: BlobStore) -> bool:
        """Take a blob over from another store, without a second copy where the disk allows that. Whether the
        blob is here now; False if the other store has none or a damaged one.
        """
        target = self.path(blob)
        try:
            data = other.get(blob)
        except StoreError:
            return False
        if self._complete(target, len(data)):
            return True
        self._make_folder(blob)
        with contextlib.suppress(FileExistsError):
            try:
                os.link(other.path(blob), target)
            except FileExistsError:
                raise
            except OSError:  # another disk, or a file system without links
                with replacing(target) as temporary:
                    shutil.copyfile(other.path(blob), temporary)
        return True

    def discard(self, blob: str) -> None:
        """Remove a damaged blob, so that its page is parsed again by the next run."""
        with contextlib.suppress(OSError):
            self.path(blob).unlink()

    def _make_folder(self, blob: str) -> None:
        make_folder(self.root.parent, self.root.name, blob[:2])

    @staticmethod
    def _complete(path: Path, size: int) -> bool:
        try:
            return path.stat().st_size == size
        except OSError:
            return False
