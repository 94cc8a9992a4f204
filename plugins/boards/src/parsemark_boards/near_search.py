"""Finds texts in texts within bounded time: between two marks, and with at most k edits.

`near` finds what the library fuzzysearch finds. That library settles ties by the order of a set whose hashes
are salted per process; here the smallest start wins, so that the same inputs give the same places.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from parsemark.protocols.facts import TooHardError

Place = tuple[int, int, int]  # start, end, edits

MAX_STEPS = 2_000_000  # cells of edit tables and candidates that are looked at before a search is given up
_SHORT = 3  # pieces of a pattern below this length are not looked up; the text is scanned instead


def between(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str], least: int = 0
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the matches of `opening(.*?)closing` with dotall, in linear time: start, start and end of the
    group, end.

    Where no closing follows an opening, none follows a later one. `opening` must not run back over many
    characters; those that end with `>` are not looked for behind the last one.
    """
    last = text.rfind(">") + 1 if opening.pattern.endswith(">") else len(text)
    at = 0
    while (opened := opening.search(text, at, last)) is not None:
        closed = closing.search(text, opened.end() + least)
        if closed is None:
            return
        yield opened.start(), opened.end(), closed.start(), closed.end()
        at = closed.end()


class _Steps:
    """Counts what a search does, and ends it at a bound."""

    left = MAX_STEPS

    def take(self, n: int) -> None:
        self.left -= n
        if self.left < 0:
            raise TooHardError(f"a search with edits takes more than {MAX_STEPS:,} steps")


def near(pattern: str, text: str, k: int) -> list[Place]:
    """Return the places of a pattern with at most `k` edits, overlapping ones merged, by their start.

    TooHardError where that takes more than `MAX_STEPS` steps.

    >>> near("comet", "a commet, a comet", 1)
    [(2, 8, 1), (12, 17, 0)]
    """
    if not pattern:
        raise ValueError("an empty text cannot be searched for")
    if k == 0:
        return [(i, i + len(pattern), 0) for i in _occurrences(pattern, text, 0, len(text))]
    steps = _Steps()
    piece = len(pattern) // (k + 1)
    found = _by_pieces(pattern, text, k, steps) if piece >= _SHORT else _by_scan(pattern, text, k, steps)
    return _consolidated(found)


def _occurrences(piece: str, text: str, low: int, high: int) -> Iterator[int]:
    at = text.find(piece, low, high)
    while at >= 0:
        yield at
        at = text.find(piece, at + 1, high)


def _by_pieces(pattern: str, text: str, k: int, steps: _Steps) -> Iterator[Place]:
    n, size = len(pattern), len(pattern) // (k + 1)
    for q in range(0, n - size + 1, size):
        high = min(len(text), len(text) - n + q + size + k)
        for i in _occurrences(pattern[q : q + size], text, max(0, q - k), max(0, high)):
            right = _expand(pattern[q + size :], text[i + size : max(0, i - q + n + k)], k, steps)
            if right is None:
                continue
            before = text[max(0, i - q - (k - right[0])) : i][::-1]
            left = _expand(pattern[:q][::-1], before, k - right[0], steps)
            if left is not None:
                yield i - left[1], i + size + right[1], left[0] + right[0]


def _expand(wanted: str, text: str, most: int, steps: _Steps) -> tuple[int, int] | None:
    """Return the fewest edits between `wanted` and a prefix of `text`, with the longest such prefix."""
    if text.startswith(wanted):
        return 0, len(wanted)  # nothing is nearer, and any longer prefix is farther
    if len(wanted) <= max(2 * most, 10):
        return _expand_short(wanted, text, most, steps)
    return _expand_long(wanted, text, most, steps)


def _expand_short(wanted: str, text: str, most: int, steps: _Steps) -> tuple[int, int] | None:
    row = list(range(len(wanted) + 1))
    best, length = len(wanted), 0
    for at, character in enumerate(text, 1):
        steps.take(len(wanted))
        new = [at]
        for j, other in enumerate(wanted, 1):
            new.append(min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (character != other)))
        row = new
        cost = row[-1]
        if cost <= best:
            best, length = cost, at
        elif min(row[1:]) >= best:
            break
    return (best, length) if best <= most else None


def _expand_long(wanted: str, text: str, most: int, steps: _Steps) -> tuple[int, int] | None:
    """Expand long patterns, following only entries within a bound that falls with each match."""
    best, length = len(wanted), 0
    row = {j: j for j in range(min(most, len(wanted)) + 1)}
    far = len(wanted) + len(text) + 1
    for at, character in enumerate(text, 1):
        bound = min(most, best)
        steps.take(len(row) + 1)
        new: dict[int, int] = {0: at} if at <= bound else {}
        j = 1 if not row else max(1, min(row))
        last = max(row, default=-1) + 1
        while j <= len(wanted) and (j <= last or j - 1 in new):
            replaced = row.get(j - 1, far) + (character != wanted[j - 1])
            cost = min(row.get(j, far) + 1, new.get(j - 1, far) + 1, replaced)
            if cost <= bound:
                new[j] = cost
            j += 1
        row = new
        if row.get(len(wanted), far) <= best:
            best, length = row[len(wanted)], at
        if not row:
            break
    return (best, length) if best <= most else None


_Candidate = tuple[int, int, int]  # start, index in the pattern of the next character, edits so far


def _by_scan(pattern: str, text: str, k: int, steps: _Steps) -> Iterator[Place]:
    n, end = len(pattern), len(text)
    candidates: dict[_Candidate, None] = {}
    for i, character in enumerate(text):
        first = pattern.find(character, 0, k + 1)
        reached = [(i, first + 1, first)] if first >= 0 else []
        steps.take(len(candidates) + 1)
        for candidate in candidates:
            reached += _followed(pattern, character, k, candidate, last=i + 1 == end)
        yield from ((start, i + 1, d) for start, p, d in reached if p == n)
        candidates = dict.fromkeys(c for c in reached if c[1] < n)  # the same candidate twice finds the same
    for start, p, d in candidates:
        if d + n - p <= k:
            yield start, end, d + n - p


def _followed(pattern: str, character: str, k: int, candidate: _Candidate, *, last: bool) -> list[_Candidate]:
    """Return the successors of a candidate at the next character of the text."""
    start, p, d = candidate
    if pattern[p] == character:
        return [(start, p + 1, d)]
    if d == k:
        return []
    followed = [(start, p, d + 1)]
    if not last and p + 1 < len(pattern):
        followed.append((start, p + 1, d + 1))
    for skipped in range(1, k - d + 1):
        if p + skipped == len(pattern):
            return [*followed, (start, p + skipped, d + skipped)]
        if pattern[p + skipped] == character:
            return [*followed, (start, p + skipped + 1, d + skipped)]
    return followed


def _consolidated(found: Iterator[Place]) -> list[Place]:
    """Return the best of each heap of overlapping places: fewest edits, then longest, then first."""
    hull_end = -1
    heap = 0

    def heap_of(place: Place) -> int:
        nonlocal hull_end, heap
        if place[0] >= hull_end:
            heap += 1
        hull_end = max(hull_end, place[1])
        return heap

    ordered = sorted(set(found))
    heaps = groupby(ordered, key=heap_of)
    return [min(own, key=lambda place: (place[2], place[0] - place[1], place[0])) for _, own in heaps]
