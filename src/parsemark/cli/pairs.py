"""`parsemark pairs`: score a file of truth and prediction pairs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from parsemark.metrics.pair_files import Summary


def pairs(
    file: Annotated[Path, typer.Argument(metavar="PAIRS.jsonl", help="One pair per line; see above.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A metric, with options: `teds(structure_only=true)`. Repeat it."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="SCORES.jsonl", help="Write one line per pair and metric.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1,
) -> None:
    """Score pairs of tables.

    Each line of the file is `{"id": …, "truth": …, "pred": …}`. The two tables are texts in any format: HTML,
    Markdown, LaTeX, CSV. `truth_format` and `pred_format` name the format where it should not be found out;
    `"pred": null` says that there is no prediction.

    A line that cannot be read is reported with its number and gets the status `metric_failed`; the others are
    scored, and the exit code is 1.
    """
    from parsemark.errors import UsageError
    from parsemark.metrics import DEFAULT_METRICS
    from parsemark.metrics.pair_files import Summary, score_lines

    metrics = metric or list(DEFAULT_METRICS)
    summary = Summary(metrics)
    failed_lines: set[int] = set()
    try:
        with (
            file.open(encoding="utf-8", errors="replace") as lines,
            nullcontext() if out is None else out.open("w", encoding="utf-8") as sink,
        ):
            for result in score_lines(lines, metrics, workers):
                summary.add(result.score)
                if result.score.value is None and result.line not in failed_lines:
                    failed_lines.add(result.line)
                    typer.echo(f"{file}, line {result.line}: {result.score.message}", err=True)
                if sink is not None:
                    sink.write(result.as_json() + "\n")
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    _print_summary(summary)
    if failed_lines:
        raise typer.Exit(1)


def _print_summary(summary: Summary) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("metric")
    for column in ("pairs", "failed", "mean", "median", "min", "max"):
        table.add_column(column, justify="right")
    for row in summary.rows():
        numbers = (row.mean, row.median, min(row.values, default=None), max(row.values, default=None))
        texts = ("–" if n is None else f"{n:.4f}" for n in numbers)
        table.add_row(row.metric, str(len(row.values)), str(row.n_failed), *texts)
    Console().print(table)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(pairs)
