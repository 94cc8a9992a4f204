"""The HTML on which the published study computed its stored TEDS, GriTS and SCORE values.

Horn & Keuper took OmniDocBench's way from a parser's output to HTML. `study_html` does the same, so that our
own metrics can be compared with the stored values; `parsemark study run` lists the pairs that still differ.
LaTeX went through LaTeXML: what that does to the tables of parsers is done here by hand, math as `$…$`,
inner tables as tables, rows filled up to the number of columns in the preamble.
"""

import html
import re
import unicodedata
from dataclasses import dataclass

_OUTER_TABLE = re.compile(r"<table\b[^>]*>(.*)</table>", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\s(?:style|height|width|align|class)\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE
)
_MATH = re.compile(r"<math\b[^>]*?alttext=\"([^\"]*)\"[^>]*>.*?</math>", re.DOTALL | re.IGNORECASE)
_BARE = re.compile(r"</?(?:tbody|sup|sub|div|p)>", re.IGNORECASE)
_UNWRAPPED = re.compile(r"</?(?:thead|span)\b[^>]*>", re.IGNORECASE)
_TH = re.compile(r"<(/?)th\b", re.IGNORECASE)
_BEGIN = re.compile(r"\\begin\{(tabular\*?|array)\}")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule)\b|\\(?:cline|cmidrule)(?:\([^)]*\))?\{[^}]*\}")
_MULTICOLUMN = re.compile(r"\s*\\multicolumn\s*\{(\d+)\}\s*\{[^{}]*\}\s*\{(.*)\}\s*", re.DOTALL)
_MULTIROW = re.compile(r"\s*\\multirow(?:\[[^\]]*\])?\s*\{(\d+)\}\s*\{[^{}]*\}\s*\{(.*)\}\s*", re.DOTALL)
_LATEX_MATH = re.compile(r"(\\\(.*?\\\)|\$[^$]*\$)", re.DOTALL)
_COMMAND = re.compile(r"\\(?:textbf|textit|emph|textrm|mathbf|mathrm)\s*\{([^{}]*)\}")
_MOST_COLUMNS = 500
_DEEPEST = 4


def study_html(text: str) -> str:
    """Return HTML, Markdown or LaTeX as the study's metrics saw it: one table inside of a page's body."""
    if "<table" in text.lower() or "<tr" in text.lower():
        return _normalised(text)
    if "\\begin{tab" in text or "\\begin{array" in text:
        source = latex_to_study_html(text)
        return _normalised(source) if source else ""
    return _normalised(_from_markdown(text))


def _from_markdown(text: str) -> str:
    tables: list[list[str]] = [[]]
    for line in text.splitlines():
        if "|" not in line:
            tables.append([])
            continue
        # What stands before the first pipe and after the last one is lost, also in rows without outer pipes.
        cells = [cell.strip() for cell in line.strip().split("|")[1:-1]]
        # So are cells with ':' or '---'; a bug, without which the stored values cannot be reproduced.
        cells = [cell for cell in cells if ":" not in cell and "---" not in cell]
        if cells:
            inner = "".join(f'<td colspan="1" rowspan="1">{cell}</td>' for cell in cells)
            tables[-1].append(f"<tr>{inner}</tr>")
    return "".join(f'<table border="1">{"".join(rows)}</table>' for rows in tables if rows)


def _normalised(source: str) -> str:
    text = _TH.sub(r"<\1td", source)
    text = _UNWRAPPED.sub("", text)
    text = _MATH.sub(lambda m: f"${m[1]}$", text)
    text = unicodedata.normalize("NFKC", html.unescape(text)).replace("\n", "")
    outer = _OUTER_TABLE.search(text)
    inner = outer[1] if outer else re.sub(r"</?table\b[^>]*>", "", text)
    inner = _ATTRIBUTE.sub("", inner)
    inner = _BARE.sub("", re.sub(r"\s+", " ", inner))
    inner = re.sub(r">\s+<", "><", inner).strip()
    return f'<html><body><table border="1" >{inner}</table></body></html>'


def for_metric(prepared: str, metric: str) -> str:
    """Return nested tables in the form that a metric's reference code received.

    TEDS takes them as markup of the cell. GriTS takes each inner row for a row of the table. SCORE does so
    too, and has the inner cells in the outer row as well.
    """
    if prepared.count("<table") < 2 or metric.startswith("teds"):
        return prepared
    from lxml import html as lxml_html

    table = lxml_html.fromstring(prepared).find(".//table")
    if table is None or table.find(".//table") is None:
        return prepared
    inner = ".//td" if metric.startswith("score") else "./td"
    written = ""
    for row in table.iterfind(".//tr"):
        written += "<tr>"
        for cell in row.iterfind(inner):
            spans = [f' {name}="{cell.get(name)}"' for name in ("rowspan", "colspan") if cell.get(name)]
            written += f"<td{''.join(spans)}>{html.escape(str(cell.xpath('string()')).strip())}</td>"
        written += "</tr>"
    return f"<html><body><table>{written}</table></body></html>"


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
    """Return the first LaTeX table of a text as HTML; empty if it cannot be converted: its preamble is
    broken.
    """
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
    pieces = _LATEX_MATH.split(source)  # text and math in turn
    pieces[::2] = [re.sub(r"\\([%&#_$])", r"\1", _COMMAND.sub(r"\1", text)) for text in pieces[::2]]
    pieces[1::2] = [f"${_math(m[2:-2] if m[0] != '$' else m[1:-1])}$" for m in pieces[1::2]]
    return " ".join("".join(pieces).split())


def _math(source: str) -> str:
    """Return math without the spaces that TeX ignores; one stays where a letter follows a command."""
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
    """Return the position after the brace that closes the one at `start`."""
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
    """Return parts between separators that are not in braces, math or an inner table."""
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
