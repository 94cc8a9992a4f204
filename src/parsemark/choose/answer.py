"""A choice in words: what to take, what is cheaper, what is not settled, what to do next."""

import json
import shlex
from dataclasses import asdict
from typing import Any

from parsemark.choose.choice import Choice, ParserCandidate, labels_needed
from parsemark.plain_words import counted, told_apart_by
from parsemark.protocols.contract import get_protocol

_NAMED = 3  # kinds of pages on which others do better
SAME_VALUE = 0.0005  # scores that differ by less look equal
KIND_LEAD = 0.1  # by how much another parser is ahead on a kind of page before it is named
PARTLY = 0.8  # share of the pages above which a kind is no kind of its own
MUCH_CHEAPER = 3.0  # from this ratio of CPU time on a parser is named as the cheap alternative
BEARABLE_LOSS = 0.1  # what a cheap alternative may lose at most, at the far end of its interval


def in_words(choice: Choice) -> list[str]:
    """Sentences, the answer first."""
    best = choice.best
    level = [c.parser for c in choice.candidates[1:] if abs(c.value - best.value) < SAME_VALUE]
    if best.estimate is None:
        pages = counted(min(choice.budget, choice.n_pages), "page")
        label = f"label {pages} to know" if choice.budget else "only labels (--labels) can tell"
        sentences = [
            f"{best.parser} agrees most with the others ({best.guess:.2f}). That is a guess without any "
            f"truth: {label}."
        ]
    else:
        e = best.estimate
        sure = "is best" if choice.certain else "leads, but is not certain to be best"
        sentences = [
            f"{best.parser} {sure} on your documents: {get_protocol(choice.protocol).title.lower()} score "
            f"{best.value:.2f} ({choice.figure}, 95 % interval {e.low:.2f} to {e.high:.2f}; mean over "
            f"{counted(choice.n_pages, 'page')}, from {counted(e.n_labels, 'label')})."
        ]
    if level:
        sentences.append(f"Level with it: {', '.join(level)}; of equal ones the cheapest is named first.")
    if choice.same_as_best:
        gives = "gives" if len(choice.same_as_best) == 1 else "give"
        sentences.append(
            f"{', '.join(choice.same_as_best)} {gives} the same as {best.parser} on all {choice.n_pages} "
            "pages: no label can tell them apart, so choose by time, cost or licence."
        )
    sentences += [s for c in choice.candidates[1:] if (s := _cheaper(c, best)) is not None][:2]
    ahead = [k for k in choice.by_kind if k.parser != best.parser and k.score - k.best_score >= KIND_LEAD]
    others = [k for k in ahead if k.n_pages <= PARTLY * choice.n_pages]
    for kind in sorted(others, key=lambda k: k.best_score - k.score)[:_NAMED]:
        source = f"{counted(kind.n_labels, 'label')}" if kind.n_labels else "a guess"
        sentences.append(
            f"On pages with {kind.trait} = {kind.value} ({counted(kind.n_pages, 'page')}) {kind.parser} does "
            f"better: {kind.score:.2f} against {kind.best_score:.2f} ({source})."
        )
    sentences += _unsettled(choice)
    return sentences


def _cheaper(candidate: ParserCandidate, best: ParserCandidate) -> str | None:
    if not candidate.cpu_s or not best.cpu_s or best.cpu_s < MUCH_CHEAPER * candidate.cpu_s:
        return None
    times = best.cpu_s / candidate.cpu_s
    ratio = f"{times:.0f}" if times >= 10 else f"{times:.1f}"
    if candidate.behind is None:
        if best.guess - candidate.guess > BEARABLE_LOSS:
            return None
        return f"{candidate.parser} is {ratio} times cheaper (guess {candidate.guess:.2f})."
    low, high = max(-candidate.behind.high, 0.0), max(-candidate.behind.low, 0.0)
    if high > BEARABLE_LOSS:
        return None
    return f"{candidate.parser} is {ratio} times cheaper and loses {low:.2f} to {high:.2f}."


def _unsettled(choice: Choice) -> list[str]:
    if choice.best.estimate is None or choice.certain:
        return []
    others = [c for c in choice.candidates[1:] if c.parser not in choice.same_as_best]
    open_ = [(c, c.behind.value) for c in others if c.behind is not None and c.behind.high >= 0]
    n_labels, sentences = len(choice.labelled), []
    for candidate, gap in open_[:2]:
        if more := labels_needed(candidate, n_labels, len(choice.candidates), choice.n_pages):
            number = f"About {counted(more, 'more labelled page')}"
            if more == choice.n_pages - n_labels:
                number = f"Labels of all {counted(choice.n_pages, 'page')}"
            sentences.append(told_apart_by(number, candidate.parser, choice.best.parser, gap))
    return sentences


def next_step(choice: Choice, corpus: str, run: str) -> list[str]:
    """What to do now: the pages to label and the command that takes them up."""
    if choice.certain or not choice.next_pages:
        said = ["Use it:", f"  {recommended(choice, corpus)}"]
        if choice.certain or len(choice.labelled) >= choice.n_pages:
            return said
        more = min(choice.budget + 10, choice.n_pages)
        return [f"The budget is spent. More: --labels {more}", "Until then:", said[1]]
    pages = [part for page in choice.next_look for part in ("--page", page)]
    return [
        f"Label next ({len(choice.labelled)} of {choice.budget} done): {', '.join(choice.next_look)}",
        f"  {shlex.join(['parsemark', 'annotate', corpus, '--run', run, *pages])}",
        "or put truth files beside the PDFs (docs/loaders.md), then give the same command again.",
        "A page that is not worth the time: --skip PAGE.",
    ]


def recommended(choice: Choice, corpus: str) -> str:
    """The command that runs the parser on all documents."""
    return shlex.join(["parsemark", "parse", "--corpus", corpus, "--parser", choice.best.parser])


def as_json(choice: Choice) -> str:
    """Everything, for other programs."""
    data: dict[str, Any] = asdict(choice)
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"
