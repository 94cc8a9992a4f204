"""Rules of values in tables: points of charts under their labels, and cells with their neighbours."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from parsemark_boards.parsebench.content import Rule, WrongRuleError
from parsemark_boards.parsebench.grids import (
    HeadedGrid,
    OriginCell,
    ResolvedGrid,
    filled,
    html_grids,
    pipe_grids,
    resolved_grids,
    soup_of,
)
from parsemark_boards.parsebench.text import EMPTY_LIKE, is_september, norm, number, partial, ratio

_CONTEXT = (
    (r"^#{1,6}\s+(.+?)$", re.M),
    (r"\*\*(.+?)\*\*", 0),
    (r"<h[1-6][^>]*>(.+?)</h[1-6]>", re.I),
    (r"<(?:strong|b)[^>]*>(.+?)</(?:strong|b)>", re.I),
)


def _theta(text: str, most: float) -> float:
    return max(0.5, 1 - most / max(len(text), 1))


def _bare(text: str) -> str:
    return re.sub("[^a-z0-9]", "", text)


def _readings(text: str) -> list[float]:
    """Return the numbers that a text may be, with its commas as thousands or as decimals."""
    is_decimal = "," in text and not (is_september() and re.search(r",\s", text))
    texts = [text, text.replace(",", ".")] if is_decimal else [text]
    return [value for own in texts if (value := number(own)) is not None]


def same_number(a: str, b: str, tolerance: float) -> bool:
    """Return whether two texts can be read as numbers that are nearly equal."""
    for x in _readings(a):
        for y in _readings(b):
            if x == 0 or y == 0:
                if x == y or abs(x - y) < tolerance:
                    return True
            elif abs(x - y) / max(abs(x), abs(y)) <= tolerance:
                return True
    return False


def decide_point(rule: Rule, markdown: str) -> bool:
    """Return whether a value stands under, beside or below all its labels."""
    value = norm(str(rule.get("value", "")))
    labels = [norm(re.sub(r"<br\s*/?>", " ", str(label))) for label in rule.get("labels") or ()]
    if not value or not labels:
        raise WrongRuleError("there is no value or no label")
    most = rule.get("max_diffs") or 0
    tolerance = rule.get("relative_tolerance", 0.01) if rule.get("normalize_numbers", True) else None

    grids = [*pipe_grids(markdown), *html_grids(markdown)]
    if is_september():
        return any(_PointGrid(grid, most).has(value, labels, tolerance) for grid in grids)

    def hits(label: str, text: str) -> bool:
        bare = _bare(label)
        return partial(label, text) >= _theta(label, most) or (bool(bare) and bare in _bare(text))

    for grid in grids:
        cells = [[norm(cell) for cell in row] for row in grid.data]
        places = _value_cells(cells, value, _theta(value, most), tolerance)
        if any(all(_labelled(label, grid, cells, place, hits) for label in labels) for place in places):
            return True
    return False


def _numbers(text: str) -> list[str]:
    return re.findall(r"[-+]?\d(?:,\d{3}|\d)*\.?\d*%?", text)


def _words(text: str) -> list[str]:
    return [_bare(word) for word in re.findall(r"[a-z0-9]+(?:\.[a-z0-9]+)*", text)]


class _PointGrid:
    """A table in which a value must stand under, beside or below its labels, by the rules of September."""

    def __init__(self, grid: HeadedGrid, most: float) -> None:
        self.grid, self.most = grid, most
        self.cells = [[norm(cell) for cell in row] for row in grid.data]

    def has(self, value: str, labels: Sequence[str], tolerance: float | None) -> bool:
        """Return whether a cell with the value has all the labels."""
        places = _value_cells(self.cells, value, _theta(value, self.most), tolerance)
        if not places:
            return False
        if not self.grid.header_cells and not self.grid.header_rows:
            scopes = ([*self.scope(place), *self._column(place)] for place in places)
            if sum(all(any(self._hits(own, t) for t in scope) for own in labels) for scope in scopes) == 1:
                return True
        return any(
            all(self._in_context(own) for own in labels if not self._is_labelled(own, scope))
            for scope in map(self.scope, places)
        )

    def _column(self, place: tuple[int, int]) -> list[str]:
        return [row[place[1]] for r, row in enumerate(self.cells) if r != place[0] and row[place[1]]]

    def _is_labelled(self, label: str, scope: Sequence[str]) -> bool:
        years = {label} if re.fullmatch(r"\d{2}", label) else set()
        return any(
            self._hits(label, text)
            or (
                years
                and any(re.fullmatch(r"(?:19|20)\d{2}", w) and w[-2:] in years for w in _year_words(text))
            )
            for text in scope
        )

    def _hits(self, label: str, text: str, *, whole: bool = False) -> bool:
        label, text = norm(label), norm(text)
        a, b = _bare(label), _bare(text)
        if label == text or (a and a == b):
            return True
        if whole:
            return False
        if min(len(a), len(b)) < 3:
            words, own = _words(text), _words(label)
            runs = (words[k : k + len(own)] for k in range(len(words) - len(own) + 1))
            return (re.search("[a-z]", a) is not None and a in words) or (len(own) > 1 and own in runs)
        return partial(label, text) >= _theta(label, self.most) or a in b

    def scope(self, place: tuple[int, int]) -> list[str]:
        """Return the texts that belong to a cell: of its row, its headers and its part of the body."""
        (r, c), grid = place, self.grid
        found = [text for x, text in enumerate(self.cells[r]) if x != c and (r, x) not in grid.header_cells]
        heads = self._header_rows(r)
        entries = [(y, norm(text)) for y, text in grid.col_headers.get(c, ()) if y in heads]
        found += [norm(text) for _, text in grid.row_headers.get(r, ())] + [text for _, text in entries]
        bare = sorted(heads - {y for y, _ in entries})
        found += [self.cells[y][c] for y in bare if (y, c) not in grid.header_cells]
        return list(dict.fromkeys(text for text in [*found, *self._section(r, c)] if text))

    def _header_rows(self, row: int) -> set[int]:
        """Return the rows above a row that were written as headers of columns."""
        grid, feet = self.grid, self.grid.section("tfoot")
        scoped = {r for r in grid.column_scope_rows if r < row and r not in feet}
        if heads := {r for r in grid.section("thead") if r < row}:
            top = last = max(heads)
            while top - 1 in heads:
                top -= 1
            return set(range(top, last + 1)) | scoped
        if grid.section("thead"):
            return scoped
        if not grid.header_cells:
            return {r for r in grid.header_rows if r < row}
        for r in range(row):
            cells = [text.strip() for text in grid.data[r]]
            if r in grid.section("tbody") or r in feet or r in grid.row_scope_rows:
                break
            named = [c for c in range(len(cells)) if (r, c) in grid.header_cells]
            if not named and (not any(cells) or (len(cells) > 1 and all(cells) and len(set(cells)) == 1)):
                continue
            if not named or any(text and (r, c) not in grid.header_cells for c, text in enumerate(cells)):
                break
            scoped.add(r)
        return scoped

    def _section(self, row: int, col: int) -> list[str]:
        """Return the title of a part of the body and the header repeated below it, if both stand above."""
        body, header = self.grid.section("tbody"), ""
        for r in range(row - 1, -1, -1) if row in body else ():
            if r not in body:
                break
            texts = [text for text in self.cells[r] if text]
            if not texts or any(map(_numbers, texts)):
                continue
            if not header:
                header = self.cells[r][col] if not self.cells[r][0] else ""
            elif len(set(texts)) == 1:
                return [texts[0], header]
        return []

    def _in_context(self, label: str) -> bool:
        """Return whether a label that is not beside the value stands in the text before the table."""
        context = self.grid.context.strip()
        if not context:
            return False
        titles = re.findall(r"<caption[^>]*>(.+?)</caption>", context, re.I)
        titles += re.findall(r"^#{1,6}\s+(.+?)$", context, re.M)
        titles += re.findall(r"<h[1-6][^>]*>(.+?)</h[1-6]>", context, re.I | re.S)
        if any(self._hits(label, title) for title in titles):
            return True
        headers = [
            text
            for own in (self.grid.col_headers, self.grid.row_headers)
            for h in own.values()
            for _, text in h
        ]
        if any(self._hits(label, text) for text in [*headers, *(text for row in self.cells for text in row)]):
            return False
        said = [norm(raw) for pattern, flags in _CONTEXT for raw in re.findall(pattern, context, flags)]
        return any(self._is_near(label, own) for own in said)

    def _is_near(self, label: str, text: str) -> bool:
        a, b = _bare(label), _bare(text)
        is_long = min(len(a), len(b)) >= 3
        return self._hits(label, text, whole=True) or (
            is_long and max(ratio(label, text), ratio(a, b)) >= 0.6
        )


def _year_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:\.[a-z0-9]+)*", norm(text))


def _value_cells(
    cells: Sequence[Sequence[str]], value: str, theta: float, tolerance: float | None
) -> list[tuple[int, int]]:
    def same(a: str, b: str) -> bool:
        return tolerance is not None and same_number(a, b, tolerance)

    places = [(r, c) for r, row in enumerate(cells) for c in range(len(row))]
    parts = _numbers(value)
    if is_september() and tolerance is not None and parts:
        found = []
        for r, c in places:
            inside = _numbers(cells[r][c])
            if same(value, cells[r][c]) or (len(inside) == 1 and same(value, inside[0])):
                found.append((r, c))
    else:
        found = [(r, c) for r, c in places if ratio(value, cells[r][c]) >= theta or same(value, cells[r][c])]
    if found or tolerance is None or len(parts) < 2:
        return found
    runs = [(r, c, cells[r][c : c + len(parts)]) for r, c in places if c + len(parts) <= len(cells[r])]
    return [(r, c) for r, c, run in runs if all(map(same, parts, run))]


def _labelled(
    label: str,
    grid: HeadedGrid,
    cells: Sequence[Sequence[str]],
    place: tuple[int, int],
    hits: Callable[[str, str], bool],
) -> bool:
    r, c = place
    near = [text for x, text in enumerate(cells[r]) if x != c]
    near += [row[c] for y, row in enumerate(cells) if y != r]
    near += [norm(text) for _, text in [*grid.col_headers.get(c, ()), *grid.row_headers.get(r, ())]]
    if any(hits(label, text) for text in near):
        return True
    context = grid.context.strip()
    if not context:
        return False
    headers = [text for own in (grid.col_headers, grid.row_headers) for h in own.values() for _, text in h]
    everywhere = [text for row in cells for text in row] + [norm(text) for text in headers]
    if not any(hits(label, text) for text in everywhere):
        said = [norm(raw) for pattern, flags in _CONTEXT for raw in re.findall(pattern, context, flags)]
        if any(max(ratio(label, own), ratio(_bare(label), _bare(own))) >= 0.6 for own in said):
            return True
    titles = re.findall(r"<caption[^>]*>(.+?)</caption>", context, re.I)
    titles += re.findall(r"^#{1,6}\s+(.+?)$", context, re.M)
    return any(hits(label, norm(title)) for title in titles)


# --- arrays -------------------------------------------------------------------------------------------------


def _dates(text: str) -> set[str]:
    if found := re.fullmatch(r"(\d{4})-(\d{2})-\d{2} \d{2}:\d{2}:\d{2}", text):
        year, month = found[1], found[2]
        quarter = {f"q{(int(month) + 2) // 3}-{year}"} if month in ("01", "04", "07", "10") else set()
        return {year, f"{month}-{year}"} | quarter
    if found := re.fullmatch(r"(\d{1,2})-(\d{4})", text):
        number_of_month, year = int(found[1]), found[2]
        return {f"{number_of_month:02d}-{year}", year, f"q{(number_of_month + 2) // 3}-{year}"}
    return {text} if re.fullmatch(r"q[1-4]-\d{4}|\d{4}", text) else set()


def _number_likeness(expected: str, actual: str, *, divided: bool = False) -> float | None:
    wanted, found = _readings(expected), _readings(actual)
    if not wanted or not found:
        return None

    def likeness(e: float, a: float) -> float:
        return max(0.0, 1 - abs(e - a) / abs(e)) if e else float(abs(a) < 0.001)

    best = max(likeness(e, a) for e in wanted for a in found)
    if divided and best < 0.8:
        best = max(likeness(e / 10.0**k, a) for k in (0, 3, 6, 9, 12) for e in wanted for a in found)
    return best


def _label_likeness(expected: Any, actual: str) -> float:
    a, b = norm(str(expected)), norm(actual)
    if a == b or _dates(a) & _dates(b):
        return 1.0
    numeric = _number_likeness(a, b)
    if numeric is not None and numeric >= 0.8:
        return numeric
    share = min(len(a), len(b)) / max(len(a), len(b), 1)
    return 0.7 * ratio(a, b) + 0.3 * partial(a, b) * share


def _data_likeness(expected: Any, actual: str, numbers: bool) -> float:
    given = "" if expected is None else str(expected)
    if given.strip() in EMPTY_LIKE and (actual.strip() in EMPTY_LIKE or number(actual) == 0):
        return 1.0
    a, b = norm(given), norm(actual)
    if a == b or _dates(a) & _dates(b):
        return 1.0
    numeric = _number_likeness(a, b, divided=True) if numbers else None
    return ratio(a, b) if numeric is None else numeric


def decide_array(rule: Rule, markdown: str) -> tuple[bool, float]:
    """Return how well a table, either way round, has the labels or the values of a chart."""
    data: Sequence[Any] = rule.get("data") or []
    is_labels = rule["type"].endswith("labels")
    score, least, threshold = (_labels_score, 1, 1.0) if is_labels else (_values_score, 2, 0.995)
    if len(data) < least:
        raise WrongRuleError("there are no data")
    grids = [grid.data for grid in [*pipe_grids(markdown), *html_grids(markdown)]]
    turned = [[list(column) for column in zip(*rows, strict=True)] for rows in grids]
    fits = (rows for rows in grids + turned if rows and len(rows[0]) == len(data[0]))
    best = max((score(rule, data, rows) for rows in fits), default=0.0)
    return best >= threshold, best


def _labels_score(rule: Rule, data: Sequence[Sequence[Any]], rows: Sequence[Sequence[str]]) -> float:
    if rule.get("x_axis_shuffle"):
        return _greedy(data[0], rows[0], _label_likeness, least=-1.0) / len(data[0])
    return sum(map(_label_likeness, data[0], rows[0])) / len(data[0])


def _values_score(rule: Rule, data: Sequence[Sequence[Any]], rows: Sequence[Sequence[str]]) -> float:
    numbers = rule.get("normalize_numbers", True)
    wanted, found = data[1:], rows[1:]

    def line(expected: Sequence[Any], actual: Sequence[str]) -> float:
        return sum(_data_likeness(e, a, numbers) for e, a in zip(expected, actual, strict=False))

    def anywhere(expected: Sequence[Any], actual: Sequence[str]) -> float:
        return sum(max((_data_likeness(e, a, numbers) for a in actual), default=0.0) for e in expected)

    if rule.get("x_axis_shuffle"):
        a, b = ([list(column) for column in zip(*side, strict=False)] for side in (wanted, found))
        total = _greedy(a, b, anywhere if rule.get("y_axis_shuffle") else line)
    elif rule.get("y_axis_shuffle"):
        total = _greedy(wanted, found, line)
    else:
        total = sum(map(line, wanted, found))
    return total / (len(wanted) * len(wanted[0]))


def _greedy(
    wanted: Sequence[Any], found: Sequence[Any], score: Callable[[Any, Any], float], least: float = 0.0
) -> float:
    """Return the sum of what each is worth with the best of those that are left, where that is more than
    `least`.
    """
    free, total = list(found), 0.0
    for expected in wanted:
        scores = [score(expected, own) for own in free]
        if scores and max(scores) > least:
            best = max(range(len(free)), key=scores.__getitem__)
            total += scores[best]
            del free[best]
    return total


# --- cells with their neighbours ----------------------------------------------------------------------------

_CLOSE = 0.8
_STEPS = {
    "up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1), "above": (-1, 0), "below": (1, 0),
}  # fmt: skip


def _given(rule: Rule, *keys: str) -> list[str]:
    texts = [norm(str(rule.get(key) or "")) for key in keys]
    if not all(text.strip() for text in texts):
        raise WrongRuleError("a cell is blank")
    return texts


def asked_grids(rule: Rule, markdown: str) -> list[ResolvedGrid]:
    """Return the tables that a rule may speak of: the one that its anchors choose, or all."""
    grids = resolved_grids(markdown)
    anchors = [norm(str(anchor)) for anchor in rule.get("table_anchor_cells") or ()]
    if not anchors:
        return grids
    votes = Counter[int]()
    for anchor in anchors:
        having = [k for k, g in enumerate(grids) if any(ratio(anchor, c.text) >= _CLOSE for c in g.cells())]
        if len(having) == 1:
            votes[having[0]] += 1
    return [grids[max(votes, key=lambda k: (votes[k], -k))]] if votes else []


def _find(text: str, grids: Sequence[ResolvedGrid]) -> tuple[ResolvedGrid, OriginCell] | None:
    return max(_all_like(text, grids), key=lambda own: ratio(text, own[1].text), default=None)


def _all_like(text: str, grids: Sequence[ResolvedGrid]) -> Iterator[tuple[ResolvedGrid, OriginCell]]:
    return ((g, c) for g in grids for c in g.cells() if ratio(text, c.text) >= _CLOSE)


def _has_span(rule: Rule, kind: str, grids: Sequence[ResolvedGrid]) -> bool:
    expected = rule.get(f"expected_{kind}")
    if not isinstance(expected, int) or expected < 1:
        raise WrongRuleError("the span is not a positive number")
    found = _find(_given(rule, "cell")[0], grids)
    return found is not None and bool(getattr(found[1], kind) == expected)


def _in_one_line(rule: Rule, kind: str, grids: Sequence[ResolvedGrid]) -> bool:
    first, second = (_find(text, grids) for text in _given(rule, "cell_a", "cell_b"))
    if first is None or second is None or first[0] is not second[0]:
        return False
    a, b = first[1], second[1]
    if kind == "same_row":
        return a.row < b.row + b.rowspan and b.row < a.row + a.rowspan
    return a.col < b.col + b.colspan and b.col < a.col + a.colspan


def _has_nothing(rule: Rule, kind: str, grids: Sequence[ResolvedGrid]) -> bool:
    [text], (dy, dx) = _given(rule, "cell"), _STEPS[kind.removeprefix("no_")]
    found = next(_all_like(text, grids), None)
    if found is None:
        return False
    grid, cell = found
    beside = grid.at(cell.row + dy, cell.col + dx)  # of a span, upstream asks the span itself
    return beside is None or not beside.text.strip()


def _has_neighbour(rule: Rule, kind: str, grids: Sequence[ResolvedGrid]) -> bool:
    anchor, neighbour = _given(rule, "anchor_cell", "expected_neighbor")
    dy, dx = _STEPS[kind.removeprefix("adjacent_")]
    beside = [g.at(c.row + dy, c.col + dx) for g, c in _all_like(anchor, grids)]
    return any(own is not None and ratio(neighbour, own.text) >= _CLOSE for own in beside)


def _has_header(rule: Rule, kind: str, grids: Sequence[ResolvedGrid]) -> bool:
    data, header = _given(rule, "data_cell", "expected_header")
    side = "top" if kind == "top_header" else "left"
    places = _all_like(data, grids)
    return any(ratio(header, own.text) >= _CLOSE for g, c in places for own in _line(g, c, side))


def _line(grid: ResolvedGrid, cell: OriginCell, side: str) -> list[OriginCell]:
    """Return the cells above or left of one, each once."""
    above, left = ((row, cell.col) for row in range(cell.row)), ((cell.row, col) for col in range(cell.col))
    places = (grid.at(*place) for place in (above if side == "top" else left))
    return list(dict.fromkeys(own for own in places if own is not None))


def _has_chain(rule: Rule, _: str, grids: Sequence[ResolvedGrid]) -> bool:
    found = _find(_given(rule, "data_cell")[0], grids)
    if not rule.get("column_headers") and not rule.get("row_headers"):
        raise WrongRuleError("there are no headers")
    if found is None:
        return False
    for key, side in (("column_headers", "top"), ("row_headers", "left")):
        wanted = [norm(str(text)) for text in rule.get(key) or ()]
        texts = [own.text for own in _line(*found, side) if own.text.strip()]
        if wanted and (len(texts) != len(wanted) or min(map(ratio, wanted, texts)) < _CLOSE):
            return False
    return True


_MARKERS = frozenset(
    (
        *"xyn✓✔☑✅✗✘×•●∙○◉◦■□▪▫◼◻◆◇♦★☆→←↑↓▲▼+!",
        *(
            "yes",
            "no",
            "check",
            "checked",
            "selected",
            "expert knowledge",
            "good knowledge",
            "basic knowledge",
        ),
        *(
            name + end
            for name in ("green", "red", "yellow", "orange", "grey", "gray")
            for end in ("", " square")
        ),
    )
)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[\s*(?:icon|image)(?::[^\]]+)?\s*\]|<img\b[^>]*>", re.I | re.S)
_IMAGE_CELL, _LIST_CELL = "[image]", "[list]"


def decide_markers(rule: Rule, markdown: str) -> bool:
    """Return whether a table has marks in enough cells, rows and columns."""
    aliases = _MARKERS | {
        " ".join(html.unescape(alias).split()).casefold() for alias in rule.get("marker_aliases") or ()
    }
    least = [int(rule.get(f"min_{key}", n)) for key, n in _LEAST_MARKERS.items()]
    for grid in [*pipe_grids(markdown), *html_grids(_with_image_cells(markdown))]:
        places: dict[str, list[tuple[int, int]]] = {}
        for r, row in enumerate(grid.data):
            for c, cell in enumerate(row):
                if mark := _marker(cell, aliases, rule.get("allow_repeated_ocr_glyphs", True)):
                    places.setdefault(mark, []).append((r, c))
        sure = aliases | {_IMAGE_CELL, _LIST_CELL}
        found = [at for mark, own in places.items() if mark in sure or len(own) > 1 for at in own]
        counts = len(found), len({r for r, _ in found}), len({c for _, c in found})
        if all(n >= most for n, most in zip(counts, least, strict=True)):
            return True
    return False


_LEAST_MARKERS = {"count": 2, "distinct_rows": 2, "distinct_columns": 1}


def _with_image_cells(markdown: str) -> str:
    """Return a document in which cells with a picture say so."""
    if not re.search(r"<img\b[^>]*>", markdown, re.I):
        return markdown
    soup = soup_of(markdown)
    for cell in soup.find_all(["td", "th"]):
        if cell.find("img") is not None:
            cell.clear()
            cell.append(_IMAGE_CELL)
    return str(soup)


def _marker(cell: str, aliases: Collection[str], glyphs: bool) -> str | None:
    """Return the mark that a cell is; None if it is text."""
    raw = html.unescape(cell).strip()
    if _IMAGE.search(raw):
        return _IMAGE_CELL
    text = " ".join(re.sub("<[^>]+>", "", raw).split()).casefold()
    if not text or text in aliases:
        return text or None
    listed = [part.strip() for part in re.split("[,;/]", text)]
    if len(listed) > 1 and all(part in aliases for part in listed):
        return _LIST_CELL
    first, inside = text.split(maxsplit=1)[0], text[1:-1].strip()
    if first in aliases and all(unicodedata.category(sign)[0] in "PS" for sign in first):
        return first
    if text[0] + text[-1] in ("[]", "()", "{}") and inside in aliases:
        return inside
    is_glyph = len(text) <= 3 and not any(sign.isspace() or sign.isdigit() for sign in text)
    return text if glyphs and is_glyph and not text.isascii() else None


CELL_RULES: dict[str, Callable[[Rule, str, Sequence[ResolvedGrid]], bool]] = {
    "colspan|rowspan": _has_span,
    "same_.*": _in_one_line,
    "header_chain": _has_chain,
    "no_.*": _has_nothing,
    "adjacent_.*": _has_neighbour,
    "top_header|left_header": _has_header,
}
"""What decides rules of spans, lines, chains of headers and neighbours, by what follows `table_`."""


def decide_table(rule: Rule, markdown: str) -> bool:
    """Return whether a cell stands among its neighbours and under its headings."""
    cell, most = norm(str(rule.get("cell") or "")), rule.get("max_diffs") or 0

    def close(text: str, own: str) -> bool:
        return ratio(text, norm(own)) >= _theta(text, most)

    pipes = [] if rule.get("ignore_markdown_tables") else pipe_grids(markdown)
    for grid in [*pipes, *html_grids(markdown)]:
        places = [(r, c) for r, row in enumerate(grid.data) for c, own in enumerate(row) if close(cell, own)]
        if any(_fits(rule, grid, r, c, close) for r, c in places):
            return True
    return False


def _fits(rule: Rule, grid: HeadedGrid, r: int, c: int, close: Callable[[str, str], bool]) -> bool:
    data = grid.data
    for side in ("up", "down", "left", "right"):
        y, x = r + _STEPS[side][0], c + _STEPS[side][1]
        wanted = rule.get(side)
        if wanted and 0 <= y < len(data) and 0 <= x < grid.width and not close(norm(wanted), data[y][x]):
            return False
    top, left = [row[c] for row in data[:r]], data[r][:c]
    for key, headers, marked, line in (
        ("top_heading", grid.col_headers.get(c, []), grid.header_rows, top),
        ("left_heading", grid.row_headers.get(r, []), grid.header_cols, left),
    ):
        wanted = rule.get(key)
        texts = [text for _, text in headers] or [line[k] for k in sorted(marked) if k < len(line)]
        texts = texts or [text for text in line if text.strip()]
        if wanted and not any(close(norm(wanted), text) for text in texts):
            return False
    return True


class TablesValuesError(RuntimeError):
    """A rule of values that, where it is missed, crashes upstream's document."""


def _value_norm(text: Any) -> str:
    from unidecode import unidecode

    plain = re.sub(r"\s+", "", unidecode(str(text)).lower())
    found = re.search(r"-?\d{1,3}(?:,\d{3})*\.?\d*", plain)
    if found is None:
        return plain
    value = float(found[0].replace(",", ""))
    written = f"{value:g}"
    if "," in found[0] and value >= 1000:
        written = f"{value:,.10g}"
        written = written.rstrip("0").rstrip(".") if "." in written else written
    return plain[: found.start()] + written + plain[found.end() :]


def _variant(rows: Sequence[Any]) -> list[list[str]]:
    """Return a variant as a grid, a spanning text at each place that it covers."""
    places: dict[tuple[int, int], str] = {}
    for r, row in enumerate(rows):
        c = 0
        for cell in row["cells"]:
            while (r, c) in places:
                c += 1
            spans = [max(1, min(1000, int(cell.get(key) or 1))) for key in ("rowspan", "colspan")]
            text = _value_norm(cell.get("text", ""))
            places |= {(r + y, c + x): text for y in range(spans[0]) for x in range(spans[1])}
    return filled(places)


def decide_values(rule: Rule, markdown: str) -> bool:
    """Return whether a table has the values of a variant; raise TablesValuesError where one is close but not
    equal.
    """
    best, chosen = 0.0, None
    if not rule.get("table_variations"):
        raise WrongRuleError("there are no tables")
    for variant in rule["table_variations"]:
        wanted = _variant(variant["rows"])
        for grid in [*pipe_grids(markdown), *html_grids(markdown)]:
            found = [[_value_norm(cell) for cell in row] for row in grid.data]
            a, b = (Counter(cell for row in rows for cell in row if cell) for rows in (wanted, found))
            likeness = (a & b).total() / (a | b).total() if a or b else 0.0
            if likeness > best:
                best, chosen = likeness, (wanted, found)
    if chosen is None or best < rule.get("table_match_threshold", 0.8):
        return False
    pairs = [(x, y) for a, b in zip(*chosen, strict=False) for x, y in zip(a, b, strict=False)]
    share = sum(x == y for x, y in pairs) / len(pairs) if pairs else 0.0
    if share < rule.get("table_values_match_threshold", 0.9):
        raise TablesValuesError("the values differ")
    return True
