"""`parsemark report` and `query`: a run as web pages, and in SQL."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli.printing import plain_console, plain_table
from parsemark.plain_words import visible


def report(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    out: Annotated[Path | None, Option(help="Folder of the report.", show_default="RUN/report")] = None,
    against: Annotated[Path | None, Option(help="Older run to compare with.")] = None,
    also: Annotated[
        list[Path] | None,
        Option(help="Run on another corpus, selectable on the leaderboard; repeatable."),
    ] = None,
) -> None:
    """Write the HTML report of a run: leaderboard, worst pages, every page with its outputs, charts.

    Example: parsemark report runs/mine --against runs/last-week
    """
    from parsemark.report import build_report
    from parsemark.store import Run
    from parsemark.verdicts.scored_run import readable_protocols

    for spec, reason in readable_protocols(Run.open(run))[1].items():
        typer.echo(f"Not shown: {spec}. {reason}", err=True)
    typer.echo(build_report(run, out or run / "report", against=against, also=also or ()))


def query(
    run: Annotated[Path, Argument(help="Run directory.")],
    sql: Annotated[
        str, Argument(help="Query over the tables samples, parses, predictions, matches and scores.")
    ],
    as_csv: Annotated[bool, Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Query a run in SQL (DuckDB).

    Example: parsemark query runs/demo "SELECT parser, avg(value) FROM scores GROUP BY ALL"
    """
    import csv

    from parsemark.store.run import query_run

    result = query_run(run, sql)
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(result.columns)
        writer.writerows(result.rows)
        return

    def shown(value: object) -> str:
        return f"{value:.4g}" if isinstance(value, float) else visible("" if value is None else str(value))

    rows = (map(shown, row) for row in result.rows)
    plain_console().print(plain_table(result.columns, rows, words=len(result.columns)))
