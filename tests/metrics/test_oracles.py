"""Metrics against slow, obvious implementations of their definitions."""

import difflib
import math
from collections import Counter

import apted
import pytest
from hypothesis import given, settings
from lxml import html
from rapidfuzz.distance import Levenshtein

from parsemark.metrics import TableInput, get_metric, grits, teds
from parsemark.metrics.bags import folded_cells

from .table_examples import PLAIN, SPANNED, html_tables


class Node:
    """A node of the tree that PubTabNet's TEDS builds."""

    def __init__(self, tag: str, spans: tuple[int, int] | None, content: list[str] | None) -> None:
        self.tag, self.spans, self.content, self.children = tag, spans, content, []


class Costs(apted.Config):
    def rename(self, a: Node, b: Node) -> float:
        if a.tag != b.tag or a.spans != b.spans:
            return 1.0
        if a.tag == "td" and (a.content or b.content):
            return Levenshtein.distance(a.content, b.content) / max(len(a.content), len(b.content))
        return 0.0

    def children(self, node: Node) -> list[Node]:
        return node.children


def _tokens(node) -> list[str]:
    tokens = [f"<{node.tag}>", *(node.text or "")]
    for child in node:
        tokens += _tokens(child)
    return [*tokens, f"</{node.tag}>", *((node.tail or "") if node.tag != "td" else "")]


def _node(element) -> Node:
    if element.tag == "td":
        spans = int(element.get("colspan", 1)), int(element.get("rowspan", 1))
        return Node("td", spans, _tokens(element)[1:-1])
    node = Node(element.tag, None, None)
    node.children = [_node(child) for child in element]
    return node


def slow_teds(a: str, b: str) -> float:
    trees = [html.fromstring(f"<html><body>{x}</body></html>").xpath("body/table")[0] for x in (a, b)]
    size = max(len(tree.xpath(".//*")) for tree in trees)
    distance = apted.APTED(_node(trees[0]), _node(trees[1]), Costs()).compute_edit_distance()
    return 1.0 - distance / size


@settings(max_examples=60)
@given(a=html_tables(), b=html_tables())
def test_teds_is_apted(a: str, b: str) -> None:
    if "<tr" in a + b or "<thead" in a + b:
        assert teds(a, b, normalize="none") == pytest.approx(slow_teds(a, b), abs=1e-9)


@settings(max_examples=60)
@given(a=html_tables(), b=html_tables())
def test_default_teds_is_apted_on_clean_tables(a: str, b: str) -> None:
    cleaned = []
    for source in (a, b):
        root = html.fromstring(f"<div>{source}</div>")[0]
        for element in list(root.iterdescendants()):
            if element.tag == "th":
                element.tag = "td"
            elif element.tag not in ("tr", "td"):
                element.drop_tag()
        cleaned.append(html.tostring(root, encoding="unicode"))
    if all("<tr" in c for c in cleaned):
        assert teds(a, b) == pytest.approx(slow_teds(*cleaned), abs=1e-9)


def test_teds_can_be_negative() -> None:
    wide = "<table><tr>" + "<td>a</td>" * 6 + "</tr></table>"
    tall = "<table>" + "<tr><td>b</td></tr>" * 6 + "</table>"
    assert teds(wide, tall) == pytest.approx(-1 / 12)


def _grid(source: str) -> list[list[tuple[str, tuple[int, int, int, int]]]]:
    """Text and relative span at each position, by the words of the paper."""
    taken: dict[tuple[int, int], tuple[str, tuple[int, int, int, int]]] = {}
    row = -1
    for element in html.fromstring(f"<div>{source}</div>").iter("tr", "td", "th"):
        if element.tag == "tr":
            row += 1
            continue
        col = next(c for c in range(1000) if (row, c) not in taken)
        height, width = int(element.get("rowspan", 1)), int(element.get("colspan", 1))
        for r in range(row, row + height):
            for c in range(col, col + width):
                taken[r, c] = (
                    element.text_content().strip(),
                    (col - c, row - r, col + width - c, row + height - r),
                )
    n_rows, n_cols = (max((k[i] + 1 for k in taken), default=0) for i in (0, 1))
    return [[taken.get((r, c), ("", (0, 0, 1, 1))) for c in range(n_cols)] for r in range(n_rows)]


def _align(rewards: list[list[float]]) -> tuple[float, list[tuple[int, int]]]:
    n, m = len(rewards), len(rewards[0])
    value = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            value[i][j] = max(value[i - 1][j - 1] + rewards[i - 1][j - 1], value[i - 1][j], value[i][j - 1])
    pairs, i, j = [], n, m
    while i and j:
        if value[i][j] == value[i - 1][j - 1] + rewards[i - 1][j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif value[i][j] == value[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return value[n][m], pairs[::-1]


def slow_grits(a: str, b: str, similarity) -> float:
    x, y = _grid(a), _grid(b)
    if not x or not y:
        return float(x == y)
    rows = _align([[_align([[similarity(p, q) for q in s] for p in r])[0] for s in y] for r in x])[1]
    xt, yt = list(zip(*x, strict=True)), list(zip(*y, strict=True))
    cols = _align([[_align([[similarity(p, q) for q in s] for p in r])[0] for s in yt] for r in xt])[1]
    total = sum(similarity(x[r][c], y[s][d]) for r, s in rows for c, d in cols)
    return 2 * total / (len(x) * len(x[0]) + len(y) * len(y[0]))


def _con(p, q) -> float:
    return difflib.SequenceMatcher(None, p[0], q[0]).ratio()


def _top(p, q) -> float:
    s, t = p[1], q[1]
    width, height = min(s[2], t[2]) - max(s[0], t[0]), min(s[3], t[3]) - max(s[1], t[1])
    shared = max(0, width) * max(0, height)
    return shared / ((s[2] - s[0]) * (s[3] - s[1]) + (t[2] - t[0]) * (t[3] - t[1]) - shared)


@settings(max_examples=100)
@given(a=html_tables(), b=html_tables())
def test_grits_is_the_definition(a: str, b: str) -> None:
    top, con = grits(a, b)
    assert con == pytest.approx(slow_grits(a, b, _con), abs=1e-12)
    assert top == pytest.approx(slow_grits(a, b, _top), abs=1e-12)


def test_hull_and_union_differ() -> None:
    wide = '<table><tr><td colspan="2">a</td></tr></table>'
    tall = '<table><tr><td rowspan="2">a</td></tr></table>'
    assert grits(wide, tall, overlap="union").top == pytest.approx(1 / 3 / 2)
    assert grits(wide, tall, overlap="hull").top == pytest.approx(1 / 4 / 2)


def test_exact_content_is_a_true_lcs() -> None:
    truth, pred = (f"<table><tr><td>{x}</td></tr></table>" for x in ("a1b2c3ZZ", "ZZabc"))
    lcs = 3
    assert grits(truth, pred, mode="exact").con == pytest.approx(2 * lcs / 13)
    assert grits(truth, pred).con < grits(truth, pred, mode="exact").con


@settings(max_examples=60)
@given(a=html_tables(), b=html_tables())
def test_bags_by_brute_force(a: str, b: str) -> None:
    x, y = TableInput(a), TableInput(b)
    cells = [Counter(t for t in folded_cells(side) if t) for side in (x, y)]
    total = cells[0].total() + cells[1].total()
    expected = 2 * (cells[0] & cells[1]).total() / total if total else 1.0
    assert get_metric("cell_f1").compute(x, y) == pytest.approx(expected)


def test_cell_f1_folds_notation_but_not_meaning() -> None:
    table = "<table><tr><td>{}</td></tr></table>"
    same, different = ("10<sup>-3</sup>", r"$10^{-3}$"), ("10<sup>-3</sup>", "10<sup>3</sup>")
    metric = get_metric("cell_f1")
    assert metric.compute(*(TableInput(table.format(t)) for t in same)) == 1.0
    assert metric.compute(*(TableInput(table.format(t)) for t in different)) == 0.0


def test_adjacency_relations_by_hand() -> None:
    truth = '<table><tr><td colspan="2">h</td></tr><tr><td>a</td><td>b</td></tr></table>'
    pred = "<table><tr><td>h</td><td></td></tr><tr><td>a</td><td>b</td></tr></table>"
    # truth: h>a, h>b down, a>b right; pred: h>a down, a>b right
    assert get_metric("dar").compute(TableInput(truth), TableInput(pred)) == pytest.approx(2 * 2 / 5)


def test_bleu_by_hand() -> None:
    truth, pred = TableInput(PLAIN), TableInput(PLAIN.replace("2", "3"))
    tokens = 16
    expected = math.exp(
        sum(
            math.log(p)
            for p in (
                (tokens - 1) / tokens,
                (tokens - 1 - 2 + 1) / tokens,
                (tokens - 2 - 3 + 1) / (tokens - 1),
                (tokens - 3 - 3 + 1) / (tokens - 2),
            )
        )
        / 4
    )
    assert get_metric("bleu4").compute(truth, pred) == pytest.approx(expected)


def test_table_edit_ignores_headers_and_layout() -> None:
    metric = get_metric("table_edit")
    layout = SPANNED.replace("<tr>", '<tr style="x">\n  ').replace("th", "td").replace("<tdead>", "<thead>")
    assert (
        metric.compute(
            TableInput(SPANNED), TableInput(layout.replace("</tdead>", "</thead>").replace(' style="x"', ""))
        )
        == 0
    )
