"""`parsemark study`: metrics against people."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from parsemark import research_calls
from parsemark.cli import judge as judging
from parsemark.cli import options as opt
from parsemark.cli.agreement import agreement
from parsemark.cli.printing import plain_console, plain_table, stages
from parsemark.cli.web_apps import rate
from parsemark.plain_words import counted, format_value, rounded, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from parsemark.research_calls import Study, StudyVerdicts

_LOG_WIDTH = 130

_HELP = "Compare metrics and language-model judges with human ratings, and benchmarks with each other."
app = typer.Typer(name="study", cls=opt.Commands, help=_HELP, no_args_is_help=True)


@app.command("run", cls=opt.Command)
def run(
    file: Annotated[
        Path,
        Argument(
            metavar="RATINGS.json",
            help="Ratings file, written by `study rate` or published with a study (format: "
            "docs/how-to/study.md).",
        ),
    ],
    *,
    metrics: Annotated[
        list[str] | None,
        Option("--metric", "-m", help="Metric to compare, such as reader or grits_avg; repeatable."),
    ] = None,
    out: Annotated[Path, Option(metavar="DIR", help="Folder of the results.")] = Path("study"),
    prepare: Annotated[
        Literal["auto", "none", "study"],
        Option(
            help="`study`: normalise the HTML for structural metrics as in the published study. `none`: use "
            "it as it is. `auto`: `study` if the file contains metric values of that study, else `none`."
        ),
    ] = "auto",
    figures: Annotated[bool, Option(help="Draw scatter plots (needs the extra `figures`).")] = True,
    judges: judging.Judges = None,
    repeats: judging.Repeats = 1,
    bias: Annotated[bool, Option("--bias", help="Also measure the biases of the judges.")] = False,
    max_cost: judging.MaxCost = None,
    answers: judging.Answers = None,
) -> None:
    """Measure how well metrics and judges (language models) agree with human ratings.

    Each metric, each judge, and each kind of score stored in the file is correlated with the mean human
    rating of the pairs.

    Writes `correlations.json`, `study.json`, `scores.jsonl`, `scatter.png` and `disagreements.html`.
    study.json contains the agreement between raters, counts, prompts, costs, and differences from the metric
    values in the ratings file. It also counts the pairs to which a metric was fitted. Pairs with an
    empty extraction are counted but not used in correlations. Unreadable entries are reported and counted.

    Example: parsemark study run ratings.json --metric reader --metric teds --out studies/tables
    """
    console = plain_console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _LOG_WIDTH
    with stages() as progress:
        found = opt.fill(research_calls.study_run, locals(), judges=judges or ())
    for problem in found.result.ratings.problems:
        typer.echo(f"{file}: {problem}", err=True)
    if found.missing is not None:
        typer.echo(found.missing, err=True)
    _print(console, found)
    if found.judged is not None and found.bill is not None:
        _print_judged(console, found.judged)
        judging.print_statuses(console, found.judged.statuses, found.bill)
    typer.echo(f"Written to {out}: " + ", ".join(str(path.relative_to(out)) for path in found.files))
    if found.bill is not None and found.bill.over_usd:
        raise typer.Exit(1)


def _print(console: Console, study: Study) -> None:
    result, rows = study.result, []
    for column in sorted(result.columns, key=lambda c: -(result.correlations[c.name].pearson or -2)):
        found = result.correlations[column.name]
        source = column.source + (", in sample" if column.name in result.in_sample else "")
        interval = "–" if found.ci95 is None else f"{found.ci95[0]:z.3f} to {found.ci95[1]:z.3f}"
        ranks = (rounded(found.spearman), rounded(found.kendall), str(found.n))
        rows.append((column.name, source, rounded(found.pearson), interval, *ranks))
    names = ("column", "source", "Pearson", "95 % CI", "Spearman", "Kendall", "pairs")
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
            f"{rounded(agreement.mean_absolute_difference, 2)}; correlation with the others' mean: {alone}."
        )
    console.print(
        f"{counted(len(result.ratings.pairs), 'pair')}, {result.n_empty} with an empty extraction (left "
        f"out), {len(result.ratings.problems)} broken."
    )
    for name, known in result.in_sample.items():
        n_unseen = known.n_pairs - known.n
        others = f"; the other {n_unseen}: Pearson {rounded(known.unseen.pearson)}" if n_unseen else ""
        console.print(
            f"In sample: {name} was fitted to ratings of the true tables of {known.n} of these "
            f"{counted(known.n_pairs, 'pair')}. So its correlation here is not an independent test{others}. "
            "For its correlation on held-out tables, see docs/explanation/reader.md."
        )
    failed = sum(len(column.failures) for column in result.columns)
    if failed:
        console.print(f"{counted(failed, 'value')} could not be computed; see study.json.")
    if result.differences:
        console.print(
            f"{counted(len(result.differences), 'value')} differ from the stored ones; see study.json."
        )
    by_prompt = study.prompts
    prompts = list(dict.fromkeys(name for row in by_prompt.values() for name in row))
    listed = [(judge, *(rounded(row.get(name)) for name in prompts)) for judge, row in by_prompt.items()]
    _print_table(console, "Prompts (Pearson)", ("judge", *prompts), listed)
    units = {"n": "count", "total_usd": "dollars", "usd_per_1000": "dollars"}
    costs = [
        (judge, *(format_value(row[key], unit) for key, unit in units.items()))
        for judge, row in study.costs.items()
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


@app.command("sample", cls=opt.Command)
def sample(
    run: opt.RunArgument,
    *,
    pairs: Annotated[int, Option("--pairs", min=1, help="Number of pairs.")] = 100,
    out: Annotated[Path, Option(metavar="FILE", help="File to write.")] = Path("pairs.json"),
    metric: Annotated[
        str | None,
        Option(
            "--metric",
            "-m",
            help="Metric used to balance the sample: low and high scores are sampled equally often.",
            show_default="the run's first",
        ),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace FILE.")] = False,
) -> None:
    """Sample matched pairs of a run for people to rate, balanced over parser, complexity and score.

    Writes FILE, and pictures of the pages in a folder beside it.

    Example: parsemark study sample runs/demo --pairs 100 --out pairs.json
    """
    with stages() as progress:
        found = opt.fill(research_calls.study_sample, locals())
    drawn, n_pictures = found.pairs, found.n_pictures
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
    typer.echo(f"Rate them: parsemark study rate {out}")


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


app.add_typer(judging.app)
app.command("rate", cls=opt.Command)(rate)
app.command("agreement", cls=opt.Command)(agreement)
