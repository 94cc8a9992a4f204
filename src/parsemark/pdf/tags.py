"""The structure tree of a PDF, as it is stored: elements with standard roles, attributes and their content.

What is wrong with a tree (an element that is reached twice, a page that does not exist) is counted and costs
only itself; a tree that is too large or too deep is a PdfError.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsemark.errors import PdfError
from parsemark.pdf.child import in_child
from parsemark.pdf.marked import FORM

MAX_ELEMENTS = 400_000  # of a tree; 1,000 dense pages have 200,000
MAX_DEPTH = 200
_MAX_KIDS = 2_000_000
_MAX_TEXT = 20_000
_MAX_MAPPINGS = 20
_PDF1, _PDF2 = "http://iso.org/pdf/ssn", "http://iso.org/pdf2/ssn"
_MATHML = "http://www.w3.org/1998/Math/MathML"
MATH = "math:"  # before the role of an element of a formula
_IN_2 = ("DocumentFragment", "Aside", "Title", "FENote", "Sub", "Em", "Strong", "Artifact")
STANDARD = frozenset(
    {"Document", "Part", "Art", "Sect", "Div", "BlockQuote", "Caption", "TOC", "TOCI", "Index"}
    | {"NonStruct", "Private", "P", "H", "H1", "H2", "H3", "H4", "H5", "H6", "L", "LI", "Lbl", "LBody"}
    | {"Table", "TR", "TH", "TD", "THead", "TBody", "TFoot", "Span", "Quote", "Note", "Reference"}
    | {"BibEntry", "Code", "Link", "Annot", "Ruby", "RB", "RT", "RP", "Warichu", "WT", "WP", "Figure"}
    | {"Formula", "Form", *_IN_2}
)
_ATTRIBUTES = (
    "RowSpan", "ColSpan", "Scope", "Headers", "BBox", "Placement", "ListNumbering", "Type", "Subtype",
)  # fmt: skip

Value = str | float | tuple[str | float, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of marked content of a page."""

    page: int  # counted from 1
    number: int  # as `OwnedPage.owners` has it


@dataclass(frozen=True, slots=True)
class StructureTag:
    """An element of a structure tree."""

    role: str  # its standard role, or the one it has where it is mapped to none; `math:…` in a formula
    said: str  # its role as the file says it
    kids: tuple[int | Content, ...]  # elements by their index in the tree, and content
    attributes: Mapping[str, Value] = field(default_factory=dict)
    alt: str | None = None
    actual: str | None = None
    source: str | None = None  # the file that is attached to a formula: MathML or LaTeX


@dataclass(frozen=True, slots=True)
class TagTree:
    """All elements; the first one holds the others."""

    tags: tuple[StructureTag, ...]
    faults: Mapping[str, int]  # what is wrong with the tree, and how often


@contextmanager
def open_qpdf(pdf: Path) -> Iterator[Any]:
    """Open a document of pikepdf, for functions that run `in_child`; raise PdfError if it is unreadable."""
    import pikepdf

    try:
        document = pikepdf.open(pdf, suppress_warnings=True)
    except (pikepdf.PdfError, pikepdf.PasswordError, OSError, RuntimeError) as error:
        raise PdfError(f"{pdf} cannot be opened as a PDF: {error}") from error
    try:
        yield document
    except (pikepdf.PdfError, RuntimeError, RecursionError) as error:
        raise PdfError(f"{pdf} cannot be read: {error}") from error
    finally:
        document.close()


@in_child(cpu_s=120)
def read_tags(pdf: Path) -> TagTree | None:
    """Return the structure tree of a PDF; None where it has none, or raise PdfError where it is too large or
    too deep.
    """
    with open_qpdf(pdf) as document:
        root = document.Root.get("/StructTreeRoot")
        if not _is_dictionary(root) or "/K" not in root:
            return None
        return _TreeReader(document, root, pdf).read()


class _TreeReader:
    def __init__(self, document: Any, root: Any, pdf: Path) -> None:
        self.root, self.pdf = root, pdf
        self.pages = {page.obj.objgen: number for number, page in enumerate(document.pages, start=1)}
        roles = root.get("/RoleMap")
        named = roles.items() if _is_dictionary(roles) else ()
        self.roles = {str(key).lstrip("/"): str(value).lstrip("/") for key, value in named}
        self.classes = root.get("/ClassMap")
        self.faults: Counter[str] = Counter()
        self.seen: set[tuple[int, int]] = set()
        self.spaces: dict[tuple[int, int], tuple[str, dict[str, Any]]] = {}
        self.n_kids = 0

    def read(self) -> TagTree:
        tags: list[StructureTag | None] = [None]
        work: list[tuple[Any, int | None, int, int]] = [(self.root, None, 0, 0)]
        while work:
            element, page, depth, index = work.pop()
            own = self.pages.get(element["/Pg"].objgen, page) if "/Pg" in element else page
            kids: list[int | Content] = []
            for kid in _listed(element.get("/K")):
                self.n_kids += 1
                if self.n_kids > _MAX_KIDS:
                    raise PdfError(f"The structure tree of {self.pdf} has more than {_MAX_KIDS:,} parts.")
                is_dictionary = _is_dictionary(kid) and "/S" in kid
                if not is_dictionary or kid.get("/Type") in ("/MCR", "/OBJR"):
                    if (content := self._content(kid, own)) is not None:
                        kids.append(content)
                elif self._is_new(kid):
                    kids.append(len(tags))
                    work.append((kid, own, depth + 1, len(tags)))
                    tags.append(None)
            if depth > MAX_DEPTH:
                raise PdfError(f"The structure tree of {self.pdf} is deeper than {MAX_DEPTH} elements.")
            if len(tags) > MAX_ELEMENTS:
                has = f"The structure tree of {self.pdf} has more than {MAX_ELEMENTS:,} elements"
                raise PdfError(f"{has}; split the file.")
            tags[index] = self._tag(element, tuple(kids))
        return TagTree(tuple(tag for tag in tags if tag is not None), dict(self.faults))

    def _is_new(self, kid: Any) -> bool:
        """Return whether an element is reached for the first time: else the tree has a cycle, or shares a
        branch.
        """
        if kid.objgen == (0, 0):
            return True
        if kid.objgen in self.seen:
            self.faults["elements that are reached twice"] += 1
            return False
        self.seen.add(kid.objgen)
        return True

    def _content(self, kid: Any, page: int | None) -> Content | None:
        number: Any = kid
        in_form = False
        if _is_dictionary(kid):
            if "/MCID" not in kid:
                return None
            page = self.pages.get(kid["/Pg"].objgen) if "/Pg" in kid else page
            number, in_form = kid["/MCID"], "/Stm" in kid
        if not isinstance(number, int) or not 0 <= number < FORM or page is None:
            self.faults["contents without a page"] += 1
            return None
        return Content(page, number + FORM * in_form)

    def _tag(self, element: Any, kids: tuple[int | Content, ...]) -> StructureTag:
        if element is self.root:
            return StructureTag("StructTreeRoot", "StructTreeRoot", kids)
        said = str(element.get("/S")).lstrip("/")
        role = self._role(said, element.get("/NS"))
        source = _attached(element) if role == "Formula" else None
        alt, actual = text_of(element.get("/Alt")), text_of(element.get("/ActualText"))
        return StructureTag(role, said, kids, self._attributes(element), alt, actual, source)

    def _role(self, said: str, space: Any) -> str:
        """Return the standard role that a role stands for, by namespaces and role maps."""
        uri, mapped = self._space(space)
        role = said
        for _ in range(_MAX_MAPPINGS):
            if uri == _MATHML:
                return MATH + role
            is_known = role in STANDARD and (uri in (_PDF1, _PDF2) or role not in _IN_2)
            if is_known or (uri in (_PDF1, _PDF2) and role not in self.roles):
                return role
            step = mapped.get(role, self.roles.get(role))
            if step is None:
                return role
            if isinstance(step, tuple):
                role, (uri, mapped) = step[0], self._space(step[1])
            else:
                role, uri, mapped = step, _PDF1 if step in STANDARD else "", {}
        self.faults["roles that are mapped in a circle"] += 1
        return said

    def _space(self, space: Any) -> tuple[str, dict[str, Any]]:
        """Return the name of a namespace, and what it maps to what."""
        if not _is_dictionary(space):
            return "", {}
        key = space.objgen
        if key == (0, 0) or key not in self.spaces:
            mapped: dict[str, Any] = {}
            rules = space.get("/RoleMapNS")
            for name, value in rules.items() if _is_dictionary(rules) else ():
                parts = _listed(value)
                if parts:
                    target = str(parts[0]).lstrip("/")
                    mapped[str(name).lstrip("/")] = (target, parts[1]) if len(parts) > 1 else target
            self.spaces[key] = text_of(space.get("/NS")) or "", mapped
        return self.spaces[key]

    def _attributes(self, element: Any) -> dict[str, Value]:
        found: dict[str, Value] = {}
        if (own := _value(element.get("/ID"))) is not None:
            found["ID"] = own
        names = [str(name) for name in _listed(element.get("/C")) if _is_dictionary(self.classes)]
        known = (self.classes[name] for name in names if name.startswith("/") and name in self.classes)
        by_class = (owner for listed in known for owner in dictionary_items(listed))
        for owner in (*by_class, *dictionary_items(element.get("/A"))):
            for key in _ATTRIBUTES:
                if (value := _value(owner.get("/" + key))) is not None:
                    found[key] = value
        return found


def _is_dictionary(thing: Any) -> bool:
    import pikepdf

    return isinstance(thing, pikepdf.Dictionary | pikepdf.Stream)


def _listed(thing: Any) -> list[Any]:
    import pikepdf

    if thing is None:
        return []
    return list(thing) if isinstance(thing, pikepdf.Array) else [thing]


def dictionary_items(thing: Any) -> list[Any]:
    """Return the dictionaries of an array, or the one that is there instead of it."""
    return [item for item in _listed(thing) if _is_dictionary(item)]


def text_of(thing: Any) -> str | None:
    """Return a string of a PDF; None for anything else."""
    import pikepdf

    return str(thing)[:_MAX_TEXT] if isinstance(thing, pikepdf.String) else None


def _value(thing: Any) -> Value | None:
    import pikepdf

    if isinstance(thing, pikepdf.Array):
        parts = tuple(v for item in list(thing)[:1000] if isinstance(v := _value(item), str | float))
        return parts or None
    if isinstance(thing, pikepdf.Name):
        return str(thing).lstrip("/")
    if isinstance(thing, pikepdf.String):
        return str(thing)[:_MAX_TEXT]
    try:
        return float(thing)
    except (TypeError, ValueError):
        return None


def link_address(annotation: Any) -> str | None:
    """Return the address that a link leads to; None where it leads to a page."""
    action = annotation.get("/A")
    return text_of(action.get("/URI")) if _is_dictionary(action) else None


def _attached(element: Any) -> str | None:
    """Return the text of the first attached file that is MathML or LaTeX."""
    import pikepdf

    for file in _listed(element.get("/AF"))[:4]:
        stored: Any = file.get("/EF") if _is_dictionary(file) else None
        data = stored.get("/F") if _is_dictionary(stored) else None
        if isinstance(data, pikepdf.Stream) and int(data.get("/Length", 0)) <= _MAX_TEXT:
            text = bytes(data.read_bytes()).decode("utf-8", "replace")
            if len(text) <= _MAX_TEXT:
                return text
    return None
