"""The verdict on a run in plain words: what to take, where it fails, what would settle it, what it costs."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from parsemark.plain_words import counted, listed, told_apart_by
from parsemark.protocols.contract import get_protocol
from parsemark.protocols.figures.summary import Summary, Verdict
from parsemark.protocols.run_data.unread_pages import unscored
from parsemark.stats.paired_test import FEWEST_DOCUMENTS
from parsemark.store import ParseRecord, Run

WEAK_BY = 0.1  # how far below its own score a parser is on pages that it is said to fail on
_MOST_KINDS = 2
FEWEST = 5  # pages or elements of a kind before something is said of it
MOST_LABELS = 1_000  # more documents than this nobody labels
MILLION = 1_000_000


def scored_records(run: Run, protocol: str) -> list[ParseRecord]:
    """The parses of a run without those of files that are in no score."""
    gone = unscored(run.run_tables(protocol))
    return [record for record in run.records() if record.sample not in gone]


def plain_verdict(summary: Summary, records: Sequence[ParseRecord], corpus: str) -> list[str]:
    """Sentences, the answer first; without truth what is known, and the next step."""
    best = summary.ranking.best
    figure = summary.figure(best, summary.primary) if best is not None else None
    if best is None or figure is None or figure.value is None:
        return _without_truth(summary, records, corpus)
    info = summary.info(summary.primary)
    interval = f", 95 % interval {figure.low:.2f} to {figure.high:.2f}" if figure.interval else ""
    recipe = get_protocol(summary.protocol)
    name = f"{recipe.title.lower()} score"
    verdicts = {p: v for p in summary.parsers if (v := summary.ranking.to_best(p)) is not None}
    open_ = [p for p, v in verdicts.items() if v.state == "not_resolved"]
    same = [p for p, v in verdicts.items() if v.state in ("equal", "equivalent")]
    certain = "" if not open_ else f" for now: it is not told apart from {listed(open_)}"
    beginning = f"Take {best}{certain}. Its" if len(summary.parsers) > 1 else f"{best}: its"
    said = [f"{beginning} {name} is {figure.value:.2f} ({info.label}{interval})."]
    if level := [p for p in open_ if verdicts[p].is_level]:
        said.append(f"Level with it: {listed(level)}; the order among them is that of their names.")
    if same:
        said.append(f"As good: {listed(same)}; choose between them by time, cost or licence.")
    said += [*_fails_on(summary, best, records), *_better_elsewhere(summary)]
    gaps = {p: math.inf if (d := verdicts[p].difference) is None else abs(d) for p in open_}
    for other in sorted(open_, key=gaps.__getitem__)[:1]:
        said += _settled_by(best, other, verdicts[other], recipe.needs_labels)
    return said + _costs(best, records)


@dataclass(frozen=True, slots=True)
class BestOnKind:
    """Who is best on the pages of one kind."""

    attribute: str
    value: str
    n_pages: int
    parser: str
    score: float
    overall: float  # of the parser that is best over all pages, here


def best_on_kinds(summary: Summary) -> list[BestOnKind]:
    """The best parser of each kind that enough pages are of and others are not; if level, the overall one."""
    best, info = summary.ranking.best, summary.info(summary.primary)
    n_all = summary.counts.get("pages", math.inf)
    sign, found = 1 if info.higher_is_better else -1, []
    for part in summary.slices:
        own = {parser: figures.get(summary.primary) for parser, figures in part.figures.items()}
        known = {p: f.value for p, f in own.items() if f and f.value is not None and f.n >= FEWEST}
        if part.scope != "page" or best not in known or not FEWEST <= part.n < n_all:
            continue
        first = max(known, key=lambda parser: (sign * known[parser], parser == best))
        found.append(BestOnKind(part.attribute, part.value, part.n, first, known[first], known[best]))
    return found


def _better_elsewhere(summary: Summary) -> list[str]:
    """Kinds of pages on which another parser is far ahead of the best one, the largest distance first."""
    top = summary.info(summary.primary).top or 1.0
    ahead = [k for k in best_on_kinds(summary) if abs(k.score - k.overall) >= WEAK_BY * top]
    ahead.sort(key=lambda k: (-abs(k.score - k.overall), -k.n_pages))
    return [
        f"On pages with {k.attribute} {k.value} ({k.n_pages}) {k.parser} is better: {k.score:.2f} against "
        f"{k.overall:.2f}."
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
            found.append((behind, f"{part.attribute} {part.value} ({figure.value:.2f})"))
    weakest = [words for _, words in sorted(found, reverse=True)[:2]]
    failed = sum(r.parser == best and r.status != "ok" for r in records)
    said = [f"It is weakest on {listed(weakest)}."] if weakest else []
    return said + ([f"It gave no answer on {counted(failed, 'page')}."] if failed else [])


def _settled_by(best: str, other: str, verdict: Verdict, needs_labels: bool) -> list[str]:
    """How many more documents would tell two parsers apart, if they went on as they do; or nothing."""
    if not verdict.difference or verdict.low is None or verdict.high is None:
        return []
    half = (verdict.high - verdict.low) / 2
    more = math.ceil(verdict.n_documents * ((half / abs(verdict.difference)) ** 2 - 1))
    document = "labelled document" if needs_labels else "document"
    number = f"About {counted(max(more, FEWEST_DOCUMENTS - verdict.n_documents, 1), f'more {document}')}"
    if more > MOST_LABELS:
        number = f"Only more than a thousand more {document}s"
    return [told_apart_by(number, other, best, verdict.difference)]


def _costs(best: str, records: Sequence[ParseRecord]) -> list[str]:
    own = [r for r in records if r.parser == best]
    cpu = [r.cpu_s for r in own if r.cpu_s is not None]
    usd = [r.cost_usd for r in own if r.cost_usd is not None]
    if not cpu:
        return []
    hours = sum(cpu) / len(cpu) * MILLION / 3600
    dollars = f" and {sum(usd) / len(usd) * MILLION:,.0f} USD for the service" if usd and sum(usd) else ""
    return [f"A million pages take {max(hours, 0.1):,.1f} CPU hours on this machine{dollars}."]


def _value(summary: Summary, parser: str) -> float | None:
    figure = summary.figure(parser, summary.primary)
    return None if figure is None else figure.value


def _without_truth(summary: Summary, records: Sequence[ParseRecord], corpus: str) -> list[str]:
    parsers = sorted({r.parser for r in records})
    failed = {p: sum(r.parser == p and r.status != "ok" for r in records) for p in parsers}
    bad = [f"{p} on {n}" for p, n in failed.items() if n]
    pages = counted(len({r.sample for r in records}), "page")
    if nothing := [p for p in summary.parsers if _value(summary, p) == 0]:
        title = get_protocol(summary.protocol).title.lower()
        label = summary.info(summary.primary).label
        return [f"Nothing that {listed(nothing)} gave is right: the {title} score is 0.00 ({label})."]
    if summary.counts.get("pages with truth") != 0:
        return [f"Nothing to compare: of these {pages} none has what {summary.protocol} asks for."]
    said = [
        f"Nobody knows yet who is right: no page has truth. {counted(len(parsers), 'parser')} read {pages}"
        + (f"; no answer from {listed(bad)}." if bad else ", each with an answer to every page.")
    ]
    step = f"parsemark choose {shlex.quote(corpus) if corpus else 'CORPUS'} --labels 10"
    return [*said, f"Next: {step} ranks them by agreement and names the pages whose labels tell most."]
