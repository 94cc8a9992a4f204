"""Lines of predicted tables that answer no table: v1.7 matches them as text."""

import re

from parsemark.protocols.document.omnidocbench.normalise import safe_text
from parsemark.protocols.document.omnidocbench.records import TEXT, Items, MarkdownItem
from parsemark.protocols.document.omnidocbench.table_html import framed_table, norm_cell, parse_html

_FORMULA = re.compile(r"\\\[.*?\\\]|\\\(.*?\\\)|\$\$.*?\$\$|\$.*?\$", re.DOTALL)
_CELL = re.compile(r"(<td[^>]*>)(.*?)(</td>)", re.DOTALL)
_DELETED = ("\\t", "\\n", "\t", "\n", "/t", "/n", " ")
_FONTS = re.compile(
    r"\\(?:mathbf|mathrm|mathnormal|mathit|mathbb|mathcal|mathscr|mathfrak|mathsf|mathtt|textbf|textit)"
)
_SIGNS = (("-", "—"), ("∼", "～"), ("Ø", "∅"))
_LETTERS = (
    (r"\pm", "±"), (r"\checkmark", "√"), (r"\alpha", "α"), (r"\beta", "β"), (r"\gamma", "γ"), (r"\mu", "μ"),
    (r"\lambda", "λ"), (r"\theta", "θ"), (r"\eta", "η"), (r"\pi", "π"), (r"\rho", "ρ"), (r"\sigma", "σ"),
    (r"\omega", "ω"), (r"\delta", "δ"), (r"\Delta", "Δ"), (r"\epsilon", "ε"), (r"\varepsilon", "ε"),
    (r"\phi", "φ"), (r"\varphi", "φ"), (r"\tau", "τ"),
)  # fmt: skip


def items_of_tables(tables: Items) -> list[MarkdownItem]:
    """Return the lines of tables as items of text, at the places of their tables."""
    return [
        MarkdownItem(TEXT, line, table.start + k, table.start + k + max(1, len(line)), "table_to_text")
        for table in tables
        for k, line in enumerate(table_lines(table.content))
    ]


def table_lines(html: str) -> list[str]:
    """Return the rows of a table as lines of text; its cells, or its whole text, where it has no row."""
    if "<table" not in html.replace(" ", ""):
        return []
    soup = parse_html(html)
    for cell in soup.find_all("th"):
        cell.name = "td"
    for name in ("thead", "tbody", "span"):
        for tag in soup.find_all(name):
            tag.unwrap()
    for tag in soup.find_all("math"):
        if tag.get("alttext") is not None:
            tag.replace_with(f"${tag['alttext']}$")
    text = framed_table(str(soup)).replace("> ", ">").replace(" </td>", "</td>")
    soup = parse_html(_CELL.sub(lambda found: found[1] + norm_cell(_packed(found[2])) + found[3], text))
    rows = (" ".join(filter(None, map(_text_of, row.find_all("td")))) for row in soup.find_all("tr"))
    lines = [row for row in rows if row.strip()]
    return (
        lines
        or list(filter(None, map(_text_of, soup.find_all("td"))))
        or list(filter(None, [_text_of(soup)]))
    )


def _text_of(node: object) -> str:
    return norm_cell(_packed(node.get_text(" ", strip=True)))  # type: ignore[attr-defined]


def _packed(text: str) -> str:
    """Return P: a text without blanks, its formulas plain."""
    parts, end = [], 0
    for found in _FORMULA.finditer(text):
        parts += [_plain(text[end : found.start()]), _formula(found[0])]
        end = found.end()
    return "".join([*parts, _plain(text[end:])])


def _plain(text: str) -> str:
    for mark in _DELETED:
        text = text.replace(mark, "")
    for old, new in (("✓", "✔"), ("√", "✔"), *_SIGNS):
        text = text.replace(old, new)
    return re.sub("_{4,}", "____", text)


def _formula(text: str) -> str:
    for start, end in ((r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(start) and text.endswith(end):
            text = text[2:-2]
    text = _FONTS.sub("", text.strip("$"))
    for old, new in (*_LETTERS, *_SIGNS):
        text = text.replace(old, new)
    return safe_text(text, text).replace(" ", "")
