"""LaTeX as plain text, through pylatexenc (section 4.3)."""

import re
from functools import lru_cache
from typing import Any

from parsemark.metrics.cdm.tokens import is_bad, is_costly

_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_MARKUP = re.compile(r"\\[A-Za-z]+|[_^{}$]|&|%|#")
_NOT_NOISE = (
    "\\frac", "\\sqrt", "\\left", "\\right", "\\begin", "\\end", "\\sum", "\\int", "\\alpha", "\\beta",
)  # fmt: skip
_MAX_ANY = 100_000
"""Longer formulas are left as they are: the parser is quadratic. The published code has no such bound."""


@lru_cache(maxsize=1)
def converter() -> Any:
    """The one of pylatexenc, which is imported late."""
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text()


@lru_cache(maxsize=16384)
def latex_to_text(latex: str, *, strict_braces: bool = False) -> str | None:
    """Plain text; None where the converter fails.

    Args:
        latex: What is between the delimiters.
        strict_braces: As pylatexenc 3.0a30 has it, where 2.10 is more lenient: a stray closing brace leaves
            nothing at all. Malformed formulas alone are concerned.
    """
    if len(latex) > _MAX_ANY:
        return None
    newer = _as_newer_parser(latex) if strict_braces else latex
    if newer is None or is_costly(newer):
        return None
    try:
        text = str(converter().latex_to_text(newer))
        return text.replace("%s", "") if strict_braces and "%s" not in latex else text
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, RecursionError):
        return None


_DELIMITERS = re.compile(r"\\begin\{[\w*.\- ]*\}|\\end\{[\w*.\- ]*\}|\\[\[\]()]|\\.|[{}$]|%[^\n]*", re.DOTALL)
_CLOSES = {"{": "}", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_RUN_ON = re.compile(r"(\\(?:[A-Za-z]+(?=[^\W\d_A-Za-z])|[^\W\d_A-Za-z](?=[^\W\d_])))")
_MATRIX = re.compile(r"\\begin\{(?:array|(?:[pb]|small|[pb]small)matrix)\}")
_NO_ARGUMENTS = "{}{}{}"
"""Behind the end: what a command lacks there is empty; groups that no command takes print nothing."""


def _as_newer_parser(latex: str) -> str | None:
    """LaTeX of which pylatexenc 2.10 makes what 3.0a30 makes of the one given; None where that fails.

    A closing delimiter that closes nothing leaves nothing at all; one of the wrong kind ends the group and
    its content is lost; so is that of a group that is never closed; an open matrix is an error.
    Arguments that are missing at the end are empty, as are those of a command that is an argument itself.
    The name of a command is of ASCII letters; 2.10 takes the letters of all scripts.
    """
    latex = _RUN_ON.sub(r"\1 ", latex)
    stack: list[tuple[str, int]] = []
    lost: list[tuple[int, int]] = []
    for match in _DELIMITERS.finditer(latex):
        token = match.group()
        expected = stack[-1][0] if stack else None
        if token == expected:
            stack.pop()
        elif token in _CLOSES:
            stack.append((_CLOSES[token], match.start()))
        elif token.startswith("\\begin{"):
            stack.append((token.replace("begin", "end", 1), match.start()))
        elif token in ("}", "\\]", "\\)") or token.startswith("\\end{"):
            if not stack:
                return ""
            lost.append((stack.pop()[1], match.end()))
    if stack:
        lost.append((stack[0][1], len(latex)))
    parts: list[str] = []
    done = 0
    for start, end in sorted(lost, key=lambda span: (span[0], -span[1])):
        if start >= done:
            if _MATRIX.match(latex, start) is not None:
                return None
            parts += (latex[done:start], "{}")
        done = max(done, end)
    kept = "".join(parts) + latex[done:]
    return kept + _NO_ARGUMENTS if "\\" in kept else kept


def safe_text(latex: str, fallback: str) -> str:
    """S: plain text where the string looks like sound LaTeX, else the fallback."""
    text = latex.strip()
    if not text:
        return fallback
    if not any(c in text for c in "\\{}$"):
        return text
    if _is_noise(text) or _is_weak(text) or is_bad(text):
        return fallback
    plain = latex_to_text(text)
    return fallback if plain is None else plain


def _is_noise(text: str) -> bool:
    return (
        len(text) >= 32
        and not any(c in text for c in "{}$^_")
        and len(_MARKUP.findall(text)) <= 2
        and not any(word in text for word in _NOT_NOISE)
        and len(_WORD.findall(text)) >= 6
        and text.count(" ") >= 5
    )


def _is_weak(text: str) -> bool:
    commands = len(_COMMAND.findall(text))
    words = len(_WORD.findall(text))
    marks = sum(text.count(c) for c in "{}$^_=&%#")
    return (
        text in ("\\", "\\\\")
        or (text.endswith("\\") and not text.endswith("\\\\") and commands == 0)
        or ("\\" in text and commands == 0 and marks == 0)
        or (words >= 2 and commands == 0 and marks <= 1)
        or (words >= 4 and commands <= 1 and marks <= 2)
    )
