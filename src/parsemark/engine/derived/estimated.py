"""A confidence for parsers that give none: ours, from what other parsers see and from the table itself.

For each predicted table: how many of the other engines see a table there and how alike theirs are, how much
text of the page in its box the table lacks, how much it has that the page has not, and how regular its grid
is. A logistic regression on tables whose truth is known makes a probability of these. It knows nothing of
which parser it judges, so a model of one run serves parsers and pages that it has not seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsemark.consensus.table_votes import Engines, same_table
from parsemark.errors import FormatError, UsageError
from parsemark.extras import needed_for
from parsemark.formats.notation import compact
from parsemark.kernels.ngrams import multiset_f1
from parsemark.model import Element, Prediction
from parsemark.pdf import page_glyphs
from parsemark.stats.parser_confidence import MIN_PREDICTIONS, document_folds
from parsemark.structure import Word, join_glyphs

Floats = NDArray[np.float64]

FEATURES = (
    "seen",  # share of the other engines that see a table there
    "overlap",  # how well their tables overlap it, on average over all of them
    "same_cells",  # how many cells theirs share with it, on average over all of them
    "lacking",  # share of the text in its box that it has not
    "invented",  # share of its own text that the page has not in its box
    "no_text",  # whether the page has no text there to compare with
    "empty",  # share of empty cells
    "ragged",  # share of rows that have another number of filled cells than most
    "one_line",  # whether it has a single row or column
    "size",  # logarithm of its number of cells
    "in_another",  # share of it that lies in another table of the same parser
)


# --- Signals --------------------------------------------------------------------------------------------


def signals(
    parser: str, predictions: Mapping[str, Prediction], engines: Engines, page: tuple[Path, int] | None
) -> list[tuple[Element, Floats]]:
    """Return the features of each table that a parser sees on a page, given what all see there
    (`predictions`) and what they stand on (`engines`). `page`: its PDF and number, for the text in the
    tables' boxes; None if there is no PDF.
    """
    own = [e for e in predictions[parser].tables if e.table is not None]
    if not own:
        return []
    others: dict[str, list[Element]] = {}
    for name, prediction in predictions.items():
        if (engine := engines.get(name, name)) != engines.get(parser, parser):
            others.setdefault(engine, []).extend(e for e in prediction.tables if e.table is not None)
    words = _page_words(*page) if page is not None else ()
    return [(e, np.array([*_agreement(e, others), *_content(e, words), *_shape(e, own)])) for e in own]


def _agreement(element: Element, engines: Mapping[str, Sequence[Element]]) -> tuple[float, float, float]:
    if not engines:
        return 0.0, 0.0, 0.0
    seen, overlaps, alike = 0, 0.0, 0.0
    for others in engines.values():
        best = max(others, key=lambda other: _overlap(element, other), default=None)
        if best is None:
            continue
        overlaps += _overlap(element, best)
        if same_table(element, best) > 0 and element.table is not None and best.table is not None:
            seen += 1
            pair = (element.table, best.table)
            alike += multiset_f1(*(Counter(filter(None, (compact(c.text) for c in t.cells))) for t in pair))
    n = len(engines)
    return seen / n, overlaps / n, alike / n


def _overlap(a: Element, b: Element) -> float:
    return a.box.iou(b.box) if a.box is not None and b.box is not None else same_table(a, b)


def _content(element: Element, words: Sequence[Word]) -> tuple[float, float, float]:
    cells = element.table.cells if element.table is not None else ()
    box = element.box
    inside = words if box is None else [w for w in words if w.box.share_inside(box) >= 0.5]
    there, has = (
        Counter(compact("".join(w.text for w in inside))),
        Counter(compact("".join(c.text for c in cells))),
    )
    if not there or not has:
        return 0.0, 0.0, 1.0
    shared = (there & has).total()
    # Without a box the whole page is there: how much of it the table lacks says nothing.
    lacking = 0.0 if element.box is None else 1 - shared / there.total()
    return lacking, 1 - shared / has.total(), 0.0


def _shape(element: Element, own: Sequence[Element]) -> tuple[float, ...]:
    table = element.table
    assert table is not None
    n_cells = max(1, len(table.cells))
    filled = Counter(cell.row for cell in table.cells if cell.text.strip())
    counts = [filled[row] for row in range(table.n_rows)]
    usual = Counter(counts).most_common(1)[0][0] if counts else 0
    others = [e.box for e in own if e is not element and e.box is not None]
    covered = max((element.box.share_inside(box) for box in others), default=0.0) if element.box else 0.0
    return (
        sum(not cell.text.strip() for cell in table.cells) / n_cells,
        sum(count != usual for count in counts) / max(1, len(counts)),
        float(min(table.n_rows, table.n_cols) <= 1),
        float(np.log1p(len(table.cells))),
        covered,
    )


@lru_cache(maxsize=256)
def _page_words(pdf: Path, number: int) -> tuple[Word, ...]:
    return tuple(join_glyphs(page_glyphs(pdf, number)))


# --- The model ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """Probability that a table is right, from its signals."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    offset: float
    n_tables: int
    source: str = ""  # the run that it was fitted on

    def __call__(self, features: Floats) -> Floats:
        """Return one probability for each row of features."""
        rows = (np.atleast_2d(features) - self.mean) / self.scale
        return np.asarray(1 / (1 + np.exp(-(rows @ np.asarray(self.weights) + self.offset))))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        by_name = zip(FEATURES, self.mean, self.scale, self.weights, strict=True)
        features = {n: {"mean": m, "scale": s, "weight": w} for n, m, s, w in by_name}
        facts = {"source": self.source, "n_tables": self.n_tables, "offset": self.offset}
        return {"confidence_model": 1, **facts, "features": features}

    @classmethod
    def read(cls, path: Path) -> ConfidenceModel:
        """Undo `to_json`, from a file; raise FormatError if it is invalid."""
        try:
            data = json.loads(path.read_bytes())
            rows = [[float(data["features"][n][k]) for n in FEATURES] for k in ("mean", "scale", "weight")]
            numbers = np.array([*rows[0], *rows[1], *rows[2], float(data["offset"])])
            if data["confidence_model"] != 1 or not np.isfinite(numbers).all() or min(rows[1]) <= 0:
                raise ValueError("its numbers are not usable")
            mean, scale, weights = map(tuple, rows)
            source = str(data.get("source", ""))
            return cls(mean, scale, weights, float(data["offset"]), int(data["n_tables"]), source)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"this is not a confidence model: {error}", where=str(path)) from error


def fit_model(features: Floats, correct: Iterable[bool], source: str = "") -> ConfidenceModel:
    """Fit a model on tables whose truth is known; UsageError if too few, or all right, or all wrong."""
    hit = np.asarray(list(correct), dtype=bool)
    if hit.size < MIN_PREDICTIONS or hit.all() or not hit.any():
        raise UsageError(
            f"A confidence model needs at least {MIN_PREDICTIONS} tables, both right and wrong ones; "
            f"here {int(hit.sum())} of {hit.size} are right."
        )
    with needed_for("Estimating confidences"):
        from sklearn.linear_model import LogisticRegression
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    fitted = LogisticRegression(C=1.0, max_iter=5_000).fit((features - mean) / scale, hit)
    means, scales, weights = (tuple(values.tolist()) for values in (mean, scale, fitted.coef_[0]))
    return ConfidenceModel(means, scales, weights, float(fitted.intercept_[0]), int(hit.size), source)


def models_by_document(
    features: Floats, correct: Sequence[bool], documents: Sequence[str], source: str = ""
) -> dict[str, ConfidenceModel]:
    """Return for each document a model fitted without it; raise UsageError for too few documents or
    tables.
    """
    folds = document_folds(documents)
    hit = np.asarray(correct, dtype=bool)
    of_table = np.array([folds[d] for d in documents])
    left = [hit[of_table != fold] for fold in set(folds.values())]
    if any(len(rest) < MIN_PREDICTIONS or rest.all() or not rest.any() for rest in left):
        least = min(left, key=len)
        raise UsageError(
            "The confidences of a document come from a model fitted on the others. It needs "
            f"{MIN_PREDICTIONS} tables, both right and wrong ones. Here {int(hit.sum())} of {hit.size} "
            f"tables are right; without one part of the documents, {int(least.sum())} of {least.size}. Parse "
            "more documents, add parsers, or fit on another run (--fitted-on)."
        )
    models = {f: fit_model(features[of_table != f], hit[of_table != f], source) for f in set(folds.values())}
    return {document: models[fold] for document, fold in folds.items()}
