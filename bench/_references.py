"""Straightforward implementations to compare with: TEDS with the apted package, GriTS in pure Python."""

import difflib
from typing import Any

import apted
from lxml import html
from rapidfuzz.distance import Levenshtein


class _Node:
    def __init__(self, tag: str, spans: tuple[int, int] | None, text: str) -> None:
        self.tag, self.spans, self.text = tag, spans, text
        self.children: list[_Node] = []


class _Costs(apted.Config):
    def rename(self, a: _Node, b: _Node) -> float:
        if a.tag != b.tag or a.spans != b.spans:
            return 1.0
        if a.tag == "td" and (a.text or b.text):
            return Levenshtein.distance(a.text, b.text) / max(len(a.text), len(b.text))
        return 0.0

    def children(self, node: _Node) -> list[_Node]:
        return node.children


def _node(element: Any) -> _Node:
    if element.tag == "td":
        return _Node(
            "td", (int(element.get("colspan", 1)), int(element.get("rowspan", 1))), element.text or ""
        )
    node = _Node(element.tag, None, "")
    node.children = [_node(child) for child in element]
    return node


def teds(truth: str, pred: str) -> float:
    """Return TEDS of two HTML tables without markup in cells."""
    trees = [html.fromstring(source).xpath("body/table")[0] for source in (truth, pred)]
    size = max(len(tree.xpath(".//*")) for tree in trees)
    return 1.0 - apted.APTED(_node(trees[0]), _node(trees[1]), _Costs()).compute_edit_distance() / size


Entry = tuple[str, tuple[int, int, int, int]]


def _grid(source: str) -> list[list[Entry]]:
    rows = html.fromstring(source).xpath("body/table")[0]
    return [[(cell.text_content().strip(), (0, 0, 1, 1)) for cell in row] for row in rows]


def _con(p: Entry, q: Entry) -> float:
    return difflib.SequenceMatcher(None, p[0], q[0]).ratio()


def _top(p: Entry, q: Entry) -> float:
    s, t = p[1], q[1]
    shared = max(0, min(s[2], t[2]) - max(s[0], t[0])) * max(0, min(s[3], t[3]) - max(s[1], t[1]))
    return shared / ((s[2] - s[0]) * (s[3] - s[1]) + (t[2] - t[0]) * (t[3] - t[1]) - shared)


def _align(rewards: list[list[float]]) -> tuple[float, list[tuple[int, int]]]:
    n, m = len(rewards), len(rewards[0])
    value = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            value[i + 1][j + 1] = max(value[i][j] + rewards[i][j], value[i][j + 1], value[i + 1][j])
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


def grits(truth: str, pred: str) -> tuple[float, float]:
    """Return GriTS top and con of two HTML tables without spans, each similarity computed once."""
    x, y = _grid(truth), _grid(pred)
    values = []
    for similarity in (_top, _con):
        known: dict[tuple[Entry, Entry], float] = {}

        def reward(line: Any, other: Any, similarity: Any = similarity, known: Any = known) -> float:
            rewards = []
            for p in line:
                for q in other:
                    if (p, q) not in known:
                        known[p, q] = similarity(p, q)
                rewards.append([known[p, q] for q in other])
            return _align(rewards)[0]

        rows = _align([[reward(r, s) for s in y] for r in x])[1]
        xt, yt = list(zip(*x, strict=True)), list(zip(*y, strict=True))
        cols = _align([[reward(r, s) for s in yt] for r in xt])[1]
        total = sum(known[x[r][c], y[s][d]] for r, s in rows for c, d in cols)
        values.append(2 * total / (len(x) * len(xt) + len(y) * len(yt)))
    return values[0], values[1]
