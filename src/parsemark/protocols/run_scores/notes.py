"""Notes beside a ranking: what its documents resolve, of which kinds they are, and which one dominates."""

from collections.abc import Mapping, Sequence

import numpy as np

from parsemark.plain_words import counted, listed
from parsemark.protocols.run_scores.sums import DocumentSums, FigureSums
from parsemark.stats.clusters import Contrasts, Kinds
from parsemark.stats.intervals import effective_df, leave_one_out, normalised
from parsemark.stats.paired_test import FEWEST_DOCUMENTS, Contrast
from parsemark.store.summary import FigureInfo, State

FEW_DOCUMENTS = 30  # with fewer, intervals cover less than they say (`bench/unlike_documents.py`)
DOMINATES = 0.2
"""A document with more than this share of what a figure counts is named, if it has thrice its share."""


def state_of(contrast: Contrast, info: FigureInfo) -> State:
    """Whether the first parser of a contrast is better, worse, equal, equivalent, or none of these."""
    if contrast.is_equal:
        return "equal"
    if contrast.low is None or contrast.high is None:
        return "not_resolved"
    if contrast.low > 0 or contrast.high < 0:
        return "better" if contrast.difference > 0 else "worse"
    inside = info.margin is not None and max(-contrast.low, contrast.high) <= info.margin
    return "equivalent" if inside else "not_resolved"


def by_document(documents: DocumentSums) -> dict[str, float]:
    """The figure of each parser if every document counts alike, however much it holds: the mean of theirs."""
    counts = documents.weights > 0
    statistic = documents.figure.page_statistic or documents.figure.statistic
    values = {parser: np.asarray(statistic(own[counts])) for parser, own in documents.sums.items()}
    return {parser: float(np.nanmean(v)) for parser, v in values.items() if np.any(np.isfinite(v))}


def missing_notes(figure: FigureSums, value: Mapping[str, float]) -> list[str]:
    """Name the parsers that have no value."""
    missing, info = [parser for parser in figure.sums if parser not in value], figure.info
    why = f"nothing of what it is taken over ({info.denominator}) is there"
    return [f"No {info.label}, and so no place, for {listed(missing)}: {why}."] if missing else []


def resolution_notes(
    info: FigureInfo, n_documents: int, resolution: float | None, kinds: Kinds | None
) -> list[str]:
    """Say which differences these documents resolve, and warn where they are few."""
    notes = []
    if n_documents == 1:
        return ["1 document: there is no interval, and no difference is resolved."]
    if resolution is not None and n_documents < FEWEST_DOCUMENTS:
        notes.append(f"Fewer than {FEWEST_DOCUMENTS} documents resolve no difference, however large.")
    elif resolution is not None and not (kinds and kinds.are_few):
        under = f"under {resolution:.{3 if resolution < 0.1 else 2}f}"
        size = "of any size" if info.top is not None and resolution >= info.top else under
        notes.append(f"{n_documents} documents: differences {size} in {info.label} are mostly not resolved.")
    if 0 < n_documents < FEW_DOCUMENTS:
        few = f"Fewer than {FEW_DOCUMENTS} documents"
        notes.append(f"{few}: intervals are wide, and less certain than they say.")
    return notes


def kinds_notes(info: FigureInfo, found: Contrasts, best: str) -> list[str]:
    """Which question the verdicts answer: about these kinds of documents, or about new ones."""
    kinds = found.kinds
    if kinds is None or found.here is None:
        return []
    differ = f"Parsers do unlike on the {kinds.n} kinds of documents by {kinds.attribute}"
    if not kinds.are_few:
        return [f"{differ}: intervals and verdicts are over kinds, and hold for new ones."]
    told = {
        c.b if c.a == best else c.a
        for c in found.here
        if best in (c.a, c.b) and state_of(c, info) in ("better", "worse")
    }
    others = f"{best} is told from {', '.join(sorted(told))}" if told else f"{best} is told from no other"
    return [
        f"{differ}. Not decidable for new kinds: {kinds.n} are too few ({FEWEST_DOCUMENTS} are needed), so "
        f"no verdict is given about them. On documents of these kinds {others}."
    ]


def dominance_notes(documents: DocumentSums, best: str, tools: Sequence[str]) -> list[str]:
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
