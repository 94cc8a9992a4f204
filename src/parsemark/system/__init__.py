"""Files, locks, processes and confinement: what the machine gives us, asked for at one place."""

from parsemark.system.files import (
    BROKEN_ARCHIVE,
    cache_folder,
    file_sha256,
    is_locked,
    locked,
    make_folder,
    remove_tree,
    replacing,
    write_bytes,
    write_text,
)
from parsemark.system.scratch import ScratchFolder

__all__ = [
    "BROKEN_ARCHIVE", "ScratchFolder", "cache_folder", "file_sha256", "is_locked", "locked", "make_folder",
    "remove_tree", "replacing", "write_bytes", "write_text",
]  # fmt: skip
