"""What became of the names of columns and rows: does each still pick out the right one?

A header or a name is judged by whether it still tells *which* column or row of this table it is. A near
match that fits no other one costs little, a text that fits another one as well costs much, and a level that
nothing needs to be told apart (a title over all columns, a group whose leaves are unique) costs little when
it is lost.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from parsemark.metrics.reader.events import MISLEADING, Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import ANOTHER_UNIT, SIGN_CHANGED, Change, slip
from parsemark.metrics.reader.paths import Level, Path, PathMatch, holds, match, worded

_CERTAIN = 0.999
_MOST_RIVALS = 4
"""How many other names a misread one is compared with."""
_MOST_GROUPS = 100
"""Groups among which those that stand at each other's places are looked for."""
_MISLED = 0.1
"""Credit by which the name of another column or row has to be the better match to mislead."""
_SLIGHT = 0.9
"""A name that is at least so much alike is hardly misread."""
_OPPOSITE = 0.75
"""Severity of a name that says the opposite number, of which people see at most a part as misread."""
_KNOWN_WITHOUT = 0.4
"""Severity of a lost header over names, or over the only column of values."""
_READABLE = 0.5
"""Credit that a reading has to reach if it is not the one as given."""
_OUTSIDE = 0.4
"""Severity of a header that stands outside of the table and is needed."""


class How(Enum):
    """How a name was read."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python

    GIVEN = "given"
    CARRIED = "carried"
    """An empty cell was read as a repetition of the one before."""
    SHORT = "short"
    """The header row ended before the columns it covers."""
    COUNTED = "counted"
    """Names were given to the columns in turn."""


_DOUBT = {How.GIVEN: 0.0, How.CARRIED: 0.01, How.SHORT: 0.1, How.COUNTED: 0.35}
"""A reading has to be this much better than the one as given."""


class Named(NamedTuple):
    """A column or row of the truth, and the ways to read its name in the prediction."""

    truth: Path
    readings: tuple[tuple[How, Path], ...]
    extent: float
    """How many values it names."""
    where: dict[str, Any]
    needed: bool = True
    """Whether what it names cannot be known without it; the header over names is not needed."""
    torn: bool = False
    """Whether a group over it was cut into pieces."""
    label: str = ""
    """How it is called in a message."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The words and the event kinds for columns or rows."""

    noun: str
    lost: Kind
    misread: Kind
    context: Kind


COLUMNS = Axis("Column", Kind.HEADER_LOST, Kind.HEADER_MISREAD, Kind.HEADER_CONTEXT_LOST)
ROWS = Axis("Row", Kind.NAME_LOST, Kind.NAME_MISREAD, Kind.SECTION_LOST)


@dataclass(frozen=True)
class Around:
    """What else a reader sees."""

    outside: str
    """Folded text around the table."""
    headers: tuple[Path, ...] = ()
    """The texts of each header row of the prediction."""
    corner: str = ""
    """What the corner of the table calls all columns, or all rows."""
    of_others: frozenset[str] = frozenset()
    """What names rows and no column, or columns and no row."""

    def row_of(self, text: str) -> int | None:
        """The header row in which a text stands."""
        words = worded(text)
        return next((r for r, said in enumerate(self._said) if len(words) > 2 and words in said), None)

    @cached_property
    def _said(self) -> list[str]:
        """The words of each header row; a line for each text, so that no name goes on in the next one."""
        return ["\n".join(map(worded, row)) for row in self.headers]


def judge(named: Sequence[Named], axis: Axis, around: Around, causes: Causes) -> None:
    """Find the events that happened to the names of one axis."""
    rivals = {" ".join(name.truth): name.truth for name in named if name.truth}
    named = [name for name in named if name.truth]
    if around.headers and _exchanged(named):
        # Nothing can be counted out where every name is there, over another column.
        around = dataclasses.replace(around, headers=())
    texts = {text for name in named for text in name.truth}
    best = [_best(name, texts) for name in named]
    # Two exchanged headers make every row say something false, and each of them is charged.
    pairs = zip(named, best, strict=True) if axis is ROWS else ()
    exchanged = _exchanges({name.truth: given for name, (_, given, _) in pairs})
    misplaced = _misplaced_groups(named, [found for _, _, found in best])
    together = _Together(named)
    for name, (how, given, best_match) in zip(named, best, strict=True):
        found = _with_foreign(name, given, best_match, texts) if axis is COLUMNS else best_match
        if name.torn:
            message = f"What stands over {axis.noun.lower()} {_in_words(name)} is cut into pieces."
            causes.add(Event(Kind.SPAN_WRONG, name.extent, message, name.where), "torn")
        if how is not How.GIVEN:
            _carried(name, how, axis, causes)
        if found.credit < _CERTAIN and not _is_reordered(name.truth, given, together):
            cause = exchanged.get(name.truth, frozenset())
            others = Others(rivals, texts, cause, together, misplaced)
            _explain(name, given, found, others, axis, around, causes)


class _Together:
    """What is told by all names of a table together, looked up where it is asked for."""

    def __init__(self, named: Sequence[Named]) -> None:
        self._named = named

    @cached_property
    def same_words(self) -> Counter[tuple[str, ...]]:
        """For words in alphabetical order how many different names are made of them."""
        return Counter(map(_sorted_words, {name.truth for name in self._named}))

    @cached_property
    def of_all(self) -> frozenset[str]:
        """Texts that stand over all that needs a name."""
        needed = [name for name in self._named if name.needed] or self._named
        return frozenset.intersection(*(frozenset(name.truth) for name in needed))


class Others(NamedTuple):
    """The other names of a table."""

    paths: dict[str, Path]
    texts: set[str]
    """All texts that name something."""
    exchanged: frozenset[str]
    """The texts that the name at hand was exchanged with, and its own."""
    together: _Together
    misplaced: dict[str, str]
    """Groups that stand at each other's places: which one is given for which."""


def _is_reordered(truth: Path, given: Path, together: _Together) -> bool:
    """Whether the words of a name stand in another order, and no other name has the same ones."""
    told = _sorted_words(truth)
    return told == _sorted_words(given) and together.same_words[told] == 1


def _sorted_words(path: Path) -> tuple[str, ...]:
    return tuple(sorted(worded(" ".join(path)).split()))


def _exchanges(given: dict[Path, Path]) -> dict[Path, frozenset[str]]:
    """The names that stand at each other's places, and what was exchanged: one cause, not one for each."""
    found: dict[Path, frozenset[str]] = {}
    seen: set[Path] = set()
    for first in [name for name, found in given.items() if found != name]:
        way: dict[Path, int] = {}
        name = first
        while name in given and name not in seen:
            seen.add(name)
            way[name] = len(way)
            name = given[name]
        ring = list(way)[way[name] :] if name in way else []
        if len(ring) > 1:
            texts = frozenset(text for path in ring for text in set(path) ^ set(given[path]))
            found |= dict.fromkeys(ring, texts)
    return found


def _misplaced_groups(named: Sequence[Named], found: Sequence[PathMatch]) -> dict[str, str]:
    """The groups that stand at each other's places, each with the one that is given for it throughout.

    A group that reaches too far is no such one: it still stands at its own place.
    """
    if all(level.difference.change is not Change.OTHER for path in found for level in path.levels[:-1]):
        return {}
    groups = {text for name in named for text in name.truth[:-1]}
    if len(groups) > _MOST_GROUPS:
        return {}
    given: dict[str, set[str]] = {}
    for name, path in zip(named, found, strict=True):
        foreign = {t for t in groups if path.extra and any(holds(extra, t) for extra in path.extra)}
        foreign -= set(name.truth)
        instead = next(iter(foreign)) if len(foreign) == 1 else ""
        for level in path.levels[:-1]:
            is_lost = level.difference.change is Change.OTHER
            given.setdefault(level.text, set()).add(instead if is_lost else level.text)
    always = {text: next(iter(instead)) for text, instead in given.items() if len(instead) == 1}
    rings = _exchanges({(text,): (instead,) for text, instead in always.items()})
    return {text: always[text] for (text,) in rings}


def _exchanged(named: Sequence[Named]) -> bool:
    """Whether the names are those of the truth, one for one, but some in the place of others."""
    paths = [name.truth for name in named]
    readings = [dict(name.readings) for name in named]
    read = [[reading.get(how, ()) for reading in readings] for how in How]
    others = [given for k, given in enumerate(read) if given != paths and given not in read[:k]]
    if not others:
        return False
    truth = _all_worded(paths)
    in_order = sorted(truth)
    return any(given != truth and sorted(given) == in_order for given in map(_all_worded, others))


def _all_worded(paths: Sequence[Path]) -> list[str]:
    """The words of some names, however their levels are joined."""
    return [worded(" ".join(path)) for path in paths]


def _best(name: Named, texts: set[str]) -> tuple[How, Path, PathMatch]:
    """The most favourable reading, given all texts that name something in this table."""
    best: tuple[How, Path, PathMatch] | None = None
    worth = -1.0
    for how, path in name.readings:
        found = match(name.truth, path)
        if path != name.truth:
            found = _own(name.truth, path, found, texts)
        if how is not How.GIVEN and found.credit < _READABLE:
            continue
        if found.credit - _DOUBT[how] > worth:
            best, worth = (how, path, found), found.credit - _DOUBT[how]
        if worth >= _CERTAIN:
            break
    return best or (How.GIVEN, (), match(name.truth, ()))


def _own(truth: Path, given: Path, found: PathMatch, texts: set[str]) -> PathMatch:
    """The match without what names something else in this table: `Far-Right` holds `Right` and is not it."""
    others = {level.found for level in found.levels if level.found != level.text}
    taken = others & texts - set(truth) if others else others
    if not taken:
        return found
    rest = match(truth, tuple(text for text in given if text not in taken))
    return PathMatch(rest.credit, rest.levels, (*rest.extra, *sorted(taken)))


def _carried(name: Named, how: How, axis: Axis, causes: Causes) -> None:
    if how is How.CARRIED:
        message = f"{axis.noun} {_in_words(name)}: its name has to be carried into an empty cell."
        causes.add(Event(Kind.PADDED, name.extent, message, name.where))
    else:
        message = f"{axis.noun} {_in_words(name)}: its header stands elsewhere and has to be counted out."
        severity = 0.5 if how is How.SHORT else 1.0
        causes.add(Event(Kind.HEADER_SHIFTED, name.extent, message, name.where, severity), how)


def _explain(
    name: Named,
    given: Path,
    found: PathMatch,
    others: Others,
    axis: Axis,
    around: Around,
    causes: Causes,
) -> None:
    rivals = others.paths
    rival = 0.0
    for other in _nearest(given, rivals, name.truth):
        rival = max(rival, _own(other, given, match(other, given), others.texts).credit)
        if rival > found.credit + _MISLED:
            break  # no other one can make it worse
    told = found.credit > rival + 1e-9
    misled = rival > found.credit + _MISLED
    any_level = any(level.difference.likeness > 0.5 for level in found.levels)
    charged = false = False
    for level in found.levels:
        diff = level.difference
        if diff.change is Change.NONE:
            continue
        charged = True
        if diff.change in (Change.NOTATION, Change.MISREAD) and told:
            own = level.text == name.truth[-1]
            needed = own or diff.likeness >= _SLIGHT or diff.cause == SIGN_CHANGED
            needed = needed or _tells_apart(level.text, name.truth, rivals)
            _misread(name, level, axis, causes, needed=needed)
        elif told and (
            instead := others.misplaced.get(level.text) or _named_in(found.extra, around.of_others)
        ):
            stands = f"{quote(instead)} stands over {axis.noun.lower()} {_in_words(name)}"
            message = f"{stands}, where {quote(level.text)} belongs."
            event = Event(axis.lost, name.extent, message, name.where)
            causes.add(event, frozenset(others.misplaced) or instead)
            false = True
        elif (told and any_level) or not name.needed:
            # Another name in its place is one cause with it: the span is wrong.
            reached = told and _named_in(found.extra, others.texts - set(name.truth)) is not None
            if not reached and not _is_known(level.text, others, around):
                _context_lost(name, level.text, axis, around, causes)
        else:
            message = f"{axis.noun} {_in_words(name)} {_called(given)}."
            moved = around.row_of(level.text)
            if moved is not None:
                causes.add(Event(Kind.HEADER_MOVED, name.extent, message, name.where), moved)
            else:
                severity = MISLEADING if misled or not given else 1.0
                severity = _OUTSIDE if not misled and holds(around.outside, level.text) else severity
                event = Event(axis.lost, name.extent, message, name.where, severity)
                # Without any name, all is one row or column of names that is lost.
                causes.add(event, (others.exchanged or level.text) if given else ())
    if found.extra and told and not false and others.misplaced.keys().isdisjoint(name.truth):
        message = f"{quote(found.extra[0])} is given for {axis.noun.lower()} {_in_words(name)} as well."
        event = Event(Kind.SPAN_WRONG, name.extent, message, name.where)
        causes.add(event, axis.noun, found.extra[0])
    elif found.extra and not told and not charged:
        message = f"{axis.noun} {_in_words(name)} {_called(given)}."
        causes.add(Event(axis.lost, name.extent, message, name.where, 0.7), name.truth)


def _context_lost(name: Named, text: str, axis: Axis, around: Around, causes: Causes) -> None:
    outside = holds(around.outside, text)
    became = "stands outside of the table" if outside else "is lost"
    message = f"{quote(text)} over {axis.noun.lower()} {_in_words(name)} {became}."
    severity = (_OUTSIDE if outside else 1.0) * (1.0 if name.needed else _KNOWN_WITHOUT)
    causes.add(Event(axis.context, name.extent, message, name.where, severity), text)


def _named_in(given: Path, names: Set[str]) -> str | None:
    """The first of some names that given texts hold."""
    if not given or len(names) > _MOST_GROUPS:
        return next((text for text in given if text in names), None)
    return next((name for name in sorted(names) if any(holds(text, name) for text in given)), None)


def _is_known(text: str, others: Others, around: Around) -> bool:
    """Whether a group of all is said elsewhere; one of several does not say there how far it reaches."""
    return text in others.together.of_all and (holds(around.outside, text) or holds(around.corner, text))


def _with_foreign(name: Named, given: Path, found: PathMatch, texts: set[str]) -> PathMatch:
    """The match with what is joined to a name in one text though it names something else in this table."""
    if found.credit < _CERTAIN or given == name.truth:
        return found
    longer = [text for text in given if any(text != level and holds(text, level) for level in name.truth)]
    if not longer:
        return found
    own = " ".join(name.truth)
    foreign = (other for other in texts if not holds(own, other) and any(holds(g, other) for g in longer))
    extra = tuple(sorted(foreign))
    return PathMatch(1 - _MISLED, found.levels, extra) if extra else found


def _nearest(given: Path, rivals: dict[str, Path], own: Path) -> list[Path]:
    """The other names of the table that are most like a given one."""
    if not given:
        return []
    if len(rivals) <= _MOST_RIVALS:
        return [path for path in rivals.values() if path != own]
    last = [path for path in rivals.values() if path[-1] == given[-1]]
    scorer = Levenshtein.normalized_similarity
    close = extract(" ".join(given), list(rivals), scorer=scorer, limit=_MOST_RIVALS)
    near = [*last[:_MOST_RIVALS], *(rivals[text] for text, _, _ in close)]
    return [path for path in near if path != own]


def _tells_apart(text: str, own: Path, rivals: dict[str, Path]) -> bool:
    """Whether a name is another one's without one of its levels."""
    rest = tuple(level for level in own if level != text)
    others = (tuple(level for level in path if level != text) for path in rivals.values() if path != own)
    return not rest or rest in others


def _misread(name: Named, level: Level, axis: Axis, causes: Causes, *, needed: bool) -> None:
    diff = level.difference
    unit = f": {ANOTHER_UNIT}" if diff.cause == ANOTHER_UNIT else ""
    message = f"{axis.noun} {_in_words(name)}: {quote(level.found)} instead of {quote(level.text)}{unit}."
    if diff.change is Change.NOTATION:
        causes.add(Event(Kind.NOTATION, name.extent, message, name.where), axis.noun, diff.cause)
    elif not needed:  # no more than if it were lost
        cause = diff.cause or slip(level.text, level.found)
        causes.add(Event(axis.context, name.extent, message, name.where), cause)
    else:
        severity = _OPPOSITE if diff.cause == SIGN_CHANGED else 1 - diff.likeness
        event = Event(axis.misread, name.extent, message, name.where, severity)
        causes.add(event, diff.cause or slip(level.text, level.found))


def _in_words(name: Named) -> str:
    return name.label or quote(" / ".join(name.truth))


def _called(given: Path) -> str:
    return f"is called {quote(' / '.join(given))}" if given else "has lost its name"
