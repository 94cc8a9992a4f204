"""What became of the names of columns and rows: does each still pick out the right one?

A header or a name is judged by whether it still tells *which* column or row of this table it is. A near
match that fits no other one costs little, a text that fits another one as well costs much, and a level that
nothing needs to be told apart (a title over all columns, a group whose leaves are unique) costs little when
it is lost.
"""

from collections.abc import Iterable, Sequence, Set
from functools import cached_property
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from parsemark.metrics.reader.events import MISLEADING, Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import ALIKE, ANOTHER_UNIT, OPPOSITE, SIGN_CHANGED, Change, slip
from parsemark.metrics.reader.paths import How, Level, Path, PathMatch, holds, match, worded

_CERTAIN = 0.999
_MOST_RIVALS = 4  # how many other names a misread one is compared with
_MOST_GROUPS = 100  # groups among which those that stand at each other's places are looked for
_MISLED = 0.1  # credit by which the name of another column or row has to be the better match to mislead
_READABLE = 0.5  # credit that a reading has to reach if it is not the one as given
_KNOWN_WITHOUT = 0.4
"""Severity of a header that is outside the table, or is over names or the only column of values."""


class Named(NamedTuple):
    """A column or row of the truth, and the ways to read its name in the prediction."""

    truth: Path
    readings: tuple[tuple[How, Path], ...]
    extent: float  # how many values it names
    where: dict[str, Any]
    words: str  # how it is called in a message
    needed: bool  # whether what it names cannot be known without it; the header over names is not needed
    torn: bool = False  # whether a group over it was cut into pieces


class Axis(NamedTuple):
    """The words and the event kinds for columns or rows."""

    noun: str
    lost: Kind
    misread: Kind
    context: Kind


COLUMNS = Axis("Column", Kind.HEADER_LOST, Kind.HEADER_MISREAD, Kind.HEADER_CONTEXT_LOST)
ROWS = Axis("Row", Kind.NAME_LOST, Kind.NAME_MISREAD, Kind.SECTION_LOST)


class NameJudge:
    """Finds what happened to the names of one axis, all of them together; `causes` takes the events.

    Beside the names a reader sees the folded text `outside` of the table, what its `corner` says, and the
    texts of each row of its `headers`. What names the other axis alone is `of_others`.
    """

    def __init__(
        self,
        named: Iterable[Named],
        axis: Axis,
        causes: Causes,
        outside: str,
        corner: str,
        of_others: frozenset[str],
        headers: Sequence[Path] = (),
    ) -> None:
        self._named = [name for name in named if name.truth]
        self._axis, self._causes = axis, causes
        self._outside, self._corner, self._of_others = outside, corner, of_others
        # Nothing can be counted out where every name is there, over another column.
        self._headers = () if headers and _exchanged(self._named) else headers
        self._paths = {" ".join(name.truth): name.truth for name in self._named}
        self._texts = {text for name in self._named for text in name.truth}

    @cached_property
    def _of_all(self) -> frozenset[str]:
        """Return texts that stand over all that needs a name."""
        needed = [name for name in self._named if name.needed] or self._named
        return frozenset.intersection(*(frozenset(name.truth) for name in needed))

    def judge(self) -> None:
        """Find the events."""
        best = [self._best(name) for name in self._named]
        levels = (level for _, _, found in best for level in found.levels)
        recognised = {level.text for level in levels if level.difference.change != Change.OTHER}
        for name, (how, given, found) in zip(self._named, best, strict=True):
            called = f"{self._axis.noun} {name.words}"
            if name.torn:
                message = f"The header above {self._over(name)} is cut into pieces."
                self._add(name, Kind.SPAN_WRONG, message, "torn")
            if how is How.REPEATED:
                self._add(name, Kind.PADDED, f"{called}: part of its name must be copied into an empty cell.")
            elif how is not How.GIVEN:
                message = f"{called}: its header is elsewhere and must be found by counting columns."
                severity = 0.5 if how is How.SHORT else 1.0
                self._add(name, Kind.HEADER_SHIFTED, message, how, severity=severity)
            if found.credit < _CERTAIN:
                self._explain(name, given, found, self._texts - recognised)

    def _add(self, name: Named, kind: Kind, message: str, *cause: object, severity: float = 1.0) -> None:
        self._causes.add(Event(kind, name.extent, message, name.where, severity), *cause)

    def _over(self, name: Named) -> str:
        return f"{self._axis.noun.lower()} {name.words}"

    def _best(self, name: Named) -> tuple[How, Path, PathMatch]:
        """Return the most favourable reading."""
        how, path = name.readings[0]
        if how is How.GIVEN and path == name.truth:
            return how, path, match(path, path)  # none can be better
        found = ((how, path, self._own(name.truth, path)) for how, path in name.readings)
        readable = (one for one in found if one[0] is How.GIVEN or one[2].credit >= _READABLE)
        return max(readable, key=lambda one: one[2].credit - one[0].value)

    def _own(self, truth: Path, given: Path) -> PathMatch:
        """Return the match without what names something else here: `Far-Right` holds `Right` and is not
        it.
        """
        found = match(truth, given)
        taken = {said for _, said, _ in found.levels if said in self._texts and said not in truth}
        if not taken:
            return found
        rest = match(truth, tuple(text for text in given if text not in taken))
        return rest._replace(extra=(*rest.extra, *sorted(taken)))

    def _explain(self, name: Named, given: Path, found: PathMatch, out_of_place: Set[str]) -> None:
        axis = self._axis
        rivals = self._nearest(given, name.truth)
        rival = max((self._own(other, given).credit for other in rivals), default=0.0)
        told = found.credit > rival + 1e-9
        misled = rival > found.credit + _MISLED
        any_level = any(level.difference.likeness > 0.5 for level in found.levels)
        # Two names that are exchanged are one cause; two headers make every row say something false.
        swapped = axis is ROWS and given in self._paths.values()
        exchanged = frozenset({*name.truth} ^ {*given}) if swapped else None
        called = f"is called {quote(' / '.join(given))}" if given else "has lost its name"
        called = f"{axis.noun} {name.words} {called}."
        foreign = self._of_others | out_of_place - {*name.truth}
        charged = false = False
        for level in found.levels:
            diff = level.difference
            if diff.change is Change.NONE:
                continue
            charged = True
            if diff.change in (Change.NOTATION, Change.MISREAD) and told:
                self._misread(name, level)
            elif told and (instead := _named_in(found.extra, foreign)):
                stands = f"{quote(instead)} is above {self._over(name)}"
                message = f"{stands}, where {quote(level.text)} belongs."
                self._add(name, axis.lost, message, frozenset({instead, level.text}))
                false = True
            elif (told and any_level) or not name.needed:
                # Another name in its place is one cause with it: the span is wrong.
                reached = told and _named_in(found.extra, self._texts - set(name.truth)) is not None
                # A group of all may be said elsewhere; one of several does not say there how far it reaches.
                around = (self._outside, self._corner) if level.text in self._of_all else ()
                if not reached and not any(holds(said, level.text) for said in around):
                    self._context_lost(name, level.text)
            elif (moved := self._header_row_of(level.text)) is not None:
                self._add(name, Kind.HEADER_MOVED, called, moved)
            else:
                severity = MISLEADING if misled or not given else 1.0
                severity = _KNOWN_WITHOUT if not misled and holds(self._outside, level.text) else severity
                # Without any name, all is one row or column of names that is lost.
                cause = (exchanged or level.text) if given else ()
                self._add(name, axis.lost, called, cause, severity=severity)
        if found.extra and told and not false:
            message = f"{quote(found.extra[0])} is given for {self._over(name)} as well."
            self._add(name, Kind.SPAN_WRONG, message, axis.noun, found.extra[0])
        elif found.extra and not told and not charged:
            self._add(name, axis.lost, called, name.truth, severity=0.7)

    def _context_lost(self, name: Named, text: str) -> None:
        outside = holds(self._outside, text)
        became = "is outside the table" if outside else "is lost"
        severity = (_KNOWN_WITHOUT if outside else 1.0) * (1.0 if name.needed else _KNOWN_WITHOUT)
        message = f"{quote(text)} over {self._over(name)} {became}."
        self._add(name, self._axis.context, message, text, severity=severity)

    def _misread(self, name: Named, level: Level) -> None:
        diff, noun = level.difference, self._axis.noun
        unit = f": {ANOTHER_UNIT}" if diff.cause == ANOTHER_UNIT else ""
        message = f"{noun} {name.words}: {quote(level.found)} instead of {quote(level.text)}{unit}."
        cause = diff.cause or slip(level.text, level.found)
        opposite = diff.cause in (SIGN_CHANGED, ANOTHER_UNIT)
        if diff.change is Change.NOTATION:
            self._add(name, Kind.NOTATION, message, noun, diff.cause)
        elif level.text == name.truth[-1] or diff.likeness >= ALIKE or opposite:
            severity = OPPOSITE if opposite else 1 - diff.likeness
            self._add(name, self._axis.misread, message, cause, severity=severity)
        else:  # no more than if it were lost
            self._add(name, self._axis.context, message, cause)

    def _header_row_of(self, text: str) -> int | None:
        """Return the header row in which a text stands."""
        words = worded(text)
        rows = enumerate(self._headers) if len(words) > 2 else ()
        return next((r for r, row in rows if any(words in worded(said) for said in row)), None)

    def _nearest(self, given: Path, own: Path) -> list[Path]:
        """Return the other names of the table that are most like a given one."""
        near = list(self._paths.values()) if given else []
        if len(near) > _MOST_RIVALS:
            last = [path for path in near if path[-1] == given[-1]]
            scorer = Levenshtein.normalized_similarity
            close = extract(" ".join(given), list(self._paths), scorer=scorer, limit=_MOST_RIVALS)
            near = [*last[:_MOST_RIVALS], *(self._paths[text] for text, _, _ in close)]
        return [path for path in near if path != own]


def _exchanged(named: Sequence[Named]) -> bool:
    """Return whether the names are those of the truth, one for one, but some in the place of others."""
    paths = [name.truth for name in named]
    readings = [dict(name.readings) for name in named]
    read = [[reading.get(how, ()) for reading in readings] for how in How]
    others = [given for k, given in enumerate(read) if given != paths and given not in read[:k]]
    # However their levels are joined.
    truth, *given = ([worded(" ".join(path)) for path in names] for names in (paths, *others))
    return any(names != truth and sorted(names) == sorted(truth) for names in given)


def _named_in(given: Path, names: Set[str]) -> str | None:
    """Return the first of some names that given texts hold."""
    if not given or len(names) > _MOST_GROUPS:
        return next((text for text in given if text in names), None)
    return next((name for name in sorted(names) if any(holds(text, name) for text in given)), None)
