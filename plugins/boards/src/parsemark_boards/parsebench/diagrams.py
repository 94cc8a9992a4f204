"""Rules of diagrams since September 2026: Mermaid's sources as graphs, compared by labels and edges."""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from rapidfuzz import fuzz

from parsemark.errors import FormatError
from parsemark.metrics import MAX_LINE_PAIRS, check_pairs
from parsemark_boards.parsebench.content import Rule
from parsemark_boards.parsebench.text import check_markdown, norm

MAX_LINE = 2000  # characters of a line of a diagram; its patterns look back and forth
MAX_EDGES = 20_000
_BLOCK = re.compile(r"^([ \t]{0,3})(`{3,}|~{3,})[ \t]*mermaid\b[^\n]*\n(.*?)^\1\2[ \t]*$", re.M | re.S | re.I)
_TYPES = (
    ("flowchart|graph", "flowchart"), ("stateDiagram(?:-v2)?", "state"), ("sequenceDiagram", "sequence"),
    ("mindmap", "mindmap"), ("classDiagram(?:-v2)?", "class"), ("erDiagram", "er"), ("gantt", "gantt"),
    ("pie", "pie"), ("timeline", "timeline"), ("journey", "journey"), ("gitGraph", "gitgraph"),
    ("quadrantChart", "quadrant"), ("xychart(?:-beta)?", "xychart"), ("block(?:-beta)?", "block"),
    ("sankey(?:-beta)?", "sankey"), ("(?-i:C4(?:Context|Container|Component|Dynamic|Deployment))", "c4"),
    ("requirementDiagram", "requirement"), ("architecture(?:-beta)?", "architecture"),
    ("packet(?:-beta)?", "packet"), ("kanban", "kanban"),
)  # fmt: skip
_SAME_TYPES = {
    "graph": "flowchart",
    **dict.fromkeys(("statediagram", "statediagram-v2"), "state"),
    "sequencediagram": "sequence",
    "classdiagram": "class",
    "erdiagram": "er",
}


@dataclass(frozen=True)
class Edge:
    """A link between two nodes."""

    source: str
    target: str
    label: str = ""
    directed: bool = True
    both_ways: bool = False

    def links(self, source: str, target: str, *, backward: bool) -> bool:
        """Return whether it goes from one node to the other; against its direction only where that is
        allowed.
        """
        if (self.source, self.target) == (source, target):
            return True
        return (self.target, self.source) == (source, target) and (
            backward or not self.directed or self.both_ways
        )


@dataclass
class Graph:
    """A diagram: labels of its nodes, their groups, edges, and what could not be read."""

    kind: str
    direction: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    group_of: dict[str, str] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, node: str, label: str | None = None, group: str | None = None) -> None:
        """Add a node, or a label to one without."""
        if node not in self.labels:
            self.labels[node] = clean_label(label) if label else node.replace("_", " ")
            if group:
                self.group_of[node] = group
            return
        if label and self.labels[node] == node:
            self.labels[node] = clean_label(label)
        if group:
            self.group_of.setdefault(node, group)

    def link(self, edge: Edge) -> None:
        """Add an edge; FormatError for too many."""
        if len(self.edges) >= MAX_EDGES:
            raise FormatError(f"A diagram has more than {MAX_EDGES:,} edges")
        self.edges.append(edge)

    def unreadable(self, line: str) -> None:
        """Note a line that cannot be read."""
        self.errors.append(f"unreadable statement: {line[:60]!r}")


def clean_label(raw: str) -> str:
    """Return a label without quotes, tags, marks of Markdown and names of characters."""
    text = raw.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if len(text) >= 2 and text[0] == text[-1] == "`":
        text = text[1:-1]
    text = re.sub("<[^>]+>", " ", re.sub(r"<br\s*/?>", " ", text, flags=re.I)).replace("\\n", " ")
    text = html.unescape(re.sub(r"#(\w+);", lambda found: html.unescape(f"&{found[1]};"), text))
    return re.sub(r"\s+", " ", re.sub("[*_`]", "", text)).strip()


def parse_mermaid(source: str) -> Graph:
    """Return the graph of a source; one of a kind that is not read has no nodes."""
    kind = _kind_of(source)
    lines = source.splitlines()
    if lines and lines[0].strip() == "---":
        end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), -1)
        lines = lines[end + 1 :]
    kept = []
    for line in lines:
        if len(line) > MAX_LINE:
            raise FormatError(f"A line of a diagram has more than {MAX_LINE:,} characters")
        if not line.strip().startswith("%%"):
            comment = line.find("%%")
            kept.append((line[:comment] if comment > 0 else line).rstrip())
    graph = Graph(kind or "unknown")
    if kind is not None and kind in _READERS:
        _READERS[kind](kept, graph)
    elif kind is None:
        graph.errors.append("no recognised diagram header")
    return graph


def _kind_of(source: str) -> str | None:
    for line in source.splitlines():
        own = line.strip()
        if own and not own.startswith(("%%", "---")):
            return next((name for start, name in _TYPES if re.match(rf"(?i:{start})\b", own)), None)
    return None


# --- flowcharts ---------------------------------------------------------------------------------------------

_SHAPES = (
    ("(((", ")))"), ("((", "))"), ("([", "])"), ("[[", "]]"), ("[(", ")]"), ("[/", "/]"), ("[\\", "\\]"),
    ("{{", "}}"), ("@{", "}"), ("[", "]"), ("(", ")"), ("{", "}"), (">", "]"),
)  # fmt: skip
_NODE = re.compile(r"(?:(?!--|==|-\.|~~)[A-Za-z0-9_\-.:À-ÿ])+")
_TEXT_EDGE = re.compile(
    r"\s*(?P<left><)?(?:-{2,}|={2,}|-\.)\s*(?P<text>[^\n]+?)\s*(?:-{2,}|={2,}|\.-+|\.-*\.?-)(?P<right>[>xo])?"
)
_EDGE = re.compile(r"\s*(?P<left><)?(?P<body>={2,}[>xo]?|-{2,}[>xo]?|-\.+-[>xo]?|~{3,})")
_DIRECTIONS = "TB|TD|BT|LR|RL"
_STYLES = ("classDef", "class ", "style ", "linkStyle", "click ", "direction ", "accTitle", "accDescr")


def _read_flowchart(lines: Sequence[str], graph: Graph) -> None:
    stack: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        rest = line
        if graph.direction is None:
            if found := re.match(rf"^(?:flowchart|graph)\b\s*({_DIRECTIONS})?\s*;?\s*$", line, re.I):
                graph.direction = (found[1] or "TB").upper()
                continue
            if found := re.match(rf"^(?:flowchart|graph)\s+({_DIRECTIONS})\s*;?\s*(.*)$", line, re.I):
                graph.direction, rest = found[1].upper(), found[2].strip()
        for statement in _statements(rest):
            if statement.startswith(_STYLES):
                continue
            if found := re.match(r"^subgraph\s+(.+)$", statement, re.I):
                name = found[1].strip()
                named = re.match(r"^([\w\-.]+)\s*\[(.*)\]\s*$", name)
                title = clean_label(named[2] if named else name)
                stack.append(named[1] if named else title)
                graph.groups[stack[-1]] = title
            elif re.match(r"^end\b", statement, re.I):
                stack = stack[:-1]
            else:
                _read_statement(statement, graph, stack[-1] if stack else None)


def _statements(line: str) -> Iterator[str]:
    """Yield the parts between semicolons that stand in no quotes and no brackets."""
    part, depth, quote = "", 0, ""
    for sign in line:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[({":
            depth += 1
        elif sign in "])}":
            depth = max(0, depth - 1)
        elif sign == ";" and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
            continue
        part += sign
    if part.strip():
        yield part.strip()


def _read_statement(text: str, graph: Graph, group: str | None) -> None:
    left, at = _nodes(text, 0, graph, group)
    if not left:
        graph.unreadable(text)
    while left and at < len(text):
        edge, end, is_seen = _edge(text, at)
        if edge is None:
            if rest := text[at:].strip():
                graph.errors.append(f"trailing text in statement: {rest[:40]!r}")
            return
        right, at = _nodes(text, end, graph, group)
        if not right:
            graph.errors.append(f"edge without target: {text[:60]!r}")
        for source in left if is_seen else ():
            for target in right:
                graph.link(Edge(source, target, edge.label, edge.directed, edge.both_ways))
        left = right


def _nodes(text: str, at: int, graph: Graph, group: str | None) -> tuple[list[str], int]:
    """Read nodes with & between them."""
    nodes: list[str] = []
    while True:
        while at < len(text) and text[at] in " \t":
            at += 1
        node, at = _node(text, at, graph, group)
        if node is None:
            return nodes, at
        nodes.append(node)
        if not (joined := re.compile(r"\s*&\s*").match(text, at)):
            return nodes, at
        at = joined.end()


def _node(text: str, at: int, graph: Graph, group: str | None) -> tuple[str | None, int]:
    found = _NODE.match(text, at)
    if not found:
        return None, at
    node, at, label = found[0], found.end(), None
    shape = next((own for own in _SHAPES if text.startswith(own[0], at)), None)
    if shape:
        start = at + len(shape[0])
        closers = {"[/": ("/]", "\\]"), "[\\": ("\\]", "/]")}.get(shape[0], (shape[1],))
        end = _closer(text, start, closers)
        if end < 0:
            graph.errors.append(f"unclosed shape for node {node!r}")
            return None, len(text)
        label = text[start:end]
        if shape[0] == "@{":
            named = re.search(r"label\s*:\s*(\"[^\"]*\"|'[^']*'|[^,}]+)", label)
            label = named[1] if named else node
        at = end + len(shape[1])
    if text.startswith(":::", at):
        style = re.compile(r":::\s*[\w-]+").match(text, at)
        at = style.end() if style else at + 3
    graph.add(node, label, group)
    return node, at


def _closer(text: str, at: int, closers: Sequence[str]) -> int:
    """Return where a shape is closed, outside of quotes; -1 for nowhere."""
    quote = ""
    for place in range(at, len(text)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif any(text.startswith(own, place) for own in closers):
            return place
    return -1


def _edge(text: str, at: int) -> tuple[Edge | None, int, bool]:
    """Read an edge: itself without its ends, where it ends, and whether it can be seen."""
    found, label, body = _TEXT_EDGE.match(text, at), "", ""
    if found and not found["text"].lstrip().startswith(("-", "=", ">", "|", ".")):
        label, is_right = found["text"], bool(found["right"])
    else:
        found = _EDGE.match(text, at)
        if not found:
            return None, at, False
        body = found["body"]
        is_right = body[-1] in ">xo"
    at, is_left = found.end(), bool(found["left"])
    if named := re.compile(r"\s*\|([^|]*)\|").match(text, at):
        label, at = named[1], named.end()
    edge = Edge("", "", clean_label(label), is_right or is_left, is_left and is_right)
    return edge, at, not body.startswith("~")


# --- other kinds --------------------------------------------------------------------------------------------


def _read_state(lines: Sequence[str], graph: Graph) -> None:
    stack: list[str] = []
    n_ends = 0
    for line in filter(None, map(str.strip, lines)):
        group = stack[-1] if stack else None
        if re.match("stateDiagram", line, re.I) or line.startswith(
            ("direction", "note", "classDef", "class ")
        ):
            continue
        if found := re.match(r"state\s+(?:\"([^\"]+)\"\s+as\s+)?([\w.\-]+)\s*\{", line):
            graph.add(found[2], found[1])
            graph.groups[found[2]] = clean_label(found[1] or found[2])
            stack.append(found[2])
        elif line == "}":
            stack = stack[:-1]
        elif line in ("--", "---"):
            continue
        elif found := re.match(r"state\s+\"([^\"]+)\"\s+as\s+([\w.\-]+)", line):
            graph.add(found[2], found[1], group)
        elif found := re.match(r"(\[\*\]|[\w.\-]+)\s*-->\s*(\[\*\]|[\w.\-]+)\s*(?::\s*(.*))?$", line):
            ends = []
            for name in found.groups()[:2]:
                n_ends += name == "[*]"
                ends.append(f"[*]{n_ends}" if name == "[*]" else name)
                graph.add(ends[-1], "start/end" if name == "[*]" else None, group)
            graph.link(Edge(ends[0], ends[1], clean_label(found[3] or "")))
        elif not line.startswith("state ") and (found := re.match(r"([\w.\-]+)\s*:\s*(.+)$", line)):
            graph.add(found[1], None, group)
            graph.labels[found[1]] = clean_label(found[2])
        elif re.match(r"state\s+[\w.\-]+\s*(<<\w+>>)?$", line):
            graph.add(line.split()[1])
        else:
            graph.unreadable(line)


_BLOCKS = (
    r"(?:activate|deactivate|loop|alt|else|opt|par|and|critical|option|break|rect|end|note|autonumber|box|title"
    r"|links?)\b"
)


def _read_sequence(lines: Sequence[str], graph: Graph) -> None:
    for line in filter(None, map(str.strip, lines)):
        if re.match("sequenceDiagram", line, re.I) or re.match(_BLOCKS, line, re.I):
            continue
        if found := re.match(r"(?:participant|actor)\s+(\S+(?:\s+\S+)*?)(?:\s+as\s+(.+))?$", line, re.I):
            graph.add(found[1].strip(), (found[2] or found[1]).strip())
        elif found := re.match(r"([^-\s][^-]*?)\s*-{1,2}(?:>>|>|x|\)|\))?\s*([^:]+?)\s*(?::\s*(.*))?$", line):
            source, target = found[1].strip(), found[2].strip()
            graph.add(source)
            graph.add(target)
            graph.link(Edge(source, target, clean_label(found[3] or "")))
        else:
            graph.unreadable(line)


_MIND = re.compile(r"([\w\-.]+)?(?:\(\((.*)\)\)|\)(.*)\(|\((.*)\)|\[(.*)\]|\{\{(.*)\}\})?(.*)$")


def _read_mindmap(lines: Sequence[str], graph: Graph) -> None:
    stack: list[tuple[int, str]] = []
    for line in lines:
        own = line.strip()
        if not own or re.match(r"mindmap\b", own, re.I) or own.startswith(("::icon", ":::")):
            continue
        indent, found, node = len(line) - len(line.lstrip()), _MIND.match(own), f"m{len(graph.labels) + 1}"
        label = ""
        if found:
            inside = [part for part in found.groups()[1:6] if part is not None]
            label = inside[0] if inside else (found[1] or "") + (found[7] or "")
        graph.add(node, label or own)
        while stack and stack[-1][0] >= indent:
            stack.pop()
        if stack:
            graph.link(Edge(stack[-1][1], node))
        stack.append((indent, node))


_RELATION = r"<\|--|<\|\.\.|\*--|o--|-->|\.\.>|--\|>|\.\.\|>|--\*|--o|--|\.\.|<--|<\.\."
_BESIDE = ("note", "direction", "style", "classDef", "cssClass", "link", "click", "callback")


def _read_class(lines: Sequence[str], graph: Graph) -> None:
    depth = 0
    for line in filter(None, map(str.strip, lines)):
        if re.match("classDiagram", line, re.I):
            continue
        if depth:
            depth += line.count("{") - line.count("}")
        elif found := re.match(r"class\s+([\w.\-~]+)(?:\[\"([^\"]+)\"\])?\s*(\{)?", line):
            graph.add(found[1], found[2])
            depth = line.count("{") - line.count("}") if found[3] else 0
        elif found := re.match(rf"([\w.\-~]+)\s*({_RELATION})\s*([\w.\-~]+)\s*(?::\s*(.*))?$", line):
            graph.add(found[1])
            graph.add(found[3])
            label = clean_label(found[4] or "")
            if found[2].startswith("<"):
                graph.link(Edge(found[3], found[1], label))
            else:
                graph.link(Edge(found[1], found[3], label, found[2].endswith((">", "*", "o"))))
        elif (":" not in line or line.startswith("note")) and not line.startswith(_BESIDE):
            graph.unreadable(line)


def _read_er(lines: Sequence[str], graph: Graph) -> None:
    depth = 0
    for line in filter(None, map(str.strip, lines)):
        if re.match("erDiagram", line, re.I):
            continue
        if depth:
            depth += line.count("{") - line.count("}")
        elif found := re.match(r"([\w\-]+)\s+[|}{o]+[-.]+[|}{o]+\s+([\w\-]+)\s*:\s*(.*)$", line):
            graph.add(found[1])
            graph.add(found[2])
            graph.link(Edge(found[1], found[2], clean_label(found[3]), directed=False))
        elif found := re.match(r"([\w\-]+)\s*(\{)?", line):
            graph.add(found[1])
            depth = 1 if found[2] else 0
        else:
            graph.unreadable(line)


_READERS: Mapping[str, Callable[[Sequence[str], Graph], None]] = {
    "flowchart": _read_flowchart,
    "state": _read_state,
    "sequence": _read_sequence,
    "mindmap": _read_mindmap,
    "class": _read_class,
    "er": _read_er,
}


# --- comparison ---------------------------------------------------------------------------------------------


def label_likeness(a: str, b: str) -> float:
    """Return how alike two labels are, 0 to 100; short ones are equal or not."""
    a, b = (re.sub(r"\s+", " ", re.sub(r"[^\w\s%/&+-]", " ", norm(own).lower())).strip() for own in (a, b))
    if not a or not b:
        return 0.0
    if a == b:
        return 100.0
    shorter = min(a, b, key=len)
    if len(shorter) <= 5 and len(shorter.split()) == 1:
        return 100.0 if a.split() == b.split() else 40.0
    scores = [fuzz.token_set_ratio(a, b)]
    if len(shorter) >= 8 and len(shorter.split()) >= 2:
        scores.append(fuzz.partial_ratio(a, b))
    close = a.replace(" ", ""), b.replace(" ", "")
    if min(map(len, close)) >= 8:
        scores.append(fuzz.ratio(*close))
    return float(max(scores))


def _page(rule: Rule, markdown: str) -> str:
    pages, number = check_markdown(markdown).split("\f"), rule.get("page")
    is_one = isinstance(number, int) and len(pages) > 1 and 1 <= number <= len(pages)
    return pages[int(number or 1) - 1] if is_one else markdown


def _graphs(page: str) -> list[tuple[int, Graph]]:
    """Return the diagrams of a page and where they begin."""
    return [(found.start(), parse_mermaid(found[3].strip("\n"))) for found in _BLOCK.finditer(page)]


def true_graph(data: Mapping[str, Any]) -> Graph:
    """Return the graph that a rule asks for."""
    graph = Graph(str(data.get("type") or "flowchart"))
    for node in data.get("nodes") or ():
        graph.add(str(node["id"]), str(node.get("label") or node["id"]))
    for own in data.get("edges") or ():
        label, ends = clean_label(str(own.get("label") or "")), (str(own["from"]), str(own["to"]))
        directed, both_ways = bool(own.get("directed", True)), bool(own.get("bidirectional", False))
        graph.link(Edge(ends[0], ends[1], label, directed, both_ways))
    return graph


Pairs = Mapping[str, tuple[str, float]]  # nodes asked for to those found, and how alike they are


def _paired(wanted: Graph, found: Graph, least: float) -> Pairs:
    from scipy.optimize import linear_sum_assignment

    check_pairs("nodes", len(wanted.labels), len(found.labels), MAX_LINE_PAIRS // 10)
    if not wanted.labels or not found.labels:
        return {}
    values = np.array([[label_likeness(a, b) for b in found.labels.values()] for a in wanted.labels.values()])
    names, others = list(wanted.labels), list(found.labels)
    rows, columns = linear_sum_assignment(-values)
    return {
        names[i]: (others[j], round(float(values[i, j]), 1))
        for i, j in zip(rows, columns, strict=True)
        if values[i, j] >= least
    }


def _edge_f1(wanted: Graph, found: Graph, pairs: Pairs, least: float) -> float:
    check_pairs("edges", len(wanted.edges), len(found.edges), MAX_LINE_PAIRS)
    free, hits = list(found.edges), 0
    for edge in wanted.edges:
        if edge.source not in wanted.labels or edge.target not in wanted.labels:
            raise KeyError("an edge of the rule has no node at its end")
        if edge.source not in pairs or edge.target not in pairs:
            continue
        ends, backward = (pairs[edge.source][0], pairs[edge.target][0]), not edge.directed or edge.both_ways
        for at, own in enumerate(free):
            if own.links(*ends, backward=backward) and _same_label(edge.label, own.label, least):
                del free[at]
                hits += 1
                break
    recall = hits / len(wanted.edges) if wanted.edges else 1.0
    precision = hits / len(found.edges) if found.edges else float(not wanted.edges)
    return round(2 * precision * recall / (precision + recall), 4) if precision + recall else 0.0


def _same_label(wanted: str | None, found: str, least: float) -> bool:
    return not wanted or not found or label_likeness(wanted, found) >= least


def decide_graph(rule: Rule, markdown: str) -> tuple[bool, float]:
    """Return how well the best diagram of a page has the nodes and edges of one, and stands between its
    texts.
    """
    page, wanted = _page(rule, markdown), true_graph(rule.get("graph") or {})
    best: tuple[tuple[int, float], int, Graph, Pairs] | None = None
    for start, graph in _graphs(page):
        if graph.labels:
            pairs = _paired(wanted, graph, rule.get("node_match_threshold", 80))
            key = len(pairs), sum(likeness for _, likeness in pairs.values())
            if best is None or key > best[0]:
                best = key, start, graph, pairs
    if best is None:
        return False, 0.0
    _, start, graph, pairs = best
    accepted = {_canonical(str(name)) for name in rule.get("accepted_types", ["flowchart"])}
    is_type = _canonical(graph.kind) in accepted
    recall = len(pairs) / len(wanted.labels) if wanted.labels else 1.0
    precision = len(pairs) / len(graph.labels)
    nodes = round(2 * precision * recall / (precision + recall), 4) if precision + recall else 0.0
    has_nodes = recall >= rule.get("node_recall_threshold", 0.8)
    has_nodes = has_nodes and precision >= rule.get("node_precision_threshold", 0.7)
    edges = _edge_f1(wanted, graph, pairs, rule.get("edge_label_threshold", 70))
    axes = [(True, 1.0), (is_type, float(is_type)), (has_nodes, nodes)]
    axes.append((edges >= rule.get("edge_f1_threshold", 0.6), edges))
    is_between = _placed(page.lower(), start, rule)
    axes += [] if is_between is None else [(is_between, float(is_between))]
    return all(passed for passed, _ in axes), round(sum(score for _, score in axes) / len(axes), 4)


def _canonical(name: str) -> str:
    low = name.strip().lower()
    return _SAME_TYPES.get(low, low)


def _placed(page: str, start: int, rule: Rule) -> bool | None:
    """Return whether a diagram stands behind one text and before another; None if neither is found."""
    before, after = (
        [at for text in rule.get(key) or () if (at := _place(page, str(text))) is not None]
        for key in ("text_before", "text_after")
    )
    if not before and not after:
        return None
    return not (before and start < max(before)) and not (after and start > min(after))


def _place(page: str, text: str) -> int | None:
    query = re.sub(r"\s+", " ", text.strip().lower())
    if len(query) < 4:
        return None
    if (at := page.find(query)) >= 0:
        return at
    step = max(1, len(query) // 4)
    places = range(0, max(1, len(page) - len(query)), step)
    check_pairs("characters", len(places), len(query) ** 2, MAX_LINE_PAIRS * 10)
    scores = [SequenceMatcher(None, query, page[k : k + len(query)]).ratio() for k in places]
    best = max(range(len(scores)), key=scores.__getitem__)
    return places[best] if scores[best] >= 0.8 else None


def decide_edge(rule: Rule, markdown: str) -> bool:
    """Return whether two nodes of a diagram are linked, by an edge or a path, or are not."""
    relation, directed = rule.get("relation", "edge"), rule.get("directed", True)
    least, least_label = rule.get("node_match_threshold", 80), rule.get("edge_label_threshold", 70)
    for _, graph in _graphs(_page(rule, markdown)):
        ends = [_nearest(graph, str(rule[key]), least) for key in ("source", "target")]
        if not graph.labels:
            continue
        source, target = ends
        if source is None or target is None:
            if relation == "no_edge" and source != target:
                return True
            continue
        if relation == "path":
            holds = _has_path(graph, source, target, directed)
        else:
            label = rule.get("label") if relation == "edge" else None
            linked = (own for own in graph.edges if own.links(source, target, backward=not directed))
            holds = any(_same_label(label, own.label, least_label) for own in linked) == (relation == "edge")
        if holds:
            return True
    return False


def _nearest(graph: Graph, label: str, least: float) -> str | None:
    scores = {node: label_likeness(label, own) for node, own in graph.labels.items()}
    best = max(scores, key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] >= max(least, 1e-9) else None


def _has_path(graph: Graph, source: str, target: str, directed: bool) -> bool:
    following: dict[str, set[str]] = {}
    for edge in graph.edges:
        following.setdefault(edge.source, set()).add(edge.target)
        if not directed or not edge.directed or edge.both_ways:
            following.setdefault(edge.target, set()).add(edge.source)
    seen, todo = {source}, [source]
    while todo:
        new = following.get(todo.pop(), set()) - seen
        seen |= new
        todo += new
    return target in seen


def decide_count(rule: Rule, markdown: str) -> tuple[bool, float]:
    """Return whether a page has no more diagrams than it should, and only readable ones."""
    graphs = [graph for _, graph in _graphs(_page(rule, markdown))]
    readable = sum(bool(graph.labels) for graph in graphs)
    broken, wanted = len(graphs) - readable, max(0, int(rule.get("expected_count", 0)))
    extra = max(0, readable - wanted) if rule.get("strict", True) or not wanted else 0
    offending = broken + extra
    return not offending, round(max(0.0, 1 - offending / max(1, wanted + offending)), 4)
