"""The pages of a tagged PDF as truth: what its structure tree says, as far as the pages agree."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from pathlib import Path

from parsemark.corpora.tagged.tables import HOLDS_TABLE, TaggedTable, read_table
from parsemark.corpora.tagged.text import INLINE, DocumentContent, TaggedText, hull, is_ink
from parsemark.extras import require
from parsemark.model import AttributeValue, Box, Category, Element
from parsemark.pdf import in_child
from parsemark.pdf.marked import ARTEFACT, FORM, OwnedPage
from parsemark.pdf.running_heads import edge_of
from parsemark.pdf.tags import Content, StructureTag, read_tags
from parsemark.plain_words import counted

_CATEGORIES = {
    **dict.fromkeys(("H", "H1", "H2", "H3", "H4", "H5", "H6", "Title"), Category.TITLE),
    **dict.fromkeys(("Note", "FENote"), Category.PAGE_FOOTNOTE), "L": Category.LIST_GROUP,
    "Figure": Category.FIGURE, "Formula": Category.EQUATION_ISOLATED, "Code": Category.CODE_TXT,
    "BibEntry": Category.REFERENCE, "Table": Category.TABLE,
}  # fmt: skip
"""What a role is; all others that hold text are blocks of text."""
_GROUPS = frozenset(
    {"StructTreeRoot", "Document", "DocumentFragment", "Part", "Art", "Sect", "Div", "Aside", "TOC"}
    | {"BlockQuote", "NonStruct", "Private", "Index", "TR", "TD", "TH", "THead", "TBody", "TFoot"}
    | {"LI", "LBody", "Form", "Annot"}
)
_APART = ("Table", "Figure", "L", "Note", "FENote", "Caption", "Aside")
"""What stands for itself also where it is inside of a paragraph."""
_STYLE_OF_HEADING = re.compile(r"(?:heading|head|h)[\s_-]*([1-9])", re.IGNORECASE)
"""Names of styles that LibreOffice up to version 7 maps to paragraphs."""
_LARGE_PICTURE = 0.1  # share of a page; a picture of this size may show a table
_COUNTED = {Category.TABLE: "table", Category.TITLE: "heading", Category.FIGURE: "picture"}
_AT_EDGE = {"head": Category.HEADER, "foot": Category.FOOTER, None: Category.ABANDON}
_MAX_LOOSE = 0.02
"""Share of a page's glyphs that no element may have, before the page counts as not wholly tagged."""
_MAX_TURNED = 0.05  # share of the pairs of blocks below each other that the tree may have the other way round
_MAX_NESTED = 4  # tables in tables that are looked at
_SHOWN = 120  # letters of a text in no element that are shown
_UNREADABLE = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08]")


@dataclass
class TaggedPage:
    """What the tags say of a page."""

    number: int
    elements: list[Element] = field(default_factory=list)
    covered: frozenset[str] = frozenset()
    n_missing: int = 0  # contents that the tree names and the page does not have
    doubts: list[str] = field(default_factory=list)  # why it does not cover all
    n_words: int = 0  # Words that are no artefacts
    n_tagged: int = 0  # those of them that are in an element

    def holds(self) -> str:
        """Return a description of what its tags cover."""
        kinds = Counter(element.category for element in self.elements)
        counts = [counted(kinds[kind], name) for kind, name in _COUNTED.items() if kinds[kind]]
        return ", ".join([*counts, f"{self.n_tagged:,} of {counted(self.n_words, 'word')} tagged"])


@dataclass
class TaggedDocument:
    """What the tags of a document say."""

    pages: dict[int, TaggedPage]
    tables: list[TaggedTable]
    roles: dict[str, int]  # how many elements there are of each role, as the file says it and as it is meant
    faults: dict[str, int]  # what is wrong with the tree itself
    missing: tuple[str, ...] = ()  # the first words of what a source says and no page has

    def report(self) -> dict[str, list[tuple[str, str]]]:
        """Return the remarks on the tags by subject: where, and what."""
        tables = []
        for table in self.tables:
            shapes = " + ".join(f"{part.table.n_rows} × {part.table.n_cols}" for part in table.parts)
            where = f"page {table.pages[0]}" if table.pages else "nowhere"
            said = f"refused: {table.refused}" if table.refused else f"agrees: {shapes} cells"
            tables.append((where, said))
        elements = [element for page in self.pages.values() for element in page.elements]
        levels = [e.attributes["level"] for e in elements if "level" in e.attributes]
        skipped = sum(int(b or 0) > int(a or 0) + 1 for a, b in pairwise(levels))
        silent = sum(e.category == Category.FIGURE and "alt" not in e.attributes for e in elements)
        faults = {
            **self.faults,
            "contents that are not on any page": sum(page.n_missing for page in self.pages.values()),
            "headings that skip a level": skipped,
            "figures without alternative text": silent,
        }
        return {
            "Elements": [(role, f"{n:,}") for role, n in sorted(self.roles.items())],
            "Tables": tables,
            "Pages": [
                (f"page {n}", "; ".join([page.holds(), *(page.doubts or ["agrees with its tags"])]))
                for n, page in self.pages.items()
            ],
            "Faults": [(fault, f"{n:,}") for fault, n in faults.items() if n],
        }


@dataclass(frozen=True, slots=True)
class _Block:
    """An element of the tree that is one of a page: what it is, and its lines."""

    index: int
    category: Category
    lines: tuple[tuple[TaggedText, ...], ...] = ()
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    latex: str | None = None
    table: TaggedTable | None = None


def read_tagged(pdf: Path) -> TaggedDocument | None:
    """Read the tags of a PDF; return None without a structure tree, and raise PdfError if the tree is too
    large.
    """
    require("embedded", "Reading structure trees", {"pikepdf"})
    return _read_tagged(pdf)


@in_child(cpu_s=900)
def _read_tagged(pdf: Path) -> TaggedDocument | None:
    tree = read_tags(pdf)
    return None if tree is None else read_content(DocumentContent(pdf, tree))


def read_content(content: DocumentContent, doubtful: Collection[int] = ()) -> TaggedDocument:
    """Return a tree's content for its pages; `doubtful` pages cover nothing."""
    tree = content.tree
    blocks = list(_Walk(content).blocks(0))
    tables = [block.table for block in blocks if block.table is not None]
    owned: dict[int, set[int]] = {}
    for tag in tree.tags:
        for kid in tag.kids:
            if isinstance(kid, Content):
                owned.setdefault(kid.page, set()).update((kid.number, kid.number + FORM))
    pages = {number: TaggedPage(number) for number in sorted(owned)}
    for order, block in enumerate(blocks):
        for number, element in _elements(content, block, order):
            pages[number].elements.append(element)
    roles = Counter(tag.role if tag.role == tag.said else f"{tag.said} ({tag.role})" for tag in tree.tags[1:])
    for number, page in pages.items():
        if number in doubtful:
            page.doubts.append("a part of its source that has no place")
        _finish(page, content.page(number), tables, {tag.role for tag in tree.tags}, owned[number])
        page.elements = [replace(e, derivation=content.derivation) for e in page.elements]
    return TaggedDocument(pages, tables, dict(roles), dict(tree.faults))


class _Walk:
    """The tree as blocks, in its order."""

    def __init__(self, content: DocumentContent) -> None:
        self.content = content
        self.tags = content.tree.tags
        self.nested = 0

    def blocks(self, index: int) -> Iterator[_Block]:
        """Yield an element and what is below it."""
        tag = self.tags[index]
        role = tag.role
        if role == "Artifact":
            return
        if role == "Table":
            table = read_table(self.content, index)
            captions = [self._text(caption, Category.TABLE_CAPTION) for caption in table.captions]
            above = [caption for caption in captions if _is_above(caption, table)]
            yield from above
            yield _Block(index, Category.TABLE, table=table)
            if table.refused == HOLDS_TABLE and self.nested < _MAX_NESTED:
                self.nested += 1
                yield from self._apart(index, ("Table",))
                self.nested -= 1
            yield from (caption for caption in captions if caption not in above)
        elif role == "L":
            items = (k for k, item in self.content.walk(index) if item.role == "LI")
            lines = tuple(tuple(self.content.pieces(k, ("L",))) for k in items)
            yield _Block(index, Category.LIST_GROUP, lines)
            yield from self._apart(index, ("Table", "Figure"))
        elif role == "Figure":
            words = tuple(self.content.pieces(index, ("Caption",)))
            alt = {"alt": tag.alt or tag.actual} if tag.alt or tag.actual else {}
            yield _Block(index, Category.FIGURE, (words,), alt)
            yield from self._apart(index, ("Caption",))
        elif role == "Formula":
            words, latex = tuple(self.content.pieces(index)), self.content.latex(index)
            yield _Block(index, Category.EQUATION_ISOLATED, (words,), latex=latex)
        elif role == "Caption":
            yield self._text(index, self._caption(index))
        elif self._is_group(tag):
            yield from self._group(index, tag)
        else:
            yield from self._paragraph(index, tag)

    def _is_group(self, tag: StructureTag) -> bool:
        """Return whether an element holds blocks: by its role, or, where that is no standard one, by its
        kids.
        """
        if tag.role in _GROUPS:
            return True
        if tag.role in INLINE or tag.role in ("P", "TOCI", *_CATEGORIES):
            return False
        kids = (self.tags[kid].role for kid in tag.kids if isinstance(kid, int))
        return any(role not in INLINE and not role.startswith("math:") for role in kids)

    def _group(self, index: int, tag: StructureTag) -> Iterator[_Block]:
        """Yield the blocks of a group; text that is in none of them is one of its own."""
        run: list[TaggedText] = []
        for kid in (*tag.kids, None):
            if isinstance(kid, Content):
                run += self.content.pieces_of(kid)
            elif kid is not None and self.tags[kid].role in INLINE - {"NonStruct", "Form"}:
                run += self.content.pieces(kid)
            else:
                if any(piece.text.strip() for piece in run):
                    yield _Block(index, self._kind(index, run, Category.TEXT_BLOCK), (tuple(run),))
                run = []
                yield from () if kid is None else self.blocks(kid)

    def _paragraph(self, index: int, tag: StructureTag) -> Iterator[_Block]:
        """Yield a text, and what stands in it for itself; a formula that is all of it is set apart from
        text.
        """
        pieces = self.content.pieces(index, _APART)
        formulas = [k for k, t in self.content.walk(index, (*_APART, "Formula")) if t.role == "Formula"]
        own = "".join(piece.text for k in formulas for piece in self.content.pieces(k))
        if formulas and "".join(own.split()) == "".join("".join(p.text for p in pieces).split()):
            for k in formulas:
                yield from self.blocks(k)
        elif pieces:
            category = self._kind(index, pieces, _CATEGORIES.get(tag.role, Category.TEXT_BLOCK))
            yield self._text(index, category, pieces)
        yield from self._apart(index, _APART)

    def _kind(self, index: int, pieces: Sequence[TaggedText], category: Category) -> Category:
        """Return the category of a text; one that is nothing but code, in several lines, is code."""
        code = [k for k, tag in self.content.walk(index) if tag.role == "Code"]
        own = [piece for k in code for piece in self.content.pieces(k)]
        is_all = sum(len(p.text) for p in own) >= sum(len(p.text) for p in pieces)
        return Category.CODE_TXT if own and is_all and "\n" in self.content.code(own) else category

    def _apart(self, index: int, roles: Sequence[str]) -> Iterator[_Block]:
        for k, tag in self.content.walk(index, roles):
            if k != index and tag.role in roles:
                yield from self.blocks(k)

    def _text(self, index: int, category: Category, pieces: Sequence[TaggedText] | None = None) -> _Block:
        tag = self.tags[index]
        attributes: dict[str, AttributeValue] = {}
        style = _STYLE_OF_HEADING.fullmatch(tag.said) if tag.role == "P" else None
        if style or category is Category.TITLE:
            category = Category.TITLE
            number = style[1] if style else tag.role[1:]
            attributes["level"] = int(number) if number.isdigit() else 1
        own = self.content.pieces(index) if pieces is None else pieces
        return _Block(index, category, (tuple(own),), attributes)

    def _caption(self, index: int) -> Category:
        """Return the category of a caption's object: what holds it, or what stands right before or after
        it.
        """
        parent = self.content.parents.get(index, 0)
        beside = [k for k in self.tags[parent].kids if isinstance(k, int)]
        at = beside.index(index)
        around = beside[max(at - 1, 0) : at + 2]
        if self.tags[parent].role not in ("StructTreeRoot", "Document", "Part", "Sect", "Art"):
            around.append(parent)
        held = {tag.role for k in around for _, tag in self.content.walk(k)}
        if "Table" in held:
            return Category.TABLE_CAPTION
        return Category.FIGURE_CAPTION if "Figure" in held else Category.TEXT_BLOCK


def _is_above(caption: _Block, table: TaggedTable) -> bool:
    """Return whether a caption stands before the first part of its table."""
    pieces = [(piece.page, piece.box.y0) for line in caption.lines for piece in line if piece.box is not None]
    return bool(pieces and table.parts) and min(pieces) < (table.parts[0].page, table.parts[0].box.y0)


def _elements(content: DocumentContent, block: _Block, order: int) -> Iterator[tuple[int, Element]]:
    """Yield a block as the element of each page that has a part of it."""
    made = Element(f"e{order + 1}", block.category, order=order, attributes=block.attributes)
    if block.table is not None:
        for number, part in enumerate(block.table.parts, start=1):
            several = {"part": number} if len(block.table.parts) > 1 else {}
            attributes = {**several, "with_span": part.table.has_spans}
            yield part.page, replace(made, table=part.table, box=part.box.rounded(), attributes=attributes)
        return
    numbers = sorted({piece.page for line in block.lines for piece in line})
    if block.category is Category.FIGURE:
        numbers = sorted({c.page for c in content.contents(block.index)})
    for number in numbers:
        lines = [[piece for piece in line if piece.page == number] for line in block.lines]
        written = content.code if block.category is Category.CODE_TXT else content.text
        text = "\n".join(filter(None, map(written, lines)))
        box = hull(piece.box for line in lines for piece in line if piece.box is not None)
        element = replace(made, box=box, text=text or None, latex=block.latex)
        if block.category is Category.FIGURE:
            yield from ((number, part) for part in _figure(content, block.index, number, element))
        elif text and box is not None:
            unknown = block.category is Category.EQUATION_ISOLATED and not block.latex
            yield number, replace(element, box=box.rounded(), ignore=unknown)


def _figure(content: DocumentContent, index: int, number: int, words: Element) -> Iterator[Element]:
    """Yield a picture with its place; what is written in it may be read or not."""
    owners = {c.number for c in content.contents(index) if c.page == number}
    page = content.page(number)
    painted = [box for owner, _, box in page.shapes if owner in owners or owner - FORM in owners]
    frame = Box(0, 0, page.width, page.height)
    box = _said_box(content.tree.tags[index], page) or hull([*painted, *([words.box] if words.box else [])])
    if box is not None:
        yield replace(words, text=None, box=box.clipped(frame).rounded())
    if words.text and words.box is not None:
        may_be_read = replace(words, id=f"{words.id}w", category=Category.TEXT_BLOCK, ignore=True)
        yield replace(may_be_read, box=words.box.rounded(), attributes={})


def _said_box(tag: StructureTag, page: OwnedPage) -> Box | None:
    """Return the place that the attributes of an element name, where that is one on its page."""
    said = tag.attributes.get("BBox")
    if not isinstance(said, tuple) or len(said) != 4 or not all(isinstance(v, float) for v in said):
        return None
    x0, y0, x1, y1 = (float(v) for v in said)
    box = Box.of_points((x0, x1), (y0, y1)).flipped(page.height)
    inside = Box(0, 0, page.width, page.height).contains(box, 1.0)
    return box if inside and box.area > 0 else None


def _finish(
    page: TaggedPage, marked: OwnedPage, tables: Sequence[TaggedTable], roles: set[str], owned: set[int]
) -> None:
    """Record what a page covers, undo an order that the page contradicts, and add content outside of the
    text.
    """
    painted = {*marked.owners, *(owner for owner, _, _ in marked.shapes)}
    page.n_missing = sum(not painted & {n, n + FORM} for n in owned if n < FORM)
    frames = [e.box for e in page.elements if e.table is not None and e.box is not None]
    inked = [(k, glyph.box) for k, glyph in enumerate(marked.glyphs) if is_ink(marked, k)]
    free = [k for k, box in inked if not any(frame.holds_centre(box) for frame in frames)]
    named = {*owned, ARTEFACT}
    loose = [k for k in free if marked.owners[k] not in named]
    ink = [is_ink(marked, k) and owner != ARTEFACT for k, owner in enumerate(marked.owners)]
    words = [k for k, is_word in enumerate(ink) if is_word and not (k and ink[k - 1])]
    page.n_words, page.n_tagged = len(words), sum(marked.owners[k] in owned for k in words)
    refused = [t for t in tables if t.refused and page.number in t.pages]
    unreadable = [e for e in page.elements if e.text and _UNREADABLE.search(e.text)]
    page.elements = [e for e in page.elements if e not in unreadable]
    loose_pictures = [box for owner, picture, box in marked.shapes if picture and owner not in named]
    pictures = [*loose_pictures, *(e.box for e in page.elements if e.category == Category.FIGURE and e.box)]
    large = any(box.area > _LARGE_PICTURE * marked.width * marked.height for box in pictures)
    uncovered: set[str] = set()
    everything = frozenset(str(category) for category in Category)
    for found, what, said in (
        (len(loose) > _MAX_LOOSE * len(free), everything, ""),
        (page.doubts, everything, ""),
        (refused, everything, "a table whose tags are wrong"),
        (unreadable, everything, "glyphs without Unicode"),
        (large, {str(Category.TABLE)}, "a picture that may show a table"),
        (loose_pictures, {str(Category.FIGURE)}, ""),
        (_in_columns(page.elements), {str(Category.TABLE)}, "texts in rows and columns that are not a table"),
        ("Table" not in roles, {str(Category.TABLE)}, ""),  # tab stops set tables too
        ("Formula" not in roles, {str(Category.EQUATION_ISOLATED)}, ""),
        (not any(_CATEGORIES.get(role) is Category.TITLE for role in roles), {str(Category.TITLE)}, ""),
    ):
        if found:
            uncovered |= what
            page.doubts += [said] if said else []
    page.covered = everything - uncovered
    if loose:
        said = _words(marked, loose)
        first = said if len(said) <= _SHOWN else said[:_SHOWN].rsplit(" ", 1)[0] + " …"
        page.doubts.append(f"text that is not in any element: {first!r}")
    if _is_turned(page.elements):
        page.doubts.append("an order other than the page's")
        page.elements = [replace(e, order=None) for e in page.elements]
    page.elements += _artefacts(page, marked, [k for k in free if marked.owners[k] == ARTEFACT])


def _in_columns(elements: Sequence[Element]) -> bool:
    """Return whether texts stand beside each other, three at a time and twice or more: a table without its
    tags.
    """
    texts = (e for e in elements if e.table is None and e.category != Category.FIGURE)
    boxes = [e.box for e in texts if e.box is not None][:400]
    beside = (
        sum(min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5 * max(a.height, b.height) for b in boxes) for a in boxes
    )
    return sum(n >= 3 for n in beside) >= 6


def _is_turned(elements: Sequence[Element]) -> bool:
    """Return whether the tree has blocks the other way round that stand below each other on the page."""
    ordered = sorted(elements, key=lambda e: e.order or 0)
    boxes = [e.box for e in ordered if e.box is not None and not e.ignore][:400]
    pairs = turned = 0
    for first, second in combinations(boxes, 2):
        shared = min(first.x1, second.x1) - max(first.x0, second.x0)
        if shared > 0.5 * min(first.width, second.width):
            below, above = second.y0 >= first.y1 - 1, first.y0 >= second.y1 - 1
            pairs += below or above
            turned += above and not below
    return turned > _MAX_TURNED * pairs


def _words(marked: OwnedPage, glyphs: Sequence[int]) -> str:
    """Return glyphs as text, with a blank where others stand between two."""
    return "".join(
        ("" if k == 0 or glyphs[k - 1] == at - 1 else " ") + marked.glyphs[at].text
        for k, at in enumerate(glyphs)
    )


def _artefacts(page: TaggedPage, marked: OwnedPage, glyphs: Sequence[int]) -> Iterator[Element]:
    """Yield running heads and the like: what a parser may give or leave out."""
    places: dict[Category, list[int]] = {}
    for k in glyphs:
        middle = marked.glyphs[k].box.centre[1]
        places.setdefault(_AT_EDGE[edge_of(middle, middle, marked.height)], []).append(k)
    for kind, own in places.items():
        words = _words(marked, own)
        box = Box.hull(marked.glyphs[k].box for k in own).rounded()
        category = Category.PAGE_NUMBER if words.isdigit() else kind
        yield Element(f"a-{kind}", category, box=box, text=words)
