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
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import FormatError, ParsemarkError, StoreError, WriteError
from parsemark.formats.model_json import page_from_json, prediction_from_json
from parsemark.model import Page, Prediction, Status
from parsemark.protocols.run_tables import RunTables
from parsemark.protocols.summary import Summary
from parsemark.store.blobs import BlobStore
from parsemark.store.journal import Journal, finished_journals, read_journals
from parsemark.store.manifest import Manifest, read_manifest, write_manifest
from parsemark.store.records import ParseRecord
from parsemark.store.schemas import PROTOCOL_TABLES, SCHEMAS, SORT_KEYS, columns_of, empty_table, schema_of
from parsemark.store.tables import StoredTables, opened_table, rows_per_group
from parsemark.system import locked, make_folder, remove_tree, replacing, write_bytes

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
_SAID_BY_READER = (str(Status.OK), str(Status.PARSER_FAILED))


class Run:
    """An open run directory. Make one with `Run.create` or `Run.open`."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.blobs = BlobStore(path / "raw")

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
        return self._parses() if name == "parses" else self._stored(name, protocol)

    @contextlib.contextmanager
    def scanning(self, name: str, protocol: str | None = None) -> Iterator[pl.LazyFrame]:
        """The same table, to collect from what is needed of it; its rows are sorted by `SORT_KEYS`."""
        path = self.table_path(name, protocol)
        if not path.exists() or (name == "parses" and self._has_journals()):
            yield self.table(name, protocol).lazy()
            return
        with self._reading(path, name), opened_table(path, name) as rows:
            yield rows

    def table_path(self, name: str, protocol: str | None = None) -> Path:
        """Where a table lies, or will lie."""
        schema_of(name)
        folder = self.protocol_folder(protocol) if name in PROTOCOL_TABLES else self.path
        return folder / f"{name}.parquet"

    @property
    def texts_path(self) -> Path:
        """Where the text layers of the pages lie, in a run that came without its PDFs."""
        return self.path / "texts.parquet"

    def texts(self, where: pl.Expr) -> dict[str, str]:
        """The text layers of some pages, by sample, in a run whose PDFs are elsewhere; mostly none."""
        if not self.texts_path.exists():
            return {}
        with self._reading(self.texts_path, "samples"):
            rows = pl.scan_parquet(self.texts_path).select("sample", "text")
            return dict(rows.filter(where).collect().iter_rows())

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
        spec = protocol or (self.manifest.protocols or ["tables"])[0]
        plain = re.fullmatch(r"[A-Za-z_][\w.\-]*", spec)
        name = spec if plain else f"{spec.partition('(')[0]}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
        return self.path / "protocols" / name

    def run_tables(self, protocol: str | None = None) -> RunTables:
        """The tables that a protocol's aggregates are made of."""
        return StoredTables(self, protocol)

    def records(self) -> list[ParseRecord]:
        """What has been parsed, the latest record of each page and parser, sorted."""
        latest: dict[tuple[str, str], ParseRecord] = {}
        # Journals before the table: what is folded away meanwhile is then in the table.
        journalled = [ParseRecord.from_json(entry, where) for where, entry in read_journals(self._journals)]
        where = f"A row of {self.table_path('parses')}"
        stored = [ParseRecord.from_json(row, where) for row in self._stored("parses").iter_rows(named=True)]
        # Of the same record the one in the table counts: see `note_unreadable`.
        for record in sorted([*journalled, *stored], key=lambda r: r.finished):
            latest[record.sample, record.parser] = record
        return [latest[key] for key in sorted(latest)]

    def journal(self) -> Journal:
        """A new journal for this process, to append `ParseRecord.to_json()` to."""
        with self._locked():
            return Journal(self._journals)

    def fold_journals(self) -> None:
        """Move what finished journals hold into `parses.parquet`."""
        with self._locked():
            finished = finished_journals(self._journals)
            if not finished and self.table_path("parses").exists():
                return
            self._write("parses", self._parses())
            for path in finished:
                path.unlink()

    def write_table(self, name: str, frame: pl.DataFrame, protocol: str | None = None) -> None:
        """Replace a table."""
        with self._locked():
            self._write(name, frame, protocol)

    def join_parts(self, name: str, parts: Sequence[Path], protocol: str | None = None) -> None:
        """Replace a table by the rows of Parquet files, which are sorted and follow each other in order.

        They are streamed, so a table may be larger than memory.
        """
        with self._locked(), self._replacing_table(name, protocol) as temporary:
            rows = pl.scan_parquet(list(parts), schema=schema_of(name))
            rows.sink_parquet(temporary, row_group_size=rows_per_group(name))
        self.__dict__.pop("_predictions", None)

    @contextlib.contextmanager
    def publishing(self) -> Iterator[None]:
        """Hold the right to replace what follows from the parses: predictions, matches, scores, summaries.

        Whoever holds it must make sure that what it writes follows from the records as they are now.
        """
        with locked(self.path / ".publish.lock"):
            yield

    def note_unreadable(self) -> None:
        """Let `parses` say of outputs that could not be read that the parser has failed, and why.

        Whether an output can be read is known once the predictions are made. An output that can be read by
        now, by a newer reader, is `ok` again.
        """
        with self._locked():
            finished = finished_journals(self._journals)
            told = None
            for parses, predictions in self.run_tables().batches("parses", "predictions"):
                told = self._with_statuses(parses, predictions)
                if not told.equals(parses):
                    break
            else:
                return
            told = self._with_statuses(self._parses(), self._columns("predictions", "prediction"))
            self._write("parses", told)
            for path in finished:
                path.unlink(missing_ok=True)

    @staticmethod
    def _with_statuses(parses: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
        """The records of outputs, and of what is called one, with the status of what was read of them."""
        read = predictions.select("sample", "parser", read="status", why="message")
        joined = parses.join(read, on=["sample", "parser"], how="left", maintain_order="left")
        answered = pl.col("blob").is_not_null() | (pl.col("status") == str(Status.OK))
        of_reader = answered & pl.col("read").is_in(_SAID_BY_READER)
        failed = pl.col("read") == str(Status.PARSER_FAILED)
        return joined.with_columns(
            status=pl.when(of_reader).then("read").otherwise("status"),
            error=pl.when(of_reader).then(pl.when(failed).then("why")).otherwise("error"),
        ).select(parses.columns)

    def add_samples(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add samples, or replace those of the same id."""
        with self._locked():
            merged = {row["sample"]: row for row in self._stored("samples").iter_rows(named=True)}
            merged |= {row["sample"]: row for row in rows}
            self._write("samples", _frame("samples", merged.values()))
        self.__dict__.pop("_truths", None)

    def replace_samples(self, rows: Iterable[dict[str, Any]]) -> None:
        """Make these the samples of the run; what was parsed of pages that are gone or changed is dropped."""
        with self._locked():
            before = self._stored("samples")
            hashes = dict(zip(before["sample"], before["pdf_sha256"], strict=True))
            now = {row["sample"]: row for row in rows}
            stale = {s for s, h in hashes.items() if s not in now or now[s]["pdf_sha256"] != h}
            self._drop_records(lambda record: record.sample in stale)
            self._write("samples", _frame("samples", now.values()))
        self.__dict__.pop("_truths", None)

    def remove_parser(self, name: str) -> None:
        """Take a parser out of the run; its outputs stay in `raw/` until the run is removed."""
        with self._locked():
            self._drop_records(lambda record: record.parser == name)
        self.update_manifest(
            lambda m: m.model_copy(update={"parsers": [p for p in m.parsers if p.name != name]})
        )

    def _drop_records(self, unwanted: Callable[[ParseRecord], bool]) -> None:
        """Write `parses.parquet` without some records. The lock is held by the caller."""
        finished = finished_journals(self._journals)
        kept = (r.to_json() for r in self.records() if not unwanted(r))
        self._write("parses", _frame("parses", kept))
        for path in finished:
            path.unlink()

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
        with self._reading(self.table_path("samples"), "samples"):
            return None if text is None else page_from_json(json.loads(text))

    def prediction(self, sample: str, parser: str) -> Prediction:
        """What a parser made of a sample."""
        text = self._predictions.get((sample, parser))
        if text is None:
            raise StoreError(f"{self.path} has no prediction of {parser!r} for sample {sample!r}.")
        with self._reading(self.table_path("predictions"), "predictions"):
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
                self._stored(name, spec)
        for name, column in (("samples", "truth"), ("predictions", "prediction")):
            with self._reading(self.table_path(name), name):
                for text in self._stored(name)[column].drop_nulls():
                    json.loads(text)

    @property
    def _journals(self) -> Path:
        return self.path / "journal"

    def _locked(self) -> Any:
        return locked(self.path / ".lock")

    def _stored(self, name: str, protocol: str | None = None) -> pl.DataFrame:
        path = self.table_path(name, protocol)
        if not path.exists():
            return empty_table(name)
        with self._reading(path, name):
            # Read by one open file: polars opens a path twice, and another process may replace it in between.
            stored = pl.read_parquet(BytesIO(path.read_bytes()))
            return stored.select(columns_of(name, stored.columns))

    def _columns(self, name: str, *without: str) -> pl.DataFrame:
        """A stored table without its large columns."""
        with self.scanning(name) as rows:
            return rows.drop(without).collect()

    def _has_journals(self) -> bool:
        return any(self._journals.glob("*.jsonl"))

    def _parses(self) -> pl.DataFrame:
        """The latest record of each page and parser, sorted: the table itself, if nothing has to be done."""
        if not self._has_journals():
            stored = self._stored("parses")
            if _are_records(stored):
                return stored
        return _frame("parses", (r.to_json() for r in self.records()))

    def _write(self, name: str, frame: pl.DataFrame, protocol: str | None = None) -> None:
        ordered = frame.select(list(schema_of(name))).sort(SORT_KEYS[name], maintain_order=True)
        with self._replacing_table(name, protocol) as temporary:
            ordered.write_parquet(temporary, row_group_size=rows_per_group(name))

    @contextlib.contextmanager
    def _replacing_table(self, name: str, protocol: str | None) -> Iterator[Path]:
        path = self.table_path(name, protocol)
        make_folder(self.path, *path.parent.relative_to(self.path).parts)
        with replacing(path) as temporary:
            try:
                yield temporary
            except pl.exceptions.PolarsError as error:
                raise WriteError(path, str(error)[:200]) from error

    @contextlib.contextmanager
    def _reading(self, path: Path, name: str) -> Iterator[None]:
        """What goes wrong while a table is read is damage: names the file, and how it is made anew."""
        try:
            yield
        except (OSError, ValueError, TypeError, FormatError, pl.exceptions.PolarsError) as error:
            raise self._damaged(path, name, str(error)) from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # how polars' Rust code gives up on a file
                raise self._damaged(path, name, str(error)) from error
            raise

    def _damaged(self, path: Path, name: str, why: str) -> StoreError:
        if name in ("samples", "parses"):
            remedy = "Delete it and give the command that made the run again; the cache still has the pages"
        else:
            remedy = f"Make it anew with: parsemark score {self.path}"
        reason = " ".join(why.split())[:200].rstrip(".")
        return StoreError(f"{path} is damaged: {reason}. {remedy}")

    @cached_property
    def _truths(self) -> dict[str, str | None]:
        samples = self._stored("samples")
        return dict(zip(samples["sample"], samples["truth"], strict=True))

    @cached_property
    def _predictions(self) -> dict[tuple[str, str], str]:
        frame = self._stored("predictions")
        return dict(zip(zip(frame["sample"], frame["parser"], strict=True), frame["prediction"], strict=True))


def _what_is_in_the_way(folder: Path) -> str | None:
    """What makes a folder no good for a new run: files of a run that has no manifest, or whole runs."""
    names = [*(f"{table}.parquet" for table in SCHEMAS), "raw", "journal", "protocols"]
    if found := next((name for name in names if (folder / name).exists()), None):
        return found
    return next((f"the run {path.parent.name}" for path in folder.glob(f"*/{MANIFEST}")), None)


def _are_records(parses: pl.DataFrame) -> bool:
    """Whether all rows are records as we write them, in order and each once."""
    needed = ("sample", "parser", "status", "key", "n_bytes", "attempts", "finished")
    before = [pl.col(key).shift(1) for key in SORT_KEYS["parses"]]
    sample, parser = (pl.col(key) for key in SORT_KEYS["parses"])
    in_order = (before[0] < sample) | ((before[0] == sample) & (before[1] < parser))
    checks = parses.select(
        known=pl.all_horizontal(pl.col(c).is_not_null().all() for c in needed),
        statuses=pl.col("status").is_in([str(s) for s in Status]).all(),
        in_order=in_order.fill_null(True).all(),
    )
    return all(checks.row(0))


def _frame(name: str, rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=schema_of(name), orient="row")
