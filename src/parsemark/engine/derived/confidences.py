"""Confidences of a scored run: how good they are, calibrated ones, and ours for parsers that give none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from parsemark.engine.derived.estimated import ConfidenceModel, fit_model, models_by_document
from parsemark.engine.derived.parsers import (
    JudgedTables,
    add_calibrated,
    add_estimated,
    add_made_of_others,
    judged_tables,
    read_signals,
)
from parsemark.errors import UsageError
from parsemark.specs import is_derived, parse_spec
from parsemark.stats.detection import average_precision
from parsemark.stats.parser_confidence import (
    METHODS,
    MIN_ISOTONIC,
    Calibrator,
    RiskCoverage,
    Threshold,
    at_threshold,
    best_threshold,
    calibrators_by_document,
    cross_calibrated,
    d_ece,
    fit_calibrator,
    risk_coverage,
)
from parsemark.store import Run


@dataclass(frozen=True, slots=True)
class Quality:
    """How well confidences tell right tables from wrong ones."""

    d_ece: float | None
    risk: RiskCoverage | None


@dataclass(frozen=True, slots=True)
class Transfer:
    """What the best threshold of one run gives in another."""

    moved: Threshold
    best: Threshold


@dataclass(frozen=True)
class Calibration:
    """What calibrating a parser's confidences changes on documents that the calibrator has not seen."""

    parser: str
    judged: JudgedTables
    before: Quality
    after: Mapping[str, Quality]  # by method
    chosen: str  # the method with the lowest D-ECE; isotonic only where there are predictions enough
    calibrator: Calibrator  # the chosen one, fitted on all documents
    threshold: Threshold | None
    transfer: Transfer | None = None
    added: str | None = None  # name of the calibrated parser, where it was added to the run


def calibrate(
    run: Run, parser: str, *, method: str = "best", other: Run | None = None, apply: bool = False
) -> Calibration:
    """Fit a calibrator of a parser's confidences, as `api.calibrate` says; what is added is not scored."""
    if method not in ("best", *METHODS):
        raise UsageError(f"Unknown calibration method {method!r}; choose one of: best, {', '.join(METHODS)}.")
    judged = judged_tables(run, parser)
    confidence, correct, documents = judged.confidence, judged.correct, judged.documents
    after = {
        name: _quality(cross_calibrated(confidence, correct, documents, name), correct)
        for name in (METHODS if method == "best" else (method,))
    }
    few = len(confidence) < MIN_ISOTONIC
    usable = {name: q for name, q in after.items() if not (few and name == "isotonic")} or after
    chosen = min(usable, key=lambda name: 1.0 if (v := usable[name].d_ece) is None else v)
    calibrator = fit_calibrator(confidence, correct, chosen)
    best = best_threshold(confidence, correct, judged.n_truth)
    added = None
    if apply:
        unseen = calibrators_by_document(confidence, correct, documents, chosen)
        added = add_calibrated(run, parser, calibrator, unseen)
    before = _quality(confidence, correct)
    transfer = None
    if best is not None and other is not None:
        there = judged_tables(other, parser)
        own = best_threshold(there.confidence, there.correct, there.n_truth)
        moved = at_threshold(there.confidence, there.correct, there.n_truth, best.at)
        transfer = None if own is None else Transfer(moved, own)
    return Calibration(parser, judged, before, after, chosen, calibrator, best, transfer, added)


def _quality(confidence: ArrayLike, correct: ArrayLike) -> Quality:
    return Quality(d_ece(confidence, correct), risk_coverage(confidence, correct))


@dataclass(frozen=True, slots=True)
class Estimated:
    """Confidences of ours for parsers that give none."""

    added: tuple[str, ...]  # names of the parsers that were added to the run
    model: ConfidenceModel  # the given one, or one that was fitted on all of the run


def estimate_confidence(
    run: Run,
    parsers: Sequence[str] | None = None,
    *,
    model: ConfidenceModel | None = None,
    apply: bool = True,
) -> Estimated:
    """Estimate confidences for parsers (by default all that report none), by the model of another run.

    Without a model one is fitted on the truth of this run, and each document is judged by one that has not
    seen it. With `apply`, `estimated(parser=…)` is added to the run for each parser. UsageError if every
    parser gives a confidence, or nothing is known to be right or wrong.
    """
    chosen = list(parsers or ())
    if not parsers:
        sure = set(run.table("matches").drop_nulls("confidence")["parser"].unique())
        chosen = [p.name for p in run.manifest.parsers if not is_derived(p.name) and p.name not in sure]
    if not chosen:
        raise UsageError("Every parser of this run reports confidences, so none needs an estimate.")
    found = read_signals(run, chosen)
    known = np.array([right is not None for right in found.correct], dtype=bool)
    if model is not None:
        values = model(found.features) if len(known) else np.zeros(0)
    else:
        if not known.any():
            raise UsageError(
                "This run has no scored table to fit to: score it, or give a run with truth (--fitted-on)."
            )
        correct = [bool(r) for r in found.correct if r is not None]
        documents = [d for d, k in zip(found.documents, known, strict=True) if k]
        models = models_by_document(found.features[known], correct, documents, run.path.name)
        model = fit_model(found.features[known], correct, run.path.name)
        pairs = zip(found.documents, found.features, strict=True)
        values = np.array([float(models.get(d, model)(f)[0]) for d, f in pairs])
    added = []
    for name in chosen if apply else ():
        keys = zip(found.parsers, found.samples, found.elements, values, strict=True)
        own = {(s, e): float(v) for p, s, e, v in keys if p == name}
        added.append(add_estimated(run, name, own, model.source))
    return Estimated(tuple(added), model)


@dataclass(frozen=True, slots=True)
class ConfidenceRow:
    """The confidences of one parser of a run."""

    parser: str
    n_tables: int
    n_right: int
    quality: Quality
    ap: float | None
    threshold: Threshold | None


def confidence_rows(run: Run) -> list[ConfidenceRow]:
    """Return all parsers of a scored run that have a confidence; right by place, without boxes by content."""
    rows = []
    for entry in run.manifest.parsers:
        try:
            judged = judged_tables(run, entry.name, "bbox")
            if not any(judged.correct):
                judged = judged_tables(run, entry.name, "ngrams", 0.0)
        except UsageError:
            continue
        confidence, correct, n_truth = judged.confidence, judged.correct, judged.n_truth
        rows.append(
            ConfidenceRow(
                *(entry.name, len(confidence), sum(correct), _quality(confidence, correct)),
                average_precision(confidence, correct, n_truth),
                best_threshold(confidence, correct, n_truth),
            )
        )
    return rows


def add_derived(run: Run, specs: Sequence[str], fitted_on: Run | None = None) -> list[str]:
    """Add parsers that are made of a run's own outputs, and return their names; they are not scored yet.

    Args:
        run: The run, scored by the protocol `tables`.
        specs: `ensemble`, `estimated(parser=…)` or `calibrated(parser=…)`.
        fitted_on: Run whose truth the confidences are fitted on; by default the run itself, where each
            document gets a fit that has not seen it.
    """
    added: list[str] = []
    for text in specs:
        spec = parse_spec(text)
        options = spec.as_dict()
        unknown = options.keys() - _OPTIONS.get(spec.name, options.keys())
        if spec.name not in _OPTIONS or unknown:
            listed = "; ".join(f"{name}: {', '.join(keys)}" for name, keys in _OPTIONS.items())
            raise UsageError(f"Cannot add {text!r} to a run. Names and options are {listed}.")
        parser = str(options["parser"]) if "parser" in options else None
        if spec.name == "ensemble":
            parsers = [entry.name for entry in run.manifest.parsers if not is_derived(entry.name)]
            added += add_made_of_others(run, [spec], parsers)
        elif spec.name == "estimated":
            chosen = None if parser is None else [parser]
            model = None if fitted_on is None else estimate_confidence(fitted_on, chosen, apply=False).model
            added += estimate_confidence(run, chosen, model=model).added
        elif parser is None:
            raise UsageError(f"{text!r} has no parser: write calibrated(parser=NAME).")
        else:
            method = str(options.get("method", "best"))
            found = calibrate(fitted_on or run, parser, method=method, apply=fitted_on is None)
            added.append(found.added or add_calibrated(run, parser, found.calibrator))
    return added


_OPTIONS = {
    "ensemble": ("parsers", "min_confidence"),
    "estimated": ("parser",),
    "calibrated": ("parser", "method"),
}
