"""The same table in every equivalent form, and graded ways to damage it."""

from __future__ import annotations

import dataclasses
import html as html_escape
import random
import re
from collections.abc import Callable

from parsemark.formats import write_table
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import read_structure
from parsemark.model import HOLE, Cell, Table

Form = Callable[[Table], str]


def n_header(table: Table) -> int:
    """Header rows of a table whose rows all hold something."""
    return read_structure(Sheet.from_table(table)).n_header


def with_headers(table: Table) -> Table:
    """The table with its header rows marked."""
    count = n_header(table)
    cells = [dataclasses.replace(c, header=c.row < count) for c in table.cells]
    return Table(table.n_rows, table.n_cols, tuple(cells))


def html(table: Table) -> str:
    return write_table(table, "html")


def html_with_thead(table: Table) -> str:
    return write_table(with_headers(table), "html")


def markdown_padded(table: Table) -> str:
    return write_table(with_headers(table), "markdown")


def _unspanned(table: Table) -> list[list[str]]:
    return table.text_rows()


def spans_repeated(table: Table) -> str:
    return write_table(Table.from_rows(_unspanned(table), header_rows=1), "markdown")


def row_spans_resolved(table: Table) -> str:
    """Header spans stay, spans in the body are repeated."""
    count = n_header(table)
    cells = [c for c in with_headers(table).cells if c.row < count and c.row + c.rowspan <= count]
    kept = {
        (r, c)
        for x in cells
        for r in range(x.row, x.row + x.rowspan)
        for c in range(x.col, x.col + x.colspan)
    }
    rows = _unspanned(table)
    for r in range(table.n_rows):
        for c in range(table.n_cols):
            if (r, c) not in kept and table.grid[r][c] != HOLE:
                cells.append(Cell(r, c, rows[r][c], header=r < count))
    return write_table(Table(table.n_rows, table.n_cols, tuple(cells)), "html")


def _flat_rows(table: Table) -> list[list[str]]:
    count = n_header(table)
    rows = _unspanned(table)
    flat = []
    for c in range(table.n_cols):
        levels: list[str] = []
        for r in range(count):
            if rows[r][c].strip() and rows[r][c] not in levels[-1:]:
                levels.append(rows[r][c])
        flat.append(" ".join(levels))
    return [flat, *rows[count:]]


def headers_flattened(table: Table) -> str:
    return write_table(Table.from_rows(_flat_rows(table), header_rows=1), "markdown")


def headers_flattened_html(table: Table) -> str:
    return write_table(Table.from_rows(_flat_rows(table), header_rows=1), "html")


def _with_empty_column(table: Table, at: int) -> Table:
    cells = []
    for c in table.cells:
        if c.col >= at:
            cells.append(dataclasses.replace(c, col=c.col + 1))
        elif c.col + c.colspan > at:
            cells.append(dataclasses.replace(c, colspan=c.colspan + 1))
        else:
            cells.append(c)
    return Table(table.n_rows, table.n_cols + 1, tuple(cells))


def empty_column_at_end(table: Table) -> str:
    return write_table(_with_empty_column(table, table.n_cols), "html")


def empty_column_inside(table: Table) -> str:
    return write_table(_with_empty_column(table, max(1, table.n_cols // 2)), "html")


def split_in_two(table: Table) -> str:
    rows = _flat_rows(table)
    middle = 1 + max(1, (len(rows) - 1) // 2)
    first = Table.from_rows(rows[:middle], header_rows=1)
    second = Table.from_rows([rows[0], *rows[middle:]], header_rows=1)
    return f"{write_table(first, 'markdown')}\n\n{write_table(second, 'markdown')}\n"


def header_repeated_inside(table: Table) -> str:
    rows = _flat_rows(table)
    middle = 1 + max(1, (len(rows) - 1) // 2)
    return write_table(Table.from_rows([*rows[:middle], rows[0], *rows[middle:]], header_rows=1), "html")


def caption_inside(table: Table) -> str:
    cells = [dataclasses.replace(c, row=c.row + 1) for c in table.cells]
    caption = Cell(0, 0, "Table 3: Results of the second experiment.", colspan=max(1, table.n_cols))
    return write_table(Table(table.n_rows + 1, table.n_cols, (caption, *cells)), "html")


def caption_above(table: Table) -> str:
    return f"Table 3: Results of the second experiment.\n\n{markdown_padded(table)}\n"


def transposed(table: Table) -> str:
    cells = [Cell(c.col, c.row, c.text, rowspan=c.colspan, colspan=c.rowspan) for c in table.cells]
    return write_table(Table(table.n_cols, table.n_rows, tuple(cells)), "html")


def plain_text(table: Table) -> str:
    rows = [[" ".join(text.split()) or "-" for text in row] for row in _flat_rows(table)]
    widths = [max(len(row[c]) for row in rows) for c in range(table.n_cols)]
    return "\n".join(
        "   ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def latex(table: Table) -> str:
    return write_table(with_headers(table), "latex")


def has_spans_in_body(table: Table) -> bool:
    """Whether a value spans several rows or columns: without spans nobody knows what it covers."""
    sheet = Sheet.from_table(table)
    labels = {s for stub in read_structure(sheet).labels for s in stub}
    count = n_header(table)
    spanning = [
        c for c in table.cells if c.row >= count and (c.rowspan > 1 or c.colspan > 1) and c.text.strip()
    ]
    return any(c.col not in labels and c.colspan < table.n_cols for c in spanning)


def leans_on_rows_above(table: Table) -> bool:
    """Whether rows are named by what stands above them: a section heading, or an empty label cell."""
    sheet = Sheet.from_table(table)
    structure = read_structure(sheet)
    labels = {s for stub in structure.labels for s in stub}
    rows = range(structure.n_header, sheet.n_rows)
    return bool(structure.sections) or any(not sheet.texts[r][c] for r in rows for c in labels)


def _joined_headers(separator: str) -> Form:
    """A form with the levels of each header joined by a separator."""

    def form(table: Table) -> str:
        count = n_header(table)
        rows = _unspanned(table)
        flat = []
        for c in range(table.n_cols):
            levels = dict.fromkeys(rows[r][c] for r in range(count) if rows[r][c].strip())
            flat.append(separator.join(levels))
        return write_table(Table.from_rows([flat, *rows[count:]], header_rows=1), "html")

    form.__name__ = f"headers_joined_by_{separator.strip() or 'space'}"
    return form


def sections_as_headings(table: Table) -> str:
    """A table for each section, its heading above, the header again in each."""
    sheet = Sheet.from_table(table)
    structure = read_structure(sheet)
    rows = _unspanned(table)
    head = rows[: structure.n_header]
    parts: list[tuple[str, list[list[str]]]] = []
    for r in range(structure.n_header, table.n_rows):
        if r in structure.sections:
            parts.append((rows[r][0], []))
        else:
            parts[-1][1].append(rows[r])
    tables = [
        (name, write_table(Table.from_rows([*head, *body], header_rows=1), "html")) for name, body in parts
    ]
    return "\n\n".join(f"### {' '.join(name.split())}\n\n{text}" for name, text in tables)


def has_plain_sections(table: Table) -> bool:
    """Whether the body is made of sections alone, each with rows that say more than a name."""
    structure = read_structure(Sheet.from_table(table))
    first = structure.n_header
    last = table.n_rows - 1
    apart = all(r + 1 not in structure.sections for r in structure.sections)
    unspanned = all(c.rowspan == 1 for c in table.cells if c.row >= first)
    return (
        len(structure.sections) > 1
        and first in structure.sections
        and last not in structure.sections
        and (apart and unspanned)
    )


def folded_pairs(table: Table) -> str:
    """Every two rows of the body in one, line by line."""
    count = n_header(table)
    rows = _unspanned(table)
    body = rows[count:]
    folded = [
        [f"{a}<br>{b}" for a, b in zip(body[k], body[k + 1], strict=True)] for k in range(0, len(body) - 1, 2)
    ]
    rest = [body[-1]] if len(body) % 2 else []
    cells = [
        "<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>"
        for row in [*_escaped(rows[:count]), *folded]
    ]
    cells += ["<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in _escaped(rest)]
    return f"<table>{''.join(cells)}</table>"


def _escaped(rows: list[list[str]]) -> list[list[str]]:
    return [[html_escape.escape(text) for text in row] for row in rows]


def can_be_folded(table: Table) -> bool:
    """Whether the body is a plain grid of single lines, so that folding it leaves no doubt."""
    count = n_header(table)
    body = [c for c in table.cells if c.row >= count]
    plain = all(c.rowspan == c.colspan == 1 and c.text.strip() and "\n" not in c.text for c in body)
    safe = not any(mark in c.text for c in body for mark in "<>&$\\")
    safe = safe and not read_structure(Sheet.from_table(table)).sections
    return plain and safe and table.n_rows - count >= 4


def row_groups(table: Table) -> list[range]:
    """The rows of the body in groups: those that a cell spans belong together."""
    groups: list[range] = []
    for row in range(n_header(table), table.n_rows):
        begins = all(c.row == row for c in (table.cells[i] for i in table.grid[row] if i != HOLE))
        if begins or not groups:
            groups.append(range(row, row + 1))
        else:
            groups[-1] = range(groups[-1].start, row + 1)
    return groups


def groups_folded(table: Table) -> str:
    """Each row group in one row: what spans it is given once, the other cells line by line."""
    rows = _escaped(_unspanned(table))
    lines = [[[text] for text in row] for row in rows[: n_header(table)]]
    for group in row_groups(table):
        spanned = [table.cells[table.grid[group[0]][c]].rowspan > 1 for c in range(table.n_cols)]
        lines.append(
            [[rows[r][c] for r in (group[:1] if spanned[c] else group)] for c in range(table.n_cols)]
        )
    cells = ["".join(f"<td>{'<br>'.join(texts)}</td>" for texts in row) for row in lines]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def has_groups_to_fold(table: Table) -> bool:
    """Whether cells span the rows of whole groups, so that folding them leaves no doubt."""
    count = n_header(table)
    body = [c for c in table.cells if c.row >= count]
    groups = row_groups(table)
    whole = all(
        c.rowspan in (1, len(group)) for c in body for group in groups if c.row in group and c.colspan == 1
    )
    plain = all(c.colspan == 1 and c.text.strip() and "\n" not in c.text for c in body)
    safe = not any(mark in c.text for c in body for mark in "<>&$\\")
    spanned = any(len(group) > 1 for group in groups)
    return spanned and whole and plain and safe and HOLE not in {i for row in table.grid for i in row}


def is_plain_grid(table: Table) -> bool:
    """Whether a table has one row of different names over rows with different names, without spans."""
    rows = _unspanned(table)
    names = [rows[0], [row[0] for row in rows]]
    told = all(len({" ".join(n.split()) for n in line}) == len(line) and all(line) for line in names)
    plain = n_header(table) == 1 and table.n_cells == table.n_rows * table.n_cols and table.n_rows > 2
    return told and plain and not read_structure(Sheet.from_table(table)).sections


def key_value_blocks(table: Table) -> str:
    """A list of keys and values, for each row one after the other."""
    rows = _unspanned(table)
    pairs = [[key, text] for row in rows[1:] for key, text in zip(rows[0], row, strict=True)]
    return write_table(Table.from_rows([["Field", "Value"], *pairs], header_rows=1), "html")


def a_block_for_each_row(table: Table) -> str:
    """A table of keys and values for each row."""
    rows = _unspanned(table)
    blocks = [[list(pair) for pair in zip(rows[0], row, strict=True)] for row in rows[1:]]
    return "\n\n".join(write_table(Table.from_rows(block), "html") for block in blocks)


def tei(table: Table) -> str:
    """As GROBID writes it; TEI knows no difference between headers and others."""
    text = write_table(Table(table.n_rows, table.n_cols, table.cells), "html")
    names = {"tr": "row", "td": "cell", "th": "cell", "thead": "", "tbody": ""}
    for name, other in names.items():
        for begun in ("<", "</"):
            text = re.sub(rf"{begun}{name}(?=[ >])", f"{begun}{other}" if other else f"{begun}seg", text)
    text = text.replace("colspan=", "cols=").replace("rowspan=", "rows=")
    return f'<figure type="table"><head>Table 3</head>{text}</figure>'


ALWAYS: tuple[Form, ...] = (
    html,
    html_with_thead,
    spans_repeated,
    row_spans_resolved,
    headers_flattened,
    headers_flattened_html,
    empty_column_at_end,
    empty_column_inside,
    header_repeated_inside,
    caption_inside,
    transposed,
    tei,
    _joined_headers(" - "),
    _joined_headers(" / "),
    _joined_headers(": "),
)


def equivalent_forms(table: Table) -> list[Form]:
    """The forms in which this table loses no association."""
    forms = list(ALWAYS)
    if not has_spans_in_body(table):
        forms += [markdown_padded, caption_above]
    if not leans_on_rows_above(table):
        forms.append(split_in_two)
    if table.n_rows - n_header(table) >= 3:
        forms.append(plain_text)
    if has_plain_sections(table):
        forms.append(sections_as_headings)
    if can_be_folded(table):
        forms.append(folded_pairs)
    if is_plain_grid(table):
        forms.append(key_value_blocks)
        forms += [a_block_for_each_row] if table.n_rows <= 12 else []
    if has_groups_to_fold(table):
        forms.append(groups_folded)
    return forms


def body_positions(table: Table) -> list[int]:
    """Indices of cells that hold values: below the header, right of the first column, not empty."""
    count = n_header(table)
    return [
        i
        for i, c in enumerate(table.cells)
        if c.row >= count and c.col > 0 and any(x.isalnum() for x in c.text)
    ]


def replaced(table: Table, texts: dict[int, str]) -> Table:
    """The table with other texts in some cells."""
    cells = [dataclasses.replace(c, text=texts.get(i, c.text)) for i, c in enumerate(table.cells)]
    return Table(table.n_rows, table.n_cols, tuple(cells))


def wrong_values(table: Table, share: float, seed: int = 0) -> Table:
    """Other values in a share of the cells; a larger share damages the same cells and more."""
    places = body_positions(table)
    random.Random(seed).shuffle(places)
    return replaced(table, {i: f"7{k}.9{k}1" for k, i in enumerate(places[: round(share * len(places))])})


def lost_names(table: Table, share: float, seed: int = 0) -> Table:
    count = n_header(table)
    places = [i for i, c in enumerate(table.cells) if c.row >= count and c.col == 0 and c.text.strip()]
    random.Random(seed).shuffle(places)
    return replaced(table, dict.fromkeys(places[: round(share * len(places))], "§"))


def lost_headers(table: Table, share: float, seed: int = 0) -> Table:
    count = n_header(table)
    places = [i for i, c in enumerate(table.cells) if c.row < count and c.col > 0 and c.text.strip()]
    random.Random(seed).shuffle(places)
    return replaced(table, dict.fromkeys(places[: round(share * len(places))], "§"))


def without_rows(table: Table, share: float, seed: int = 0) -> Table:
    """Without a share of the rows of the body; of a table without row spans."""
    rows = table.text_rows()
    count = n_header(table)
    places = list(range(count, table.n_rows))
    random.Random(seed).shuffle(places)
    gone = set(places[: round(share * len(places))])
    return Table.from_rows([row for r, row in enumerate(rows) if r not in gone])


def invented_rows(table: Table, share: float, seed: int = 0) -> Table:
    rows = table.text_rows()
    body = table.n_rows - n_header(table)
    extra = [
        [f"Zzz {k}", *[f"9{k}8.7{c}" for c in range(1, table.n_cols)]] for k in range(round(share * body))
    ]
    return Table.from_rows([*rows, *extra])


GRADED: tuple[Callable[[Table, float], Table], ...] = (
    wrong_values,
    lost_names,
    lost_headers,
    without_rows,
    invented_rows,
)
