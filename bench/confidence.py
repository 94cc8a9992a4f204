"""Can confidences be trusted, the parsers' own and ours? On clean pages, on scans of them, on real documents.

    python -m bench confidence                        60 synthetic pages, as they are and as scans
    PARSEMARK_DATA=… python -m bench confidence       and the 111 pages of ICDAR-2013's EU documents

D-ECE before and after calibration (beta, split by document), average precision, the area under risk over
coverage and the best threshold: for parsers that give confidences, for the ensemble, and for parsers to
which parsemark gives one. Then points of the curves of precision over recall and of risk over coverage, and
what the best threshold of each corpus costs on the others. Parses are kept in `~/.cache/parsemark/bench`,
with reports that have the whole curves.
"""

import os
import resource
import shutil
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import parsemark as pm
from bench.choose import made
from parsemark import api
from parsemark.engine.derived.estimated import models_by_document
from parsemark.engine.derived.parsers import (
    JudgedTables,
    add_calibrated,
    add_ensemble,
    add_estimated,
    judged_tables,
    read_signals,
)
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UsageError
from parsemark.stats.detection import precision_recall_curve
from parsemark.stats.parser_confidence import (
    at_threshold,
    best_threshold,
    calibrators_by_document,
    cross_calibrated,
    d_ece,
    fit_calibrator,
    risk_coverage,
)
from parsemark.store import Run
from parsemark.system.files import cache_folder

SCANNED = ("rapid", "img2table", "pymupdf4llm")
"""Parsers that see tables in pictures too."""
CONFIDENT = "rapid"
SILENT = ("img2table", "pymupdf4llm")
"""Those of them that give no confidence."""
MOST_ERROR = 0.15
"""The D-ECE that a confidence of ours may have on clean pages."""
RECALLS = (0.5, 0.7, 0.8, 0.9, 0.95)
COVERAGES = (0.25, 0.5, 0.75, 1.0)


def main() -> bool:
    met = True
    judged: dict[str, dict[str, JudgedTables]] = {}
    heads = ("D-ECE", "beta", "AP", "AURC", "best", "at", "F1")
    print(f"{'pages':>10} {'n':>4} {'right':>5} {' '.join(f'{h:>6}' for h in heads)} parser")
    for pages, path in runs():
        run = with_confidences(path)
        print(f"{pages:>10} report in {api.build_report(run)}")
        found = judged[pages] = confident(pages, run)
        for name, tables in found.items():
            met &= line(pages, name, tables) <= MOST_ERROR or pages != "clean" or not is_ours(name)
    for pages, found in judged.items():
        for name, tables in found.items():
            curves(pages, name, tables)
    for here, there in permutations(judged, 2):
        for name in sorted(judged[here].keys() & judged[there].keys()):
            moved(here, there, name, judged[here][name], judged[there][name])
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{sum(u.ru_utime + u.ru_stime for u in used):.0f} s of CPU")
    return met


def runs() -> Iterator[tuple[str, Path]]:
    """Yield the parsed and scored corpora, made when they are not there."""
    home = cache_folder("bench")
    yield "clean", made("demo", home / "choose-demo")
    scans = home / "demo-scans"
    if not (scans / "corpus.json").exists():
        shutil.rmtree(scans, ignore_errors=True)  # half made when something stopped us
        pm.corpus_make("degraded", scans, corpus="demo")
    yield "scans", made(str(scans), home / "confidence-scans-parses", SCANNED)
    if (data := os.environ.get("PARSEMARK_DATA")) is None:
        print("PARSEMARK_DATA is not set: ICDAR-2013 is left out.")
    else:
        yield "icdar2013", made(f"icdar2013:{data}/icdar2013", home / "choose-icdar2013")


def with_confidences(parsed: Path) -> Run:
    """Return a copy of the run with the ensemble of its parsers, confidences of ours for the silent ones, and
    calibrated ones for the one that has its own, by calibrators that have not seen the document.
    """
    copy = parsed.with_name(f"confidence-{parsed.name}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(parsed, copy)
    run = Run.open(copy)
    found = read_signals(run, SILENT)
    known = [i for i, right in enumerate(found.correct) if right is not None]
    models = models_by_document(
        found.features[known], [bool(found.correct[i]) for i in known], [found.documents[i] for i in known]
    )
    values = [float(models[d](f)[0]) for d, f in zip(found.documents, found.features, strict=True)]
    add_ensemble(run, [p.name for p in run.manifest.parsers])
    for parser in SILENT:
        keys = zip(found.parsers, found.samples, found.elements, values, strict=True)
        add_estimated(run, parser, {(s, e): v for p, s, e, v in keys if p == parser}, "itself")
    own = judged_tables(run, CONFIDENT)
    whole = fit_calibrator(own.confidence, own.correct, "beta")
    unseen = calibrators_by_document(own.confidence, own.correct, own.documents, "beta")
    add_calibrated(run, CONFIDENT, whole, unseen)
    score_run(run)
    return Run.open(copy)


def confident(pages: str, run: Run) -> dict[str, JudgedTables]:
    """Return the tables of all parsers that have a confidence, their own or ours."""
    found = {}
    for name in [p.name for p in run.manifest.parsers if p.name == CONFIDENT or is_ours(p.name)]:
        try:
            found[name] = judged_tables(run, name)
        except UsageError:
            print(f"{pages:>10}    0     -      -      -      -      -      - {name}: no table")
    return found


def is_ours(name: str) -> bool:
    return name.partition("(")[0] in ("ensemble", "estimated")


def line(pages: str, name: str, tables: JudgedTables) -> float:
    """Print the figures of one parser on one corpus; returns its D-ECE."""
    error = d_ece(tables.confidence, tables.correct) or 0.0
    calibrated = cross_calibrated(tables.confidence, tables.correct, tables.documents, "beta")
    after = d_ece(calibrated, tables.correct) or 0.0
    curve = risk_coverage(tables.confidence, tables.correct)
    best = best_threshold(tables.confidence, tables.correct, tables.n_truth)
    assert curve is not None and best is not None
    precision = precision_recall_curve(tables.confidence, tables.correct, tables.n_truth).average_precision
    print(
        f"{pages:>10} {len(tables.confidence):4} {sum(tables.correct):5} {error:6.3f} {after:6.3f} "
        f"{precision:6.3f} {curve.area:6.3f} {curve.best_area:6.3f} {best.at:6.3f} {best.f1:6.3f} {name}"
    )
    return error


def curves(pages: str, name: str, tables: JudgedTables) -> None:
    """Print points of two curves: the best precision that has a recall, and the risk of a coverage."""
    curve = precision_recall_curve(tables.confidence, tables.correct, tables.n_truth)
    precisions = [
        max((p for p, r in zip(curve.precision, curve.recall, strict=True) if r >= least), default=None)
        for least in RECALLS
    ]
    risks = risk_coverage(tables.confidence, tables.correct)
    assert risks is not None
    taken = [
        next(r for c, r in zip(risks.coverage, risks.risk, strict=True) if c >= share - 1e-9)
        for share in COVERAGES
    ]
    print(
        f"{pages:>10} precision at recall {points(RECALLS, precisions)}; "
        f"risk at coverage {points(COVERAGES, taken)}  {name}"
    )


def points(at: Sequence[float], values: Sequence[float | None]) -> str:
    return ", ".join(f"{a:.0%} {'-' if v is None else f'{v:.3f}'}" for a, v in zip(at, values, strict=True))


def moved(here: str, there: str, name: str, own: JudgedTables, other: JudgedTables) -> None:
    """Print what the best threshold of one corpus costs on another."""
    best = best_threshold(own.confidence, own.correct, own.n_truth)
    possible = best_threshold(other.confidence, other.correct, other.n_truth)
    assert best is not None and possible is not None
    found = at_threshold(other.confidence, other.correct, other.n_truth, best.at)
    print(
        f"threshold {best.at:.3f} of {here} on {there}: F1 {found.f1:.3f}, "
        f"possible {possible.f1:.3f}, costs {possible.f1 - found.f1:.3f}  {name}"
    )
