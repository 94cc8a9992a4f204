r"""Display formulas as texts of every format have them: `$$…$$`, `\[…\]` and TeX's environments."""

import re

from parsemark.formats.document.elements import Block
from parsemark.model import Category

_NAMES = "equation align alignat flalign gather multline eqnarray displaymath dmath xalignat IEEEeqnarray"
DISPLAY_ENVIRONMENTS = frozenset(_NAMES.split())
"""TeX's environments for display formulas; some have a star behind their names."""
UNWRAPPED = frozenset({"equation", "displaymath", "dmath"})
"""Those that say nothing but that there is a formula."""
LABEL = re.compile(r"\\label\s?\{[^{}]*+\}")
_OPENING = re.compile(rf"\\\\|\\\$|\$\$|\\\[|\\begin\s?\{{(?P<name>(?:{'|'.join(_NAMES.split())})\*?)\}}")
_MATH_SIGN = re.compile(r"\\[A-Za-z,;!]|(?<!\\)[\^_={}+<>≤≥∈]")
_NOT_MATH = re.compile(r"[\s\d,;–-]*+")
MAX_FORMULA = 20_000  # characters of one display formula; what is longer is a lost delimiter


def display_formulas(text: str) -> list[Block]:
    """The display formulas of a text, each with its LaTeX without delimiters and labels."""
    blocks: list[Block] = []
    missing: set[str] = set()
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        mark, start, begin = opening[0], *opening.span()
        position = begin
        closing = {"$$": "$$", "\\[": "\\]"}.get(mark) or f"\\end{{{opening['name']}}}"
        if mark in ("\\\\", "\\$") or closing in missing:
            continue
        close = text.find(closing, begin)
        if close < 0:
            missing.add(closing)
            continue
        end = close + len(closing)
        inside = text[begin:close].strip()
        if close - begin > MAX_FORMULA or not inside or not _is_display(text, mark, start, end, inside):
            continue
        is_bare = opening["name"] is None or opening["name"].rstrip("*") in UNWRAPPED
        latex = inside if is_bare else text[start:end]
        blocks.append(Block(Category.EQUATION_ISOLATED, start, end, latex=LABEL.sub("", latex).strip()))
        position = end
    return blocks


def _is_display(text: str, mark: str, start: int, end: int, inside: str) -> bool:
    r"""Not a formula in a row of a pipe table, and not Markdown's `\[1\]` for a bracket."""
    line_start = text.rfind("\n", max(0, start - 1_000), start) + 1
    before, after = text[line_start:start].strip(" >\t"), text[end : end + 1_000].partition("\n")[0]
    if mark == "$$" and "\n" not in inside and before.startswith("|") and "|" in after:
        return False
    if mark != "\\[":
        return "\n\n" not in inside or mark != "$$"
    if _NOT_MATH.fullmatch(inside):
        return False
    is_alone = not before and not after.strip(" .,;")
    return is_alone or _MATH_SIGN.search(inside) is not None
