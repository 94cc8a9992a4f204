r"""MathML as LaTeX: its presentation, element by element; signs stay as they are (`α`, not `\alpha`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from parsemark.formats.latex.symbols import FUNCTIONS

_OVER = {"^": r"\hat", "ˆ": r"\hat", "¯": r"\overline", "‾": r"\overline", "˜": r"\tilde", "~": r"\tilde",
         "→": r"\vec", "⃗": r"\vec", "˙": r"\dot", "¨": r"\ddot"}  # fmt: skip
_SCRIPTS = {"msub": "_", "msup": "^", "munder": "_", "mover": "^", "msubsup": "_^", "munderover": "_^"}
_UNSEEN = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b"))
_ESCAPED = {sign: f"\\{sign}" for sign in "{}%#&"}


@dataclass(frozen=True, slots=True)
class MathNode:
    """An element of a formula: its name, its text, and what is in it."""

    name: str
    text: str = ""
    kids: tuple[MathNode, ...] = ()


def read_mathml(source: str) -> str | None:
    r"""Return the LaTeX of a formula in MathML; None for what is none, or says nothing.

    >>> read_mathml("<math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math>")
    '\\frac{a}{b^{2}}'
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    try:
        root = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:
        return None
    if root is None:
        return None
    for note in root.iter("{*}annotation"):
        if "tex" in (note.get("encoding") or "").lower() and (note.text or "").strip():
            return (note.text or "").strip()
    math = next((element for element in root.iter("{*}math")), None)
    return None if math is None else write_latex(_node(math)) or None


def _node(element: etree._Element) -> MathNode:
    inner = (kid for kid in element if isinstance(kid.tag, str) and not kid.tag.endswith("annotation"))
    return MathNode(etree.QName(element).localname, (element.text or "").strip(), tuple(map(_node, inner)))


def write_latex(node: MathNode) -> str:
    """Return a formula as LaTeX."""
    return " ".join(_latex(node).split())


def _latex(node: MathNode) -> str:
    kids, name = node.kids, node.name
    if name in _SCRIPTS and len(kids) == len(_SCRIPTS[name]) + 1:
        return _scripted(name, kids)
    if name in _SHAPES and len(kids) == _SHAPES[name].count("{}"):
        shape = _SHAPES[name].replace("{}", "\0")
        for kid in kids[::-1] if name == "mroot" else kids:
            shape = shape.replace("\0", _latex(kid), 1)
        return shape
    if not kids:
        return _leaf(name, node.text.translate(_UNSEEN).strip())
    before, between, after = _AROUND.get(name, ("", "", ""))
    parts = map(_latex, kids)
    return before + (between.join(parts) if between else "".join(_spaced(parts))) + after


def _leaf(name: str, text: str) -> str:
    if name == "mtext" and text:
        return f"\\text{{{text}}}"
    if name in ("mi", "mo") and len(text) > 1 and text.isalpha():
        return f"\\{text} " if text in FUNCTIONS else f"\\mathrm{{{text}}}"
    return _ESCAPED.get(text, text)


_SHAPES = {"mfrac": r"\frac{{}}{{}}", "mroot": r"\sqrt[{}]{{}}"}
_AROUND = {
    "msqrt": (r"\sqrt{", "", "}"), "mfenced": ("(", ",", ")"), "mtr": ("", " & ", ""),
    "mtable": (r"\begin{matrix}", r" \\ ", r"\end{matrix}"), "mlabeledtr": ("", " & ", ""),
}  # fmt: skip
"""What stands before, between and after what is in an element."""


def _scripted(name: str, kids: Sequence[MathNode]) -> str:
    base, *scripts = map(_latex, kids)
    if name == "mover" and (accent := _OVER.get(scripts[0].strip())):
        return f"{accent}{{{base}}}"
    whole = base if len(base.strip().lstrip("\\")) <= 1 or base.startswith("\\") else f"{{{base}}}"
    signs = zip(_SCRIPTS[name], scripts, strict=True)
    return whole.rstrip() + "".join(f"{sign}{{{said}}}" for sign, said in signs)


def _spaced(parts: Iterator[str]) -> Iterator[str]:
    """Yield the parts, with a blank where a command would run into a letter."""
    before = ""
    for part in parts:
        yield " " if before[-1:].isalpha() and "\\" in before and part[:1].isalpha() else ""
        yield part
        before = part
