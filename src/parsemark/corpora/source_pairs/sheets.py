"""Sheets as HTML, with each value as it is shown."""

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from lxml import etree

from parsemark.errors import CorpusError
from parsemark.formats.limits import MAX_COLUMNS, MAX_GRID

NO_VALUE = "\ufffc"  # shown text of a cell whose formula has no stored value: unknown without computing it
_MERGED = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7}):\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_NUMBER = re.compile(
    r'((?:"[^"]*"|\\.|\[[^\]]*\]|[_*].|\.(?![0#?])|[^0#?."\\\[_*])*+)(\.?[0#?][0#?.,]*)(E[+-]0+)?(.*)', re.S
)
"""What stands before the digits of a number's format, these, an exponent, and what stands behind."""
_DATE_PART = re.compile(r"y{2,4}|m{1,4}|d{1,4}|h{1,2}|s{1,2}|am/pm", re.IGNORECASE)
_DATE_CODES = {
    "yyyy": "%Y", "yy": "%y", "mmmm": "%B", "mmm": "%b", "mm": "%m", "m": "%-m", "dddd": "%A", "ddd": "%a",
    "dd": "%d", "d": "%-d", "hh": "%H", "h": "%-H", "ss": "%S", "s": "%-S", "am/pm": "%p",
}  # fmt: skip


def sheet_html(path: Path) -> str:
    """Return all sheets that are shown, each a heading-less run of tables: rows without anything part
    them.
    """
    import openpyxl

    _check_merged_cells(path)
    book = openpyxl.load_workbook(path, data_only=True, keep_links=False)
    with closing(openpyxl.load_workbook(path, read_only=True, keep_links=False)) as formulas:
        shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        return "".join(part for sheet in shown for part in _parts(sheet, formulas[sheet.title]))


def _check_merged_cells(path: Path) -> None:
    """Raise CorpusError if merged cells cover too much: openpyxl makes an object for each cell below."""
    from openpyxl.utils import column_index_from_string

    n_places = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.startswith("xl/worksheets/"):
                continue
            with archive.open(name) as part:
                tags = "{*}row", "{*}mergeCell"
                for _, element in etree.iterparse(part, tag=tags, resolve_entities=False, no_network=True):
                    if place := _MERGED.fullmatch(element.get("ref", "")):
                        left, top, right, bottom = place.groups()
                        n_columns = 1 + abs(column_index_from_string(right) - column_index_from_string(left))
                        n_places += n_columns * (1 + abs(int(bottom) - int(top)))
                    if n_places > MAX_GRID:
                        raise CorpusError(
                            f"{path}: the merged cells of {name} cover more than {MAX_GRID:,} cells. "
                            "Merge only cells that hold data."
                        )
                    element.clear()


def _parts(sheet: Any, formulas: Any) -> Iterator[str]:
    from openpyxl.utils import get_column_letter

    n_cols = min(sheet.max_column, MAX_COLUMNS)
    n_rows = min(sheet.max_row, MAX_GRID // max(n_cols, 1))
    for cell in (c for row in formulas.iter_rows(max_row=n_rows, max_col=n_cols) for c in row):
        if cell.data_type == "f" and (own := sheet.cell(cell.row, cell.column)).value is None:
            own.value = NO_VALUE
    spans = {(r.min_row, r.min_col): r for r in sheet.merged_cells.ranges}
    covered: set[tuple[int, int]] = set()
    for r in list(spans.values())[:MAX_COLUMNS]:
        last_row, last_col = min(r.max_row, n_rows), min(r.max_col, n_cols)
        if len(covered) + (last_row - r.min_row + 1) * (last_col - r.min_col + 1) > MAX_GRID:
            break
        covered |= {(y, x) for y in range(r.min_row, last_row + 1) for x in range(r.min_col, last_col + 1)}
    shown = [c for c in range(1, n_cols + 1) if not sheet.column_dimensions[get_column_letter(c)].hidden]

    def written(cell: Any) -> str:
        place = cell.row, cell.column
        if place not in spans:
            return "" if place in covered else f"<td>{escape(shown_text(cell))}</td>"
        size = spans[place].size
        return f'<td colspan="{size["columns"]}" rowspan="{size["rows"]}">{escape(shown_text(cell))}</td>'

    rows = []
    for r in range(1, n_rows + 1):
        if not sheet.row_dimensions[r].hidden:
            cells = [sheet.cell(r, c) for c in shown]
            rows.append((any(cell.value is not None for cell in cells), cells))
    for lines in _blocks(rows):
        used = _used(lines)
        if len(used) == 1 and len(lines) == 1:
            yield f"<p>{escape(shown_text(lines[0][used[0]]))}</p>"
            continue
        width = slice(used[0], used[-1] + 1)
        body = "".join(f"<tr>{''.join(map(written, line[width]))}</tr>" for line in lines)
        yield f"<table>{body}</table>"


def _blocks(rows: Sequence[tuple[bool, list[Any]]]) -> list[list[list[Any]]]:
    """Return rows that stand together. A row alone below a blank one is a total, if the table has its
    columns.
    """
    blocks: list[list[list[Any]]] = []
    gap = 0
    for is_full, group in groupby(rows, key=lambda row: row[0]):
        lines = [cells for _, cells in group]
        if not is_full:
            gap = len(lines)
            continue
        above, used = _used(blocks[-1]) if blocks else [], _used(lines)
        is_total = len(lines) == 1 == gap and len(used) > 1 and len(blocks[-1:]) and len(blocks[-1]) > 1
        if is_total and above[0] <= used[0] and used[-1] <= above[-1]:
            blocks[-1] += lines
        else:
            blocks.append(lines)
    return blocks


def _used(lines: Sequence[list[Any]]) -> list[int]:
    """Return the columns with a value."""
    return [c for c in range(len(lines[0])) if any(line[c].value is not None for line in lines)]


def shown_text(cell: Any) -> str:
    """Return the text that a cell shows: its value by its format, as far as letters and digits go."""
    value, form = cell.value, str(cell.number_format)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime | date | time):
        return _shown_date(value, form)
    if isinstance(value, int | float):
        return _shown_number(value, form)
    return str(value)


def _shown_number(value: float, form: str) -> str:
    """Return a number by the section of its format for its sign.

    >>> _shown_number(-1234.5, "#,##0.00"), _shown_number(0.125, "0.0%"), _shown_number(2.0, "General")
    ('-1,234.50', '12.5%', '2')
    >>> _shown_number(-1234.5, "$#,##0.00_);($#,##0.00)"), _shown_number(-5, '0.00 [$€-407]')
    ('($1,234.50)', '-5.00 €')
    >>> _shown_number(7, "00000"), _shown_number(0.5, "00.00")
    ('00007', '00.50')
    """
    sections = form.split(";")
    chosen = 1 if value < 0 else 2 if value == 0 else 0
    own = sections[chosen] if chosen < len(sections) else sections[0]
    if (found := _NUMBER.fullmatch(own)) is None or "General" in own:
        return _general(value) if re.search("General|@", own) else _literal(own)
    before, digits, exponent, behind = found.groups()
    places = len(re.sub(r"[^0#?]", "", digits.partition(".")[2]))
    scale = Decimal(100 if "%" in _LITERAL.sub("", own) else 1)
    scale /= 1000 ** (len(digits) - len(digits.rstrip(",")))
    try:
        rounded = (Decimal(str(value)) * scale).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    except InvalidOperation:
        return _general(value)
    text = f"{abs(rounded):,}" if "," in digits.rstrip(",") else str(abs(rounded))
    whole, _, part = digits.partition(".")
    if part and "0" not in part:
        text = text.rstrip("0").rstrip(".")
    if "0" not in whole and abs(rounded) < 1:
        text = text.removeprefix("0")
    shown, point, rest = text.partition(".")
    text = shown.zfill(0 if "," in whole else whole.count("0")) + point + rest
    if exponent:
        text = f"{abs(value):.{places}E}"
    sign = "-" if value < 0 and own is sections[0] else ""
    return " ".join(f"{sign}{_literal(before)}{text}{_literal(behind)}".split())


def _general(value: float) -> str:
    """Return a number without a format, in at most eleven signs.

    >>> _general(1 / 3), _general(2.0), _general(123456789012), _general(-0.25)
    ('0.333333333', '2', '1.23457E+11', '-0.25')
    """
    if abs(value) >= 1e11:
        return f"{value:.5E}"
    places = max(0, 10 - len(str(int(abs(value)))))
    return f"{value:.{places}f}".rstrip("0").rstrip(".") if places else f"{value:.0f}"


def _literal(part: str) -> str:
    """Return the literal text of a format part without digits: texts, signs and currencies, and room for a
    sign.
    """
    return _LITERAL.sub(lambda m: m[1] or m[2] or m[3] or (" " if m[0][0] == "_" else ""), part)


def _shown_date(value: datetime | date | time, form: str) -> str:
    """Return a date by its format.

    >>> _shown_date(date(2024, 3, 5), "yyyy-mm-dd"), _shown_date(date(2024, 3, 5), "d. mmmm yyyy")
    ('2024-03-05', '5. March 2024')
    >>> _shown_date(time(15, 30), "h:mm AM/PM"), _shown_date(time(15, 30), "hh:mm")
    ('3:30 PM', '15:30')
    """
    plain = _LITERAL.sub(lambda m: m[1] or m[2] or "", form.partition(";")[0])
    if not _DATE_PART.search(plain):
        return value.isoformat()
    before, has_halves = "", "am/pm" in plain.lower()
    pieces: list[str] = []
    last = 0
    for part in _DATE_PART.finditer(plain):
        code = part[0].lower()
        if code in ("mm", "m") and before.startswith("h"):
            shown = value.strftime("%M")  # minutes
        else:
            wanted = _DATE_CODES.get(code, "%Y")
            shown = value.strftime(wanted.replace("H", "I") if has_halves else wanted)
        pieces += [plain[last : part.start()], shown]
        before, last = code, part.end()
    return "".join([*pieces, plain[last:]])
