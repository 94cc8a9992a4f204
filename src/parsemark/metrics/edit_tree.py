"""A table as the tree that TEDS edits, in the kernel's form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lxml import etree, html

from parsemark.errors import FormatError
from parsemark.kernels import kernel
from parsemark.metrics.html_rows import Rows, read_span
from parsemark.metrics.prepared import TableInput

Tokens = str | tuple[str, ...]
"""The content of a cell: characters alone, or characters and tags (`<b>`, `</b>`) one by one."""

_FIRST_TAG_CODE = 0xD800
_MAX_TAGS = 2048
"""Tags are encoded as lone surrogates, which no parsed text can contain, so that a token is one character."""


@dataclass(frozen=True)
class EditTree:
    """Nodes in postorder, the root last. Only `td` nodes have content."""

    labels: tuple[str, ...]
    leftmost: tuple[int, ...]
    contents: tuple[Tokens | None, ...]
    n_elements: int  # elements below the root, markup inside cells included: the denominator of TEDS
    row_lengths: tuple[int, ...] | None = field(default=None)
    """Cells of each row if the tree is table > tr > td, else None."""
    _own: dict[bool, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The kernel's trees with tags encoded by its own codes, as rows or not."""

    @cached_property
    def tag_codes(self) -> Mapping[str, str]:
        """A character for each tag in the contents."""
        tags = {t for c in self.contents if isinstance(c, tuple) for t in c if len(t) > 1}
        return extend_tag_codes({}, tags)

    @cached_property
    def n_characters(self) -> int:
        """Tokens of all contents."""
        return sum(len(c) for c in self.contents if c is not None)

    def prepared(self, codes: Mapping[str, str], as_rows: bool) -> Any:
        """The kernel's tree, with tags encoded by `codes`."""
        if codes is not self.tag_codes:
            return self._build(codes, as_rows)
        if as_rows not in self._own:
            self._own[as_rows] = self._build(codes, as_rows)
        return self._own[as_rows]

    def _build(self, codes: Mapping[str, str], as_rows: bool) -> Any:
        if not as_rows:
            texts = [None if c is None else _encode(c, codes) for c in self.contents]
            return kernel.ordered_tree(self.leftmost, self.labels, texts)
        cells = [(label, c) for label, c in zip(self.labels, self.contents, strict=True) if c is not None]
        spans = [_span_code(label) for label, _ in cells]
        return kernel.row_tree(self.row_lengths, spans, [_encode(c, codes) for _, c in cells])


def extend_tag_codes(codes: Mapping[str, str], tags: set[str]) -> dict[str, str]:
    """`codes` with a character for each tag that has none yet."""
    extended = dict(codes)
    for tag in sorted(tags - extended.keys()):
        if len(extended) == _MAX_TAGS:
            raise FormatError(f"The cells have more than {_MAX_TAGS:,} different tags")
        extended[tag] = chr(_FIRST_TAG_CODE + len(extended))
    return extended


def tree_of_rows(rows: Rows) -> EditTree:
    """The tree table > tr > td."""
    labels: list[str] = []
    leftmost: list[int] = []
    contents: list[Tokens | None] = []
    for row in rows:
        start = len(labels)
        for cell in row:
            leftmost.append(len(labels))
            labels.append(f"td {cell.colspan} {cell.rowspan}")
            contents.append(cell.text)
        leftmost.append(start)
        labels.append("tr")
        contents.append(None)
    lengths = tuple(len(row) for row in rows)
    return EditTree((*labels, "table"), (*leftmost, 0), (*contents, None), len(labels), lengths)


def tree_of_element(table: etree._Element, span: Callable[[str | None], int] = read_span) -> EditTree:
    """The tree of the HTML as it is given, as PubTabNet's reference builds it: cells are leaves.

    `colspan` and `rowspan` are read by `span`.
    """
    labels: list[str] = []
    leftmost: list[int] = []
    contents: list[Tokens | None] = []

    def visit(node: etree._Element) -> int:
        first = -1
        if node.tag == "td":
            label = f"td {span(node.get('colspan'))} {span(node.get('rowspan'))}"
            content: Tokens | None = _cell_tokens(node)
        else:
            label, content = str(node.tag), None
            for child in node:
                leaf = visit(child)
                first = leaf if first < 0 else first
        leftmost.append(len(labels) if first < 0 else first)
        labels.append(label)
        contents.append(content)
        return leftmost[-1]

    visit(table)
    n_elements = sum(1 for _ in table.iterdescendants())
    are_rows = all(row.tag == "tr" and all(cell.tag == "td" for cell in row) for row in table)
    lengths = tuple(map(len, table)) if are_rows else None
    return EditTree(tuple(labels), tuple(leftmost), tuple(contents), n_elements, lengths)


def reference_table(document: str) -> Any:
    """The first `body/table` of an HTML document as TEDS' reference code reads it; None without one."""
    for literal in ("<thead>", "</thead>", "<tbody>", "</tbody>"):
        document = document.replace(literal, "")
    parser = html.HTMLParser(remove_comments=True, encoding="utf-8")
    return next(iter(html.fromstring(document, parser=parser).findall("body/table")), None)


def reference_tree(table: etree._Element) -> EditTree:
    """A table's tree with spans of any size; its elements are counted without processing instructions."""
    # A span that is no number is an error upstream.
    tree = tree_of_element(table, lambda value: 1 if value is None else int(value))
    spans = [int(n) for label in tree.labels if label.startswith("td ") for n in label.split()[1:]]
    usual = all(0 < span < 2**31 for span in spans)
    n_elements = len(table.xpath(".//*"))  # type: ignore[arg-type]
    return replace(tree, n_elements=n_elements, row_lengths=tree.row_lengths if usual else None)


def _span_code(label: str) -> int:
    _, colspan, rowspan = label.split()
    return 0 if colspan == rowspan == "1" else int(colspan) << 32 | int(rowspan)


def _encode(content: Tokens, codes: Mapping[str, str]) -> str:
    return content if isinstance(content, str) else "".join(codes.get(token, token) for token in content)


def _cell_tokens(cell: etree._Element) -> Tokens:
    if len(cell) == 0:
        return cell.text or ""
    tokens: list[str] = []
    _add_tokens_inside(cell, tokens)
    return tuple(tokens)


def _add_tokens_inside(node: etree._Element, tokens: list[str]) -> None:
    tokens += node.text or ""
    for child in node:
        tokens.append(f"<{child.tag}>")
        _add_tokens_inside(child, tokens)
        tokens += [] if child.tag == "unk" else [f"</{child.tag}>"]
        tokens += "" if child.tag == "td" else child.tail or ""


def edit_distance(a: EditTree, b: EditTree, structure_only: bool) -> float:
    """Tree edit distance of two tables."""
    codes = b.tag_codes
    if a.tag_codes and codes and not structure_only:
        codes = extend_tag_codes(a.tag_codes, set(codes))
    as_rows = a.row_lengths is not None and b.row_lengths is not None
    distance = kernel.row_tree_distance if as_rows else kernel.ordered_tree_distance
    return float(distance(a.prepared(a.tag_codes, as_rows), b.prepared(codes, as_rows), structure_only))


def plain_tree(table: TableInput) -> EditTree:
    """The tree of table, tr and td alone."""
    return tree_of_rows(table.lossless_rows)


def html_tree(table: TableInput) -> EditTree:
    """The tree of the HTML as it is given; of a table that is not HTML, the plain tree."""
    return table.derive(plain_tree) if table.element is None else tree_of_element(table.element)
