"""Sources as elements in their order: Word, OpenDocument, sheets, EPUB, JATS, HTML, LaTeX, Markdown.

What is none of the last three becomes HTML first, so that one reader knows what is a heading or a cell.
Nothing that a source names is fetched or opened: no pictures, no entities, no other files.
"""

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote

from lxml import etree

from parsemark.corpora.loaders.files import read_text
from parsemark.corpora.source_pairs.places import REFERENCE
from parsemark.corpora.source_pairs.sheets import sheet_html
from parsemark.errors import CorpusError
from parsemark.formats.document import read_document
from parsemark.formats.document.elements import caption_category
from parsemark.formats.html.tree import script
from parsemark.formats.latex.definitions import expand_environments
from parsemark.formats.limits import MAX_SPAN
from parsemark.model import Category, Element
from parsemark.system import BROKEN_ARCHIVE

MAX_PARTS = 10_000
MAX_BYTES = 256 * 2**20  # of all parts of an archive together, unpacked
_REFERENCE = re.compile(
    r"\\(?:[cC]ite[a-zA-Z]*+|(?:paren|text|auto|super)cite|(?:eq|auto|page|name|[cCvV])?ref)(?![a-zA-Z])"
    r"\*?\s*+(?:\[[^\[\]]{0,200}+\]){0,2}\{[^{}]{0,2000}+\}"
)
_ENCODING = re.compile(
    rb"charset\s*+=\s*+[\"']?((?:iso|windows|cp|koi|shift|euc|gb|big5)[\w-]*+)"
    rb"|\\usepackage\s*+\[((?:latin|cp|koi|ansinew|applemac)[\w-]*+)\]\s*+\{inputenc\}", re.IGNORECASE,
)  # fmt: skip
_ENCODINGS = {**dict.fromkeys(("ansinew", "iso-8859-1"), "cp1252"), "applemac": "mac_roman"}
_SLIDES = re.compile(r"\\documentclass\s*+(?:\[[^\[\]]{0,400}+\])?\s*+\{\w*beamer\w*\}")
_SLIDE_TITLE = re.compile(r"\\(?:part|(?:sub){0,2}section|frametitle)\*?(?:\[[^\[\]]{0,400}+\])?(?=\{)")
"""Sections of slides stand only in their contents, and frames may have the same titles."""
_BIB_KEY = re.compile(r"\\bibitem\s*+(?:\[[^\[\]]{0,200}+\])?\{[^{}]{0,200}+\}")
"""Keys of a list of works, of which pages show numbers."""
_NOTE = re.compile(r"^\[\^[^\]\s]+\]:[ \t]*+(.*+(?:\n(?: {4}|\t).*+)*+)\n?", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")  # notes of Markdown, of which pages show numbers
_MARKDOWN_CAPTION = "Table: "  # begins a caption as pandoc writes and numbers it
_NOTE_LINK = re.compile(r"<a\b(?=[^<>]*\bnoteref\b)[^<>]*+>([^<]*+)</a>", re.IGNORECASE)
"""The number of a note in EPUB, which a style sheet raises."""
_PICTURE = re.compile(r"<(?:img|image|svg)\b[^>]*+>", re.IGNORECASE)
_TABLE_TAG = re.compile(r"<(/?)table\b[^>]*+>", re.IGNORECASE)
_TABLE_PART = re.compile(r"(</?(?:table|tr|td|th|thead|tbody|tfoot|caption)\b[^>]*+>)", re.IGNORECASE)
_MAX_NESTED = 4  # tables in tables that are looked at
IN_TABLE = "in_table"  # names the table of which an element is in a cell
_DEEPEST = 6
Source = tuple[str, list[str]]  # HTML, and the notes below the text


def read_source(path: Path) -> list[Element]:
    """Return the elements of a source, its notes last; CorpusError or FormatError where it is over a
    limit.
    """
    kind = SOURCES[path.suffix.lower()]
    if kind in ("latex", "markdown"):
        text = _text(path)
        if kind == "latex":
            if _SLIDES.search(text):
                text = _SLIDE_TITLE.sub(r"\\label", text)
            text = _BIB_KEY.sub(r"\\bibitem{}", _REFERENCE.sub(REFERENCE, expand_environments(text)))
        below = _NOTE.findall(text) if kind == "markdown" else []
        said = read_document(_NOTE_MARK.sub(REFERENCE, _NOTE.sub("", text)) if below else text, kind).elements
        notes = [" ".join(e.text or "" for e in read_document(note, kind).elements) for note in below]
        return [_of_text(e) for e in said] + _footnotes(notes)
    markup, notes = _READERS[kind](path)
    markup = _NOTE_LINK.sub(r"<sup>\1</sup>", _PICTURE.sub("", markup))
    return list(_elements(markup)) + _footnotes(notes)


def _text(path: Path) -> str:
    """Return a text in UTF-8, else in its declared encoding, or in the browsers' default where HTML declares
    none.
    """
    try:
        return read_text(path)
    except CorpusError:
        data = path.read_bytes()
        named = _ENCODING.search(data)
        name = (named[1] or named[2]).decode().lower() if named else "cp1252"
        if not named and SOURCES[path.suffix.lower()] != "html":
            raise
        with suppress(LookupError, ValueError):
            return data.decode(_ENCODINGS.get(name, name))
        raise


def _footnotes(notes: list[str]) -> list[Element]:
    return [Element(f"n{k}", Category.PAGE_FOOTNOTE, text=note) for k, note in enumerate(notes) if note]


def _of_text(element: Element) -> Element:
    """Return an element of LaTeX or Markdown, without what stands for references in its formula, or as a
    caption.
    """
    if element.category == Category.TEXT_BLOCK and (element.text or "").startswith(_MARKDOWN_CAPTION):
        said = (element.text or "").removeprefix(_MARKDOWN_CAPTION)
        return replace(element, category=Category.TABLE_CAPTION, text=said)
    return replace(element, latex=element.latex and element.latex.replace(REFERENCE, ""))


def _elements(markup: str, within: str = "") -> Iterator[Element]:
    """Yield the elements of HTML; of a table that holds others, those in it, each with the name of that
    table.
    """
    start = 0
    opened: list[int] = []
    holds = False
    parts: list[tuple[str, str]] = []
    for tag in _TABLE_TAG.finditer(markup):
        if not tag[1]:
            holds = holds or bool(opened)
            opened.append(tag.start())
        elif len(opened) > 1:
            opened.pop()
        elif opened:
            begin = opened.pop()
            if holds:
                parts += [("", markup[start:begin]), (f"{within}/{begin}", markup[begin : tag.end()])]
                start = tag.end()
            holds = False
    for name, part in (*parts, ("", markup[start:])):
        if name and name.count("/") <= _MAX_NESTED:
            yield from _elements(_unframed(part), name)
        elif part.strip():
            place = {IN_TABLE: within} if within else {}
            for element in read_document(part, "html").elements:
                yield replace(element, attributes={**element.attributes, **place})


def _unframed(table: str) -> str:
    """Return the contents of a table's cells as blocks; nested tables stay."""
    depth = 0
    parts: list[str] = []
    for part in _TABLE_PART.split(table):
        name = _TABLE_TAG.match(part)
        depth -= bool(name and name[1])
        parts.append("<div></div>" if depth <= (0 if name else 1) and _TABLE_PART.fullmatch(part) else part)
        depth += bool(name and not name[1])
    return "".join(parts)


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive of few enough parts that are small enough; a part never has more bytes than it
    declares.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_BYTES:
                raise CorpusError(f"{path} unpacks to more than {MAX_PARTS:,} parts or {MAX_BYTES >> 20} MB.")
            yield archive
    except BROKEN_ARCHIVE as error:
        raise CorpusError(f"{path} is not a readable archive: {error}.") from error


def _xml(data: bytes, path: Path) -> Any:
    """Return the root of XML that declares no entities; what it names is not opened."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{path} contains invalid XML: {error}.") from error
    declared: Any = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise CorpusError(f"{path} declares entities, which are not supported. Replace them by their text.")
    return root


def _local(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _value(element: Any, name: str) -> str:
    return next((str(v) for key, v in element.attrib.items() if etree.QName(key).localname == name), "")


def _spans(element: Any, across: str, down: str) -> str:
    """Return the attributes of a cell that spans others, by their names in its format."""
    said = (("colspan", _value(element, across)), ("rowspan", _value(element, down)))
    return "".join(f' {name}="{_number(n)}"' for name, n in said if _number(n))


def _number(text: str) -> int:
    """Return a source's count, no larger than a table may have columns; 0 where there is none."""
    return min(int(text), MAX_SPAN) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def _inside(element: Any, name: str) -> Iterator[Any]:
    return (below for below in element.iter() if _local(below) == name)


def _holder(element: Any, name: str) -> Any:
    """Return the nearest element of a name that an element is in; what holds it further out is not asked
    again.
    """
    return next((above for above in element.iterancestors() if _local(above) == name), None)


def _said(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


class _Markup:
    """Writes XML as HTML by the names of its elements; depth is bounded by the reader of XML.

    What is more than another name has a writer of its own.
    """

    names: ClassVar[Mapping[str, str]]
    skipped: ClassVar[frozenset[str]]
    blanks: ClassVar[tuple[str, ...]]
    writers: ClassVar[Mapping[str, Callable[[Any, Any], str]]]

    def __init__(self) -> None:
        self.notes: list[str] = []

    def inner(self, element: Any) -> str:
        """Return the content of an element."""
        return escape(element.text or "") + "".join(
            self.outer(child) + escape(child.tail or "") for child in element
        )

    def outer(self, element: Any) -> str:
        """Return an element as HTML; one without a name in HTML is what it holds."""
        name = _local(element)
        if not name or name in self.skipped:
            return ""
        if name in self.writers:
            return self.writers[name](self, element)
        tag = self.names.get(name)
        inner = " " if name in self.blanks else self.inner(element)
        return f"<{tag}>{inner}</{tag}>" if tag else inner


class _OpenDocument(_Markup):
    names: ClassVar = {
        "p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table", "table-row": "tr",
    }  # fmt: skip
    skipped = frozenset(
        {"tracked-changes", "annotation", "covered-table-cell", "image", "title", "desc", "forms"}
        | {"sequence-decls", "bookmark-ref-mark", "object", "object-ole", "soft-page-break"}
    )
    blanks = ("s", "tab", "line-break")

    def _heading(self, element: Any) -> str:
        level = min(_number(_value(element, "outline-level")) or 1, _DEEPEST)
        return f"<h{level}>{self.inner(element)}</h{level}>"

    def _cell(self, element: Any) -> str:
        tag = "th" if _local(element.getparent().getparent()) == "table-header-rows" else "td"
        spans = _spans(element, "number-columns-spanned", "number-rows-spanned")
        again = _value(element, "number-columns-repeated")
        cell = f"<{tag}{spans}>{self.inner(element)}</{tag}>"
        return cell * (_number(again) or 1)

    def _note(self, element: Any) -> str:
        bodies = list(_inside(element, "note-body"))
        mark = next(map(_said, _inside(element, "note-citation")), "")
        self.notes += [f"{mark} {_said(body)}".strip() for body in bodies]
        return f"<sup>{escape(mark)}</sup>"

    writers: ClassVar = {"h": _heading, "table-cell": _cell, "note": _note}


def _odt(path: Path) -> Source:
    with _archive(path) as archive:
        root = _xml(archive.read("content.xml"), path)
    writer = _OpenDocument()
    return "".join(writer.inner(body) for body in _inside(root, "body")), writer.notes


class _Jats(_Markup):
    names: ClassVar = {
        **dict.fromkeys(("p", "disp-quote"), "p"), **dict.fromkeys(("list", "ref-list"), "ul"),
        **dict.fromkeys(("list-item", "ref"), "li"), **dict.fromkeys(("code", "preformat"), "pre"),
        "sup": "sup", "sub": "sub", "article-title": "h1",
        **{name: name for name in ("thead", "tbody", "tfoot", "tr")},
    }  # fmt: skip
    skipped = frozenset(
        {"journal-meta", "article-id", "article-categories", "contrib-group", "aff", "author-notes"}
        | {"pub-date", "permissions", "history", "counts", "volume", "issue", "fpage", "lpage"}
        | {"elocation-id", "kwd-group", "graphic", "inline-graphic", "supplementary-material"}
        | {"related-article", "self-uri", "custom-meta-group", "funding-group", "processing-meta"}
        | {"alternatives", "inline-formula"}
    )
    blanks = ("break",)

    def _title(self, element: Any) -> str:
        depth = 1 + sum(_local(above) in ("sec", "abstract", "ack") for above in element.iterancestors())
        return f"<h{min(depth, _DEEPEST)}>{self.inner(element)}</h{min(depth, _DEEPEST)}>"

    def _citation(self, element: Any) -> str:
        return escape(_said(element))  # its `article-title` is no heading

    def _note(self, element: Any) -> str:
        self.notes.append(" ".join(filter(None, map(_said, element))) or _said(element))
        return ""

    def _mark(self, element: Any) -> str:
        is_note = _value(element, "ref-type") in ("fn", "table-fn") and not len(element)
        return f"<sup>{self.inner(element)}</sup>" if is_note else self.inner(element)

    def _formula(self, element: Any) -> str:
        tex = next((math.text or "" for math in _inside(element, "tex-math")), "").strip().strip("$")
        return f"<p>$${escape(tex)}$$</p>" if tex else ""

    def _figure(self, element: Any) -> str:
        return f"<figcaption>{escape(_caption(element))}</figcaption>"

    def _table(self, element: Any) -> str:
        caption = f"<caption>{escape(_caption(element))}</caption>"
        own = [below for below in _inside(element, "table") if _holder(below, "table-wrap") is element]
        tables = (f"<table>{caption}{self.inner(table)}</table>" for table in own)
        below = [
            foot for foot in _inside(element, "table-wrap-foot") if _holder(foot, "table-wrap") is element
        ]
        feet = "".join(f"<p>{escape(_said(foot))}</p>" for foot in below)
        return "".join(tables) + feet

    def _cell(self, element: Any) -> str:
        spans = _spans(element, "colspan", "rowspan")
        return f"<{_local(element)}{spans}>{self.inner(element)}</{_local(element)}>"

    writers: ClassVar = {
        "title": _title, "mixed-citation": _citation, "element-citation": _citation, "fn": _note,
        "xref": _mark, "disp-formula": _formula, "fig": _figure, "table-wrap": _table, "td": _cell,
        "th": _cell,
    }  # fmt: skip


def _caption(element: Any) -> str:
    parts = [part for part in element if _local(part) in ("label", "caption")]
    return " ".join(filter(None, map(_said, parts)))


def _jats(path: Path) -> Source:
    root = _xml(path.read_bytes()[: MAX_BYTES + 1], path)
    if _local(root) != "article" and not any(_inside(root, "article")):
        raise CorpusError(f"{path} is XML, but not a JATS article; only JATS is supported.")
    writer = _Jats()
    return writer.outer(root), writer.notes


def _sheets(path: Path) -> Source:
    with _archive(path):
        return sheet_html(path), []


def _epub(path: Path) -> Source:
    with _archive(path) as archive:
        box = _xml(archive.read("META-INF/container.xml"), path)
        place = next((_value(file, "full-path") for file in _inside(box, "rootfile")), "")
        package = _xml(archive.read(place), path)
        files = {_value(item, "id"): _value(item, "href") for item in _inside(package, "item")}
        spine = [files.get(_value(item, "idref"), "") for item in _inside(package, "itemref")]
        names = (posixpath.join(posixpath.dirname(place), unquote(href)) for href in spine)
        chapters = [_xml(archive.read(posixpath.normpath(name)), path) for name in names]
    bodies = (body for chapter in chapters for body in _inside(chapter, "body"))
    return "\n".join(etree.tostring(body, encoding="unicode") for body in bodies), []


def _docx(path: Path) -> Source:
    with _archive(path):
        from docx import Document
        from docx.opc.exceptions import OpcError

        try:
            document: Any = Document(str(path))
        except (OpcError, KeyError, ValueError, etree.XMLSyntaxError) as error:
            raise CorpusError(f"{path} is not a readable Word document: {error}.") from error
        return _Word(document).read()


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_WORD_BLANKS = frozenset({"tab", "br", "cr"})
_WORD_HIDDEN = frozenset({"del", "moveFrom", "Fallback", "instrText", "delText", "rPr", "pPr", "txbxContent"})
_WORD_SCRIPTS = {"superscript": "sup", "subscript": "sub"}
_NAMED_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


class _Word:
    def __init__(self, document: Any) -> None:
        self.body = document.element.body
        self.styles = {style.style_id: style for style in document.styles}
        self.notes: list[str] = []
        parts = [r.target_part for r in document.part.rels.values() if r.reltype.endswith("/footnotes")]
        parser = etree.XMLParser(resolve_entities=False)
        notes = (
            note for part in parts[:1] for note in _inside(etree.fromstring(part.blob, parser), "footnote")
        )
        self.known = {note.get(f"{_WORD}id"): note for note in notes}

    def read(self) -> Source:
        return "".join(self._blocks(self.body)), self.notes

    def _blocks(self, holder: Any) -> Iterator[str]:
        """Yield paragraphs and tables; what only wraps them is looked through."""
        for of_list, group in groupby(self._parts(holder), key=lambda part: part[2]):
            inner = "".join(f"<{tag}>{text}</{tag}>" if tag else text for tag, text, _ in group)
            yield f"<ul>{inner}</ul>" if of_list else inner

    def _parts(self, holder: Any) -> Iterator[tuple[str, str, str]]:
        """Yield tag, content, and the list of which it is an item."""
        for element in holder:
            name = _local(element)
            if name == "p":
                text = "".join(self._text(element))
                if text.strip():
                    tag = self._tag(element, text)
                    style = _word_value(element, "pPr/pStyle").rstrip("0123456789")
                    of_list = _word_value(element, "pPr/numPr/numId") or style or "list"
                    yield tag, escape(text), of_list if tag == "li" else ""
                for box in _inside(element, "txbxContent"):
                    outer = _holder(box, "txbxContent")
                    if outer is not None and element in outer.iterancestors():
                        continue  # what is in a box is read with that box
                    if not any(_local(above) == "Fallback" for above in box.iterancestors()):
                        yield from self._parts(box)
            elif name == "tbl":
                yield "", self._table(element), ""
            elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
                yield from self._parts(element)

    def _text(self, paragraph: Any) -> Iterator[str]:
        """Yield the visible text of a paragraph, without deleted or hidden text and without boxes beside
        it.
        """
        for element in paragraph:
            name = _local(element)
            if name in _WORD_HIDDEN:
                continue
            if name == "t":
                yield element.text or ""
            elif name in _WORD_BLANKS:
                yield " "
            elif name == "noBreakHyphen":
                yield "-"
            elif name == "footnoteReference" and element.get(f"{_WORD}id") in self.known:
                note = self.known.pop(element.get(f"{_WORD}id"))  # each once: notes may cite each other
                said = " ".join("".join(self._text(paragraph)) for paragraph in _inside(note, "p"))
                self.notes.append(f"{len(self.notes) + 1} {said.strip()}")
                yield script("sup", str(len(self.notes)))
            elif name != "r" or element.find(f"{_WORD}rPr/{_WORD}vanish") is None:
                inner = "".join(self._text(element))
                tag = _WORD_SCRIPTS.get(_word_value(element, "rPr/vertAlign"), "")
                is_marked = not tag or inner[:1] in "^_"  # a note's mark is written as raised already
                yield inner if is_marked else script(tag, inner)

    def _tag(self, paragraph: Any, text: str) -> str:
        """Return the type of a paragraph, by its style or the styles that this one is based on."""
        style = self.styles.get(_word_value(paragraph, "pPr/pStyle"))
        is_listed = _word_value(paragraph, "pPr/numPr/numId") not in ("", "0")
        for _ in range(12):
            if style is None:
                break
            name = style.name or ""
            if heading := _NAMED_HEADING.fullmatch(name):
                return f"h{min(max(int(heading[1]), 1), _DEEPEST)}"
            if name == "Title":
                return "h1"
            if name.casefold() == "caption":
                return "p" if caption_category(text) else "figcaption"
            is_listed |= name.startswith("List ") or style.element.find(f".//{_WORD}numPr") is not None
            style = style.base_style
        level = _word_value(paragraph, "pPr/outlineLvl")
        if level.isdecimal() and _number(level) < _DEEPEST:
            return f"h{_number(level) + 1}"
        return "li" if is_listed else "p"

    def _table(self, table: Any) -> str:
        rows = [row for row in table.iter(f"{_WORD}tr") if next(row.iterancestors(f"{_WORD}tbl")) is table]
        open_cells: dict[int, list[Any]] = {}
        lines: list[list[list[Any]]] = []
        for row in rows:
            col = _number(_word_value(row, "trPr/gridBefore"))
            line: list[list[Any]] = [["td", col, 1, ""]] if col else []
            tag = "th" if row.find(f"{_WORD}trPr/{_WORD}tblHeader") is not None else "td"
            for cell in (c for c in row.iter(f"{_WORD}tc") if next(c.iterancestors(f"{_WORD}tr")) is row):
                across = _number(_word_value(cell, "tcPr/gridSpan")) or 1
                merged = cell.find(f"{_WORD}tcPr/{_WORD}vMerge")
                if merged is not None and merged.get(f"{_WORD}val") != "restart" and col in open_cells:
                    open_cells[col][2] += 1
                else:
                    made = [tag, across, 1, "".join(self._blocks(cell))]
                    line.append(made)
                    open_cells.pop(col, None)
                    if merged is not None:
                        open_cells[col] = made
                col += across
            lines.append(line)
        cell = '<{0} colspan="{1}" rowspan="{2}">{3}</{0}>'.format
        body = "".join(f"<tr>{''.join(cell(*own) for own in line)}</tr>" for line in lines)
        return f"<table>{body}</table>"


def _word_value(element: Any, path: str) -> str:
    found = element.find("/".join(_WORD + name for name in path.split("/")))
    return "" if found is None else str(found.get(f"{_WORD}val") or "")


_READERS: dict[str, Callable[[Path], Source]] = {
    "docx": _docx, "odt": _odt, "html": lambda path: (_text(path), []), "epub": _epub, "jats": _jats,
    "xlsx": _sheets,
}  # fmt: skip
SOURCES = {
    ".docx": "docx", ".odt": "odt", ".tex": "latex", ".xml": "jats", ".nxml": "jats", ".html": "html",
    ".htm": "html", ".xhtml": "html", ".epub": "epub", ".xlsx": "xlsx", ".md": "markdown",
    ".markdown": "markdown",
}  # fmt: skip
"""What is read, by the end of its name; the first one that is there is taken."""
