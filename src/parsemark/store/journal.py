"""Finished work, one line each, appended to a file of the process that did it.

A journal's number says which came later: it is higher than that of all journals before it in the same run.

Every process has its own file and holds a lock on it, so two processes on one run directory never write to
the same file, and the fold of journals into a table knows which ones still grow. A last line that was torn
by a kill or a power cut is ignored; its work is done again. Any other line that is no record is damage.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parsemark.errors import StoreError, WriteError
from parsemark.system import make_folder
from parsemark.system.files import hold, is_locked

Json = dict[str, Any]
LINES = 2**32  # the sequence of an entry is the number of its journal times this, and the number of its line


class Journal:
    """The journal that this process writes. Safe to use from several threads."""

    def __init__(self, folder: Path, number: int) -> None:
        make_folder(folder.parent, folder.name)
        self.path = folder / f"n{number:06d}-{os.getpid()}-{uuid.uuid4().hex[:12]}.jsonl"
        self._handle: int | None = None
        try:
            self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        except OSError as error:
            raise WriteError(self.path, error) from error
        hold(self._handle)
        self._lock = threading.Lock()

    def append(self, entry: Json) -> None:
        """Add one entry; on return it survives a kill and a power cut."""
        line = memoryview(json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        with self._lock:
            if self._handle is None:  # its number may be that of another file by now
                raise WriteError(self.path, "it is closed")
            try:
                while line:
                    line = line[os.write(self._handle, line) :]
                os.fsync(self._handle)
            except OSError as error:
                raise WriteError(self.path, error) from error

    def close(self) -> None:
        """Give up the lock; the file stays until it is folded into a table."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journals(folder: Path) -> Iterator[tuple[str, int, Json]]:
    """All whole entries of all journals, each with its file and line in words, and its sequence."""
    for path in sorted(folder.glob("*.jsonl")):
        with contextlib.suppress(FileNotFoundError):  # folded away by another process
            yield from _entries(path)


def last_number(folder: Path) -> int:
    """The highest number of a journal; 0 without any."""
    return max(map(_number, folder.glob("*.jsonl")), default=0)


def _number(path: Path) -> int:
    """The number in a journal's name; 0 in names of earlier versions."""
    found = re.match(r"n(\d{1,9})-", path.name)
    return int(found[1]) if found else 0


def finished_journals(folder: Path) -> list[Path]:
    """The journals whose process is gone."""
    return [path for path in sorted(folder.glob("*.jsonl")) if not is_locked(path)]


def _entries(path: Path) -> Iterator[tuple[str, int, Json]]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror}. Remove it; its pages are parsed again."
        ) from error
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip(b" \r\0"):
            continue
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):  # torn: the process died while it wrote
                continue
            entry = None
        if not isinstance(entry, dict):
            raise StoreError(f"{where} is no record. Remove it; its page is parsed again.")
        yield where, _number(path) * LINES + number, entry
