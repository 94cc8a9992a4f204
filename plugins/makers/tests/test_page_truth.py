"""What is read from a typeset page: texts of cells, columns, languages, visible grids, missing files."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from parsemark.formats.latex.grid import read_grid
from parsemark.model import Box, Cell, Element, Table
from parsemark.pdf import Glyph
from parsemark_makers.latex.cell_boxes import (
    MarkedCell,
    MarkedTable,
    RawCell,
    RawTable,
    columns_of,
    place_cells,
)
from parsemark_makers.latex.cell_text import DIVISION, Character, character_of, composed_text
from parsemark_makers.latex.documents.build import Build, missing_file, package_of
from parsemark_makers.latex.documents.join import JoinedTable, join_tables
from parsemark_makers.latex.documents.page_attributes import _is_half as is_half
from parsemark_makers.latex.documents.page_attributes import _prose as prose
from parsemark_makers.latex.documents.page_attributes import (
    column_layout,
    in_reading_order,
    keeps_to_columns,
    language_of,
    line_style,
)
from parsemark_makers.latex.documents.source_tables import TabularCandidate, row_glyphs
from parsemark_makers.latex.documents.typeset import _difference as difference
from parsemark_makers.latex.header_rows import header_rows
from parsemark_makers.latex.tex_grids import with_whole_numbers, without_unseen


def letters(text: str, x: float = 0.0, y: float = 10.0, size: float = 10.0) -> list[Character]:
    """Glyphs of half the size's width, one behind the other; a blank is only a gap."""
    step = size / 2
    return [
        Character(c, Box(x + i * step, y - size, x + (i + 1) * step, y), y, size)
        for i, c in enumerate(text)
        if c != " "
    ]


def test_gaps_are_blanks_and_kerns_are_not() -> None:
    assert composed_text(letters("two words")) == "two words"
    kerned = [*letters("A"), *letters("V", x=4.5)]
    assert composed_text(kerned) == "AV"


@pytest.mark.parametrize(("y", "wanted"), [(6.0, "x^{10}"), (12.0, "x_{10}"), (10.0, "x10")])
def test_small_glyphs_off_the_line_are_scripts(y: float, wanted: str) -> None:
    assert composed_text([*letters("x"), *letters("10", x=5.0, y=y, size=7.0)]) == wanted


def test_a_mark_may_be_a_little_larger_than_its_text() -> None:
    assert (
        composed_text([*letters("12.1", size=8.9664), *letters("a", x=18.0, y=6.2, size=9.9626)]) == "12.1^a"
    )


def test_lines_are_joined_and_divisions_marked() -> None:
    lines = [*letters("a long"), *letters("text", y=22.0)]
    assert composed_text(lines) == "a long text"
    divided = [*letters("divi-"), *letters("ded", y=22.0)]
    assert composed_text(divided) == f"divi{DIVISION}ded"
    assert composed_text([*letters("2019-"), *letters("20", y=22.0)]) == "2019- 20"


def test_accents_of_old_fonts_join_their_letter() -> None:
    accent = Character("´", Box(0, 0, 5, 3), 10, 10)
    assert composed_text([accent, *letters("e")]) == "é"
    alone = Character("´", Box(40, 0, 45, 3), 10, 10)
    assert composed_text([*letters("e"), alone]) == "e ´"


def test_codes_without_a_meaning_are_unknown() -> None:
    assert [character_of(code) for code in (0, 0xD800, 0xE001, 0x110000, 2, 0xFB01, 65)] == [
        "\ufffd", "\ufffd", "\ufffd", "\ufffd", "-", "fi", "A"
    ]  # fmt: skip


def test_columns_of_a_page() -> None:
    def line(x0: float, x1: float, y: float) -> list[Box]:
        """Letters of all heights, as they are: with ascenders, with descenders, and with neither."""
        heights = ((0, 8), (2, 8), (2, 10), (7, 8))
        xs = range(int(x0), int(x1), 5)
        return [Box(x, y + top, x + 4, y + end) for x, (top, end) in zip(xs, cycle(heights), strict=False)]

    one = [box for i in range(30) for box in line(50, 550, 50 + 12 * i)]
    two = [box for i in range(30) for x in (50, 310) for box in line(x, x + 240, 50 + 12 * i)]
    both = [*two, *(box for i in range(14) for box in line(50, 550, 500 + 12 * i))]
    assert column_layout(one, 600) == "single_column"
    assert column_layout(two, 600) == "double_column"
    assert column_layout(both, 600) == "1andmore_column"
    assert column_layout([], 600) == "single_column"
    beside_a_table = [
        *(box for i in range(20) for box in line(310, 550, 50 + 12 * i)),
        *(box for i in range(4) for box in line(50, 290, 400 + 12 * i)),
    ]
    assert column_layout(beside_a_table, 600) == "double_column"
    ends = ((50, 250), (540, 555))
    numbered = [box for i in range(30) for x0, x1 in ends for box in line(x0, x1, 50 + 12 * i)]
    assert column_layout(numbered, 600) == "single_column"
    left = [box for i in range(30) for box in line(50, 290, 50 + 12 * i)]
    assert is_half(left, 600) and not is_half(one, 600) and not is_half(left[:100], 600)


def test_leaders_are_no_text() -> None:
    def entry(y: float) -> list[Glyph]:
        words = [Glyph("a", Box(50 + 5 * i, y, 54 + 5 * i, y + 8)) for i in range(20)]
        dots = [Glyph(".", Box(x, y + 7, x + 1, y + 8)) for x in range(160, 540, 10)]
        return [*words, *dots, Glyph("7", Box(545, y, 550, y + 8))]

    boxes = prose([glyph for i in range(30) for glyph in entry(50 + 12 * i)], [])
    assert len(boxes) == 30 * 21
    assert column_layout(boxes, 600) == "single_column"


def test_languages() -> None:
    assert (
        language_of("le texte de la page est dans une langue que nous avons pour les mots " * 4) == "french"
    )
    assert (
        language_of("der Text der Seite ist in einer Sprache, die wir nicht auf dem Blatt sehen " * 4)
        == "german"
    )
    assert language_of("统计表格中的数据来自各个地区的调查结果" * 4) == "simplified_chinese"
    assert language_of("12 34") is None


def marked(cells: list[tuple[int, int, str]], n_rows: int, n_cols: int, rules: list[Box]) -> MarkedTable:
    placed = tuple(
        MarkedCell(r, c, 1, 1, text, Box(20 * c, 10 * r, 20 * c + 20, 10 * r + 10), None)
        for r, c, text in cells
    )
    return MarkedTable(1, 0, Box(0, 0, 20 * n_cols, 10 * n_rows), n_rows, n_cols, placed, rules=tuple(rules))


def test_empty_columns_and_rows_go_unless_lines_show_them() -> None:
    texts = [["a", "", "b"], ["", "", ""], ["c", "", "d"]]
    cells = [(r, c, texts[r][c]) for r in range(3) for c in range(3)]
    found = marked(cells, 3, 3, [])
    table = Table(3, 3, tuple(Cell(m.row, m.col, m.text, box=m.box) for m in found.cells))
    assert without_unseen(table, found).text_rows() == [["a", "b"], ["c", "d"]]
    framed = marked(cells, 3, 3, [Box(x - 0.2, 0, x + 0.2, 30) for x in (20, 40)])
    assert without_unseen(table, framed).n_cols == 3
    across = marked(cells, 3, 3, [Box(0, y - 0.2, 60, y + 0.2) for y in (10, 20)])
    assert without_unseen(table, across).n_rows == 3
    thin = [
        replace(c, box=Box(c.box.x0, 10, c.box.x1, 13)) if c.row == 1 else c for c in table.cells if c.box
    ]
    between = marked(cells, 3, 3, [Box(0, y - 0.2, 60, y + 0.2) for y in (10, 13)])
    assert without_unseen(replace(table, cells=tuple(thin)), between).n_rows == 2, "space between two lines"


def lines(*ys: float) -> list[Box]:
    return [Box(0, y - 0.2, 40, y + 0.2) for y in ys]


def head_of(rules: list[Box], rows: list[str], *, bold: tuple[int, ...] = ()) -> int | None:
    """The header rows of a table of two columns; a row is `left right`, `.` for an empty cell."""
    texts = [[text.replace(".", "") for text in row.split()] for row in rows]
    cells = [(r, c, text) for r, row in enumerate(texts) for c, text in enumerate(row)]
    found = marked(cells, len(rows), 2, rules)
    found = replace(found, cells=tuple(replace(c, is_bold=c.row in bold) for c in found.cells))
    table = Table(len(rows), 2, tuple(Cell(m.row, m.col, m.text, box=m.box) for m in found.cells))
    return header_rows(table, found)


def test_line_styles_by_rules() -> None:
    cells = [(r, c, "x") for r in range(4) for c in range(2)]
    down = [Box(x - 0.2, 0, x + 0.2, 40) for x in (0.2, 20, 39.8)]
    assert line_style(marked(cells, 4, 2, lines(0.2, 10, 39.8))) == "fewer_line"
    assert line_style(marked(cells, 4, 2, [*lines(0.2, 10, 20, 30, 39.8), *down])) == "full_line"
    assert line_style(marked(cells, 4, 2, [])) == "wireless_line"


def test_header_rows_are_told_by_lines_and_bold_type() -> None:
    rows = ["Name Value", "a 1", "b 2", "c 3", "d 4", "e 5"]
    assert head_of(lines(0.2, 10, 59.8), rows) == 1
    assert head_of([Box(0, 9.8, 19, 10.2), Box(21, 9.8, 40, 10.2)], rows) == 1, "a line in pieces"
    assert head_of([Box(0, 9.8, 19, 10.2)], rows) is None, "a line below one cell"
    every = lines(0.2, 10, 20, 30, 40, 50, 59.8)
    assert head_of(every, rows) is None, "each row has its line"
    assert head_of([*every, *lines(11.8)], rows) == 1, "a double line among single ones"
    assert head_of(lines(10, 20, 30, 31.8), rows) == 3, "levels that lines part, above a double line"
    assert head_of(every, rows, bold=(0,)) == 1
    assert head_of([], rows, bold=(0, 1)) == 2
    assert head_of([], rows, bold=(0, 2, 4)) is None, "bold type is everywhere"
    assert head_of(lines(10), rows, bold=(0, 1)) == 1, "a bold title of a group"
    units = ["Name Value", ". (km)", "a 1", "b 2", "c 3", "d 4"]
    assert head_of(lines(20, 40), units) == 2, "a second line of labels"
    assert head_of(lines(20, 40), rows) is None, "a first group of data"
    assert head_of(lines(50), rows) is None, "the line above a sum"
    below_labels = [Box(5, 9.8, 40, 10.2), *lines(20)]
    assert head_of(below_labels, units) == 2, "a line that leaves out the first column"
    assert head_of(lines(20), units[:3]) == 2, "two rows of labels above one of data"


def test_a_group_of_data_is_no_header() -> None:
    texts = [["Name", "Value"], ["group", "1"], [None, "2"], ["b", "3"], ["c", "4"], ["d", "5"]]
    cells = [(r, c, text) for r, row in enumerate(texts) for c, text in enumerate(row) if text is not None]
    found = marked(cells, 6, 2, lines(30, 50))
    spans = [Cell(m.row, m.col, m.text, 2 if m.text == "group" else 1, box=m.box) for m in found.cells]
    assert header_rows(Table(6, 2, tuple(spans)), found) is None


def parts_of(*parts: list[str]) -> list[JoinedTable]:
    """The parts of a long table of two columns, from the page; a row without `|` spans both columns."""
    found = []
    for rows in parts:
        texts = [row.split("|") for row in rows]
        whole = marked(
            [(r, c, t) for r, row in enumerate(texts) for c, t in enumerate(row)], len(rows), 2, []
        )
        cells = tuple(replace(c, colspan=2) if len(texts[c.row]) == 1 else c for c in whole.cells)
        found.append(replace(whole, cells=cells, page=len(found) + 1))
    return list(join_tables([found], []))


def test_a_sign_that_its_font_lacks_is_no_truth() -> None:
    """Its page shows a box, of which the PDF does not say what it is; others are what the source says."""
    log = "x\nMissing character: There is no − (U+2212) in font Noto Serif/OT:script=\nlatn!\n"
    missing = Build(Path(), "a.tex", log=log).missing_signs
    source = r"\begin{tabular}{ll}Name & Count\\ Greek & −7\\ Latin & 8\end{tabular}"
    texts = [["Name", "Count"], ["Greek", "�7"], ["Latin", "8"]]
    found = [marked([(r, c, t) for r, row in enumerate(texts) for c, t in enumerate(row)], 3, 2, [])]

    def joined(signs: frozenset[str]) -> JoinedTable:
        grid = read_grid(source, all_rows=True)
        (table,) = join_tables([found], [TabularCandidate(source, grid, row_glyphs(grid))], signs)
        return table

    assert joined(frozenset("≠")).element is not None
    assert (joined(missing).element, joined(missing).note) == (
        None,
        "a table has signs that its font lacks: −",
    )


def test_tables_of_columns_are_read_column_by_column() -> None:
    """One over both columns parts what is above it from what is below."""
    left, right = [(20, 10), (20, 50), (20, 150)], [(320, 12), (320, 140)]
    boxes = [Box(x, y, x + 260, y + 30) for x, y in (*left, *right)] + [Box(100, 100, 500, 130)]
    elements = [Element(f"t{k}", "table", box=box) for k, box in enumerate(boxes)]

    def order(*, in_columns: bool) -> str:
        return " ".join(e.id for e in in_reading_order(elements, 600, in_columns=in_columns))

    assert order(in_columns=True) == "t0 t1 t3 t5 t2 t4"
    assert order(in_columns=False) == "t0 t3 t1 t5 t2 t4"
    sides = [
        Box(x + 5 * k, y, x + 5 * k + 4, y + 8) for x, y in ((20, 10), (320, 10), (20, 30)) for k in range(20)
    ]
    assert keeps_to_columns(sides, 600)
    assert not keeps_to_columns([Box(200 + 5 * k, 10, 205 + 5 * k, 18) for k in range(40)], 600)


def test_parts_of_a_long_table_repeat_their_header_below_their_caption() -> None:
    head = "Run|Energy"
    joined = parts_of(
        ["TABLE IV: Runs", head, "1|20", "2|30", "Table 4 continued"],
        ["TABLE IV: (Continued)", head, "3|40", "Table 4 continued"],
        ["to be continued", head, "4|50", "5|60"],
        ["TABLE IV: (Continued)", head],
    )
    elements = [part.element for part in joined if part.element is not None]
    grids = [e.table.text_rows() for e in elements if e.table is not None]
    assert grids == [
        [["Run", "Energy"], ["1", "20"], ["2", "30"]],
        [["Run", "Energy"], ["3", "40"]],
        [["to be continued"] * 2, ["Run", "Energy"], ["4", "50"], ["5", "60"]],
        [["Run", "Energy"]],
    ]
    assert [e.attributes.get("header_rows") for e in elements] == [1, 1, 2, 1]


def test_a_long_table_in_the_columns_of_a_page_has_a_part_in_each() -> None:
    def cell(row: int, col: int, x: float) -> RawCell:
        box = Box(x, 10 * row, x, 10 * row + 8)
        return RawCell(row, col, 1, box, [], letters("t", x=x), end=Box(x + 5, 10 * row, x + 5, 10 * row + 8))

    head = [cell(0, col, x + 20 * col) for x in (0, 300) for col in (0, 1)]
    body = [cell(row, col, x + 20 * col) for row, x in ((1, 0), (2, 300)) for col in (0, 1)]
    parts = columns_of(RawTable(1, cells=[*head, *body]))
    assert [[(c.row, c.col) for c in part.cells] for part in parts] == [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(0, 0), (0, 1), (2, 0), (2, 1)],
    ]
    assert columns_of(RawTable(1, cells=[*head, *body], box=Box(0, 0, 400, 30)))[0].cells == [*head, *body]


def test_missing_files_are_named_with_their_package() -> None:
    assert missing_file("x\n! LaTeX Error: File `acmart.cls' not found.\n") == "acmart.cls"
    assert (
        missing_file("!pdfTeX error: pdflatex (file ecrm1000): Font ecrm1000 at 600 not found") == "ecrm1000"
    )
    assert missing_file("nothing") is None
    assert package_of("acmart.cls") == "texlive-publishers"
    assert package_of("dsfont.sty") == "texlive-fonts-extra"
    assert package_of("ecrm1000") == "cm-super"
    assert package_of("nobody-has.sty") is None


def test_parts_of_numbers_in_two_columns_are_one() -> None:
    def cell(row: int, col: int, text: str, x0: float, x1: float, colspan: int = 1) -> MarkedCell:
        ink = Box(x0, 10 * row + 1, x1, 10 * row + 8)
        return MarkedCell(
            row, col, 1, colspan, text, Box(20 * col, 10 * row, 20 * col + 20, 10 * row + 10), ink
        )

    head = cell(0, 1, "Flux", 22, 50, colspan=2)
    names = [cell(r, 0, "name", 0, 15) for r in range(3)]
    numbers = [
        cell(1, 1, "12.", 25, 40),
        cell(1, 2, "45", 40, 50),
        cell(2, 1, "3.", 30, 40),
        cell(2, 2, "5", 40, 45),
    ]
    found = MarkedTable(1, 0, Box(0, 0, 60, 30), 3, 3, (head, *names, *numbers))
    whole = with_whole_numbers(found)
    assert whole.n_cols == 2
    assert {(c.row, c.col, c.colspan): c.text for c in whole.cells if c.col} == {
        (0, 1, 1): "Flux", (1, 1, 1): "12.45", (2, 1, 1): "3.5"
    }  # fmt: skip
    apart = [
        replace(c, ink=Box(c.ink.x0 + 9, 0, c.ink.x1 + 9, 8)) if c.col == 2 and c.ink else c for c in numbers
    ]
    assert with_whole_numbers(replace(found, cells=(head, *names, *apart))).n_cols == 3
    one = [replace(c, ink=Box(42, 0, 45, 8)) if c.text == "5" else c for c in numbers]
    assert with_whole_numbers(replace(found, cells=(head, *names, *one))).n_cols == 2
    wide = [replace(c, ink=Box(42, 0, 45, 8)) if c.col == 2 else c for c in numbers]
    assert with_whole_numbers(replace(found, cells=(head, *names, *wide))).n_cols == 3
    cut = [replace(c, text={"12.": "2.17", "45": "6", "3.": "12.4", "5": "1"}[c.text]) for c in numbers]
    joined = with_whole_numbers(replace(found, cells=(head, *names, *cut)))
    assert [c.text for c in joined.cells if c.row and c.col] == ["2.176", "12.41"]


def test_an_edge_follows_the_text_that_runs_over_it() -> None:
    def cell(row: int, col: int, text: str, x0: float, x1: float) -> RawCell:
        ink = [(Box(x0, 10 * row + 1, x1, 10 * row + 8), text, 0)] if text else []
        start = Box(30 * col, 10 * row, 30 * col, 10 * row + 9)
        return RawCell(row, col, 1, start, ink, letters(text, x=x0), end=start)

    cells = [cell(0, 0, "head", 0, 20), cell(0, 1, "more", 32, 50), cell(0, 2, "last", 62, 80)]
    cells += [cell(1, 0, "[1,2,3]", 0, 38), cell(1, 1, "7", 44, 48), cell(1, 2, "8", 62, 66)]
    cells += [cell(2, 0, "over two", 0, 63), cell(2, 1, "", 30, 30), cell(2, 2, "9", 70, 75)]
    cells += [cell(3, 0, "covers", 0, 40), cell(3, 1, "it", 35, 45), cell(3, 2, "9", 62, 75)]
    edges = {1: [Box(29, 0, 29, 9)], 2: [Box(60, 0, 60, 9)]}
    table = RawTable(1, cells=cells, edges=defaultdict(list, edges), box=Box(0, 0, 90, 40))
    right = {(c.row, c.col): c.box.x1 for c in place_cells(table, []).cells}
    assert right[0, 0] == 29 and right[0, 1] == 60
    assert right[1, 0] == 41 and right[1, 1] == 60
    assert right[2, 0] == 60 and right[2, 1] == 66.5
    assert right[3, 0] == 29  # one is printed over the other
    rule, frame = Box(-40, 20, 95, 20.4), Box(-50, -10, 120, 50)
    assert place_cells(table, [rule, frame]).box == place_cells(table, [rule]).box
    assert place_cells(table, [rule]).box.x0 == -40 and place_cells(table, []).box.x0 == 0


def test_what_marks_move_is_told_whatever_the_order_of_the_file() -> None:
    clean = [
        Glyph("t", Box(10, 20.49, 14, 28)),
        Glyph("t", Box(60, 20.49, 64, 28)),
        Glyph("x", Box(1, 2, 3, 4)),
    ]
    marked = [clean[2], Glyph("t", Box(60, 20.51, 64, 28)), clean[0]]
    assert difference(clean, marked) is None
    moved = [clean[2], Glyph("t", Box(60, 23.5, 64, 31)), clean[0]]
    assert difference(clean, moved) == "the marks move what it shows by 3.0 pt"
    assert difference(clean, clean[1:]) == "the marks change what it shows"
