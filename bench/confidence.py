"""Can confidences be trusted, the parsers' own and ours? On clean pages and on bad scans of the same pages.

The demo corpus is parsed as it is and as scans. D-ECE before and after calibration (split by document),
average precision and the area under risk over coverage, for parsers that give confidences, for the ensemble,
and for parsers to which parsemark gives one. Then what the threshold of one corpus costs on the other.
"""

import tempfile
from pathlib import Path

from parsemark import api
from parsemark.corpora.degrade import DegradeOptions
from parsemark.corpora.degrade_corpus import degrade_corpus
from parsemark.engine.derived import add_ensemble, add_estimated, judged_tables, read_signals
from parsemark.engine.estimated import models_by_document
from parsemark.stats.calibration import d_ece
from parsemark.stats.confidence import at_threshold, best_threshold, cross_calibrated, risk_coverage
from parsemark.stats.detection import average_precision
from parsemark.store import Run

PARSERS = ("rapid", "img2table", "pymupdf4llm")
"""Of those that see tables in pictures too."""
SILENT = ("img2table", "pymupdf4llm")
MOST_ERROR = 0.15
"""The D-ECE that a confidence of ours may have on clean pages."""


def parsed(corpus: str, folder: Path) -> Run:
    run = api.parse(corpus, list(PARSERS), api.parse_options(), out=folder)
    add_ensemble(run, list(PARSERS))
    api.score_run(run)
    found = read_signals(run, SILENT)
    known = [i for i, right in enumerate(found.correct) if right is not None]
    models = models_by_document(
        found.features[known], [bool(found.correct[i]) for i in known], [found.documents[i] for i in known]
    )
    values = [float(models[d](f)[0]) for d, f in zip(found.documents, found.features, strict=True)]
    for parser in SILENT:
        keys = zip(found.parsers, found.samples, found.elements, values, strict=True)
        add_estimated(run, parser, {(s, e): v for p, s, e, v in keys if p == parser}, "itself")
    api.score_run(run)
    return run


def main() -> bool:
    met = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        degrade_corpus("demo", root / "scans", DegradeOptions())
        runs = {"clean": parsed("demo", root / "a"), "scans": parsed(str(root / "scans"), root / "b")}
        names = ["rapid", *(p.name for p in runs["clean"].manifest.parsers if p.name not in PARSERS)]
        heads = ("D-ECE", "beta", "AP", "AURC", "best")
        print(f"{'pages':>6} {'n':>4} {'right':>5} {' '.join(f'{h:>6}' for h in heads)} parser")
        for pages, run in runs.items():
            for name in names:
                found = judged_tables(run, name)
                error = d_ece(found.confidence, found.correct) or 0.0
                after = d_ece(
                    cross_calibrated(found.confidence, found.correct, found.documents, "beta"), found.correct
                )
                curve = risk_coverage(found.confidence, found.correct)
                assert curve is not None
                precision = average_precision(found.confidence, found.correct, found.n_truth)
                print(
                    f"{pages:>6} {len(found.confidence):4} {sum(found.correct):5} {error:6.3f} "
                    f"{after or 0:6.3f} {precision:6.3f} {curve.area:6.3f} {curve.best_area:6.3f} {name}"
                )
                met &= pages != "clean" or not name.startswith("estimated(") or error <= MOST_ERROR
        for here, there in (("clean", "scans"), ("scans", "clean")):
            for name in names:
                own, other = judged_tables(runs[here], name), judged_tables(runs[there], name)
                best = best_threshold(own.confidence, own.correct, own.n_truth)
                possible = best_threshold(other.confidence, other.correct, other.n_truth)
                assert best is not None and possible is not None
                moved = at_threshold(other.confidence, other.correct, other.n_truth, best.at)
                print(
                    f"threshold {best.at:.3f} of {here} on {there}: F1 {moved.f1:.3f}, "
                    f"possible {possible.f1:.3f}, costs {possible.f1 - moved.f1:.3f}  {name}"
                )
    return met
