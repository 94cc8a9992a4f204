"""Who is better in a figure, and how sure that is: verdicts on pairs, places that the data allow, notes.

Verdicts are about documents like these, and say whether they hold for new document types, too
(`parsemark.stats.document_types`).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from parsemark.protocols.run_scores.notes import (
    asked_of_new_types,
    by_document,
    dominance_notes,
    missing_notes,
    resolution_notes,
    state_of,
    type_notes,
)
from parsemark.protocols.run_scores.sums import DocumentSums, FigureSums
from parsemark.specs import is_derived
from parsemark.stats.intervals import FEWEST_DOCUMENTS, normalised
from parsemark.stats.paired_test import Contrast, rank_intervals
from parsemark.store.summary import Ranking, Verdict


def rank(figure: FigureSums) -> Ranking:
    """Return verdicts on all pairs of parsers in one figure, and the places that the data allow."""
    name, sign = figure.info.name, 1.0 if figure.info.higher_is_better else -1.0
    value = {parser: v for parser, v in _values(figure).items() if np.isfinite(v)}
    if not value or not len(figure.samples):
        return Ranking(figure=name)
    # What is made of others shows the head-room; the best is a parser that one could choose.
    tools = [parser for parser in value if not is_derived(parser)]
    best = max(tools or value, key=lambda parser: sign * value[parser])
    if figure.info.higher_is_better and value[best] == 0:
        return Ranking(figure=name)
    documents = DocumentSums(figure, list(value))
    pairs = list(combinations(value, 2))
    found = documents.contrasts(pairs)
    # Of the intervals before they are cut where no difference can be.
    to_best = [(c.low, c.high) for c in found if best in (c.a, c.b)]
    widths = [(high - low) / 2 for low, high in to_best if low is not None and high is not None]
    resolution = float(np.median(widths)) if widths else None
    shares = normalised(documents.weights)
    largest = [k for k in np.argsort(-shares, kind="stable")[:3] if shares[k] > 0]
    verdicts = _verdicts(documents, pairs, found, value)
    new_types = asked_of_new_types(documents) if documents.n_counted >= FEWEST_DOCUMENTS else None
    division = documents.figure.division
    types_seen = sorted(set(division.types)) if division else []
    return Ranking(
        figure=name,
        best=best,
        ranks=rank_intervals(list(value), found),
        verdicts=verdicts,
        n_documents=documents.n_counted,
        resolution=resolution,
        by_document=by_document(documents),
        largest_shares={documents.names[k]: float(shares[k]) for k in largest},
        new_types=new_types,
        notes=[
            *missing_notes(figure, value),
            *resolution_notes(figure.info, documents.n_counted, resolution, len(documents.names)),
            *type_notes(
                new_types, [v.seen_from(best) for v in verdicts if best in (v.a, v.b)], best, types_seen
            ),
            *dominance_notes(documents, best, tools or list(value)),
        ],
    )


def verdicts_on_pairs(figure: FigureSums, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
    """Return the verdict on each pair of parsers in a figure, simultaneous over these pairs."""
    documents = DocumentSums(figure, list(dict.fromkeys(name for pair in pairs for name in pair)))
    return _verdicts(documents, pairs, documents.contrasts(pairs), _values(figure))


def _values(figure: FigureSums) -> dict[str, float]:
    return {p: float(figure.statistic(sums.sum(axis=0))) for p, sums in figure.sums.items()}


def _verdicts(
    documents: DocumentSums,
    pairs: Sequence[tuple[str, str]],
    found: Sequence[Contrast],
    value: Mapping[str, float],
) -> list[Verdict]:
    verdicts = [_verdict(documents.figure, contrast, value) for contrast in found]
    if not documents.n_types:
        return verdicts
    of_types = documents.contrasts(pairs, new_types=True)
    return [
        verdict.model_copy(update={"new_types": state_of(contrast, documents.figure.info)})
        for verdict, contrast in zip(verdicts, of_types, strict=True)
    ]


def _verdict(figure: FigureSums, contrast: Contrast, value: Mapping[str, float]) -> Verdict:
    """Return a contrast, in which larger is better, as a verdict in the figure's own direction."""
    sign = 1.0 if figure.info.higher_is_better else -1.0
    limit = np.inf if figure.info.top is None else figure.info.top
    known = [] if contrast.low is None or contrast.high is None else [contrast.low, contrast.high]
    ends = sorted(min(max(sign * end, -limit), limit) for end in known)
    values = [v if np.isfinite(v := value[name]) else None for name in (contrast.a, contrast.b)]
    is_known = None not in values
    return Verdict(
        a=contrast.a,
        b=contrast.b,
        figure=figure.info.name,
        value_a=values[0],
        value_b=values[1],
        difference=sign * contrast.difference + 0.0 if is_known else None,  # −0 becomes 0
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        p=contrast.p if is_known else None,
        state=state_of(contrast, figure.info),
        n_documents=contrast.n_documents,
    )
