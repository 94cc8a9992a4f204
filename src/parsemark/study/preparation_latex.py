r"""LaTeX tables as the published study turned them into HTML: math as `$…$`, inner tables as tables.

It used LaTeXML. What that does to the tables that parsers return is done here by hand: rows are filled up to
the number of columns in the preamble. A table whose preamble is broken has no HTML at all.
"""

import re
from dataclasses import dataclass

_BEGIN = re.compile(r"\\begin\{(tabular\*?|array)\}")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule)\b|\\(?:cline|cmidrule)(?:\([^)]*\))?\{[^}]*\}")
_MULTICOLUMN = re.compile(r"\s*\\multicolumn\s*\{(\d+)\}\s*\{[^{}]*\}\s*\{(.*)\}\s*", re.DOTALL)
_MULTIROW = re.compile(r"\s*\\multirow(?:\[[^\]]*\])?\s*\{(\d+)\}\s*\{[^{}]*\}\s*\{(.*)\}\s*", re.DOTALL)
_MATH = re.compile(r"\\\((.*?)\\\)|\$([^$]*)\$", re.DOTALL)
_COMMAND = re.compile(r"\\(?:textbf|textit|emph|textrm|mathbf|mathrm)\s*\{([^{}]*)\}")
_MOST_COLUMNS = 500
_DEEPEST = 4


@dataclass
class _LatexCell:
    content: str
    rowspan: int = 1
    colspan: int = 1

    def __str__(self) -> str:
        spans = f' rowspan="{self.rowspan}"' if self.rowspan > 1 else ""
        spans += f' colspan="{self.colspan}"' if self.colspan > 1 else ""
        return f"<td{spans}>{self.content}</td>"


def latex_to_study_html(source: str, depth: int = 0) -> str:
    """The first LaTeX table of a text as HTML; empty if it cannot be converted."""
    begin = _BEGIN.search(source)
    if begin is None or depth > _DEEPEST:
        return ""
    start = _group_end(source, source.find("{", begin.end()))
    if start is None or "\\\\" in source[begin.end() : start]:
        return ""
    n_cols = len(re.findall(r"[lcrpmbX]", re.sub(r"\{[^{}]*\}", "", source[begin.end() + 1 : start - 1])))
    body = _RULES.sub(" ", source[start : _environment_end(source, start)])
    rows = [[_cell(part, depth) for part in _split(row, "&")] for row in _split(body, "\\\\")]
    if rows and not any(cell.content for cell in rows[-1]) and len(rows[-1]) == 1:
        rows = rows[:-1]
    widest = max((sum(cell.colspan for cell in row) for row in rows), default=0)
    return _write(rows, min(n_cols, widest))


def _cell(source: str, depth: int) -> _LatexCell:
    colspan = rowspan = 1
    if (found := _MULTICOLUMN.fullmatch(source)) is not None:
        colspan, source = min(int(found[1]), _MOST_COLUMNS), found[2]
    if (found := _MULTIROW.fullmatch(source)) is not None:
        rowspan, source = int(found[1]), found[2]
    is_table = _BEGIN.search(source) is not None
    content = latex_to_study_html(source, depth + 1) if is_table else _plain_text(source)
    return _LatexCell(content, rowspan, colspan)


def _plain_text(source: str) -> str:
    pieces: list[str] = []
    end = 0
    for found in _MATH.finditer(source):
        pieces += [_plain(source[end : found.start()]), f"${_math(found[1] or found[2] or '')}$"]
        end = found.end()
    pieces.append(_plain(source[end:]))
    return " ".join("".join(pieces).split())


def _plain(source: str) -> str:
    return re.sub(r"\\([%&#_$])", r"\1", _COMMAND.sub(r"\1", source))


def _math(source: str) -> str:
    """Math without the spaces that TeX ignores; one stays where a letter follows a command."""
    texts: list[str] = []

    def keep(found: re.Match[str]) -> str:
        texts.append(found[1].lstrip())
        return f"\\text{{\x00{len(texts) - 1}\x00}}"

    source = re.sub(r"\\text\s*\{([^{}]*)\}", keep, source)
    source = re.sub(r"(\\[A-Za-z]+)\s+(?=[A-Za-z0-9])", "\\1\x01", source)
    source = re.sub(r"\s+", "", source).replace("\x01", " ").replace("~", "~{}")
    return re.sub("\x00(\\d+)\x00", lambda m: texts[int(m[1])], source)


def _write(rows: list[list[_LatexCell]], n_cols: int) -> str:
    """Place the cells and write them; what a row span covers is left out."""
    hanging: dict[int, int] = {}
    written = ""
    for number, row in enumerate(rows):
        line: list[_LatexCell] = []
        col = 0
        for cell in row:
            if hanging.get(col, 0) > number and not cell.content:
                col += cell.colspan
                continue
            cell.rowspan = min(cell.rowspan, len(rows) - number)
            if cell.rowspan > 1:
                hanging.update(dict.fromkeys(range(col, col + cell.colspan), number + cell.rowspan))
            line.append(cell)
            col += cell.colspan
        line += [_LatexCell("") for c in range(col, n_cols) if hanging.get(c, 0) <= number]
        written += f"<tr>{''.join(map(str, line))}</tr>"
    return f"<table>{written}</table>"


def _group_end(source: str, start: int) -> int | None:
    """The position after the brace that closes the one at `start`."""
    level = 0
    for at in range(max(start, 0), len(source)):
        level += {"{": 1, "}": -1}.get(source[at], 0)
        if level == 0:
            return at + 1
    return None


def _environment_end(source: str, start: int) -> int:
    level = 1
    for found in re.finditer(r"\\(begin|end)\{(?:tabular\*?|array)", source[start:]):
        level += 1 if found[1] == "begin" else -1
        if level == 0:
            return start + found.start()
    return len(source)


def _split(source: str, separator: str) -> list[str]:
    """Parts between separators that are not in braces, math or an inner table."""
    parts: list[str] = []
    level = begin = at = 0
    while at < len(source):
        if source.startswith("\\begin{", at):
            level += 1
        elif source.startswith("\\end{", at):
            level -= 1
        elif source.startswith(separator, at) and level == 0:
            parts.append(source[begin:at])
            at += len(separator)
            begin = at
            continue
        elif source[at] == "\\":
            at += 2
            continue
        elif source[at] in "{}":
            level += 1 if source[at] == "{" else -1
        at += 1
    parts.append(source[begin:])
    return parts
