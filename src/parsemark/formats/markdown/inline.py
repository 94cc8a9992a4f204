r"""The text of a Markdown cell: emphasis, links and HTML go, what they hold stays; math stays as written.

Reading is lenient where parsers are: a star that closes nothing (`0.31**`) is text, and so is a `<` that
begins no tag.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from parsemark.formats.cell_text import check_cell, clean, clean_limited
from parsemark.formats.html.tree import fragment_text

_SPECIAL = re.compile(r"[\\`*_$<&~\[]|[\U000F0000-\U0010FFFF]")
_PLACEHOLDERS = re.compile("[\U000f0000-\U0010ffff]")
_FIRST_PLACEHOLDER = 0xF0000
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"()]*\")?\)")
_RUNS = re.compile(r"\*+|_+")
_STRUCK = re.compile(r"~~(?!\s)([^~]+)(?<!\s)~~")
_EMPHASISED_SIGN = re.compile(r"(?<![\w_])_([^\w\s]{1,3})_(?=\w)")
"""`_−_0.122`: CommonMark takes it for text, parsers that find a slanted minus write it all the same."""
_TO_ESCAPE = re.compile(r"[\\`*_<&|$~\[\]]")


def inline_text(source: str, position: int | None = None) -> str:
    r"""Return the clean text of a cell.

    >>> inline_text(r"**a\*b** <br> `x|y` $c_1$ &lt; 0.31**")
    'a*b\nx|y $c_1$ < 0.31**'
    """
    check_cell(source, position)
    if _SPECIAL.search(source) is None:
        return clean(source)
    kept: list[str] = []

    def hide(part: str) -> str:
        """Return one private character in place of a part that is not Markdown."""
        kept.append(part)
        return chr(_FIRST_PLACEHOLDER + len(kept) - 1)

    pieces, at = list[str](), 0
    for start, end, kind in protected_spans(source):
        part = source[start + 1] if kind == "escape" else source[start:end]
        part = part.strip("`").replace("\\|", "|") if kind == "code" else part
        pieces += [_PLACEHOLDERS.sub(lambda m: hide(m[0]), source[at:start]), hide(part)]
        at = end
    text = "".join([*pieces, _PLACEHOLDERS.sub(lambda m: hide(m[0]), source[at:])])
    text = _LINK.sub(r"\1", text)
    text = _STRUCK.sub(r"\1", without_emphasis(text))
    text = _EMPHASISED_SIGN.sub(r"\1", text)
    if "<" in text or "&" in text:
        text = fragment_text(text, position)
    text = _PLACEHOLDERS.sub(lambda m: kept[ord(m.group()) - _FIRST_PLACEHOLDER], text)
    return clean_limited(text, position)


@dataclass(slots=True)
class _Run:
    """A run of stars or underscores."""

    start: int
    sign: str
    n_left: int
    size: int
    opens: bool
    closes: bool


def without_emphasis(text: str) -> str:
    """Return the text without the signs that are emphasis by CommonMark's rules (0.31, section 6.2).

    Stars inside of words are text all the same, unless two or more end there: parsers that know no Markdown
    write `3*4*5` and `0.31*`.

    >>> without_emphasis("_abc_def_ snake_case_name _$EXEC_PREFIX_ **b**c 3*4*5 __init__")
    'abc_def snake_case_name $EXEC_PREFIX bc 3*4*5 init'
    """
    runs = [_run(text, found) for found in _RUNS.finditer(text)]
    _pair(runs)
    pieces, position = [], 0
    for run in runs:
        pieces += [text[position : run.start], run.sign * run.n_left]
        position = run.start + run.size
    return "".join((*pieces, text[position:]))


def _run(text: str, found: re.Match[str]) -> _Run:
    """Return how a run may open and close, from the characters before and behind it."""
    before, behind = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    left = not _is_space(behind) and (not _is_sign(behind) or _is_space(before) or _is_sign(before))
    right = not _is_space(before) and (not _is_sign(before) or _is_space(behind) or _is_sign(behind))
    opens, closes = left and (not right or _is_sign(before)), right and (not left or _is_sign(behind))
    size = found.end() - found.start()
    if found[0][0] == "*" and size > 1:
        closes = right
    return _Run(found.start(), found[0][0], size, size, opens, closes)


def _pair(runs: Sequence[_Run]) -> None:
    """Take the signs that belong together out of their runs; each opener is passed over once."""
    openers: dict[str, list[_Run]] = {"*": [], "_": []}
    for run in runs:
        mine, other = openers[run.sign], openers["_" if run.sign == "*" else "*"]
        while run.closes and run.n_left and mine:
            opener = mine[-1]
            both = opener.closes or run.opens
            if both and (opener.size + run.size) % 3 == 0 and (opener.size % 3 or run.size % 3):
                break
            used = 2 if opener.n_left >= 2 and run.n_left >= 2 else 1
            opener.n_left -= used
            run.n_left -= used
            while other and other[-1].start > opener.start:
                other.pop()  # what was begun inside of an emphasis does not end outside of it
            if not opener.n_left:
                mine.pop()
        if run.opens and run.n_left:
            mine.append(run)


def _is_space(character: str) -> bool:
    return not character or character.isspace()


def _is_sign(character: str) -> bool:
    """Return punctuation or a symbol; what is put in place of code and formulas begins and ends with such."""
    return character >= chr(_FIRST_PLACEHOLDER) or unicodedata.category(character or " ")[0] in "PS"


def escape_inline(text: str, *, brackets: bool = True) -> str:
    r"""Clean text as Markdown that `inline_text` reads back.

    Math in it stays math, unless it holds a pipe, at which most readers of Markdown would divide the cell.
    Without `brackets` these are character references: outside of cells `\[…\]` may be a formula.

    >>> escape_inline("a|b * $x_1$\n5$")
    'a\\|b \\* $x_1$<br>5\\$'
    """
    pieces: list[str] = []
    position = 0
    while (special := _TO_ESCAPE.search(text, position)) is not None:
        start = special.start()
        end = None if text.startswith("$$$", start) else match_math(text, start)
        if end is None or "|" in text[start:end]:
            is_reference = not brackets and text[start] in "[]"
            pieces += [text[position:start], f"&#{ord(text[start])};" if is_reference else f"\\{text[start]}"]
            position = start + 1
        else:
            pieces.append(text[position:end])
            position = end
    return "".join([*pieces, text[position:]]).replace("\n", "<br>")


PUNCTUATION = r"!-/:-@\[-`{-~"

_MATH = re.compile(
    r"\$\$(?:[^$\\\n]|\\.)+\$\$"
    r"|\$(?![\s$])(?:[^$\\\n]|\\.)*(?<!\s)\$(?!\d)"
    r"|\\\((?:(?!\\[()])[^\n])*\\\)"
)
_MARK = re.compile(rf"\\\(|\\[{PUNCTUATION}]|\$+|`+")


class InlineSpan(NamedTuple):
    """`text[start:end]` is of this kind: `math`, `code`, or `escape` (a backslash and its character)."""

    start: int
    end: int
    kind: str


def match_math(text: str, position: int) -> int | None:
    """Return the end of the math that begins at `position`, or None."""
    match = _MATH.match(text, position)
    return None if match is None else match.end()


def protected_spans(text: str) -> list[InlineSpan]:
    r"""Return math, code and escaped characters, in which pipes and stars are not Markdown's; in order and
    disjoint.

    Math is `$…$`, `$$…$$` and `\(…\)`; a single dollar opens math only before a character and closes it only
    after one and not before a digit (pandoc's rule), so that prices stay text. All scans are linear.
    """
    if "\\" not in text and "$" not in text and "`" not in text:
        return []
    ticks: dict[int, list[int]] = defaultdict(list)
    for run in re.finditer("`+", text):
        ticks[len(run[0])].append(run.start())
    spans: list[InlineSpan] = []
    position = 0
    while (mark := _MARK.search(text, position)) is not None:
        start, position = mark.span()
        found = text[start]
        if found == "`":
            length = position - start
            places = ticks[length]
            index = bisect_right(places, start)  # the next run of equal length closes it
            if index < len(places):
                position = places[index] + length
                spans.append(InlineSpan(start, position, "code"))
        elif position - start <= 2 and (math_end := match_math(text, start)) is not None:
            spans.append(InlineSpan(start, math_end, "math"))
            position = math_end
        elif found == "\\":
            position = start + 2
            spans.append(InlineSpan(start, position, "escape"))
    return spans
