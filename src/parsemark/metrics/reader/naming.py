"""What became of the names of columns and rows: does each still pick out the right one?

A header or a name is judged by whether it still tells *which* column or row of this table it is. A near
match that fits no other one costs little, a text that fits another one as well costs much, and a level that
nothing needs to be told apart (a title over all columns, a group whose leaves are unique) costs little when
it is lost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from parsemark.metrics.reader.events import MISLEADING, Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import ANOTHER_UNIT, slip
from parsemark.metrics.reader.notations import SIGN_CHANGED, Change
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
    """How a name was read, and how much better than the one as given such a reading has to be."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python

    GIVEN = 0.0
    CARRIED = 0.01
    """An empty cell was read as a repetition of the one before."""
    SHORT = 0.1
    """The header row ended before the columns it covers."""
    COUNTED = 0.35
    """Names were given to the columns in turn."""


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
    """What the corner of the table says."""
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
    named = [name for name in named if name.truth]
    if around.headers and _exchanged(named):
        # Nothing can be counted out where every name is there, over another column.
        around = dataclasses.replace(around, headers=())
    others = Others(named)
    best = [_best(name, others.texts) for name in named]
    levels = (level for _, _, found in best for level in found.levels)
    out_of_place = others.texts - {level.text for level in levels if level.difference.change != Change.OTHER}
    for name, (how, given, found) in zip(named, best, strict=True):
        if name.torn:
            message = f"What stands over {axis.noun.lower()} {_in_words(name)} is cut into pieces."
            causes.add(Event(Kind.SPAN_WRONG, name.extent, message, name.where), "torn")
        if how is not How.GIVEN:
            _carried(name, how, axis, causes)
        if found.credit < _CERTAIN:
            _explain(name, given, found, others, axis, around, causes, out_of_place)


class Others:
    """All names of a table together, with what is looked up where it is asked for."""

    def __init__(self, named: Sequence[Named]) -> None:
        self._named = named
        self.paths = {" ".join(name.truth): name.truth for name in named}
        self.texts = {text for name in named for text in name.truth}

    @cached_property
    def of_all(self) -> frozenset[str]:
        """Texts that stand over all that needs a name."""
        needed = [name for name in self._named if name.needed] or self._named
        return frozenset.intersection(*(frozenset(name.truth) for name in needed))


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
        if found.credit - how.value > worth:
            best, worth = (how, path, found), found.credit - how.value
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
    out_of_place: Set[str],
) -> None:
    rival = 0.0
    for other in _nearest(given, others.paths, name.truth):
        rival = max(rival, _own(other, given, match(other, given), others.texts).credit)
        if rival > found.credit + _MISLED:
            break  # no other one can make it worse
    told = found.credit > rival + 1e-9
    misled = rival > found.credit + _MISLED
    any_level = any(level.difference.likeness > 0.5 for level in found.levels)
    # Two names that are exchanged are one cause; two headers make every row say something false.
    exchanged = (
        frozenset({*name.truth} ^ {*given}) if axis is ROWS and given in others.paths.values() else None
    )
    charged = false = False

    def add(kind: Kind, message: str, *cause: object, severity: float = 1.0) -> None:
        causes.add(Event(kind, name.extent, message, name.where, severity), *cause)

    for level in found.levels:
        diff = level.difference
        if diff.change is Change.NONE:
            continue
        charged = True
        if diff.change in (Change.NOTATION, Change.MISREAD) and told:
            own = level.text == name.truth[-1]
            needed = own or diff.likeness >= _SLIGHT or diff.cause == SIGN_CHANGED
            _misread(name, level, axis, causes, needed=needed)
        elif told and (instead := _named_in(found.extra, around.of_others | out_of_place - {*name.truth})):
            stands = f"{quote(instead)} stands over {axis.noun.lower()} {_in_words(name)}"
            add(axis.lost, f"{stands}, where {quote(level.text)} belongs.", frozenset({instead, level.text}))
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
                add(Kind.HEADER_MOVED, message, moved)
            else:
                severity = MISLEADING if misled or not given else 1.0
                severity = _OUTSIDE if not misled and holds(around.outside, level.text) else severity
                # Without any name, all is one row or column of names that is lost.
                add(axis.lost, message, (exchanged or level.text) if given else (), severity=severity)
    if found.extra and told and not false:
        message = f"{quote(found.extra[0])} is given for {axis.noun.lower()} {_in_words(name)} as well."
        add(Kind.SPAN_WRONG, message, axis.noun, found.extra[0])
    elif found.extra and not told and not charged:
        add(axis.lost, f"{axis.noun} {_in_words(name)} {_called(given)}.", name.truth, severity=0.7)


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
    return text in others.of_all and (holds(around.outside, text) or holds(around.corner, text))


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
