"""The text of a cell as a reader of the page sees it, from its characters and their places.

TeX sets neither blanks nor scripts as such: a blank is a gap, a footnote mark is a small glyph above the
line, and an accent of an old font is a glyph of its own. What is written here has the notation of
`parsemark.formats` (`x^2`, `10^{-3}`), so that it can stand beside texts that were read from a source.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from parsemark.formats.glyphs import JOINED_SIGNS
from parsemark.formats.latex import ACCENT_SIGNS, accented, fraction
from parsemark.model import Box
from parsemark.pdf import LINE_END_HYPHEN

UNKNOWN = "\ufffd"  # a glyph of which the PDF does not say what it means
GAP = 0.16
"""A gap of this share of the font's size is a blank; kerns are smaller, TeX's smallest spaces larger."""
SCRIPT_SIZE, SCRIPT_SHIFT = 0.9, 0.07
"""Scripts are smaller than this share of the size of their line, and stand off its baseline by that one: TeX
lowers a lone subscript by 0.1 of the size at 5 and 9 points, and by 0.15 at others."""
LARGE_MARK_SHIFT = 0.2
"""What stands above the text before it by more than this share of its size is a mark, also if it is larger: a
lone index before a letter (`₂F₁`) is lower by 0.15 at most."""
SMALLEST_SIZE = 5.5  # up to this size in points TeX has no smaller font for scripts
LINE_SHIFT = 0.75  # a glyph that is off by this share of the size is on another line
DIVISION = "\u00ad"
"""Where a word was divided at the end of a line; its hyphen may be that of the division or its own."""
UNDERSCORE, UNDERSCORE_SHIFT = (0.2, 0.45), 0.15
"""How wide a rule is that stands for an underscore, and how far from the baseline, in sizes of the font:
TeX's oldest encoding has no such glyph."""
MATH_AXIS = 0.25  # height of the rules of fractions over the baseline, in sizes of the font
STACK_HEIGHT = 1.4
"""How far from its rule the baseline of a numerator or a denominator is, at most, in sizes of its font."""
SMALL_FRACTION, LARGE_FRACTION, UNDERLINE, DEEP_UNDERLINE = 1.15, 0.36, 0.17, 0.5
"""Distance of the baselines of a small fraction, and of a large one's numerator from its rule; what is
underlined is closer to it, without and with letters that reach below the line. In sizes of the font."""
_DEEP = frozenset("gjpqyQ()[]{},;|/βγημρφχψςξζϕ")
ACCENT_SHIFT = 0.5  # by how much of the size an accent is raised over a capital, at most
JOINT = 0.1  # glyphs of one sign lie over each other by more than this share of their size

_COMBINING = {sign.replace("~", "˜"): mark for mark, sign in (*ACCENT_SIGNS.items(), ("\u20d7", "\u20d7"))}
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}
_NEGATION = "\u0338"


@dataclass(frozen=True, slots=True)
class Character:
    """A glyph in the frame of its text: x runs along the line, y downwards."""

    text: str
    box: Box  # as wide as the glyph's advance, so that the next one of a word begins where it ends
    baseline: float
    size: float
    is_bold: bool = False


def character_of(code: int) -> str:
    """Return the text of a code of pdfium's; what has none is `UNKNOWN`."""
    if code == LINE_END_HYPHEN:
        return "-"
    if code < 32 or code >= 0x110000 or 0xD800 <= code < 0xE000 or 0xE000 <= code <= 0xF8FF:
        return UNKNOWN
    character = chr(code)
    return _LIGATURES.get(character, character)


def composed_text(characters: Sequence[Character], rules: Sequence[Box] = ()) -> str:
    """Return the text of characters in the order of the file: blanks, line ends, scripts and accents put in.

    `rules` are the lines that are drawn among them, in the same frame.

    >>> line = [Character("m", Box(0, 0, 8, 5), 10, 10), Character("2", Box(8, 0, 12, 3), 6, 7)]
    >>> composed_text([*line, Character("a", Box(16, 0, 20, 5), 10, 10)])
    'm^2 a'
    """
    seen = _with_stacks(_with_accents(_with_strokes(characters)), rules)
    lines = [_with_joined(_with_underscores(line, rules)) for line in _lines(seen)]
    text = ""
    for line in lines:
        part = _line_text(line)
        is_divided = text.endswith("-") and text[-2:-1].isalpha() and part[:1].islower()
        text = text[:-1] + DIVISION + part if is_divided else f"{text} {part}" if part else text
    return " ".join(text.split())


def _with_strokes(characters: Sequence[Character]) -> list[Character]:
    """Return only visible characters; the stroke of `ł` is a glyph at the code of a blank, under the
    letter.
    """
    seen: list[Character] = []
    stroke: Character | None = None
    top = 0.0
    for character in characters:
        if stroke is not None and character.text in ("l", "L") and _overlap(stroke.box, character.box):
            seen.append(replace(character, text={"l": "ł", "L": "Ł"}[character.text]))
        elif character.text in ("|", "‖") and seen and _goes_on(seen[-1], character):
            seen[-1] = replace(seen[-1], baseline=(top + character.baseline) / 2)
            continue
        elif character.text.strip():
            seen.append(character)
            top = character.baseline
        stroke = None if character.text.strip() else character
    return seen


def _lines(characters: Sequence[Character]) -> list[list[Character]]:
    """Split where the text goes back to the left and down (or up): scripts go on to the right."""
    lines = [list(characters[:1])]
    for character in characters[1:]:
        line = lines[-1]
        size = max(c.size for c in line)
        whole = next(c for c in reversed(line) if c.size > SCRIPT_SIZE * size or c is line[0])
        shift = abs(character.baseline - whole.baseline)
        is_back = character.box.x0 < line[-1].box.x1 - 0.5 * size
        if shift > LINE_SHIFT * size and (is_back or shift > 1.5 * size):
            lines.append([character])
        else:
            line.append(character)
    return lines


def _goes_on(one: Character, other: Character) -> bool:
    """Return whether the second is the next piece of a tall bar."""
    is_below = other.baseline > one.baseline
    return one.text == other.text and is_below and abs(one.box.x0 - other.box.x0) < 0.05 * one.size


def _with_accents(characters: Sequence[Character]) -> list[Character]:
    """Return each accent that stands over or under a letter joined with it, wherever it is in the file:
    readers give those of capitals, which are raised, behind the line.
    """
    joined = dict(enumerate(characters))
    places = [i for i, character in joined.items() if character.text in _COMBINING]
    for place in places:
        accent = characters[place]
        under = [i for i, c in enumerate(characters) if _carries(c, accent) and i not in places]
        if not under:
            continue
        middle = accent.box.centre[0]
        best = min(under, key=lambda i: abs(characters[i].box.centre[0] - middle))
        if len(under) > 1 and accent.box.width > 1.2 * characters[best].box.width:
            best = min(under, key=lambda i: characters[i].box.x0)  # a wide one, over several letters
        joined[best] = replace(joined[best], text=accented(joined[best].text, _COMBINING[accent.text]))
        del joined[place]
    return list(joined.values())


def _carries(letter: Character, accent: Character) -> bool:
    shift = (letter.baseline - accent.baseline) / accent.size if accent.size else 0.0
    return letter.text.isalpha() and -0.05 <= shift <= ACCENT_SHIFT and _overlap(accent.box, letter.box)


def _with_stacks(characters: list[Character], rules: Sequence[Box]) -> list[Character]:
    """Return fractions and roots as one character each, in the notation of a line; inner ones, whose rules
    are shorter, first.
    """
    for rule in sorted(rules, key=lambda rule: rule.width):
        inside = [c for c in characters if _is_along(c, rule)]
        above = [c for c in inside if 0 <= rule.y0 - c.baseline <= STACK_HEIGHT * c.size]
        below = [c for c in inside if 0 < c.baseline - rule.y1 <= STACK_HEIGHT * c.size]
        higher = [other for other in rules if other.y0 < rule.y0]
        signs = [c for c in characters if c.text == "√" and _begins(c, rule)]
        sign = next((c for c in signs if not any(_begins(c, other) for other in higher)), None)
        if sign is not None and below:
            inner = composed_text(below)
            text = f"√{inner}" if len(inner) == 1 or inner.isdecimal() else f"√({inner.replace(' ', '')})"
            base = max(below, key=lambda c: c.size)
            whole = replace(base, text=text, box=Box.hull([sign.box, rule]))
            characters = _replaced(characters, [sign, *below], whole)
        elif above and below and _is_fraction(above, below, rule):
            over, under = (composed_text(part).replace(" ", "") for part in (above, below))
            text = str(fraction(over, under))
            base = _beside(characters, [*above, *below], rule)
            before = [c for c in characters if c.box.x1 <= rule.x0 + 0.5 and c.text[-1:].isdecimal()]
            is_mixed = any(rule.x0 - c.box.x1 < base.size and c.baseline == base.baseline for c in before)
            whole = replace(base, text=" " * is_mixed + text, box=rule)
            characters = _replaced(characters, [*above, *below], whole)
        elif len(below) == 1 and not above and below[0].text.isalpha() and _is_bar(below[0], rule):
            letter = replace(below[0], text=unicodedata.normalize("NFC", below[0].text + "\u0304"))
            characters = _replaced(characters, below, letter)
    return characters


def _is_along(character: Character, rule: Box) -> bool:
    slack = 0.15 * character.size
    return rule.x0 - slack <= character.box.x0 and character.box.x1 <= rule.x1 + slack


def _begins(sign: Character, rule: Box) -> bool:
    """Return whether the rule goes on from a sign of a root."""
    return abs(sign.box.x1 - rule.x0) < 0.15 * sign.size and abs(sign.baseline - rule.y1) < 3 * sign.size


def _is_bar(letter: Character, rule: Box) -> bool:
    """Return whether the rule is a bar over one letter."""
    height = (letter.baseline - rule.y1) / letter.size
    return 0.4 < height < 1.0 and rule.width < 1.3 * letter.box.width


def _is_fraction(above: Sequence[Character], below: Sequence[Character], rule: Box) -> bool:
    """Return whether the rule is that of a fraction and does not underline a line above another one.

    TeX sets what is underlined closer to its rule than a numerator; small fractions have their lines closer
    together than any text, large ones are further from their rule than what is underlined.
    """
    top, bottom = (max(part, key=lambda c: c.size) for part in (above, below))
    shift = (rule.centre[1] - top.baseline) / top.size
    distance = (bottom.baseline - top.baseline) / top.size
    is_deep = any(c.text in _DEEP for c in above)
    if distance <= SMALL_FRACTION:
        return is_deep or shift > UNDERLINE
    return shift > (DEEP_UNDERLINE if is_deep else LARGE_FRACTION)


def _beside(characters: Sequence[Character], own: Sequence[Character], rule: Box) -> Character:
    """Return the character of the line in which a fraction stands; else one of its own as if it were of the
    line.
    """
    axis = rule.centre[1]
    others = (c for c in characters if c not in own)
    near = [c for c in others if abs(c.baseline - axis - MATH_AXIS * c.size) < 0.1 * c.size]
    if near:
        return min(near, key=lambda c: max(c.box.x0 - rule.x1, rule.x0 - c.box.x1))
    size = max(c.size for c in own)
    return replace(own[0], size=size, baseline=axis + MATH_AXIS * size)


def _replaced(characters: Sequence[Character], own: Sequence[Character], whole: Character) -> list[Character]:
    gone = {id(c) for c in own}
    place = next(i for i, c in enumerate(characters) if id(c) in gone)
    before = [c for c in characters[:place] if id(c) not in gone]
    return [*before, whole, *(c for c in characters[place:] if id(c) not in gone)]


def _with_underscores(line: list[Character], rules: Sequence[Box]) -> list[Character]:
    """Return short rules on the baseline, where no glyph stands, as underscores."""
    for rule in rules:
        near = [c for c in line if abs(rule.y1 - c.baseline) <= UNDERSCORE_SHIFT * c.size]
        if not near:
            continue
        middle = rule.centre[0]
        beside = min(near, key=lambda c: max(c.box.x0 - rule.x1, rule.x0 - c.box.x1))
        if max(beside.box.x0 - rule.x1, rule.x0 - beside.box.x1) > beside.size:
            continue
        is_free = all(c.box.x1 <= middle or c.box.x0 >= middle for c in line)
        if is_free and UNDERSCORE[0] <= rule.width / beside.size <= UNDERSCORE[1]:
            place = next((i for i, c in enumerate(line) if c in near and c.box.x0 >= middle), len(line))
            box = Box(rule.x0, beside.box.y0, rule.x1, beside.box.y1)
            line = [*line[:place], replace(beside, text="_", box=box), *line[place:]]
    return line


def _with_joined(line: Sequence[Character]) -> list[Character]:
    """Return glyphs that make one sign together, as that sign."""
    joined: list[Character] = []
    index = 0
    while index < len(line):
        run = [line[index]]
        for following in line[index + 1 : index + 3]:
            if _shared_width(run[-1].box, following.box) <= JOINT * following.size:
                break
            run.append(following)
        sign = ""
        while len(run) > 1 and not sign:
            glyphs = "".join(c.text for c in run)
            is_negated = len(glyphs) == 2 and glyphs[0] == _NEGATION
            sign = unicodedata.normalize("NFC", glyphs[::-1]) if is_negated else JOINED_SIGNS.get(glyphs, "")
            run = run if sign else run[:-1]
        hull = Box.hull(c.box for c in run)
        joined.append(replace(run[-1], text=sign, box=hull) if sign else line[index])
        index += len(run)
    return joined


def _shared_width(one: Box, other: Box) -> float:
    return min(one.x1, other.x1) - max(one.x0, other.x0)


def _overlap(accent: Box, letter: Box) -> bool:
    return _shared_width(accent, letter) > 0.5 * min(accent.width, letter.width)


def _line_text(line: Sequence[Character]) -> str:
    if not line:
        return ""
    # the text is the largest of a line, but for marks that stand far above what they follow
    first, largest = line[0], max(line, key=lambda c: c.size)
    size = first.size if first.size < largest.size and _is_mark(largest, first) else largest.size
    pieces: list[tuple[str, str, float, float]] = []  # the script ("", "^" or "_"), the text, its extent
    end = first.box.x0
    for index, character in enumerate(line):
        script, (start, _, behind, _) = _script(line, index, size), character.box.as_tuple()
        blank = " " if start - end > GAP * max(character.size, 0.7 * size) else ""
        end = behind
        if pieces and pieces[-1][0] == script:
            _, text, begin, _ = pieces.pop()
            pieces.append((script, text + blank + character.text, begin, end))
        else:
            pieces.append((script, character.text if script else blank + character.text, start, end))
    for place, (before, after) in enumerate(pairwise(list(pieces)), start=1):
        if (pieces[place - 1][0], after[0]) == ("^", "_") and after[2] < before[3]:
            pieces[place - 1], pieces[place] = pieces[place], pieces[place - 1]
    braced = ((script, f"{{{text}}}" if script and len(text) != 1 else text) for script, text, _, _ in pieces)
    return "".join(script + text for script, text in braced)


def _is_mark(character: Character, first: Character) -> bool:
    """Return whether it stands far above the first of a line."""
    return first.baseline - character.baseline > LARGE_MARK_SHIFT * character.size


def _script(line: Sequence[Character], index: int, size: float) -> str:
    character = line[index]
    full = [
        i
        for i, c in enumerate(line)
        if SCRIPT_SIZE * size <= c.size <= size / SCRIPT_SIZE and not (c.size > size and _is_mark(c, line[0]))
    ]
    if size <= SMALLEST_SIZE:
        full = [i for i in full if abs(line[i].baseline - line[0].baseline) < SCRIPT_SHIFT * size] or full
    if index in full:
        return ""
    nearest = min(full, key=lambda i: (abs(i - index), i > index))
    shift = character.baseline - line[nearest].baseline
    if abs(shift) < SCRIPT_SHIFT * size:
        return ""
    return "_" if shift > 0 else "^"
