"""A run as its readers see it: tables, truths, predictions, raw outputs, scores, summaries, and SQL."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import ParsemarkError, StoreError, UsageError
from parsemark.extras import needed_for
from parsemark.formats.model_json import page_from_json, prediction_from_json
from parsemark.model import Page, Prediction
from parsemark.notebook import html_lines
from parsemark.plain_words import counted
from parsemark.store.folder import MANIFEST, SUMMARY, RunFolder
from parsemark.store.manifest import Manifest, read_manifest
from parsemark.store.records import ParseRecord
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary
from parsemark.store.tables import PROTOCOL_TABLES, SCHEMAS, StoredTables


class Run:
    """An open run directory, to read. `bench` and its like give one; `Run.open` opens one that exists."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._folder = RunFolder(path, manifest)

    @property
    def path(self) -> Path:
        """Return the run directory."""
        return self._folder.path

    @property
    def manifest(self) -> Manifest:
        """Return the manifest: corpus, parsers with versions and fingerprints, protocols, command,
        machine.
        """
        return self._folder.manifest

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest) -> Run:
        """Start a run in a folder that is empty or does not exist."""
        run = cls(Path(path), manifest)
        run._folder.begin()
        return run

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open a run that exists.

        Raises:
            StoreError: There is none, it is damaged, or it was written by a newer parsemark.
        """
        return cls(Path(path), read_manifest(Path(path) / MANIFEST))

    def _repr_html_(self) -> str:
        """Show the leaderboard of the run's first protocol in a notebook."""
        head = (
            f"Run {self.path}: {self.manifest.corpus.name}, {counted(len(self.manifest.parsers), 'parser')}"
        )
        if not self.protocols:
            return html_lines([f"{head}, not scored"])
        return html_lines([head]) + self.summary(self.protocols[0])._repr_html_()

    def table(self, name: str, protocol: str | None = None) -> pl.DataFrame:
        """Return one of `samples`, `parses`, `predictions`, or of a protocol's `matches`, `scores`.

        Without rows if not made yet. The protocol is by default the first one of the run.

        Raises:
            StoreError: The run has no such protocol.
        """
        inside = self._folder
        if protocol and protocol not in self.manifest.protocols:
            known = ", ".join(self.manifest.protocols)
            raise StoreError(f"{self.path} has no protocol {protocol!r}: {known}.")
        return inside.parses.table() if name == "parses" else inside.files.read(name, inside.spec(protocol))

    def scanning(
        self, name: str, protocol: str | None = None
    ) -> contextlib.AbstractContextManager[pl.LazyFrame]:
        """Return the same table, to collect from what is needed of it: `with run.scanning("scores") as rows:
        …`.
        """
        inside = self._folder
        if name == "parses":
            return inside.parses.scanning()
        return inside.files.scanning(name, inside.spec(protocol))

    @property
    def protocols(self) -> list[str]:
        """Return specs of the protocols by which the run has been scored, in order."""
        return [spec for spec in self.manifest.protocols if (self.protocol_folder(spec) / SUMMARY).exists()]

    @property
    def is_baseline(self) -> bool:
        """Return whether all outputs were left behind, as `parsemark gate --save` does: no new scores."""
        with self.scanning("parses") as parses:
            recorded = parses.select(pl.col("blob").drop_nulls()).collect()["blob"]
        return len(recorded) > 0 and not any(self._folder.blobs.holds(blob) for blob in recorded)

    def protocol_folder(self, protocol: str | None = None) -> Path:
        """Return where the matches, scores and summary of a protocol are; by default of the first one."""
        return self._folder.files.folder_of(self._folder.spec(protocol))

    def run_tables(self, protocol: str | None = None) -> RunTables:
        """Return the tables that a protocol's aggregates are made of."""
        return StoredTables(self, protocol)

    @property
    def repeats(self) -> list[Run]:
        """Return further parses of the same pages, each a run of its own (`bench --repeats`)."""
        return [Run.open(path) for path in self._folder.repeats]

    def repeats_by(self, protocol: str | None) -> list[RunTables]:
        """Return the tables of those that have been scored by a protocol."""
        spec = self._folder.spec(protocol)
        return [run.run_tables(spec) for run in self.repeats if spec in run.protocols]

    def records(self) -> list[ParseRecord]:
        """Return the latest record of each page and parser, sorted."""
        return self._folder.parses.records()

    def truth(self, sample: str) -> Page | None:
        """Return the truth of a sample; None where the corpus has none."""
        truths = self._folder.truths
        if sample not in truths:
            raise StoreError(f"{self.path} has no sample {sample!r}.")
        text = truths[sample]
        with self._folder.files.reading("samples"):
            return None if text is None else page_from_json(json.loads(text))

    def prediction(self, sample: str, parser: str) -> Prediction:
        """Return a parser's prediction for a sample."""
        text = self._folder.predictions.get((sample, parser))
        if text is None:
            known = len(self._folder.predictions) > 0
            why = "" if known else f" It is not scored yet: parsemark score {self.path}"
            raise StoreError(f"{self.path} has no prediction of {parser!r} for sample {sample!r}.{why}")
        with self._folder.files.reading("predictions"):
            return prediction_from_json(json.loads(text))

    def raw(self, blob: str) -> bytes:
        """Return a raw output, by the name in the column `blob` of `parses`."""
        return self._folder.blobs.get(blob)

    def scores(self, sample: str, parser: str, protocol: str | None = None) -> list[dict[str, Any]]:
        """Return the scores of a page of a parser as rows of `scores`, with the details that metrics give as
        data.

        `details` is None where the metric gives none, or the run was scored before they were kept.
        """
        own = (pl.col("sample") == sample) & (pl.col("parser") == parser)
        with self.scanning("scores", protocol) as rows:
            found = rows.filter(own).collect().to_dicts()
        with self._folder.files.reading("scores"):
            return [{**row, "details": row["details"] and json.loads(row["details"])} for row in found]

    def summary(self, protocol: str | None = None) -> Summary:
        """Return the summary of a protocol; by default the first one."""
        path = self.protocol_folder(protocol) / SUMMARY
        try:
            return Summary.model_validate_json(path.read_bytes())
        except FileNotFoundError as error:
            asked = f" by {protocol}" if protocol else ""
            if self.is_baseline:
                raise StoreError(
                    f"{self.path} is a baseline that has not been scored{asked}. Score the original "
                    f"run, then save it again: parsemark gate RUN --save {self.path}"
                ) from error
            raise StoreError(
                f"{self.path} has not been scored{asked} yet. Do that with: parsemark score {self.path}"
                + (f" --protocol '{protocol}'" if protocol else "")
            ) from error
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path} cannot be read: {' '.join(str(error).split())[:200]}. "
                f"Make it again with: parsemark score {self.path}"
            ) from error


@contextlib.contextmanager
def report_damage(run: Run) -> Iterator[None]:
    """Name a damaged file, if that is the cause of an error inside this context."""
    try:
        yield
    except (ParsemarkError, OSError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # damaged data can make any code fail, and polars panic
        run.records()  # to read all that the run holds names the first file that is damaged
        for spec in run.protocols:
            run.summary(spec)
            for name in PROTOCOL_TABLES:
                run.table(name, spec)
        for name, column in (("samples", "truth"), ("predictions", "prediction")):
            with RunFolder.of(run).files.reading(name):
                for text in run.table(name)[column].drop_nulls():
                    json.loads(text)
        raise


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query returned."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def _selects(run: Run, name: str) -> Iterator[str]:
    """Yield the files of a table as SQL; those of protocols have a column `protocol`."""
    for protocol in run.manifest.protocols if name in PROTOCOL_TABLES else [None]:
        file = RunFolder.of(run).files.path_of(name, protocol or "")
        if file.exists():
            extra = "" if protocol is None else f"{_quoted(protocol)} AS protocol, "
            named = _GLOB.sub(r"[\g<0>]", str(file))
            yield f"SELECT {extra}* FROM read_parquet({_quoted(named)})"


_GLOB = re.compile(r"[*?\[]")  # DuckDB takes a path for a pattern: `q[12]` would be two runs


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def query_run(path: Path, sql: str) -> QueryResult:
    """Run SQL in which `samples`, `parses`, `predictions`, `matches` and `scores` are tables.

    `matches` and `scores` hold the rows of all protocols, distinguished by the column `protocol`. The run
    itself is never changed: its files are read through views.
    """
    with needed_for("parsemark query"):
        import duckdb
    run = Run.open(path)
    RunFolder.of(run).parses.fold()
    connection = duckdb.connect(":memory:")
    try:
        for name in SCHEMAS:
            selects = list(_selects(run, name))
            if selects:
                connection.execute(f"CREATE VIEW {name} AS {' UNION ALL BY NAME '.join(selects)}")
        if (n := len(duckdb.extract_statements(sql))) != 1:
            raise UsageError(f"The query has {n} SQL statements; give one.")
        cursor = connection.execute(sql)
        columns = tuple(str(column[0]) for column in cursor.description or ())
        return QueryResult(columns, cursor.fetchall())
    except (duckdb.Error, ImportError) as error:  # times with a zone need pytz
        raise UsageError(f"The query failed: {error}") from error
    finally:
        connection.close()
