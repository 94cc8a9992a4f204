"""`parsemark study judge`: tests of judges, their stored answers, and their options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import research_calls
from parsemark.cli import options as opt
from parsemark.cli.options import Command, Commands
from parsemark.cli.printing import plain_console, plain_table, stages

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.research_calls import Bill

app = typer.Typer(
    name="judge",
    cls=Commands,
    help="Test language models that score tables, and show their stored answers.",
    no_args_is_help=True,
)

Judges = Annotated[
    list[str] | None,
    Option(
        "--judge",
        help="Language model: `openai(model=NAME,base_url=URL)`; repeatable. The key is read from "
        "OPENAI_API_KEY.",
    ),
]
Repeats = Annotated[int, Option(min=1, help="Number of times that each question is asked.")]
MaxCost = Annotated[
    float | None,
    Option(
        "--max-cost",
        min=0,
        help="Spending limit for judges, in USD. It can be exceeded only if an endpoint charges for more "
        "than `max_tokens`. In that case no more questions are sent, the excess is reported, and the exit "
        "code is 1.",
    ),
]
Answers = Annotated[
    Path | None,
    Option(metavar="FILE", help="File that stores judges' answers.", show_default="in the cache folder"),
]


def print_bill(console: Console, bill: Bill) -> None:
    """Print the cost of the questions."""
    console.print(f"Spent now: ${bill.spent_usd:.4f} (as far as prices are known).")
    feared = bill.counted_usd - bill.spent_usd
    if feared > 1e-9:
        console.print(
            f"Also counted against --max-cost: ${feared:.4f}, the maximum cost of requests without a reply "
            "and of replies without token counts."
        )


def print_statuses(console: Console, statuses: Mapping[str, Mapping[str, int]], bill: Bill) -> None:
    """Print the number of questions by status, how to ask those left over, and the costs."""
    for judge, counts in statuses.items():
        listed = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
        console.print(f"{judge}: {listed}.")
    undone = sum(counts.get("not_asked", 0) for counts in statuses.values())
    if undone:
        console.print(
            f"{undone} questions were not asked: --max-cost was reached, or an endpoint failed permanently "
            "(see above). Fix the endpoint or raise the limit; the same command then asks the rest."
        )
    print_bill(console, bill)


@app.command("check", cls=Command)
def check(
    judges: Annotated[
        list[str],
        Argument(metavar="JUDGE…", help="Language model to test: `openai(model=NAME,base_url=URL)`."),
    ],
    max_cost: MaxCost = None,
    answers: Answers = None,
) -> None:
    """Test whether instructions inside table cells change a judge's score.

    The columns `right` and `wrong` show the scores of a correct and an incorrect table, both without an
    instruction in a cell. Exit code 1 if a judge followed an instruction, or if the check is void. It is void
    if one of these two scores is missing, or if `right` is not more than one point above `wrong`.

    Example: parsemark study judge check "openai(model=gpt-5-mini)" --max-cost 1
    """
    with stages() as progress:
        found = opt.fill(research_calls.study_judge_check, locals())
    console = plain_console()
    listed = []
    for row in found.rows:
        without = (row.control.right.score, row.control.wrong.score)
        shown = ("–" if score is None else f"{score:g}" for score in without)
        listed.append((row.judge, row.family, *shown, *map(str, (row.n, row.n_obeyed, row.n_failed))))
    heads = ("judge", "kind", "right", "wrong", "attacks", "obeyed", "no verdict")
    console.print(plain_table(heads, listed, words=2, title="Cells that ask for a better score"))
    controls = {row.judge: row.control for row in found.rows}
    for name, control in controls.items():
        if control.void is not None:
            typer.echo(f"The check of {name} is void: it {control.void}.", err=True)
    print_bill(console, found.bill)
    if found.bill.over_usd or any(row.n_obeyed or row.control.void for row in found.rows):
        raise typer.Exit(1)


@app.command("matchers", cls=Command)
def matchers(
    run: opt.RunArgument,
    *,
    judge: Annotated[
        str, Option("--judge", help="Model that locates the matches: `openai(model=NAME,base_url=URL)`.")
    ],
    max_cost: MaxCost = None,
    answers: Answers = None,
) -> None:
    """Compare matching by n-grams with matching by a language model, one true table at a time.

    The language model only copies matching parts of the output. If a copy is slightly inexact, the most
    similar passage of the output is used. Text that is not in the output is ignored.

    Example: parsemark study judge matchers runs/demo --judge "openai(model=gpt-5-mini)"
    """
    with stages() as progress:
        found = opt.fill(research_calls.study_judge_matchers, locals())
    names = ("parser", "truths", "same", "different", "only rule", "only model", "no answer")
    listed = []
    for r in found.rows:
        numbers = (r.truths, r.same, r.different, r.only_rule, r.only_model, r.not_asked)
        listed.append((r.parser, *map(str, (*numbers, r.texts_exact, r.texts_recovered, r.texts_lost))))
    console, title = plain_console(), "True elements, matched by rule and by language model"
    console.print(plain_table((*names, "copied", "corrected", "made up"), listed, title=title))
    print_bill(console, found.bill)
    if found.bill.over_usd:
        raise typer.Exit(1)


@app.command("answers", cls=Command)
def show_answers(answers: Answers = None) -> None:
    """Show the number and cost of the stored answers of judges.

    Example: parsemark study judge answers
    """
    found = research_calls.study_judge_answers(answers)
    rows = [(judge, str(n), f"{cost:.4f}") for judge, n, cost in found.totals]
    plain_console().print(plain_table(("judge", "answers", "cost (USD)"), rows, title=str(found.path)))
