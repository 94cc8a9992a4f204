"""Who is better in a figure, and how sure that is: verdicts on pairs, places that the data allow, notes.

Verdicts are about documents like these, and say whether they hold for new document types, too
(`parsemark.stats.document_types`).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from parsemark.plain_words import counted, listed, plural
from parsemark.protocols.figures.figure import DocumentSums, FigureInfo, FigureSums
from parsemark.protocols.figures.summary import NewTypes, Ranking, State, Verdict
from parsemark.specs import is_derived
from parsemark.stats.document_types import FEWEST_TYPES
from parsemark.stats.intervals import FEWEST_DOCUMENTS, effective_df, leave_one_out, normalised
from parsemark.stats.paired_test import Contrast, rank_intervals

FEW_DOCUMENTS = 30  # with fewer, intervals cover less than they say (`bench/unlike_documents.py`)
DOMINATES = 0.2
"""A document with more than this share of what a figure counts is named, if it has thrice its share."""


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
    pairs = list(combinations(value, 2))
    found = documents.contrasts(pairs)
    # Of the intervals before they are cut where no difference can be.
    to_best = [(c.low, c.high) for c in found if best in (c.a, c.b)]
    widths = [(high - low) / 2 for low, high in to_best if low is not None and high is not None]
    resolution = float(np.median(widths)) if widths else None
    shares = normalised(documents.weights)
    largest = [k for k in np.argsort(-shares, kind="stable")[:3] if shares[k] > 0]
    verdicts = _verdicts(documents, pairs, found, value)
    new_types = _new_types(documents) if documents.n_counted >= FEWEST_DOCUMENTS else None
    return Ranking(
        figure=name,
        best=best,
        ranks=rank_intervals(list(value), found),
        verdicts=verdicts,
        n_documents=documents.n_counted,
        resolution=resolution,
        by_document=by_document(documents),
        leverage={documents.names[k]: float(shares[k]) for k in largest},
        new_types=new_types,
        notes=[
            *_without_value(figure, value),
            *_ranking_notes(figure.info, documents.n_counted, resolution),
            *_type_notes(new_types, [v.seen_from(best) for v in verdicts if best in (v.a, v.b)], best),
            *_leverage_notes(documents, best, tools or list(value)),
        ],
    )


def verdicts_on_pairs(figure: FigureSums, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
    """The verdict on each pair of parsers in a figure, simultaneous over these pairs."""
    documents = DocumentSums(figure, list(dict.fromkeys(name for pair in pairs for name in pair)))
    return _verdicts(documents, pairs, documents.contrasts(pairs), _values(figure))


def by_document(documents: DocumentSums) -> dict[str, float]:
    """The figure of each parser if every document counts alike, however much it holds: the mean of theirs."""
    counts = documents.weights > 0
    statistic = documents.figure.page_statistic or documents.figure.statistic
    values = {parser: np.asarray(statistic(own[counts])) for parser, own in documents.sums.items()}
    return {parser: float(np.nanmean(v)) for parser, v in values.items() if np.any(np.isfinite(v))}


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
        verdict.model_copy(update={"new_types": _state(contrast, documents.figure.info)})
        for verdict, contrast in zip(verdicts, of_types, strict=True)
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
        state=_state(contrast, figure.info),
        n_documents=contrast.n_documents,
    )


def _state(contrast: Contrast, info: FigureInfo) -> State:
    if contrast.is_equal:
        return "equal"
    if contrast.low is None or contrast.high is None:
        return "not_resolved"
    if contrast.low > 0 or contrast.high < 0:
        return "better" if contrast.difference > 0 else "worse"
    inside = info.margin is not None and max(-contrast.low, contrast.high) <= info.margin
    return "equivalent" if inside else "not_resolved"


def _without_value(figure: FigureSums, value: Mapping[str, float]) -> list[str]:
    missing, info = [parser for parser in figure.sums if parser not in value], figure.info
    why = f"nothing of what it is taken over ({info.denominator}) is there"
    return [f"No {info.label}, and so no place, for {listed(missing)}: {why}."] if missing else []


def _ranking_notes(info: FigureInfo, n_documents: int, resolution: float | None) -> list[str]:
    if 0 < n_documents < FEWEST_DOCUMENTS:
        return [
            f"{counted(n_documents, 'document')}: too few to generalise, so there are no intervals and no "
            f"verdicts ({FEWEST_DOCUMENTS} are needed)."
        ]
    notes = []
    if resolution is not None:
        under = f"under {resolution:.{3 if resolution < 0.1 else 2}f}"
        size = "of any size" if info.top is not None and resolution >= info.top else under
        notes.append(f"{n_documents} documents: differences {size} in {info.label} are mostly not resolved.")
    if 0 < n_documents < FEW_DOCUMENTS:
        notes.append(f"Fewer than {FEW_DOCUMENTS} documents: intervals are wide.")
    return notes


_ORDINALS = ("third", "fourth", "fifth", "sixth")  # what follows two to five types


def _new_types(documents: DocumentSums) -> NewTypes | None:
    """The primary scores on new types of documents, or on each of these if they are few."""
    division, n_types = documents.figure.division, documents.n_types
    if division is None or n_types < 2:
        return None
    scores = {
        parser: ends
        for parser in documents.sums
        if (
            ends := documents.interval(parser, new_types=True)
            if n_types >= FEWEST_TYPES
            else documents.range_over_types(parser)
        )
    }
    return NewTypes(attribute=division.attribute, n_types=n_types, scores=scores)


def _type_notes(new_types: NewTypes | None, verdicts: Sequence[Verdict], best: str) -> list[str]:
    """What the scores say about document types that are not among these."""
    if new_types is None or best not in new_types.scores:
        return []
    types = counted(new_types.n_types, new_types.attribute)
    low, high = (f"{end:.2f}" for end in new_types.scores[best])
    if not new_types.is_answered:
        following = _ORDINALS[new_types.n_types - 2]
        return [f"{types}: nothing follows for a {following}. On these {best} scores {low} to {high}."]
    new = f"On new {plural(new_types.attribute, 2)} (from {types}) {best} scores {low} to {high}"
    resolved = [v for v in verdicts if v.state in ("better", "worse")]
    open_ = [v.b for v in resolved if v.also_for_new_types == "open"]
    if not resolved:
        return [f"{new}."]
    if open_:
        return [f"{new}; whether it leads {listed(open_)} there, too, is open."]
    return [f"{new}, and its lead holds there, too."]


def _leverage_notes(documents: DocumentSums, best: str, tools: Sequence[str]) -> list[str]:
    """A warning with the name of the document that decides."""
    info, shares = documents.figure.info, normalised(documents.weights)
    n, first = len(shares), int(np.argmax(shares)) if len(shares) else 0
    if n < 2 or shares[first] <= DOMINATES or shares[first] < 3 / n:
        return []
    sign = 1.0 if info.higher_is_better else -1.0
    without = {p: sign * leave_one_out(documents.sums[p], documents.figure.statistic)[first] for p in tools}
    known = {parser: value for parser, value in without.items() if np.isfinite(value)}
    other = max(known, key=lambda parser: known[parser], default=best)
    alike = by_document(documents)
    listed = ", ".join(f"{p} {alike[p]:.3f}" for p in sorted(alike, key=lambda p: -sign * alike[p])[:3])
    notes = (
        f"{documents.names[first]} holds {round(100 * shares[first])} % of what {info.label} counts and "
        f"decides it: {counted(n, 'document')} count like {effective_df(shares) + 1}. "
        f"If every document counted alike: {listed}."
    )
    return [notes + (f" Without it {other} would be first, not {best}." if other != best else "")]
