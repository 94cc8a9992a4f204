"""What words alone do not show of numbers: a lost sign, another unit, and how a number was altered."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import groupby, pairwise
from typing import NamedTuple

from parsemark.matching.page_evidence import PageEvidence
from parsemark.matching.words import PageAtom, WordStatus, atoms, is_number
from parsemark.pdf import SeenPage, SeenWord

_MINUS = "-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
_SIGNS = {**dict.fromkeys(_MINUS, "-"), "+": "+", "±": "±", "∓": "∓", "<": "<", ">": ">", "≤": "≤", "≥": "≥"}
_AFTER = {"%": "%", "‰": "‰", "°": "°", "º": "°", "′": "′", "″": "″"}
_MONEY = "$€£¥₹₩₽¢"
_LETTERS = frozenset(
    {
        *(
            "m",
            "g",
            "s",
            "a",
            "v",
            "w",
            "k",
            "l",
            "h",
            "j",
            "n",
            "c",
            "f",
            "ml",
            "dl",
            "cl",
            "km",
            "cm",
            "mm",
        ),
        *("um", "nm", "kg", "mg", "ug", "ng", "hz", "khz", "mhz", "ghz", "kb", "mb", "gb", "tb", "kw", "mw"),
        *("gw", "kwh", "wh", "ma", "ms", "us", "ns", "kv", "mv", "pa", "kpa", "mpa", "bar", "psi", "mol"),
        *("mmol", "db", "ft", "lb", "oz"),
    }
)
"""Units as they are compared, without case."""
_COMMANDS = {
    r"\pm": "±", r"\mp": "∓", r"\leq": "≤", r"\le": "≤", r"\geq": "≥", r"\ge": "≥", r"\circ": "°",
    r"\degree": "°", r"\%": "%", r"\$": "＄", r"\,": "", r"\mathrm": "", r"\text": "",
}  # fmt: skip
_NEAR = 0.6
"""Heights of a line between a number and its sign or unit."""
_TIGHT = 0.5
"""Share of a line's usual blank up to which a gap beside a number is the spacing of its letters."""
_AROUND = 24  # characters of an output before and behind a number
_LONG_TAG = 400  # characters before a number in which tags are looked for
_TAG = re.compile(r"</?[a-z][^<>]*>", re.I)
_APART = re.compile(r"\s[*_`{}$\\]*$")  # a blank before a number, with markup between
_UNIT = re.compile(r"[^\W\d_]{1,3}")


class NumberChange(NamedTuple):
    """A number whose digits are kept and whose sign or unit is not."""

    word: int  # of the page
    place: int  # word of the output
    detail: str
    seen: str
    said: str


def how_altered(seen: str, said: str) -> str:
    """Return how one number differs from another.

    >>> how_altered("12.5", "125"), how_altered("1934", "1984")
    ('decimal point', 'digit')
    >>> how_altered("1234", "34"), how_altered("17", "99")
    ('lost digits', 'digits')
    >>> how_altered("200", "2 0 0"), how_altered("23.75", "2.375")
    ('split digits', 'decimal point')
    """
    digits, others = (re.sub(r"\D", "", text) for text in (seen, said))
    if digits == others:
        # Digits between the signs: a point that is lost, added or at another place divides them otherwise.
        parts, other_parts = (re.split(r"[.,]", re.sub(r"[^\d.,]", "", text)) for text in (seen, said))
        return "split digits" if parts == other_parts else "decimal point"
    if len(digits) == len(others):
        differing = sum(a != b for a, b in zip(digits, others, strict=True))
        return "digit" if differing == 1 else "digits"
    if others and (digits.startswith(others) or digits.endswith(others)):
        return "lost digits"
    return "digits"


def changed_around(seen: SeenPage, evidence: PageEvidence, text: str) -> Iterator[NumberChange]:
    """Yield the numbers that an output has without their sign, with another one, or with another unit."""
    comparison = evidence.comparison
    shown = [word for word in seen.words if word.shown]
    owners = [k for k, word in enumerate(shown) for _ in atoms(word.text)]
    for i, atom in enumerate(comparison.page):
        if not is_number(atom.text) or atom.edge or comparison.of_page[i] is not WordStatus.KEPT:
            continue
        j = comparison.place[i]
        place = None if j is None or j >= len(evidence.places) else evidence.places[j]
        if place is None or j is None:
            continue
        k = owners[i]
        word = shown[k].text
        spot = _place_of_number(word, atom.text)
        inside = _place_of_number(text[place.start : place.end], atom.text)
        if spot is None or inside is None:
            continue
        first, last = _beside(shown, k, k - 1), _beside(shown, k, k + 1)
        before, after = f"{first} {word[: spot[0]]}", f"{word[spot[1] :]} {last}"
        start, end = place.start + inside[0], place.start + inside[1]
        theirs = _before(text, start), _plain(text[end : end + _AROUND])
        yield from (
            NumberChange(i, j, detail, f"{own}{atom.text}" if is_before else f"{atom.text} {own}".strip(),
                         f"{other}{atom.text}" if is_before else f"{atom.text} {other}".strip())
            for detail, own, other, is_before in _differences(before, after, *theirs)
            if not (is_before and _is_sign_kept(shown, atom.text, own, text))
            and not (is_before and other == _SIGNS.get(_left_of(shown, k)))
        )  # fmt: skip


def _is_sign_kept(shown: Sequence[SeenWord], number: str, sign: str, text: str) -> bool:
    """Return whether an output has a number with a sign as often as its page: the number stands at another
    place of the output then.
    """
    said = sum(
        _sign(_before(text, found.start())) in (sign, None)
        for found in re.finditer(rf"(?<![\w.,]){re.escape(number)}(?![.,]?\w)", text)
    )
    on_page = 0
    for k, word in enumerate(shown):
        spot = _place_of_number(word.text, number) if number in word.text else None
        if spot is not None:
            on_page += _sign(f"{_beside(shown, k, k - 1)} {word.text[: spot[0]]}") == sign
    return 0 < on_page <= said


def is_letter_spaced(page: Sequence[PageAtom], words: Sequence[int]) -> bool:
    """Return whether words of a line, among them a number, are closer together than its blanks are wide:
    some fonts for programs set their letters that far apart.
    """
    if not any(is_number(page[i].text) for i in words):
        return False
    line = page[words[0]].line
    boxes = [box for box, _ in groupby(atom.box for atom in page if atom.line == line)]
    blanks = sorted(gap for one, two in pairwise(boxes) if (gap := two.x0 - one.x1) > 0)
    own = [box for box, _ in groupby(page[i].box for i in words)]
    gaps = [two.x0 - one.x1 for one, two in pairwise(own)]
    return bool(gaps and blanks) and max(gaps) <= _TIGHT * blanks[len(blanks) * 3 // 4]


def _beside(shown: Sequence[SeenWord], k: int, other: int) -> str:
    """Return the word beside one, if it is of the same line and not farther away than a blank."""
    if not 0 <= other < len(shown) or shown[other].line != shown[k].line:
        return ""
    one, two = shown[min(k, other)].box, shown[max(k, other)].box
    return shown[other].text if two.x0 - one.x1 <= _NEAR * max(one.height, two.height) else ""


def _left_of(shown: Sequence[SeenWord], k: int) -> str:
    """Return the word left of one in its line, however wide the blank."""
    return shown[k - 1].text if k and shown[k - 1].line == shown[k].line else ""


def _place_of_number(text: str, atom: str) -> tuple[int, int] | None:
    """Return where a number stands in a text, if that can be told: it is there once, spelled alike."""
    digits = "[, ]?".join(atom) if atom.isdigit() else re.escape(atom)
    composed = unicodedata.normalize("NFKC", text)
    found = list(re.finditer(rf"(?<![\d.,]){digits}(?!\d)", composed))
    return found[0].span() if len(found) == 1 and len(composed) == len(text) else None


def _before(text: str, start: int) -> str:
    """Return what stands before a number, without markup, however long its tags are."""
    return _plain(_TAG.sub("", text[max(0, start - _LONG_TAG) : start])[-_AROUND:])


def _plain(text: str) -> str:
    """Return a piece of an output without markup, with its line ends, commands as signs."""
    line = unescape(text)
    for command, sign in _COMMANDS.items():
        line = line.replace(command, sign)
    return line


def _differences(
    before: str, after: str, said_before: str, said_after: str
) -> Iterator[tuple[str, str, str, bool]]:
    own, other = _sign(before), _sign(said_before)
    is_apart = other != "" and _APART.search(said_before) is not None  # the page may show it farther away
    is_code = said_before.endswith("(cid:")
    if own != other and own is not None and other is not None and not is_apart and not is_code:
        yield "sign", own, other, True
    rest = re.split(r"\n|\||</t", said_after, maxsplit=1)[0]
    if after.startswith(" ") and not rest.strip():
        return  # the output ends a line here: what the page has behind the number may be no unit
    mine, theirs = _unit(after), _unit(rest)
    if not mine and theirs in _AFTER.values() and not rest.lstrip("*_`$^\\").startswith(tuple(_AFTER)):
        return  # what stands behind a blank or a brace may belong to the next word
    if mine and re.match(r"[*_`\s]*" + r"\s*".join(map(re.escape, mine)) + r"(?!\w)", rest, re.IGNORECASE):
        return  # nothing but blanks may differ
    are_letters = mine in _LETTERS and theirs in _LETTERS
    if mine != theirs and (are_letters or {mine, theirs} & set(_AFTER.values())):
        yield "unit", mine, theirs, False


def _sign(text: str) -> str | None:
    """Return the sign before a number; empty if there is none, None if it may be a dash or the mark of a
    list.
    """
    line = re.sub(r"<[^<>]*>$|[*_`{}$\\]+", "", text.rsplit("\n", 1)[-1]).rstrip(_MONEY + "＄")
    bare = line.rstrip()
    sign = _SIGNS.get(bare[-1:], "")
    rest = bare[:-1].rstrip(_MONEY + "＄")
    if sign == "-" and (line != bare or not rest or (rest[-1].isalnum() or rest[-1] in ").%]" + _MINUS)):
        # A minus stands directly before its number, and behind a blank or a bracket.
        return "-" if line == bare and not rest and "\n" not in text and "|" not in text else None
    if sign in ("<", ">") and re.search(r"</?\w*$|<\w[^<>]*>$", bare):
        return None
    return sign


def _unit(text: str) -> str:
    """Return the unit directly behind a number, as it is compared; empty if there is none that is known."""
    text = re.sub(r"^(?:[*_`{}$^\s\\]|</?su[bp]>|</?\w{1,6}>)+", "", text)
    if not text:
        return ""
    if text[0] in _AFTER:
        return _AFTER[text[0]]
    word = _UNIT.match(text)
    if not word or (len(text) > word.end() and (text[word.end()].isalnum() or text[word.end()] in "_-'’")):
        return ""
    folded = " ".join(atoms(word[0]))
    if text[:1] in "µμ":
        folded = "u" + " ".join(atoms(word[0][1:]))
    return folded if folded in _LETTERS else ""


def joined_numbers(texts: Sequence[str], i: int, said: str) -> int:
    """Return how many numbers behind a word of a page the output's number has joined to it."""
    digits, wanted = re.sub(r"\D", "", texts[i]), re.sub(r"\D", "", said)
    for n, text in enumerate(texts[i + 1 :], start=1):
        digits += re.sub(r"\D", "", text)
        if not is_number(text) or not wanted.startswith(digits):
            break
        if digits == wanted:
            return n
    return 0
