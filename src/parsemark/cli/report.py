"""`parsemark report`, `figures`, `export` and `query`: a run as a site, for papers, as files, in SQL."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import UsageError
from parsemark.plain_words import counted, visible
from parsemark.system.files import write_text


def report(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    out: Annotated[Path | None, Option(help="Folder of the report; by default RUN/report.")] = None,
    against: Annotated[Path | None, Option(help="An older run to compare with.")] = None,
    also: Annotated[
        list[Path] | None,
        Option(help="Repeatable: a run on another corpus, to choose from on the leaderboard."),
    ] = None,
) -> None:
    """Write the report of a run: leaderboard, figures, parsers, page viewer, comparison, provenance."""
    from parsemark.report import build_report
    from parsemark.store import Run
    from parsemark.verdicts.scored_run import readable_protocols

    for spec, reason in readable_protocols(Run.open(run))[1].items():
        typer.echo(f"Not shown: {spec}. {reason}", err=True)
    typer.echo(build_report(run, out or run / "report", against=against, also=also or ()))


def figures(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    kind: Annotated[Literal["pdf", "svg", "png"], Option("--format", help="File format.")] = "pdf",
    out: Annotated[Path | None, Option(help="Folder of the figures; by default RUN/figures.")] = None,
) -> None:
    """Write the figures of a run for a paper (needs matplotlib: `pip install 'parsemark[figures]'`).

    Parsers have the same colours as in the report.
    """
    from parsemark.report.figures_page import write_paper_figures

    for path in write_paper_figures(run, out or run / "figures", kind):
        typer.echo(path)


def export(
    runs: Annotated[list[Path], Argument(help="Run; several corpora stand side by side.", metavar="RUN…")],
    *,
    format: Annotated[
        Literal["markdown", "latex", "csv", "omnidocbench", "board"],
        Option(help="A table for people, papers or programs, or whose files to write."),
    ] = "markdown",
    table: Annotated[
        list[str] | None,
        Option(
            help="Repeatable: which table; `list` names them, `all` takes all.", show_default="leaderboard"
        ),
    ] = None,
    protocol: Annotated[
        str | None, Option(help="Whose figures.", show_default="the first of the run")
    ] = None,
    out: Annotated[
        Path | None, Option(help="Folder, one file for each table.", show_default="printed here")
    ] = None,
    outputs: Annotated[
        str | None, Option(help="What the parsers returned, page by page, as `md`, `html`, `csv` or `json`.")
    ] = None,
    parser: Annotated[list[str] | None, Option(help="With --outputs: only of this one. Repeat it.")] = None,
) -> None:
    """Write tables of a run with intervals, the best in bold; or the result files of another program.

    `parsemark export RUN --format latex --table soric-4` prints a table for `booktabs`. Tables are the
    leaderboard, one for each attribute, and those of the papers that a protocol stands for. `omnidocbench`
    writes `…_metric_result.json` and `…_{element}_result.json` for each published profile that the run was
    scored by; it needs `--out`. `board` writes the files of the board whose rules `--protocol` has.
    `parsemark export RUN --outputs md` writes what the parsers returned under the names of the PDFs.
    """
    if outputs is not None:
        _export_outputs(runs, outputs, out, parser)
        return
    if format in ("board", "omnidocbench"):
        if len(runs) != 1 or out is None:
            raise UsageError(
                f"--format {format} writes the files of one run to a folder: give one RUN and --out."
            )
        _export_files(runs[0], format, protocol, out)
        return
    from parsemark.report.paper_tables import LEADERBOARD, WRITERS, choose_tables, run_tables

    known = run_tables(runs, protocol)
    wanted = table or [LEADERBOARD]
    if "list" in wanted:
        for entry in known.found:
            typer.echo(f"{entry.key:24} {entry.title}")
        for key, what in known.missing.items():
            typer.echo(f"{key:24} not here: needs {what}")
        return
    ending, write = WRITERS[format]
    chosen = choose_tables(known, wanted)
    if out is None:
        typer.echo("\n".join(write(entry) for entry in chosen), nl=False)
        return
    for entry in chosen:
        path = out / f"{entry.key}{ending}"
        write_text(path, write(entry))
        typer.echo(path)


def _export_outputs(runs: list[Path], format: str, out: Path | None, parsers: list[str] | None) -> None:
    from parsemark.report.outputs import export_outputs
    from parsemark.store import Run

    if len(runs) != 1:
        raise UsageError("--outputs writes the outputs of one run: give one RUN.")
    folder = out or runs[0].with_name(runs[0].name + "-outputs")
    written = export_outputs(Run.open(runs[0]), format, folder, parsers)
    for path in written[:3]:
        typer.echo(path)
    typer.echo(f"{counted(len(written), 'file')} in {folder}")


def _export_files(run: Path, format: str, protocol: str | None, out: Path) -> None:
    from parsemark.report.omnidocbench import export_omnidocbench
    from parsemark.report.outputs import export_board
    from parsemark.store import Run

    if format == "board":
        typer.echo(f"{counted(export_board(run, protocol, out), 'file')} in {out}")
        return
    console = plain_console()
    with console.status("") as status:
        written = export_omnidocbench(Run.open(run), out, progress=status.update)
    console.print(f"{counted(len(written), 'file')} in {out}")


def query(
    run: Annotated[Path, Argument(help="Run directory.")],
    sql: Annotated[str, Argument(help="Over the tables samples, parses, predictions, matches and scores.")],
    as_csv: Annotated[bool, Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Ask a run anything in SQL (DuckDB).

    For example: `parsemark query runs/demo "SELECT parser, metric, avg(value) FROM scores GROUP BY ALL"`
    """
    import csv

    from parsemark.store.run import query_run

    result = query_run(run, sql)
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(result.columns)
        writer.writerows(result.rows)
        return

    def shown(value: object) -> str:
        return f"{value:.4g}" if isinstance(value, float) else visible("" if value is None else str(value))

    rows = (map(shown, row) for row in result.rows)
    plain_console().print(plain_table(result.columns, rows, words=len(result.columns)))
