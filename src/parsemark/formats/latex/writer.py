r"""A table as LaTeX (`booktabs` and `multirow` are needed to compile it).

LaTeX cannot say: where a hole is, unless it is at the end of a row (others are written as empty cells); which
cells are headers, unless these are whole rows at the top; and columns or rows in which no cell begins.
Scripts, which text has as `x^2` and `x_{ij}`, are written as mathematics.
"""

import re
from functools import lru_cache

from parsemark.errors import FormatError
from parsemark.formats.latex.special import latex_to_text
from parsemark.model import Cell, Table

_NAMES = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "`": "asciigrave"}
_ESCAPES = str.maketrans(
    {sign: rf"\text{name}{{}}" for sign, name in _NAMES.items()} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
)
_SCRIPT = re.compile(r"(?:\^(?:[^\s{}\\^_$]|\{[^{}\\$]{2,80}\})|_\{[^{}\\$]{2,80}\}|(?<=\b[^\W\d_])_\w\b)++")
"""Scripts as `latex_to_text` prints them. A word such as `file_1` has none: before `_` stands one letter."""
_FORMULA_TEXT = re.compile(r"[A-Za-z0-9.,+=*/()−]+")
_LIGATURES = (("--", "-{}-"), ("''", "'{}'"))


def write_latex(table: Table) -> str:
    r"""Return the table as a `tabular`.

    Spans are `\multicolumn` and `\multirow`; line breaks in a cell are a `\shortstack`; a `\midrule` stands
    below the header rows where these are known.

    >>> print(write_latex(Table(1, 2, (Cell(0, 0, "50%"), Cell(0, 1, "x^2")))))
    \begin{tabular}{ll}
    \toprule
    50\% & x$^2$ \\
    \bottomrule
    \end{tabular}
    """
    n_header = _header_rows(table)
    lines = [rf"\begin{{tabular}}{{{'l' * table.n_cols}}}", r"\toprule"]
    for row in range(table.n_rows):
        lines.append(f"{_row(table, row)} \\\\")
        if row + 1 == n_header and row + 1 < table.n_rows:
            lines.append(r"\midrule")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def escape_latex(text: str) -> str:
    r"""Return plain text as LaTeX that prints it.

    >>> escape_latex("file_b -- 5%"), escape_latex("10^{−3}")
    ('file\\_b -{}- 5\\%', '10$^{-3}$')
    """
    pieces: list[str] = []
    end = 0
    for found in _SCRIPT.finditer(text):
        script = _script(found[0])
        if script is not None:
            pieces += [_escape(text[end : found.start()]), script]
            end = found.end()
    return "".join([*pieces, _escape(text[end:])])


@lru_cache(1_000)
def _script(text: str) -> str | None:
    """Return scripts as a formula, if it prints just them."""
    written = []
    for mark, braced, single in re.findall(r"([_^])(?:\{([^{}]*)\}|(.))", text):
        content = braced or single
        is_formula = _FORMULA_TEXT.fullmatch(content) is not None
        inner = content.replace("−", "-") if is_formula else rf"\text{{{_escape(content)}}}"
        written.append(f"{mark}{{{inner}}}" if len(inner) > 1 else mark + inner)
    formula = f"${''.join(written)}$"
    try:
        return formula if latex_to_text(formula) == text else None
    except FormatError:
        return None


def _escape(text: str) -> str:
    escaped = text.translate(_ESCAPES)
    for ligature, apart in _LIGATURES:
        while ligature in escaped:
            escaped = escaped.replace(ligature, apart)
    return escaped


def _header_rows(table: Table) -> int | None:
    """Return the number of header rows, if whole rows at the top are headers and nothing else is."""
    flags: list[set[bool | None]] = [set() for _ in range(table.n_rows)]
    for cell in table.cells:
        flags[cell.row].add(cell.header)
    n_header = next((row for row, flag in enumerate(flags) if flag != {True}), len(flags))
    is_uniform = all(flag <= {False} for flag in flags[n_header:])
    return n_header if n_header and is_uniform else None


def _row(table: Table, row: int) -> str:
    last = max((col for col in range(table.n_cols) if table.cell_at(row, col)), default=-1)
    pieces: list[str] = []
    col = 0
    while col <= last:
        cell = table.cell_at(row, col)
        pieces.append("" if cell is None else _cell(cell, is_first=row == cell.row))
        col += 1 if cell is None else cell.colspan
    return " & ".join(pieces) or "{}"


def _cell(cell: Cell, is_first: bool) -> str:
    text = ""
    if is_first:
        lines = [escape_latex(line) for line in cell.text.split("\n")]
        # A star or a bracket behind `\\` would be taken for its argument.
        text = r"\\".join(f"{{{line[0]}}}{line[1:]}" if line[:1] in ("[", "*") else line for line in lines)
        if len(lines) > 1:
            text = rf"\shortstack{{{text}}}"
        if cell.rowspan > 1:
            text = rf"\multirow{{{cell.rowspan}}}{{*}}{{{text}}}"
    return rf"\multicolumn{{{cell.colspan}}}{{l}}{{{text}}}" if cell.colspan > 1 else text
