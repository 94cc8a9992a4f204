"""Omni Parse Bench's equations: compared by the symbols and the structure that KaTeX renders."""

import html
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from lxml import etree

from parsemark_boards.katex import Render

MathStyle = Literal["block", "inline"]
Renderer = Callable[[MathStyle, str], Render | None]  # None where nothing can be rendered here
_NS = "{http://www.w3.org/1998/Math/MathML}"
_KEPT_FONTS = ("double-struck", "script", "fraktur")
_ALIASES = str.maketrans(
    {**dict(zip("⩽⩾∥−′∣⋅·∗⋆ϵϕϑ∶…\\♯", "≤≥‖-'|..**εφθ:⋯∖#", strict=True)), "≔": ":=", "≕": "=:"}
)
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064\u200b")
_DROPPED = frozenset(("mspace", "mphantom", "annotation", "annotation-xml", "none", "mprescripts"))
_SPANS = re.compile(
    r"\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$"
    r"|<math\b([^<>]*)>(.*?)</math>",
    re.S | re.I,
)
_TAG = re.compile(r"<[^<>]+>")
_BOUNDARY = "\uffff"
_PUNCTUATION = (",", ";", ".")
_TOKENS = ("mi", "mn", "mo", "mtext", "ms")
_DEPTH = 200
Symbols = tuple[str, ...]


class NotRenderedError(Exception):
    """There is no browser here, or it failed on a formula."""


def math_spans(page: str) -> list[tuple[str, bool]]:
    """Return the formulas of a page in order: LaTeX (or `<math>`), and whether each is a display."""
    found = []
    for match in _SPANS.finditer(page):
        if match[6] is None:
            tex, is_display = match[match.lastindex or 0], match.lastindex in (1, 2)
            found.append((html.unescape(_TAG.sub(" ", tex)), is_display))
            continue
        body, is_display = match[6].strip(), "block" in (match[5] or "")
        found.append((f"<math>{body}</math>" if "<" in body else html.unescape(body), is_display))
    return found


def equation_appears(latex: str, page: str, render: Renderer) -> tuple[bool, str]:
    """Return whether an equation stands unbroken in the formulas of a page, their ends disregarded."""
    wanted = symbols_of(latex, True, render)
    if wanted is None:
        return False, "the fact's LaTeX does not render"
    if not wanted:
        return True, ""
    parts = [_symbols_of_span(tex, display, render) for tex, display in math_spans(page)]
    if not any(parts):
        return False, "the output has no formula"
    codes: dict[str, str] = {}

    def code(symbol: str) -> str:
        return codes.setdefault(symbol, chr(0xE000 + len(codes)))

    text = _BOUNDARY.join("".join(map(code, part)) for part in parts)
    pieces = [f"[{code(symbol)}{_BOUNDARY * (symbol in _PUNCTUATION)}]" for symbol in wanted]
    if re.search(f"{_BOUNDARY}*".join(pieces), text):
        return True, ""
    return False, f"the equation is not among the output's {len(parts)} formulas"


def symbols_of(tex: str, display: bool, render: Renderer) -> Symbols | None:
    """Return the symbols that a formula renders to; None where KaTeX refuses it."""
    rendered = render("block" if display else "inline", tex)
    if rendered is None:
        raise NotRenderedError("comparing rendered formulas needs a browser, but none is installed here")
    return _from_mathml(rendered.mathml) if rendered.mathml else None


def _symbols_of_span(tex: str, display: bool, render: Renderer) -> Symbols:
    if tex.startswith("<math>"):
        return _from_mathml(f'<math xmlns="{_NS[1:-1]}">{tex[6:-7]}</math>') or ()
    return symbols_of(tex, display, render) or ()


@lru_cache(maxsize=4096)
def _from_mathml(mathml: str) -> Symbols | None:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(re.sub(r"^<span[^>]*>|</span>$", "", mathml.strip()).encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return tuple(_canonical(_walked(root, 0)))


def _canonical(symbols: list[str]) -> list[str]:
    """Return a slash through a relation as its negated character, and a bar that opens a subscript before
    it.
    """
    out: list[str] = []
    for symbol in symbols:
        if out and "\u0338" in (out[-1], symbol):
            other = symbol if out[-1] == "\u0338" else out[-1]
            negated = unicodedata.normalize("NFC", other + "\u0338")
            if len(negated) == 1:
                out[-1] = negated
                continue
        if out and out[-1] == "_(" and symbol == "|":
            out[-1:] = ["|", "_("]
        else:
            out.append(symbol)
    return out


def _walked(node: etree._Element, depth: int) -> list[str]:
    tag = node.tag.removeprefix(_NS) if isinstance(node.tag, str) else "annotation"
    if depth > _DEPTH or tag in _DROPPED:
        return []
    children = [child for child in node if not _is_invisible(child)]
    if tag in _TOKENS and not children:
        return _token(node)
    if shape := _shape_of(tag, node):
        parts = ([p] if not p.isdigit() else _walked(children[int(p)], depth + 1) for p in shape.split())
        return [symbol for part in parts for symbol in part]
    if tag == "semantics":
        children = children[:1]
    inner = [symbol for child in children for symbol in _walked(child, depth + 1)]
    if tag == "msqrt":
        return ["sqrt(", *inner, ")"]
    if tag == "mtable":
        rows = [[s for cell in row for s in _walked(cell, depth + 2)] for row in children]
        return [s for k, row in enumerate(rows) for s in (["\\\\", *row] if k else row)]
    return inner


_SHAPES = {
    "mfrac": "frac( 0 , 1 )",
    "mbinom": "binom( 0 , 1 )",
    "mroot": "root( 1 )( 0 )",
    "maccent": "accent( 1 )( 0 )",
    "msub": "0 _( 1 )",
    "munder": "0 _( 1 )",
    "msup": "0 ^( 1 )",
    "mover": "0 ^( 1 )",
    "msubsup": "0 _( 1 ) ^( 2 )",
    "munderover": "0 _( 1 ) ^( 2 )",
}
"""What becomes of an element: symbols, and its children by their number."""


def _shape_of(tag: str, node: etree._Element) -> str | None:
    if tag == "mfrac" and node.get("linethickness") in ("0", "0px", "0em"):
        tag = "mbinom"
    elif tag == "mover" and node.get("accent") == "true":
        tag = "maccent"
    return _SHAPES.get(tag)


def _token(node: etree._Element) -> list[str]:
    text = "".join(c for c in node.text or "" if c not in _INVISIBLE and not c.isspace())
    font = str(node.get("mathvariant")).removeprefix("bold-")
    return [f"{font}:{c}" if font in _KEPT_FONTS else c for c in text.translate(_ALIASES)]


def _is_invisible(node: etree._Element) -> bool:
    """Return whether a node is an invisible operator; an empty one holds a place and is not."""
    if node.tag != f"{_NS}mo" or len(node):
        return False
    text = node.text or ""
    return any(c in _INVISIBLE for c in text) and all(c in _INVISIBLE or c.isspace() for c in text)
