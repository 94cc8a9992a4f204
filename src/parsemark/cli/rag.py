"""`parsemark rag`: the search and the answers that OHR-Bench scores."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli.judge import ASKING, Answers, Bill, Concurrency, JudgeOptions, MaxCost, print_statuses
from parsemark.cli.printing import page_progress, plain_console
from parsemark.plain_words import counted, visible
from parsemark.system.files import write_text


def rag(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    out: Annotated[Path, Option("--out", "-o", metavar="FILE", help="A line of JSON for each answer.")],
    top: Annotated[int, Option(min=1, max=100, help="How many chunks a question fetches.")] = 2,
    judge: Annotated[
        str | None, Option(help="Who answers: `openai(model=NAME)`.", show_default="nobody: search alone")
    ] = None,
    answers: Answers = None,
    concurrency: Concurrency = 16,
    max_cost: MaxCost = None,
) -> None:
    """Search the questions of a run's pages in each parser's output, and have a language model answer them.

    Then: parsemark score RUN --protocol "ohr-bench(results=FILE)"
    """
    from parsemark.engine.rag import answered, searched
    from parsemark.store import Run

    opened = Run.open(run)
    parsers = opened.manifest.parser_names
    if judge is None:
        lines = [line for parser in parsers for line, *_ in searched(opened, parser, top)]
    else:  # one limit on cost for all parsers
        asked = JudgeOptions([judge], answers, concurrency, max_cost)
        with asked.opened() as ((chosen,), asker), page_progress(ASKING, None) as advance:
            lines = [line for p in parsers for line in answered(opened, p, chosen, asker, top, advance)]
            bill = Bill.of(asker)
    write_text(out, "".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines))
    typer.echo(f"{len(lines)} lines in {out}.")
    if judge is None:
        return
    failed = [why for line in lines for why in (line.failed or {}).values()]
    counts = Counter(why.partition(":")[0] for why in failed) + Counter(ok=2 * len(lines) - len(failed))
    print_statuses(plain_console(), {str(chosen): counts}, bill)
    if failed:
        typer.echo(f"{counted(len(failed), 'answer')} failed, the first: {visible(failed[0])}", err=True)
    if failed or bill.over_usd:
        raise typer.Exit(1)
