"""`parsemark export`: parts of a run as files."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli.printing import plain_console
from parsemark.plain_words import counted
from parsemark.report.exports import ExportFormat

_MOST_LISTED = 3


def export(
    runs: Annotated[
        list[Path], Argument(help="Run directory. Tables can show several runs side by side.", metavar="RUN…")
    ],
    *,
    format: Annotated[ExportFormat, Option(metavar="FORMAT", help="What to write; see above.")] = "markdown",
    tables: Annotated[
        list[str] | None,
        Option(
            "--table",
            help="Table to write; repeatable. `list` prints the names, `all` writes every table.",
            show_default="leaderboard",
        ),
    ] = None,
    protocol: opt.Protocol = None,
    parsers: Annotated[
        list[str] | None, Option("--parser", "-p", help="Parser to export; repeatable.", show_default="all")
    ] = None,
    page: Annotated[str | None, Option(help="Page to export, for `failure`.")] = None,
    score: Annotated[
        str | None, Option(help="Score to show, for `badge`.", show_default="the primary score")
    ] = None,
    link: Annotated[
        str | None, Option(help="URL that the badge links to; for `hf-eval`, URL of the results.")
    ] = None,
    bundle: Annotated[
        Path | None,
        Option(
            help="Bundle of the run, for `badge`. The badge is written only if the bundle can be verified "
            "and has the same scores as the run."
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        Option(metavar="OWNER/NAME", help="Dataset of the corpus on the Hugging Face Hub, for `hf-eval`."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="File or folder to write. The formats `omnidocbench` and `benchmark` need it.",
            show_default="tables are printed; other formats each have a default name",
        ),
    ] = None,
) -> None:
    """Write parts of a run as files: tables, charts, outputs, a badge, or the files that reproduce one
    failed page.

    - markdown, latex, csv: tables with 95 % confidence intervals, the leaderboard by default.
    - charts-pdf, charts-svg, charts-png: charts for a paper; needs `pip install 'parsemark[figures]'`.
    - outputs-md, outputs-html, outputs-csv, outputs-json: the parsers' outputs, one file per page, named
      after the PDFs.
    - boxes: boxes of the tables that one parser found, as a COCO file. The parser `modular(detect=file)` can
      use them instead of its own detection.
    - badge: an SVG with score, interval and corpus.
    - hf-eval: evaluation results for a model repository on the Hugging Face Hub, a YAML file per parser.
    - failure: a folder with one page, its truth, the parser's output and worker, and the command that repeats
      the failure.
    - omnidocbench: result files of OmniDocBench, one set per OmniDocBench profile used to score the run.
    - benchmark: result files in the format of another benchmark; choose it with --protocol.

    Example: parsemark export runs/demo --format latex --table soric-4

    Example: parsemark export runs/demo --format failure --parser pdfplumber --page demo-0003-p1
    """
    console = plain_console(stderr=True)
    with console.status("") as status:
        written = opt.fill(api.export, locals(), progress=status.update)
    if isinstance(written, str):
        typer.echo(written, nl=False)
        return
    is_many = format.startswith("outputs-") or format in ("benchmark", "omnidocbench")
    for path in written[:_MOST_LISTED] if is_many else written:
        typer.echo(path)
    if is_many:
        where = f" in {out or written[0].parent}" if written else ""
        typer.echo(f"{counted(len(written), 'file')}{where}")
