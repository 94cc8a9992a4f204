"""`parsemark query`: SQL over a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def query(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    sql: Annotated[
        str, typer.Argument(help="Over the tables samples, parses, predictions, matches and scores.")
    ],
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Ask a run anything in SQL (DuckDB).

    For example: `parsemark query runs/demo "SELECT parser, metric, avg(value) FROM scores GROUP BY ALL"`
    """
    import csv
    import sys

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from parsemark.store.query import query_run

    result = query_run(run, sql)
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(result.columns)
        writer.writerows(result.rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in result.columns:
        table.add_column(column, overflow="fold")
    for row in result.rows:
        table.add_row(*(Text("" if value is None else _shown(value)) for value in row))
    Console().print(table)


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(query)
