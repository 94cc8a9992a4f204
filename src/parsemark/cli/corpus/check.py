"""`parsemark corpus check`, `audit`, `correct` and `tags`: find the errors of a truth and mend them."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress, plain_console, plain_table
from parsemark.errors import PdfError
from parsemark.plain_words import counted


def check(
    corpus: opt.CorpusArgument,
    limit: Annotated[int, Option(min=0, help="Maximum number of disagreements to list; 0 lists all.")] = 20,
    reveal: Annotated[
        Path | None,
        Option(
            help="A revealed FILE.secret.json: also check that these are the pages of its commitment "
            "(FILE.json beside it)."
        ),
    ] = None,
    strict: opt.Strict = False,
) -> None:
    """Verify hashes and boxes, and measure how faithful the truth is to the PDFs.

    What was left out of the corpus, and what looks wrong in it, is printed first and counted in the end.
    """
    from parsemark.corpora.check import check_corpus

    found = running.load(corpus, strict=strict)
    with page_progress("Checking pages", len(found)) as progress:
        report = check_corpus(found, progress, reveal)
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
        print(f"remarks: {len(found.remarks)}, of them {len(found.left_out)} left out")
    if not report.is_faithful:
        raise typer.Exit(1)


def tags(
    file: Annotated[Path, Argument(help="A tagged PDF.", metavar="FILE")],
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what the tags of a PDF hold, which of them agree with the pages, and what is wrong with others."""
    from parsemark.corpora.tagged.read import read_tagged

    found = read_tagged(file)
    if found is None:
        raise PdfError(f"{file} has no structure tree, so it is not a tagged PDF.")
    report = found.report()
    if as_json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
        return
    for title, lines in report.items():
        if lines:
            plain_console().print(plain_table(("", ""), lines, words=2, title=title, show_header=False))


def audit(
    corpus: opt.CorpusArgument,
    *,
    run: Annotated[Path, Option("--run", help="A run of several parsers on it.")],
    out: Annotated[
        Path | None, Option("--out", help="Folder for `audit.html` (with pictures) and corrections.")
    ] = None,
    limit: Annotated[int, Option(min=1, help="How many cells to list.")] = 20,
    strict: opt.Strict = False,
) -> None:
    """Find errors of the truth: cells where independent parsers agree against it, worst first."""
    from parsemark.choose.audit import audit_run
    from parsemark.report.audit_page import write_audit
    from parsemark.store import Run

    loaded = running.load(corpus, strict=strict)
    with page_progress("Auditing pages", len(loaded)) as progress:
        found = audit_run(loaded, Run.open(run), progress)
    for s in found.suspicions[:limit]:
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
            edited = shlex.join([corpus, "--corrections", str(out / "corrections.json")])
            print(f"  parsemark corpus correct {edited} --out CORRECTED")


def correct(
    corpus: opt.CorpusArgument,
    *,
    corrections: Annotated[
        Path, Option("--corrections", help="The file that `corpus audit --out` wrote, as you edited it.")
    ],
    out: opt.NewCorpus,
) -> None:
    """Write a copy with corrected cells; what you deleted from the file stays as it is."""
    from parsemark.corpora.correct import correct_corpus

    loaded = running.load(corpus)
    with page_progress("Copying pages", len(loaded)) as progress:
        found = correct_corpus(loaded, corrections, out, progress)
    print(
        f"{out}: {counted(found.n_cells, 'cell')} of {counted(found.n_tables, 'table')} "
        f"corrected, hash {found.manifest.hash[:16]}"
    )
    if found.without_truth:
        print(f"{counted(found.without_truth, 'page')} without truth: not in the copy")
