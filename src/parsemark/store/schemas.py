"""The columns of every table of a run."""

import tomllib
from pathlib import Path

import polars as pl

from parsemark.errors import StoreError

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


def schema_of(name: str) -> dict[str, pl.DataType | type[pl.DataType]]:
    """The columns of a table; StoreError for a name that no table has."""
    if name not in SCHEMAS:
        raise StoreError(f"A run has no table {name!r}; it has: {', '.join(SCHEMAS)}.")
    return SCHEMAS[name]


def stored_schema(name: str) -> dict[str, pl.DataType | type[pl.DataType]]:
    """The columns of a table's file: that of `parses` also says which of two records came later."""
    return {**schema_of(name), SEQUENCE: pl.Int64} if name == "parses" else schema_of(name)
