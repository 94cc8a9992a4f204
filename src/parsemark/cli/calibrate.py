"""`parsemark calibrate`, `confidence` and `ensemble`: parsers made of the stored outputs of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli.printing import plain_console, plain_table
from parsemark.plain_words import UNDEFINED, counted, rounded

if TYPE_CHECKING:
    from parsemark.engine.derived.confidences import ConfidenceRow, Quality

_NAME_WIDTH = 27  # longer names take two lines: the table is to fit into 80 columns
_RISK = "risk: area under risk over coverage, in brackets that of the best possible order"

RunFolder = Annotated[Path, Argument(help="Run directory, scored by the protocol `tables`.")]


def calibrate(
    run: RunFolder,
    *,
    parser: Annotated[str, Option(help="A parser of the run that gives confidences.")],
    out: Annotated[Path | None, Option(help="File for the calibrator.")] = None,
    method: Annotated[
        str, Option(help="temperature, platt, beta, isotonic, or `best` by D-ECE on unseen documents.")
    ] = "best",
    other: Annotated[
        Path | None, Option(help="Another run: what this run's best threshold costs there.")
    ] = None,
    apply: Annotated[
        bool, Option(help="Also add the calibrated parser to the run, each document by one fitted on others.")
    ] = False,
) -> None:
    """Fit a calibrator of a parser's confidences, and say what it changes on documents it has not seen.

    Apply it to another run with `parsemark score RUN --calibrator FILE`: the run then has a parser
    `calibrated(…)` beside the original one.
    """
    console = plain_console()
    found = api.calibrate(run, parser, method=method, other=other, apply=apply)
    judged, best = found.judged, found.threshold
    console.print(
        f"{parser}: {len(judged.confidence)} predicted tables of {len(set(judged.documents))} documents, "
        f"{sum(judged.correct)} right (IoU over .5), {judged.n_truth} true ones"
    )
    qualities = {"none": found.before, **found.after}
    rows = [(name, rounded(quality.d_ece, 4), _risk(quality, 4)) for name, quality in qualities.items()]
    console.print(plain_table(("calibrator", "D-ECE", "risk"), rows))
    console.print(_RISK)
    if best is not None:
        console.print(
            f"best threshold {best.at:.3f}: precision {best.precision:.3f}, recall {best.recall:.3f}, "
            f"F1 {best.f1:.3f}"
        )
    if found.transfer is not None:
        moved, own = found.transfer.moved, found.transfer.best
        console.print(
            f"on the other run it gives F1 {moved.f1:.3f}; the best one there ({own.at:.3f}) gives "
            f"{own.f1:.3f}, so it costs {own.f1 - moved.f1:.3f}"
        )
    if not found.helps:
        console.print("No calibrator is better than none on documents that it has not seen.")
    if out is not None:
        content = {"parser": parser, "run": run.name, **found.calibrator.to_json()}
        out.write_text(json.dumps(content, indent=1), encoding="utf-8")
        console.print(f"{found.chosen} calibrator of {parser} in {out}", soft_wrap=True)
    if found.added is not None:
        typer.echo(f"{found.added} is in {run}; see it with: parsemark report {run}")


def _risk(quality: Quality, digits: int) -> str:
    """The area, and the least that any order of these predictions could have."""
    curve = quality.risk
    return (
        UNDEFINED if curve is None else f"{rounded(curve.area, digits)} ({rounded(curve.best_area, digits)})"
    )


def confidence(
    run: RunFolder,
    *,
    parser: Annotated[
        list[str] | None,
        Option(help="Repeatable: a parser of the run.", show_default="all that give no confidence"),
    ] = None,
    model: Annotated[
        Path | None, Option(help="A model of another run; without it one is fitted on this run's truth.")
    ] = None,
    out: Annotated[Path | None, Option(help="File for the model, for other runs.")] = None,
    apply: Annotated[bool, Option(help="Add `estimated(parser=…)` to the run.")] = True,
) -> None:
    """Give parsers without a confidence one of ours, and say how good it is beside parsers with their own.

    It is made of what independent parsers see at the same place and of signals of the table itself. Fitted
    on this run, each document is judged by a model that has not seen it; the file holds the model of all.
    """
    console = plain_console()
    found, rows = api.estimate_confidence(run, parser, model=model, apply=apply)
    if out is not None and model is None:
        out.write_text(json.dumps(found.model.to_json(), indent=1), encoding="utf-8")
        console.print(f"model of {counted(found.model.n_tables, 'table')} in {out}", soft_wrap=True)
    for name in found.added:
        typer.echo(f"{name} is in {run}")
    console.print(_confidence_table(rows))
    console.print(
        "right: by place (IoU over .5), without boxes by content. AP counts all true tables. "
        f"{_RISK}. best at: the threshold with the highest F1 here. The confidences of estimated(…) and "
        "ensemble are ours, the others the parsers' own."
    )


def _confidence_table(rows: list[ConfidenceRow]) -> object:
    """D-ECE, AP, risk and best threshold of all that have a confidence."""
    listed = []
    for row in rows:
        best = row.threshold
        name = row.parser if len(row.parser) <= _NAME_WIDTH else row.parser.replace("(", "\n (", 1)
        at, f1 = (None, None) if best is None else (best.at, best.f1)
        risk = _risk(row.quality, 3)
        counts = (name, str(row.n_tables), str(row.n_right), rounded(row.quality.d_ece, 3))
        listed.append((*counts, rounded(row.ap, 3), risk, rounded(at, 3), rounded(f1, 3)))
    heads = ("parser", "tables", "right", "D-ECE", "AP", "risk", "best at", "F1")
    return plain_table(heads, listed, padding=(0, 1, 0, 0))


def ensemble(
    run: RunFolder,
    *,
    parser: Annotated[
        list[str] | None, Option(help="Repeatable: a parser of the run.", show_default="all")
    ] = None,
    min_confidence: Annotated[
        float, Option(min=0, max=1, help="Tables that are less probable are left out.")
    ] = 0.05,
) -> None:
    """Add `ensemble` to a run: tables that its parsers see together, voted cell by cell.

    It shows the head-room: what is right in the outputs together, but in no single one.
    """
    from parsemark.report.terminal import leaderboard

    console = plain_console()
    for summary in api.ensemble(run, parser, min_confidence=min_confidence):
        console.print(leaderboard(summary, console.width))
