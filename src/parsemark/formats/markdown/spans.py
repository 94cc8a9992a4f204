r"""The parts of a line of Markdown in which pipes and stars are not Markdown's: math and code.

Math is `$…$`, `$$…$$` and `\(…\)`; a single dollar opens math only before a character and closes it only
after one and not before a digit (pandoc's rule), so that prices stay text. All scans are linear.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

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
    """End of the math that begins at `position`, or None."""
    match = _MATH.match(text, position)
    return None if match is None else match.end()


def protected_spans(text: str) -> list[InlineSpan]:
    """Math, code and escaped characters, in order and disjoint."""
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
