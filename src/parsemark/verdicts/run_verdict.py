"""The verdict on a run in plain words: what to take, where it fails, what would settle it, what it costs."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from parsemark.plain_words import INTERVAL, attribute_words, counted, listed, needed_to_separate
from parsemark.protocols.contract import get_protocol
from parsemark.protocols.run_data.unread_pages import unscored
from parsemark.stats.intervals import FEWEST_DOCUMENTS
from parsemark.store import ParseRecord, Run
from parsemark.store.summary import Summary, Verdict

WEAK_BY = 0.1  # how far a parser's score on a page type must be below its own score to be reported
_MOST_KINDS = 2
FEWEST = 5  # minimum pages or elements of a type to report it
MOST_LABELS = 1_000  # more documents than this are not worth suggesting
MILLION = 1_000_000


def scored_records(run: Run, protocol: str) -> list[ParseRecord]:
    """Return the parses of a run without those of files that are in no score."""
    gone = unscored(run.run_tables(protocol))
    return [record for record in run.records() if record.sample not in gone]


@dataclass(frozen=True)
class Terms:
    """On which terms parsers can be used: their licences, and the price of an hour of one CPU in USD."""

    licences: Mapping[str, str] = field(default_factory=dict)
    cpu_hour_usd: float | None = None

    @classmethod
    def of(cls, run: Run, cpu_hour_usd: float | None = None) -> Terms:
        """Return the terms of the parsers of a run."""
        return cls({p.name: p.licence for p in run.manifest.parsers if p.licence}, cpu_hour_usd)

    def million_pages_usd(self, cpu_s: float | None, service_usd: float | None) -> float | None:
        """Return dollars for a million pages, of which one takes so much; None without a price."""
        priced = [] if self.cpu_hour_usd is None or cpu_s is None else [cpu_s / 3600 * self.cpu_hour_usd]
        priced += [service_usd] if service_usd else []
        return sum(priced) * MILLION if priced else None


Question = Literal["which", "sure", "why", "cost", "next"]
QUESTIONS: tuple[tuple[Question, str], ...] = (
    ("which", "Which parser?"),
    ("sure", "How sure?"),
    ("why", "Why?"),
    ("cost", "What does it cost?"),
    ("next", "What next?"),
)
"""What the verdict answers, each with its heading."""


def run_verdict(
    summary: Summary, records: Sequence[ParseRecord], corpus: str, terms: Terms | None = None
) -> list[str]:
    """Return the verdict in sentences, the answer first; without truth, the next step."""
    answers = verdict_by_question(summary, records, corpus, terms)
    sentences = [sentence for _, sentence in answers]
    if [question for question, _ in answers[:2]] == ["which", "sure"]:
        return [" ".join(sentences[:2]), *sentences[2:]]  # in a terminal the first line has the score, too
    return sentences


def verdict_by_question(
    summary: Summary, records: Sequence[ParseRecord], corpus: str, terms: Terms | None = None
) -> list[tuple[Question, str]]:
    """Return the sentences of the verdict, each with the question that it answers."""
    best = summary.ranking.best
    figure = summary.figure(best, summary.primary) if best is not None else None
    if best is None or figure is None or figure.value is None:
        sentences = _without_truth(summary, records, corpus)
        return [("which", sentences[0]), *(("next", sentence) for sentence in sentences[1:])]
    info = summary.info(summary.primary)
    interval = " on these documents; they are too few for a confidence interval"
    if figure.interval or summary.ranking.n_documents >= FEWEST_DOCUMENTS:
        interval = f"; {INTERVAL}: {figure.low:.2f} to {figure.high:.2f}" if figure.interval else ""
    recipe = get_protocol(summary.protocol)
    name = f"score for {_short_title(recipe.title)}"
    verdicts = {p: v for p in summary.parsers if (v := summary.ranking.to_best(p)) is not None}
    open_ = [p for p, v in verdicts.items() if v.state == "not_significant"]
    same = [p for p, v in verdicts.items() if v.state in ("equal", "equivalent")]
    head = f"Best: {best}."
    if open_ and summary.ranking.n_documents < FEWEST_DOCUMENTS:
        few = counted(summary.ranking.n_documents, "document")
        head = f"Best so far: {best}. {few} are too few to test its lead over {listed(open_)}."
    elif open_:
        head = f"Best so far: {best}, statistically indistinguishable from {listed(open_)}."
    head = head if recipe.needs_labels else head.replace(":", " (judged without truth):", 1)
    score = f"{name} ({info.label}) is {figure.value:.2f}{interval}."
    said: list[tuple[Question, str]] = [("which", head), ("sure", f"Its {score}")]
    if len(summary.parsers) == 1:
        said = [("which", f"{best}: its {score}")]
    if level := [p for p in open_ if verdicts[p].is_level]:
        said.append(("sure", f"Tied with it: {listed(level)}."))
    if same:
        said.append(("which", f"Equally good: {listed(same)}. Choose by time, cost or licence."))
    said += [("why", s) for s in (*_fails_on(summary, best, records), *_better_elsewhere(summary))]
    gaps = {p: math.inf if (d := verdicts[p].difference) is None else abs(d) for p in open_}
    for other in sorted(open_, key=gaps.__getitem__)[:1]:
        said += [("next", s) for s in _settled_by(best, other, verdicts[other], recipe.needs_labels)]
    return said + [("cost", sentence) for sentence in _costs(best, records, terms or Terms())]


@dataclass(frozen=True, slots=True)
class BestOnKind:
    """Who is best on the pages of one kind."""

    attribute: str
    value: str
    n: int  # how much of it is scored, in `unit`: of other pages there is no truth, or nothing to find
    unit: str
    parser: str
    score: float
    overall: float  # of the parser that is best over all pages, here


def best_on_kinds(summary: Summary) -> list[BestOnKind]:
    """Return the best parser of each kind that enough pages are of and others are not; if level, the overall
    one.
    """
    best, info = summary.ranking.best, summary.info(summary.primary)
    n_all = summary.counts.get("pages", math.inf)
    sign, found = 1 if info.higher_is_better else -1, []
    unit = info.denominator.partition(" (")[0].removeprefix("all ")
    for part in summary.slices:
        own = {parser: figures.get(summary.primary) for parser, figures in part.figures.items()}
        known = {p: f.value for p, f in own.items() if f and f.value is not None and f.n >= FEWEST}
        if part.scope != "page" or best not in known or not FEWEST <= part.n < n_all:
            continue
        first = max(known, key=lambda parser: (sign * known[parser], parser == best))
        n = max(round(f.n) for f in own.values() if f is not None)
        place = part.attribute, part.value, n, unit
        found.append(BestOnKind(*place, first, known[first], known[best]))
    return found


def _better_elsewhere(summary: Summary) -> list[str]:
    """Return kinds of pages on which another parser is far ahead of the best one, the largest distance
    first.
    """
    top = summary.info(summary.primary).top or 1.0
    ahead = [k for k in best_on_kinds(summary) if abs(k.score - k.overall) >= WEAK_BY * top]
    ahead.sort(key=lambda k: (-abs(k.score - k.overall), -k.n))
    return [
        f"On pages with {attribute_words(k.attribute, k.value)} ({k.n} {k.unit}), {k.parser} scores higher "
        f"than {summary.ranking.best}: {k.score:.2f} vs {k.overall:.2f}."
        for k in ahead[:_MOST_KINDS]
    ]


def _fails_on(summary: Summary, best: str, records: Sequence[ParseRecord]) -> list[str]:
    info, overall = summary.info(summary.primary), _value(summary, best)
    sign = 1 if info.higher_is_better else -1
    found = []
    for part in summary.slices:
        figure = part.figures.get(best, {}).get(summary.primary)
        if overall is None or figure is None or figure.value is None or part.n < FEWEST:
            continue
        behind = sign * (overall - figure.value)
        if behind >= WEAK_BY * (info.top or 1.0):
            words = f"{part.scope}s with {attribute_words(part.attribute, part.value)} ({figure.value:.2f})"
            found.append((behind, words))
    weakest = [words for _, words in sorted(found, reverse=True)[:2]]
    failed = sum(r.parser == best and r.status != "ok" for r in records)
    said = [f"It scores lowest on {listed(weakest)}."] if weakest else []
    return said + ([f"It failed on {counted(failed, 'page')}."] if failed else [])


def _settled_by(best: str, other: str, verdict: Verdict, needs_labels: bool) -> list[str]:
    """Return how many more documents would separate two parsers at today's difference; or nothing."""
    if not verdict.difference or verdict.low is None or verdict.high is None:
        return []
    half = (verdict.high - verdict.low) / 2
    more = math.ceil(verdict.n_documents * ((half / abs(verdict.difference)) ** 2 - 1))
    document = "labelled document" if needs_labels else "document"
    number = f"about {counted(max(more, FEWEST_DOCUMENTS - verdict.n_documents, 1), f'more {document}')}"
    if more > MOST_LABELS:
        number = f"more than 1,000 more {document}s"
    return [needed_to_separate(number, other, best, verdict.difference)]


def _costs(best: str, records: Sequence[ParseRecord], terms: Terms) -> list[str]:
    own = [r for r in records if r.parser == best]
    cpu = [r.cpu_s for r in own if r.cpu_s is not None]
    usd = [r.cost_usd for r in own if r.cost_usd is not None]
    service = sum(usd) / len(usd) if usd else 0.0
    said = [f"The licence of {best} is {terms.licences[best]}."] if best in terms.licences else []
    if not cpu:
        return said
    hours = sum(cpu) / len(cpu) * MILLION / 3600
    price = ""
    if terms.cpu_hour_usd is not None:
        price = f" ({hours * terms.cpu_hour_usd:,.2f} USD at {terms.cpu_hour_usd:g} USD an hour)"
    dollars = f" and {service * MILLION:,.0f} USD for the service" if service else ""
    needed = f"{max(hours, 0.1):,.1f} CPU hours on this machine{price}{dollars}"
    return [f"With {best}, a million pages take {needed}.", *said]


def _value(summary: Summary, parser: str) -> float | None:
    figure = summary.figure(parser, summary.primary)
    return None if figure is None else figure.value


def _without_truth(summary: Summary, records: Sequence[ParseRecord], corpus: str) -> list[str]:
    parsers = sorted({r.parser for r in records})
    failed = {p: sum(r.parser == p and r.status != "ok" for r in records) for p in parsers}
    bad = [f"{p} on {n}" for p, n in failed.items() if n]
    pages = counted(len({r.sample for r in records}), "page")
    title = _short_title(get_protocol(summary.protocol).title)
    if nothing := [p for p in summary.parsers if _value(summary, p) == 0]:
        label = summary.info(summary.primary).label
        return [f"No output of {listed(nothing)} is right: the score for {title} is 0.00 ({label})."]
    if summary.counts.get("pages with truth") != 0:
        return [f"Nothing to compare: none of these {pages} has what {summary.protocol} requires."]
    said = [
        f"No page has truth, so there is no score for {title}. {counted(len(parsers), 'parser')} read {pages}"
        + (f"; failed: {listed(bad)}." if bad else ", without failures.")
    ]
    step = f"parsemark choose {shlex.quote(corpus) if corpus else 'CORPUS'} --labels 10"
    return [*said, f"Next: {step} ranks them by agreement and lists the most informative pages to label."]


def _short_title(title: str) -> str:
    """Return a protocol's title inside a sentence: a benchmark by its name, a description in lower case."""
    name, colon, _ = title.partition(": ")
    return name if colon else title.lower()
