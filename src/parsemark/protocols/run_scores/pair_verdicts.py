"""Who is better in a figure, and how sure that is: verdicts on pairs, places that the data allow.

Documents are what is drawn, or kinds of documents where they matter (`parsemark.stats.clusters`).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from parsemark.protocols.run_scores.notes import (
    by_document,
    dominance_notes,
    kinds_notes,
    missing_notes,
    resolution_notes,
    state_of,
)
from parsemark.protocols.run_scores.sums import DocumentSums, FigureSums
from parsemark.specs import is_derived
from parsemark.stats.clusters import Contrasts
from parsemark.stats.intervals import normalised
from parsemark.stats.paired_test import Contrast, rank_intervals
from parsemark.store.summary import Ranking, Verdict


def rank(figure: FigureSums) -> Ranking:
    """Verdicts on all pairs of parsers in one figure, and the places that the data allow."""
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
    found = documents.contrasts(list(combinations(value, 2)))
    # Of the intervals before they are cut where no difference can be.
    to_best = [(c.low, c.high) for c in found.found if best in (c.a, c.b)]
    widths = [(high - low) / 2 for low, high in to_best if low is not None and high is not None]
    resolution = float(np.median(widths)) if widths else None
    shares = normalised(documents.weights)
    largest = [k for k in np.argsort(-shares, kind="stable")[:3] if shares[k] > 0]
    return Ranking(
        figure=name,
        best=best,
        ranks=rank_intervals(list(value), found.found),
        verdicts=_verdicts(figure, found, value),
        n_documents=documents.n_counted,
        resolution=resolution,
        by_document=by_document(documents),
        largest_shares={documents.names[k]: float(shares[k]) for k in largest},
        kinds=found.kinds.attribute if found.kinds else None,
        n_kinds=found.kinds.n if found.kinds else 0,
        notes=[
            *missing_notes(figure, value),
            *resolution_notes(figure.info, documents.n_counted, resolution, found.kinds),
            *kinds_notes(figure.info, found, best),
            *dominance_notes(documents, best, tools or list(value)),
        ],
    )


def verdicts_on_pairs(
    figure: FigureSums, pairs: Sequence[tuple[str, str]], *, of_these_kinds: bool = False
) -> list[Verdict]:
    """The verdict on each pair of parsers in a figure, simultaneous over these pairs.

    `of_these_kinds` asks about documents of these kinds alone, as a comparison of two versions does.
    """
    named = list(dict.fromkeys(name for pair in pairs for name in pair))
    found = DocumentSums(figure, named).contrasts(pairs)
    if of_these_kinds and found.here is not None:
        found = Contrasts(found.here)
    return _verdicts(figure, found, _values(figure))


def _values(figure: FigureSums) -> dict[str, float]:
    return {p: float(figure.statistic(sums.sum(axis=0))) for p, sums in figure.sums.items()}


def _verdicts(figure: FigureSums, found: Contrasts, value: Mapping[str, float]) -> list[Verdict]:
    verdicts = [_verdict(figure, contrast, value) for contrast in found.found]
    if found.kinds is None or found.here is None:
        return verdicts
    return [
        verdict.model_copy(update={"here": state_of(here, figure.info), "kinds": found.kinds.attribute})
        for verdict, here in zip(verdicts, found.here, strict=True)
    ]


def _verdict(figure: FigureSums, contrast: Contrast, value: Mapping[str, float]) -> Verdict:
    """A contrast, in which larger is better, as a verdict in the figure's own direction."""
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
