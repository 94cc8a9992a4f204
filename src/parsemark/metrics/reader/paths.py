"""Header paths: the texts that name a column (or a row), from the widest group to its own name."""

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from itertools import groupby, starmap
from typing import NamedTuple

from parsemark.metrics.reader.likeness import (
    ANOTHER,
    ANOTHER_UNIT,
    NEAR,
    SAME,
    SIGN,
    Change,
    Difference,
    difference,
    misread,
)
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.texts import are_other_units, powers, tight

Path = tuple[str, ...]

_WITHOUT_UNIT = 0.85  # likeness of a name without its unit, at least
_GROUP_WEIGHT = 0.5  # weight of the upper levels of a path against the last one, where paths are compared
_WHOLE = 0.8  # paths whose joined texts are at least this alike are one, however it is cut into levels
_SEPARATORS = re.compile(rf"(?:[\s/_|:>.,;()\[\]&+]|(?!{SIGN.pattern})(?:(?<!\d)-|-(?!\d)))+")
"""What parts words; not the sign of a number, nor what is between the ends of a range."""
_SIGNED = re.compile(rf"{SIGN.pattern}[\d.]+")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MEASURED = re.compile(r"(.*?[^\W\d_]{3,})\s*(?:,|/|\bin\b)\s*([^()\[\]]+)")
"""A name and its unit without brackets: `Time / s`."""
_JOINTS = " -/|:>_"  # what stands between the levels of a name that are joined in one text
_CACHE = 50_000
_LONGEST_FLAT = 600


class How(Enum):
    """How a name was read, and how much better than the one as given such a reading has to be."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python

    GIVEN = 0.0
    REPEATED = 0.01
    """An empty cell was read as a repetition of the one before, as in Markdown, which has no spans."""
    SHORT = 0.1
    """The same, also where the header row has ended before the columns it covers, and there is no cell."""
    COUNTED = 0.35  # names were given to the columns in turn


def column_paths(sheet: Sheet, header_rows: Iterable[int], how: How) -> list[Path]:
    """Return the header path of each column, given which rows are headers."""
    rows = [_filled(sheet, r, how) for r in header_rows]
    paths = [tuple(t for t, _ in groupby(filter(None, c))) for c in zip(*rows, strict=True)]
    return paths or [()] * sheet.n_cols


def _filled(sheet: Sheet, row: int, how: How) -> list[str]:
    """Return the texts of a header row, its empty cells filled."""
    texts, present = list(sheet.texts[row]), sheet.present[row]
    if how is How.GIVEN or all(present):
        return texts
    # A row of one name is a title, whether or not it says how far it reaches.
    title = len(texts) - texts.count("") == 1
    for col in range(1, len(texts)):
        if not present[col] and (title or how is How.SHORT or not sheet.holes[row][col]):
            texts[col] = texts[col - 1]
    return texts


def counted_paths(
    sheet: Sheet, header_rows: Iterable[int], columns: list[int], groups: Sequence[list[list[int]]]
) -> list[Path]:
    """Return the header paths if names are given to the columns in turn, wherever their cells stand.

    So a reader does where a header row has as many names as there are `columns` that answer those of the
    truth, or one less because the label column has none; or as many as a header row of the truth has. For
    each of these rows and each of its names, `groups` has the columns here that it names.
    """
    levels: list[list[str]] = [[] for _ in range(sheet.n_cols)]
    level = 0
    for row in header_rows:
        names = [t for t, start in zip(sheet.texts[row], sheet.starts[row], strict=True) if t and start]
        # The next header row of the truth that has so many names.
        same = next((k for k in range(level, len(groups)) if len(groups[k]) == len(names)), None)
        if 0 <= len(columns) - len(names) <= 1:
            placed = list(zip(columns[len(columns) - len(names) :], names, strict=True))
        elif same is not None and len(names) == sum(map(bool, sheet.texts[row])):
            # No cell spans, which would say itself what it covers.
            level = same + 1
            placed = [(c, name) for group, name in zip(groups[same], names, strict=True) for c in group]
        else:
            placed = [(c, t) for c, t in enumerate(sheet.texts[row]) if t]
        for col, name in placed:
            if name not in levels[col][-1:]:
                levels[col].append(name)
    return [tuple(found) for found in levels]


class Level(NamedTuple):
    """One level of a true path, and what was found of it."""

    text: str
    found: str
    difference: Difference


class PathMatch(NamedTuple):
    """A true path against a given one."""

    credit: float  # how well the given path names what the true one names: 1 for all of it
    levels: tuple[Level, ...]
    extra: tuple[str, ...]  # levels of the given path that the true one does not have


@lru_cache(_CACHE)
def match(truth: Path, given: Path) -> PathMatch:
    """Compare a true path with a given one, however its levels are joined.

    >>> match(("Urban", "PSNR"), ("Urban - PSNR",)).credit
    1.0
    >>> match(("Urban", "PSNR"), ("PSNR",)).levels[0].difference.likeness
    0.0
    """
    if truth == given or not truth or _flat(truth, given):
        return PathMatch(1.0, tuple([Level(text, text, SAME) for text in truth]), ())
    # What is one level of the truth is not another one misread.
    left = [text for text in given if text not in truth]
    told = [text for text in left if text.startswith(truth) or text.endswith(truth)]
    rests = {rest: text for text in told if (rest := _rest(text, truth))}
    levels = [_level(text, given, [*left, *rests]) for text in truth]
    likenesses = [level.difference.likeness for level in levels]
    credit = likenesses[-1]
    if len(levels) > 1:
        groups = sum(likenesses[:-1]) / (len(levels) - 1)
        credit = (credit + _GROUP_WEIGHT * groups) / (1 + _GROUP_WEIGHT)
    # What is a level misread is not there besides it.
    read = {level.found for level in levels if level.difference.change in (Change.MISREAD, Change.NOTATION)}
    read |= {text for rest, text in rests.items() if rest in read}
    unexplained = [0.0 if text in read else _unexplained(text, truth) for text in given]
    extra = [text for text, share in zip(given, unexplained, strict=True) if share > NEAR]
    if given:
        credit *= 1 - 0.5 * sum(unexplained) / len(given)
    if len(truth) != len(given):  # however it is cut into levels
        whole = difference(" ".join(truth), " ".join(given), name=True).likeness
        credit = max(credit, whole if whole > _WHOLE else 0.0)
    return PathMatch(min(1.0, credit), tuple(levels), tuple(extra))


def _flat(truth: Path, given: Path) -> bool:
    """Return whether the given levels hold the true ones and nothing else but separators."""
    (_, letters, signed, levels), (rest, *others, _) = _as_one(truth), _as_one(given)
    if len(rest) > _LONGEST_FLAT or signed != others[1]:
        return False
    if len(truth) != len(given) and letters == others[0] != "":
        return True  # cut at a bracket: `Depth (m)` as `Depth` over `m`
    for level in levels:
        if level not in rest:
            return False
        rest = rest.replace(level, " ")
    return not any(c.isalnum() for c in rest)


@lru_cache(_CACHE)
def _as_one(path: Path) -> tuple[str, str, frozenset[str], list[str]]:
    """Return the levels of a path as one tight text, its words without what parts them, and its numbers with
    a sign.

    A sign is no separator. The tight levels follow, the longest first.
    """
    joined = " ".join(path)
    signed = frozenset(_SIGNED.findall(joined)) if "-" in joined else frozenset()
    levels = sorted(map(tight, path), key=len, reverse=True)
    return tight(joined), worded(joined).replace(" ", ""), signed, levels


def _rest(text: str, truth: Path) -> str:
    """Return the part of a predicted level beyond the true levels that it begins or ends with, if any."""
    rest = text
    for level in truth:
        if len(level) >= len(rest):
            continue
        if rest.startswith(level):
            rest = rest[len(level) :].strip(_JOINTS)
        elif rest.endswith(level) and not rest[-len(level) - 1].isalnum():
            rest = rest[: -len(level)].strip(_JOINTS)
    return rest if rest != text else ""


def _level(text: str, given: Path, left: list[str]) -> Level:
    """Return the match of a true level: itself, or the most similar level that the truth does not have."""
    if text in given:
        return Level(text, text, SAME)
    levels = (Level(text, other, _of_levels(text, other)) for other in left)
    # The first of the most alike; what is not alike at all is not found.
    return max([Level(text, "", ANOTHER), *levels], key=lambda level: level.difference.likeness)


@lru_cache(_CACHE)
def _of_levels(level: str, text: str) -> Difference:
    """Return the difference of a true level to one given text."""
    if holds(text, level):
        return SAME
    diff = difference(level, text, name=True)
    if diff.change is not Change.NONE and _parts(level)[0] == tight(text):
        # It still tells which one; its unit or what it stands for is lost.
        return misread(_without_brackets(level), "what stood in brackets")
    if diff.change in (Change.MISREAD, Change.OTHER) and not diff.cause and _is_other_unit(level, text):
        # It tells less than none.
        return misread(min(diff.likeness, _without_brackets(level)), ANOTHER_UNIT)
    return diff


def _without_brackets(level: str) -> float:
    """Return how much a name without what stood in brackets still tells; a unit is as much of a short one."""
    essential, units = _parts(level)
    told = NEAR + (1 - NEAR) * len(essential) / len(tight(level))
    return max(told, _WITHOUT_UNIT) if all(powers(unit) for unit in units) else told


def _is_other_unit(level: str, text: str) -> bool:
    """Return whether two names differ in their units alone, as `Depth (m)` and `Depth (km)` do."""
    (name, units), (other, others) = _parts(level), _parts(text)
    changed = [pair for pair in zip(units, others, strict=False) if tight(pair[0]) != tight(pair[1])]
    return name == other != "" and bool(changed) and all(starmap(are_other_units, changed))


@lru_cache(_CACHE)
def _parts(level: str) -> tuple[str, list[str]]:
    """Return a tight name without its unit, or without all that stands in brackets, and what it is
    without.
    """
    measured = _MEASURED.fullmatch(level)
    if measured and powers(measured[2]):
        return tight(measured[1]), [measured[2]]
    return tight(_BRACKETED.sub("", level)), [found[1:-1] for found in _BRACKETED.findall(level)]


@lru_cache(_CACHE)
def worded(text: str) -> str:
    """Return the words of a text, a space before and behind each."""
    if text.isalnum():
        return f" {text} "
    return f" {_SEPARATORS.sub(' ', text).strip()} "


def holds(text: str, part: str) -> bool:
    """Return whether a text holds a part between word ends."""
    words = worded(part)
    return len(words) > 2 and words in worded(text)


def _unexplained(text: str, truth: Path) -> float:
    """Return the share of a given level that the true levels do not account for."""
    if any(difference(level, text, name=True).likeness > NEAR for level in truth):
        return 0.0
    covered = sum(len(tight(level)) for level in truth if holds(text, level))
    return 1.0 - min(1.0, covered / max(1, len(tight(text))))
