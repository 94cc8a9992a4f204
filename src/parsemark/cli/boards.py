"""`parsemark boards`: one run by every board, and why they disagree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console
from parsemark.errors import MissingDependencyError

if TYPE_CHECKING:
    from parsemark.protocols import Figure
    from parsemark.verdicts.boards_agreement import BoardAgreement


def boards(
    run: Annotated[Path, Argument(help="Run directory.", show_default=False)],
    protocol: Annotated[
        list[str] | None,
        Option(
            help="Repeatable: by which, with settings: `tables(match=content)`.",
            show_default="those of the run, and all that need pages alone",
        ),
    ] = None,
    neutral: Annotated[
        bool, Option(help="Score outputs in the neutral spelling, too, to tell what serialisation does.")
    ] = True,
    workers: opt.Workers = None,
) -> None:
    """Score a run by every board, and say whether they rank its parsers alike, and why not.

    Without --protocol: by all that need nothing else than the truth of pages, as far as what they need is
    installed. What is scored already is not scored again. `parsemark report` shows it as a page.
    """
    from parsemark.engine.scoring.score import score_run
    from parsemark.protocols import canonical_specs, get_protocol, page_protocols, with_options
    from parsemark.store import Run
    from parsemark.verdicts.boards_agreement import IN_ORDER, board_agreement

    opened, console, wanted = Run.open(run), plain_console(), []
    specs = canonical_specs(protocol or [*opened.protocols, *page_protocols()])
    for spec in [*specs, *([IN_ORDER] if "tables" in specs else [])]:
        try:
            get_protocol(spec).preload()
        except MissingDependencyError as error:
            if protocol:
                raise
            console.print(f"Left out: {spec}. {error}", markup=False, soft_wrap=True)
            continue
        wanted += [spec, with_options(spec, serialise="neutral")] if neutral else [spec]
    missing = [  # or scored by another version of its rules
        spec
        for spec in dict.fromkeys(wanted)
        if spec not in opened.protocols
        or opened.summary(spec).comparability != get_protocol(spec).comparability
    ]
    if missing:
        with running.stoppable(console) as events:
            score_run(opened, protocols=missing, n_workers=workers, events=events)
    asked = {with_options(spec, serialise="raw") for spec in specs} if protocol else ()
    for line in agreement_lines(board_agreement(opened, asked)):
        typer.echo(line)
    if missing:
        running.say_old_report(opened, console)


def agreement_lines(found: BoardAgreement) -> list[str]:
    """What was found, as Markdown."""
    from parsemark.verdicts.boards_agreement import SOURCES

    lines = [
        "Ranks:",
        "",
        *_table(
            "parser",
            found.protocols,
            [
                [parser, *(str(found.ranks[spec][parser] or "–") for spec in found.protocols)]
                for parser in found.parsers
            ],
        ),
    ]
    if not found.pairs:
        return lines
    lines += ["", "Agreement (Kendall's tau), and what the disagreement comes from:", ""]
    rows = []
    for pair in found.pairs:
        shares = [_said(pair.shares[source]) for source in SOURCES]
        matched = ", ".join(dict.fromkeys(pair.rules)) or "not told"
        names = f"{pair.first}, {pair.second}"
        rows.append([names, _said(pair.tau), _said(pair.disagreement), *shares, matched])
    lines += _table("protocols", ["tau", "disagreement", *SOURCES, "tables matched by"], rows)
    lines += ["", found.caution] if found.caution else []
    means = found.mean_shares()
    lines += ["", "Over all pairs: " + ", ".join(f"{source} {means[source]:+.3f}" for source in SOURCES)]
    if found.moved:
        told = ", ".join(f"{spec} {value:.3f}" for spec, value in found.moved.items())
        lines += ["", f"Figures move by this much in the neutral spelling: {told}"]
    return lines


def _said(spread: Figure) -> str:
    if spread.value is None:
        return "–"
    ends = "" if spread.low is None or spread.high is None else f" ({spread.low:.2f} to {spread.high:.2f})"
    return f"{spread.value:.2f}{ends}"


def _table(corner: str, heads: list[str] | tuple[str, ...], rows: list[list[str]]) -> list[str]:
    lines = [[corner, *heads], ["---"] * (len(heads) + 1), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
