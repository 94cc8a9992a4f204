"""HTML as a tree, read by lxml within limits: no network, no entities of its own, bounded depth."""

import re
from itertools import takewhile

from lxml import etree

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean_limited, without_controls
from parsemark.formats.html.markup import read_comments
from parsemark.formats.limits import MAX_CELL_CHARS, check_size

_ELEMENTS = (
    "a|abbr|acronym|address|applet|area|article|aside|audio|b|base|basefont|bdi|bdo|bgsound|big|blink|"
    "blockquote|body|br|button|canvas|caption|center|cite|code|col|colgroup|data|datalist|dd|del|"
    "details|dfn|dialog|dir|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|frame|"
    "frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|"
    "main|map|mark|marquee|menu|meta|meter|nav|nobr|noscript|object|ol|optgroup|option|output|p|param|"
    "picture|pre|progress|q|rp|rt|ruby|s|samp|script|section|select|small|source|span|strike|strong|"
    "style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|time|title|tr|track|tt|u|"
    "ul|var|video|wbr|math|mi|mn|mo|ms|mtext|mspace|mrow|mfrac|msqrt|mroot|mstyle|merror|mpadded|"
    "mphantom|mfenced|menclose|msub|msup|msubsup|munder|mover|munderover|mmultiscripts|mtable|mtr|mtd|"
    "maction|semantics|annotation|annotation-xml"
)

_NO_TAG = re.compile(rf"<(?!/?(?:{_ELEMENTS})(?=[\s/>])|!--|!doctype|\?)", re.IGNORECASE)
"""A `<` that begins no element of HTML or MathML, as in `-9<H<8`: text that a parser would lose."""


_OTHER_TAG = re.compile(r"<(?!/?(?:t(?:[drh]|able|head|body)|b|i|br|sup|sub|html|body)[\s/>])")
_NAMES = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*(?=[\s/>])|)")
_KNOWN = frozenset(_ELEMENTS.split("|"))


def has_stray_angles(text: str) -> bool:
    """Return whether the text has a `<` that begins no element."""
    if _OTHER_TAG.search(text) is None:
        return False
    names = set(_NAMES.findall(text))  # most texts have few names: look at each once
    return not all(name.lower() in _KNOWN for name in names) and _NO_TAG.search(text) is not None


def parse_html(
    text: str, position: int | None = None, *, keep_stray_angles: bool = True
) -> etree._Element | None:
    """Return the root of the tree of HTML, whole or a part of it, well formed or not; None where nothing is
    in it.

    Errors name the position at which it begins. A `<` that begins no element may be kept as text; lxml alone
    takes `<H` for a tag.
    """
    check_size(text)
    source = without_controls(text)
    if keep_stray_angles and has_stray_angles(source):
        source = _NO_TAG.sub("&lt;", source)
    if keep_stray_angles and "<!--" in source:
        # A comment that is never closed is text: a parser would lose all that follows it.
        closed = max((comment.end for comment in read_comments(source)), default=0)
        source = source[:closed] + source[closed:].replace("<!--", "&lt;!--")
    if not source.strip():
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source.encode("utf-8"), parser)
    except (etree.LxmlError, ValueError) as error:
        raise FormatError(f"The HTML cannot be read: {error}", position=position) from error
    fatal = next((entry for entry in parser.error_log if entry.level == etree.ErrorLevels.FATAL), None)
    if fatal is not None:
        raise FormatError(f"The HTML is over the parser's limits: {fatal.message.strip()}", position=position)
    return root


_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_LISTS = frozenset({"li", "ul", "ol", "dl", "dd", "dt"})
_LINES = _HEADINGS | _LISTS | {"p", "div", "blockquote", "pre", "tr", "table", "caption", "hr"}
_SCRIPTS = {"sup": "^", "sub": "_"}
_SKIPPED = frozenset({"script", "style", "template", "head"})
ROW_PARTS = frozenset({"tr", "td", "th"})


def cell_text(cell: etree._Element, position: int | None = None) -> str:
    r"""Return the clean text of a cell, without the cells that broken markup put inside of it.

    `<br>`, paragraphs, list items and the rows of a table inside the cell end a line. Superscripts and
    subscripts keep their meaning (`10<sup>-3</sup>` is `10^{-3}`, `x<sub>i</sub>` is `x_i`). MathML gives its
    TeX where it carries it (`$\alpha$`) and else its characters; an image gives its alternative text.
    """
    if len(cell) == 0:
        text = cell.text or ""
        return " ".join(text.split()) if len(text) <= MAX_CELL_CHARS else clean_limited(text, position)
    return clean_limited(_collect(cell), position)


def fragment_text(text: str, position: int | None = None) -> str:
    """Return the text of a piece of HTML without structure around it, not yet clean."""
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
    """Return whether a row part inside a cell belongs to the same table: an end tag was missing."""
    if element.tag not in ROW_PARTS:
        return False
    between = takewhile(lambda above: above is not cell, element.iterancestors())
    return all(above.tag != "table" for above in between)


def script(tag: str, inner: str) -> str:
    """Return text that is raised (`sup`) or lowered (`sub`), as cells have it.

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
    """Return the text with line ends as plain white space."""
    return text.replace("\n", " ") if "\n" in text else text
