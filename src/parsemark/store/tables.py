"""The Parquet tables of a run: their columns; read whole or in parts, and replaced whole."""

import contextlib
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from parsemark.errors import FormatError, StoreError, WriteError
from parsemark.model import Status
from parsemark.store.manifest import Manifest
from parsemark.store.run_tables import RunTables
from parsemark.system import make_folder, replacing

SCHEMAS: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    table: {
        name: pl.List(pl.String) if kind == "Texts" else getattr(pl, kind) for name, kind in columns.items()
    }
    for table, columns in tomllib.loads(Path(__file__).with_name("schemas.toml").read_text("utf-8")).items()
}
"""Table name to column name to type; `NAME.parquet` in the run directory, or in that of a protocol."""

LATER_COLUMNS = ("identity", "kinds", "details")  # not in runs of earlier versions: empty there
SEQUENCE = "sequence"

PROTOCOL_TABLES = ("matches", "scores")  # every protocol of a run has its own

SORT_KEYS: dict[str, list[str]] = {
    "samples": ["sample"],
    "parses": ["sample", "parser"],
    "predictions": ["sample", "parser"],
    "matches": ["sample", "parser", "rule"],
    "scores": ["sample", "parser", "rule", "metric"],
}
"""Order of the rows, so that equal runs give equal files. Within a key, rows keep the protocol's order."""

ROWS_PER_GROUP: Mapping[str, int] = {"samples": 128, "parses": 4_096, "predictions": 512}
"""So that neighbouring pages are read without the others; of rows that hold whole pages few are a group."""
_OTHER_ROWS = 16_384


def schema_of(name: str) -> dict[str, pl.DataType | type[pl.DataType]]:
    """Return the columns of a table; raise StoreError for a name that no table has."""
    if name not in SCHEMAS:
        raise StoreError(f"A run has no table {name!r}; it has: {', '.join(SCHEMAS)}.")
    return SCHEMAS[name]


def stored_schema(name: str) -> dict[str, pl.DataType | type[pl.DataType]]:
    """Return the columns of a table's file: that of `parses` also says which of two records came later."""
    return {**schema_of(name), SEQUENCE: pl.Int64} if name == "parses" else schema_of(name)


class TableFiles:
    """The tables of one run directory as files. Hold the run's lock to replace one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def folder_of(self, protocol: str) -> Path:
        """Return where the matches, scores and summary of a protocol are."""
        plain = re.fullmatch(r"[A-Za-z_][\w.\-]*", protocol)
        digest = hashlib.sha256(protocol.encode()).hexdigest()[:8]
        return self.path / "protocols" / (protocol if plain else f"{protocol.partition('(')[0]}-{digest}")

    def path_of(self, name: str, protocol: str = "") -> Path:
        """Return where a table lies, or will lie; `matches` and `scores` are those of a protocol."""
        schema_of(name)
        folder = self.folder_of(protocol) if name in PROTOCOL_TABLES else self.path
        return folder / f"{name}.parquet"

    @property
    def texts_path(self) -> Path:
        """Return where the text layers of the pages lie, in a run that came without its PDFs."""
        return self.path / "texts.parquet"

    def texts(self, where: pl.Expr) -> dict[str, str]:
        """Return the text layers of some pages, by sample, in a run whose PDFs are elsewhere; mostly none."""
        if not self.texts_path.exists():
            return {}
        with self.reading("samples", self.texts_path):
            rows = pl.scan_parquet(self.texts_path).select("sample", "text")
            return dict(rows.filter(where).collect().iter_rows())

    def read(self, name: str, protocol: str = "") -> pl.DataFrame:
        """Return a whole table; without rows if it is not made yet."""
        path = self.path_of(name, protocol)
        if not path.exists():
            return frame_of(name, ())
        with self.reading(name, path):
            # Read by one open file: polars opens a path twice, and another process may replace it in between.
            frame = pl.read_parquet(BytesIO(path.read_bytes()))
            return frame.select(_columns(name, frame.columns))

    @contextlib.contextmanager
    def scanning(self, name: str, protocol: str = "") -> Iterator[pl.LazyFrame]:
        """Scan a table, to collect only the needed part; its rows are sorted by `SORT_KEYS`.

        Everything is read through one open file: polars opens a path again for every query, and another
        process may put a new table there in between.
        """
        path = self.path_of(name, protocol)
        if not path.exists():
            yield frame_of(name, ()).lazy()
            return
        with self.reading(name, path), path.open("rb") as file:
            numbered = Path(f"/dev/fd/{file.fileno()}")
            rows = pl.scan_parquet(numbered if numbered.exists() else path)
            yield rows.select(_columns(name, rows.collect_schema().names()))

    def write(self, name: str, frame: pl.DataFrame, protocol: str = "") -> None:
        """Replace a table."""
        ordered = frame.select(_columns(name, frame.columns)).sort(SORT_KEYS[name], maintain_order=True)
        with self._replacing(name, protocol) as temporary:
            ordered.write_parquet(temporary, row_group_size=ROWS_PER_GROUP.get(name, _OTHER_ROWS))

    def join(self, name: str, parts: Sequence[Path], protocol: str = "") -> None:
        """Replace a table by the rows of Parquet files, which are sorted and follow each other in order.

        They are streamed, so a table may be larger than memory.
        """
        with self._replacing(name, protocol) as temporary:
            rows = pl.scan_parquet(list(parts), schema=schema_of(name))
            rows.sink_parquet(temporary, row_group_size=ROWS_PER_GROUP.get(name, _OTHER_ROWS))

    @contextlib.contextmanager
    def _replacing(self, name: str, protocol: str) -> Iterator[Path]:
        path = self.path_of(name, protocol)
        make_folder(self.path, *path.parent.relative_to(self.path).parts)
        with replacing(path) as temporary:
            try:
                yield temporary
            except pl.exceptions.PolarsError as error:
                raise WriteError(path, str(error)[:200]) from error

    @contextlib.contextmanager
    def reading(self, name: str, path: Path | None = None) -> Iterator[None]:
        """Raise a message that names the file, and how to make it again, for errors while a table is read."""
        try:
            yield
        except (OSError, ValueError, TypeError, FormatError, pl.exceptions.PolarsError) as error:
            raise self._damaged(path or self.path_of(name), name, str(error)) from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # how polars' Rust code gives up on a file
                raise self._damaged(path or self.path_of(name), name, str(error)) from error
            raise

    def _damaged(self, path: Path, name: str, why: str) -> StoreError:
        if name in ("samples", "parses"):
            remedy = "Delete it and repeat the command that made the run; its pages are still in the cache"
        else:
            remedy = f"Make it again with: parsemark score {self.path}"
        reason = " ".join(why.split())[:200].rstrip(".")
        return StoreError(f"{path} is damaged: {reason}. {remedy}")


def _columns(name: str, there: Sequence[str]) -> Iterator[pl.Expr]:
    """Yield all columns of a table's file; earlier versions wrote no sequence."""
    for column, kind in stored_schema(name).items():
        if column == SEQUENCE:
            found = pl.col(column) if column in there else pl.lit(0)
            yield found.cast(kind).fill_null(0).alias(column)
        elif column in LATER_COLUMNS and column not in there:
            yield pl.lit(None).cast(kind).alias(column)
        else:
            yield pl.col(column).cast(kind)


def frame_of(name: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a table."""
    return pl.DataFrame(list(rows), schema=stored_schema(name), orient="row")


class _Scanned(Protocol):
    @property
    def manifest(self) -> Manifest: ...

    def repeats_by(self, protocol: str | None) -> Sequence[RunTables]: ...

    def scanning(
        self, name: str, protocol: str | None = None
    ) -> contextlib.AbstractContextManager[pl.LazyFrame]: ...


class StoredTables(RunTables):
    """The tables of a run under one protocol, each read when it is asked for.

    `parses` has a row for every page and parser, as a count of pages expects: a page that a parser was
    not run on, since it came later or only some pages were asked for, is one without a prediction.
    """

    def __init__(self, run: _Scanned, protocol: str | None) -> None:
        self._run = run
        self._protocol = protocol
        self._frames = {}

    @cached_property
    def engines(self) -> dict[str, str]:
        """Return the engine of each parser, as stored in the run."""
        known = self._run.manifest.engines
        return {parser: known.get(parser, parser) for parser in self.parsers}

    @cached_property
    def repeats(self) -> Sequence[RunTables]:
        """Return the tables of further parses of the same pages."""
        return self._run.repeats_by(self._protocol)

    def frame(self, name: str) -> pl.DataFrame:
        """Return a whole table, kept from then on."""
        if name not in self._frames:
            with self.scanning(name) as rows:
                self._frames[name] = rows.collect()
        return self._frames[name]

    @contextlib.contextmanager
    def scanning(self, name: str) -> Iterator[pl.LazyFrame]:
        """Scan a table, to collect only the needed part."""
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
        """Return rows of the pages that some parser was not run on."""
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
    **{column: pl.col(column) for column in ("sample", "parser")},
    **{column: pl.lit(0) for column in ("n_bytes", "attempts")},
    **{"status": pl.lit(str(Status.NO_PREDICTION)), "error": pl.lit(NOT_PARSED)},
}
