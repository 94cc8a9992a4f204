"""The figures of the tables protocol: what they are made of, page by page, and those of ranked lists."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsemark.matching.tables import CONFIDENCE_THRESHOLD, THETA
from parsemark.protocols.run_scores.aggregate import from_sums, make_figure, mean_statistic
from parsemark.protocols.run_scores.sums import (
    FigureSums,
    Floats,
    Statistic,
    SumsOnDemand,
    document_types,
)
from parsemark.protocols.tables.figure_definitions import SENSITIVITY, short_name
from parsemark.protocols.tables.matched_tables import MatchedTables, TruthPages
from parsemark.stats.detection import (
    CTDAR_THRESHOLDS,
    average_precision,
    expected_detected,
    f1,
    is_detected,
    precision_recall_curve,
    ratio,
)
from parsemark.stats.intervals import group_documents, interval_from, sum_by_cluster
from parsemark.stats.parser_confidence import (
    MIN_CONFIDENCE,
    d_ece,
    d_ece_by_chance,
    reliability_bins,
    risk_coverage,
)
from parsemark.store.summary import Figure, FigureInfo, Slice

PageSums = Callable[[MatchedTables], Floats]
RankedStatistic = Callable[[NDArray[np.bool_], float], float | None]
"""Of the predictions that are used, and the number of truths."""


def f1_statistic(totals: Floats, empty: float = np.nan) -> Floats:
    """Return F1 from (n_truth, n_pred, credit); `empty` if nothing is there and nothing was predicted."""
    value = f1(ratio(totals[..., 2], totals[..., 1]), ratio(totals[..., 2], totals[..., 0]))
    return np.where((totals[..., 0] == 0) & (totals[..., 1] == 0), empty, value)


def _share(totals: Floats, of: int) -> Floats:
    """Return precision (of predictions, 1) or recall (of truths, 0) from the same columns."""
    return ratio(totals[..., 2], totals[..., of])


def weighted_f1_statistic(totals: Floats) -> Floats:
    """Return WAvg(F1) of cTDaR from (n_truth, n_pred, hits at each threshold)."""
    scores = [f1_statistic(totals[..., [0, 1, 2 + k]]) for k in range(len(CTDAR_THRESHOLDS))]
    average: Floats = np.average(np.stack(scores), axis=0, weights=CTDAR_THRESHOLDS)
    return average


def detected_above(theta: float) -> PageSums:
    """Return the detection credit of each prediction: 1[J > θ]."""
    return lambda matched: is_detected(matched.overlap, theta)


def extraction_credit(matched: MatchedTables, metric: str, theta: float = THETA) -> Floats:
    """Return the end-to-end credit of each prediction: s · 1[J > θ]."""
    return matched.structure[metric] * is_detected(matched.overlap, theta)


def page_sums(matched: MatchedTables, credit: Floats) -> Floats:
    """Return (pages, 3): truths, positive predictions and credit of each page."""
    sums = np.zeros((len(matched.pages.samples), 3))
    sums[:, 0] = matched.pages.n_truth
    use = matched.positive
    np.add.at(sums[:, 1], matched.page[use], matched.count[use])
    np.add.at(sums[:, 2], matched.page[use], credit[use])
    return sums


@dataclass(frozen=True)
class SumBuilder:
    """Makes `FigureSums` of what several parsers have matched under one rule."""

    matched: Mapping[str, MatchedTables]
    infos: Mapping[str, FigureInfo]

    def all(self, metrics: Sequence[str]) -> list[FigureSums]:
        """Return every figure that adds up over pages."""
        found = self._three("td", "", detected_above(THETA))
        found += self._three("e0", "", lambda e: expected_detected(e.overlap, 0.0))
        found += self._three("e05", "", lambda e: expected_detected(e.overlap, 0.5))
        found += [self._f1(f"td_f1_at_{theta:g}", detected_above(theta)) for theta in SENSITIVITY]
        found.append(self._make("wavg_f1", _weighted_sums, weighted_f1_statistic, 0))
        readable = replace(self, matched={parser: own.readable for parser, own in self.matched.items()})
        for metric in metrics:
            short = short_name(metric)
            found += readable._three("te", f"_{short}", partial(extraction_credit, metric=metric))
            structure = partial(_structure_sums, metric=metric)
            found.append(readable._make(f"tsr_{short}", structure, mean_statistic, 1))
        found.append(self._make("false_tables_per_negative_page", _false_tables, mean_statistic, 1))
        any_false = "negative_pages_with_false_tables"
        found.append(self._make(any_false, lambda e: np.minimum(_false_tables(e), 1.0), mean_statistic, 1))
        return found

    def _three(self, name: str, suffix: str, credit: PageSums) -> list[FigureSums]:
        def sums(matched: MatchedTables) -> Floats:
            return page_sums(matched, credit(matched))

        return [
            self._make(f"{name}_precision{suffix}", sums, partial(_share, of=1), 1),
            self._make(f"{name}_recall{suffix}", sums, partial(_share, of=0), 0),
            self._f1(f"{name}_f1{suffix}", credit),
        ]

    def _f1(self, name: str, credit: PageSums) -> FigureSums:
        of_page = partial(f1_statistic, empty=1.0)  # a single page with nothing has nothing wrong
        return self._make(name, lambda e: page_sums(e, credit(e)), f1_statistic, 0, of_page)

    def _make(
        self, name: str, sums: PageSums, statistic: Statistic, over: int, of_page: Statistic | None = None
    ) -> FigureSums:
        pages = next(iter(self.matched.values())).pages
        made = SumsOnDemand(tuple(self.matched), lambda parser: sums(self.matched[parser]))
        places = self.infos[name], pages.samples, pages.documents
        return FigureSums(*places, made, statistic, over, of_page, pages.division)


def _weighted_sums(matched: MatchedTables) -> Floats:
    columns = [page_sums(matched, is_detected(matched.overlap, t)) for t in CTDAR_THRESHOLDS]
    return np.column_stack([columns[0][:, :2], *(c[:, 2] for c in columns)])


def _structure_sums(matched: MatchedTables, metric: str) -> Floats:
    """Return (structure, tables found) of each page."""
    earned = page_sums(matched, extraction_credit(matched, metric))[:, 2]
    hits = page_sums(matched, is_detected(matched.overlap, THETA))[:, 2]
    return np.stack([earned, hits], axis=1)


def _false_tables(matched: MatchedTables) -> Floats:
    """Return (tables predicted, 1) of each page without tables."""
    n_pred = page_sums(matched, np.zeros_like(matched.overlap))[:, 1]
    sums: Floats = np.stack([n_pred, np.ones(len(n_pred))], axis=1) * matched.pages.negative[:, None]
    return sums


def ranked_figures(matched: MatchedTables) -> dict[str, Figure]:
    """Return AP, AP weighted by structure and D-ECE; without confidences they are there too, without a
    value.
    """
    hit, read = is_detected(matched.overlap, THETA), matched.readable
    names = {"ap": (matched, hit)}
    names |= {f"ap_{short_name(m)}": (read, extraction_credit(read, m)) for m in matched.structure}
    if not matched.has_confidence:
        return {name: make_figure(None, 0) for name in (*names, "d_ece", "d_ece_positive")}
    found = {name: _average_precision(*ranked) for name, ranked in names.items()}
    positive = matched.confidence > CONFIDENCE_THRESHOLD
    for name, chosen in (("d_ece", matched.confidence > MIN_CONFIDENCE), ("d_ece_positive", positive)):
        found[name] = _calibration_error(matched, hit, chosen)
    return found


def _calibration_error(matched: MatchedTables, hit: Floats, chosen: NDArray[np.bool_]) -> Figure:
    """Return D-ECE and its interval, whose lower end allows for the error: chance makes D-ECE too large,
    never too small.
    """

    def of_used(use: NDArray[np.bool_], _: float) -> float | None:
        return d_ece(matched.confidence[use & chosen], hit[use & chosen])

    figure = _jackknifed(matched, of_used, float(chosen.sum()))
    if figure.low is None:
        return figure
    documents = np.asarray(matched.pages.documents)[matched.page]
    chance = d_ece_by_chance(matched.confidence[chosen], hit[chosen], documents[chosen])
    return figure.model_copy(update={"low": max(0.0, figure.low - chance)})


def curves(matched: MatchedTables) -> dict[str, list[list[float]]]:
    """Return points (recall, precision, confidence): thresholded, expected, and weighted by each metric."""
    if not matched.has_confidence:
        return {}
    credit = {
        "thresholded": is_detected(matched.overlap, THETA),
        "expected": expected_detected(matched.overlap, 0.5),
    }
    points = {name: _points(matched, earned) for name, earned in credit.items()}
    read = matched.readable
    return points | {short_name(m): _points(read, extraction_credit(read, m)) for m in matched.structure}


def reliability(matched: MatchedTables) -> list[dict[str, Any]]:
    """Return the bins of confidence, as plain data."""
    if not matched.has_confidence:
        return []
    return [asdict(b) for b in reliability_bins(matched.confidence, is_detected(matched.overlap, THETA))]


def risk_over_coverage(matched: MatchedTables) -> dict[str, Any]:
    """Return the risk over coverage if only the most confident predictions are taken, as plain data."""
    found = None
    if matched.has_confidence:
        sure = matched.confidence > MIN_CONFIDENCE
        found = risk_coverage(matched.confidence[sure], is_detected(matched.overlap[sure], THETA))
    if found is None:
        return {}
    points = [list(p) for p in zip(found.coverage, found.risk, strict=True)]
    return {"points": points, "area": found.area, "best_area": found.best_area}


def _average_precision(matched: MatchedTables, credit: Floats) -> Figure:
    """Return the average precision; no value without truths."""

    def of_used(use: NDArray[np.bool_], n_truth: float) -> float | None:
        return average_precision(matched.confidence[use], credit[use], n_truth) if n_truth else None

    return _jackknifed(matched, of_used, matched.n_truth) if matched.n_truth else make_figure(None, 0)


def _jackknifed(matched: MatchedTables, compute: RankedStatistic, n: float) -> Figure:
    """Return a figure of a ranked list, with the interval of what it is without each document in turn."""
    truths, names = sum_by_cluster(matched.pages.n_truth[:, None], matched.pages.documents)
    position = {name: k for k, name in enumerate(names)}
    document = np.array([position[matched.pages.documents[p]] for p in matched.page], dtype=int)
    value = compute(np.ones(len(document), dtype=bool), matched.n_truth)
    if value is None:
        return make_figure(None, 0)
    # A document without truths and without predictions leaves the list as it is.
    counted = np.flatnonzero((truths[:, 0] > 0) | np.isin(np.arange(len(names)), document))
    group = np.full(len(names), -1)
    types = document_types(matched.pages.documents, matched.pages.division) or [""] * len(names)
    group[counted] = group_documents([types[k] for k in counted])
    groups = range(group.max() + 1)
    left_out = [compute(group[document] != g, float(truths[group != g].sum())) for g in groups]
    values = np.array([np.nan if v is None else v for v in left_out])
    of_groups = [types[int(np.argmax(group == g))] for g in groups]
    return make_figure(value, n, interval_from(value, values, types=of_groups))


def _points(matched: MatchedTables, credit: Floats) -> list[list[float]]:
    curve = precision_recall_curve(matched.confidence, credit, matched.n_truth)
    points: list[list[float]] = np.stack([curve.recall, curve.precision, curve.confidence], axis=1).tolist()
    return points


# --- where a parser is weak: recall of the tables that have one attribute in common -------------------------


def table_slices(truths: TruthPages, matched: Mapping[str, MatchedTables]) -> list[Slice]:
    """Return the tables with each value of each attribute.

    A table attribute selects true tables, so only recall, and recall weighted by structure, are defined. What
    cannot be read has no structure.
    """
    if not matched:
        return []
    figures: list[dict[str, dict[str, Figure]]] = [defaultdict(dict) for _ in truths.groups]
    for parser, own, credit in _credits(matched):
        left_out = truths.unread - own.pages.unread
        codes = {name: k for k, name in enumerate(dict.fromkeys(own.truth))}
        answered = own.page * len(codes) + np.array([codes[name] for name in own.truth], dtype=np.int64)
        for (*_, group), found in zip(truths.groups, figures, strict=True):
            wanted = [page * len(codes) + codes[name] for page, name in group if name in codes]
            inside = np.isin(answered, wanted) & own.positive
            asked = [page for page, name in group if (page, name) not in left_out]
            found[parser] |= {name: _recall(own, asked, earned, inside) for name, earned in credit.items()}
    return [
        Slice(scope="table", attribute=attribute, value=value, n=len(group), figures=dict(found))
        for (attribute, value, group), found in zip(truths.groups, figures, strict=True)
    ]


def _credits(matched: Mapping[str, MatchedTables]) -> Iterator[tuple[str, MatchedTables, dict[str, Floats]]]:
    """Yield each parser's credit for finding tables, and for reading those that are readable."""
    for parser, own in matched.items():
        yield parser, own, {"td_recall": is_detected(own.overlap, THETA)}
        read = own.readable
        yield parser, read, {f"te_recall_{short_name(m)}": extraction_credit(read, m) for m in read.structure}


def _recall(matched: MatchedTables, asked: list[int], credit: Floats, inside: NDArray[np.bool_]) -> Figure:
    """Return recall, or end-to-end recall, of tables on these pages; a table that was not found counts 0."""
    sums = np.zeros((len(matched.pages.samples), 2))
    np.add.at(sums[:, 0], matched.page[inside], credit[inside])
    np.add.at(sums[:, 1], asked, 1.0)
    pages = matched.pages
    types = document_types(pages.documents, pages.division)
    return from_sums(sum_by_cluster(sums, pages.documents)[0], mean_statistic, types=types)
