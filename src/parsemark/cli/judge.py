"""`parsemark judge`: what judges are worth and have answered; and the options that they have everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark.cli.options import Commands
from parsemark.cli.printing import page_progress, plain_console, plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.judges import Asker, Judge

app = typer.Typer(name="judge", cls=Commands, help="Language models that score pairs.", no_args_is_help=True)

ASKING = "Asking judges"  # what a bar of questions is called
Judges = Annotated[
    list[str] | None,
    Option(
        "--judge",
        help="A language model: `openai(model=NAME,base_url=URL)`. The key is read from "
        "OPENAI_API_KEY. Repeat it.",
    ),
]
PromptFile = Annotated[
    Path | None,
    Option(
        "--prompt-file",
        metavar="FILE",
        help="Ask judges in the words of this text, which has `{gt_table}` and `{extracted_table}`.",
    ),
]
Repeats = Annotated[int, Option(min=1, help="Ask judges each question so many times.")]
Concurrency = Annotated[int, Option(min=1, max=512, help="Questions to a judge at a time.")]
MaxCost = Annotated[
    float | None,
    Option(
        "--max-cost",
        min=0,
        help="Most US dollars to spend on judges. It can be passed only by an endpoint that charges for more "
        "than `max_tokens`; then asking stops, the excess is said, and the exit code is 1.",
    ),
]
Answers = Annotated[
    Path | None,
    Option(metavar="FILE", help="Where answers of judges are kept.", show_default="in the cache folder"),
]


@dataclass(frozen=True)
class JudgeOptions:
    """The options of judges, as they were given."""

    specs: Sequence[str]
    answers: Path | None
    concurrency: int
    max_cost: float | None
    prompt_file: Path | None = None  # asked by every judge whose spec names no file of its own

    def judges(self) -> list[Judge]:
        """The judges, each once; a prompt that cannot be used is refused before anything is asked."""
        from parsemark.judges import get_judge

        named = [get_judge(spec) for spec in self.specs]
        if self.prompt_file is not None:
            file = str(self.prompt_file)
            named = [judge if judge.prompt_file else replace(judge, prompt_file=file) for judge in named]
        for judge in named:
            _ = judge.prompt_text
        return list(dict.fromkeys(named))

    @contextmanager
    def opened(self) -> Iterator[tuple[list[Judge], Asker]]:
        """The judges, and what asks them; all processes of this command share the limit on cost."""
        from parsemark.judges import AnswerStore, Asker, AskOptions
        from parsemark.judges.ask import join_session, session_name

        join_session(session_name())
        judges = self.judges()
        options = AskOptions(concurrency=self.concurrency, max_cost_usd=self.max_cost)
        with AnswerStore(self.answers) as store:
            yield judges, Asker(store, options)


@dataclass(frozen=True)
class Bill:
    """What asking has cost, once it is over."""

    spent_usd: float
    counted_usd: float
    over_usd: float  # by how much the limit was passed, which was reported when it happened

    @classmethod
    def of(cls, asker: Asker) -> Bill:
        """The bill of all that was asked so far."""
        return cls(asker.spent_usd(), asker.counted_usd(), asker.over_limit_usd())

    def print(self, console: Console) -> None:
        """Say it."""
        console.print(f"Spent now: ${self.spent_usd:.4f} (as far as prices are known).")
        feared = self.counted_usd - self.spent_usd
        if feared > 1e-9:
            console.print(
                f"Counted against --max-cost besides: ${feared:.4f}, the most that replies without token "
                "counts, and requests without a reply, may have cost."
            )


def print_statuses(console: Console, statuses: Mapping[str, Mapping[str, int]], bill: Bill) -> None:
    """What became of the questions, and what is left undone."""
    for judge, counts in statuses.items():
        listed = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
        console.print(f"{judge}: {listed}.")
    undone = sum(counts.get("not_asked", 0) for counts in statuses.values())
    if undone:
        console.print(
            f"{undone} questions were not asked: --max-cost was reached, or an endpoint failed for good "
            "(see above). Mend that, or raise the limit: the same command goes on with them."
        )
    bill.print(console)


@app.command("check")
def check(
    judge: Annotated[list[str], Argument(metavar="JUDGE…", help="`openai(model=NAME,base_url=URL)`.")],
    prompt_file: PromptFile = None,
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    answers: Answers = None,
) -> None:
    """Try to talk judges round: a wrong table, with and without cells that ask for a better score.

    `right` and `wrong` are the scores of a right and of the wrong table without such a cell. Exit code 1 if a
    judge obeyed a cell, or if the check is void: it gave no verdict on one of these two, or does not tell
    them apart.
    """
    from parsemark.judges.attacks import ATTACKS, resistance

    asked = JudgeOptions(judge, answers, concurrency, max_cost, prompt_file)
    with (
        asked.opened() as (judges, asker),
        page_progress(ASKING, len(judges) * (len(ATTACKS) + 2)) as advance,
    ):
        rows = resistance(judges, asker, advance)
        bill = Bill.of(asker)
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
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
    answers: Answers = None,
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
    asked = JudgeOptions([judge], answers, concurrency, max_cost)
    with asked.opened() as ((chosen,), asker), page_progress(ASKING, len(keys)) as advance:
        rows = compare_matchers(pages, chosen, asker, advance)
        bill = Bill.of(asker)
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
def show_answers(answers: Answers = None) -> None:
    """Show how many answers are kept, of whom, and what they cost."""
    from parsemark.judges import AnswerStore

    with AnswerStore(answers) as store:
        rows = [(judge, str(n), f"{cost:.4f}") for judge, n, cost in store.totals()]
        table = plain_table(("judge", "answers", "cost (USD)"), rows, title=str(store.path))
    plain_console().print(table)
