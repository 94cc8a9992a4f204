"""`parsemark report` and `query`: show a run as web pages, and query it in SQL."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli.printing import plain_console, plain_table
from parsemark.plain_words import visible

_WIDEST = 10_000


def report(
    run: opt.RunArgument,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Folder of the report.", show_default="RUN/report")
    ] = None,
    old: opt.Old = None,
    also: Annotated[
        list[Path] | None,
        Option(help="Additional run, on another corpus, to show on the leaderboard; repeatable."),
    ] = None,
    single_file: Annotated[
        bool, Option("--single-file", help="Write one HTML file that opens from disk, to attach or archive.")
    ] = False,
    max_mb: Annotated[
        float,
        Option(
            min=1,
            help="Maximum size of the single file, in MB. Above it, only the worst pages and those with the "
            "largest differences between parsers are kept.",
        ),
    ] = 20.0,
) -> None:
    """Write the HTML report of a run: the result, charts, and every page with its outputs.

    Its page viewer shows picture, truth (the correct content) and outputs. It opens on the leader's worst
    page; the queue `worst` lists the worst pages first.

    For a folder of runs, write one page that lists them with their leaders and trends.

    Example: parsemark report runs/mine --old runs/last-week

    Example: parsemark report runs/mine --single-file --out report.html

    Example: parsemark report runs
    """
    for spec, reason in api.unreadable_protocols(run).items():
        typer.echo(f"Not shown: {spec}. {reason}", err=True)
    typer.echo(opt.fill(api.build_report, locals(), also=also or ()))


def query(
    run: opt.RunArgument,
    sql: Annotated[
        str,
        Argument(
            help="Query over the tables `samples`, `parses`, `predictions`, `matches` and `scores`. "
            "`DESCRIBE scores` lists the columns of the table `scores`."
        ),
    ],
    as_csv: Annotated[bool, Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Query a run in SQL (DuckDB).

    Example: parsemark query runs/demo "SELECT parser, avg(value) FROM scores GROUP BY ALL"
    """
    import csv

    result = api.query(run, sql)
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(result.columns)
        writer.writerows(result.rows)
        return

    def shown(value: object) -> str:
        return f"{value:.4g}" if isinstance(value, float) else visible("" if value is None else str(value))

    rows = (map(shown, row) for row in result.rows)
    # A row stays on one line: a query may ask for more columns than a terminal is wide.
    table = plain_table(result.columns, rows, words=len(result.columns))
    console = plain_console()
    whole = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
    console.width = max(console.width, whole)
    console.print(table, soft_wrap=True)
