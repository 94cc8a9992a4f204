"""SQL over the tables of a run, by DuckDB."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.errors import UsageError
from parsemark.extras import needed_for
from parsemark.store.folder import RunFolder
from parsemark.store.run import Run
from parsemark.store.schemas import PROTOCOL_TABLES, SCHEMAS


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query returned."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def _selects(run: Run, name: str) -> Iterator[str]:
    """The files of a table as SQL; those of protocols have a column `protocol`."""
    for protocol in run.manifest.protocols if name in PROTOCOL_TABLES else [None]:
        file = RunFolder.of(run).files.path_of(name, protocol or "")
        if file.exists():
            extra = "" if protocol is None else f"{_quoted(protocol)} AS protocol, "
            yield f"SELECT {extra}* FROM read_parquet({_quoted(str(file))})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def query_run(path: Path, sql: str) -> QueryResult:
    """Run SQL in which `samples`, `parses`, `predictions`, `matches` and `scores` are tables.

    `matches` and `scores` hold the rows of all protocols, told apart by their column `protocol`. The run
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
            raise UsageError(f"This is {n} statements of SQL; give one.")
        cursor = connection.execute(sql)
        columns = tuple(str(column[0]) for column in cursor.description or ())
        return QueryResult(columns, cursor.fetchall())
    except (duckdb.Error, ImportError) as error:  # times with a zone need pytz
        raise UsageError(f"The query failed: {error}") from error
    finally:
        connection.close()
