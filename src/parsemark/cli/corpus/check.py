"""`parsemark corpus check`: find the errors of a truth and correct them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from parsemark import corpus_calls
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import first, is_quiet, page_progress, say_json
from parsemark.plain_words import counted, visible

if TYPE_CHECKING:
    from parsemark.corpus_calls import Audit, CheckReport, Corpus, Corrected

_LISTED = 20  # findings; with --verbose all


def check(
    corpus: opt.CorpusArgument,
    *,
    run: Annotated[
        Path | None,
        Option(
            help="Run with several parsers, used to list truth cells that independent parsers contradict."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="Folder for audit.html and corrections.json (--run), or for the copy (--apply).",
        ),
    ] = None,
    apply: Annotated[
        Path | None,
        Option(metavar="CORRECTIONS", help="Write a copy with the corrections of this file to --out."),
    ] = None,
    disputes: Annotated[
        Path | None,
        Option(
            help="Disputes file, saved with “This truth is wrong” in a report; its entries are listed. With "
            "--run, also show scores with and without the disputed elements."
        ),
    ] = None,
    strict: opt.Strict = False,
    as_json: opt.Json = False,
) -> None:
    """Check a corpus: hashes, boxes, and how faithful the truth is to the PDFs. Find and correct errors.

    Corrections are made in three steps. First, --run writes corrections.json. Then delete from it what you do
    not accept. Last, --apply writes a corrected copy.

    Example: parsemark corpus check my-corpus/

    Example: parsemark corpus check my-corpus/ --run runs/mine --out audit/
    """
    loaded = running.load(corpus, strict=strict)
    with page_progress("Checking pages", len(loaded)) as progress:
        found: Any = opt.fill(corpus_calls.corpus_check, locals(), corpus=loaded)
    if apply is not None:
        _print_corrected(found, out)
        return
    if run is not None:
        if as_json:
            say_json("corpus-audit", found)
        else:
            _print_audit(corpus, found, out)
        return
    if as_json:
        say_json("corpus-check", found)
    else:
        _print_check(found, loaded)
    if not found.is_faithful:
        raise typer.Exit(1)


def _print_check(report: CheckReport, corpus: Corpus) -> None:
    for line in report.problems:
        print(f"PROBLEM {line}")
    for line in report.disputes:
        print(f"DISPUTED {visible(line)}")
    if not is_quiet():
        listed = first(report.disagreements, _LISTED)
        for line in listed:
            print(line)
        if len(listed) < len(report.disagreements):
            print(f"and {len(report.disagreements) - len(listed)} more; --verbose lists all")
    for cause, count in report.causes.most_common():
        print(f"{count:6d}  {cause}")
    for line in report.summary():
        print(line)
    if corpus.remarks:
        left_out = counted(len(corpus.left_out), "part")
        print(f"warnings: {len(corpus.remarks)} ({left_out} left out)")


def _print_audit(corpus: str, found: Audit, out: Path | None) -> None:
    for s in () if is_quiet() else first(found.suspicions, _LISTED):
        where = f"{s.sample} {s.element} row {s.row} column {s.col}"
        print(f"{s.strength:.2f}  {where}: {s.truth!r} → {s.consensus!r}")
        print(f"      {', '.join(s.against)} against {', '.join(s.for_truth) or 'none'}")
    print(
        f"{len(found.suspicions)} of {counted(found.n_cells, 'cell')} on "
        f"{counted(found.n_pages, 'page')} with doubtful truth"
    )
    if found.disputed is not None:
        for line in found.disputed.lines():
            print(line)
    if out is not None:
        for path in sorted(out.glob("audit.html")) + sorted(out.glob("corrections.json")):
            print(path)
        if found.suspicions:
            print(
                "Delete the entries that you reject from corrections.json, then apply the others to a copy:"
            )
            edited = shlex.join([corpus, "--apply", str(out / "corrections.json")])
            print(f"  parsemark corpus check {edited} --out CORRECTED")


def _print_corrected(found: Corrected, out: Path | None) -> None:
    print(
        f"{out}: {counted(found.n_cells, 'cell')} of {counted(found.n_tables, 'table')} "
        f"corrected, hash {found.manifest.hash[:16]}"
    )
    if found.without_truth:
        print(f"{counted(found.without_truth, 'page')} without truth: not in the copy")
