"""What commands share that run for long: read options, show progress, stop cleanly."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import typer

from parsemark import api, setup_calls
from parsemark.cli.printing import is_quiet, plain_console, print_answer, say, say_json, warning
from parsemark.plain_words import counted, unbroken, visible

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.api import Corpus, Run, Summary
    from parsemark.cli.progress import ProgressEvents

_MOST_NAMED = 5


def require_some_success(run: Run, parsers: Iterable[str], console: Console) -> None:
    """Exit with 1 if a parser has failed on every page: such a run is no result."""
    records = run.records()
    worked = {record.parser for record in records if record.status == "ok"}
    failed = [parser for parser in parsers if parser not in worked]
    for parser in failed:
        why = next((r.error for r in records if r.parser == parser and r.error), None)
        first = f" The first: {unbroken(why)}" if why else ""
        say(console, f"{parser} failed on every page.{first}", style="red")
    if failed:
        raise typer.Exit(1)


def require_answers(summaries: Iterable[Summary], console: Console) -> None:
    """Exit with 1 if calls to a language model failed: the notes beside the scores say which."""
    if n := sum(summary.failed_calls for summary in summaries):
        calls = counted(n, "call")
        say(console, f"{calls} to a language model failed. Run the same command to try again.", style="red")
        raise typer.Exit(1)


def result_console(*, as_json: bool) -> Console:
    """Return the stream for text beside the result: standard error if JSON goes to standard output."""
    return plain_console(stderr=as_json)


def show_summaries(
    run: Run,
    protocols: Sequence[str] | None,
    console: Console,
    cpu_hour_usd: float | None = None,
    *,
    as_json: bool = False,
) -> list[Summary]:
    """Print what protocols, by default all of a run, report of it: the verdict, then the leaderboard."""
    from parsemark.report.terminal_leaderboard import changes_of_rules, leaderboard

    summaries = api.summaries(run, protocols)
    if as_json:
        say_json("summary", summaries)
        return summaries
    for summary in summaries:
        if not is_quiet():
            console.print()
        others = print_answer(console, api.verdict(run, summary.protocol, cpu_hour_usd))
        if not is_quiet():
            console.print()
            console.print(leaderboard(summary, console.width))
            for sentence in others:
                console.print(sentence)
    for table in () if is_quiet() else changes_of_rules(summaries):
        console.print()
        console.print(table)
    return summaries


def say_old_report(run: Run, console: Console) -> None:
    """Warn that the report of a run is older than its new scores, and how to renew it."""
    if (run.path / "report" / "index.html").is_file() and not is_quiet():
        again = f"parsemark report {shlex.quote(str(run.path))}"
        console.print(f"The HTML report is older than these scores. To renew it: `{again}`", soft_wrap=True)


def say_unread(run: Run, parser: str, console: Console) -> None:
    """List the first outputs that are unreadable, with the reasons."""
    failed = [r for r in run.records() if r.parser == parser and r.status not in ("ok", "no_prediction")]
    if not failed:
        return
    lines = [f"{counted(len(failed), 'output')} could not be read and counted as failed:"]
    named = (f"{record.sample}: {record.error or record.status}" for record in failed[:_MOST_NAMED])
    lines += [f"  {unbroken(line)}" for line in named]
    if len(failed) > _MOST_NAMED:
        lines.append(f"  and {len(failed) - _MOST_NAMED} more (parses.parquet, column `error`)")
    for line in lines:
        say(console, line, style="yellow")


def command_line() -> tuple[str, ...]:
    """Return the command as it was typed, to be recorded and repeated."""
    return ("parsemark", *sys.argv[1:])


def say_remarks(remarks: Iterable[object], console: Console) -> None:
    """Print what is left out of a corpus, and what looks wrong in it."""
    for remark in () if is_quiet() else remarks:
        say(console, warning(str(remark)))


def load(spec: str, *, strict: bool | None = None) -> Corpus:
    """Return the corpus of a spec, and print its warnings on standard error.

    Args:
        spec: The corpus, as commands take it.
        strict: Whether unreadable parts are an error; None for commands without that option.
    """
    corpus = api.open_corpus(spec, strict=bool(strict))
    remarks: list[object] = [*corpus.remarks]
    if corpus.left_out:
        parts = counted(len(corpus.left_out), "part")
        hint = "" if strict is None else " With --strict, the command fails."
        remarks.append(f"{parts} of {spec} cannot be used.{hint}")
    say_remarks(remarks, plain_console(stderr=True))
    return corpus


def can_ask() -> bool:
    """Return whether somebody can answer a question."""
    return sys.stdin.isatty()


def offer_weights(parsers: Iterable[str] | None) -> None:
    """Ask, on a terminal, whether to download the weights that parsers lack."""
    if not can_ask():
        return
    absent = setup_calls.absent_weights([*(parsers or ())])
    if absent:
        named = "; ".join(f"{name} ({weights})" for name, weights in absent.items())
        if typer.confirm(f"Weights to download: {visible(named)}. Download them now?", err=True):
            setup_calls.allow_downloads()


@contextlib.contextmanager
def stoppable(console: Console) -> Iterator[ProgressEvents]:
    """Show progress of what is told to the events; on Ctrl-C or SIGTERM say what is kept and how to go on."""
    from parsemark.cli.progress import progress_for

    events, before = progress_for(console), signal.signal(signal.SIGTERM, _interrupt)
    events.command = command_line()
    try:
        with events:
            yield events
    except KeyboardInterrupt:
        done, total = sum(events.n_done.values()), sum(events.n_pages.values())
        kept = f"{done} of {total} pages are done and kept" if total else "Finished work is kept"
        console.print(f"\nStopped. {kept}. Resume with:")
        console.print(f"  {shlex.join(command_line())}", soft_wrap=True)
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
