"""`parsemark rag`: the search and the answers that OHR-Bench scores."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from parsemark.cli.judge import Answers, Concurrency, JudgeOptions, MaxCost
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
        with JudgeOptions([judge], answers, concurrency, max_cost).opened() as (judges, asker):
            lines = [line for p in parsers for line in answered(opened, p, judges[0], asker, top)]
    write_text(out, "".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines))
    typer.echo(f"{len(lines)} lines in {out}.")
