"""Writes a layout as LaTeX, in one of four styles of lines."""

from __future__ import annotations

from collections.abc import Iterable

from parsemark.corpora.synthetic.looks import BOOKTABS, FULL, NONE, PARTIAL
from parsemark.corpora.synthetic.table_draft import Layout, Placed


def tabular(layout: Layout, line: str, width: float) -> str:
    """A tabular environment; columns of running text share the `width` of a column of the page."""
    head, body = _parts(layout, line)
    spec = column_spec(layout, line, width)
    return f"\\begin{{tabular}}{{{spec}}}\n{head}{body}\\end{{tabular}}"


def longtable(layout: Layout, line: str, width: float) -> str:
    """A longtable environment with a head that repeats on each page."""
    head, body = _parts(layout, line)
    spec = column_spec(layout, line, width)
    foot = {FULL: "\\hline\n", BOOKTABS: "\\bottomrule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    body = body.removesuffix(foot)
    return f"\\begin{{longtable}}{{{spec}}}\n{head}\\endhead\n{foot}\\endfoot\n{body}\\end{{longtable}}"


def column_spec(layout: Layout, line: str, width: float) -> str:
    """The argument of the environment."""
    texts = sum(a.startswith("p") for a in layout.draft.alignments)
    share = max(80.0, (width - 100) / max(texts, 1) * 0.9)
    columns = [_column(a, share) for a in layout.draft.alignments]
    if line == FULL:
        return "|" + "|".join(columns) + "|"
    if line == BOOKTABS:
        return "@{}" + "".join(columns) + "@{}"
    if line == PARTIAL:
        stub = len(layout.draft.stub)
        return "".join(columns[:stub]) + "|" + "".join(columns[stub:])
    return "".join(columns)


def _column(alignment: str, width: float) -> str:
    if alignment.startswith("p"):
        return (
            r">{\raggedright\hyphenpenalty10000\exhyphenpenalty10000\arraybackslash}" + f"p{{{width:.0f}bp}}"
        )
    return alignment


def _parts(layout: Layout, line: str) -> tuple[str, str]:
    """The header rows with their rules, and the body with its rules."""
    head_rows = layout.draft.header_rows
    head = {FULL: "\\hline\n", BOOKTABS: "\\toprule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    for row in range(head_rows):
        head += _row(layout, row, line) + _rule_in_head(layout, row, line)
    body = ""
    for row in range(head_rows, layout.n_rows):
        body += _rule_before(layout, row, line) + _row(layout, row, line) + _rule_after(layout, row, line)
    bottom = {FULL: "", BOOKTABS: "\\bottomrule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    return head, body + bottom


def _row(layout: Layout, row: int, line: str) -> str:
    parts = []
    col = 0
    while col < layout.draft.n_cols:
        cell = layout.cells.get((row, col))
        content = "" if cell is None else _cell(layout, cell, line)
        # a bracket at the start of a row would be the argument of the end of the row before
        parts.append(f"{{}}{content}" if col == 0 and content.startswith("[") else content)
        col += 1 if cell is None else cell.colspan
    return " & ".join(parts) + " \\\\\n"


def _cell(layout: Layout, cell: Placed, line: str) -> str:
    content = cell.piece.latex
    if cell.rowspan > 1:
        content = rf"\multirow{{{cell.rowspan}}}{{*}}{{{content}}}"
    if cell.colspan > 1:
        whole = cell.colspan == layout.draft.n_cols
        align = "l" if whole else "c"
        if line == FULL:
            align = f"|{align}|" if cell.col == 0 else f"{align}|"
        elif line == BOOKTABS and (whole or cell.col + cell.colspan == layout.draft.n_cols):
            align = f"@{{}}{align}@{{}}" if whole else f"{align}@{{}}"
        content = rf"\multicolumn{{{cell.colspan}}}{{{align}}}{{{content}}}"
    return content


def _rule_in_head(layout: Layout, row: int, line: str) -> str:
    last = row == layout.draft.header_rows - 1
    if line == FULL:
        return _hline(layout, row)
    if line == BOOKTABS:
        return "\\midrule\n" if last else _cmidrules(layout, row)
    return "\\hline\n" if line == PARTIAL and last else ""


def _cmidrules(layout: Layout, row: int) -> str:
    groups = [c for (r, _), c in sorted(layout.cells.items()) if r == row and c.colspan > 1]
    rules = "".join(rf"\cmidrule(lr){{{c.col + 1}-{c.col + c.colspan}}}" for c in groups)
    return f"{rules}\n" if rules else ""


def _rule_before(layout: Layout, row: int, line: str) -> str:
    item = layout.draft.rows[row - layout.draft.header_rows]
    first = row == layout.draft.header_rows
    if line == BOOKTABS and not first and item.kind in ("section", "total"):
        return "\\midrule\n"
    if line == PARTIAL and not first and item.kind == "total":
        return "\\hline\n"
    return ""


def _rule_after(layout: Layout, row: int, line: str) -> str:
    if line == FULL:
        return _hline(layout, row)
    ends_group = layout.draft.row_groups and row + 1 in _group_starts(layout)
    if line == BOOKTABS and ends_group and row + 1 < layout.n_rows:
        return "\\addlinespace\n"
    return ""


def _group_starts(layout: Layout) -> set[int]:
    return {r for (r, c), cell in layout.cells.items() if c == 0 and cell.rowspan > 1}


def _hline(layout: Layout, row: int) -> str:
    """A full line, or pieces of it that leave out the cells that go on in the next row."""
    open_cols = set(_open_below(layout.cells.values(), row))
    if not open_cols:
        return "\\hline\n"
    out, start = "", None
    for col in range(layout.draft.n_cols + 1):
        closed = col < layout.draft.n_cols and col not in open_cols
        if closed and start is None:
            start = col
        elif not closed and start is not None:
            out += rf"\cline{{{start + 1}-{col}}}"
            start = None
    return f"{out}\n"


def _open_below(cells: Iterable[Placed], row: int) -> Iterable[int]:
    for cell in cells:
        if cell.row <= row < cell.row + cell.rowspan - 1:
            yield from range(cell.col, cell.col + cell.colspan)
