"""What `bench` and `parse` do alike: read options, show progress, stop cleanly."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from parsemark.cli.options import fill
from parsemark.cli.printing import plain_console, say, warning
from parsemark.errors import UsageError
from parsemark.plain_words import counted, unbroken

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.cli.progress import ProgressEvents
    from parsemark.corpora import Corpus
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.protocols import Summary
    from parsemark.store import Run

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


def show_summaries(run: Run, summaries: Iterable[Summary], console: Console) -> None:
    """Print what each protocol says of a run: the verdict in plain words, then the leaderboard."""
    from parsemark.report.terminal import leaderboard
    from parsemark.verdicts.plain_verdict import plain_verdict, scored_records

    for summary in summaries:
        console.print()
        records = scored_records(run, summary.protocol)
        for sentence in plain_verdict(summary, records, run.manifest.corpus.spec):
            console.print(sentence, highlight=False, markup=False)
        console.print()
        console.print(leaderboard(summary, console.width))


def say_old_report(run: Run, console: Console) -> None:
    """Say that the report of a run is older than what was scored just now, and how to renew it."""
    if (run.path / "report" / "index.html").is_file():
        again = f"parsemark report {shlex.quote(str(run.path))}"
        console.print(f"The run's report is older than these scores. Renew it: {again}", soft_wrap=True)


def say_unread(run: Run, parser: str, console: Console) -> None:
    """Say which outputs could not be read, and why; the first ones."""
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


def parse_options(given: Mapping[str, Any], *, protocols: Sequence[str] | None) -> ParseOptions:
    """How to parse, by the options of a command; those that it does not have are at their defaults."""
    from parsemark import api

    spent = given.get("max_cost")
    return fill(api.parse_options, given, max_cost_usd=spent, protocols=protocols, command=command_line())


def command_line() -> tuple[str, ...]:
    """The command as it was typed, to be recorded and repeated."""
    return ("parsemark", *sys.argv[1:])


def say_remarks(remarks: Iterable[object], console: Console) -> None:
    """Name what was left out of a corpus, and what looks wrong in it."""
    for remark in remarks:
        say(console, warning(str(remark)))


def load(spec: str, *, strict: bool = False) -> Corpus:
    """The corpus that was named; what was left out of it, or looks wrong, is said on standard error."""
    from parsemark.corpora import load_corpus

    corpus = load_corpus(spec, strict=strict)
    remarks: list[object] = [*corpus.remarks]
    if corpus.left_out:
        parts = counted(len(corpus.left_out), "part")
        remarks.append(f"{parts} of {spec} cannot be used; `--strict` refuses that.")
    say_remarks(remarks, plain_console(stderr=True))
    return corpus


def protocol_specs(
    protocols: Sequence[str] | None,
    *,
    match: str | None,
    metrics: Sequence[str] | None,
    rank_by: str | None,
    serialise: str | None = None,
) -> list[str] | None:
    """The protocols with the options that were given apart; None where nothing was said at all. UsageError if
    there is no such protocol, or none of them has the option.
    """
    from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs, get_protocol, with_options

    named = {"match": match, "rank_by": rank_by, "serialise": serialise}
    given = {**named, "metrics": tuple(metrics) if metrics else None}
    wanted = {key: value for key, value in given.items() if value is not None}
    if not wanted:
        return canonical_specs(protocols) if protocols else None
    specs: list[str] = []
    used: set[str] = set()
    for spec in canonical_specs(protocols or DEFAULT_PROTOCOLS):
        own = {key: value for key, value in wanted.items() if hasattr(get_protocol(spec), key)}
        used |= own.keys()
        specs.append(with_options(spec, **own))
    if missing := wanted.keys() - used:
        flags = ", ".join(f"--{key.replace('_', '-').removesuffix('s')}" for key in sorted(missing))
        raise UsageError(f"{flags} means nothing to the protocol {' or '.join(specs)}.")
    return specs


@contextlib.contextmanager
def stoppable(console: Console) -> Iterator[ProgressEvents]:
    """Show progress of what is told to the events; on Ctrl-C or SIGTERM say what is kept and how to go on."""
    from parsemark.cli.progress import progress_for

    events, before = progress_for(console), signal.signal(signal.SIGTERM, _interrupt)
    try:
        with events:
            yield events
    except KeyboardInterrupt:
        done, total = sum(events.n_done.values()), sum(events.n_pages.values())
        kept = f"{done} of {total} pages are done and kept" if total else "What is done is kept"
        console.print(f"\nStopped. {kept}. Go on with:")
        console.print(f"  {shlex.join(command_line())}", soft_wrap=True)
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
