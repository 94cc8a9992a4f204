"""Tables of a document: GriTS of contents, matches of records, and their mean."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from statistics import fmean
from typing import Any

import numpy as np

from parsemark.kernels import kernel
from parsemark.metrics import MAX_DIFFLIB_PAIRS, MAX_LINE_PAIRS, MAX_POSITION_PAIRS, check_pairs
from parsemark_boards.parsebench.grids import HeadedGrid, html_grids, soup_of, span_of, table_slices
from parsemark_boards.parsebench.text import (
    EMPTY_LIKE,
    check_markdown,
    is_september,
    norm,
    norm_cell,
    norm_record,
    ratio,
    record_tail,
    same_cell,
)

_DASH_BETWEEN = re.compile(r"\s+[-‐‑‒–—―−]\s+")


@dataclass
class TrimmedTable:
    """A table without its titles, and what was found of its head."""

    grid: HeadedGrid
    head: list[int]  # rows of the head
    titles: list[int]  # those of them that are titles
    stripped: list[str]  # what its titles say
    keys: list[str] = field(default_factory=list)


Alignment = tuple[dict[int, int], float]  # true columns to predicted ones, and how alike their keys are
Align = Callable[[TrimmedTable, Sequence[str]], Alignment]  # one side, with these keys, with the other


def assignment(values: Any) -> list[tuple[int, int]]:
    """Return the rows and columns whose values have the largest sum, each at most once."""
    from scipy.optimize import linear_sum_assignment

    if not values.size:
        return []
    return [(int(a), int(b)) for a, b in zip(*linear_sum_assignment(-values), strict=True)]


# --- titles before tables -----------------------------------------------------------------------------------


def _width(row: Any) -> int:
    return sum(span_of(cell, "colspan") for cell in row.find_all(["td", "th"]))


def _lone_cell(row: Any) -> Any:
    """Return the only cell of a row, where it spans several columns."""
    cells = row.find_all(["td", "th"])
    return cells[0] if len(cells) == 1 and span_of(cells[0], "colspan") > 1 else None


def with_titles_inside(truth: str, pred: str) -> str:
    """Return a document whose titles before tables are put into them, where the truth has them inside."""
    titles = []
    for table in soup_of(truth).find_all("table"):
        row = table.find("tr")
        if row is not None and (title := _lone_cell(row)) is not None:
            following = row.find_next_sibling("tr")
            below = _width(following) if following is not None else 0
            text = title.get_text(strip=True)
            titles += [text] if text and span_of(title, "colspan") >= below else []
    if not titles:
        return pred
    soup, changed = soup_of(pred), False
    for table in soup.find_all("table"):
        row = table.find("tr")
        if row is None or _lone_cell(row) is not None:
            continue
        before = next((s for s in table.previous_siblings if s.name or str(s).strip()), None)
        if before is None:
            continue
        text = before.get_text(strip=True)
        width = max(map(_width, table.find_all("tr")))
        if width < 2 or max(ratio(norm(text), norm(title)) for title in titles) < 0.8:
            continue
        new, cell = soup.new_tag("tr"), soup.new_tag("th", colspan=str(width))
        cell.string = text
        new.append(cell)
        head = table.find("thead")
        if head is not None:
            head.insert(0, new)
        else:
            row.insert_before(new)
        before.extract()
        changed = True
    return soup.body.decode_contents() if changed else pred


# --- heads and titles ---------------------------------------------------------------------------------------


def normal_form(grid: HeadedGrid) -> HeadedGrid:
    """Return cells and headers through the normaliser of records; empty columns are dropped."""
    data = [[norm_record(cell) for cell in row] for row in grid.data]
    col_headers, row_headers = (
        {line: [(k, norm_record(text)) for k, text in own] for line, own in headers.items()}
        for headers in (grid.col_headers, grid.row_headers)
    )
    kept = [
        c
        for c in range(grid.width)
        if any(row[c] for row in data) or any(text for _, text in col_headers.get(c, ()))
    ]
    plain = replace(grid, data=data, col_headers=col_headers, row_headers=row_headers)
    return plain.part(range(len(data)), kept)


def _without_rows(grid: HeadedGrid, gone: set[int]) -> HeadedGrid:
    return grid.part([r for r in range(len(grid.data)) if r not in gone], range(grid.width))


def _entries(grid: HeadedGrid, row: int) -> dict[int, str]:
    """Return the header entries of a row, by column, the last one of each."""
    found = {}
    for c, own in grid.col_headers.items():
        for r, text in own:
            if r == row:
                found[c] = text.strip()
    return found


def _is_title(grid: HeadedGrid, row: int, head: Sequence[int]) -> bool:
    own = {c: text for c, text in _entries(grid, row).items() if text}
    if len(set(own.values())) != 1:
        return False
    filled = {r: {c for c, text in _entries(grid, r).items() if text} for r in head}
    target = set[int]().union(*(cols for r, cols in filled.items() if r != row)) or set[int]().union(
        *filled.values()
    )
    if not target or not (target - own.keys()) <= {min(target), max(target)}:
        return False
    return sum(bool(text.strip()) for _, text in grid.row_headers.get(row, ())) < len(own)


def trimmed(grid: HeadedGrid, cap: int) -> TrimmedTable:
    """Return a table without blank rows and titles at its top."""
    leading = next((r for r, row in enumerate(grid.data) if any(map(str.strip, row))), len(grid.data))
    grid = _without_rows(grid, set(range(leading)))
    plain = normal_form(grid)
    n_rows = len(plain.data)

    def is_plain(r: int) -> bool:
        return any(text and (r, c) not in plain.header_cells for c, text in enumerate(plain.data[r]))

    first = 0
    if cap > 0 and plain.width > 1:
        limit = min(plain.header_rows, default=n_rows)
        while first < min(limit, n_rows) and plain.data[first][0] and len(set(plain.data[first])) == 1:
            first += 1
        first = 0 if first == n_rows else first
    head = []
    label_columns = (
        {c for r, c in plain.header_cells if r < n_rows and is_plain(r)} if is_september() else set()
    )
    for r in range(first, n_rows):
        if r not in plain.header_rows or is_plain(r):
            break
        if label_columns and r not in plain.section("thead"):
            heads = ((c, text) for c, text in enumerate(plain.data[r]) if (r, c) in plain.header_cells)
            named = {c for c, text in heads if text.strip()}
            if named and named <= label_columns:
                break
        head.append(r)
    titles: list[int] = []
    at = 0
    while at < len(head) and len(titles) < min(len(head) - 1, cap) and _is_title(plain, head[at], head):
        titles.append(head[at])
        at += 1
        while at < len(head) and not _entries(plain, head[at]):
            at += 1
    gone, rest = {*range(first), *head[:at]}, head[at:]
    if len(rest) > 1 and _is_title(plain, rest[-1], head):
        titles.append(rest[-1])
    texts = [plain.data[r][0] for r in range(first)]
    texts += [next(text for text in _entries(plain, r).values() if text) for r in titles]
    new = {r: k for k, r in enumerate(r for r in range(n_rows) if r not in gone)}
    return TrimmedTable(
        _without_rows(grid, gone),
        [new[r] for r in head if r in new],
        [new[r] for r in titles if r in new],
        texts,
    )


# --- splitting ----------------------------------------------------------------------------------------------


def _split_options(grid: HeadedGrid) -> list[tuple[int, int]]:
    plain = normal_form(grid)
    head, n = trimmed(grid, 1).head, plain.width
    found = []
    if not head or n < 2:
        return []
    entries = [_entries(plain, r) for r in head]
    lines = [[record_tail(norm(own.get(c, ""))) for c in range(n)] for own in entries]

    def alike(a: Sequence[str], b: Sequence[str]) -> bool:
        same = sum(x == y or ratio(x.lower(), y.lower()) >= 0.9 for x, y in zip(a, b, strict=True))
        return same >= 0.8 * len(a)

    for period in (p for p in range(1, n // 2 + 1) if n % p == 0):
        starts = range(period, n, period)
        count = sum(all(alike(own[:period], own[k : k + period]) for k in starts) for own in lines)
        found += [(period, count)] if count else []
    return found


def _split(grid: HeadedGrid, period: int) -> list[HeadedGrid]:
    plain, parts = normal_form(grid), []
    for start in range(0, plain.width, period):
        inside = range(start, start + period)
        last = max((r for r, row in enumerate(plain.data) if any(row[c] for c in inside)), default=-1)
        own = plain.part(range(last + 1), inside)
        headers = {c - start: texts for c, texts in plain.col_headers.items() if c in inside}
        parts.append(replace(own, col_headers=headers, row_headers={}))
    return parts


def split_tables(pred: Sequence[HeadedGrid], n_truth: int) -> list[HeadedGrid]:
    """Return tables side by side that were merged into one, taken apart where that fits the number of
    truths.
    """
    options = [[(0, 0), *_split_options(grid)] for grid in pred]
    if prod(map(len, options)) > 256:
        return list(pred)
    widths = [normal_form(grid).width for grid in pred]

    def cost(choice: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
        n = sum(width // p if p else 1 for width, (p, _) in zip(widths, choice, strict=True))
        return abs(n - n_truth), -sum(count for _, count in choice), -sum(p for p, _ in choice)

    chosen = min(product(*options), key=cost)
    return [part for g, (p, _) in zip(pred, chosen, strict=True) for part in (_split(g, p) if p else [g])]


# --- GriTS --------------------------------------------------------------------------------------------------


def _text_grid(grid: HeadedGrid) -> Any:
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(norm_cell(cell), len(numbers)) for row in grid.data for cell in row]
    return kernel.text_grid(len(grid.data), grid.width, ids, list(numbers))


def _without_band(grid: HeadedGrid, caption: str) -> HeadedGrid:
    """Return a table without a first row that is one text over all columns, if the other side's caption is
    that text.
    """
    title = norm_cell(caption)
    if not title or len(grid.data) < 2 or grid.width < 2:
        return grid
    first = {norm_cell(cell) for cell in grid.data[0]}
    return replace(grid, data=grid.data[1:]) if first == {title} else grid


def grits_con(truth: HeadedGrid, pred: HeadedGrid) -> float:
    """Return GriTS of two tables' contents; far too unlike large ones are 0 unseen."""
    if is_september():
        truth = _without_band(truth, pred.caption)
        pred = _without_band(pred, truth.caption)
    sizes = [(len(truth.data), len(pred.data)), (truth.width, pred.width)]
    a, b = (sizes[0][side] * sizes[1][side] for side in (0, 1))
    if not a or not b:
        return 0.0
    if max(a, b) >= 2500 and any(max(pair) / min(pair) > 1.5 for pair in sizes):
        return 0.0
    check_pairs("grid positions", a, b, MAX_POSITION_PAIRS)
    for pair in sizes:
        check_pairs("lines", *pair, MAX_LINE_PAIRS)
    lengths = [sum(len(cell) for row in side.data for cell in row) for side in (truth, pred)]
    check_pairs("characters", lengths[0], lengths[1], MAX_DIFFLIB_PAIRS)
    total, _, _ = kernel.match_text_grids(_text_grid(truth), _text_grid(pred), "difflib")
    precision, recall = total / b, total / a
    return 2 * precision * recall / (precision + recall) if total > 0 else 0.0


# --- records ------------------------------------------------------------------------------------------------


def _is_synthetic(key: str) -> bool:
    return re.fullmatch(r"col_\d+(_\d+)?", key) is not None


def _numbered(keys: Sequence[str]) -> list[str]:
    counts, seen, found = Counter(keys), Counter[str](), []
    for key in keys:
        found.append(f"{key}_{seen[key]}" if counts[key] > 1 else key)
        seen[key] += 1
    return found


def _keys(grid: HeadedGrid, head: Sequence[int], titles: Sequence[int]) -> list[str]:
    keys = []
    for c in range(grid.width):
        own = [(r, t) for r, t in grid.col_headers.get(c, ()) if r in head and r not in titles and t.strip()]
        keys.append(" ".join(text for _, text in sorted(own, key=lambda entry: entry[0])) or f"col_{c}")
    return _numbered(keys)


def _bare_key(key: str) -> str:
    return _DASH_BETWEEN.sub(" ", key).lower()


def _aligned(truth: Sequence[str], pred: Sequence[str]) -> Alignment:
    def plain(key: str) -> bool:
        return key.strip() in EMPTY_LIKE or _is_synthetic(key)

    values = np.zeros((len(truth), len(pred)))
    for i, a in enumerate(truth):
        for j, b in enumerate(pred):
            if not plain(a) and not plain(b) and is_september() and same_cell(_bare_key(a), _bare_key(b)):
                values[i, j] = 1.0
            elif plain(a) == plain(b):
                values[i, j] = ratio(_bare_key(a), _bare_key(b))
    kept = {i: j for i, j in assignment(values) if values[i, j] >= 0.9}
    return kept, fmean(values[i, j] for i, j in kept.items()) if kept else 0.0


def _shortened(own: TrimmedTable, titles: Sequence[str], align: Align, found: Alignment) -> Alignment:
    """Try its keys without a title of the other side in front."""
    keys = own.keys
    for title in filter(None, titles):
        cut = [key.removeprefix(f"{title} ") for key in keys]
        if cut != keys and len((trial := align(own, cut))[0]) > len(found[0]):
            own.keys, found = cut, trial
    return found


def record_match(truth: TrimmedTable, pred: TrimmedTable) -> float:
    """Return the share of records that two tables have in common, cell by cell under aligned keys."""
    a, b = (replace(side, grid=normal_form(side.grid)) for side in (truth, pred))
    for side in (a, b):
        side.keys = _keys(side.grid, side.head, side.titles)
    check_pairs("columns", len(a.keys), len(b.keys), MAX_LINE_PAIRS)
    check_pairs("rows", len(a.grid.data), len(b.grid.data), MAX_LINE_PAIRS // 100)
    _recover(a, b)

    def align(own: TrimmedTable, keys: Sequence[str]) -> Alignment:
        return _aligned(keys, b.keys) if own is a else _aligned(a.keys, keys)

    found, fewest = _aligned(a.keys, b.keys), min(len(a.keys), len(b.keys))
    if fewest > 1 and len(found[0]) < fewest / 2:
        found = _shortened(b, a.stripped, align, _shortened(a, b.stripped, align, found))
    mapping, _ = _promoted(b, align, _promoted(a, align, found))
    records = [_records(side) for side in (a, b)]
    if not mapping or not records[0] or not records[1]:
        return 0.0
    total = len(a.keys) + len(b.keys) - len(mapping)
    common = [[sum(_same(g[i], p[j]) for i, j in mapping.items()) for p in records[1]] for g in records[0]]
    values = np.array(common) / total
    return float(sum(values[i, j] for i, j in assignment(values)) / max(map(len, records)))


def _same(a: str, b: str) -> bool:
    return a == b if not a or not b else same_cell(a, b, record_tail)


def _recover(a: TrimmedTable, b: TrimmedTable) -> None:
    """Take the first row of a table without a head for its head, or a head away, as the truth has it."""
    real = [key for key in a.keys if not _is_synthetic(key)]
    if real and all(map(_is_synthetic, b.keys)):
        row = next((r for r in range(len(b.grid.data)) if r not in b.head), None)
        values = [] if row is None else b.grid.data[row]
        if row is not None and any(ratio(v.lower(), k.lower()) >= 0.9 for v in values if v for k in real):
            b.keys = _numbered([value or f"col_{c}" for c, value in enumerate(values)])
            b.head = [*b.head, row]
    elif not real and not all(map(_is_synthetic, b.keys)):
        b.keys, b.head, b.titles, b.stripped = [f"col_{c}" for c in range(len(b.keys))], [], [], []


def _promoted(own: TrimmedTable, align: Align, found: Alignment) -> Alignment:
    """Try the row below the head as one more row of it."""
    row = max(own.head) + 1 if own.head else len(own.grid.data)
    if row >= len(own.grid.data) or len({v for v in own.grid.data[row] if v.strip()}) != 1:
        return found
    keys = _keys(own.grid, [*own.head, row], own.titles)
    trial = align(own, keys)
    if (len(trial[0]), trial[1]) <= (len(found[0]), found[1]):
        return found
    own.keys, own.head = keys, [*own.head, row]
    return trial


def _records(side: TrimmedTable) -> list[list[str]]:
    head = set(side.head)
    if len(side.head) > 1 and side.head[-1] in side.titles:
        head.discard(side.head[-1])
    rows = [row for r, row in enumerate(side.grid.data) if r not in head and any(map(str.strip, row))]
    return [["" if cell.strip() in EMPTY_LIKE else cell for cell in row] for row in rows]


# --- documents ----------------------------------------------------------------------------------------------


def table_metrics(
    truth: str,
    pred: str,
    *,
    allow_splitting_ambiguous_merged_tables: bool = False,
    trm_unsupported: bool = False,
    max_top_title_rows: int = 1,
) -> dict[str, Any]:
    """Return the measures of a document's tables, and which answers which; none where the truth has no HTML
    table.

    ValueError where a span is no number: upstream then drops the document. FormatError for tables too large.
    """
    if "<table" not in truth.lower():
        return {}
    pred = with_titles_inside(truth, check_markdown(pred)) if "<table" in pred.lower() else pred
    if "<table" not in pred.lower():
        return dict.fromkeys(("grits_con", "table_record_match", "grits_trm_composite"), 0.0)
    for cell in soup_of(pred).select("table td, table th"):
        span_of(cell, "colspan"), span_of(cell, "rowspan")  # upstream reads them all, also nested ones
    wanted = [html_grids(source)[0] for source in table_slices(truth)]
    found = [grid for source in table_slices(pred) for grid in html_grids(source)[:1]]
    if allow_splitting_ambiguous_merged_tables and len(wanted) > len(found):
        found = split_tables(found, len(wanted))
    sides = [[trimmed(grid, max_top_title_rows) for grid in side] for side in (wanted, found)]
    values = np.array([[grits_con(a.grid, b.grid) for b in sides[1]] for a in sides[0]])
    pairs = assignment(values)
    grits, records = [0.0] * len(wanted), [0.0] * len(wanted)
    for i, j in pairs:
        grits[i] = float(values[i, j])
        records[i] = record_match(sides[0][i], sides[1][j])
    con, trm = fmean(grits), fmean(records)
    return {
        "grits_con": con,
        "table_record_match": trm,
        "grits_trm_composite": con if trm_unsupported else (con + trm) / 2,
        "pairing": dict(pairs),
        "grits_per_table": grits,
        "trm_per_table": records,
    }
