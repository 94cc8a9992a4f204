"""A run directory from inside: what the engine reads and replaces, under locks.

    manifest.json       what was run: corpus, parsers, versions, command, machine
    raw/ab/<sha256>     what parsers returned, byte for byte
    journal/*.jsonl     finished parses that are not in parses.parquet yet
    *.parquet           samples, parses, predictions
    protocols/NAME/     matches.parquet, scores.parquet, summary.json of one protocol
    repeats/2/, …       runs that parse the same pages again (`bench --repeats`)

Every file is whole or absent, so a run can be killed at any moment. Several processes may work on one run
directory: each has its own journal, and tables are replaced under a lock.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from parsemark.errors import StoreError
from parsemark.store.blobs import BlobStore
from parsemark.store.manifest import Manifest, read_manifest, write_manifest
from parsemark.store.parses import ParseLog
from parsemark.store.summary import Summary
from parsemark.store.tables import SCHEMAS, TableFiles, frame_of
from parsemark.system import locked, make_folder, remove_tree, write_bytes

MANIFEST = "manifest.json"
SUMMARY = "summary.json"


class OpenRun(Protocol):
    """A `Run`, which is written above what is here."""

    _folder: RunFolder


class RunFolder:
    """The folder behind a `Run`: `RunFolder.of(run)`. Nothing of it is for users."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.blobs = BlobStore(path / "raw")
        self.files = TableFiles(path)  # the tables as files
        self.parses = ParseLog(self.files)  # what has been parsed: records, and journals of new ones

    @staticmethod
    def of(run: OpenRun) -> RunFolder:
        """Return the folder of an open run."""
        return run._folder

    def begin(self) -> None:
        """Write the manifest of a new run into a folder that is empty or does not exist."""
        with self._locked():
            if (self.path / MANIFEST).exists():
                raise StoreError(f"{self.path} already contains a run. Open it, or choose another folder.")
            names = [*(f"{table}.parquet" for table in SCHEMAS), "raw", "journal", "protocols"]
            files = (name for name in names if (self.path / name).exists())
            runs = (f"the run {path.parent.name}" for path in self.path.glob(f"*/{MANIFEST}"))
            for taken in chain(files, runs):
                raise StoreError(
                    f"{self.path} is not a run, but contains {taken}. Choose a new folder for the run."
                )
            write_manifest(self.path / MANIFEST, self.manifest)

    @staticmethod
    def remove(path: str | Path) -> None:
        """Remove the run in a folder, and nothing that is not part of one; no error if there is none."""
        root = Path(path)
        if not (root / MANIFEST).exists():
            return
        read_manifest(root / MANIFEST)  # refuses what is not ours
        for name in ("raw", "journal", "parts", "protocols", "repeats", "report", SUMMARY):
            remove_tree(root / name)
        for name in (*(f"{table}.parquet" for table in SCHEMAS), "scaling.json", MANIFEST):
            remove_tree(root / name)

    @property
    def repeats(self) -> list[Path]:
        """Return the folders of further parses, in order."""
        found = (self.path / "repeats").glob("[0-9]*")
        own = [path for path in found if path.name.isdecimal() and (path / MANIFEST).is_file()]
        return sorted(own, key=lambda path: int(path.name))

    def repeat(self, number: int) -> Path:
        """Return the folder of a further parse, the first of which has the number 2."""
        return make_folder(self.path, "repeats") / str(number)

    def spec(self, protocol: str | None) -> str:
        """Return the protocol that is meant: by default the first one of the run; empty where it has none."""
        return protocol or next(iter(self.manifest.protocols), "")

    def write_table(self, name: str, frame: pl.DataFrame, protocol: str | None = None) -> None:
        """Replace a table."""
        with self._locked():
            self.files.write(name, frame, self.spec(protocol))

    def join_parts(self, name: str, parts: Sequence[Path], protocol: str | None = None) -> None:
        """Replace a table by the rows of several files: see `TableFiles.join`."""
        with self._locked():
            self.files.join(name, parts, self.spec(protocol))
        self.__dict__.pop("predictions", None)

    def publishing(self) -> contextlib.AbstractContextManager[None]:
        """Hold the right to replace what follows from the parses: predictions, matches, scores, summaries.

        Its holder makes sure that what it writes follows from the records as they are now.
        """
        return locked(self.path / ".publish.lock")

    def add_samples(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add samples, or replace those of the same id."""
        with self._locked():
            merged = {row["sample"]: row for row in self.files.read("samples").iter_rows(named=True)}
            merged |= {row["sample"]: row for row in rows}
            self.files.write("samples", frame_of("samples", merged.values()))
        self.__dict__.pop("truths", None)

    def replace_samples(self, rows: Iterable[dict[str, Any]]) -> None:
        """Make these the samples of the run; what was parsed of pages that are gone or changed is dropped."""
        with self._locked():
            before = self.files.read("samples")
            hashes = dict(zip(before["sample"], before["pdf_sha256"], strict=True))
            now = {row["sample"]: row for row in rows}
            stale = {s for s, h in hashes.items() if s not in now or now[s]["pdf_sha256"] != h}
            self.parses.drop(lambda record: record.sample in stale)
            self.files.write("samples", frame_of("samples", now.values()))
        self.__dict__.pop("truths", None)

    def remove_parser(self, name: str) -> None:
        """Take a parser out of the run; its outputs stay in `raw/` until the run is removed."""
        with self._locked():
            self.parses.drop(lambda record: record.parser == name)
        self.update_manifest(
            lambda m: m.model_copy(update={"parsers": [p for p in m.parsers if p.name != name]})
        )

    def update_manifest(self, change: Callable[[Manifest], Manifest]) -> None:
        """Change the manifest on disk; other processes' changes are kept."""
        with self._locked():
            self.manifest = change(read_manifest(self.path / MANIFEST))
            write_manifest(self.path / MANIFEST, self.manifest)

    def write_summary(self, summary: Summary) -> None:
        """Replace the summary of a protocol, and remember that the run has it."""
        text = json.dumps(summary.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False)
        folder = self.files.folder_of(summary.protocol)
        make_folder(self.path, "protocols", folder.name)
        write_bytes(folder / SUMMARY, (text + "\n").encode())
        if summary.protocol not in self.manifest.protocols:
            self.update_manifest(lambda manifest: manifest.with_protocols([summary.protocol]))

    @cached_property
    def truths(self) -> dict[str, str | None]:
        """Sample to its truth as JSON."""
        samples = self.files.read("samples")
        return dict(zip(samples["sample"], samples["truth"], strict=True))

    @cached_property
    def predictions(self) -> dict[tuple[str, str], str]:
        """Sample and parser to the prediction as JSON."""
        frame = self.files.read("predictions")
        return dict(zip(zip(frame["sample"], frame["parser"], strict=True), frame["prediction"], strict=True))

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return self.parses.locked()
