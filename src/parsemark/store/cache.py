"""Parses that were done once, kept across run directories, so that no run repeats another's work.

The cache lies in `$PARSEMARK_CACHE/parses`, or `~/.cache/parsemark/parses`. It can be deleted at any time.
"""

import contextlib
import dataclasses
import hashlib
import json
from pathlib import Path

from parsemark.errors import StoreError, WriteError
from parsemark.model import Status
from parsemark.store.blobs import BlobStore
from parsemark.store.records import ParseRecord
from parsemark.system import cache_folder, write_bytes


def default_cache_folder() -> Path:
    """Return where parses are kept unless the caller says otherwise."""
    return cache_folder("parses")


class ParseCache:
    """Records and blobs by the identity of the work.

    A page on which a parser failed is kept too, together with the limits: the failure counts only for a run
    with the same limits, since a longer time might have sufficed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = BlobStore(folder / "raw")

    def get(self, key: str, limits: str, blobs: BlobStore) -> ParseRecord | None:
        """Return the record for `key`, with its blob copied to `blobs`; None if there is none that holds."""
        try:
            entry = json.loads(self._path(key).read_bytes())
            record = ParseRecord.from_json(entry["record"])
        except (OSError, ValueError, KeyError, TypeError, StoreError):
            return None
        if record.status is not Status.OK and entry.get("limits") != limits:
            return None
        if record.blob is not None and not blobs.adopt(record.blob, self.blobs):
            return None
        return dataclasses.replace(record, cached=True)

    def put(self, record: ParseRecord, limits: str, blobs: BlobStore) -> None:
        """Keep a record and its blob. A cache that cannot be written to is no error."""
        with contextlib.suppress(OSError, WriteError):
            if record.blob is None or self.blobs.adopt(record.blob, blobs):
                entry = {"limits": limits, "record": record.to_json()}
                write_bytes(self._path(record.key), json.dumps(entry).encode())

    def get_versions(self, fingerprint: str) -> dict[str, dict[str, str]] | None:
        """Return `versions` and `weights` as a parser's worker reported them when its pages were parsed."""
        try:
            entry = json.loads(self._parser_path(fingerprint).read_bytes())
            parts = ("versions", "weights")
            return {part: {str(k): str(v) for k, v in entry[part].items()} for part in parts}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put_versions(self, fingerprint: str, versions: dict[str, dict[str, str]]) -> None:
        """Keep what a parser's worker says of itself."""
        with contextlib.suppress(OSError, WriteError):
            write_bytes(self._parser_path(fingerprint), json.dumps(versions).encode())

    def _parser_path(self, fingerprint: str) -> Path:
        return self.folder / "parsers" / f"{hashlib.sha256(fingerprint.encode()).hexdigest()}.json"

    def _path(self, key: str) -> Path:
        return self.folder / "records" / key[:2] / f"{key}.json"
