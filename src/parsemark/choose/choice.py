"""Which parser for these documents? An answer with its uncertainty, from no, few or many labels."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsemark.choose.label_order import LabelOrder, draw_order, inclusion_probabilities
from parsemark.choose.sanity import layer_texts, measure_sanity, seen_pages
from parsemark.consensus.agreement import ParserAgreement, measure_agreement
from parsemark.corpora import Corpus
from parsemark.errors import UsageError, require_known
from parsemark.matching import match_by_ngrams
from parsemark.metrics import get_metric
from parsemark.metrics.table_input import TableInput
from parsemark.model import Element, Prediction, Status
from parsemark.pdf.page_kinds import TRAITS, Kinds
from parsemark.plain_words import counted
from parsemark.protocols.contract import PageProtocol, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_sums, contradictions
from parsemark.protocols.run_data.unread_pages import run_kinds, unread_scans, unscored
from parsemark.protocols.tables import is_positive
from parsemark.stats.intervals import t_quantile
from parsemark.stats.prediction_powered import Estimate, estimate_mean, standings
from parsemark.store import Run

Floats = NDArray[np.float64]

LOOK_EVERY = 5  # labels between two looks at the result; each may err, so each gets its share of the 5 %
ALPHA = 0.05
MUCH_LOST = 0.05  # share of lost words from which on a parser is named for it
MIN_DRAWN = 2  # labels from which on there is an interval
MIN_KIND = 3  # pages of a kind before something is said of it


@dataclass(frozen=True)
class ParserCandidate:
    """One parser and what is known of it on these documents."""

    parser: str
    family: tuple[str, ...]  # parsers that it shares its vote with, itself included
    guess: float  # mean score as the other families would give it; needs no label and is no measurement
    estimate: Estimate | None  # mean score over all pages; None without labels
    behind: Estimate | None
    """How far it is behind the first (its score minus that of the first), with an interval that holds for all
    candidates at once; None for the first itself and without labels."""
    cpu_s: float | None  # per page
    cost_usd: float | None
    failed: int  # pages on which it failed
    invented: float | None = None
    """Share of the words in its tables that the pages' text layers do not have; None where unknown."""
    ragged: float | None = None  # share of the rows of its tables with one filled cell at most
    errors: tuple[tuple[str, int], ...] = ()  # kinds with the number of labelled pages, most frequent first
    standing: float | None = None
    """The score that is shown and that the order follows: the estimate drawn towards what the agreement of
    the parsers says, within its interval; None without labels."""
    lost: float | None = None  # share of the words seen on pages that it has lost or altered; None if unknown

    @property
    def value(self) -> float:
        """The best that is known; the candidates are in its order."""
        if self.estimate is None:
            return self.guess
        return self.estimate.value if self.standing is None else self.standing


@dataclass(frozen=True)
class KindStanding:
    """Who is best on the pages of one kind."""

    trait: str
    value: str
    n_pages: int
    n_labels: int
    parser: str
    score: float  # of that parser on these pages: the mean of the labels, or a guess where there are too few
    best_score: float  # of the best parser over all pages, here


@dataclass(frozen=True)
class Choice:
    """The answer."""

    protocol: str
    figure: str  # what is estimated: the mean over pages of this figure
    candidates: tuple[ParserCandidate, ...]  # the best first
    n_pages: int
    n_documents: int
    labelled: tuple[str, ...]  # pages whose truth was used, in the order in which they were to be labelled
    next_pages: tuple[str, ...]  # pages to label, the most telling first
    budget: int
    certain: bool
    """Whether the first is better than all others at 95 %, all looks so far counted. Those that gave the same
    outputs as the first do not count as others."""
    same_as_best: tuple[str, ...] = ()  # gave the same outputs on every page: no label can tell them apart
    notes: tuple[str, ...] = field(default=())
    by_kind: tuple[KindStanding, ...] = ()  # who is best on each kind of page

    @property
    def best(self) -> ParserCandidate:
        """The recommended parser."""
        return self.candidates[0]

    @property
    def next_look(self) -> tuple[str, ...]:
        """Pages to label before the next look: those that are named, and that `annotate` opens."""
        return self.next_pages[:LOOK_EVERY]


def choose(
    run: Run,  # parsed and scored under `protocol`; any part of its pages may have truth
    *,
    corpus: Corpus | None = None,  # its pages, for their text layers and for typical errors
    protocol: str = "tables",  # whose primary figure is estimated, as the mean over pages
    budget: int = 10,  # how many labels are to be used at most
    seed: int = 0,  # of the order in which pages are to be labelled
    skip: Sequence[str] = (),  # pages that nobody is to label; the answer is about the others
    labels: Callable[[str], bool] | None = None,  # whether a truth may be used; by default any
    progress: Callable[[int], None] | None = None,  # told how many pages were compared
) -> Choice:
    """Estimate every parser of a scored run on all its pages."""
    recipe = get_protocol(protocol)
    table = run.table("samples")
    for page in sorted(skip):
        require_known("page", page, table["sample"].to_list())
    kinds = run_kinds(run.run_tables())
    unread = {*skip, *unscored(run.run_tables())}
    rows = [row for row in zip(table["sample"], table["document"], strict=True) if row[0] not in unread]
    samples, documents = [row[0] for row in rows], [row[1] for row in rows]
    records = run.records()
    parsers = sorted({record.parser for record in records})
    if len(parsers) < 2:
        raise UsageError(f"{run.path} has {len(parsers)} parser; to choose, run at least two.")
    predictions = {(s, p): run.prediction(s, p) for s in samples for p in parsers}
    text = recipe.name != "tables"
    engines = run.manifest.engines
    agreement = measure_agreement(predictions, parsers, samples, engines, text=text, progress=progress)
    layers = {} if corpus is None or text else layer_texts(corpus, samples)
    seen = {} if corpus is None else seen_pages(corpus, samples)
    sanity = measure_sanity(predictions, parsers, samples, layers, seen)
    scores, label = page_scores(run, recipe, parsers, samples)
    known: NDArray[np.bool_] = np.asarray(~np.isnan(scores).any(axis=0), dtype=np.bool_)
    if labels is not None:
        known &= np.array([labels(sample) for sample in samples])
    order = draw_order(agreement.doubt() + 0.05, documents, seed)
    used = usable_labels(order, known, budget)
    costs = {p: [r for r in records if r.parser == p and r.sample not in unread] for p in parsers}
    cpu_s = [known_mean(r.cpu_s for r in costs[parser]) or 0.0 for parser in parsers]
    trust = sanity.trust(text=text)
    ranking = rank(agreement, scores, used, trust, cpu_s)
    best = parsers[ranking[0].parser]

    def outputs(parser: str) -> list[tuple[object, ...]]:
        own = (predictions[sample, parser] for sample in samples)
        return [(output.status, output.elements, output.text) for output in own]

    same = tuple(p for p in parsers if p != best and outputs(p) == outputs(best))
    others = [place.behind for place in ranking[1:] if parsers[place.parser] not in same]
    labelled = tuple(samples[i] for i in used.pages)
    errors = {} if corpus is None or text else typical_errors(corpus, run, parsers, labelled)
    is_used = np.isin(np.arange(len(samples)), used.pages)
    warning = unread_scans(kinds, predictions)
    candidates = tuple(
        ParserCandidate(
            parser=parsers[i],
            family=next(f for f in agreement.families() if parsers[i] in f),
            guess=guess,
            estimate=estimate,
            behind=behind,
            cpu_s=known_mean(r.cpu_s for r in costs[parsers[i]]),
            cost_usd=known_mean(r.cost_usd for r in costs[parsers[i]]),
            failed=sum(r.status != "ok" for r in costs[parsers[i]]),
            invented=_number(sanity.invented[i]),
            ragged=_number(sanity.ragged[i]),
            lost=_number(sanity.lost[i]),
            errors=errors.get(parsers[i], ()),
            standing=standing,
        )
        for i, guess, estimate, behind, standing in ranking
    )
    # What is drawn within the budget and has a label already need not be asked for again.
    waiting = [samples[i] for i in order.order if not known[i]][: max(budget - len(labelled), 0)]
    waiting = easiest_first(waiting, predictions, parsers)
    return Choice(
        protocol=str(recipe),
        figure=label,
        candidates=candidates,
        n_pages=len(samples),
        n_documents=len(set(documents)),
        labelled=labelled,
        next_pages=tuple(waiting),
        budget=budget,
        certain=all(b is not None and b.high < 0 for b in others),
        same_as_best=same,
        notes=(
            *([warning] if warning else []),
            *contradictions(run.run_tables()),
            *_notes(agreement, used, len(skip), candidates),
        ),
        by_kind=best_by_kind(
            kinds,
            samples,
            parsers,
            best,
            np.where(is_used, scores, np.nan),
            agreement.guesses() * trust[:, None],
        ),
    )


def best_by_kind(
    kinds: Mapping[str, Kinds],
    samples: Sequence[str],
    parsers: Sequence[str],
    best: str,
    scores: Floats,
    guesses: Floats,
) -> tuple[KindStanding, ...]:
    """For each kind that some pages are of and others are not, its best parser; scores and guesses are
    (parsers, pages), scores NaN where nothing is known.
    """
    found, overall = [], parsers.index(best)
    for trait, name in TRAITS.items():
        values = np.array([kinds.get(sample, {}).get(trait, "") for sample in samples])
        for value in sorted(set(values.tolist()) - {""}):
            own = values == value
            n_pages, labelled = int(own.sum()), own & ~np.isnan(scores).any(axis=0)
            if not MIN_KIND <= n_pages < len(samples):
                continue
            n_labels = int(labelled.sum()) if labelled.sum() >= MIN_KIND else 0
            means = (scores[:, labelled] if n_labels else guesses[:, own]).mean(axis=1)
            first = int(means.argmax()) if means.max() > means[overall] else overall
            of_both = parsers[first], float(means[first]), float(means[overall])
            found.append(KindStanding(name, value, n_pages, n_labels, *of_both))
    return tuple(found)


@dataclass(frozen=True)
class UsableLabels:
    """Labelled pages and with what chance each page was to be among them."""

    pages: NDArray[np.int64]
    inclusion: Floats  # of every page
    n_out_of_turn: int = 0
    as_if_drawn: bool = False  # whether labels count as drawn that were not: too few came in their turn


def usable_labels(order: LabelOrder, known: NDArray[np.bool_], budget: int) -> UsableLabels:
    """The labels of an order, and their chances.

    Pages that were labelled in their turn were drawn by known chances and stand for all the others. One that
    was labelled out of turn was chosen by somebody: it stands for itself, with chance 1. Where hardly any
    page was labelled in its turn, the labels that there are count as if they had been drawn.
    """
    prefix: list[int] = []
    for index in order.order[:budget]:
        if not known[index]:
            break
        prefix.append(int(index))
    later = [int(i) for i in order.order if known[i] and int(i) not in prefix]
    others = later[: budget - len(prefix)]
    pages = np.array(prefix + others, dtype=np.int64)
    if len(prefix) < MIN_DRAWN:
        return UsableLabels(pages, order.inclusion(len(pages)), len(others), bool(others))
    inclusion = np.ones(len(known))
    rest = np.setdiff1d(np.arange(len(known)), others)
    inclusion[rest] = inclusion_probabilities(order.size[rest] / order.size[rest].sum(), len(prefix))
    return UsableLabels(pages, inclusion, len(others))


def easiest_first(
    pages: Sequence[str], predictions: Mapping[tuple[str, str], Prediction], parsers: Sequence[str]
) -> list[str]:
    """The pages of the next look, those with the fewest cells first, and then the others.

    Who labels a first page should be done in two minutes; within a look the order does not matter.
    """

    def cells(page: str) -> float:
        tables = [[e.table for e in predictions[page, parser].tables] for parser in parsers]
        counts = [sum(len(t.cells) for t in found if t is not None) for found in tables]
        # A page on which nobody sees a table tells little, and an empty page is no start.
        return float(np.median(counts)) or math.inf

    return [*sorted(pages[:LOOK_EVERY], key=cells), *pages[LOOK_EVERY:]]


class RankedParser(NamedTuple):
    """The numbers behind a place; fields as those of `ParserCandidate`."""

    parser: int  # its index
    guess: float
    estimate: Estimate | None = None
    behind: Estimate | None = None
    standing: float | None = None


def rank(
    agreement: ParserAgreement, scores: Floats, labels: UsableLabels, trust: Floats, cpu_s: Sequence[float]
) -> list[RankedParser]:
    """Order the parsers by what is known, with intervals of scores and of distances to the first.

    Scores (of each parser and page) are used where labelled, guesses are multiplied with `trust`
    (`Sanity.trust`), and of equal parsers the one that needs less CPU for a page comes first.
    """

    def place(means: Floats) -> list[int]:
        return sorted(range(n), key=lambda i: (-round(float(means[i]), 6), cpu_s[i], agreement.parsers[i]))

    guesses = agreement.guesses() * trust[:, None]
    mean, n = guesses.mean(axis=1), len(agreement.parsers)
    used, chances = labels.pages, labels.inclusion
    if len(used) < MIN_DRAWN:
        return [RankedParser(i, mean[i]) for i in place(mean)]
    drawn = standings(scores[:, used], guesses, used, chances)
    labels_and_guesses = zip(scores[:, used], guesses, strict=True)
    estimates = [estimate_mean(*own, used, chances, bounds=(0.0, 1.0)) for own in labels_and_guesses]
    # What is shown lies in the interval that stands beside it, and the order follows what is shown.
    shown = np.array([min(max(value, e.low), e.high) for value, e in zip(drawn, estimates, strict=True)])
    places = place(shown)
    first = places[0]
    alpha = ALPHA / (max(math.ceil(len(used) / LOOK_EVERY), 1) * (n - 1))
    found = []
    for i in places:
        apart, guessed = scores[i, used] - scores[first, used], guesses[i] - guesses[first]
        behind = estimate_mean(apart, guessed, used, chances, alpha=alpha, bounds=(-1.0, 1.0))
        own = estimates[i], None if i == first else behind
        found.append(RankedParser(i, mean[i], *own, float(shown[i])))
    return found


def labels_needed(candidate: ParserCandidate, n_labels: int, n_candidates: int, n_pages: int) -> int | None:
    """About how many more labels would tell a candidate from the first, whichever is ahead then.

    0 where none is needed or none is left; None where nobody can say.
    """
    gap = candidate.behind
    if gap is None or not math.isfinite(gap.standard_error) or n_labels >= n_pages or gap.value == 0:
        return None
    spread = gap.standard_error**2 / max(1 - n_labels / n_pages, 1e-9) * n_labels
    for total in range(n_labels, n_pages):
        looks = math.ceil(total / LOOK_EVERY)
        reach = t_quantile(1 - ALPHA / (looks * (n_candidates - 1)), max(total - 2, 1))
        if reach * math.sqrt(spread / total * (1 - total / n_pages)) < abs(gap.value):
            return total - n_labels
    return n_pages - n_labels


def page_scores(
    run: Run, recipe: PageProtocol, parsers: Sequence[str], samples: Sequence[str]
) -> tuple[Floats, str]:
    """(parsers, pages) of the protocol's primary figure, NaN where there is no truth; and its label."""
    spec = str(recipe)
    primary = run.summary(spec).primary
    for figure in complete_sums(recipe, run.run_tables(spec)):
        if figure.info.name == primary:
            known = [dict(zip(figure.samples, figure.page_values(p), strict=True)) for p in parsers]
            scores = [[values.get(sample, np.nan) for sample in samples] for values in known]
            return np.array(scores, dtype=np.float64), figure.info.label
    raise UsageError(f"The protocol {spec} has no figure that is made page by page.")


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def known_mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are known; None where none is."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None


def _notes(
    agreement: ParserAgreement, labels: UsableLabels, n_skipped: int, candidates: Sequence[ParserCandidate]
) -> list[str]:
    shared = [f for f in agreement.families() if len(f) > 1]
    notes = [f"{', '.join(f)} have one vote together, because they make the same errors." for f in shared]
    if labels.n_out_of_turn:
        pages = f"{counted(labels.n_out_of_turn, 'page')} labelled out of turn"
        notes.append(
            f"{pages}: used as if drawn by chance. If somebody chose them by what they show, "
            "intervals are too narrow."
            if labels.as_if_drawn
            else f"{pages}: used for what they are; the pages that were drawn stand for the others."
        )
    if n_skipped:
        notes.append(f"{counted(n_skipped, 'page')} skipped: the answer is about the others.")
    if len(agreement.families()) < 3:
        notes.append("Fewer than three independent families: agreement says little, labels are needed.")
    lossy = [f"{c.parser} {c.lost:.0%}" for c in candidates if c.lost is not None and c.lost >= MUCH_LOST]
    if lossy:
        asked = "of the words that can be seen on the pages (in its tables, where it gives nothing else)"
        notes.append(f"Lost or altered {asked}: {', '.join(lossy)}.")
    return notes


MISSED, EXTRA, FAILED = "table_missed", "table_invented", "no_answer"
LEAST_POINTS = 0.5  # events that cost less are not typical errors but blemishes


def typical_errors(
    corpus: Corpus, run: Run, parsers: Sequence[str], samples: Sequence[str]
) -> dict[str, tuple[tuple[str, int], ...]]:
    """For each parser the kinds of its errors with the number of pages that have them, most first."""
    counts: dict[str, Counter[str]] = {parser: Counter() for parser in parsers}
    for key in samples:
        truth = corpus.read(key).truth
        if truth is None:
            continue
        tables = [e for e in truth.tables if e.table is not None]
        for parser in parsers:
            counts[parser].update(_of_page(tables, run, key, parser))
    return {parser: tuple(counter.most_common()) for parser, counter in counts.items()}


def _of_page(truths: Sequence[Element], run: Run, sample: str, parser: str) -> set[str]:
    """What went wrong, by the matching of the protocol's own tables (`ngrams`)."""
    prediction = run.prediction(sample, parser)
    if prediction.status is not Status.OK:
        return {FAILED}
    matched = match_by_ngrams(truths, [e for e in prediction.tables if is_positive(e.confidence)])
    metric, found = get_metric("reader"), set()
    for truth in truths:
        if (answer := matched.answers.get(truth.id)) is not None and truth.table is not None:
            errors = metric.score(TableInput(truth.table), TableInput(answer)).details["errors"]
            found |= {error["kind"] for error in errors if error["cost"] >= LEAST_POINTS}
    kinds = {match.kind for match in matched.matching.matches}
    return found | ({MISSED} if "miss" in kinds else set()) | ({EXTRA} if "extra" in kinds else set())
