"""Text of scripts that are written from right to left, in the order in which it is read.

A page has glyphs in places, and readers of PDFs guess their order: they turn the two letters of a ligature
round and put signs, brackets and numbers to the wrong end. Here a line is read from the places of its glyphs
alone: the rules of Unicode (UAX #9), which lead from a text to places, the other way round.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

_RIGHT = frozenset({"R", "AL"})
_STRONG = _RIGHT | {"L"}
_APART = 1.0  # heights of a line: what stands further apart is of two cells
_BLANK = 0.12  # heights of a line that are free between two words
_PAIRS = ("()", "[]", "{}", "«»", "‹›", "<>")


@dataclass(frozen=True, slots=True)
class PlacedSign:
    """A character with the way of the pen along its line."""

    index: int  # in the text page
    text: str
    start: float
    stop: float
    height: float
    generated: bool = False

    @property
    def kind(self) -> str:
        """Return its class for the rules."""
        return unicodedata.bidirectional(self.text)


@dataclass(slots=True)
class _Cluster:
    """The characters of one glyph, with marks on it."""

    signs: list[PlacedSign]
    kind: str
    level: int = 0

    @property
    def start(self) -> float:
        return self.signs[0].start

    @property
    def stop(self) -> float:
        return self.signs[0].stop


def in_reading_order(line: Sequence[PlacedSign], *, mostly_right: bool) -> list[PlacedSign]:
    """Return a line in any order, but with the characters of a ligature together and turned round, as it is
    read.

    Lines that are half and half are read as the page is, which may be `mostly_right` to left.
    """
    clusters = _clusters([sign for sign in line if not sign.generated])
    right = sum(cluster.kind in _RIGHT for cluster in clusters)
    left = sum(cluster.kind == "L" for cluster in clusters)
    from_right = mostly_right if max(left, right) <= 2 * min(left, right) else right > left
    spare = [sign for sign in line if sign.generated]
    parts: list[list[_Cluster]] = []
    for cluster in clusters:
        before = parts[-1][-1] if parts else cluster
        gap = cluster.start - before.stop
        if spare and _is_apart(before, cluster):
            blank = replace(spare.pop(0), start=before.stop, stop=cluster.start)
            parts[-1].append(_Cluster([blank], "WS"))
        if not parts or gap > _APART * cluster.signs[0].height:
            parts.append([])
        parts[-1].append(cluster)
    ordered = (_with_brackets(_read(part, from_right)) for part in (parts[::-1] if from_right else parts))
    return [sign for part in ordered for cluster in part for sign in cluster.signs] + spare


def _clusters(signs: Sequence[PlacedSign]) -> list[_Cluster]:
    """Return glyphs from left to right, the letters in one place as they are read.

    A reader that has turned a word round has turned those of a ligature as well; one that has not has left
    two glyphs in one place as they are painted.
    """
    made: list[_Cluster] = []
    marks: list[PlacedSign] = []
    groups = [list(group) for _, group in groupby(signs, key=lambda sign: round(sign.start, 2))]
    for k, own in enumerate(groups):
        if all(sign.kind == "NSM" for sign in own):
            marks += own
            continue
        around = [g[0].start for g in groups[max(k - 1, 0) : k + 2] if g[0].kind in _RIGHT]
        is_painted = around[0] < around[-1] if around else False
        if own[-1].kind in _RIGHT and (len({sign.stop for sign in own}) == 1) != is_painted:
            own.reverse()
        made.append(_Cluster(own, own[0].kind))
    for mark in marks:
        if made:
            nearest = min(made, key=lambda c: max(c.start - mark.start, mark.start - c.stop))
            nearest.signs.append(mark)
        else:
            made.append(_Cluster([mark], "NSM"))
    return sorted(made, key=lambda cluster: cluster.start)


def _is_apart(one: _Cluster, other: _Cluster) -> bool:
    """Return whether a blank is missing between two glyphs."""
    has_blank = one.signs[-1].text.isspace() or other.signs[0].text.isspace()
    height = max(one.signs[0].height, other.signs[0].height)
    return not has_blank and other.start - one.stop > _BLANK * height


def _read(clusters: Sequence[_Cluster], from_right: bool) -> list[_Cluster]:
    """Group glyphs that stand together, from their places to the order of their text."""
    kinds = _resolved([cluster.kind for cluster in clusters])
    for k, (cluster, kind) in enumerate(zip(clusters, kinds, strict=True)):
        sides = (takewhile(lambda other: other != "L", side) for side in (kinds[:k][::-1], kinds[k + 1 :]))
        inside = from_right or all(not _RIGHT.isdisjoint(side) for side in sides)
        cluster.level = 1 if kind in _RIGHT else inside + (inside and kind in ("L", "EN", "AN"))
    found: list[_Cluster] = []
    for turned, group in groupby(clusters, key=lambda cluster: cluster.level > 0):
        own = list(group)
        for is_inner, part in groupby(reversed(own) if turned else own, key=lambda c: c.level == 2):
            inner = list(part)
            found += reversed(inner) if is_inner else inner
    return found


def _resolved(kinds: Sequence[str]) -> list[str]:
    """Return kinds after the rules for numbers and for what stands between letters from left to right."""
    found = list(kinds)
    for k, kind in enumerate(kinds):
        if kind == "EN":
            left = next((other for other in kinds[:k][::-1] if other in _STRONG), "")
            right = next((other for other in kinds[k + 1 :] if other in _STRONG), "")
            found[k] = "L" if left == "L" else "AN" if right == "AL" else "EN"
    for k, kind in enumerate(kinds[1:-1], start=1):
        if found[k - 1] == found[k + 1] and (
            (kind == "CS" and found[k - 1] in ("EN", "AN")) or (kind == "ES" and found[k - 1] == "EN")
        ):
            found[k] = found[k - 1]
    for places in (range(1, len(found)), range(len(found) - 2, -1, -1)):
        step = 1 if places.step == 1 else -1
        for k in places:
            if found[k] == "ET" and found[k - step] == "EN":
                found[k] = "EN"
    last: int | None = None
    for k, kind in enumerate(found):
        if kind == "L":
            if last is not None:
                found[last + 1 : k] = ["L"] * (k - last - 1)
            last = k
        elif kind in _RIGHT or kind in ("EN", "AN"):
            last = None
    return found


def _with_brackets(clusters: list[_Cluster]) -> list[_Cluster]:
    """Orient brackets so that they open before they close, whichever way the file or its reader turned
    them.
    """
    for pair in _PAIRS:
        own = [c for c in clusters if c.level == 1 and len(c.signs) == 1 and c.signs[0].text in pair]
        if len(own) % 2 == 0:
            for k, cluster in enumerate(own):
                cluster.signs = [replace(cluster.signs[0], text=pair[k % 2])]
    return clusters
