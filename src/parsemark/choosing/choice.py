"""Which parser for these documents? An answer with its uncertainty, from no, few or many labels."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsemark.choosing.estimate import centred, estimated_figure
from parsemark.choosing.label_order import LabelOrder, draw_order, inclusion_probabilities
from parsemark.choosing.plausibility import Plausibility, layer_texts, measure_plausibility, seen_pages
from parsemark.consensus.agreement import ParserAgreement, measure_agreement
from parsemark.corpora import Corpus
from parsemark.errors import UsageError, require_known
from parsemark.matching.tables import is_positive
from parsemark.model import Prediction
from parsemark.plain_words import counted
from parsemark.protocols import Figure, Summary, Verdict
from parsemark.protocols.contract import DEFAULT_PROTOCOLS, PageProtocol, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_sums, contradictions
from parsemark.protocols.run_data.unread_pages import run_kinds, unread_scans, unscored
from parsemark.protocols.run_scores.aggregate import figure_of
from parsemark.protocols.run_scores.pair_verdicts import rank
from parsemark.protocols.run_scores.slices import page_slices
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.specs import is_derived
from parsemark.store import ParseRecord, Run
from parsemark.store.run_tables import Places
from parsemark.verdicts.error_types import find_errors
from parsemark.verdicts.run_verdict import BestOnKind, Terms, best_on_kinds, run_verdict
from parsemark.verdicts.scored_run import ScoredRun

Floats = NDArray[np.float64]

LOOK_EVERY = 5  # pages that are named to be labelled next
MUCH_LOST = 0.05  # share of lost words from which on a parser is named for it
MIN_DRAWN = 2  # labels from which on there is an estimate


@dataclass(frozen=True)
class ParserCandidate:
    """One parser and what is known of it on these documents."""

    parser: str
    family: tuple[str, ...]  # parsers that it shares its vote with, itself included
    guess: float  # mean score as the other families would give it; needs no label and is no measurement
    estimate: Figure | None = None  # the primary figure over all pages; None without labels
    labelled: Figure | None = None  # the same of the labelled pages, as `bench` shows it; None without labels
    behind: Verdict | None = None  # against the first, as `bench` decides it; None for the first itself
    cpu_s: float | None = None  # per page
    cost_usd: float | None = None
    million_pages_usd: float | None = None  # service and CPU time; None without a price
    licence: str | None = None
    failed: int = 0  # pages on which it failed
    invented: float | None = None
    """Share of the words in its tables that the pages' text layers do not have; None where unknown."""
    ragged: float | None = None  # share of the rows of its tables with one filled cell at most
    lost: float | None = None  # share of the words seen on pages that it has lost or altered; None if unknown
    errors: tuple[tuple[str, int], ...] = ()  # types with the number of elements that have it, most first

    @property
    def is_unknown(self) -> bool:
        """Return whether there are labels, and nothing that the figure is taken over."""
        return self.estimate is not None and self.estimate.value is None

    @property
    def value(self) -> float:
        """Return the best that is known; the candidates are in its order."""
        known = None if self.estimate is None else self.estimate.value
        return self.guess if known is None else known


@dataclass(frozen=True)
class Choice:
    """The answer."""

    protocol: str
    figure: str  # label of the figure that is estimated
    candidates: tuple[ParserCandidate, ...]  # the best first
    n_pages: int
    n_documents: int
    labelled: tuple[str, ...] = ()  # pages whose truth was used
    n_labelled_documents: int = 0
    next_pages: tuple[str, ...] = ()  # pages to label, the most telling first
    budget: int = 0  # how many new pages are to be labelled at most
    begun_with: tuple[str, ...] = ()  # pages that had a label before the first was asked for
    same_as_best: tuple[str, ...] = ()  # gave the same outputs on every page: no label can tell them apart
    notes: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()  # in sentences, as `bench` writes them; without labels there is none
    by_kind: tuple[BestOnKind, ...] = ()  # who is best on each kind of page, by the labelled pages
    higher_is_better: bool = True
    route: tuple[str, ...] = ()  # about the rule that assigns parsers to page types, where one was learned

    @property
    def best(self) -> ParserCandidate:
        """Return the recommended parser."""
        return self.candidates[0]

    @property
    def n_new(self) -> int:
        """Return how many labels have come since the first was asked for."""
        return len(set(self.labelled) - set(self.begun_with))

    @property
    def is_estimated(self) -> bool:
        """Return whether the scores are of more pages than have labels, so that `bench` shows others."""
        return any(c.estimate != c.labelled for c in self.candidates)

    @property
    def certain(self) -> bool:
        """Return whether no other parser may be better: see the verdicts. Those that gave the same outputs as
        the first are no others.
        """
        verdicts = [c.behind for c in self.candidates[1:] if c.parser not in self.same_as_best]
        return len(self.candidates) > 1 and all(v and v.state != "not_significant" for v in verdicts)

    @property
    def next_look(self) -> tuple[str, ...]:
        """Return the next pages to label: those that are named, and that `annotate` opens."""
        return self.next_pages[:LOOK_EVERY]


def choose(
    run: Run,  # parsed and scored under `protocol`; any part of its pages may have truth
    *,
    corpus: Corpus | None = None,  # its pages, for their text layers
    protocol: str = DEFAULT_PROTOCOLS[0],  # whose primary figure is estimated
    budget: int = 10,  # how many new labels are asked for at most
    begun_with: Sequence[str] | None = None,  # pages whose labels are not new; None for all that there are
    seed: int = 0,  # of the order in which pages are to be labelled
    skip: Sequence[str] = (),  # pages to leave out of the labels; the result is about the others
    cpu_hour_usd: float | None = None,  # price of an hour of one CPU
    progress: Callable[[int], None] | None = None,  # told how many pages were compared
) -> Choice:
    """Estimate every parser of a scored run on all its pages. All labels that there are count."""
    recipe = get_protocol(protocol)
    outputs = Outputs.of(run, text=not recipe.tables_alone, skip=skip)
    samples, parsers, predictions = outputs.places.samples, outputs.parsers, outputs.predictions
    engines = run.manifest.engines
    agreement = measure_agreement(
        predictions, parsers, samples, engines, text=outputs.text, progress=progress
    )
    plausibility = outputs.plausibility(corpus)
    guesses = agreement.guesses() * plausibility.trust(text=outputs.text)[:, None]
    labelled = labelled_figure(run, recipe, parsers, samples)
    known: NDArray[np.bool_] = np.isin(samples, labelled.samples)
    order = draw_order(agreement.doubt() + 0.05, outputs.places.documents, seed)
    labels = label_chances(order, known)
    terms = Terms.of(run, cpu_hour_usd)
    summary = None
    candidates = _candidates(outputs, agreement.families(), guesses.mean(axis=1), plausibility, terms)
    if len(labelled.samples) >= MIN_DRAWN:
        figure = _over_all_pages(outputs, labelled, labels, guesses)
        summary = _summary(run, recipe, figure, labelled, len(samples))
        errors = _errors(run, str(recipe), parsers)
        candidates = [_with_scores(c, summary, labelled, errors[c.parser]) for c in candidates]
    candidates = _best_first(candidates, summary is None or labelled.info.higher_is_better)
    verdict: list[str] = []
    if summary is not None:
        ranking = summary.ranking
        first = ranking.model_copy(update={"best": candidates[0].parser if ranking.best else None})
        summary = summary.model_copy(update={"ranking": first})
        candidates = [dataclasses.replace(c, behind=first.to_best(c.parser)) for c in candidates]
        verdict = run_verdict(summary, outputs.records, run.manifest.corpus.spec, terms)
    old = tuple(labelled.samples if begun_with is None else begun_with)
    n_left = max(budget - len(set(labelled.samples) - set(old)), 0)
    waiting = [samples[i] for i in order.order if not known[i]][:n_left]
    scans = unread_scans(run_kinds(run.run_tables()), predictions)
    return Choice(
        protocol=str(recipe),
        figure=labelled.info.label,
        candidates=tuple(candidates),
        n_pages=len(samples),
        n_documents=len(set(outputs.places.documents)),
        labelled=labelled.samples,
        n_labelled_documents=len(set(labelled.documents)),
        next_pages=tuple(easiest_first(waiting, predictions, parsers)),
        budget=budget,
        begun_with=old,
        same_as_best=outputs.same_as(candidates[0].parser),
        notes=(
            *([scans] if scans else []),
            *contradictions(run.run_tables()),
            *_notes(agreement, labels, len(labelled.samples), len(skip), candidates),
            *(summary.ranking.notes if summary else ()),
        ),
        verdict=tuple(verdict),
        by_kind=tuple(best_on_kinds(summary)) if summary else (),
        higher_is_better=labelled.info.higher_is_better,
    )


@dataclass(frozen=True)
class Outputs:
    """What the parsers of a run made of the pages that the answer is about."""

    places: Places
    parsers: tuple[str, ...]
    records: list[ParseRecord]
    predictions: dict[tuple[str, str], Prediction]
    text: bool  # whether whole texts are compared, or tables alone

    @classmethod
    def of(cls, run: Run, *, text: bool, skip: Sequence[str]) -> Outputs:
        """Read them; raise UsageError where there are fewer than two parsers."""
        tables = run.run_tables()
        for page in sorted(skip):
            require_known("page", page, tables.places.samples)
        left_out = {*skip, *unscored(tables)}
        places = tables.places.among(sample for sample in tables.places.samples if sample not in left_out)
        pages = frozenset(places.samples)
        records = [r for r in run.records() if not is_derived(r.parser)]
        parsers = tuple(sorted({record.parser for record in records}))
        if len(parsers) < 2:
            raise UsageError(f"{run.path} has {len(parsers)} parser; to choose, run at least two.")
        if not pages:
            raise UsageError(f"{run.path} has no readable page, so no parser can be chosen.")
        predictions = {(s, p): run.prediction(s, p) for s in places.samples for p in parsers}
        return cls(places, parsers, [r for r in records if r.sample in pages], predictions, text)

    def plausibility(self, corpus: Corpus | None) -> Plausibility:
        """Return the evidence of the pages about the parsers."""
        samples = self.places.samples
        layers = {} if corpus is None or self.text else layer_texts(corpus, samples)
        seen = {} if corpus is None else seen_pages(corpus, samples)
        return measure_plausibility(self.predictions, self.parsers, samples, layers, seen)

    def sizes(self) -> Floats:
        """Return (parsers, pages): how much a page counts in a figure: in an F1 its tables, as the parser and
        most others see them.
        """
        pages = self.places.samples
        if self.text:
            return np.ones((len(self.parsers), len(pages)))
        outputs = [[self.predictions[page, parser].tables for page in pages] for parser in self.parsers]
        found = np.array(
            [[sum(is_positive(e.confidence) for e in of) for of in own] for own in outputs], float
        )
        return np.asarray(found + np.median(found, axis=0))

    def same_as(self, parser: str) -> tuple[str, ...]:
        """Return the other parsers that gave the same on every page."""

        def of(name: str) -> list[tuple[object, ...]]:
            own = (self.predictions[sample, name] for sample in self.places.samples)
            return [(output.status, output.elements, output.text) for output in own]

        return tuple(name for name in self.parsers if name != parser and of(name) == of(parser))


def _over_all_pages(
    outputs: Outputs, labelled: FigureSums, labels: LabelChances, guesses: Floats
) -> FigureSums:
    """Return the estimate for all pages; the figure of the labelled ones if their chances are unknown."""
    if not labels.drawn:
        return labelled
    own = zip(outputs.parsers, guesses, outputs.sizes(), strict=True)
    added = {parser: centred(guess, size) for parser, guess, size in own}
    return estimated_figure(labelled, outputs.places, labels.chances, added)


def _best_first(
    candidates: Iterable[ParserCandidate], higher_is_better: bool = True
) -> list[ParserCandidate]:
    """Return candidates in order; of equal parsers the one that needs less CPU for a page comes first."""
    sign = 1.0 if higher_is_better else -1.0
    return sorted(
        candidates, key=lambda c: (c.is_unknown, -round(sign * c.value, 6), c.cpu_s or 0.0, c.parser)
    )


def _candidates(
    outputs: Outputs,
    families: Sequence[tuple[str, ...]],
    guesses: Floats,
    plausibility: Plausibility,
    terms: Terms,
) -> list[ParserCandidate]:
    """Return the estimates of each parser that need no labels."""
    found = []
    for k, parser in enumerate(outputs.parsers):
        own = [record for record in outputs.records if record.parser == parser]
        cpu_s, cost_usd = known_mean(r.cpu_s for r in own), known_mean(r.cost_usd for r in own)
        found.append(
            ParserCandidate(
                parser=parser,
                family=next(family for family in families if parser in family),
                guess=float(guesses[k]),
                cpu_s=cpu_s,
                cost_usd=cost_usd,
                million_pages_usd=terms.million_pages_usd(cpu_s, cost_usd),
                licence=terms.licences.get(parser),
                failed=sum(r.status != "ok" for r in own),
                invented=_number(plausibility.invented[k]),
                ragged=_number(plausibility.ragged[k]),
                lost=_number(plausibility.lost[k]),
            )
        )
    return found


def _summary(
    run: Run, recipe: PageProtocol, figure: FigureSums, labelled: FigureSums, n_pages: int
) -> Summary:
    """Return the estimates in the form of a protocol's summary of a run."""
    return run.summary(str(recipe)).model_copy(
        update={
            "parsers": {parser: {figure.info.name: figure_of(figure, parser)} for parser in figure.sums},
            "ranking": rank(figure),
            "slices": page_slices([labelled], run.run_tables(str(recipe))),
            "counts": {"pages": n_pages},
        }
    )


def _with_scores(
    candidate: ParserCandidate, summary: Summary, labelled: FigureSums, errors: tuple[tuple[str, int], ...]
) -> ParserCandidate:
    parser = candidate.parser
    own = figure_of(labelled, parser) if parser in labelled.sums else None
    return dataclasses.replace(
        candidate, estimate=summary.figure(parser, summary.primary), labelled=own, errors=errors
    )


def labelled_figure(
    run: Run, recipe: PageProtocol, parsers: Sequence[str], samples: Sequence[str]
) -> FigureSums:
    """Return the primary figure of a run on those of some pages that have a truth it is made of."""
    spec = str(recipe)
    primary, wanted = run.summary(spec).primary, frozenset(samples)
    for figure in complete_sums(recipe, run.run_tables(spec)):
        if figure.info.name == primary:
            own = {p: figure.sums[p] for p in parsers if p in figure.sums}
            scored = np.any([np.isfinite(figure.page_values(p)) for p in own], axis=0)
            kept = [k for k, s in enumerate(figure.samples) if scored[k] and s in wanted]
            return dataclasses.replace(
                figure,
                samples=tuple(figure.samples[k] for k in kept),
                documents=tuple(figure.documents[k] for k in kept),
                sums={parser: pages[kept] for parser, pages in own.items()},
                division=figure.division
                and dataclasses.replace(figure.division, types=tuple(figure.division.types[k] for k in kept)),
            )
    raise UsageError(f"The protocol {spec} has no score that is computed page by page.")


@dataclass(frozen=True)
class LabelChances:
    """With what chance each page was to be labelled."""

    chances: Floats
    n_out_of_turn: int = 0
    drawn: bool = True  # False: most labels were there before pages were drawn, so all count alike


def label_chances(order: LabelOrder, known: NDArray[np.bool_]) -> LabelChances:
    """Return the chances of all pages to be among the labelled ones.

    Pages that were labelled in their turn were drawn by known chances and stand for all the others. One that
    was labelled out of turn was chosen by somebody: it stands for itself, with chance 1. Where most were, no
    chances are known: labels count as they do in `bench`.
    """
    n_drawn = next((k for k, index in enumerate(order.order) if not known[index]), len(known))
    others = [int(i) for i in order.order[n_drawn:] if known[i]]
    if n_drawn < max(MIN_DRAWN, len(others)):
        return LabelChances(np.ones(len(known)), len(others), drawn=False)
    chances = np.ones(len(known))
    rest = np.setdiff1d(np.arange(len(known)), others)
    chances[rest] = inclusion_probabilities(order.size[rest] / order.size[rest].sum(), n_drawn)
    return LabelChances(chances, len(others))


def _errors(run: Run, protocol: str, parsers: Sequence[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return for each parser its error types as the report counts them, the most frequent first."""
    found = find_errors(ScoredRun(run, protocol), None, parsers)
    label = {kind.name: kind.label.lower() for kind in found.kinds}
    counts = {p: {label[k]: n for k, (n, _) in found.counts(p).items() if k in label} for p in parsers}
    return {p: tuple(sorted(own.items(), key=lambda item: -item[1])) for p, own in counts.items()}


def easiest_first(
    pages: Sequence[str], predictions: Mapping[tuple[str, str], Prediction], parsers: Sequence[str]
) -> list[str]:
    """Return the pages of the next look, those with the fewest cells first, and then the others.

    Who labels a first page should be done in two minutes; within a look the order does not matter.
    """

    def cells(page: str) -> float:
        tables = [[e.table for e in predictions[page, parser].tables] for parser in parsers]
        counts = [sum(len(t.cells) for t in found if t is not None) for found in tables]
        # A page without any predicted table is uninformative, and an empty page is a bad start.
        return float(np.median(counts)) or math.inf

    return [*sorted(pages[:LOOK_EVERY], key=cells), *pages[LOOK_EVERY:]]


def page_scores(
    run: Run, recipe: PageProtocol, parsers: Sequence[str], samples: Sequence[str]
) -> tuple[Floats, str]:
    """Return (parsers, pages) of the protocol's primary figure, NaN where there is no truth; and its
    label.
    """
    figure = labelled_figure(run, recipe, parsers, samples)
    known = [dict(zip(figure.samples, figure.page_values(p), strict=True)) for p in parsers]
    scores = [[values.get(sample, np.nan) for sample in samples] for values in known]
    return np.array(scores, dtype=np.float64), figure.info.label


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def known_mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of those that are known; None where none is."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None


def _notes(
    agreement: ParserAgreement,
    labels: LabelChances,
    n_labels: int,
    n_skipped: int,
    candidates: Sequence[ParserCandidate],
) -> list[str]:
    shared = [f for f in agreement.families() if len(f) > 1]
    notes = [f"{', '.join(f)} share one vote, because they make the same errors." for f in shared]
    if labels.n_out_of_turn and n_labels < len(agreement.samples):
        pages = f"{counted(labels.n_out_of_turn, 'page')} labelled that the command did not suggest"
        notes.append(
            f"{pages}: each stands only for itself. The suggested pages stand for all other pages."
            if labels.drawn
            else f"{pages}: the scores treat all labelled pages as a random sample, as `bench` does."
        )
    if n_skipped:
        notes.append(f"{counted(n_skipped, 'page')} skipped: the result is for the other pages.")
    if len(agreement.families()) < 3:
        notes.append("Fewer than three independent parsers: agreement is weak evidence. Labels are needed.")
    lossy = [f"{c.parser} {c.lost:.1%}" for c in candidates if c.lost is not None and c.lost >= MUCH_LOST]
    if lossy:
        words = "Share of the visible words that are lost or altered (as in `evidence`)"
        notes.append(
            f"{words}: {', '.join(lossy)}. For parsers that return only tables, words in tables count."
        )
    return notes
