"""`parsemark calibrate` and `parsemark ensemble`: parsers made of the stored outputs of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from parsemark.engine.derived import Judged
    from parsemark.store import Run

RunFolder = Annotated[Path, typer.Argument(help="Run directory, scored by the protocol `tables`.")]


def calibrate(
    run: RunFolder,
    *,
    parser: Annotated[str, typer.Option(help="A parser of the run that gives confidences.")],
    out: Annotated[Path | None, typer.Option(help="File for the calibrator.")] = None,
    method: Annotated[
        str, typer.Option(help="temperature, platt, beta, isotonic, or `best` by D-ECE on unseen documents.")
    ] = "best",
    other: Annotated[
        Path | None, typer.Option(help="Another run: what this run's best threshold costs there.")
    ] = None,
    apply: Annotated[bool, typer.Option(help="Also add the calibrated parser to the run.")] = False,
) -> None:
    """Fit a calibrator of a parser's confidences, and say what it changes on documents it has not seen.

    Apply it to another run with `parsemark score RUN --calibrator FILE`: the run then has a parser
    `calibrated(…)` beside the original one.
    """
    from rich.console import Console
    from rich.table import Table as View

    from parsemark.engine.derived import judged_tables
    from parsemark.stats.calibration import d_ece
    from parsemark.stats.confidence import (
        METHODS,
        best_threshold,
        cross_calibrated,
        fit_calibrator,
        risk_coverage,
    )
    from parsemark.store import Run

    console = Console()
    opened = Run.open(run)
    judged = judged_tables(opened, parser)
    before = d_ece(judged.confidence, judged.correct)
    curve = risk_coverage(judged.confidence, judged.correct)
    documents = len(set(judged.documents))
    console.print(
        f"{parser}: {len(judged.confidence)} predicted tables of {documents} documents, "
        f"{sum(judged.correct)} right (IoU of at least .5), {judged.n_truth} true ones",
        highlight=False,
        soft_wrap=True,
    )
    view = View("calibrator", "D-ECE", "excess risk", box=None)
    view.add_row("none", _number(before), _number(None if curve is None else curve.excess))
    values: dict[str, float] = {}
    for name in METHODS if method == "best" else (method,):
        changed = cross_calibrated(judged.confidence, judged.correct, judged.documents, name)
        after, new = d_ece(changed, judged.correct), risk_coverage(changed, judged.correct)
        values[name] = 1.0 if after is None else after
        view.add_row(name, _number(after), _number(None if new is None else new.excess))
    console.print(view)
    best = best_threshold(judged.confidence, judged.correct, judged.n_truth)
    if best is not None:
        console.print(
            f"best threshold {best.at:.3f}: precision {best.precision:.3f}, recall {best.recall:.3f}, "
            f"F1 {best.f1:.3f}",
            highlight=False,
        )
        if other is not None:
            _say_cost(console.print, best.at, judged_tables(Run.open(other), parser))
    chosen = min(values, key=lambda name: values[name])
    calibrator = fit_calibrator(judged.confidence, judged.correct, chosen)
    if out is not None:
        content = {"parser": parser, "run": run.name, **calibrator.to_json()}
        out.write_text(json.dumps(content, indent=1), encoding="utf-8")
        console.print(f"{chosen} calibrator of {parser} in {out}", highlight=False, soft_wrap=True)
    if apply:
        _apply(opened, {"parser": parser, **calibrator.to_json()})


def _say_cost(say: object, at: float, there: Judged) -> None:
    from parsemark.stats.confidence import at_threshold, best_threshold

    moved = at_threshold(there.confidence, there.correct, there.n_truth, at)
    own = best_threshold(there.confidence, there.correct, there.n_truth)
    if own is not None and callable(say):
        say(
            f"on the other run it gives F1 {moved.f1:.3f}; the best one there ({own.at:.3f}) gives "
            f"{own.f1:.3f}, so it costs {own.f1 - moved.f1:.3f}",
            highlight=False,
            soft_wrap=True,
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def apply_calibrator(run: Run, file: Path) -> str:
    """Add the calibrated parser that a file of `parsemark calibrate` names; returns its name."""
    from parsemark.errors import FormatError

    try:
        data = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise FormatError(f"the calibrator cannot be read: {error}", where=str(file)) from error
    if not isinstance(data, dict) or not isinstance(data.get("parser"), str):
        raise FormatError("this is no calibrator: it names no parser", where=str(file))
    return _apply(run, data)


def _apply(run: Run, data: dict[str, object]) -> str:
    from parsemark.engine.derived import add_calibrated
    from parsemark.engine.scoring import score_run
    from parsemark.stats.confidence import Calibrator

    name = add_calibrated(run, str(data["parser"]), Calibrator.from_json(data))
    score_run(run)
    typer.echo(f"{name} is in {run.path}; see it with: parsemark report {run.path}")
    return name


def ensemble(
    run: RunFolder,
    *,
    parser: Annotated[
        list[str] | None, typer.Option(help="Repeatable: a parser of the run.", show_default="all")
    ] = None,
    min_share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of parsers that must see a table.")
    ] = 0.5,
) -> None:
    """Add `ensemble(parsers=…)` to a run: tables that enough parsers see, voted cell by cell.

    It shows the head-room: what is right in the outputs together, but in no single one.
    """
    from rich.console import Console

    from parsemark.engine.derived import add_ensemble
    from parsemark.engine.scoring import score_run
    from parsemark.report.terminal import leaderboard
    from parsemark.store import Run

    opened = Run.open(run)
    made = ("ensemble(", "calibrated(")
    chosen = parser or [p.name for p in opened.manifest.parsers if not p.name.startswith(made)]
    add_ensemble(opened, chosen, min_share)
    console = Console()
    for summary in score_run(opened):
        console.print(leaderboard(summary, console.width))


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(calibrate)
    app.command()(ensemble)
