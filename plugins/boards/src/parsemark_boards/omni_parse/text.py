r"""Omni Parse Bench's text: what a reader sees of a page's HTML, and the form in which texts are compared.

The rules are those of omni-parse-bench (Datalab, Apache-2.0), which the tests compare with.
"""

import functools
import html
import re
import sys
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Any

_OPEN, _CLOSE = "\ue000", "\ue001"
CHECKED, UNCHECKED = "☒", "☐"
_HELD = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_I, _S = re.I, re.S

# --- what a reader sees -------------------------------------------------------------------------------------

_LIST_TAG = re.compile(r"<(/?)(ol|ul|li)\b([^<>]*)>", _I)
_START = re.compile(r"\bstart=[\"']?(\d+)", _I)
_MATH = re.compile(r"<math\b([^<>]*)>(.*?)</math>", _I | _S)
_TEX = re.compile(
    r"<annotation\b[^<>]*encoding=[\"']application/x-tex[\"'][^<>]*>(.*?)</annotation>", _I | _S
)
_CONTROL = re.compile(r"<input\b[^<>]*\btype=[\"']?(?:checkbox|radio)[\"']?[^<>]*>", _I)
_CHECKED_ATTRIBUTE = re.compile(r"\bchecked\b", _I)
_BOX_TAG = re.compile(r"<(un)?checked\s*/?>", _I)
_INPUT_VALUE = re.compile(r"<input\b[^<>]*?\bvalue=(\"([^\"]*)\"|'([^']*)')[^<>]*>", _I)
_IMAGE = re.compile(r"<img\b[^<>]*\balt=(\"([^\"]*)\"|'([^']*)')[^<>]*>", _I)
_MD_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_UNSEEN = (
    re.compile(r"<!--.*?-->", _S),
    re.compile(r"<!DOCTYPE[^>]*>", _I),
    re.compile(r"<(script|style|head|title)\b.*?</\1>", _S | _I),
)
_SUP = re.compile(r"<sup\b[^<>]*>", _I)
_BLOCK = re.compile(
    r"</?(?:table|thead|tbody|tfoot|tr|td|th|p|div|li|ul|ol|dl|dt|dd|h[1-6]|br|hr|section|article|"
    r"figure|figcaption|blockquote|pre|caption|header|footer|nav|aside|form|label|select|option|"
    r"textarea|img)\b[^<>]*>",
    _I,
)
_INLINE = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>")


@functools.lru_cache(maxsize=256)
def seen_text(page: str, *, alt: bool = True) -> str:
    """Return the visible text of HTML; without `alt`, texts that stand for pictures are left out."""
    text = _MATH.sub(_math_as_dollars, page)
    if "<ol" in text.lower():
        text = _numbered(text)
    text = _CONTROL.sub(lambda m: f" {CHECKED if _CHECKED_ATTRIBUTE.search(m[0]) else UNCHECKED} ", text)
    text = _BOX_TAG.sub(lambda m: f" {UNCHECKED if m[1] else CHECKED} ", text)
    text = _INPUT_VALUE.sub(lambda m: f" {_quoted(m)} ", text)
    text = _IMAGE.sub(lambda m: f" {_quoted(m)} " if alt else " ", text)
    text = _MD_IMAGE.sub(lambda m: f" {m[1]} " if alt else " ", text)
    for pattern in _UNSEEN:
        text = pattern.sub(" ", text)
    return html.unescape(_INLINE.sub("", _BLOCK.sub(" ", _SUP.sub(" ", text))))


def _quoted(match: re.Match[str]) -> str:
    return match[2] if match[2] is not None else match[3]


def _math_as_dollars(match: re.Match[str]) -> str:
    body = match[2].strip()
    if tex := _TEX.search(body):
        body = html.unescape(tex[1].strip())
    elif "<" in body:
        return f" {html.unescape(re.sub(r'<[^<>]+>', '', body))} "
    return f" $${body}$$ " if "block" in match[1] else f"${body}$"


def _numbered(text: str) -> str:
    """Return items of ordered lists with the numbers that a browser draws."""
    stack: list[Iterator[int] | None] = []  # the numbers of each open list; None for one without numbers

    def one(match: re.Match[str]) -> str:
        closing, tag = match[1], match[2].lower()
        if tag == "li":
            numbers = stack[-1] if stack and not closing else None
            return match[0] if numbers is None else f"{match[0]}{next(numbers)}. "
        if not closing:
            start = _START.search(match[3])
            stack.append(count(int(start[1]) if start else 1) if tag == "ol" else None)
        elif stack:
            stack.pop()
        return match[0]

    return _LIST_TAG.sub(one, text)


def hold(text: str, pattern: re.Pattern[str], held: list[str]) -> str:
    """Replace what a pattern finds by marks, so that a rewrite steps around it."""

    def one(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"{_OPEN}{len(held) - 1}{_CLOSE}"

    return pattern.sub(one, text)


def release(text: str, held: list[str]) -> str:
    """Put back what `hold` took."""
    return _HELD.sub(lambda m: held[int(m[1])], text) if held else text


# --- the form in which texts are compared -------------------------------------------------------------------

_VISIBLE_FORMAT = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
_FORMAT = "".join(
    re.escape(c)
    for c in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(c) == "Cf" and c not in _VISIBLE_FORMAT
)
_INVISIBLE = re.compile(f"[\ue000-\uf8ff{_FORMAT}]")
_BOXES = (
    (re.compile(r"\[(?:[xX✓✗]|checked)\]", _I), CHECKED),
    (re.compile(r"\[ ?\]|\[unchecked\]", _I), UNCHECKED),
    (re.compile("[☑☒■▣✓✔✗✘]"), CHECKED),
    (re.compile("[☐□◻◼❏▢⬜]"), UNCHECKED),
)
_FOOTNOTE = re.compile(r"\[\^\s*(\w{1,3})\s*\]|\[\s*(\d{1,3})\s*\]")
_BULLET = re.compile(r"(?m)^([ \t]*)[•‣◦▪▶∙●](?=\s|$)")
_LEADERS = re.compile("(?:[.…·_\\-–—=*]\\s?){3,}")
_TEX_QUOTE = re.compile("‘‘|’’|``|''")
_ACUTE_APOSTROPHE = re.compile("(?<=[^\\W\\d_])´(?=[^\\W\\d_])")
_SPACING_ACCENT = re.compile("(?<=[^\\W\\d_])([´¨˜ˆ˚¸˘ˇ˙˝])")
_COMBINING = dict(
    zip("´¨˜ˆ˚¸˘ˇ˙˝", "\u0301\u0308\u0303\u0302\u030a\u0327\u0306\u030c\u0307\u030b", strict=True)
)
_FAMILIES = tuple(
    (re.compile(f"[{variants}]"), one)
    for one, variants in (
        ("-", "‐-―−"),
        ("'", "‘’‚‛ʼ`´′"),
        ('"', "“”„‟«»"),
        (" ", "\u00a0\u2000-\u200a\u202f\u205f\u3000"),
        ("→", "↠↣↦↪↬↳⇀⇁⇉⇒⇛⇝⇢⇥⇨⇰⇾➡➔➘-➯➱-➾⟶⟹⟼⟾⮕⭢⭬⭲⮊⮩"),
        ("←", "↞↢↤↩↫↲↼↽⇇⇐⇚⇜⇠⇤⇦⇽⟵⟸⟻⟽⬅⭠⭪⭰⮈"),
        ("↑", "↟↥↾↿⇈⇑⇞⇡⇧⇪⬆⭡⭫⭱⮉"),
        ("↓", "↡↧⇂⇃⇊⇓⇟⇣⇩⬇⭣⭭⭳⮋"),
    )
)
"""Signs that mean the same as another one."""
_SUPERSCRIPTS = re.compile("(?<=\\d)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_CJK = str.maketrans("。，．：；！？（）、％＝", ".,.:;!?(),%=")
_LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011]\s+([^\W\d_])")
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", _S)
_BRACKETS, _PARENTHESES = re.compile(r"\\\[(.+?)\\\]", _S), re.compile(r"\\\((.+?)\\\)", _S)
_DOLLARS = re.compile(r"\$([^$\n]+?)\$")
_MARKUP, _RESIDUE = re.compile(r"[\\^_{}]"), re.compile(r"[_^{}\\]")
_MOST_SPACES, _MOST_CHARACTERS, _PROSE_WORDS = 4, 120, 3
_PROSE_WORD = re.compile(r"(?<![\\\w&])[^\W\d_]{3,}")
_BRACED = re.compile(r"\{[^{}]*\}")
_LETTERS = re.compile(r"[^\W\d_]{1,3}")
_MATH_TEXT = re.compile(r"\\(?:text\w*|mbox|operatorname)\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*")
_COMMAND_SPACE = re.compile(r"(\\[A-Za-z]+)\s+")
_CONTROL_SPACE = re.compile(r"(?<!\\)\\\s+")
_SPACED_DIGITS = re.compile(r"\d[\d.,]*(?:\s+[\d.,]+)+")


@functools.lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return the form in which texts are compared: without notation, typography, case and spare spaces."""
    text = _with_plain_math(text)
    text = _LINE_HYPHEN.sub(lambda m: m[1] if m[1].islower() else m[0], text)
    text = _SUPERSCRIPTS.sub(r" \1", text)
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _with_accents(text)))
    for pattern, box in _BOXES:
        text = pattern.sub(box, text)
    text = _FOOTNOTE.sub(lambda m: f" {m[1] or m[2]}", text)
    text = _LEADERS.sub(" ", _BULLET.sub(r"\1 ", text))
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _with_accents(text))).replace("⁄", "/")
    for pattern, one in _FAMILIES:
        text = pattern.sub(one, text)
    text = text.replace("…", "...").translate(_CJK)
    return re.sub(r"\s+", " ", text).strip().lower()


@functools.lru_cache(maxsize=1024)
def squeeze(text: str) -> str:
    """Return `fold` without any space."""
    return re.sub(r"\s+", "", fold(text))


def _with_accents(text: str) -> str:
    text = _TEX_QUOTE.sub('"', text.replace("″", '"').replace("‴", '"'))
    return _SPACING_ACCENT.sub(lambda m: _COMBINING[m[1]], _ACUTE_APOSTROPHE.sub("'", text))


def _with_plain_math(text: str) -> str:
    if "\\[" in text or "\\(" in text:
        text = _BRACKETS.sub(lambda m: f"$${m[1]}$$", text)
        text = _PARENTHESES.sub(lambda m: f"${m[1]}$", text)
    if "$" not in text:
        return text
    return _DOLLARS.sub(_plain_span, _DISPLAY.sub(_plain_span, text))


def _plain_span(match: re.Match[str]) -> str:
    body = match[1]
    if _LETTERS.fullmatch(body.strip()):
        return body.strip()
    dense = _dense(body)
    if _SPACED_DIGITS.fullmatch(body):
        return dense
    is_long = dense.count(" ") > _MOST_SPACES or len(body) > _MOST_CHARACTERS
    if is_long or (match.re is _DOLLARS and _is_prose(body)):
        return match[0]
    if not _MARKUP.search(body):
        return body if body == body.strip() else match[0]
    try:
        plain = _converter().latex_to_text(dense)
    except Exception:  # whatever that library raises on broken LaTeX, the span stays as it is
        plain = body
    return _RESIDUE.sub("", str(plain).replace("∘", "°").replace("\\circ", "°"))


def _is_prose(body: str) -> bool:
    while (bare := _BRACED.sub(" ", body)) != body:
        body = bare
    return len(_PROSE_WORD.findall(body)) >= _PROSE_WORDS


def _dense(body: str) -> str:
    held: list[str] = []
    body = _CONTROL_SPACE.sub("\0", hold(body, _MATH_TEXT, held))
    body = _COMMAND_SPACE.sub(lambda m: m[1] + "\0", body)
    return release(re.sub(r"\s+", "", body).replace("\0", " "), held)


@functools.cache
def _converter() -> Any:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text()
