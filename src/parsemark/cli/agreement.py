"""`parsemark study agreement`: one run under the rules of every benchmark, and why they disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from parsemark import api, research_calls
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console
from parsemark.plain_words import signed

if TYPE_CHECKING:
    from parsemark.api import Figure
    from parsemark.research_calls import BoardAgreement


def agreement(
    run: opt.RunArgument,
    protocols: Annotated[
        list[str] | None,
        Option(
            "--protocol",
            help="Protocol to score with; repeatable.",
            show_default="the run's, and all others that need only pages with truth, and no judge",
        ),
    ] = None,
    neutral: Annotated[
        bool,
        Option(help="Also score outputs converted to a common notation, to measure its effect on scores."),
    ] = True,
    workers: opt.Workers = None,
) -> None:
    """Score a run under the rules of every benchmark and explain why they rank its parsers differently.

    Protocols that the run has been scored with already are not scored again. `parsemark report` shows the
    result as a page. Other projects' benchmarks come with `pip install parsemark-boards`.

    Example: parsemark study agreement runs/demo
    """
    console = plain_console()
    with running.stoppable(console) as events:
        found = opt.fill(research_calls.study_agreement, locals())
    for line in agreement_lines(found):
        typer.echo(line)
    running.say_old_report(api.load_run(run), console)


def agreement_lines(found: BoardAgreement) -> list[str]:
    """Return the findings as Markdown."""
    n = len(found.protocols)
    firsts = (f"{parser} by {len(own)} of {n} ({', '.join(own)})" for parser, own in found.firsts().items())
    lines = [
        f"Ranked first: {'; '.join(firsts)}.",
        "",
        "Ranks, with simultaneous 95 % intervals:",
        "",
        *_table(
            "parser",
            found.protocols,
            [
                [parser, *(found.rank_text(spec, parser) for spec in found.protocols)]
                for parser in found.parsers
            ],
        ),
    ]
    if not found.pairs:
        return lines
    lines += ["", "Agreement (Kendall's tau), and the sources of disagreement:", ""]
    rows, means = [], found.mean_shares()
    for pair in found.pairs:
        shares = [_said(pair.shares[source]) for source in means]
        matched = ", ".join(dict.fromkeys(pair.rules)) or ("other rules" if "tables" in pair.kinds else "–")
        names = f"{pair.first}, {pair.second}"
        rows.append([names, _said(pair.tau), _said(pair.disagreement), *shares, matched])
    lines += _table("protocols", ["tau", "disagreement", *means, "tables matched by"], rows)
    lines += ["", found.caution] if found.caution else []
    lines += ["", "Over all pairs: " + ", ".join(f"{source} {signed(means[source])}" for source in means)]
    if found.moved:
        told = ", ".join(f"{spec} {value:.3f}" for spec, value in found.moved.items())
        lines += ["", f"Change of the scores in the neutral notation: {told}"]
    return lines


def _said(spread: Figure) -> str:
    if spread.value is None:
        return "–"
    ends = "" if spread.low is None or spread.high is None else f" ({spread.low:.2f} to {spread.high:.2f})"
    return f"{spread.value:.2f}{ends}"


def _table(corner: str, heads: list[str] | tuple[str, ...], rows: list[list[str]]) -> list[str]:
    lines = [[corner, *heads], ["---"] * (len(heads) + 1), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
