"""What became of each word of a page in an output, and where each word of the output comes from.

A word is a run of letters, or a number; signs and single letters are none. Words are compared without case
and accents. They are put in order by the longest common sequence, again and again with what is left, so that
whole blocks may stand elsewhere; what lies between two words that both sides have is compared by its
characters, so that hyphens and ligatures make no difference. A lost or added blank does, where the page shows
it and the script uses blanks.

A kept word has moved if it stands before what it follows on the page, or among unrelated words. The order of
blocks is asked for only where the place on the page and the order of the file agree, so that tables may be
read by rows or by columns. Turned text is put in order by itself, turned back.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from statistics import median
from typing import NamedTuple

from rapidfuzz.distance import Indel, LCSseq

from parsemark.formats.notation import without_accents
from parsemark.model import Box

MAX_WORDS = 20_000  # of a page, and of an output: more is not compared
_ROUNDS = 6
_ALIKE = 0.5  # how alike two words must be for one to be the other, altered
_MAX_JOINED = 6  # Words of one side that are one word of the other one
_SHORT = 3  # Words in a row that may be repeated without their neighbours
_NARROW = 0.65  # heights of a letter between two groups of digits up to which they may be one number
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SIGN = re.compile(f"[{CJK}]")
_KANA = re.compile("[\u3040-\u30ff]")
_VOWELS = "".join(
    chr(code) for code in range(0x900, 0x1A00) if unicodedata.category(chr(code)) in ("Mc", "Mn")
)
"""Signs of Indic and South-East Asian scripts that are parts of words."""
_ATOM = re.compile(rf"\d+(?:[.,]\d+)*|[{CJK}]|(?:[^\W\d_{CJK}][{_VOWELS}]*)+")
_NO_BLANKS = re.compile(f"[{CJK}\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1a00-\u1aff]")
"""Scripts without blanks between words."""
_MAKES_WORDS = re.compile(r"[^\W\d_]{2}")
_LONE_ACCENT = re.compile("[\u02b0-\u02ff\u00ad\u200b-\u200f]")
_THOUSANDS = re.compile(r"\d{1,3}(?: \d{3})+")
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹₀-₉])")
_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_WIDE = 1.0  # heights of a letter between two words of a line from which on they are two cells
_FAR = 8.0  # the same between two lines of which one follows the other
_LONG = 4  # letters from which on the shape of a word says whether it is turned
_ABOVE = 3  # how many cells above one come before it
_BESIDE = 2  # Words before and behind one that may stand beside it in the output
_NEAR = 3  # places of an output up to which two words are beside each other
_AROUND = 100  # Words before and behind one that say how far all around it went
_AT_ONCE = 256  # cells that are compared with all others at once

Stretches = tuple[list[int], list[int]]


class WordStatus(StrEnum):
    """What became of a word."""

    KEPT = "kept"
    JOINED = "joined"  # the output lacks the blank between it and the next word
    SPLIT = "split"  # the output has a blank inside of it
    ALTERED = "altered"
    LOST = "lost"
    DOUBLED = "doubled"
    INVENTED = "invented"
    LEAKED = "leaked"
    PASSED = "passed"  # it belongs to a running head, or is too short to say anything


class OutputAtom(NamedTuple):
    """A word of an output as it is compared."""

    text: str
    gap: str = " "  # what stands between it and the word before it: nothing, a blank, or anything else as `-`


@lru_cache(20_000)
def spaced_atoms(text: str) -> tuple[OutputAtom, ...]:
    """Return the words and numbers of a text, as they are compared, each with what parts it from the one
    before.
    """
    folded = text.casefold()
    if not text.isascii():
        bare = _LONE_ACCENT.sub("", without_accents(_RAISED.sub(" ", text)))
        folded = unicodedata.normalize("NFC", bare).casefold()  # syllables of Hangul, which were taken apart
    folded = _GROUPS.sub(lambda m: m[0].replace(",", ""), folded)
    found, end = list[OutputAtom](), 0
    for word in _ATOM.finditer(folded):
        gap = folded[end : word.start()]
        found.append(OutputAtom(word[0], " " if not found or gap.isspace() else "-" if gap else ""))
        end = word.end()
    return tuple(found)


@lru_cache(20_000)
def atoms(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, as they are compared.

    >>> atoms("Déjà-vu of 1,234.50 €")
    ('deja', 'vu', 'of', '1234.50')
    >>> atoms("12.0³")
    ('12.0', '3')
    >>> atoms("데비안 3.0")
    ('데', '비', '안', '3.0')
    """
    return tuple(atom.text for atom in spaced_atoms(text))


def is_number(atom: str) -> bool:
    """Return whether it begins with a digit."""
    return atom[:1].isdigit()


def counts(atom: str) -> bool:
    """Return whether it says something by itself: a number, a sign of Chinese, or more than one letter."""
    return len(atom) > 1 or is_number(atom) or _SIGN.match(atom) is not None


@dataclass(frozen=True, slots=True)
class PageAtom:
    """A word of a page as it is compared."""

    text: str
    box: Box
    line: int  # below 0: it belongs to no line, as what a form's field says
    edge: bool = False
    parted: bool = False  # whether the page shows a blank, or the end of a line, before it


@dataclass(slots=True)
class WordComparison:
    """What became of the words of a page, and where the words of an output come from."""

    page: Sequence[PageAtom]
    output: Sequence[str]
    gaps: Sequence[str]  # of each word of the output, what parts it from the one before
    of_page: list[WordStatus]
    of_output: list[WordStatus]
    place: list[int | None]  # of each word of the page, the position in the output at which it surely stands
    at: list[int | None]  # the same, also where another place is possible
    said: dict[int, str] = field(default_factory=dict)  # what stands in the output for an altered word
    moved: set[int] = field(default_factory=set)  # kept words before something that they follow, or strayed
    anchored: set[int] = field(default_factory=set)  # words in the same order on both sides
    cells: Sequence[Sequence[int]] = ()
    """Words of a line that stand together: a line of prose, or what a cell of a table says."""
    neighbours: Sequence[Stretches] = ()
    """Stretches of words of which the first comes before the second, however the page is read."""


def compare_words(
    page: Sequence[PageAtom], hidden: Sequence[str], said: Sequence[OutputAtom], beside: Sequence[str] = ()
) -> WordComparison:
    """Compare the visible words of a page, in the order of the file, with those of an output.

    The `hidden` words of its text layer are invisible; those `beside` belong to the page without being its
    text, and are not required.
    """
    page, said = page[:MAX_WORDS], said[:MAX_WORDS]
    output, gaps = [atom.text for atom in said], [atom.gap for atom in said]
    statuses = [WordStatus.LOST] * len(page), [WordStatus.INVENTED] * len(output)
    places = list[int | None]([None] * len(page)), list[int | None]([None] * len(page))
    found = WordComparison(page, output, gaps, *statuses, *places, neighbours=list(neighbours(page)))
    found.cells = _cells(page, {i: atom.box for i, atom in enumerate(page)})
    for step in (_anchor, _regroup, _glued, _alter, _rest, _touching):
        step(found)
    _extras(found, hidden, beside)
    for k, atom in enumerate(page):
        if atom.edge or not counts(atom.text):
            found.of_page[k] = WordStatus.PASSED
    for k, text in enumerate(output):
        if not counts(text):
            found.of_output[k] = WordStatus.PASSED
    _pass_single_kana(found.of_page, [atom.text for atom in page])
    _pass_single_kana(found.of_output, output)
    found.moved.update(moved(found.neighbours, found.place), _strayed(found))
    found.moved.intersection_update(k for k, status in enumerate(found.of_page) if status is WordStatus.KEPT)
    return found


def _keep(found: WordComparison, i: int, j: int, *, sure: bool = True) -> None:
    found.of_page[i] = found.of_output[j] = WordStatus.KEPT
    found.at[i] = j
    if sure:
        found.place[i] = j


def _anchor(found: WordComparison) -> None:
    """Put words in order; blocks that stand elsewhere come in later rounds, in runs of two words or more."""
    words = [atom.text for atom in found.page]
    for turn in range(_ROUNDS):
        left = [i for i, status in enumerate(found.of_page) if status is WordStatus.LOST]
        right = [j for j, status in enumerate(found.of_output) if status is WordStatus.INVENTED]
        if not left or not right:
            return
        alike = LCSseq.opcodes([words[i] for i in left], [found.output[j] for j in right])
        blocks = alike.as_matching_blocks()
        pairs = [(left[b.a + k], right[b.b + k]) for b in blocks for k in range(b.size)]
        steady = list(_steady(pairs, words, once=turn > 0))
        for i, j in steady:
            _keep(found, i, j)
        if not turn:
            found.anchored.update(i for i, _ in steady)
        if not steady:
            return


def _steady(
    pairs: Sequence[tuple[int, int]], words: Sequence[str], *, once: bool
) -> Iterator[tuple[int, int]]:
    """Yield pairs beside another pair, on both sides; a word that the page has once needs no neighbour."""
    known = set(pairs)
    number = Counter(words)
    for i, j in pairs:
        beside = (i - 1, j - 1) in known or (i + 1, j + 1) in known
        if beside or (number[words[i]] == 1 and (not once or counts(words[i]))):
            yield i, j


def _regroup(found: WordComparison) -> None:
    """Find words of one side that are several of the other: hyphens, blanks that are missing or too many."""
    joined = defaultdict[str, list[tuple[int, ...]]](list)
    for own in _joins(found.of_output, WordStatus.INVENTED):
        joined["".join(found.output[j] for j in own)].append(own)
    vocabulary = {atom.text for atom in found.page}
    for own in _joins(found.of_page, WordStatus.LOST):
        if any(found.of_page[i] is not WordStatus.LOST for i in own):
            continue
        text = "".join(found.page[i].text for i in own)
        for other in joined.get(text, ()):
            if all(found.of_output[j] is WordStatus.INVENTED for j in other):
                status = _regrouped(found, own, other, vocabulary)
                for k, i in enumerate(own):
                    found.of_page[i], found.place[i] = status, other[min(k, len(other) - 1)]
                    found.at[i] = found.place[i]
                    if status is not WordStatus.KEPT:
                        found.said[i] = " ".join(found.output[j] for j in other)
                for j in other:
                    found.of_output[j] = status
                break


def _regrouped(
    found: WordComparison, own: Sequence[int], other: Sequence[int], vocabulary: Set[str]
) -> WordStatus:
    """Return the status of words that have the same letters as part of the output, by the places of the
    blanks.
    """
    if not _says_the_same_numbers(found, own, other):
        return WordStatus.ALTERED
    ours, theirs = [found.page[i].text for i in own], [found.output[j] for j in other]
    if all(map(is_number, (*ours, *theirs))):
        return WordStatus.KEPT
    at_ours, at_theirs = _starts(ours), _starts(theirs)
    lost = {at for at, i in zip(at_ours, own[1:], strict=True) if found.page[i].parted} - set(at_theirs)
    # Letters that are all set apart are one word.
    was_spaced, is_spaced = (not any(map(counts, words)) for words in (ours, theirs))
    is_joined = any(_takes_blank("".join(ours), at) for at in lost) and not was_spaced
    if is_joined and not set(theirs) <= vocabulary:
        return WordStatus.JOINED
    added = {at for at, j in zip(at_theirs, other[1:], strict=True) if found.gaps[j] == " "} - set(at_ours)
    if any(_takes_blank("".join(ours), at) for at in added) and not is_spaced:
        return WordStatus.SPLIT
    return WordStatus.KEPT


def _starts(words: Sequence[str]) -> list[int]:
    """Return where each word but the first begins, if they are written without blanks."""
    return list(accumulate(map(len, words)))[:-1]


def _takes_blank(text: str, at: int) -> bool:
    """Return whether the script of what stands on both sides of a place uses blanks."""
    return not any(_NO_BLANKS.match(sign) for sign in text[max(0, at - 1) : at + 1])


def _touching(found: WordComparison) -> None:
    """Find neighbours that are both kept without the blank that the page shows: a word beside a number."""
    for i in range(1, len(found.page)):
        first, second = found.at[i - 1], found.at[i]
        if not found.page[i].parted or first is None or second != first + 1 or found.gaps[second]:
            continue
        words = found.page[i - 1].text, found.page[i].text
        are_kept = {found.of_page[i - 1], found.of_page[i]} <= {WordStatus.KEPT, WordStatus.JOINED}
        if are_kept and any(map(_MAKES_WORDS.match, words)) and _takes_blank("".join(words), len(words[0])):
            for k, j in ((i - 1, first), (i, second)):
                found.of_page[k] = found.of_output[j] = WordStatus.JOINED
                found.said[k] = "".join(words)


def _says_the_same_numbers(found: WordComparison, own: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether words that are put together otherwise leave numbers as they are, or group their
    thousands.
    """
    ours, theirs = [found.page[i].text for i in own], [found.output[j] for j in other]
    if [*filter(is_number, ours)] == [*filter(is_number, theirs)]:
        return True
    boxes = [found.page[i].box for i in own]
    near = all(b.x0 - a.x1 <= _NARROW * max(a.height, b.height) for a, b in pairwise(boxes))
    parted = ours if len(ours) > len(theirs) else theirs
    return near and _THOUSANDS.fullmatch(" ".join(parted)) is not None


def _glued(found: WordComparison) -> None:
    """Find words that the output runs together, however many."""
    starts: dict[str, list[int]] = {}
    for i, status in enumerate(found.of_page):
        if status is WordStatus.LOST:
            starts.setdefault(found.page[i].text[:_MAX_JOINED], []).append(i)
    for j, status in enumerate(found.of_output):
        said = found.output[j]
        if status is not WordStatus.INVENTED or len(said) < 2 * _MAX_JOINED:
            continue
        for size in range(1, _MAX_JOINED + 1):
            for start in starts.get(said[:size], ()):
                own = _spelling(found, start, said)
                for i in own:
                    if found.of_page[i] is WordStatus.LOST:
                        found.of_page[i], found.said[i], found.at[i] = WordStatus.JOINED, said, j
                if own:
                    found.of_output[j] = WordStatus.JOINED
                    break


def _spelling(found: WordComparison, start: int, said: str) -> range:
    """Return the words from one on that spell a text together; none if they do not."""
    at, end = 0, start
    while at < len(said) and end < len(found.page) and said.startswith(found.page[end].text, at):
        at, end = at + len(found.page[end].text), end + 1
    return range(start, end) if at == len(said) else range(0)


def _joins(statuses: Sequence[WordStatus], wanted: WordStatus) -> Iterator[tuple[int, ...]]:
    """Yield stretches of neighbours of which nothing is known yet, the longest first."""
    runs = _runs(statuses, wanted)
    for size in range(_MAX_JOINED, 0, -1):
        for run in runs:
            yield from (tuple(run[k : k + size]) for k in range(len(run) - size + 1))


def _alter(found: WordComparison) -> None:
    """Pair what is left between the same two words of both sides: one stands in place of the other."""
    before = -1
    for i, status in enumerate(found.of_page):
        if status is not WordStatus.LOST:
            before = i if found.place[i] is not None else before
            continue
        j = -1 if before < 0 else found.place[before]
        assert j is not None
        while (j := j + 1) < len(found.output) and found.of_output[j] in (
            WordStatus.INVENTED,
            WordStatus.ALTERED,
        ):
            said, word = found.output[j], found.page[i].text
            if found.of_output[j] is not WordStatus.INVENTED or is_number(word) != is_number(said):
                continue
            if is_number(word):
                # A page number is not required; a word in its place that differs counts as invented.
                is_other = not found.page[i].edge or (len(word) == len(said) and _differ_by_one(word, said))
            else:
                is_other = Indel.normalized_similarity(word, said) >= _ALIKE
            if is_other:
                found.of_page[i] = found.of_output[j] = WordStatus.ALTERED
                found.said[i], found.at[i] = said, j
                break


def _differ_by_one(one: str, other: str) -> bool:
    """Return whether two numbers of at least three digits, equally long, differ in one of them."""
    return len(one) > 2 and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _rest(found: WordComparison) -> None:
    """Mark equal remaining words as kept; if both sides have a word equally often, keep its order."""
    left, wanted = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for j, status in enumerate(found.of_output):
        if status is WordStatus.INVENTED:
            left[found.output[j]].append(j)
    for i, status in enumerate(found.of_page):
        if status is WordStatus.LOST:
            wanted[found.page[i].text].append(i)
    for text, own in wanted.items():
        for i, j in zip(own, left[text], strict=False):
            _keep(found, i, j, sure=len(own) == len(left[text]))


def _strayed(found: WordComparison) -> Iterator[int]:
    """Yield kept words of lines that stand elsewhere, and beside none of their neighbours."""
    for cell in found.cells:
        if sum(counts(found.page[i].text) for i in cell) < 2 or found.page[cell[0]].line < 0:
            continue
        for i in cell:
            if (
                found.of_page[i] is WordStatus.KEPT
                and i not in found.anchored
                and not _has_neighbour(found, i)
            ):
                yield i


def _has_neighbour(found: WordComparison, i: int) -> bool:
    here = found.at[i]
    assert here is not None
    either_way = unicodedata.bidirectional(found.page[i].text[0]) in ("R", "AL")
    for k in range(max(0, i - _BESIDE), min(len(found.page), i + _BESIDE + 1)):
        there = found.at[k]
        is_near = k != i and there is not None and 0 < abs(there - here) <= _NEAR
        if is_near and there is not None and (either_way or (there < here) == (k < i)):
            return True
    return False


def _pass_single_kana(statuses: list[WordStatus], words: Sequence[str]) -> None:
    """Single kana say as little as single letters: one alone is no finding."""
    for k, (status, word) in enumerate(zip(statuses, words, strict=True)):
        if status is not WordStatus.KEPT and _KANA.match(word):
            around = (*statuses[max(0, k - 1) : k], *statuses[k + 1 : k + 2])
            if status not in around:
                statuses[k] = WordStatus.PASSED


def _extras(found: WordComparison, hidden: Sequence[str], beside: Sequence[str]) -> None:
    """Record the origin of output words that match nothing on the page."""
    seen, near = _known([atom.text for atom in found.page])
    near |= {(found.page[one[-1]].text, found.page[other[0]].text) for one, other in found.neighbours}
    (layer, layer_near), allowed = _known(hidden), set(beside)
    for run in _runs(found.of_output, WordStatus.INVENTED):
        texts = [found.output[j] for j in run]
        around = found.output[max(run[0] - 1, 0) : run[-1] + 2]
        pairs, shift = list(pairwise(around)), run[0] - max(run[0] - 1, 0)
        is_short = len(run) <= _SHORT
        for k, j in enumerate(run):
            text, own = texts[k], pairs[max(k + shift - 1, 0) : k + shift + 1]
            if text in layer and (len(run) == 1 or any(pair in layer_near for pair in own)):
                found.of_output[j] = WordStatus.LEAKED
            elif text in allowed:
                found.of_output[j] = WordStatus.PASSED
            elif text in seen and (is_short or is_number(text) or any(pair in near for pair in own)):
                found.of_output[j] = WordStatus.DOUBLED


def _known(words: Sequence[str]) -> tuple[set[str], set[tuple[str, str]]]:
    """Return words of a text and which of them follow each other; two that a hyphen may part are also one."""
    joined = [a + b for a, b in pairwise(words)]
    pairs = {*pairwise(words), *zip(words, joined[1:], strict=False), *zip(joined, words[2:], strict=False)}
    return {*words, *joined}, pairs


def _runs(statuses: Sequence[WordStatus], wanted: WordStatus) -> list[list[int]]:
    """Return neighbours with the same status."""
    places = enumerate(k for k, status in enumerate(statuses) if status is wanted)
    return [[k for _, k in run] for _, run in groupby(places, key=lambda place: place[1] - place[0])]


def neighbours(page: Sequence[PageAtom]) -> Iterator[Stretches]:
    """Yield stretches of words of which the first comes before the second in every way to read a page.

    The first is left of the second, or above it; both the place on the page and the order of the file must
    say so, and lines must run from left to right.
    """
    turns = _turns(page)
    for degrees in sorted(set(turns)):
        boxes = {i: atom.box.turned(degrees) for i, atom in enumerate(page) if turns[i] == degrees}
        beside = [(boxes[i], boxes[k]) for i, k in pairwise(boxes) if page[i].line == page[k].line]
        steps = [second.x0 > first.x0 for first, second in beside if first != second]
        if 2 * sum(steps) < len(steps):
            continue
        cells = _cells(page, boxes)
        cells = [cell for cell in cells if not page[cell[0]].edge and page[cell[0]].line >= 0]
        hulls = [boxes[cell[0]] if len(cell) == 1 else Box.hull(boxes[i] for i in cell) for cell in cells]
        for cell in cells:
            yield from (([i], [k]) for i, k in pairwise(cell))
        for i, k in _before(hulls):
            one, other = cells[i], cells[k]
            yield one, other
            if len(one) + len(other) > 2:
                yield one[-1:], other[:1]


def _turns(page: Sequence[PageAtom]) -> list[int]:
    """Return by how many degrees each word's line is to be turned to run to the right; usually 0.

    A line runs from its first word to its last one; a single word is as its shape says, and runs upwards.
    """
    turns: list[int] = []
    for _, line in groupby(page, key=lambda atom: atom.line):
        own = list(line)
        (x0, y0), (x1, y1) = own[0].box.centre, own[-1].box.centre
        across, down = x1 - x0, y1 - y0
        if own[0].box == own[-1].box and len(own[0].text) >= _LONG:
            across, down = own[0].box.width, -own[0].box.height
        turns += [0 if abs(across) >= abs(down) else 90 if down < 0 else 270] * len(own)
    return turns


def _cells(page: Sequence[PageAtom], boxes: Mapping[int, Box]) -> list[list[int]]:
    """Return words of a line that stand together: a line of prose, or what a cell of a table says."""
    cells: list[list[int]] = []
    for i, box in boxes.items():
        if cells and page[cells[-1][-1]].line == page[i].line:
            last = boxes[cells[-1][-1]]
            gap = box.x0 - last.x1
            if box == last or -last.height <= gap <= _WIDE * max(last.height, box.height):
                cells[-1].append(i)
                continue
        cells.append([i])
    return cells


def _before(hulls: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """Yield for each box the next ones above and the next one left of it that the file has before it."""
    import numpy as np

    x0, y0, x1, y1 = np.array([(b.x0, b.y0, b.x1, b.y1) for b in hulls]).reshape(-1, 4).T
    height = y1 - y0
    for start in range(0, len(hulls), _AT_ONCE):
        k = np.arange(start, min(start + _AT_ONCE, len(hulls)))[:, None]
        earlier, lower = np.arange(len(hulls)) < k, np.minimum(height, height[k])
        gap, shared = y0[k] - y1, np.minimum(y1, y1[k]) - np.maximum(y0, y0[k])
        above = earlier & (gap >= -0.3 * height) & (gap <= _FAR * lower)
        above &= np.minimum(x1, x1[k]) > np.maximum(x0, x0[k])
        beside = earlier & (x1 <= x0[k]) & (2 * shared >= lower)
        own, over = np.nonzero(above)
        nearest = np.lexsort((-y1[over], own))
        own, over = own[nearest], over[nearest]
        # The nearest may be lost, and then says nothing.
        near = np.arange(len(own)) - np.searchsorted(own, own) < _ABOVE
        yield from zip(over[near].tolist(), (own[near] + start).tolist(), strict=True)
        has_left = np.flatnonzero(beside.any(axis=1))
        left = np.argmax(np.where(beside[has_left], x1, -np.inf), axis=1)
        yield from zip(left.tolist(), (has_left + start).tolist(), strict=True)


def moved(pairs: Sequence[Stretches], place: Sequence[int | None]) -> Iterator[int]:
    """Yield words of stretches that stand before what they follow.

    Of both, that one has moved which went farther from its place: what stands between two paragraphs that
    change places is out of order with both, and has not moved. If both went equally far, the smaller one.

    Of each pair of stretches the first comes before the second; `place` is where each word of the page surely
    stands in the output.
    """
    medians: dict[tuple[int, int], float | None] = {}

    def where(cell: list[int]) -> float | None:
        if len(cell) == 1:
            return place[cell[0]]
        key = cell[0], len(cell)
        if key not in medians:
            places = [at for i in cell if (at := place[i]) is not None]
            medians[key] = median(places) if 2 * len(places) >= len(cell) else None
        return medians[key]

    ways: dict[int, float] = {}
    for one, other in pairs:
        first, second = where(one), where(other)
        if first is not None and second is not None and first > second:
            ways = ways or _ways(place)
            went = [-median(ways[i] for i in cell if i in ways) for cell in (one, other)]
            yield from min(zip(went, (len(one), len(other)), (one, other), strict=True))[2]


def _ways(place: Sequence[int | None]) -> dict[int, float]:
    """Return how far each word went from its place among those of the page, beyond what most around it
    went.
    """
    import numpy as np

    here = [i for i, at in enumerate(place) if at is not None]
    went = np.argsort(np.argsort([place[i] or 0 for i in here])) - np.arange(len(here))
    around = np.lib.stride_tricks.sliding_window_view(np.pad(went, _AROUND, "symmetric"), 2 * _AROUND + 1)
    return dict(zip(here, np.abs(went - np.median(around, axis=1)).tolist(), strict=True))
