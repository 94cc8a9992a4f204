"""Writes a layout as LaTeX, in one of four styles of lines."""

from itertools import groupby

from parsemark.corpora.synthetic.looks import BOOKTABS, FULL, NONE, PARTIAL
from parsemark.corpora.synthetic.table_draft import Layout, Placed

_ABOVE = {
    (BOOKTABS, "section"): "\\midrule\n",
    (BOOKTABS, "total"): "\\midrule\n",
    (PARTIAL, "total"): "\\hline\n",
}
"""The rule above a row of the body, by the style of lines and the kind of the row; none above the first."""
_TEXT_COLUMN = r">{\raggedright\hyphenpenalty10000\exhyphenpenalty10000\arraybackslash}"


def tabular(layout: Layout, line: str, width: float) -> str:
    """A tabular environment; columns of running text share the `width` of a column of the page."""
    spec, head, body = _parts(layout, line, width)
    return f"\\begin{{tabular}}{{{spec}}}\n{head}{body}\\end{{tabular}}"


def longtable(layout: Layout, line: str, width: float) -> str:
    """A longtable environment with a head that repeats on each page."""
    spec, head, body = _parts(layout, line, width)
    foot = {FULL: "\\hline\n", BOOKTABS: "\\bottomrule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    body = body.removesuffix(foot)
    return f"\\begin{{longtable}}{{{spec}}}\n{head}\\endhead\n{foot}\\endfoot\n{body}\\end{{longtable}}"


def _column_spec(layout: Layout, line: str, width: float) -> str:
    texts = sum(a.startswith("p") for a in layout.draft.alignments)
    share = max(80.0, (width - 100) / max(texts, 1) * 0.9)
    text_column = f"{_TEXT_COLUMN}p{{{share:.0f}bp}}"
    columns = [text_column if a.startswith("p") else a for a in layout.draft.alignments]
    if line == FULL:
        return "|" + "|".join(columns) + "|"
    if line == BOOKTABS:
        return "@{}" + "".join(columns) + "@{}"
    if line == PARTIAL:
        columns.insert(len(layout.draft.stub), "|")
    return "".join(columns)


def _parts(layout: Layout, line: str, width: float) -> tuple[str, str, str]:
    """The argument of the environment, the header rows with their rules, and the body with its rules."""
    head = layout.draft.header_rows
    top = {FULL: "\\hline\n", BOOKTABS: "\\toprule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    bottom = {FULL: "", BOOKTABS: "\\bottomrule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    rows = []
    for row in range(layout.n_rows):
        kind = layout.draft.rows[row - head].kind if row > head else ""
        rows.append(_ABOVE.get((line, kind), "") + _row(layout, row, line) + _rule_below(layout, row, line))
    return _column_spec(layout, line, width), top + "".join(rows[:head]), "".join(rows[head:]) + bottom


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


def _rule_below(layout: Layout, row: int, line: str) -> str:
    """The rule below a row of the head, or of the body but for its end."""
    head = layout.draft.header_rows
    if line == FULL:
        return _hline(layout, row)
    if row == head - 1:
        return {BOOKTABS: "\\midrule\n", PARTIAL: "\\hline\n"}.get(line, "")
    if line != BOOKTABS:
        return ""
    if row < head:
        groups = [c for (r, _), c in sorted(layout.cells.items()) if r == row and c.colspan > 1]
        rules = "".join(rf"\cmidrule(lr){{{c.col + 1}-{c.col + c.colspan}}}" for c in groups)
        return f"{rules}\n" if rules else ""
    following = layout.cells.get((row + 1, 0))
    ends_group = layout.draft.row_groups and following is not None and following.rowspan > 1
    return "\\addlinespace\n" if ends_group else ""


def _hline(layout: Layout, row: int) -> str:
    """A full line, or pieces of it that leave out the cells that go on in the next row."""
    going_on = [c for c in layout.cells.values() if c.row <= row < c.row + c.rowspan - 1]
    if not going_on:
        return "\\hline\n"
    open_cols = {col for c in going_on for col in range(c.col, c.col + c.colspan)}
    closed = (col for col in range(layout.draft.n_cols) if col not in open_cols)
    runs = (list(run) for _, run in groupby(enumerate(closed), key=lambda pair: pair[1] - pair[0]))
    return "".join(rf"\cline{{{run[0][1] + 1}-{run[-1][1] + 1}}}" for run in runs) + "\n"
