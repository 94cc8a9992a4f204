"""Writes a layout as LaTeX, in one of four styles of lines."""

from __future__ import annotations

from itertools import groupby

from parsemark.corpora.synthetic.looks import BOOKTABS, FULL, NONE, PARTIAL
from parsemark.corpora.synthetic.table_draft import Layout, Placed

_BEFORE = {
    (BOOKTABS, "section"): "\\midrule\n",
    (BOOKTABS, "total"): "\\midrule\n",
    (PARTIAL, "total"): "\\hline\n",
}
"""The rule before a row of the body, by the style of lines and the kind of the row; none before the first."""


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
    place = row - layout.draft.header_rows
    return _BEFORE.get((line, layout.draft.rows[place].kind), "") if place else ""


def _rule_after(layout: Layout, row: int, line: str) -> str:
    if line == FULL:
        return _hline(layout, row)
    following = layout.cells.get((row + 1, 0))
    ends_group = layout.draft.row_groups and following is not None and following.rowspan > 1
    return "\\addlinespace\n" if line == BOOKTABS and ends_group else ""


def _hline(layout: Layout, row: int) -> str:
    """A full line, or pieces of it that leave out the cells that go on in the next row."""
    going_on = [c for c in layout.cells.values() if c.row <= row < c.row + c.rowspan - 1]
    if not going_on:
        return "\\hline\n"
    open_cols = {col for c in going_on for col in range(c.col, c.col + c.colspan)}
    closed = (col for col in range(layout.draft.n_cols) if col not in open_cols)
    runs = (list(run) for _, run in groupby(enumerate(closed), key=lambda pair: pair[1] - pair[0]))
    return "".join(rf"\cline{{{run[0][1] + 1}-{run[-1][1] + 1}}}" for run in runs) + "\n"
