"""olmOCR-bench's rules on formulas: which formulas a page has, and when a rendered one contains another."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from parsemark.protocols.facts import TooHardError
from parsemark_boards.katex import DrawnSpan, Render
from parsemark_boards.near_search import between

_INVISIBLE = re.compile("[\\s\u200a-\u200d\u2060\ufeff]+")
_NEAR_PX = 5.0
MAX_STEPS = 2_000_000  # assignments that are tried before a comparison is given up; upstream has no bound
_DELIMITERS = tuple(
    tuple(re.compile(re.escape(mark)) for mark in marks.split())
    for marks in (r"\( \)", r"\[ \]", "$$ $$", "$ $")
)
Renderer = Callable[[str], Render | None]
"""None where the formula cannot be rendered here, so that nothing can be said."""


def formulas_of(md: str, *, dollars: bool = True) -> list[str]:
    r"""Return the formulas of a page in the order of the delimiters `\(`, `\[`, `$$`, `$`."""
    found: list[str] = []
    for opening, closing in _DELIMITERS if dollars else _DELIMITERS[:2]:
        kept, at = [], 0
        for start, inner, inner_end, end in between(md, opening, closing, least=1):
            found.append(md[inner:inner_end].strip())
            kept.append(md[at:start])
            at = end
        md = "".join([*kept, md[at:]])
    return found


def in_order_tried(math: str, candidates: Sequence[str]) -> list[str]:
    """Return the formulas of a page, those most like the wanted one first."""
    return sorted(candidates, key=lambda candidate: -ratio(candidate, math))


def page_has_formula(
    math: str, md: str, render: Renderer, *, dollars: bool = True
) -> tuple[bool | None, str]:
    """Return whether a formula of a page contains the wanted one; None where it could not be tried."""
    candidates = formulas_of(md, dollars=dollars)
    if not candidates:
        return False, "the output has no formula"
    if math in candidates:
        return True, math
    ordered = in_order_tried(math, candidates)
    wanted = render(math)
    if wanted is None:
        return None, "formulas are compared as a browser renders them, and there is none here"
    untried = 0
    for candidate in dict.fromkeys(ordered):
        rendered = render(candidate)
        if rendered is None:
            untried += 1
        elif contains(wanted, rendered):
            return True, candidate
    if untried:
        return None, f"{untried} formulas of the output could not be rendered here"
    return False, f"nearest: {ordered[0][:200]}"


def contains(wanted: Render, rendered: Render) -> bool:
    """Return whether the symbols of a formula stand in another one with the neighbours that they have."""
    if _inner(wanted.mathml) in _inner(rendered.mathml):
        return True
    return _assignable(_symbols(wanted.spans), _symbols(rendered.spans))


@lru_cache(maxsize=4096)
def _inner(mathml: str) -> str:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(mathml, "xml")
    semantics = soup.find("semantics")
    parts = [soup] if semantics is None else semantics.children
    return _INVISIBLE.sub("", "".join(str(p) for p in parts if getattr(p, "name", None) != "annotation"))


class _Symbol(NamedTuple):
    character: str
    x: float
    y: float  # its centre


def _symbols(spans: Sequence[DrawnSpan]) -> list[_Symbol]:
    found = []
    for span in spans:
        text = _INVISIBLE.sub("", span.text)
        for i, character in enumerate(text):
            x = span.x + span.width * i / len(text)
            found.append(_Symbol(character, x + span.width / len(text) / 2, span.y + span.height / 2))
    return found


_Four = tuple[int | None, int | None, int | None, int | None]


def _neighbours(symbols: Sequence[_Symbol]) -> list[_Four]:
    """Return the nearest symbol above, below, left and right of each, in its column or its line."""
    found: list[_Four] = []
    for i, own in enumerate(symbols):
        best: list[tuple[float, int] | None] = [None] * 4
        for j, other in enumerate(symbols):
            if i == j:
                continue
            dx, dy = other.x - own.x, other.y - own.y
            for across, along, first in ((dx, dy, 0), (dy, dx, 2)):
                if abs(across) <= _NEAR_PX and along:
                    way = first + (along > 0)
                    held = best[way]
                    if held is None or abs(along) < held[0]:
                        best[way] = abs(along), j
        up, down, left, right = (None if held is None else held[1] for held in best)
        found.append((up, down, left, right))
    return found


def _assignable(wanted: Sequence[_Symbol], rendered: Sequence[_Symbol]) -> bool:
    """Return whether each wanted symbol can have one of its own, all with the neighbours that they need."""
    places: dict[str, list[int]] = {}
    for j, symbol in enumerate(rendered):
        places.setdefault(symbol.character, []).append(j)
    if any(symbol.character not in places for symbol in wanted):
        return False
    if len(wanted) * len(wanted) + len(rendered) * len(rendered) > 4 * MAX_STEPS:
        raise TooHardError("a formula of this output has too many symbols")
    around_wanted, around_rendered = _neighbours(wanted), _neighbours(rendered)

    def admissible(i: int, j: int, assigned: Sequence[int]) -> bool:
        def fits(u: int, v: int) -> bool:
            return assigned[u] == v if u < len(assigned) else rendered[v].character == wanted[u].character

        pairs = zip(around_wanted[i], around_rendered[j], strict=True)
        return all(u is None or (v is not None and fits(u, v)) for u, v in pairs)

    # Depth first without recursion: one iterator of places for each wanted symbol.
    assigned: list[int] = []
    used: set[int] = set()
    ways = [iter(places[wanted[0].character])] if wanted else []
    steps = 0
    while len(assigned) < len(wanted):
        for j in ways[-1]:
            steps += 1
            if steps > MAX_STEPS:
                raise TooHardError(f"comparing two formulas takes more than {MAX_STEPS:,} steps")
            if j not in used and admissible(len(assigned), j, assigned):
                assigned.append(j)
                used.add(j)
                if len(assigned) < len(wanted):
                    ways.append(iter(places[wanted[len(assigned)].character]))
                break
        else:
            ways.pop()
            if not ways:
                return False
            used.discard(assigned.pop())
    return True
