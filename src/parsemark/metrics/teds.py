"""TEDS: tree-edit-distance-based similarity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from lxml import etree, html

from parsemark.errors import FormatError
from parsemark.kernels import kernel
from parsemark.metrics.base import (
    MAX_CHARACTER_PAIRS,
    MAX_POSITION_PAIRS,
    MAX_TREE_PAIRS,
    Metadata,
    Metric,
    check_pairs,
)
from parsemark.metrics.table_input import AnyTable, RowCells, TableInput, as_input, as_truth, read_span


@dataclass(frozen=True)
class Teds(Metric[TableInput]):
    r"""Tree-edit-distance-based similarity: 1 − distance / size of the larger tree.

    A table is a tree. Inserting or deleting a node costs 1; renaming costs 1 if tag or spans differ,
    else, for cells, the Levenshtein distance of their contents over the longer length. The size is the
    number of elements below the root. The value can be negative (1 × 6 against 6 × 1: −1/12).

    Options:
        structure_only: Ignore what is written in the cells (TEDS-Struct).
        normalize: `soric` keeps only table, tr and td on both sides, as Soric et al. do: th becomes td, all
            other markup is unwrapped. `none` takes the HTML as it is given: thead, tbody and th are nodes,
            and markup inside of a cell is one token per tag and one element each in the size. So it is in
            the reference: a thousand empty `<i></i>` in a cell make the tree so large that nothing else
            counts (a table with one wrong cell of four rises from .833 to .999). `soric` knows no such ones.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference (PubTabNet's metric.py): it scores 0 where a table is not a direct
    child of body, divides by zero for two empty tables and fails on `colspan="2%"`; here the first table
    counts wherever it is, and spans are read as browsers read them. Where the reference has a value,
    `normalize=none` has the same, white space included. `soric` reads runs of white space as one space, as
    all of parsemark does; `TableInput(…, raw=True)` and `parsemark pairs --raw` keep it.

    >>> from parsemark.metrics import teds
    >>> teds("<table><tr><td>a</td><td>b</td></tr></table>", "<table><tr><td>a</td></tr></table>")
    0.6666666666666667
    >>> round(teds("| a | b |\n|---|---|\n| 1 | 20 |", "| a | b |\n|---|---|\n| 1 | 2 |"), 4)
    0.9167
    """

    name = "teds"
    metadata = Metadata(
        title="Tree-edit-distance-based similarity",
        range=(-1.0, 1.0),
        symmetric=True,
        citation="Zhong et al. 2020, Image-based table recognition (ECCV)",
        reference="PubTabNet metric.py",
        label="TEDS",
    )

    structure_only: bool = False
    normalize: Literal["soric", "none"] = "soric"

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        tree: Callable[[TableInput], Tree] = plain_tree if self.normalize == "soric" else html_tree
        a, b = truth.derive(tree), pred.derive(tree)
        if truth.is_absent or pred.is_absent or a.n_elements == b.n_elements == 0:
            return float(a.n_elements == b.n_elements)
        return tree_similarity(a, b, self.structure_only)


def tree_similarity(a: Tree, b: Tree, structure_only: bool) -> float:
    """Return 1 − edit distance over the larger number of elements; neither clamped nor defined without
    elements.
    """
    are_rows = a.row_lengths is not None and b.row_lengths is not None
    check_pairs("nodes", a.n_nodes, b.n_nodes, MAX_POSITION_PAIRS if are_rows else MAX_TREE_PAIRS)
    if not structure_only:
        check_pairs("characters", a.n_characters, b.n_characters, MAX_CHARACTER_PAIRS)
    return 1.0 - edit_distance(a, b, structure_only) / max(a.n_elements, b.n_elements)


def teds(truth: AnyTable, pred: AnyTable, *, structure_only: bool = False, normalize: str = "soric") -> float:
    """Return TEDS of two tables; see `Teds`.

    Raises:
        FormatError: A table cannot be read, or the two are too large to compare.
    """
    metric = Teds.from_options({"structure_only": structure_only, "normalize": normalize})
    return metric.compute(as_truth(truth), as_input(pred))


Tokens = str | tuple[str, ...]
"""The content of a cell: characters alone, or characters and tags (`<b>`, `</b>`) one by one."""

_FIRST_TAG_CODE = 0xD800
_MAX_TAGS = 2048
"""Tags are encoded as lone surrogates, which no parsed text can contain, so that a token is one character."""
_NO_CODES: Mapping[str, str] = {}


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

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.labels)

    @cached_property
    def tag_codes(self) -> Mapping[str, str]:
        """Return a character for each tag in the contents."""
        tags = {t for c in self.contents if isinstance(c, tuple) for t in c if len(t) > 1}
        return extend_tag_codes({}, tags)

    @cached_property
    def n_characters(self) -> int:
        """Return tokens of all contents."""
        return sum(len(c) for c in self.contents if c is not None)

    def prepared(self, codes: Mapping[str, str], as_rows: bool) -> Any:
        """Return the kernel's tree, with tags encoded by `codes`."""
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
        spans = (map(int, label.split()[1:]) for label, _ in cells)
        spanned = [0 if across == down == 1 else across << 32 | down for across, down in spans]
        return kernel.row_tree(self.row_lengths, spanned, [_encode(c, codes) for _, c in cells])


def extend_tag_codes(codes: Mapping[str, str], tags: set[str]) -> dict[str, str]:
    """Return `codes` with a character for each tag that has none yet."""
    extended = dict(codes)
    for tag in sorted(tags - extended.keys()):
        if len(extended) == _MAX_TAGS:
            raise FormatError(f"The cells have more than {_MAX_TAGS:,} different tags")
        extended[tag] = chr(_FIRST_TAG_CODE + len(extended))
    return extended


@dataclass(frozen=True)
class TableTree:
    """The tree table > tr > td of cells without markup."""

    cells: RowCells

    @property
    def n_elements(self) -> int:
        """Return elements below the root."""
        return len(self.cells.lengths) + len(self.cells.texts)

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return self.n_elements + 1

    @property
    def row_lengths(self) -> Sequence[int]:
        """Return the number of cells in each row."""
        return self.cells.lengths

    @property
    def tag_codes(self) -> Mapping[str, str]:
        """Return no codes: there are no tags in the contents."""
        return _NO_CODES

    @cached_property
    def n_characters(self) -> int:
        """Return characters of all cells."""
        return sum(map(len, self.cells.texts))

    def prepared(self, codes: Mapping[str, str], as_rows: bool) -> Any:
        """Return the kernel's tree."""
        return self._rows if as_rows else self.nodes.prepared(codes, as_rows=False)

    @cached_property
    def _rows(self) -> Any:
        labels = [0] * len(self.cells.texts)
        for index, (down, across) in self.cells.spans.items():
            labels[index] = across << 32 | down
        return kernel.row_tree(self.cells.lengths, labels, self.cells.texts)

    @cached_property
    def nodes(self) -> EditTree:
        """Return the same tree node by node."""
        labels: list[str] = []
        leftmost: list[int] = []
        contents: list[Tokens | None] = []
        for row in self.cells.rows():
            start = len(labels)
            for index in row:
                down, across = self.cells.spans.get(index, (1, 1))
                leftmost.append(len(labels))
                labels.append(f"td {across} {down}")
                contents.append(self.cells.texts[index])
            leftmost.append(start)
            labels.append("tr")
            contents.append(None)
        lengths = tuple(self.cells.lengths)
        return EditTree((*labels, "table"), (*leftmost, 0), (*contents, None), len(labels), lengths)


Tree = EditTree | TableTree


def tree_of_element(table: etree._Element, span: Callable[[str | None], int] = read_span) -> EditTree:
    """Return the tree of the HTML as it is given, as PubTabNet's reference builds it: cells are leaves.

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
    """Return the first `body/table` of an HTML document as TEDS' reference code reads it; None without
    one.
    """
    for literal in ("<thead>", "</thead>", "<tbody>", "</tbody>"):
        document = document.replace(literal, "")
    parser = html.HTMLParser(remove_comments=True, encoding="utf-8")
    return next(iter(html.fromstring(document, parser=parser).findall("body/table")), None)


def reference_tree(table: etree._Element) -> EditTree:
    """Return a table's tree with spans of any size; its elements are counted without processing
    instructions.
    """
    # A span that is no number is an error upstream.
    tree = tree_of_element(table, lambda value: 1 if value is None else int(value))
    spans = [int(n) for label in tree.labels if label.startswith("td ") for n in label.split()[1:]]
    usual = all(0 < span < 2**31 for span in spans)
    n_elements = sum(1 for _ in table.iterdescendants("*"))
    return replace(tree, n_elements=n_elements, row_lengths=tree.row_lengths if usual else None)


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


def edit_distance(a: Tree, b: Tree, structure_only: bool) -> float:
    """Return the tree edit distance of two tables."""
    codes = b.tag_codes
    if a.tag_codes and codes and not structure_only:
        codes = extend_tag_codes(a.tag_codes, set(codes))
    as_rows = a.row_lengths is not None and b.row_lengths is not None
    distance = kernel.row_tree_distance if as_rows else kernel.ordered_tree_distance
    return float(distance(a.prepared(a.tag_codes, as_rows), b.prepared(codes, as_rows), structure_only))


def plain_tree(table: TableInput) -> TableTree:
    """Return the tree of table, tr and td alone."""
    return TableTree(table.lossless_row_cells)


def html_tree(table: TableInput) -> Tree:
    """Return the tree of the HTML as it is given; of a table that is not HTML, the plain tree."""
    return table.derive(plain_tree) if table.element is None else tree_of_element(table.element)
