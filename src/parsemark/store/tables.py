"""Parquet files of a run that may be larger than memory: read in parts, through one open file each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from parsemark.model import Status
from parsemark.protocols.run_tables import RunTables
from parsemark.store.schemas import columns_of, schema_of

if TYPE_CHECKING:
    from parsemark.store.run import Run

ROWS_PER_GROUP: Mapping[str, int] = {"samples": 128, "parses": 4_096, "predictions": 512}
"""So that neighbouring pages are read without the others; of rows that hold whole pages few are a group."""
_OTHER_ROWS = 16_384


def rows_per_group(name: str) -> int:
    """How many rows of a table are stored, and read, together."""
    return ROWS_PER_GROUP.get(name, _OTHER_ROWS)


@contextlib.contextmanager
def opened_table(path: Path, name: str) -> Iterator[pl.LazyFrame]:
    """A stored table, to collect from while this is open.

    Everything is read through one open file: polars opens a path again for every query, and another process
    may put a new table there in between.
    """
    with path.open("rb") as file:
        numbered = Path(f"/dev/fd/{file.fileno()}")
        rows = pl.scan_parquet(numbered if numbered.exists() else path)
        yield rows.select(columns_of(name, rows.collect_schema().names()))


class StoredTables(RunTables):
    """The tables of a run under one protocol, each read when it is asked for.

    `parses` has a row for every page and parser, as whoever counts pages expects: a page that a parser was
    not run on, since it came later or only some pages were asked for, is one without a prediction.
    """

    def __init__(self, run: Run, protocol: str | None) -> None:
        self._run = run
        self._protocol = protocol
        self._frames = {}

    @cached_property
    def engines(self) -> dict[str, str]:
        """What each parser stands on, as the run says."""
        known = self._run.manifest.engines
        return {parser: known.get(parser, parser) for parser in self.parsers}

    def frame(self, name: str) -> pl.DataFrame:
        """A whole table, kept from then on."""
        if name not in self._frames:
            with self.scanning(name) as rows:
                self._frames[name] = rows.collect()
        return self._frames[name]

    @contextlib.contextmanager
    def scanning(self, name: str) -> Iterator[pl.LazyFrame]:
        """A table, to collect from what is needed of it."""
        if name in self._frames:  # it was read already, or is another one than the run's
            yield self._frames[name].lazy()
            return
        unparsed = self._unparsed if name == "parses" else None
        with self._run.scanning(name, self._protocol) as rows:
            if unparsed is None or unparsed.is_empty():
                yield rows
            else:
                yield pl.concat([rows, unparsed.lazy()])

    @cached_property
    def _unparsed(self) -> pl.DataFrame:
        """Rows of the pages that some parser was not run on."""
        with self._run.scanning("samples") as samples, self._run.scanning("parses") as parses:
            done = parses.select("sample", "parser").collect()
            pages = samples.select("sample").collect()
        wanted = pages.join(done.select("parser").unique(), how="cross")
        return wanted.join(done, on=["sample", "parser"], how="anti").select(
            _UNPARSED.get(column, pl.lit(None)).cast(kind).alias(column)
            for column, kind in schema_of("parses").items()
        )


NOT_PARSED = "This page was not parsed."
_UNPARSED: Mapping[str, pl.Expr] = {
    "sample": pl.col("sample"),
    "parser": pl.col("parser"),
    "status": pl.lit(str(Status.NO_PREDICTION)),
    "n_bytes": pl.lit(0),
    "attempts": pl.lit(0),
    "error": pl.lit(NOT_PARSED),
}
