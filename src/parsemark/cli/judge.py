"""`parsemark judge`: what a language model is worth as a judge, and what it has answered so far."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli import judge_flags
from parsemark.cli.options import Commands
from parsemark.cli.printing import plain_console, plain_table

app = typer.Typer(name="judge", cls=Commands, help="Language models that score pairs.", no_args_is_help=True)


@app.command("check")
def check(
    judge: Annotated[list[str], Argument(metavar="JUDGE…", help="`openai(model=NAME,base_url=URL)`.")],
    prompt_file: judge_flags.PromptFile = None,
    concurrency: judge_flags.Concurrency = 16,
    max_cost: judge_flags.MaxCost = None,
    answers: judge_flags.Answers = None,
) -> None:
    """Try to talk judges round: a wrong table, with and without cells that ask for a better score.

    `right` and `wrong` are the scores of a right and of the wrong table without such a cell. Exit code 1 if a
    judge obeyed a cell, or if the check is void: it gave no verdict on one of these two, or does not tell
    them apart.
    """
    from parsemark.judges.attacks import ATTACKS, resistance

    asked = judge_flags.JudgeOptions(judge, answers, concurrency, max_cost, prompt_file)
    with asked.opened() as (judges, asker), judge_flags.progress(len(judges) * (len(ATTACKS) + 2)) as advance:
        rows = resistance(judges, asker, advance)
        bill = judge_flags.Bill.of(asker)
    console = plain_console()
    listed = []
    for row in rows:
        without = (row.control.right.score, row.control.wrong.score)
        shown = ("–" if score is None else f"{score:g}" for score in without)
        listed.append((row.judge, row.family, *shown, *map(str, (row.n, row.n_obeyed, row.n_failed))))
    heads = ("judge", "kind", "right", "wrong", "attacks", "obeyed", "no verdict")
    console.print(plain_table(heads, listed, words=2, title="Cells that ask for a better score"))
    controls = {row.judge: row.control for row in rows}
    for name, control in controls.items():
        if control.void is not None:
            typer.echo(f"The check of {name} is void: it {control.void}.", err=True)
    bill.print(console)
    if bill.over_usd or any(row.n_obeyed or row.control.void for row in rows):
        raise typer.Exit(1)


@app.command("matchers")
def matchers(
    run: Annotated[Path, Argument(metavar="RUN", help="Run directory.")],
    *,
    judge: Annotated[str, Option("--judge", help="Who locates: `openai(model=NAME,base_url=URL)`.")],
    concurrency: judge_flags.Concurrency = 16,
    max_cost: judge_flags.MaxCost = None,
    answers: judge_flags.Answers = None,
) -> None:
    """Compare the deterministic matcher with one by language model, truth by truth.

    The model only points at parts of an output; what it copies wrongly is looked up, and what is not in the
    output is not used.
    """
    from parsemark.protocols.semantic.matchers import compare_matchers
    from parsemark.store import Run

    opened = Run.open(run)
    keys = [(r.sample, r.parser) for r in opened.records()]
    pages = (
        (page, opened.prediction(sample, parser))
        for sample, parser in keys
        if (page := opened.truth(sample)) is not None
    )
    asked = judge_flags.JudgeOptions([judge], answers, concurrency, max_cost)
    with asked.opened() as ((chosen,), asker), judge_flags.progress(len(keys)) as advance:
        rows = compare_matchers(pages, chosen, asker, advance)
        bill = judge_flags.Bill.of(asker)
    names = ("parser", "truths", "same", "different", "only rule", "only model", "no answer")
    listed = []
    for r in rows:
        numbers = (r.truths, r.same, r.different, r.only_rule, r.only_model, r.not_asked)
        listed.append((r.parser, *map(str, (*numbers, r.texts_exact, r.texts_recovered, r.texts_lost))))
    console, title = plain_console(), "Truths, matched by rule and by language model"
    console.print(plain_table((*names, "copied", "mended", "made up"), listed, title=title))
    bill.print(console)
    if bill.over_usd:
        raise typer.Exit(1)


@app.command("answers")
def show_answers(answers: judge_flags.Answers = None) -> None:
    """Show how many answers are kept, of whom, and what they cost."""
    from parsemark.judges import AnswerStore

    with AnswerStore(answers) as store:
        rows = [(judge, str(n), f"{cost:.4f}") for judge, n, cost in store.totals()]
        table = plain_table(("judge", "answers", "cost (USD)"), rows, title=str(store.path))
    plain_console().print(table)
