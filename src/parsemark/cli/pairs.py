"""`parsemark pairs`: a file of pairs, scored with metrics or judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import research_calls
from parsemark.cli import judge as judging
from parsemark.cli import options as opt
from parsemark.cli.printing import plain_console, plain_table, stages
from parsemark.plain_words import counted, rounded
from parsemark.research_calls import is_standard

if TYPE_CHECKING:
    from parsemark.research_calls import MetricSummary


def pairs(
    file: Annotated[
        Path,
        Argument(
            metavar="FILE",
            help="File with one pair per line (JSONL); `-` for standard input. With PREDICTION: the true "
            "table.",
        ),
    ],
    prediction: Annotated[
        Path | None, Argument(metavar="[PREDICTION]", help="The predicted table, to score one pair.")
    ] = None,
    *,
    metrics: Annotated[
        list[str] | None,
        Option(
            "--metric",
            "-m",
            help="Metric, with options: `teds(structure_only=true)`; `all` for every table metric; "
            "repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(metavar="SCORES.jsonl", help="Write one line per pair and metric; `-` for standard output."),
    ] = None,
    workers: Annotated[int, Option(min=1, help="Number of processes.")] = 1,
    raw: Annotated[
        bool,
        Option("--raw", help="Keep the white space of HTML unchanged, like the reference implementations."),
    ] = False,
    judges: judging.Judges = None,
    repeats: judging.Repeats = 1,
    max_cost: judging.MaxCost = None,
    answers: judging.Answers = None,
) -> None:
    """Score one pair of tables, or a file of pairs, with metrics or with language models.

    Each line of a file of pairs is `{"id": …, "truth": …, "pred": …}`. Tables may be HTML, Markdown, LaTeX
    or CSV. The format is detected; `truth_format` and `pred_format` set it. `"pred": null` means no
    prediction.

    SCORES.jsonl has a line for each pair and metric, with `id`, `metric`, `value` and `status`, and if there
    are any, `message`, `errors` and `details`. Consecutive white space, also no-break and thin
    spaces, counts as one space, as in `bench`. Unreadable lines are reported by number and get the status
    `metric_failed`. The other lines are scored, and the exit code is 1.

    With `--judge`, language models score the pairs from 0 to 10, and metrics are computed only if `--metric`
    lists them.

    Example: parsemark pairs truth.html prediction.md --metric teds

    Example: parsemark pairs pairs.jsonl --metric teds --metric reader --out scores.jsonl
    """

    def tell(line: int, why: str) -> None:
        typer.echo(f"{file}, line {line}: {why}", err=True)

    with stages() as progress:
        found = opt.fill(research_calls.pairs, locals(), judges=judges or ())
    console = plain_console(stderr=is_standard(out))
    for judge, scores in found.judges.items():
        console.print(
            f"{judge}: mean score {sum(scores) / len(scores):.3f} of 10 over {counted(len(scores), 'pair')}."
        )
    if found.bill is not None:
        judging.print_statuses(console, found.statuses, found.bill)
    if found.metrics:
        _print_summary(found.metrics, to_stderr=is_standard(out))
    if found.failed_lines or (found.bill is not None and found.bill.over_usd):
        raise typer.Exit(1)


def _print_summary(summary: Sequence[MetricSummary], *, to_stderr: bool) -> None:
    rows = []
    for row in summary:
        numbers = (row.mean, row.median, min(row.values, default=None), max(row.values, default=None))
        counts = (row.metric, str(len(row.values)), str(row.n_failed))
        rows.append((*counts, *(rounded(n, 4) for n in numbers)))
    heads = ("metric", "pairs", "failed", "mean", "median", "min", "max")
    plain_console(stderr=to_stderr).print(plain_table(heads, rows))
