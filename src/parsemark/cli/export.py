"""`parsemark export`: parts of a run as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer
from typer import Argument, Option

from parsemark.cli.printing import plain_console
from parsemark.errors import UsageError
from parsemark.plain_words import counted
from parsemark.system.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from parsemark.store import Run

_Tables = Literal["markdown", "latex", "csv"]
Format = Literal[
    "markdown",
    "latex",
    "csv",
    "charts-pdf",
    "charts-svg",
    "charts-png",
    "outputs-md",
    "outputs-html",
    "outputs-csv",
    "outputs-json",
    "badge",
    "failure",
    "omnidocbench",
    "benchmark",
]


def export(
    runs: Annotated[
        list[Path], Argument(help="Run directory. Tables may put several runs side by side.", metavar="RUN…")
    ],
    *,
    format: Annotated[Format, Option(metavar="FORMAT", help="What to write; see above.")] = "markdown",
    table: Annotated[
        list[str] | None,
        Option(
            help="Table to write; repeatable. `list` prints the names, `all` writes every table.",
            show_default="leaderboard",
        ),
    ] = None,
    protocol: Annotated[
        str | None, Option(help="Protocol to report.", show_default="the run's first")
    ] = None,
    parser: Annotated[
        list[str] | None, Option(help="Parser to export; repeatable.", show_default="all")
    ] = None,
    page: Annotated[str | None, Option(help="Page to export (failure).")] = None,
    score: Annotated[
        str | None, Option(help="Score to show (badge).", show_default="the primary score")
    ] = None,
    link: Annotated[str | None, Option(help="Address that the badge links to.")] = None,
    bundle: Annotated[
        Path | None,
        Option(help="Bundle of the run, to be verified; its scores must be the run's (badge)."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "--out", "-o", help="File or folder to write.", show_default="tables are printed; else by RUN"
        ),
    ] = None,
) -> None:
    """Write parts of a run as files: tables, charts, outputs, a badge, or one failure.

    - markdown, latex, csv: tables with 95 % confidence intervals, the leaderboard by default.
    - charts-pdf, charts-svg, charts-png: charts for a paper; needs `pip install 'parsemark[figures]'`.
    - outputs-md, outputs-html, outputs-csv, outputs-json: what the parsers returned, a file per page, named
      after the PDFs.
    - badge: an SVG with score, interval and corpus.
    - failure: a folder with one page, its truth, the parser's output and worker, and the command that repeats
      the failure.
    - omnidocbench: result files of OmniDocBench, one set per profile that the run was scored with.
    - benchmark: result files of the benchmark whose rules --protocol names.

    Example: parsemark export runs/demo --format latex --table soric-4

    Example: parsemark export runs/demo --format failure --parser pdfplumber --page demo-0003-p1
    """
    if format in get_args(_Tables):
        _export_tables(runs, format, table, protocol, out)
        return
    from parsemark.store import Run

    if len(runs) != 1:
        raise UsageError(f"--format {format} writes the files of one run: give one RUN.")
    run, (kind, _, ending) = runs[0], format.partition("-")
    opened = Run.open(run)
    if format in ("benchmark", "omnidocbench"):
        if out is None:
            raise UsageError(f"--format {format} writes to a folder: name it with --out.")
        _export_results(opened, run, format, protocol, out)
    elif kind == "outputs":
        _export_outputs(opened, ending, out or run.with_name(run.name + "-outputs"), parser)
    elif kind == "charts":
        from parsemark.report.charts.paper import Format as ChartFormat
        from parsemark.report.figures_page import write_paper_figures

        _list(write_paper_figures(run, out or run / "charts", cast("ChartFormat", ending)))
    elif format == "badge":
        from parsemark.report.badge import badge_svg

        target, one = out or Path("badge.svg"), _at_most_one(parser)
        write_text(target, badge_svg(opened, one, score, link=link, bundle=bundle))
        typer.echo(target)
    else:
        from parsemark.report.repro import write_repro

        one = _at_most_one(parser)
        if one is None or page is None:
            raise UsageError("--format failure writes one page of one parser: add --parser NAME --page ID.")
        _list(write_repro(opened, one, page, out))


def _list(paths: Iterable[Path]) -> None:
    for path in paths:
        typer.echo(path)


def _at_most_one(parsers: list[str] | None) -> str | None:
    if parsers is not None and len(parsers) > 1:
        raise UsageError("This format is of one parser: give --parser once.")
    return parsers[0] if parsers else None


def _export_tables(
    runs: list[Path], format: str, tables: list[str] | None, protocol: str | None, out: Path | None
) -> None:
    from parsemark.report.paper_tables import LEADERBOARD, WRITERS, choose_tables, run_tables

    available = run_tables(runs, protocol)
    names = tables or [LEADERBOARD]
    if "list" in names:
        for entry in available.found:
            typer.echo(f"{entry.key:24} {entry.title}")
        for key, what in available.missing.items():
            typer.echo(f"{key:24} not available: needs {what}")
        return
    ending, write = WRITERS[format]
    chosen = choose_tables(available, names)
    if out is None:
        typer.echo("\n".join(write(entry) for entry in chosen), nl=False)
        return
    for entry in chosen:
        path = out / f"{entry.key}{ending}"
        write_text(path, write(entry))
        typer.echo(path)


def _export_outputs(run: Run, ending: str, folder: Path, parsers: list[str] | None) -> None:
    from parsemark.report.outputs import export_outputs

    written = export_outputs(run, ending, folder, parsers)
    _list(written[:3])
    typer.echo(f"{counted(len(written), 'file')} in {folder}")


def _export_results(opened: Run, run: Path, format: str, protocol: str | None, out: Path) -> None:
    from parsemark.report.omnidocbench import export_omnidocbench
    from parsemark.report.outputs import export_board

    if format == "benchmark":
        typer.echo(f"{counted(export_board(run, protocol, out), 'file')} in {out}")
        return
    console = plain_console()
    with console.status("") as status:
        written = export_omnidocbench(opened, out, progress=status.update)
    console.print(f"{counted(len(written), 'file')} in {out}")
