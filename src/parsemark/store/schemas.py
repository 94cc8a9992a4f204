"""The columns of every table of a run."""

import polars as pl

from parsemark.errors import StoreError

SCHEMAS: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    "samples": {
        "sample": pl.String,
        "document": pl.String,
        "page_number": pl.Int64,
        "width": pl.Float64,
        "height": pl.Float64,
        "pdf": pl.String,
        "pdf_sha256": pl.String,
        "n_tables": pl.Int64,
        "attributes": pl.String,
        "truth": pl.String,
        "identity": pl.String,
        "kinds": pl.String,
    },
    "parses": {
        "sample": pl.String,
        "parser": pl.String,
        "status": pl.String,
        "blob": pl.String,
        "n_bytes": pl.Int64,
        "wall_s": pl.Float64,
        "cpu_s": pl.Float64,
        "peak_memory_mb": pl.Float64,
        "attempts": pl.Int64,
        "error": pl.String,
        "stderr_tail": pl.String,
        "cost_usd": pl.Float64,
        "cached": pl.Boolean,
        "key": pl.String,
        "finished": pl.Float64,
    },
    "predictions": {
        "sample": pl.String,
        "parser": pl.String,
        "status": pl.String,
        "message": pl.String,
        "prediction": pl.String,
    },
    "matches": {
        "sample": pl.String,
        "parser": pl.String,
        "rule": pl.String,
        "category": pl.String,
        "truth": pl.List(pl.String),
        "pred": pl.List(pl.String),
        "kind": pl.String,
        "overlap": pl.Float64,
        "confidence": pl.Float64,
    },
    "scores": {
        "sample": pl.String,
        "element": pl.String,
        "pred": pl.String,
        "rule": pl.String,
        "category": pl.String,
        "parser": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
        "status": pl.String,
        "message": pl.String,
        "details": pl.String,
    },
}
"""Table name to column name to type; `NAME.parquet` in the run directory, or in that of a protocol."""

LATER_COLUMNS = ("identity", "kinds", "details")
"""Columns that runs of earlier versions lack; they are empty there."""
SEQUENCE = "sequence"

PROTOCOL_TABLES = ("matches", "scores")
"""Every protocol of a run has its own."""

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
