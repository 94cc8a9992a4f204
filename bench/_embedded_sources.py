"""Sources that no maker writes: JATS by pandoc, LaTeX and sheets of the makers' truth."""

import re
from collections.abc import Iterator
from pathlib import Path

from parsemark.model import Category, Element, Page, Table

PER_SHEET = 1
_ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def by_pandoc(sources: Path, out: Path, to: str, suffix: str) -> Path:
    """Convert HTML with pandoc and return the path of the result."""
    import pypandoc

    out.mkdir(exist_ok=True)
    for path in sources.glob("*.html"):
        made = out / f"{path.stem}.{suffix}"
        pypandoc.convert_file(str(path), to, format="html", outputfile=str(made), extra_args=["--standalone"])
    return out


def write_latex(documents: dict[str, dict[int, Page]], out: Path) -> Path:
    """Return a plain LaTeX document of the truth of each."""
    out.mkdir(exist_ok=True)
    for name, pages in documents.items():
        body = "\n\n".join(part for _, page in sorted(pages.items()) for part in _latex_parts(page))
        text = f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
        (out / f"{name}.tex").write_text(text, encoding="utf-8")
    return out


def _latex_parts(page: Page) -> Iterator[str]:
    for element in sorted((e for e in page.elements if e.order is not None), key=lambda e: e.order or 0):
        text = _escaped(element.text or "")
        if element.category == Category.TITLE:
            yield rf"\section*{{{text}}}"
        elif element.category == Category.TABLE:
            yield rf"\begin{{table}}{element.latex}\end{{table}}"
        elif element.category == Category.EQUATION_ISOLATED:
            yield rf"\[{element.latex}\]"
        elif element.category == Category.LIST_GROUP:
            yield "\n\n".join(text.split("\n"))
        elif text:
            yield text


def _escaped(text: str) -> str:
    """Return a text in which formulas and superscripts stay."""
    parts = re.split(r"(\$[^$]+\$|\^\{[^{}]*\}|\^\w)", text)
    return "".join(
        (part if part.startswith("$") else f"${part}$") if k % 2 else _plain(part)
        for k, part in enumerate(parts)
    )


def _plain(text: str) -> str:
    return re.sub(r"[#$%&_{}]", r"\\\g<0>", "".join(_ESCAPED.get(c, c) for c in text))


def write_sheets(documents: dict[str, dict[int, Page]], out: Path) -> dict[str, list[Table]]:
    """Write workbooks, each with a table of the truth that fits a page: a title, the table, a note below it.

    Numbers are written as numbers with a format, every other table has a blank row before its last one.
    """
    import openpyxl
    from openpyxl.styles import Border, Side

    out.mkdir(exist_ok=True)
    line = Border(*(Side(style="thin") for _ in range(4)))
    tables = [e for pages in documents.values() for page in pages.values() for e in page.elements if _fits(e)]
    wanted: dict[str, list[Table]] = {}
    for k, element in enumerate(tables):
        table = element.table
        assert table is not None
        book = openpyxl.Workbook()
        sheet = book.active
        sheet["A1"] = f"Sheet number {k + 1} of the collection"
        gap = k % 2
        for cell in table.cells:
            is_last = cell.row + cell.rowspan == table.n_rows
            row = cell.row + 3 + (gap if is_last else 0)
            own = sheet.cell(row, cell.col + 1)
            number = re.fullmatch(r"-?\d{1,3}(?:,\d{3})*(\.\d+)?", cell.text)
            if number:
                own.value = float(cell.text.replace(",", ""))
                own.number_format = ("#,##0" if "," in cell.text else "0") + re.sub(
                    r"\d", "0", number[1] or ""
                )
            else:
                own.value = cell.text or None
            if k % 3 == 0:
                own.border = line
            if cell.rowspan > 1 or cell.colspan > 1:
                sheet.merge_cells(
                    start_row=row, start_column=cell.col + 1,
                    end_row=row + cell.rowspan - 1, end_column=cell.col + cell.colspan,
                )  # fmt: skip
        for col in range(1, table.n_cols + 1):
            widest = max((len(c.text) for c in table.cells if c.col == col - 1 and c.colspan == 1), default=8)
            sheet.column_dimensions[openpyxl.utils.get_column_letter(col)].width = widest * 1.2 + 3
        sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
        sheet.sheet_properties.pageSetUpPr = openpyxl.worksheet.properties.PageSetupProperties(fitToPage=True)
        name = f"sheet-{k + 1:03d}"
        book.save(out / f"{name}.xlsx")
        wanted[name] = [table]
    return wanted


def _fits(element: Element) -> bool:
    """Return whether the last row of each table is its own."""
    table = element.table
    return (
        table is not None
        and 3 <= table.n_rows <= 30
        and bool(table.cells and table.text_rows()[0][0])
        and all(c.rowspan == 1 for c in table.cells if c.row + c.rowspan == table.n_rows)
        and not any("^" in c.text or c.text.startswith("=") for c in table.cells)
    )
