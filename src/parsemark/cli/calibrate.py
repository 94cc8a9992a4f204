"""`parsemark calibrate`, `confidence` and `ensemble`: parsers made of the stored outputs of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsemark.plain_words import UNDEFINED, counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.engine.derived import JudgedTables
    from parsemark.stats.confidence import Calibrator, RiskCoverage
    from parsemark.store import Run

_NAME_WIDTH = 27
"""Longer names take two lines: the table is to fit into 80 columns."""

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
    apply: Annotated[
        bool,
        typer.Option(
            help="Also add the calibrated parser to the run, each document by one fitted on others."
        ),
    ] = False,
) -> None:
    """Fit a calibrator of a parser's confidences, and say what it changes on documents it has not seen.

    Apply it to another run with `parsemark score RUN --calibrator FILE`: the run then has a parser
    `calibrated(…)` beside the original one.
    """
    from rich.console import Console
    from rich.table import Table as View

    from parsemark.engine.derived import judged_tables
    from parsemark.errors import UsageError
    from parsemark.stats.calibration import d_ece
    from parsemark.stats.confidence import (
        METHODS,
        MIN_ISOTONIC,
        best_threshold,
        calibrators_by_document,
        cross_calibrated,
        fit_calibrator,
        risk_coverage,
    )
    from parsemark.store import Run

    if method not in ("best", *METHODS):
        raise UsageError(f"There is no way {method!r} to calibrate; there are: best, {', '.join(METHODS)}.")
    console = Console()
    opened = Run.open(run)
    judged = judged_tables(opened, parser)
    tried = {
        name: cross_calibrated(judged.confidence, judged.correct, judged.documents, name)
        for name in (METHODS if method == "best" else (method,))
    }
    before = d_ece(judged.confidence, judged.correct)
    documents = len(set(judged.documents))
    console.print(
        f"{parser}: {len(judged.confidence)} predicted tables of {documents} documents, "
        f"{sum(judged.correct)} right (IoU over .5), {judged.n_truth} true ones",
        highlight=False,
        markup=False,
    )
    view = View("calibrator", "D-ECE", "risk", box=None)
    view.add_row("none", rounded(before, 4), _risk(risk_coverage(judged.confidence, judged.correct), 4))
    values: dict[str, float] = {}
    for name, changed in tried.items():
        after = d_ece(changed, judged.correct)
        values[name] = 1.0 if after is None else after
        view.add_row(name, rounded(after, 4), _risk(risk_coverage(changed, judged.correct), 4))
    console.print(view)
    console.print(_RISK, highlight=False, markup=False)
    best = best_threshold(judged.confidence, judged.correct, judged.n_truth)
    if best is not None:
        console.print(
            f"best threshold {best.at:.3f}: precision {best.precision:.3f}, recall {best.recall:.3f}, "
            f"F1 {best.f1:.3f}",
            highlight=False,
        )
        if other is not None:
            _say_cost(console.print, best.at, judged_tables(Run.open(other), parser))
    few = len(judged.confidence) < MIN_ISOTONIC
    usable = {name: v for name, v in values.items() if not (few and name == "isotonic")} or values
    chosen = min(usable, key=lambda name: usable[name])
    if before is not None and usable[chosen] >= before:
        console.print("No calibrator is better than none on documents that it has not seen.", highlight=False)
    calibrator = fit_calibrator(judged.confidence, judged.correct, chosen)
    if out is not None:
        content = {"parser": parser, "run": run.name, **calibrator.to_json()}
        out.write_text(json.dumps(content, indent=1), encoding="utf-8")
        console.print(f"{chosen} calibrator of {parser} in {out}", highlight=False, soft_wrap=True)
    if apply:
        unseen = calibrators_by_document(judged.confidence, judged.correct, judged.documents, chosen)
        _apply(opened, parser, calibrator, unseen)


def _say_cost(say: object, at: float, there: JudgedTables) -> None:
    from parsemark.stats.confidence import at_threshold, best_threshold

    moved = at_threshold(there.confidence, there.correct, there.n_truth, at)
    own = best_threshold(there.confidence, there.correct, there.n_truth)
    if own is not None and callable(say):
        say(
            f"on the other run it gives F1 {moved.f1:.3f}; the best one there ({own.at:.3f}) gives "
            f"{own.f1:.3f}, so it costs {own.f1 - moved.f1:.3f}",
            highlight=False,
        )


_RISK = "risk: area under risk over coverage, in brackets that of the best possible order"


def _risk(curve: RiskCoverage | None, digits: int) -> str:
    """The area, and the least that any order of these predictions could have."""
    if curve is None:
        return UNDEFINED
    return f"{rounded(curve.area, digits)} ({rounded(curve.best_area, digits)})"


def apply_calibrator(run: Run, file: Path) -> str:
    """Add the calibrated parser that a file of `parsemark calibrate` names; returns its name."""
    from parsemark.errors import FormatError
    from parsemark.stats.confidence import Calibrator

    try:
        data = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise FormatError(f"the calibrator cannot be read: {error}", where=str(file)) from error
    if not isinstance(data, dict) or not isinstance(data.get("parser"), str):
        raise FormatError("this is no calibrator: it names no parser", where=str(file))
    return _apply(run, data["parser"], Calibrator.from_json(data), {})


def _apply(run: Run, parser: str, calibrator: Calibrator, unseen: Mapping[str, Calibrator]) -> str:
    from parsemark.engine.derived import add_calibrated
    from parsemark.engine.scoring import score_run

    name = add_calibrated(run, parser, calibrator, unseen)
    score_run(run)
    typer.echo(f"{name} is in {run.path}; see it with: parsemark report {run.path}")
    return name


def confidence(
    run: RunFolder,
    *,
    parser: Annotated[
        list[str] | None,
        typer.Option(help="Repeatable: a parser of the run.", show_default="all that give no confidence"),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="A model of another run; without it one is fitted on this run's truth."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the model, for other runs.")] = None,
    apply: Annotated[bool, typer.Option(help="Add `estimated(parser=…)` to the run.")] = True,
) -> None:
    """Give parsers without a confidence one of ours, and say how good it is beside parsers with their own.

    It is made of what independent parsers see at the same place and of signals of the table itself. Fitted
    on this run, each document is judged by a model that has not seen it; the file holds the model of all.
    """
    import numpy as np
    from rich.console import Console

    from parsemark.engine.derived import add_estimated, read_signals
    from parsemark.engine.estimated import ConfidenceModel, fit_model, models_by_document
    from parsemark.engine.scoring import score_run
    from parsemark.errors import UsageError
    from parsemark.store import Run

    console = Console()
    opened = Run.open(run)
    chosen = parser or _without_confidence(opened)
    found = read_signals(opened, chosen)
    known = np.array([right is not None for right in found.correct])
    if model is not None:
        given = ConfidenceModel.read(model)
        source, values = given.source, given(found.features)
    else:
        if not known.any():
            raise UsageError("No table of this run is known to be right or wrong: score it, or give --model.")
        correct = [bool(r) for r in found.correct if r is not None]
        documents = [d for d, k in zip(found.documents, known, strict=True) if k]
        models = models_by_document(found.features[known], correct, documents, run.name)
        whole = fit_model(found.features[known], correct, run.name)
        source = run.name
        pairs = zip(found.documents, found.features, strict=True)
        values = np.array([float(models.get(d, whole)(f)[0]) for d, f in pairs])
        if out is not None:
            out.write_text(json.dumps(whole.to_json(), indent=1), encoding="utf-8")
            console.print(
                f"model of {counted(whole.n_tables, 'table')} in {out}", highlight=False, soft_wrap=True
            )
    if apply:
        for name in chosen:
            keys = zip(found.parsers, found.samples, found.elements, values, strict=True)
            own = {(s, e): float(v) for p, s, e, v in keys if p == name}
            typer.echo(f"{add_estimated(opened, name, own, source)} is in {run}")
        score_run(opened)
    _show_confidences(console, Run.open(run))


def _without_confidence(run: Run) -> list[str]:
    """The parsers of a run that give none, in its order."""
    from parsemark.errors import UsageError
    from parsemark.registry import is_derived

    sure = set(run.table("matches").drop_nulls("confidence")["parser"].unique())
    names = [p.name for p in run.manifest.parsers if not is_derived(p.name) and p.name not in sure]
    if not names:
        raise UsageError("Every parser of this run gives a confidence of its own; name some with --parser.")
    return names


def _show_confidences(console: Console, run: Run) -> None:
    """D-ECE, AP, risk and best threshold of all that have a confidence."""
    from rich.table import Table as View
    from rich.text import Text

    from parsemark.engine.derived import judged_tables
    from parsemark.errors import UsageError
    from parsemark.stats.calibration import d_ece
    from parsemark.stats.confidence import best_threshold, risk_coverage
    from parsemark.stats.detection import average_precision

    view = View(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    view.add_column("parser", overflow="fold")
    for head in ("tables", "right", "D-ECE", "AP", "risk", "best at", "F1"):
        view.add_column(head, justify="right", no_wrap=True)
    for entry in run.manifest.parsers:
        rule = "bbox"
        try:
            judged = judged_tables(run, entry.name, rule)
            if not any(judged.correct):
                rule = "ngrams"
                judged = judged_tables(run, entry.name, rule, 0.0)
        except UsageError:
            continue
        best = best_threshold(judged.confidence, judged.correct, judged.n_truth)
        view.add_row(
            Text(entry.name if len(entry.name) <= _NAME_WIDTH else entry.name.replace("(", "\n (", 1)),
            str(len(judged.confidence)),
            str(sum(judged.correct)),
            rounded(d_ece(judged.confidence, judged.correct), 3),
            rounded(average_precision(judged.confidence, judged.correct, judged.n_truth), 3),
            _risk(risk_coverage(judged.confidence, judged.correct), 3),
            rounded(None if best is None else best.at, 3),
            rounded(None if best is None else best.f1, 3),
        )
    console.print(view)
    console.print(
        "right: by place (IoU over .5), without boxes by content. AP counts all true tables. "
        f"{_RISK}. best at: the threshold with the highest F1 here. The confidences of estimated(…) and "
        "ensemble are ours, the others the parsers' own.",
        highlight=False,
        markup=False,
    )


def ensemble(
    run: RunFolder,
    *,
    parser: Annotated[
        list[str] | None, typer.Option(help="Repeatable: a parser of the run.", show_default="all")
    ] = None,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Tables that are less probable are left out.")
    ] = 0.05,
) -> None:
    """Add `ensemble` to a run: tables that its parsers see together, voted cell by cell.

    It shows the head-room: what is right in the outputs together, but in no single one.
    """
    from rich.console import Console

    from parsemark.engine.derived import add_ensemble
    from parsemark.engine.scoring import score_run
    from parsemark.registry import is_derived
    from parsemark.report.terminal import leaderboard
    from parsemark.store import Run

    opened = Run.open(run)
    chosen = parser or [p.name for p in opened.manifest.parsers if not is_derived(p.name)]
    add_ensemble(opened, chosen, min_confidence)
    console = Console()
    for summary in score_run(opened):
        console.print(leaderboard(summary, console.width))


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(calibrate)
    app.command()(confidence)
    app.command()(ensemble)
