"""`parsemark check`: is this output faithful to this PDF?"""

from __future__ import annotations

import json as json_module
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from parsemark.cli.printing import first, is_quiet, is_verbose, page_progress, plain_console
from parsemark.errors import UsageError
from parsemark.extras import require
from parsemark.plain_words import counted, visible

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.verdicts.check import CheckFinding, Limit, PdfCheck


def check(
    pdf: Annotated[Path, Argument(metavar="PDF", help="The document, or a folder of documents.")],
    output: Annotated[
        Path,
        Argument(
            metavar="OUTPUT",
            help="Parser output: a file (.md, .html, .txt, .json, .jsonl), or a folder with either a file "
            "per page or one file named like the PDF. If PDF is a folder of documents: a folder of outputs "
            "named like the documents.",
        ),
    ],
    *,
    maximum: Annotated[
        list[str] | None,
        Option(
            "--max",
            metavar="KIND=LIMIT",
            help="Fail if there is more of KIND than LIMIT; repeatable. KIND is one of `lost`, `altered`, "
            "`invented`, `moved`, `doubled`, `leaked`, `numbers` (altered numbers), `order` (columns out of "
            "order), `cells` (in a wrong row or column), `tables` (printed as plain text) and `headings` "
            "(printed as plain text). LIMIT is a count "
            "(`numbers=0`) or a share of the words (`lost=0.5%`).",
        ),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the result as JSON.")] = False,
    html: Annotated[
        Path | None,
        Option(help="Write a page with the PDF beside the output and all findings marked."),
    ] = None,
    ocr: Annotated[
        bool, Option("--ocr/--no-ocr", help="Use OCR, if installed, on pages without a usable text layer.")
    ] = True,
    page_separator: Annotated[
        str | None,
        Option(
            help="Text that separates the pages of the output.",
            show_default="page marks if present, else pages are located by their words",
        ),
    ] = None,
    certain: Annotated[
        float,
        Option(
            min=0.0,
            max=1.0,
            help="Hide findings whose probability of being real is below this value; 0 shows all.",
        ),
    ] = 0.75,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="If PDF is a folder: folder to write the results to.",
            show_default="OUTPUT-check",
        ),
    ] = None,
) -> None:
    """Compare an output with its PDF; list text that is lost, altered, invented, moved or leaked (hidden in
    the PDF, but present in the output).

    No truth (correct content) is needed: the text of the PDF is the reference. Text under a picture or
    shape counts as hidden. Exit code 1 if a limit is exceeded, 2 if a PDF or an output is missing or cannot
    be used.

    Example: parsemark check report.pdf report.md

    Example: parsemark check report.pdf report.md --max lost=0.5% --max numbers=0

    Example: parsemark check report.pdf pages/ --html findings.html

    Example: parsemark check my-documents/ my-outputs/ --max lost=1%
    """
    require("bench", "parsemark check", only=["pypdfium2"])
    from parsemark.verdicts.check import check as check_pdf
    from parsemark.verdicts.check import read_limits

    limits = read_limits(maximum or ())
    if pdf.is_dir():
        if html is not None or page_separator is not None:
            raise UsageError(
                "--html and --page-separator need one PDF. For a folder, --out has a summary page."
            )
        folder = out or Path(f"{output.resolve()}-check")
        _check_folder(pdf, output, folder, limits, ocr=ocr, certain=certain, as_json=json)
        return
    if out is not None:
        raise UsageError("--out needs a folder of documents. For one document, use --html.")
    how: Any = "auto" if ocr else "off"
    found = check_pdf(pdf, output, ocr=how, page_separator=page_separator, certain=certain)
    exceeded = found.over(limits)
    if html is not None:
        from parsemark.report.check_page import check_page
        from parsemark.system.files import write_text

        write_text(html, check_page(found, pdf))
    if json:
        print(json_module.dumps({**found.to_json(), "exceeded": exceeded}, ensure_ascii=False, indent=2))
    else:
        _print(found, exceeded)
    if exceeded:
        raise typer.Exit(1)


def _check_folder(
    pdfs: Path,
    outputs: Path,
    out: Path,
    limits: dict[str, Limit],
    *,
    ocr: bool,
    certain: float,
    as_json: bool,
) -> None:
    """Check a folder, print its sums, and write the summary page and the Parquet file."""
    require("bench", "parsemark check FOLDER", only=["polars", "jinja2", "PIL"])
    from parsemark.report.check_page import write_batch_pages
    from parsemark.verdicts.check.batch import check_folder, output_of, write_parquet

    how: Any = "auto" if ocr else "off"
    with page_progress("documents", None) as advance:
        summary = check_folder(
            pdfs,
            outputs,
            out,
            ocr=how,
            certain=certain,
            limits=limits,
            done=lambda _, total: advance(1, total),
        )
    given = {entry["document"]: output_of(outputs, Path(entry["document"])) for entry in summary.worst}
    known = {name: path for name, path in given.items() if path}
    page = write_batch_pages(summary, pdfs, known, out, ocr=how, certain=certain)
    table = write_parquet(out, pdfs)
    if as_json:
        print(json_module.dumps(summary.to_json(), ensure_ascii=False, indent=2))
    else:
        console = plain_console()
        statuses = summary.statuses_in_words()
        console.print(f"{counted(summary.documents, 'document')}: {statuses}.", soft_wrap=True)
        if found := summary.counts_in_words():
            console.print(f"Found: {found}.", soft_wrap=True)
        _print_hidden(console, summary.hidden, certain)
        for entry in () if is_quiet() else first(summary.worst, 10):
            console.print(f"  {visible(entry['document'])}: {entry['verdict']}", soft_wrap=True)
        for failure in first(summary.failed, 10):
            console.print(f"  ! {visible(failure['document'])}: {visible(failure['why'])}", soft_wrap=True)
        if not is_quiet():
            console.print(f"Summary: {page}\nFindings: {table}", soft_wrap=True)
    if summary.n_unchecked:
        raise typer.Exit(2)
    if summary.statuses["exceeded"]:
        raise typer.Exit(1)


def _print(found: PdfCheck, exceeded: list[str]) -> None:
    console = plain_console()
    console.print(found.verdict, soft_wrap=True)
    for sentence in exceeded:
        console.print(f"✗ {sentence}", soft_wrap=True)
    _print_hidden(console, found.hidden, found.certain)
    if is_quiet():
        return
    shown = _chosen(found)
    left = len(found.findings)
    for page in found.pages:
        own = [finding for finding in page.findings if id(finding) in shown]
        if not page.is_judged or page.judged_by != "text layer":
            console.print(f"\nPage {page.number}: {visible(page.judged_by)}", soft_wrap=True)
        elif own:
            console.print(f"\nPage {page.number}")
        for kind, same in groupby(own, key=lambda finding: finding.kind):
            findings = list(same)
            for finding in findings:
                console.print(f"  {_line(finding)}", soft_wrap=True)
            more = sum(finding.kind == kind for finding in page.findings) - len(findings)
            if more:
                console.print(f"  {kind.replace('_', ' ')}: {more} more")
            left -= len(findings) + more
    if left:
        console.print(f"\n{counted(left, 'more finding')}: use --verbose or --json.")
    elif len(shown) < len(found.findings):
        console.print("\nTo see all findings, use --verbose or --json.")


def _chosen(found: PdfCheck) -> set[int]:
    """Return which findings to print: the severest, and of a page and kind the first of low severity."""
    if is_verbose():
        return {id(finding) for finding in found.findings}
    chosen: list[CheckFinding] = []
    for page in found.pages:
        numbers: Counter[str] = Counter()
        for finding in page.findings:
            numbers[finding.kind] += 1
            if finding.severity != "low" or numbers[finding.kind] <= _OF_LOW:
                chosen.append(finding)
    chosen.sort(key=lambda finding: ("high", "medium", "low").index(finding.severity))
    return {id(finding) for finding in chosen[:_SHOWN]}


def _print_hidden(console: Console, n: int, certain: float) -> None:
    if n:
        console.print(f"{counted(n, 'finding')} under certainty {certain:g} hidden: --certain 0 shows all.")


_SHOWN, _OF_LOW = 50, 3  # findings; of low severity by page and kind; with --verbose all
_MOST = 90


def _line(finding: CheckFinding) -> str:
    """Return a finding in one line: kind, words, and where they stand."""
    name, detail = finding.kind.replace("_", " "), finding.detail or finding.region
    what = f"{name} ({detail})" if detail else name
    texts = [_cut(text) for text in (finding.text, finding.output) if text]
    places = []
    if finding.boxes:
        x0, y0, x1, y1 = (round(side) for side in finding.boxes[0])
        places.append(f"at {x0},{y0}-{x1},{y1}")
    if finding.line is not None:
        places.append(f"{finding.file or 'output'}:{finding.line}")
    return f"{what}: {' → '.join(texts)}  [{', '.join((*places, finding.severity))}]"


def _cut(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…"
