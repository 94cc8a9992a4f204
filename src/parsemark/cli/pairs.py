"""`parsemark metrics` and `parsemark pairs`: the metrics, and a file of pairs scored with them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TextIO, get_args, get_type_hints

import typer
from typer import Argument, Option

from parsemark.cli import judge as judging
from parsemark.cli.printing import page_progress, plain_console, plain_table
from parsemark.errors import PluginError, UsageError
from parsemark.plain_words import rounded
from parsemark.system import replacing

if TYPE_CHECKING:
    from parsemark.metrics.pair_files import PairSummary


def pairs(
    file: Annotated[
        Path, Argument(metavar="PAIRS.jsonl", help="One pair per line, see above; `-` for standard input.")
    ],
    *,
    metric: Annotated[
        list[str] | None,
        Option(
            "--metric",
            "-m",
            help="A metric, with options: `teds(structure_only=true)`; `all` for every metric of tables. "
            "Repeat it.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(metavar="SCORES.jsonl", help="Write one line per pair and metric; `-` for standard output."),
    ] = None,
    workers: Annotated[int, Option(min=1, help="Processes to use.")] = 1,
    raw: Annotated[
        bool,
        Option("--raw", help="Keep the white space of HTML as written, as the reference implementations do."),
    ] = False,
    judge: judging.Judges = None,
    prompt_file: judging.PromptFile = None,
    repeats: judging.Repeats = 1,
    concurrency: judging.Concurrency = 16,
    max_cost: judging.MaxCost = None,
    answers: judging.Answers = None,
) -> None:
    """Score pairs of tables, with metrics or with judges.

    Each line of the file is `{"id": …, "truth": …, "pred": …}`. The two tables are texts in any format: HTML,
    Markdown, LaTeX, CSV. `truth_format` and `pred_format` name the format where it should not be found out;
    `"pred": null` says that there is no prediction.

    SCORES.jsonl has a line for each pair and metric: `id`, `metric`, `value`, `status`, and `message` and
    `errors` and `details` where there are any. White space is read as in `bench`: runs of it, also no-break
    and thin spaces, are one space. A line that cannot be read is reported with its number and gets the status
    `metric_failed`; the others are scored, and the exit code is 1. With `--judge` language models score the
    pairs from 0 to 10 instead, or beside the metrics that are named.
    """
    from parsemark.metrics import DEFAULT_METRICS
    from parsemark.metrics.pair_files import PairSummary, expand_metrics, score_lines

    metrics = expand_metrics(metric or ([] if judge else DEFAULT_METRICS))
    summary = PairSummary(metrics)
    failed_lines: set[int] = set()
    too_dear = False
    try:
        with ExitStack() as opened:
            source, sink = _open(file, out, opened)
            if judge:
                asked = judging.JudgeOptions(judge, answers, concurrency, max_cost, prompt_file)
                lines = _lines(source, lambda _: None)
                to_stderr = _is_standard(out)
                failed_lines, too_dear = _judge(file, lines, asked, repeats, sink, to_stderr=to_stderr)
                if metrics and _is_standard(file):
                    raise UsageError("Metrics and judges together need a file of pairs, not standard input.")
                if metrics:
                    source.seek(0)
            size = None if _is_standard(file) else file.stat().st_size
            advance = opened.enter_context(page_progress("Scoring", size, in_bytes=True))
            for result in score_lines(_lines(source, advance), metrics, workers, raw=raw) if metrics else ():
                summary.add(result.score)
                if result.score.value is None and result.line not in failed_lines:
                    failed_lines.add(result.line)
                    typer.echo(f"{file}, line {result.line}: {result.score.message}", err=True)
                if sink is not None:
                    sink.write(result.as_json() + "\n")
    except OSError as error:
        raise UsageError(f"{error.filename or out}: {error.strerror}") from error
    if metrics:
        _print_summary(summary, to_stderr=_is_standard(out))
    if failed_lines or too_dear:
        raise typer.Exit(1)


def _judge(
    file: Path,
    lines: Iterator[str],
    asked: judging.JudgeOptions,
    repeats: int,
    sink: TextIO | None,
    *,
    to_stderr: bool,
) -> tuple[set[int], bool]:
    """Let judges score the lines; which of them lack a verdict, and whether the limit was passed."""
    from parsemark.judges.pairs import judge_lines

    def tell(line: int, why: str) -> None:
        typer.echo(f"{file}, line {line}: {why}", err=True)

    with asked.opened() as (judges, asker), page_progress(judging.ASKING, None) as advance:
        write = sink.write if sink is not None else lambda _: 0
        found = judge_lines(lines, judges, asker, repeats=repeats, write=write, tell=tell, advance=advance)
        console = plain_console(stderr=to_stderr)
        for judge, scores in found.scores.items():
            console.print(f"{judge}: mean {sum(scores) / len(scores):.3f} of 10 over {len(scores)}.")
        bill = judging.Bill.of(asker)
        judging.print_statuses(console, found.statuses, bill)
    return found.failed, bill.over_usd > 0


def _is_standard(path: Path | None) -> bool:
    return str(path) == "-"


def _open(file: Path, out: Path | None, opened: ExitStack) -> tuple[BinaryIO, TextIO | None]:
    """Source and sink; the source is opened first, so that a wrong name costs no earlier scores."""
    source = sys.stdin.buffer if _is_standard(file) else opened.enter_context(file.open("rb"))
    if out is None:
        return source, None
    if _is_standard(out):
        return source, sys.stdout
    if out.exists() and file.exists() and out.samefile(file):
        raise UsageError(f"{out}: --out is the file of the pairs itself; name another.")
    temporary = opened.enter_context(replacing(out))  # a link in its place is replaced, not followed
    return source, opened.enter_context(temporary.open("w", encoding="utf-8"))


def _lines(source: BinaryIO, advance: Callable[[int], None]) -> Iterator[str]:
    for line in source:
        advance(len(line))
        yield line.decode("utf-8", errors="surrogateescape")  # such a line is refused as all bad ones are


def _print_summary(summary: PairSummary, *, to_stderr: bool) -> None:
    rows = []
    for row in summary.rows():
        numbers = (row.mean, row.median, min(row.values, default=None), max(row.values, default=None))
        counts = (row.metric, str(len(row.values)), str(row.n_failed))
        rows.append((*counts, *(rounded(n, 4) for n in numbers)))
    heads = ("metric", "pairs", "failed", "mean", "median", "min", "max")
    plain_console(stderr=to_stderr).print(plain_table(heads, rows))


def metrics() -> None:
    """List the metrics with range, direction, options, citation, and what each was checked against."""
    from parsemark.metrics import METRICS, get_metric

    for name in METRICS:
        try:
            metric = get_metric(name)
        except PluginError as error:
            typer.echo(f"{typer.style(name, bold=True)}: broken\n    {error}\n")
            continue
        facts = metric.facts
        low, high = facts.range
        better = "higher" if facts.higher_is_better else "lower"
        typer.echo(f"{typer.style(metric.name, bold=True)}: {facts.title}")
        typer.echo(f"    {facts.kind}, {low:g} to {high:g}, {better} is better")
        for option in dataclasses.fields(metric):
            typer.echo(f"    option {option.name}: {_values(metric, option)}")
        typer.echo(f"    {facts.citation}")
        typer.echo(f"    checked against: {facts.reference}\n")


def _values(metric: Any, option: dataclasses.Field[Any]) -> str:
    """The values of an option, the default first."""
    hint = get_type_hints(type(metric))[option.name]
    values = [True, False] if hint is bool else list(get_args(hint)) or [option.default]
    values.sort(key=lambda value: value != option.default)
    names = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return " | ".join([f"{names[0]} (default)", *names[1:]])
