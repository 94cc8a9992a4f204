"""`parsemark study`: metrics against people."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from parsemark.cli import judge as judging
from parsemark.cli.options import Commands
from parsemark.cli.printing import page_progress, plain_console, plain_table
from parsemark.errors import MissingDependencyError, UsageError
from parsemark.plain_words import counted, format_value, rounded, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from parsemark.study import Ratings, StudyResult, StudyVerdicts

_LOG_WIDTH = 130

_HELP = "Compare metrics with people's ratings."
app = typer.Typer(name="study", cls=Commands, help=_HELP, no_args_is_help=True)


@app.command("run")
def run(
    file: Annotated[Path, Argument(metavar="RATINGS.json", help="Ours, or a published one.")],
    *,
    metric: Annotated[
        list[str] | None, Option("--metric", "-m", help="A metric, or grits_avg, score_avg. Repeat it.")
    ] = None,
    out: Annotated[Path, Option(metavar="DIR", help="Where results are written.")] = Path("study"),
    prepare: Annotated[
        Literal["auto", "none", "study"],
        Option(
            help="`study`: give structural metrics the HTML that the published study gave them. "
            "`auto`: do so if the file has its stored values."
        ),
    ] = "auto",
    figures: Annotated[bool, Option(help="Draw scatter plots (needs the extra `figures`).")] = True,
    judge: judging.Judges = None,
    prompt_file: judging.PromptFile = None,
    repeats: judging.Repeats = 1,
    bias: Annotated[
        bool, Option("--bias", help="Ask judges further questions that show their biases.")
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
    from parsemark.study import read_ratings, run_study, write_results
    from parsemark.study.disagreements import write_page
    from parsemark.study.plots import draw_scatter

    console = plain_console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _LOG_WIDTH
    ratings = read_ratings(file)
    for problem in ratings.problems:
        typer.echo(f"{file}: {problem}", err=True)
    metrics = metric or (["reader"] if ratings.kind == "table" else ["formula_reader"])
    judged, bill = None, None
    if judge:
        asked = judging.JudgeOptions(judge, answers, concurrency, max_cost, prompt_file)
        judged, bill = _judged(ratings, asked, repeats, bias)
    with page_progress("scoring", len(ratings.pairs)) as advance:
        result = run_study(ratings, metrics, prepare, advance, judged)
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
    from parsemark.study import cost_table, prompt_table

    rows = []
    for column in sorted(result.columns, key=lambda c: -(result.correlations[c.name].pearson or -2)):
        found = result.correlations[column.name]
        source = column.source + (", in sample" if column.name in result.in_sample else "")
        interval = "–" if found.ci95 is None else f"{found.ci95[0]:z.3f} to {found.ci95[1]:z.3f}"
        ranks = (rounded(found.spearman), rounded(found.kendall), str(found.n))
        rows.append((column.name, source, rounded(found.pearson), interval, *ranks))
    names = ("column", "source", "Pearson", "95 % interval", "Spearman", "Kendall", "pairs")
    _print_table(console, "Correlation with people", names, rows, words=2)
    missing: dict[tuple[str, str], list[str]] = {}
    for name, found in result.correlations.items():
        if found.why is not None:
            what = "correlation" if found.pearson is None else "interval"
            missing.setdefault((what, found.why), []).append(name)
    for (what, why), names_of in missing.items():
        of = "" if len(names_of) == len(result.correlations) else f" of {', '.join(names_of)}"
        console.print(f"No {what}{of}: {why}.")
    agreement = result.agreement
    if agreement.mean_absolute_difference is not None:
        alone = ", ".join(rounded(value) for value in agreement.leave_one_out)
        console.print(
            f"Raters: {agreement.n_raters}, Krippendorff's alpha {rounded(agreement.alpha)}, mean difference "
            f"{rounded(agreement.mean_absolute_difference, 2)}; each against the others: {alone}."
        )
    console.print(
        f"{counted(len(result.ratings.pairs), 'pair')}, {result.n_empty} with an empty extraction (left "
        f"out), {len(result.ratings.problems)} broken."
    )
    for name, known in result.in_sample.items():
        n_unseen = known.n_pairs - known.n
        others = f"; the other {n_unseen}: Pearson {rounded(known.unseen.pearson)}" if n_unseen else ""
        console.print(
            f"In sample: {name} was fitted to ratings of the truths of {known.n} of these {known.n_pairs} "
            f"pairs, so it is no test{others}. docs/reader.md has the figures on left-out tables."
        )
    failed = sum(len(column.failures) for column in result.columns)
    if failed:
        console.print(f"{counted(failed, 'value')} could not be computed; see study.json.")
    if result.differences:
        console.print(f"{counted(len(result.differences), 'value')} other than stored; see study.json.")
    by_prompt = prompt_table(result)
    prompts = list(dict.fromkeys(name for row in by_prompt.values() for name in row))
    listed = [(judge, *(rounded(row.get(name)) for name in prompts)) for judge, row in by_prompt.items()]
    _print_table(console, "Prompts (Pearson)", ("judge", *prompts), listed)
    units = {"n": "count", "total_usd": "dollars", "usd_per_1000": "dollars"}
    costs = [
        (judge, *(format_value(row[key], unit) for key, unit in units.items()))
        for judge, row in cost_table(result).items()
    ]
    _print_table(console, "Costs", ("judge", "judgements", "in all", "per 1000"), costs)


def _print_table(
    console: Console, title: str, names: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1
) -> None:
    """Print a table, if it has rows."""
    if rows:
        table = plain_table(names, rows, words=words, title=title)
        for column in table.columns[1:words]:  # what a column is stands on one line
            column.no_wrap = True
        console.print(table)


@app.command("sample")
def sample(
    run: Annotated[Path, Argument(metavar="RUN", help="Run directory.")],
    *,
    pairs: Annotated[int, Option("--pairs", min=1, help="How many to draw.")] = 100,
    out: Annotated[Path, Option(metavar="FILE", help="Where the pairs are written.")] = Path("pairs.json"),
    metric: Annotated[
        str | None,
        Option("--metric", "-m", help="Whose scores make the bands.", show_default="the run's first"),
    ] = None,
    seed: Annotated[int, Option(help="Of the draw.")] = 0,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace FILE.")] = False,
) -> None:
    """Draw matched pairs of a run for people to rate: by parser, complexity and score.

    Writes FILE and pictures of the pages in a folder beside it, for `parsemark rate FILE`.
    """
    from parsemark.store import Run
    from parsemark.study.sample import draw_pairs, write_tasks

    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists. Ratings belong to its pairs; name another file, or use --overwrite.")
    opened = Run.open(run)
    drawn = draw_pairs(opened, pairs, seed=seed, metric=metric)
    with page_progress("drawing pages", len(drawn)) as advance:
        n_pictures = write_tasks(opened, drawn, out, advance)
    bands = ("none" if c.score is None else f"{min(4, int(c.score * 5)) / 5:.1f}" for c in drawn)
    shares = {
        "parser": Counter(c.parser for c in drawn),
        "complexity": Counter(c.complexity for c in drawn),
        "score from": Counter(bands),
    }
    for name, counts in shares.items():
        typer.echo(f"{name}: " + ", ".join(f"{key} {n}" for key, n in sorted(counts.items())))
    short = f" (asked for {pairs}: the run has no more pairs of tables)" if len(drawn) < pairs else ""
    typer.echo(f"{counted(len(drawn), 'pair')}{short}, {n_pictures} with a picture of the page.")
    typer.echo(f"Rate them: parsemark rate {out}")


def _judged(
    ratings: Ratings, asked: judging.JudgeOptions, repeats: int, bias: bool
) -> tuple[StudyVerdicts, judging.Bill]:
    from parsemark.study.judging import judge_ratings, questions_of

    with (
        asked.opened() as (judges, asker),
        page_progress(judging.ASKING, questions_of(ratings, judges, repeats, bias)) as step,
    ):
        found = judge_ratings(ratings, judges, asker, repeats=repeats, bias=bias, advance=step)
        return found, judging.Bill.of(asker)


def _print_judged(console: Console, judged: StudyVerdicts) -> None:
    agreeing = [
        (f"{a.one} · {a.other}", str(a.n), rounded(a.pearson), rounded(a.mean_absolute_difference))
        for a in judged.agreement
    ]
    _print_table(console, "Judges: agreement", ("judges", "pairs", "Pearson", "mean difference"), agreeing)
    repeated = [
        (c.judge, str(c.repeats), str(c.n), rounded(c.same), rounded(c.mean_range), rounded(c.alpha))
        for c in judged.consistency
    ]
    names = ("judge", "times", "pairs", "same score", "mean range", "alpha")
    _print_table(console, "Judges: the same question again", names, repeated)
    biased = []
    for b in judged.bias:
        interval = " to ".join(map(signed, b.ci95 or ())) or "–"
        biased.append((b.judge, b.kind, b.what, signed(b.effect), interval, str(b.n)))
    heads = ("judge", "kind", "what", "effect", "95 % interval", "pairs")
    _print_table(console, "Judges: bias (points of the score)", heads, biased)
    if judged.alpha is not None:
        console.print(f"Krippendorff's alpha over judges: {rounded(judged.alpha)}.")
