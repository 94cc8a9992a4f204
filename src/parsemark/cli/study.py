"""`parsemark study`: metrics against people."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsemark.cli.plain_help import Commands

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.study import StudyResult

_LOG_WIDTH = 130

app = typer.Typer(
    name="study", cls=Commands, help="Compare metrics with people's ratings.", no_args_is_help=True
)


class Preparation(StrEnum):
    """What the structural metrics are given."""

    auto = "auto"
    none = "none"
    study = "study"


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.add_typer(app)


@app.callback()
def about() -> None:
    """Compare metrics with people's ratings."""


@app.command("run")
def run(
    file: Annotated[Path, typer.Argument(metavar="RATINGS.json", help="Ours, or a published one.")],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric, or grits_avg, score_avg. Repeat it."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results are written.")] = Path("study"),
    prepare: Annotated[
        Preparation,
        typer.Option(
            help="`study`: give structural metrics the HTML that the published study gave them. "
            "`auto`: do so if the file has its stored values."
        ),
    ] = Preparation.auto,
    figures: Annotated[bool, typer.Option(help="Draw scatter plots (needs the extra `figures`).")] = True,
) -> None:
    """Correlate metrics, stored values and judges with the mean human rating.

    Writes `correlations.json`, `study.json` (agreement of raters, counts, prompts, costs, and where our
    values differ from stored ones), `scores.jsonl`, `scatter.png` and `disagreements.html`. Pairs with an
    empty extraction are left out of correlations and counted; broken entries are reported and counted.
    """
    from rich.console import Console
    from rich.progress import Progress

    from parsemark.errors import MissingDependencyError
    from parsemark.study import read_ratings, run_study, write_results
    from parsemark.study.disagreements import write_page
    from parsemark.study.figures import draw_scatter

    console = Console()
    if not console.is_terminal:
        console = Console(width=_LOG_WIDTH)
    ratings = read_ratings(file)
    for problem in ratings.problems:
        typer.echo(f"{file}: {problem}", err=True)
    metrics = metric or (["reader"] if ratings.kind == "table" else ["formula_reader"])
    with Progress(console=Console(stderr=True), disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("scoring", total=len(ratings.pairs))
        result = run_study(ratings, metrics, prepare.value, lambda: progress.advance(task))
    written = write_results(result, out)
    ours = [column for column in result.columns if column.source == "metric"]
    write_page(result, ours, out / "disagreements.html")
    written.append(out / "disagreements.html")
    if figures:
        try:
            draw_scatter(result, [c.name for c in result.columns], out / "scatter.png")
            written.append(out / "scatter.png")
        except MissingDependencyError as error:
            typer.echo(str(error), err=True)
    _print(console, result)
    typer.echo("Written: " + ", ".join(str(path) for path in written))


def _print(console: Console, result: StudyResult) -> None:
    from rich.table import Table

    from parsemark.study import cost_table, prompt_table

    table = Table(title="Correlation with people", title_justify="left")
    for name in ("column", "source", "Pearson", "95 % interval", "Spearman", "Kendall", "pairs"):
        table.add_column(name, justify="left" if name in ("column", "source") else "right", no_wrap=True)
    ranked = sorted(result.columns, key=lambda c: -(result.correlations[c.name].pearson or -2))
    for column in ranked:
        found = result.correlations[column.name]
        interval = "–" if found.ci95 is None else f"{found.ci95[0]:.3f} to {found.ci95[1]:.3f}"
        table.add_row(
            column.name, column.source, _number(found.pearson), interval,
            _number(found.spearman), _number(found.kendall), str(found.n),
        )  # fmt: skip
    console.print(table)
    agreement = result.agreement
    if agreement.mean_absolute_difference is not None:
        alone = ", ".join(_number(value) for value in agreement.leave_one_out)
        console.print(
            f"Raters: {agreement.n_raters}, Krippendorff's alpha {_number(agreement.alpha)}, mean difference "
            f"{agreement.mean_absolute_difference:.2f}; each against the others: {alone}.",
            highlight=False,
        )
    console.print(
        f"{len(result.ratings.pairs)} pairs, {result.n_empty} with an empty extraction (left out), "
        f"{len(result.ratings.problems)} broken.",
        highlight=False,
    )
    failed = sum(len(column.failures) for column in result.columns)
    if failed:
        console.print(f"{failed} values could not be computed; see study.json.", highlight=False)
    if result.differences:
        console.print(
            f"{len(result.differences)} values differ from stored ones; see study.json.", highlight=False
        )
    _print_judges(console, "Prompts (Pearson)", prompt_table(result))
    _print_judges(console, "Costs (USD)", cost_table(result))


def _print_judges(console: Console, title: str, rows: object) -> None:
    from rich.table import Table

    if not isinstance(rows, dict) or not rows:
        return
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    table = Table(title=title, title_justify="left")
    table.add_column("judge")
    for name in names:
        table.add_column(name, justify="right")
    for judge, row in rows.items():
        table.add_row(judge, *(_number(row.get(name)) for name in names))
    console.print(table)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
