"""A choice in words: what to take, what is cheaper, what is not settled, what to do next."""

import json
import shlex
from pathlib import Path

from pydantic import TypeAdapter

from parsemark.choosing.choice import Choice, ParserCandidate
from parsemark.plain_words import counted, rounded

SAME_VALUE = 0.0005  # guesses that differ by less look equal
MUCH_CHEAPER = 3.0  # from this ratio of CPU time on a parser is named as the cheap alternative
BEARABLE_LOSS = 0.1  # what a cheap alternative may lose at most, at the far end of its interval


def in_words(choice: Choice) -> list[str]:
    """Return sentences, the answer first; with labels those of `bench`."""
    best = choice.best
    sentences = list(choice.verdict)
    if best.estimate is None:
        pages = counted(min(choice.budget, choice.n_pages), "page")
        label = f"Label {pages}" if choice.budget else "Label pages (--labels)"
        few = f"Only {counted(len(choice.labelled), 'page')} has" if choice.labelled else "No page has"
        sentences.append(
            f"{best.parser} agrees most with the others ({best.guess:.2f}). {few} truth yet, so this ranking "
            f"is only a guess. {label} to test it."
        )
        level = [c.parser for c in choice.candidates[1:] if abs(c.guess - best.guess) < SAME_VALUE]
        if level:
            sentences.append(f"Tied with it: {', '.join(level)}; the cheapest is listed first.")
    else:
        sentences.append(_basis(choice))
    if choice.same_as_best:
        gives = "gives" if len(choice.same_as_best) == 1 else "give"
        sentences.append(
            f"{', '.join(choice.same_as_best)} {gives} the same as {best.parser} on all {choice.n_pages} "
            "pages: no label can separate them, so choose by time, cost or licence."
        )
    return sentences + [s for c in choice.candidates[1:] if (s := _cheaper(choice, c)) is not None][:2]


def _basis(choice: Choice) -> str:
    """Return the pages behind the scores, and the labels that they come from."""
    labels = f"{counted(len(choice.labelled), 'labelled page')} of {choice.n_labelled_documents} documents"
    if not choice.is_estimated:
        return f"Scores are from the {labels}, as in `bench`."
    own = choice.best.labelled
    value = rounded(None if own is None else own.value, 2)
    return (
        f"Scores are estimates for all {counted(choice.n_pages, 'page')} from {labels}. On the "
        f"labelled pages alone, {choice.best.parser} scores {value}: the score that `bench` would print."
    )


def _cheaper(choice: Choice, candidate: ParserCandidate) -> str | None:
    best = choice.best
    if not candidate.cpu_s or not best.cpu_s or best.cpu_s < MUCH_CHEAPER * candidate.cpu_s:
        return None
    times = best.cpu_s / candidate.cpu_s
    ratio = f"{times:.0f}" if times >= 10 else f"{times:.1f}"
    if best.estimate is None:
        if best.guess - candidate.guess > BEARABLE_LOSS:
            return None
        guess = f"{candidate.guess:.2f}"
        also = ", too" if guess == f"{best.guess:.2f}" else ""
        return f"{candidate.parser} needs {ratio} times less CPU time; its guessed score is {guess}{also}."
    gap = candidate.behind
    if gap is None or gap.low is None or gap.high is None:
        return None
    ends = sorted((-gap.low, -gap.high) if choice.higher_is_better else (gap.low, gap.high))
    low, high = (max(end, 0.0) for end in ends)
    if high > BEARABLE_LOSS:
        return None
    return f"{candidate.parser} needs {ratio} times less CPU time and scores {low:.2f} to {high:.2f} lower."


def next_step(choice: Choice, corpus: str, run: str) -> list[str]:
    """Return the next step: the pages to label and the command that uses the labels."""
    if choice.certain or not choice.next_pages:
        said = ["Use it:", f"  {recommended(choice, corpus)}"]
        if choice.certain or len(choice.labelled) >= choice.n_pages:
            return said
        more = min(choice.budget + 10, choice.n_pages - len(choice.begun_with))
        budget = counted(choice.budget, "new label")
        again = (
            f"The budget of {budget} is used up. To label more, repeat the command with --labels {more} "
            "(the new total)."
        )
        return [again, "To parse all documents with the best parser so far:", said[1]]
    pages = [part for page in choice.next_look for part in ("--page", page)]
    return [
        f"Label next ({choice.n_new} of {choice.budget} done): {', '.join(choice.next_look)}",
        f"  {shlex.join(['parsemark', 'annotate', corpus, '--run', run, *pages])}",
        "or put truth files beside the PDFs (docs/how-to/your-documents.md), then repeat the command.",
        "To leave out a page, add --skip PAGE.",
    ]


def recommended(choice: Choice, corpus: str) -> str:
    """Return the command that runs the parser on all documents."""
    return shlex.join(["parsemark", "bench", corpus, "--no-score", "--parser", choice.best.parser])


def as_json(choice: Choice) -> str:
    """Return all results, for other programs."""
    return TypeAdapter(Choice).dump_json(choice, indent=2).decode() + "\n"


def begun_with(path: Path) -> tuple[str, ...] | None:
    """Return the labels that a choice began with, from its file; None where there is none."""
    try:
        pages = json.loads(path.read_bytes())["begun_with"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return tuple(map(str, pages)) if isinstance(pages, list) else None
