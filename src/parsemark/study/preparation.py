"""The HTML on which the published study computed its stored TEDS, GriTS and SCORE values.

Horn & Keuper took OmniDocBench's way from a parser's output to HTML. `study_html` does the same, so that our
own metrics can be compared with the stored values; `parsemark study run` lists the pairs that still differ.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING

from parsemark.study.preparation_latex import latex_to_study_html

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_OUTER_TABLE = re.compile(r"<table\b[^>]*>(.*)</table>", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\s(?:style|height|width|align|class)\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE
)
_MATH = re.compile(r"<math\b[^>]*?alttext=\"([^\"]*)\"[^>]*>.*?</math>", re.DOTALL | re.IGNORECASE)
_BARE = re.compile(r"</?(?:tbody|sup|sub|div|p)>", re.IGNORECASE)
_UNWRAPPED = re.compile(r"</?(?:thead|span)\b[^>]*>", re.IGNORECASE)
_TH = re.compile(r"<(/?)th\b", re.IGNORECASE)


def study_html(text: str) -> str:
    """HTML, Markdown or LaTeX as the study's metrics saw it: one table inside of a page's body."""
    if "<table" in text.lower() or "<tr" in text.lower():
        source = text
    elif "\\begin{tab" in text or "\\begin{array" in text:
        source = latex_to_study_html(text)
        if not source:
            return ""
    else:
        source = _from_markdown(text)
    return _normalised(source)


def _from_markdown(text: str) -> str:
    tables: list[list[str]] = [[]]
    for line in text.splitlines():
        if "|" not in line:
            if tables[-1]:
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
    """What a metric's reference code saw of tables inside of cells.

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
    rows: list[str] = []
    for row in table.iterfind(".//tr"):
        cells = [_flat_cell(cell) for cell in row.iterfind(inner)]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<html><body><table>{''.join(rows)}</table></body></html>"


def _flat_cell(cell: HtmlElement) -> str:
    spans = "".join(f' {name}="{cell.get(name)}"' for name in ("rowspan", "colspan") if cell.get(name))
    return f"<td{spans}>{html.escape(cell.text_content().strip())}</td>"
