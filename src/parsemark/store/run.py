"""A run directory: the database of one benchmark run.

    manifest.json       what was run: corpus, parsers, versions, command, machine
    raw/ab/<sha256>     what parsers returned, byte for byte
    journal/*.jsonl     finished parses that are not in parses.parquet yet
    *.parquet           samples, parses, predictions
    protocols/NAME/     matches.parquet, scores.parquet, summary.json of one protocol

Every file is whole or absent, so a run can be killed at any moment. Several processes may work on one run
directory: each has its own journal, and tables are replaced under a lock.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import ParsemarkError, StoreError
from parsemark.formats.model_json import page_from_json, prediction_from_json
from parsemark.model import Page, Prediction
from parsemark.protocols.run_tables import RunTables
from parsemark.protocols.summary import Summary
from parsemark.store.blobs import BlobStore
from parsemark.store.manifest import Manifest, read_manifest, write_manifest
from parsemark.store.parses import ParseLog
from parsemark.store.records import ParseRecord
from parsemark.store.schemas import PROTOCOL_TABLES, SCHEMAS
from parsemark.store.tables import StoredTables, TableFiles, frame_of
from parsemark.system import locked, make_folder, remove_tree, write_bytes

MANIFEST = "manifest.json"
SUMMARY = "summary.json"


class Run:
    """An open run directory. Make one with `Run.create` or `Run.open`."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.blobs = BlobStore(path / "raw")
        self.files = TableFiles(path)
        """The tables as files."""
        self.parses = ParseLog(self.files)
        """What has been parsed: records, and journals of new ones."""

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest) -> Run:
        """Start a run in a folder that is empty or does not exist."""
        run = cls(Path(path), manifest)
        with run._locked():
            if (run.path / MANIFEST).exists():
                raise StoreError(f"{path} already holds a run. Open it, or choose another folder.")
            if (taken := _what_is_in_the_way(run.path)) is not None:
                raise StoreError(f"{path} is no run, but holds {taken}. Choose a new folder for the run.")
            write_manifest(run.path / MANIFEST, manifest)
        return run

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open a run that exists.

        Raises:
            StoreError: There is none, it is damaged, or it was written by a newer parsemark.
        """
        return cls(Path(path), read_manifest(Path(path) / MANIFEST))

    @staticmethod
    def remove(path: str | Path) -> None:
        """Remove the run in a folder, and nothing that is not part of one; no error if there is none."""
        root = Path(path)
        if not (root / MANIFEST).exists():
            return
        read_manifest(root / MANIFEST)  # refuses what is not ours
        for name in ("raw", "journal", "parts", "protocols", "report", SUMMARY):
            remove_tree(root / name)
        for name in (*(f"{table}.parquet" for table in SCHEMAS), MANIFEST):
            remove_tree(root / name)

    def table(self, name: str, protocol: str | None = None) -> pl.DataFrame:
        """One of `samples`, `parses`, `predictions`, or of a protocol's `matches`, `scores`.

        Without rows if not made yet. The protocol is by default the first one of the run.
        """
        return self.parses.table() if name == "parses" else self.files.read(name, self._spec(protocol))

    def scanning(
        self, name: str, protocol: str | None = None
    ) -> contextlib.AbstractContextManager[pl.LazyFrame]:
        """The same table, to collect from what is needed of it; its rows are sorted by `SORT_KEYS`."""
        if name == "parses":
            return self.parses.scanning()
        return self.files.scanning(name, self._spec(protocol))

    def _spec(self, protocol: str | None) -> str:
        return protocol or (self.manifest.protocols or ["tables"])[0]

    @property
    def protocols(self) -> list[str]:
        """Specs of the protocols by which the run has been scored, in order."""
        return [spec for spec in self.manifest.protocols if (self.protocol_folder(spec) / SUMMARY).exists()]

    @property
    def is_baseline(self) -> bool:
        """Whether all outputs were left behind, as `parsemark gate --save` does: no new scores."""
        with self.scanning("parses") as parses:
            recorded = parses.select(pl.col("blob").drop_nulls()).collect()["blob"]
        return len(recorded) > 0 and not any(self.blobs.holds(blob) for blob in recorded)

    def protocol_folder(self, protocol: str | None = None) -> Path:
        """Where the matches, scores and summary of a protocol are; by default of the first one."""
        return self.files.folder_of(self._spec(protocol))

    def run_tables(self, protocol: str | None = None) -> RunTables:
        """The tables that a protocol's aggregates are made of."""
        return StoredTables(self, protocol)

    def records(self) -> list[ParseRecord]:
        """What has been parsed, the latest record of each page and parser, sorted."""
        return self.parses.records()

    def write_table(self, name: str, frame: pl.DataFrame, protocol: str | None = None) -> None:
        """Replace a table."""
        with self._locked():
            self.files.write(name, frame, self._spec(protocol))

    def join_parts(self, name: str, parts: Sequence[Path], protocol: str | None = None) -> None:
        """Replace a table by the rows of several files: see `TableFiles.join`."""
        with self._locked():
            self.files.join(name, parts, self._spec(protocol))
        self.__dict__.pop("_predictions", None)

    @contextlib.contextmanager
    def publishing(self) -> Iterator[None]:
        """Hold the right to replace what follows from the parses: predictions, matches, scores, summaries.

        Its holder makes sure that what it writes follows from the records as they are now.
        """
        with locked(self.path / ".publish.lock"):
            yield

    def add_samples(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add samples, or replace those of the same id."""
        with self._locked():
            merged = {row["sample"]: row for row in self.table("samples").iter_rows(named=True)}
            merged |= {row["sample"]: row for row in rows}
            self.files.write("samples", frame_of("samples", merged.values()))
        self.__dict__.pop("_truths", None)

    def replace_samples(self, rows: Iterable[dict[str, Any]]) -> None:
        """Make these the samples of the run; what was parsed of pages that are gone or changed is dropped."""
        with self._locked():
            before = self.table("samples")
            hashes = dict(zip(before["sample"], before["pdf_sha256"], strict=True))
            now = {row["sample"]: row for row in rows}
            stale = {s for s, h in hashes.items() if s not in now or now[s]["pdf_sha256"] != h}
            self.parses.drop(lambda record: record.sample in stale)
            self.files.write("samples", frame_of("samples", now.values()))
        self.__dict__.pop("_truths", None)

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

    def truth(self, sample: str) -> Page | None:
        """The truth of a sample; None where the corpus has none."""
        if sample not in self._truths:
            raise StoreError(f"{self.path} has no sample {sample!r}.")
        text = self._truths[sample]
        with self.files.reading("samples"):
            return None if text is None else page_from_json(json.loads(text))

    def prediction(self, sample: str, parser: str) -> Prediction:
        """What a parser made of a sample."""
        text = self._predictions.get((sample, parser))
        if text is None:
            raise StoreError(f"{self.path} has no prediction of {parser!r} for sample {sample!r}.")
        with self.files.reading("predictions"):
            return prediction_from_json(json.loads(text))

    def raw(self, blob: str) -> bytes:
        """What a parser returned, by the name in the column `blob` of `parses`."""
        return self.blobs.get(blob)

    def summary(self, protocol: str | None = None) -> Summary:
        """What a protocol says about the run; by default the first one."""
        path = self.protocol_folder(protocol) / SUMMARY
        try:
            return Summary.model_validate_json(path.read_bytes())
        except FileNotFoundError as error:
            asked = f" by {protocol}" if protocol else ""
            if self.is_baseline:
                raise StoreError(
                    f"{self.path} is a baseline that has not been scored{asked}. Score the run that it was "
                    f"made of, then save it again: parsemark gate RUN --save {self.path}"
                ) from error
            raise StoreError(
                f"{self.path} has not been scored{asked} yet. Do that with: parsemark score {self.path}"
                + (f" --protocol '{protocol}'" if protocol else "")
            ) from error
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path} cannot be read: {' '.join(str(error).split())[:200]}. "
                f"Make it anew with: parsemark score {self.path}"
            ) from error

    def write_summary(self, summary: Summary) -> None:
        """Replace the summary of a protocol, and remember that the run has it."""
        text = json.dumps(summary.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False)
        folder = self.protocol_folder(summary.protocol)
        make_folder(self.path, "protocols", folder.name)
        write_bytes(folder / SUMMARY, (text + "\n").encode())
        if summary.protocol not in self.manifest.protocols:
            self.update_manifest(lambda manifest: manifest.with_protocols([summary.protocol]))

    @contextlib.contextmanager
    def report_damage(self) -> Iterator[None]:
        """If what is done inside fails, look whether a damaged file is the cause, and name that instead."""
        try:
            yield
        except (ParsemarkError, OSError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException:  # damaged data can make any code fail, and polars panic
            self.require_sound()
            raise

    def require_sound(self) -> None:
        """Read all that the run holds; StoreError names the first file that is damaged."""
        self.records()
        for spec in self.protocols:
            self.summary(spec)
            for name in PROTOCOL_TABLES:
                self.table(name, spec)
        for name, column in (("samples", "truth"), ("predictions", "prediction")):
            with self.files.reading(name):
                for text in self.table(name)[column].drop_nulls():
                    json.loads(text)

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return self.parses.locked()

    @cached_property
    def _truths(self) -> dict[str, str | None]:
        samples = self.table("samples")
        return dict(zip(samples["sample"], samples["truth"], strict=True))

    @cached_property
    def _predictions(self) -> dict[tuple[str, str], str]:
        frame = self.table("predictions")
        return dict(zip(zip(frame["sample"], frame["parser"], strict=True), frame["prediction"], strict=True))


def _what_is_in_the_way(folder: Path) -> str | None:
    """What makes a folder no good for a new run: files of a run that has no manifest, or whole runs."""
    names = [*(f"{table}.parquet" for table in SCHEMAS), "raw", "journal", "protocols"]
    if found := next((name for name in names if (folder / name).exists()), None):
        return found
    return next((f"the run {path.parent.name}" for path in folder.glob(f"*/{MANIFEST}")), None)
