"""Notes beside a ranking: what its documents resolve, what follows for new types, and which one dominates."""

from collections.abc import Mapping, Sequence

import numpy as np

from parsemark.plain_words import counted, listed, plural, type_name
from parsemark.protocols.run_scores.sums import DocumentSums, FigureSums
from parsemark.stats.document_types import FEWEST_TYPES
from parsemark.stats.intervals import FEWEST_DOCUMENTS, effective_df, leave_one_out, normalised
from parsemark.stats.paired_test import Contrast
from parsemark.store.summary import FigureInfo, NewTypes, State, Verdict

FEW_DOCUMENTS = 30  # with fewer, intervals cover less than they say (`bench/unlike_documents.py`)
DOMINATES = 0.2
"""A document with more than this share of what a figure counts is named, if it has thrice its share."""
_LEADS_INSTEAD = " would lead, not "


def state_of(contrast: Contrast, info: FigureInfo) -> State:
    """Return whether the first parser of a contrast is better, worse, equal, equivalent, or none of these."""
    if contrast.is_equal:
        return "equal"
    if contrast.low is None or contrast.high is None:
        return "not_significant"
    if contrast.low > 0 or contrast.high < 0:
        return "better" if contrast.difference > 0 else "worse"
    inside = info.margin is not None and max(-contrast.low, contrast.high) <= info.margin
    return "equivalent" if inside else "not_significant"


def by_document(documents: DocumentSums) -> dict[str, float]:
    """Return the figure of each parser if every document counts alike, however much it holds: the mean of
    theirs.
    """
    counts = documents.weights > 0
    statistic = documents.figure.page_statistic or documents.figure.statistic
    values = {parser: np.asarray(statistic(own[counts])) for parser, own in documents.sums.items()}
    return {parser: float(np.nanmean(v)) for parser, v in values.items() if np.any(np.isfinite(v))}


def missing_notes(figure: FigureSums, value: Mapping[str, float]) -> list[str]:
    """Return notes on parsers that have no value."""
    missing, info = [parser for parser in figure.sums if parser not in value], figure.info
    why = f"The run contains nothing to take it over ({info.denominator})"
    return [f"{listed(missing)}: no {info.label}, so no rank. {why}."] if missing else []


def resolution_notes(
    info: FigureInfo, n_documents: int, resolution: float | None, n_all: int | None = None
) -> list[str]:
    """Return notes on the differences that these documents resolve, with a warning where they are few."""
    documents = counted(n_documents, "document")
    if n_all is not None and n_documents < n_all:
        documents = f"{n_documents} of {counted(n_all, 'document')} could be scored"
    if 0 < n_documents < FEWEST_DOCUMENTS:
        return [f"{documents}: confidence intervals and verdicts need at least {FEWEST_DOCUMENTS}."]
    notes = []
    if resolution is not None:
        under = f"under {resolution:.{3 if resolution < 0.1 else 2}f}"
        size = "of any size" if info.top is not None and resolution >= info.top else under
        notes.append(f"{documents}: differences {size} in {info.label} are mostly not significant.")
    if 0 < n_documents < FEW_DOCUMENTS:
        notes.append(f"Fewer than {FEW_DOCUMENTS} documents: intervals are wide.")
    return notes


def asked_of_new_types(documents: DocumentSums) -> NewTypes | None:
    """Return the primary scores on new types of documents, or on each of these if they are few."""
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


def type_notes(
    new_types: NewTypes | None, verdicts: Sequence[Verdict], best: str, types_seen: Sequence[str] = ()
) -> list[str]:
    """Return notes on what the scores imply for document types that are not among these."""
    if new_types is None or best not in new_types.scores:
        return []
    low, high = (f"{end:.2f}" for end in new_types.scores[best])
    name = type_name(new_types.attribute)
    if not new_types.is_answered:
        is_listed = len(types_seen) == new_types.n_types
        seen = f" ({', '.join(types_seen)})" if is_listed else ""
        said = f"The documents come from {counted(new_types.n_types, name)}{seen}, so no conclusion is"
        other = f"possible about documents from other {plural(name, 2)}"
        return [f"{said} {other}. {best} scores {low} to {high}, depending on the {name}."]
    types = counted(new_types.n_types, name)
    new = f"For documents from other {plural(name, 2)}, {best} scores {low} to {high} (95 % CI, from {types})"
    resolved = [v for v in verdicts if v.state in ("better", "worse")]
    open_ = [v.b for v in resolved if v.also_for_new_types == "open"]
    if not resolved:
        return [f"{new}."]
    if open_:
        return [f"{new}. It is open whether its lead over {listed(open_)} holds there."]
    return [f"{new}. Its lead holds there, too."]


def dominance_notes(documents: DocumentSums, best: str, tools: Sequence[str]) -> list[str]:
    """Return a warning with the name of the document that decides."""
    info, shares = documents.figure.info, normalised(documents.weights)
    n, first = len(shares), int(np.argmax(shares)) if len(shares) else 0
    if n < 2 or shares[first] <= DOMINATES or shares[first] < 3 / n:
        return []
    sign = 1.0 if info.higher_is_better else -1.0
    without = {p: sign * leave_one_out(documents.sums[p], documents.figure.statistic)[first] for p in tools}
    known = {parser: value for parser, value in without.items() if np.isfinite(value)}
    other = max(known, key=lambda parser: known[parser], default=best)
    if best not in known or known[other] <= known[best]:
        other = best  # nothing that counts is left without it, or nothing that sets them apart
    alike = by_document(documents)
    listed = ", ".join(f"{p} {alike[p]:.3f}" for p in sorted(alike, key=lambda p: -sign * alike[p])[:3])
    notes = (
        f"One document, {documents.names[first]}, has {round(100 * shares[first])} % of the weight in "
        f"{info.label}. So {counted(n, 'document')} are worth as much as {effective_df(shares) + 1} of equal "
        f"weight. If each document had the same weight, the scores would be: {listed}."
    )
    return [notes + (f" Without it {other}{_LEADS_INSTEAD}{best}." if other != best else "")]


def names_another_leader(note: str) -> bool:
    """Return whether a note says that one document decides who leads."""
    return _LEADS_INSTEAD in note
