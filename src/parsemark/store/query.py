"""SQL over the tables of a run, by DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.errors import MissingDependencyError, UsageError
from parsemark.store.run import Run
from parsemark.store.schemas import SCHEMAS


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query returned."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def query_run(path: Path, sql: str) -> QueryResult:
    """Run SQL in which `samples`, `parses`, `predictions`, `matches` and `scores` are tables.

    The run itself is never changed: its files are read through views.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError("duckdb", "parsemark query", 'pip install "parsemark[query]"') from error
    run = Run.open(path)
    run.fold_journals()
    connection = duckdb.connect(":memory:")
    try:
        for name in SCHEMAS:
            file = run.path / f"{name}.parquet"
            if file.exists():
                quoted = str(file).replace("'", "''")
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{quoted}')")
        cursor = connection.execute(sql)
        columns = tuple(str(column[0]) for column in cursor.description or ())
        return QueryResult(columns, cursor.fetchall())
    except duckdb.Error as error:
        raise UsageError(f"The query failed: {error}") from error
    finally:
        connection.close()
