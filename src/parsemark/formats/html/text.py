r"""The text of an HTML cell.

`<br>`, paragraphs, list items and the rows of a table inside the cell end a line. Superscripts and subscripts
keep their meaning (`10<sup>-3</sup>` is `10^{-3}`, `x<sub>i</sub>` is `x_i`). MathML gives its TeX where it
carries it (`$\alpha$`) and else its characters; an image gives its alternative text. All other markup goes.
"""

from itertools import takewhile

from lxml import etree

from parsemark.formats.cell_text import clean_limited
from parsemark.formats.html.tree import parse_html
from parsemark.formats.limits import MAX_CELL_CHARS

_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_LISTS = frozenset({"li", "ul", "ol", "dl", "dd", "dt"})
_LINES = _HEADINGS | _LISTS | {"p", "div", "blockquote", "pre", "tr", "table", "caption", "hr"}
_SCRIPTS = {"sup": "^", "sub": "_"}
_SKIPPED = frozenset({"script", "style", "template", "head"})
ROW_PARTS = frozenset({"tr", "td", "th"})


def cell_text(cell: etree._Element, position: int | None = None) -> str:
    """The clean text of a cell, without the cells that broken markup put inside of it."""
    if len(cell) == 0:
        text = cell.text or ""
        return " ".join(text.split()) if len(text) <= MAX_CELL_CHARS else clean_limited(text, position)
    return clean_limited(_collect(cell), position)


def fragment_text(text: str, position: int | None = None) -> str:
    """The text of a piece of HTML without structure around it, not yet clean."""
    root = parse_html(f"<div>{text}</div>", position)
    return "" if root is None else _collect(root)


def _collect(cell: etree._Element) -> str:
    """Walks the tree without recursion, since its depth is the document's choice."""
    pieces: list[str] = [_flat(cell.text or "")]
    script_starts: list[int] = []
    walker = etree.iterwalk(cell, events=("start", "end"))
    for event, element in walker:
        if element is cell or not isinstance(element.tag, str):
            continue
        tag = element.tag
        if event == "start":
            if tag in _SKIPPED or tag == "math" or _is_stray_cell(element, cell):
                pieces.append(_math_text(element) if tag == "math" else "")
                walker.skip_subtree()
            else:
                alternative = f" {_flat(element.get('alt') or '')} " if tag == "img" else ""
                pieces.append("\n" if tag == "br" or tag in _LINES else alternative)
                if tag in _SCRIPTS:
                    script_starts.append(len(pieces))
                pieces.append(_flat(element.text or ""))
        else:
            if tag in _SCRIPTS and script_starts:
                start = script_starts.pop()
                pieces[start:] = [script(tag, "".join(pieces[start:]))]
            end = "\n" if tag in _LINES else " " if tag in ("td", "th") else ""
            pieces.append(end + _flat(element.tail or ""))
    return "".join(pieces)


def _is_stray_cell(element: etree._Element, cell: etree._Element) -> bool:
    """Whether a row part inside a cell belongs to the same table: an end tag was missing."""
    if element.tag not in ROW_PARTS:
        return False
    between = takewhile(lambda above: above is not cell, element.iterancestors())
    return all(above.tag != "table" for above in between)


def script(tag: str, inner: str) -> str:
    """Text that is raised (`sup`) or lowered (`sub`), as cells have it.

    >>> script("sup", "a"), script("sub", "12"), script("sup", " ")
    ('^a', '_{12}', '')
    """
    inner = " ".join(inner.split())
    return inner and _SCRIPTS[tag] + (inner if len(inner) == 1 else f"{{{inner}}}")


def _math_text(math: etree._Element) -> str:
    tex = math.get("alttext")
    if not tex:
        notes = math.iter("annotation")
        tex = next((n.text for n in notes if "tex" in (n.get("encoding") or "").lower()), None)
    if tex:
        return f"${_flat(tex).strip()}$"
    return " ".join("".join(str(piece) for piece in math.itertext()).split())


def _flat(text: str) -> str:
    """Line ends of the source are only white space."""
    return text.replace("\n", " ") if "\n" in text else text
