"""Shortest matches of delimiters, in linear time whatever the text.

`X.*?Y` as a regular expression looks for Y from each X again; a page of a million X and no Y never ends. What
is here gives the same matches with `str.find`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

ENVELOPES = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


@dataclass(frozen=True, slots=True)
class DelimitedSpan:
    """One match: its place, which pair of delimiters it is, and what is between them."""

    start: int
    end: int
    pair: int
    inner: str


def spans(text: str, pairs: Sequence[tuple[str, str]], *, dotall: bool) -> Iterator[DelimitedSpan]:
    """Yield the leftmost matches of `open(.*?)close`; at one place the first pair that matches wins."""
    opener = _opener(tuple(pairs))
    closed: dict[tuple[int, int], int] = {}
    position = 0
    while (found := opener.search(text, position)) is not None:
        at = found.start()
        stop = -1 if dotall else text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        for index, (left, right) in enumerate(pairs):
            if not text.startswith(left, at):
                continue
            inside = at + len(left)
            # Where no `right` follows up to `stop`, none does from any later place either.
            if closed.get((index, stop), inside + 1) <= inside:
                continue
            end = text.find(right, inside, stop)
            if end < 0:
                closed[index, stop] = inside
                continue
            yield DelimitedSpan(at, end + len(right), index, text[inside:end])
            position = end + len(right)
            break
        else:
            position = at + 1


@cache
def _opener(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(left) for left, _ in pairs))


def replace_spans(
    text: str, pairs: Sequence[tuple[str, str]], new: Callable[[DelimitedSpan], str | None], *, dotall: bool
) -> str:
    """Return the text with each match replaced by what `new` says; None leaves it."""
    parts: list[str] = []
    done = 0
    for span in spans(text, pairs, dotall=dotall):
        if (changed := new(span)) is not None:
            parts += (text[done : span.start], changed)
            done = span.end
    return "".join(parts) + text[done:] if parts else text


Replacement = str | Callable[[re.Match[str]], str]


def sub_closed(pattern: re.Pattern[str], closer: str, new: Replacement, text: str, *, by_line: bool) -> str:
    """Return `pattern.sub` for a pattern that ends with `closer`: nothing is looked for behind the last
    one.
    """
    if closer not in text:
        return text
    if by_line and "\n" in text:
        return "\n".join(sub_closed(pattern, closer, new, line, by_line=False) for line in text.split("\n"))
    cut = text.rfind(closer) + len(closer)
    return pattern.sub(new, text[:cut]) + text[cut:]


def blank_all(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Return the text with several spans overwritten; they may overlap and reach beyond the end."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(places):
        if end <= done:
            continue
        first = max(start, done)
        last = min(end, len(text))
        parts += (text[done:first], " " * max(0, last - first))
        done = max(done, last)
    return "".join(parts) + text[done:]


def is_enclosed(text: str, left: str, right: str) -> bool:
    """Return whether all of a text stands between two delimiters."""
    return len(text) >= len(left) + len(right) and text.startswith(left) and text.endswith(right)


def envelope(text: str) -> tuple[str, str] | None:
    """Return the delimiters of a formula that enclose all of a text."""
    return next((pair for pair in ENVELOPES if is_enclosed(text, *pair)), None)


def unwrapped(text: str, may: Callable[[str], bool] = lambda _: True) -> str:
    """Return a text without the delimiters of formulas that enclose all of it, however many, as far as one
    may.
    """
    while True:
        for left, right in ENVELOPES:
            if is_enclosed(text, left, right) and may(inner := text[len(left) : -len(right)].strip()):
                text = inner
                break
        else:
            return text


def collapse(text: str) -> str:
    """Return white space runs as one space, none at the ends."""
    return " ".join(text.split())


def brace_ends(text: str) -> dict[int, int]:
    """Return the place behind the brace that closes each brace that is closed, in one pass."""
    ends: dict[int, int] = {}
    stack: list[int] = []
    for match in re.finditer("[{}]", text):
        if match.group() == "{":
            stack.append(match.start())
        elif stack:
            ends[stack.pop()] = match.end()
    return ends
