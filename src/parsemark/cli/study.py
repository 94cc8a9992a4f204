"""`parsemark study`: metrics against people."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsemark.cli import judging
from parsemark.cli.options import Commands
from parsemark.plain_words import counted, rounded, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from parsemark.study import Ratings, StudyResult, StudyVerdicts

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
    *,
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
    judge: judging.Judges = None,
    prompt_file: judging.PromptFile = None,
    repeats: judging.Repeats = 1,
    bias: Annotated[
        bool, typer.Option("--bias", help="Ask judges further questions that show their biases.")
    ] = False,
    concurrency: judging.Concurrency = 16,
    max_cost: judging.MaxCost = None,
    answers: judging.Answers = None,
) -> None:
    """Correlate metrics, stored values and judges with the mean human rating.

    Writes `correlations.json`, `study.json` (agreement of raters, counts, prompts, costs, where our values
    differ from stored ones, and which pairs are in sample), `scores.jsonl`, `scatter.png` and
    `disagreements.html`. Pairs with an empty extraction are left out of correlations and counted; broken
    entries are reported and counted.
    """
    from rich.console import Console
    from rich.progress import Progress

    from parsemark.errors import MissingDependencyError
    from parsemark.study import read_ratings, run_study, write_results
    from parsemark.study.disagreements import write_page
    from parsemark.study.figures import draw_scatter

    console = Console(markup=False)  # names of columns are those of the file
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=_LOG_WIDTH, markup=False)
    ratings = read_ratings(file)
    for problem in ratings.problems:
        typer.echo(f"{file}: {problem}", err=True)
    metrics = metric or (["reader"] if ratings.kind == "table" else ["formula_reader"])
    judged, bill = None, None
    if judge:
        asked = judging.JudgeOptions(judge, answers, concurrency, max_cost, prompt_file)
        judged, bill = _judged(ratings, asked, repeats, bias)
    with Progress(console=Console(stderr=True), disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("scoring", total=len(ratings.pairs))
        result = run_study(ratings, metrics, prepare.value, lambda: progress.advance(task), judged)
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
    if judged is not None and bill is not None:
        _print_judged(console, judged)
        judging.print_statuses(console, judged.statuses, bill)
    typer.echo(f"Written to {out}: " + ", ".join(str(path.relative_to(out)) for path in written))
    if bill is not None and bill.over_usd:
        raise typer.Exit(1)


def _print(console: Console, result: StudyResult) -> None:
    from rich.table import Table

    from parsemark.study import cost_table, prompt_table
    from parsemark.study.correlation import FEWEST_TABLES

    table = Table(title="Correlation with people", title_justify="left", padding=(0, 0), pad_edge=False)
    for name in ("column", "source", "Pearson", "95 % interval", "Spearman", "Kendall", "pairs"):
        is_text = name in ("column", "source")
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    ranked = sorted(result.columns, key=lambda c: -(result.correlations[c.name].pearson or -2))
    for column in ranked:
        found = result.correlations[column.name]
        source = column.source + (", in sample" if column.name in result.in_sample else "")
        interval = "–" if found.ci95 is None else f"{found.ci95[0]:z.3f} to {found.ci95[1]:z.3f}"
        table.add_row(
            column.name, source, rounded(found.pearson), interval,
            rounded(found.spearman), rounded(found.kendall), str(found.n),
        )  # fmt: skip
    console.print(table)
    if any(c.pearson is not None and c.ci95 is None for c in result.correlations.values()):
        console.print(
            f"No interval: fewer than {FEWEST_TABLES} tables resolve nothing; the order may be chance.",
            highlight=False,
        )
    agreement = result.agreement
    if agreement.mean_absolute_difference is not None:
        alone = ", ".join(rounded(value) for value in agreement.leave_one_out)
        console.print(
            f"Raters: {agreement.n_raters}, Krippendorff's alpha {rounded(agreement.alpha)}, mean difference "
            f"{rounded(agreement.mean_absolute_difference, 2)}; each against the others: {alone}.",
            highlight=False,
        )
    console.print(
        f"{counted(len(result.ratings.pairs), 'pair')}, {result.n_empty} with an empty "
        f"extraction (left out), "
        f"{len(result.ratings.problems)} broken.",
        highlight=False,
    )
    for name, known in result.in_sample.items():
        n_unseen = known.n_pairs - known.n
        others = f"; the other {n_unseen}: Pearson {rounded(known.unseen.pearson)}" if n_unseen else ""
        console.print(
            f"In sample: {name} was fitted to ratings of the truths of {known.n} of these {known.n_pairs} "
            f"pairs, so it is no test{others}. docs/reader.md has the figures on left-out tables.",
            highlight=False,
        )
    failed = sum(len(column.failures) for column in result.columns)
    if failed:
        console.print(f"{counted(failed, 'value')} could not be computed; see study.json.", highlight=False)
    if result.differences:
        console.print(
            f"{counted(len(result.differences), 'value')} other than stored; see study.json.", highlight=False
        )
    _print_prompts(console, prompt_table(result))
    _print_costs(console, cost_table(result))


@app.command("sample")
def sample(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    *,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="How many to draw.")] = 100,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the pairs are written.")] = Path(
        "pairs.json"
    ),
    metric: Annotated[
        str | None,
        typer.Option("--metric", "-m", help="Whose scores make the bands.", show_default="the run's first"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE.")] = False,
) -> None:
    """Draw matched pairs of a run for people to rate: by parser, complexity and score.

    Writes FILE and pictures of the pages in a folder beside it, for `parsemark rate FILE`.
    """
    from collections import Counter

    from rich.console import Console
    from rich.progress import Progress

    from parsemark.errors import UsageError
    from parsemark.store import Run
    from parsemark.study.sample import draw_pairs, write_tasks

    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists. Ratings belong to its pairs; name another file, or use --overwrite.")
    opened = Run.open(run)
    drawn = draw_pairs(opened, pairs, seed=seed, metric=metric)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("drawing pages", total=len(drawn))
        n_pictures = write_tasks(opened, drawn, out, lambda: progress.advance(task))
    bands = ("none" if c.score is None else f"{min(4, int(c.score * 5)) / 5:.1f}" for c in drawn)
    shares = {
        "parser": Counter(c.parser for c in drawn),
        "complexity": Counter(c.complexity for c in drawn),
        "score from": Counter(bands),
    }
    for name, counts in shares.items():
        typer.echo(f"{name}: " + ", ".join(f"{key} {n}" for key, n in sorted(counts.items())))
    typer.echo(f"{counted(len(drawn), 'pair')}, {n_pictures} with a picture of the page.")
    typer.echo(f"Rate them: parsemark rate {out}")


def _judged(
    ratings: Ratings, asked: judging.JudgeOptions, repeats: int, bias: bool
) -> tuple[StudyVerdicts, judging.Bill]:
    from parsemark.study.judging import JudgingOptions, judge_ratings, questions_of

    options = JudgingOptions(repeats, bias)
    with asked.opened() as (judges, asker), judging.progress(questions_of(ratings, judges, options)) as step:
        return judge_ratings(ratings, judges, asker, options, step), judging.Bill.of(asker)


def _print_judged(console: Console, judged: StudyVerdicts) -> None:
    from rich.table import Table

    def table(title: str, names: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        if not rows:
            return
        shown = Table(title=title, title_justify="left")
        for number, name in enumerate(names):
            shown.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
        for row in rows:
            shown.add_row(*row)
        console.print(shown)

    table(
        "Judges: agreement",
        ("judges", "pairs", "Pearson", "mean difference"),
        [
            (f"{a.one} · {a.other}", str(a.n), rounded(a.pearson), rounded(a.mean_absolute_difference))
            for a in judged.agreement
        ],
    )
    table(
        "Judges: the same question again",
        ("judge", "times", "pairs", "same score", "mean range", "alpha"),
        [
            (c.judge, str(c.repeats), str(c.n), rounded(c.same), rounded(c.mean_range), rounded(c.alpha))
            for c in judged.consistency
        ],
    )
    table(
        "Judges: bias (points of the score)",
        ("judge", "kind", "what", "effect", "95 % interval", "pairs"),
        [
            (b.judge, b.kind, b.what, _signed(b.effect), _interval(b.ci95), str(b.n))
            for b in judged.bias
        ],
    )  # fmt: skip
    if judged.alpha is not None:
        console.print(f"Krippendorff's alpha over judges: {rounded(judged.alpha)}.", highlight=False)


def _signed(value: float | None) -> str:
    return "–" if value is None else signed(value)


def _interval(found: tuple[float, float] | None) -> str:
    return "–" if found is None else f"{signed(found[0])} to {signed(found[1])}"


def _print_prompts(console: Console, rows: Mapping[str, Mapping[str, float | None]]) -> None:
    prompts = list(dict.fromkeys(name for row in rows.values() for name in row))
    listed = {judge: [rounded(row.get(prompt)) for prompt in prompts] for judge, row in rows.items()}
    _print_judges(console, "Prompts (Pearson)", prompts, listed)


def _print_costs(console: Console, rows: Mapping[str, Mapping[str, float]]) -> None:
    from parsemark.plain_words import format_value

    listed = {
        judge: [
            format_value(row["n"], "count"),
            format_value(row["total_usd"], "dollars"),
            format_value(row["usd_per_1000"], "dollars"),
        ]
        for judge, row in rows.items()
    }
    _print_judges(console, "Costs", ["judgements", "in all", "per 1000"], listed)


def _print_judges(
    console: Console, title: str, names: Sequence[str], rows: Mapping[str, Sequence[str]]
) -> None:
    from rich.table import Table

    if not rows:
        return
    table = Table(title=title, title_justify="left", padding=(0, 0), pad_edge=False)
    table.add_column("judge", overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for judge, row in rows.items():
        table.add_row(judge, *row)
    console.print(table, highlight=False)
