"""`parsemark corpus check`: find the errors of a truth and correct them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress
from parsemark.errors import UsageError
from parsemark.plain_words import counted

if TYPE_CHECKING:
    from parsemark.corpora import Corpus


def check(
    corpus: opt.CorpusArgument,
    *,
    run: Annotated[
        Path | None,
        Option(help="Run of several parsers: list truth cells that independent parsers contradict."),
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
    limit: Annotated[int, Option(min=0, help="Maximum number of findings to list; 0 lists all.")] = 20,
    strict: opt.Strict = False,
) -> None:
    """Check a corpus: hashes, boxes, and how faithful the truth is to the PDFs. Find and correct errors.

    Corrections are made in three steps: --run writes corrections.json, you delete from it what you do not
    accept, and --apply writes a corrected copy.

    Example: parsemark corpus check my-corpus/

    Example: parsemark corpus check my-corpus/ --run runs/mine --out audit/
    """
    loaded = running.load(corpus, strict=strict)
    if apply is not None:
        if out is None:
            raise UsageError("--apply writes a corrected copy of the corpus: name its folder with --out.")
        _correct(loaded, apply, out)
    elif run is not None:
        _audit(corpus, loaded, run, out, limit)
    else:
        _check(loaded, limit)


def _check(found: Corpus, limit: int) -> None:
    from parsemark.corpora.check import check_corpus

    with page_progress("Checking pages", len(found)) as progress:
        report = check_corpus(found, progress)
    for line in report.problems:
        print(f"PROBLEM {line}")
    for line in report.disagreements[: limit or None]:
        print(line)
    if 0 < limit < len(report.disagreements):
        print(f"and {len(report.disagreements) - limit} more; --limit 0 lists all")
    for cause, count in report.causes.most_common():
        print(f"{count:6d}  {cause}")
    for line in report.summary():
        print(line)
    if found.remarks:
        print(f"warnings: {len(found.remarks)}, of them {len(found.left_out)} left out")
    if not report.is_faithful:
        raise typer.Exit(1)


def _audit(corpus: str, loaded: Corpus, run: Path, out: Path | None, limit: int) -> None:
    from parsemark.choose.audit import audit_run
    from parsemark.report.audit_page import write_audit
    from parsemark.store import Run

    with page_progress("Auditing pages", len(loaded)) as progress:
        found = audit_run(loaded, Run.open(run), progress)
    for s in found.suspicions[: limit or None]:
        where = f"{s.sample} {s.element} row {s.row} column {s.col}"
        print(f"{s.strength:.2f}  {where}: {s.truth!r} → {s.consensus!r}")
        print(f"      {', '.join(s.against)} against {', '.join(s.for_truth) or 'none'}")
    print(
        f"{len(found.suspicions)} of {counted(found.n_cells, 'cell')} on "
        f"{counted(found.n_pages, 'page')} worth a look"
    )
    if out is not None:
        for path in write_audit(loaded, found, out):
            print(path)
        if found.suspicions:
            print("Delete from corrections.json what you do not accept, then apply it to a copy:")
            edited = shlex.join([corpus, "--apply", str(out / "corrections.json")])
            print(f"  parsemark corpus check {edited} --out CORRECTED")


def _correct(loaded: Corpus, corrections: Path, out: Path) -> None:
    from parsemark.corpora.correct import correct_corpus

    with page_progress("Copying pages", len(loaded)) as progress:
        found = correct_corpus(loaded, corrections, out, progress)
    print(
        f"{out}: {counted(found.n_cells, 'cell')} of {counted(found.n_tables, 'table')} "
        f"corrected, hash {found.manifest.hash[:16]}"
    )
    if found.without_truth:
        print(f"{counted(found.without_truth, 'page')} without truth: not in the copy")
