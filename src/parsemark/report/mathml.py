"""Formulas as MathML, which browsers draw by themselves."""

from functools import lru_cache
from typing import Any

from markupsafe import Markup

from parsemark.formats.latex.formula import bare_formula

MAX_LATEX = 5000
_ELEMENTS = """
    math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd
    mmultiscripts mprescripts none mstyle mpadded mphantom menclose semantics
"""
_ATTRIBUTES = """
    display mathvariant stretchy fence separator form accent accentunder linethickness columnalign rowspacing
    columnspacing width height depth lspace rspace displaystyle scriptlevel notation minsize maxsize
"""


@lru_cache(maxsize=2048)
def mathml(latex: str) -> Markup | None:
    """Return the formula as MathML with nothing in it but mathematics; None where it cannot be read, or where
    no converter is installed.

    Elements and attributes that are not on a short list are left out, so whatever the converter lets
    through can neither run nor load anything.
    """
    from lxml import etree

    source = bare_formula(latex)
    if not source or len(source) > MAX_LATEX:
        return None
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return None
    try:
        text = convert(source, display="block")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        tree = etree.fromstring(text.encode(), parser)
    except Exception:  # a converter of other people's making, given anything: a formula is then shown as text
        return None
    clean = _copy(tree)
    return None if clean is None else Markup(etree.tostring(clean, encoding="unicode", with_tail=False))


def _copy(old: Any) -> Any:
    """Return the node with what is allowed of it; None where it is not."""
    from lxml import etree

    if not isinstance(old.tag, str) or etree.QName(old).localname not in _ELEMENTS.split():
        return None
    allowed = {str(k): str(v) for k, v in old.attrib.items() if k in _ATTRIBUTES.split()}
    new = etree.Element(etree.QName(old).localname, allowed)
    new.text = old.text
    for child in old:
        if (kept := _copy(child)) is not None:
            new.append(kept)
    return new
