"""Takes an output of a whole document apart: which of its words belong to which page of the PDF.

Three words in a row that only one page has tell the page. What lies between two such places is put in order
with the words that the pages have there. So an output needs no marks of pages, and may have pages twice,
elsewhere or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from rapidfuzz.distance import LCSseq

from parsemark.formats.hidden_text import seen
from parsemark.matching.page_evidence import placed_words

_NOISE = 2
"""Places in a row that are not believed if they contradict those around them."""
_QUOTED, _LEAST = 12, 0.8
"""Places in a row that may be of the page around them; the share of their words that this page must have
there.
"""
_MOST_CELLS = 400_000_000
"""Of the table in which two stretches of words are compared."""


@dataclass(frozen=True, slots=True)
class PagePart:
    """What an output has of one page: pieces of its text, in its order."""

    pieces: tuple[tuple[int, int], ...] = ()

    def text_in(self, text: str) -> str:
        """Return the pieces, as the page's own text."""
        return _BETWEEN.join(text[a:b] for a, b in self.pieces)

    def place_of(self, offset: int) -> int:
        """Return where a place of the page's text stands in the whole text."""
        for start, end in self.pieces:
            if offset <= end - start:
                return start + offset
            offset -= end - start + len(_BETWEEN)
        return self.pieces[-1][1] if self.pieces else 0


_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class _PageRun:
    """Places in a row that tell the same page."""

    page: int
    first: tuple[int, int]  # the first place: word of the output, word of the page
    last: tuple[int, int]
    count: int


def split_into_pages(text: str, pages: Sequence[Sequence[str]]) -> tuple[list[PagePart], float]:
    """Return the part of each page, and the share of the text's places that any page of the PDF has.

    A place is three words in a row; `pages` are the words of the PDF as they are compared.
    """
    placed = list(placed_words(seen(text)))
    words = [word for word, _ in placed]
    owners = _owners(pages)
    grams = [hash(gram) for gram in zip(words, words[1:], words[2:], strict=False)]
    known = [(t, owners[gram]) for t, gram in enumerate(grams) if gram in owners]
    share = len(known) / len(grams) if grams else 1.0
    told = [(t, page, at) for t, (page, at) in known if page >= 0]
    labels = list(_labels(words, pages, _steady(list(_runs(told)))))
    parts: list[list[tuple[int, int]]] = [[] for _ in pages]
    begins = [(0, labels[0])] if labels else []
    for t, (one, other) in enumerate(pairwise(labels), start=1):
        if one != other:
            start, end = placed[t][1].start, placed[t][1].end
            if start < placed[t - 1][1].end:
                begins.append((end, other))  # one address or compound stays whole
                continue
            line = text.rfind("\n", 0, start) + 1
            begins.append((line if placed[t - 1][1].end <= line else start, other))
    for (start, page), (end, _) in pairwise([*begins, (len(text), -1)]):
        parts[page].append((start, end))
    return [PagePart(tuple(own)) for own in parts], share


def _owners(pages: Sequence[Sequence[str]]) -> dict[int, tuple[int, int]]:
    """Return page and place of each three words; of what several pages have, the page is -1."""
    owners: dict[int, tuple[int, int]] = {}
    for page, words in enumerate(pages):
        for at, gram in enumerate(zip(words, words[1:], words[2:], strict=False)):
            before = owners.setdefault(hash(gram), (page, at))
            if before[0] != page:
                owners[hash(gram)] = (-1, 0)
    return owners


def _runs(told: Sequence[tuple[int, int, int]]) -> Iterator[_PageRun]:
    for page, group in groupby(told, key=lambda one: one[1]):
        own = list(group)
        yield _PageRun(page, (own[0][0], own[0][2]), (own[-1][0], own[-1][2]), len(own))


def _steady(runs: list[_PageRun]) -> list[_PageRun]:
    """Return the runs without short ones out of order, neighbours of one page together."""
    runs = [run for k, run in enumerate(runs) if not _is_quoted(runs[max(0, k - 1) : k + 2], run)]
    kept = [
        run
        for k, run in enumerate(runs)
        if run.count > _NOISE
        or ((k == 0 or runs[k - 1].page < run.page) and (k == len(runs) - 1 or run.page < runs[k + 1].page))
    ]
    merged: list[_PageRun] = []
    for run in kept:
        if merged and merged[-1].page == run.page:
            before = merged.pop()
            run = _PageRun(run.page, before.first, run.last, before.count + run.count)  # noqa: PLW2901
        merged.append(run)
    return merged


def _is_quoted(around: Sequence[_PageRun], run: _PageRun) -> bool:
    """Return whether a few places of one page stand where the page around them has as many words: both pages
    say the same there, one of them with a word parted at the end of a line.
    """
    if len(around) < 3 or run.count > _QUOTED or around[0].page != around[2].page:
        return False
    before, after = around[0].last, around[2].first
    return after[1] - before[1] >= _LEAST * (after[0] - before[0])


def _labels(words: Sequence[str], pages: Sequence[Sequence[str]], runs: Sequence[_PageRun]) -> Iterator[int]:
    """Yield the page of each word of the output."""
    if not runs:
        yield from _between(words, pages, (0, 0), (len(pages), 0))
        return
    first, last = runs[0], runs[-1]
    yield from _between(words[: first.first[0]], pages, (0, 0), (first.page, first.first[1]))
    for k, run in enumerate(runs):
        end = run.last[0] + 3
        yield from [run.page] * (min(end, runs[k + 1].first[0] if k + 1 < len(runs) else end) - run.first[0])
        if k + 1 < len(runs):
            here, there = (run.page, run.last[1] + 3), (runs[k + 1].page, runs[k + 1].first[1])
            yield from _between(words[end : runs[k + 1].first[0]], pages, here, there)
    end = last.last[0] + 3
    yield from _between(words[end:], pages, (last.page, last.last[1] + 3), (len(pages), 0))


def _between(
    gap: Sequence[str], pages: Sequence[Sequence[str]], here: tuple[int, int], there: tuple[int, int]
) -> Iterator[int]:
    """Yield the page of each word between two places of the PDF, of which the second may come first."""
    if not gap:
        return
    (one, start), (other, end) = here, there
    expected = [(page, word) for page in ({one} if one < len(pages) else ()) for word in pages[page][start:]]
    if one < other:
        expected += [(page, word) for page in range(one + 1, other) for word in pages[page]]
        expected += [(other, word) for word in (pages[other][:end] if other < len(pages) else ())]
    elif other < len(pages):
        expected += [(other, word) for word in pages[other][max(0, end - len(gap)) : end]]
    label = min(one, len(pages) - 1)
    found: dict[int, int] = {}
    if len(gap) * len(expected) <= _MOST_CELLS:
        blocks = LCSseq.opcodes(list(gap), [word for _, word in expected]).as_matching_blocks()
        found = {b.a + k: expected[b.b + k][0] for b in blocks for k in range(b.size)}
    for t in range(len(gap)):
        label = found.get(t, label)
        yield label
