"""`parsemark pairs`: a file of pairs, scored with metrics or judges."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO

import typer
from typer import Argument, Option

from parsemark.cli import judge as judging
from parsemark.cli.printing import page_progress, plain_console, plain_table
from parsemark.errors import UsageError
from parsemark.plain_words import rounded
from parsemark.system import replacing

if TYPE_CHECKING:
    from parsemark.metrics.pair_files import PairSummary


def pairs(
    file: Annotated[
        Path, Argument(metavar="PAIRS.jsonl", help="File with one pair per line; `-` for standard input.")
    ],
    *,
    metric: Annotated[
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
        Option("--raw", help="Keep the white space of HTML as written, as the reference implementations do."),
    ] = False,
    judge: judging.Judges = None,
    prompt_file: judging.PromptFile = None,
    repeats: judging.Repeats = 1,
    concurrency: judging.Concurrency = 16,
    max_cost: judging.MaxCost = None,
    answers: judging.Answers = None,
) -> None:
    """Score pairs of tables in a file, with metrics or with language models.

    Each line of the file is `{"id": …, "truth": …, "pred": …}`. Tables may be HTML, Markdown, LaTeX or CSV.
    The format is detected; `truth_format` and `pred_format` set it. `"pred": null` means no prediction.

    SCORES.jsonl has a line for each pair and metric: `id`, `metric`, `value`, `status`, and, where they
    exist, `message`, `errors` and `details`. As in `bench`, a run of white space, including no-break and thin
    spaces, is one space. An unreadable line is reported with its number and gets the status `metric_failed`;
    the others are scored, and the exit code is 1. With `--judge`, language models score the pairs from 0 to
    10, in place of metrics or beside those given by `--metric`.

    Example: parsemark pairs pairs.jsonl --metric teds --metric reader --out scores.jsonl
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
