"""Text and formulas as they are compared, and LaTeX as plain text (sections 4.1 to 4.4)."""

import re
from functools import lru_cache
from typing import Any

from parsemark.metrics.cdm.tokens import is_bad, is_costly
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.scan import (
    DelimitedSpan,
    brace_ends,
    replace_spans,
    sub_closed,
    unwrapped,
)

INLINE_PAIRS = (("$", "$"), ("\\(", "\\)"))

_ESCAPED = re.compile(r"\\[\\_&%^]")
_NOT_WORD = re.compile(r"[^\w\u4e00-\u9fff]")
_CIRCLED_COMMAND = re.compile(r"\\textcircled\s*\{([^{}]+)\}")
_CIRCLED = (
    {0x2460 + i: str(i + 1) for i in range(20)}
    | {0x24D0 + i: chr(ord("a") + i) for i in range(26)}
    | {0x24B6 + i: chr(ord("A") + i) for i in range(26)}
)
_UNSAFE_INLINE = ("\\begin{", "\\end{", "\\array", "\\matrix", "\\tabular", "\\cases", "\\align", "\\\\", "&")
_MAX_INLINE = 128

_DELETED = (
    "\\mathbf", "\\mathrm", "\\mathnormal", "\\mathit", "\\mathbb", "\\mathcal", "\\mathscr", "\\mathfrak",
    "\\mathsf", "\\mathtt", "\\textbf", "\\text", "\\boldmath", "\\boldsymbol", "\\operatorname", "\\bm",
    "\\symbfit", "\\mathbfcal", "\\symbf", "\\scriptscriptstyle", "\\notag", "\\setlength", "\\coloneqq",
    "\\space", "\\thickspace", "\\thinspace", "\\medspace", "\\nobreakspace", "\\negmedspace", "\\quad",
    "\\qquad", "\\enspace", "\\substackw", " ",
)  # fmt: skip
_DELETED_LATER = ("$$", "\\left", "\\right", "\\displaystyle", "\\text")


def circled(text: str) -> str:
    """Replace circled characters by plain ones (4.4)."""
    if "\\textcircled" in text:
        text = sub_closed(_CIRCLED_COMMAND, "}", lambda m: m[1].strip() or m[1][-1], text, by_line=False)
    return text.translate(_CIRCLED)


@lru_cache(maxsize=4096)
def inline_to_text(text: str, profile: Profile) -> str:
    """Return inline formulas that contain commands or scripts, as text."""
    if profile.guards_latex_text:
        text = circled(text)
    return replace_spans(text, INLINE_PAIRS, lambda span: _plain(span, profile), dotall=False)


def _plain(span: DelimitedSpan, profile: Profile) -> str | None:
    x = _ESCAPED.sub("", span.inner)
    if not any(c in x for c in "\\^_"):
        return None
    if profile.guards_latex_text:
        stripped = x.strip()
        if (
            len(stripped) > _MAX_INLINE
            or any(mark in stripped for mark in _UNSAFE_INLINE)
            or stripped.count("{") != stripped.count("}")
        ):
            return None
    if x.endswith("\\"):
        x += " "
    if profile.guards_latex_text:
        return safe_text(x, x).strip()
    plain = latex_to_text(x, strict_braces=profile.lone_brace_empties_text)
    return None if plain is None else plain.strip()


def clean(text: str, profile: Profile) -> str:
    """Keep only word characters; the slips of the published code (`/t`, `/n`) included."""
    if profile.guards_latex_text:
        text = circled(text)
    for mark in ("\\t", "\\n", "\t", "\n", "/t", "/n"):
        text = text.replace(mark, "")
    return _NOT_WORD.sub("", text)


@lru_cache(maxsize=16384)
def norm_text(text: str, profile: Profile) -> str:
    """Return N: a text as it is compared."""
    return clean(inline_to_text(text, profile), profile)


@lru_cache(maxsize=4096)
def unwrap_formula(text: str) -> str:
    """Return D: without the delimiters that enclose all of it, however many."""
    return unwrapped(text.strip())


_TAG = re.compile(r"\\tag(?![A-Za-z])\s*\*?\s*(?=\{)")


def without_tags(text: str) -> str:
    r"""Return T: without `\tag{…}`, `\notag` and `\nonumber`."""
    if "\\tag" in text:
        text = delete_with_group(text, _TAG, stop_if_open=False)
    return text.replace("\\notag", "").replace("\\nonumber", "")


def delete_with_group(text: str, command: re.Pattern[str], *, stop_if_open: bool) -> str:
    """Delete a command with the balanced group behind it; of an open group only the command."""
    ends = brace_ends(text)
    parts: list[str] = []
    done = 0
    for match in command.finditer(text):
        if match.start() < done:
            continue
        parts.append(text[done : match.start()])
        end = ends.get(match.end())
        if end is not None:
            done = end
            continue
        done = match.start() + len(match.group().rstrip().rstrip("*").rstrip())
        if stop_if_open:
            break
    return "".join(parts) + text[done:]


_DISPLAY = re.compile(r"\\\[(.+?)(?<!\\)\\\]")
_DISPLAY_OR_INLINE = re.compile(r"\\\[(.+?)(?<!\\)\\\]|\\\((.+?)(?<!\\)\\\)")
_GROUPS = [
    re.compile(p)
    for p in (r"\\hspace\{[^}\n]*\}", r"\\begin\{[^}\n]*\}", r"\\end\{[^}\n]*\}", r"\\arraycolsep[^}\n]*\}")
]
_OLD_TAG = re.compile(r"\\tag\{[^}\n]*\}")
_PHANTOM = re.compile(r"\\phantom(?=\{)")
_THIN_SPACES = re.compile(r"\\[!,;:]")
_AMPERSAND = re.compile(r"(?<!\\)&")
_COLUMNS = re.compile(r"\{[lcr| ]+\}")
_SIMPLE_GROUP = re.compile(r"\{([A-Za-z0-9.+\-]+)\}")
_SHORT_GROUP = re.compile(r"\{([^{}]{1,160})\}")
_OPENING = re.compile(r"\{\{+")
_CLOSING = re.compile(r"\}\}+")
_SPACE = re.compile(r"\s+")
_REASONS = ("=", "+", "-", "\\\\", "^", "_", "[", "]", "(", ")")


@lru_cache(maxsize=16384)
def norm_formula(text: str, profile: Profile) -> str:
    """Return F: a formula as it is compared."""
    if profile.formula_norm == "v1.6":
        return _norm_formula_new(text)
    if profile.formula_norm == "v1.5":
        text = text.strip().strip("$").strip("\n")
    text = _inside(_DISPLAY, text)
    for pattern in (_OLD_TAG, *_GROUPS):
        text = sub_closed(pattern, "}", "", text, by_line=True)
    text = text.strip(".")
    deleted = _DELETED if profile.formula_norm == "v1.0" else _DELETED + _DELETED_LATER
    for word in deleted:
        text = text.replace(word, "")
    return text.lower()


def _inside(pattern: re.Pattern[str], text: str) -> str:
    """Return the text between the first delimiters; without any the text itself."""
    closed = max(text.rfind("\\]"), text.rfind("\\)"))
    match = pattern.search(text, 0, closed + 2) if closed >= 0 else None
    return text if match is None else next(g for g in match.groups() if g is not None).strip()


def _norm_formula_new(text: str) -> str:
    text = _inside(_DISPLAY_OR_INLINE, without_tags(unwrap_formula(circled(text))))
    if "\\phantom" in text:
        text = delete_with_group(text, _PHANTOM, stop_if_open=True)
    text = _AMPERSAND.sub("", _THIN_SPACES.sub("", text))
    text = text.replace("\\mid", "|").replace("\\vert", "|")
    for mark in ("\\{", "\\}", "~"):
        text = text.replace(mark, "")
    for pattern in _GROUPS:
        text = sub_closed(pattern, "}", "", text, by_line=True)
    text = _COLUMNS.sub("", text).strip(".")
    for word in _DELETED + _DELETED_LATER:
        text = text.replace(word, "")
    return _SPACE.sub("", _collapse_groups(text).lower())


def _collapse_groups(text: str) -> str:
    before = None
    while before != text:
        before = text
        text = _SIMPLE_GROUP.sub(r"\1", text).replace("{}", "")
        text = _CLOSING.sub("}", _OPENING.sub("{", text))
        text = _SHORT_GROUP.sub(lambda m: m[1] if any(r in m[1] for r in _REASONS) else m[0], text)
    return text


# --- LaTeX as plain text, through pylatexenc ----------------------------------------------------------------

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
    """Return the one of pylatexenc, which is imported late."""
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text()


@lru_cache(maxsize=16384)
def latex_to_text(latex: str, *, strict_braces: bool = False) -> str | None:
    """Return plain text; None where the converter fails.

    With `strict_braces` malformed formulas are read as by pylatexenc 3.0a30, where 2.10 is more lenient.
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
    """Return LaTeX of which pylatexenc 2.10 makes what 3.0a30 makes of the one given; None where that fails.

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
    """Return S: plain text where the string looks like sound LaTeX, else the fallback."""
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
