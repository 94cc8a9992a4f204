"""Who is better in a figure, and how sure that is: verdicts on pairs, places that the data allow, notes.

Documents are what is drawn, or kinds of documents where they matter (`parsemark.stats.clusters`).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from parsemark.plain_words import counted, listed
from parsemark.protocols.figures.figure import DocumentSums, FigureInfo, FigureSums
from parsemark.protocols.figures.summary import Ranking, State, Verdict
from parsemark.specs import is_derived
from parsemark.stats.clusters import Contrasts, Kinds
from parsemark.stats.intervals import effective_df, leave_one_out, normalised
from parsemark.stats.paired_test import FEWEST_DOCUMENTS, Contrast, rank_intervals

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
        leverage={documents.names[k]: float(shares[k]) for k in largest},
        kinds=found.kinds.attribute if found.kinds else None,
        n_kinds=found.kinds.n if found.kinds else 0,
        notes=[
            *_without_value(figure, value),
            *_ranking_notes(figure.info, documents.n_counted, resolution, found.kinds),
            *_kinds_notes(figure.info, found, best),
            *_leverage_notes(documents, best, tools or list(value)),
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


def by_document(documents: DocumentSums) -> dict[str, float]:
    """The figure of each parser if every document counts alike, however much it holds: the mean of theirs."""
    counts = documents.weights > 0
    statistic = documents.figure.page_statistic or documents.figure.statistic
    values = {parser: np.asarray(statistic(own[counts])) for parser, own in documents.sums.items()}
    return {parser: float(np.nanmean(v)) for parser, v in values.items() if np.any(np.isfinite(v))}


def _values(figure: FigureSums) -> dict[str, float]:
    return {p: float(figure.statistic(sums.sum(axis=0))) for p, sums in figure.sums.items()}


def _verdicts(figure: FigureSums, found: Contrasts, value: Mapping[str, float]) -> list[Verdict]:
    verdicts = [_verdict(figure, contrast, value) for contrast in found.found]
    if found.kinds is None or found.here is None:
        return verdicts
    return [
        verdict.model_copy(update={"here": _state(here, figure.info), "kinds": found.kinds.attribute})
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


def _ranking_notes(
    info: FigureInfo, n_documents: int, resolution: float | None, kinds: Kinds | None
) -> list[str]:
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


def _kinds_notes(info: FigureInfo, found: Contrasts, best: str) -> list[str]:
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
        if best in (c.a, c.b) and _state(c, info) in ("better", "worse")
    }
    others = f"{best} is told from {', '.join(sorted(told))}" if told else f"{best} is told from no other"
    return [
        f"{differ}. Not decidable for new kinds: {kinds.n} are too few ({FEWEST_DOCUMENTS} are needed), so "
        f"no verdict is given about them. On documents of these kinds {others}."
    ]


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
