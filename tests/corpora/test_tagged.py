"""`tagged:DIR`: what structure trees say, and when they are not believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from tests.corpora.tagging import Node, Text, grid, span, write_tagged
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.files import load_folder, write_manifest, write_page
from parsemark.corpora.tagged.read import TaggedDocument, read_tagged
from parsemark.corpora.tagged.table_lines import missing_span
from parsemark.corpora.tagged.text import DocumentContent
from parsemark.errors import CorpusError, PdfError
from parsemark.model import Box, Category, Cell, Table
from parsemark.pdf import Glyph
from parsemark.pdf import tags as pdf_tags
from parsemark.pdf.marked import OwnedPage
from parsemark.pdf.tags import Content, StructureTag, TagTree

ROWS = [["Name", "One", "Two"], ["alpha", "1", "2"], ["beta", "3", "4"]]


def read(tmp_path: Path, pages: list[list[Text]], *tree: Node, **more: Any) -> TaggedDocument:
    found = read_tagged(write_tagged(tmp_path / "a.pdf", pages, tree, **more))
    assert found is not None
    return found


def only_table(document: TaggedDocument) -> Table:
    (table,) = document.tables
    assert not table.refused
    (part,) = table.parts
    return part.table


def refusal(document: TaggedDocument) -> str:
    (table,) = document.tables
    assert not table.parts
    return table.refused


def rows_of(table: Table) -> list[list[str]]:
    return table.text_rows()


class TestTables:
    def test_plain(self, tmp_path: Path) -> None:
        texts, node = grid(ROWS)
        table = only_table(read(tmp_path, [texts], node))
        assert rows_of(table) == ROWS
        assert [cell.header for cell in table.cells] == [True] * 3 + [False] * 6
        box = table.cells[0].box
        assert box is not None and 19 < box.x0 < 22 and 42 < box.y0 < 44 and 49 < box.y1 < 51

    def test_rows_without_cells(self, tmp_path: Path) -> None:
        assert refusal(read(tmp_path, [[(0, 20, 20, "text")]], ("P", 0), ("Table", ("TR",)))) != ""

    def test_box_with_what_is_drawn_around_its_words(self, tmp_path: Path) -> None:
        """A rule that is far too long is none of it, nor is a frame that holds other words."""
        texts, node = grid(ROWS, top=80)
        plain = read(tmp_path, [texts], node).tables[0].parts[0].box
        lines = [(10, 60, 240, 1), (10, 84, 100, 1), (110, 84, 140, 1), (10, 130, 240, 1), (0, 50, 300, 1)]

        def draw(pdf: pikepdf.Pdf, _: Any) -> None:
            frame = [(5, 10, 290, 200)]
            shapes = " ".join(f"{x} {400 - y} {w} -{h} re f" for x, y, w, h in lines) + " 1 g "
            shapes += " ".join(f"{x} {400 - y} {w} -{h} re S" for x, y, w, h in frame) + " 0 g\n"
            page = pdf.pages[0]
            page.Contents = pdf.make_stream(shapes.encode() + page.Contents.read_bytes())

        document = read(tmp_path, [[*texts, (90, 20, 30, "Above")]], node, ("P", 90), change=draw)
        box = document.tables[0].parts[0].box
        assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx((10, 60, 250, 131), abs=1)
        assert box.contains(plain) and not plain.contains(box, 5)

    def test_box_of_a_table_inside_of_another(self, tmp_path: Path) -> None:
        """Its own lines, which may be double, and not those of the other one next to them."""
        texts, node = grid(ROWS, top=80)
        outer = ("Table", ("TR", ("TD", node)), ("TR", ("TD", 90)))

        def box(*frames: Box) -> Box:
            def draw(pdf: pikepdf.Pdf, _: Any) -> None:
                shapes = "".join(f"{f.x0} {400 - f.y0} {f.width} -{f.height} re S " for f in frames)
                page = pdf.pages[0]
                page.Contents = pdf.make_stream(shapes.encode() + page.Contents.read_bytes())

            document = read(tmp_path, [[*texts, (90, 20, 330, "Below")]], outer, change=draw)
            return document.tables[1].parts[0].box

        words = box()
        own, other = (words.expanded(8), words.expanded(10)), words.expanded(16)
        assert box(*own, other).as_tuple() == pytest.approx(own[1].as_tuple(), abs=1.5)
        assert box(Box(words.x0 - 9, words.y0 - 9, 290, 340)).as_tuple() == words.as_tuple()

    @pytest.mark.parametrize("bottom", [118, 138])
    def test_empty_rows_at_the_end_are_kept_as_far_as_lines_are_drawn(
        self, tmp_path: Path, bottom: float
    ) -> None:
        texts, node = grid(ROWS, top=80)

        def draw(pdf: pikepdf.Pdf, _: Any) -> None:
            lines = "".join(f"{x} 335 m {x} {400 - bottom} l S " for x in (15, 90, 170, 215))
            page = pdf.pages[0]
            page.Contents = pdf.make_stream(lines.encode() + page.Contents.read_bytes())

        document = read(tmp_path, [texts], (*node, ("TR", *[("TD",)] * 3)), change=draw)
        assert rows_of(only_table(document)) == ROWS + [["", "", ""]] * (bottom > 130)

    def test_columns_that_stand_elsewhere_on_the_next_page(self, tmp_path: Path) -> None:
        """As on facing pages; a page that does not show its columns is refused as before."""
        shown = [["Name", "One", "Two"], *([f"n{k}", f"a{k}", f"b{k}"] for k in range(4))]
        texts, node = grid(shown, first=0)

        def page(first: int, last: int, shift: float) -> list[Text]:
            return [(n, x + shift, y, text) for n, x, y, text in texts if first <= n < last]

        def table(*pages: list[Text]) -> Any:
            where = {n: k for k, own in enumerate(pages) for n, _, _, _ in own}
            rows = [(row[0], *((role, n, {"page": where[n]}) for role, n in row[1:])) for row in node[1:]]
            return read(tmp_path, list(pages), ("Table", *rows)).tables[0]

        parts = table(page(0, 9, 0), page(9, 15, 85)).parts
        assert [rows_of(part.table)[-1] for part in parts] == [["n1", "a1", "b1"], ["n3", "a3", "b3"]]
        assert "columns overlap" in table(page(0, 12, 0), page(12, 15, 85)).refused

    def test_spans_classes_role_maps_and_namespaces(self, tmp_path: Path) -> None:
        texts: list[Text] = [
            (0, 20, 60, "Name"), (1, 120, 50, "Values"), (2, 100, 70, "a"), (3, 180, 70, "b"),
            (4, 20, 90, "x"), (5, 100, 90, "1"), (6, 180, 90, "2"),
        ]  # fmt: skip
        own = Dictionary(NS="urn:mine", RoleMapNS=Dictionary(Kopf=Array([Name.TH, None]), Zeile=Name.Reihe))

        def name_space(pdf: pikepdf.Pdf, root: Any) -> None:
            standard = pdf.make_indirect(Dictionary(Type=Name.Namespace, NS="http://iso.org/pdf2/ssn"))
            own.RoleMapNS.Kopf[1] = standard
            space = pdf.make_indirect(own)
            for row in root.K[0].K:
                for element in (row, *row.K):
                    if str(element.S) in ("/Kopf", "/Zeile"):
                        element.NS = space

        node = (
            "Tafel",
            ("Zeile", ("Kopf", 0, span(RowSpan=2)), ("Kopf", 1, {"C": Name.Wide})),
            ("Zeile", ("Kopf", 2), ("Kopf", 3)),
            ("Zeile", ("TD", 4), ("TD", 5), ("TD", 6)),
        )
        found = read(
            tmp_path,
            [texts],
            node,
            change=name_space,
            RoleMap=Dictionary(Tafel=Name.Tabelle, Tabelle=Name.Table, Reihe=Name.TR),
            ClassMap=Dictionary(Wide=Dictionary(O=Name.Table, ColSpan=2)),
        )
        table = only_table(found)
        assert rows_of(table) == [["Name", "Values", "Values"], ["Name", "a", "b"], ["x", "1", "2"]]
        assert (0, 0, 2, 1) in table.slots and (0, 1, 1, 2) in table.slots
        assert [cell.header for cell in table.cells] == [True, True, True, True, False, False, False]

    def test_actual_text_and_words_in_several_contents(self, tmp_path: Path) -> None:
        texts, _ = grid([["A", "B"], ["?", "x"]])
        texts += [(9, 20, 110, "so"), (10, 31, 110, "me"), (11, 20, 122, "words"), (12, 100, 110, "y")]
        node = (
            "Table",
            ("TR", ("TH", 0), ("TH", 1)),
            ("TR", ("TD", ("Span", 2, {"ActualText": "≥ 5"})), ("TD", 3)),
            ("TR", ("TD", ("P", 9, ("Span", 10)), ("P", 11)), ("TD", 12)),
        )
        assert rows_of(only_table(read(tmp_path, [texts], node))) == [
            ["A", "B"],
            ["≥ 5", "x"],
            ["some words", "y"],
        ]

    def test_over_pages_with_a_head_that_is_an_artefact(self, tmp_path: Path) -> None:
        first, (_, *upper) = grid(ROWS)
        second, (_, *lower) = grid([["gamma", "5", "6"], ["delta", "7", "8"]], top=70)
        lower = [("TR", *(("TD", cell[1]) for cell in row[1:]), {"page": 1}) for row in lower]
        heads = [(-2, x, 50, text) for _, x, y, text in first if y == 50]
        found = read(tmp_path, [first, [*heads, *second]], ("Table", *upper, *lower))
        (table,) = found.tables
        assert not table.refused
        assert [part.page for part in table.parts] == [1, 2]
        assert rows_of(table.parts[0].table) == ROWS
        assert rows_of(table.parts[1].table) == [ROWS[0], ["gamma", "5", "6"], ["delta", "7", "8"]]
        parts = [e.attributes["part"] for page in found.pages.values() for e in page.elements if e.table]
        assert parts == [1, 2]
        assert all(Category.TABLE in page.covered for page in found.pages.values())

    def test_a_head_that_each_page_gives_to_one_cell(self, tmp_path: Path) -> None:
        first, (_, *upper) = grid(ROWS)
        heads = [(number, x, 50, text) for number, x, y, text in first if y == 50]
        second = [*heads, (3, 20, 70, "gamma"), (4, 100, 70, "5"), (5, 180, 70, "6")]

        def repeat(pdf: pikepdf.Pdf, root: Any) -> None:
            for number, cell in enumerate(root.K[0].K[0].K):
                again = Dictionary(Type=Name.MCR, Pg=pdf.pages[1].obj, MCID=number)
                cell.K.append(again)

        last = ("TR", ("TD", 3), ("TD", 4), ("TD", 5), {"page": 1})
        (table,) = read(tmp_path, [first, second], ("Table", *upper, last), change=repeat).tables
        assert [rows_of(part.table) for part in table.parts] == [ROWS, [ROWS[0], ["gamma", "5", "6"]]]

    def test_rows_that_are_gaps_are_none_and_empty_rows_stay(self, tmp_path: Path) -> None:
        texts: list[Text] = [(0, 20, 50, "A"), (1, 100, 50, "B"), (2, 20, 65, "c"), (3, 100, 65, "d")]
        empty = ("TR", ("TD",), ("TD",))
        node = ("Table", ("TR", ("TD", 0), ("TD", 1)), empty, ("TR", ("TD", 2), ("TD", 3)))
        table = only_table(read(tmp_path, [texts], node))
        assert rows_of(table) == [["A", "B"], ["c", "d"]]
        assert table.cells[0].header is None, "no cell says whether it is a header"
        texts[2:] = [(2, 20, 90, "c"), (3, 100, 90, "d")]
        assert rows_of(only_table(read(tmp_path, [texts], node))) == [["A", "B"], ["", ""], ["c", "d"]]

    def test_letters_that_run_right_in_columns_that_run_left(self, tmp_path: Path) -> None:
        texts, node = grid(ROWS)
        turned = [(number, 200 - x, y, text) for number, x, y, text in texts]
        assert "another order" in refusal(read(tmp_path, [turned], node))


class TestRefused:
    def test_a_missing_span(self, tmp_path: Path) -> None:
        texts, (_, head, first, second) = grid(ROWS)
        wide = ("TR", ("TD", 9))
        found = read(
            tmp_path,
            [[*texts, (9, 20, 110, "a note that runs over all columns")]],
            ("Table", head, first, second, wide),
        )
        assert "columns overlap" in refusal(found)
        assert found.pages[1].covered == frozenset()
        wide = ("TR", ("TD", 9, span(ColSpan=3)))
        found = read(
            tmp_path,
            [[*texts, (9, 20, 110, "a note that runs over all columns")]],
            ("Table", head, first, second, wide),
        )
        assert only_table(found).n_rows == 4

    @pytest.mark.parametrize(
        ("places", "across", "said"),
        [
            ((15, 95, 175, 235), (15, 235), None),
            ((15, 93, 96, 175, 235), (15, 235), None),  # a double line
            ((15, 85, 95, 175, 235), (15, 80), None),  # frames of cells that stand apart
            ((15, 60, 95, 175, 235), (15, 235), "right of column 1"),
            ((15, 95, 175, 235, 290), (15, 290), "right of column 3"),
            ((2, 15, 95, 175, 235), (2, 235), "left of column 1"),
        ],
    )
    def test_lines_around_a_column_that_no_cell_is_of(
        self, tmp_path: Path, places: tuple[float, ...], across: tuple[float, float], said: str | None
    ) -> None:
        """Browsers leave out the tags of empty cells, so of a whole column too."""
        texts, node = grid(ROWS)

        def draw(pdf: pikepdf.Pdf, _: Any) -> None:
            down = "".join(f"{x} 300 m {x} 365 l S " for x in places)
            rules = "".join(f"{across[0]} {y} m {across[1]} {y} l S " for y in (365, 343, 323, 300))
            pdf.pages[0].contents_add(f"/Artifact BMC {down}{rules} EMC".encode())

        found = read(tmp_path, [texts], node, change=draw)
        if said is None:
            assert rows_of(only_table(found)) == ROWS
        else:
            assert f"lines are drawn around one {said} that has no cells" in refusal(found)

    @pytest.mark.parametrize("is_drawn", [True, False])
    def test_an_empty_cell_without_the_line_that_others_have(self, tmp_path: Path, is_drawn: bool) -> None:
        texts, node = grid([["Name", "Values", ""], ["alpha", "1", "2"], ["beta", "3", "4"]])

        def draw(pdf: pikepdf.Pdf, root: Any) -> None:
            top = 365 if is_drawn else 345
            lines = [(15, 365), (95, 365), (170, top), (230, 365)]
            paths = "".join(f"{x} 300 m {x} {y} l S " for x, y in lines)
            pdf.pages[0].contents_add(f"/Artifact BMC {paths} EMC".encode())

        found = read(tmp_path, [texts], node, change=draw)
        if is_drawn:
            assert only_table(found).text_rows()[0] == ["Name", "Values", ""]
        else:
            assert "no line is right of column 2 in row 1" in refusal(found)

    def test_columns_that_nobody_sees(self, tmp_path: Path) -> None:
        texts, node = grid([["Name", "", "Two"], ["alpha", "", "2"]])
        assert "column 2 has no text" in refusal(read(tmp_path, [texts], node))

    def test_a_missing_cell(self, tmp_path: Path) -> None:
        """Empty cells without tags are found by the columns of other rows; one between two columns is not."""
        texts, (_, head, first, second) = grid(ROWS)
        short = ("TR", second[2], second[3])
        found = read(tmp_path, [texts[:6] + texts[7:]], ("Table", head, first, short))
        assert rows_of(only_table(found)) == [*ROWS[:2], ["", "3", "4"]]
        moved = (7, 60, 90, "mid")
        found = read(tmp_path, [[*texts[:6], moved, texts[8]]], ("Table", head, first, short))
        assert "columns overlap" in refusal(found)

    def test_an_order_other_than_the_page(self, tmp_path: Path) -> None:
        texts, (_, head, first, second) = grid(ROWS)
        turned = ("TR", second[2], second[1], second[3])
        assert "row 3 are in another order" in refusal(
            read(tmp_path, [texts], ("Table", head, first, turned))
        )

    def test_rows_the_other_way_round(self, tmp_path: Path) -> None:
        texts, (_, head, first, second) = grid(ROWS)
        assert "rows overlap" in refusal(read(tmp_path, [texts], ("Table", second, first, head)))

    def test_text_between_its_cells(self, tmp_path: Path) -> None:
        texts, node = grid(ROWS)
        stray = (9, 60, 70, "stray")
        assert "'stray'" in refusal(read(tmp_path, [[*texts, stray]], node, ("P", 9)))
        assert only_table(read(tmp_path, [[*texts, (-2, 60, 70, "stray")]], node)).n_rows == 3

    def test_frames_and_layout(self, tmp_path: Path) -> None:
        texts, node = grid(ROWS[:1])
        assert "one row" in refusal(read(tmp_path, [texts], node))
        texts, node = grid([row[:1] for row in ROWS])
        assert "one column" in refusal(read(tmp_path, [texts], node))
        texts, node = grid(ROWS)
        outer = ("Table", ("TR", ("TD", node), ("TD", 9)))
        found = read(tmp_path, [[*texts, (9, 260, 50, "side")]], outer)
        assert [bool(table.refused) for table in found.tables] == [True, False]

    def test_text_outside_of_cells(self, tmp_path: Path) -> None:
        texts, (_, *rows) = grid(ROWS)
        assert "outside of its cells" in refusal(
            read(tmp_path, [[*texts, (9, 20, 30, "loose")]], ("Table", 9, *rows))
        )

    def test_headers_that_other_cells_name(self, tmp_path: Path) -> None:
        texts, _ = grid(ROWS)
        rows = [[("TD", 3 * r + c, span(Headers=Array(["a"]))) for c in range(3)] for r in range(1, 3)]
        head = (("TD", 0, {"ID": "a"}), ("TD", 1, span(Scope=Name.Column)), ("TD", 2))
        table = only_table(read(tmp_path, [texts], ("Table", ("TR", *head), *(("TR", *row) for row in rows))))
        assert [cell.header for cell in table.cells] == [True, True, False] + [False] * 6


class TestPages:
    def test_marks_of_notes_and_their_text_are_two_words(self, tmp_path: Path) -> None:
        texts: list[Text] = [(0, 20, 300, "1"), (1, 25.6, 300, "By hand.")]
        document = read(tmp_path, [texts], ("Note", ("Lbl", 0), ("P", 1)), ("Note", ("Lbl", 0), 1))
        assert [e.text for e in document.pages[1].elements] == ["1 By hand."] * 2

    def test_text_in_no_element_is_named(self, tmp_path: Path) -> None:
        long: Text = (0, 20, 50, "a line of text that is in an element of the tree " * 3)
        texts: list[Text] = [long, (1, 20, 150, "Lost words"), (-1, 20, 170, "more"), (-2, 20, 20, "Head")]
        document = read(tmp_path, [texts], ("P", 0))
        ((where, said),) = document.report()["Pages"]
        assert where == "page 1"
        assert said == "36 of 39 words tagged; text that is not in any element: 'Lost words more'"
        assert not document.pages[1].covered

    @pytest.mark.parametrize("attached", [True, False])
    def test_formulas_in_mathml(self, tmp_path: Path, attached: bool) -> None:
        space = Dictionary(NS="http://www.w3.org/1998/Math/MathML")
        source = b"<math xmlns='http://www.w3.org/1998/Math/MathML'><msup><mi>x</mi><mn>2</mn></msup></math>"

        def attach(pdf: pikepdf.Pdf, root: Any) -> None:
            formula = root.K[0]
            if attached:
                file = Dictionary(Type=Name.Filespec, EF=Dictionary(F=pdf.make_stream(source)))
                formula.AF = Array([pdf.make_indirect(file)])
            else:
                for element in (formula.K[0], formula.K[0].K[0], *formula.K[0].K[0].K):
                    element.NS = pdf.make_indirect(space)

        math = ("math", ("msup", ("mi", 0), ("mn", 1)))
        node = ("Formula", 0, 1) if attached else ("Formula", math)
        page = read(tmp_path, [[(0, 50, 60, "x"), (1, 56, 56, "2")]], node, change=attach).pages[1]
        assert [(e.category, e.latex, e.ignore) for e in page.elements] == [
            (Category.EQUATION_ISOLATED, "x^{2}", False)
        ]

    def test_lines_of_code(self, tmp_path: Path) -> None:
        texts: list[Text] = [(0, 20, 60, "for x in y:"), (0, 33.2, 72, "print(x)")]
        page = read(tmp_path, [texts], ("P", ("Code", 0))).pages[1]
        assert [(e.category, e.text) for e in page.elements] == [
            (Category.CODE_TXT, "for x in y:\n    print(x)")
        ]

    def test_elements_in_logical_order(self, tmp_path: Path) -> None:
        texts, table = grid(ROWS, top=120, first=20)
        texts += [
            (0, 20, 30, "Title"), (1, 20, 50, "Some text"), (2, 20, 62, "goes on."), (3, 20, 80, "-"),
            (4, 30, 80, "item"), (5, 20, 92, "-"), (6, 30, 92, "other"), (7, 20, 108, "Table 1. Words"),
            (8, 20, 200, "1 note"), (-2, 20, 12, "running head"), (-2, 140, 390, "7"),
        ]  # fmt: skip
        items = (("LI", ("Lbl", 3), ("LBody", 4)), ("LI", ("Lbl", 5), ("LBody", 6)))
        caption = ("Caption", ("P", 7))
        tree = ("Document", ("H2", 0), ("P", 1, 2), ("L", *items), (*table, caption), ("Note", 8))
        page = read(tmp_path, [texts], tree).pages[1]
        assert [(e.category, e.text) for e in page.elements] == [
            ("title", "Title"),
            ("text_block", "Some text goes on."),
            ("list_group", "- item\n- other"),
            ("table_caption", "Table 1. Words"),
            ("table", None),
            ("page_footnote", "1 note"),
            ("header", "running head"),
            ("page_number", "7"),
        ]
        assert page.elements[0].attributes == {"level": 2}
        assert {e.derivation for e in page.elements} == {"structure tree"}
        assert page.covered == {str(c) for c in Category} - {"equation_isolated"}

    def test_what_is_raised_is_marked_as_such(self, tmp_path: Path) -> None:
        texts: list[Text] = [(0, 20, 30, "12.0"), (1, 39.5, 26, "^3")]
        texts += [(2, 60, 30, "page"), (2, 82.3, 26, "^1,2")]
        texts += [(3, 20, 60, "H"), (3, 27.3, 62, "^2"), (3, 30.7, 60, "O x"), (3, 60, 60, "^small")]
        page = read(tmp_path, [texts], ("Document", ("P", 0, ("Link", 1), 2), ("P", 3))).pages[1]
        assert [e.text for e in page.elements] == ["12.0^3 page^{1,2}", "H2O x small"]

    def test_a_document_that_tags_no_table_says_nothing_of_tables(self, tmp_path: Path) -> None:
        """A table that is set with tab stops is a paragraph a row."""
        stops: list[Text] = [(9 + r, 20, 220 + 20 * r, "   ".join(row)) for r, row in enumerate(ROWS)]
        rows = [("P", 9), ("P", 10), ("P", 11)]
        others = {str(c) for c in Category} - {"equation_isolated", "title"}
        assert read(tmp_path, [stops], *rows).pages[1].covered == others - {"table"}
        texts, node = grid(ROWS)
        assert read(tmp_path, [[*texts, *stops]], node, *rows).pages[1].covered == others

    def test_text_without_tags_leaves_the_page_uncovered(self, tmp_path: Path) -> None:
        page = read(tmp_path, [[(0, 20, 30, "known"), (-1, 20, 60, "not tagged")]], ("P", 0)).pages[1]
        assert [e.text for e in page.elements] == ["known"]
        assert page.covered == frozenset()

    def test_an_order_that_the_page_contradicts_is_not_told(self, tmp_path: Path) -> None:
        texts = [(k, 20, 30 + 20 * k, f"line {k}") for k in range(5)]
        page = read(tmp_path, [texts], *(("P", k) for k in (3, 0, 4, 1, 2))).pages[1]
        assert all(e.order is None for e in page.elements)

    def test_a_folder(self, tmp_path: Path) -> None:
        texts, node = grid(ROWS)
        write_tagged(tmp_path / "good.pdf", [texts], [node, ("P", 9)])
        plain = pikepdf.new()
        plain.add_blank_page()
        plain.save(tmp_path / "plain.pdf")
        corpus = load_corpus(f"tagged:{tmp_path}")
        (sample,) = corpus.samples()
        assert sample.truth is not None and sample.truth.covered is not None
        assert [str(remark) for remark in corpus.left_out] == [
            "plain.pdf: is left out: it has no structure tree."
        ]
        write_page(tmp_path / "kept", sample, None)
        write_manifest(tmp_path / "kept", name="kept")
        (again,) = load_folder(tmp_path / "kept").samples()
        assert again.truth == sample.truth

    def test_no_tagged_file_at_all(self, tmp_path: Path) -> None:
        plain = pikepdf.new()
        plain.add_blank_page()
        plain.save(tmp_path / "plain.pdf")
        with pytest.raises(CorpusError, match="no structure tree"):
            load_corpus(f"tagged:{tmp_path}")


class TestHostile:
    def test_a_tree_that_holds_itself(self, tmp_path: Path) -> None:
        def close(pdf: pikepdf.Pdf, root: Any) -> None:
            inner = root.K[0].K[0]
            inner.K.append(root.K[0])
            inner.K.append(inner)

        found = read(tmp_path, [[(0, 20, 30, "text")]], ("Document", ("P", 0)), change=close)
        assert found.faults == {"elements that are reached twice": 2}
        assert [e.text for e in found.pages[1].elements] == ["text"]

    def test_too_deep(self, tmp_path: Path) -> None:
        node: Node = ("P", 0)
        for _ in range(pdf_tags.MAX_DEPTH + 5):
            node = ("Div", node)
        with pytest.raises(PdfError, match="deeper than 200"):
            read(tmp_path, [[(0, 20, 30, "text")]], node)

    def test_too_many(self, tmp_path: Path) -> None:
        def many(pdf: pikepdf.Pdf, root: Any) -> None:
            direct = Dictionary(S=Name.P)
            root.K[0].K = Array([direct] * (pdf_tags.MAX_ELEMENTS + 1))

        with pytest.raises(PdfError, match="more than 400,000 elements"):
            read(tmp_path, [[(0, 20, 30, "text")]], ("Document",), change=many)

    def test_contents_and_pages_that_do_not_exist(self, tmp_path: Path) -> None:
        def nowhere(pdf: pikepdf.Pdf, root: Any) -> None:
            root.K[0].K.append(Dictionary(Type=Name.MCR, MCID=3, Pg=Dictionary()))
            root.K[0].K.append(-7)
            root.K[0].K.append(Name.What)

        tree = ("P", 0, 99, 12345678901)
        found = read(tmp_path, [[(0, 20, 30, "text")]], tree, change=nowhere)
        assert [e.text for e in found.pages[1].elements] == ["text"]
        assert found.pages[1].n_missing == 2
        assert found.faults == {"contents without a page": 3}

    def test_spans_without_end(self, tmp_path: Path) -> None:
        texts, (_, head, first, second) = grid(ROWS)
        huge = ("TR", ("TD", 3, span(ColSpan=999_999, RowSpan=10**9)), *first[2:])
        assert "too large" in refusal(read(tmp_path, [texts], ("Table", head, huge, second)))

    def test_roles_in_a_circle(self, tmp_path: Path) -> None:
        roles = Dictionary(A=Name.B, B=Name.A)
        found = read(tmp_path, [[(0, 20, 30, "text")]], ("A", 0), RoleMap=roles)
        assert [e.text for e in found.pages[1].elements] == ["text"]
        assert found.faults == {"roles that are mapped in a circle": 1}


def test_text_that_nobody_sees_is_no_truth(tmp_path: Path) -> None:
    texts = [(0, 20, 30, "Shown words here"), (1, 20, 60, "Hidden words there")]

    def whiten(pdf: pikepdf.Pdf, _: Any) -> None:
        page = pdf.pages[0]
        written = page.Contents.read_bytes()
        page.Contents = pdf.make_stream(written.replace(b"/Span <</MCID 1>>", b"1 g /Span <</MCID 1>>"))

    write_tagged(tmp_path / "a.pdf", [texts], [("P", 0), ("P", 1)], change=whiten)
    (sample,) = load_corpus(f"tagged:{tmp_path}").samples()
    assert sample.truth is not None
    assert [e.text for e in sample.truth.elements] == ["Shown words here"]


def test_a_word_that_is_divided_between_two_contents_is_whole(tmp_path: Path) -> None:
    texts = [(0, 20, 30, "Each of the partici-"), (1, 20, 44, "pating schools"), (2, 20, 80, "pre-1900 work")]
    write_tagged(tmp_path / "a.pdf", [texts], [("P", 0, 1), ("P", 2)])
    (sample,) = load_corpus(f"tagged:{tmp_path}").samples()
    assert sample.truth is not None
    assert [e.text for e in sample.truth.elements] == ["Each of the participating schools", "pre-1900 work"]


def test_the_command(tmp_path: Path) -> None:
    texts, node = grid(ROWS)
    frame = grid([["alone"]], top=200, first=20)
    pdf = write_tagged(tmp_path / "a.pdf", [[*texts, *frame[0]]], [node, frame[1], ("H1",), ("Figure",)])
    said = CliRunner().invoke(app, ["corpus", "info", str(pdf), "--tags"])
    assert said.exit_code == 0, said.output
    assert "agrees: 3 × 3 cells" in said.output and "refused: it has text in only one" in said.output
    data = json.loads(CliRunner().invoke(app, ["corpus", "info", str(pdf), "--tags", "--json"]).output)
    assert data["Pages"] == [["page 1", "1 table, 10 of 10 words tagged; a table whose tags are wrong"]]
    assert max(map(len, said.output.splitlines())) <= 80
    plain = pikepdf.new()
    plain.add_blank_page()
    plain.save(tmp_path / "plain.pdf")
    failed = CliRunner().invoke(app, ["corpus", "info", str(tmp_path / "plain.pdf"), "--tags"])
    assert failed.exit_code != 0


def test_raised_marks_before_their_words(tmp_path: Path) -> None:
    texts: list[Text] = [
        *((0, 20, 50, "Name"), (1, 100, 50, "Sum"), (2, 20, 66, "^14"), (3, 27, 70, "Carbon")),
        *((4, 100, 66, "^4"), (5, 104, 70, "17"), (6, 20, 90, "x"), (7, 100, 90, "18")),
        *((8, 20, 116, "^1"), (9, 26, 120, "By hand."), (10, 20, 140, "^2"), (11, 60, 142, "Far from it")),
    ]
    rows = [("TR", ("TD", 0), ("TD", 1)), ("TR", ("TD", 2, 3), ("TD", 4, 5)), ("TR", ("TD", 6), ("TD", 7))]
    found = read(tmp_path, [texts], ("Table", *rows), ("P", 8, 9), ("P", 10, 11))
    assert only_table(found).text_rows()[1] == ["^{14}Carbon", "^417"]
    assert [e.text for e in found.pages[1].elements if e.text] == ["^1 By hand.", "2 Far from it"]


class _HandMade(DocumentContent):
    """A page of glyphs as a reader gives them: text, left edge, top, size, and number of content."""

    def __init__(self, *glyphs: tuple[str, float, float, float, int]) -> None:
        numbers = dict.fromkeys(number for *_, number in glyphs)
        kids = tuple(Content(1, number) for number in numbers)
        super().__init__(Path("none.pdf"), TagTree((StructureTag("P", "P", kids),), {}))
        self.drawn = glyphs

    def read_page(self, number: int) -> OwnedPage:
        edges = [(x, y, x + 6, y + size) for _, x, y, size, _ in self.drawn]
        signs = tuple(Glyph(g[0], Box(*e), g[0] == "\n") for g, e in zip(self.drawn, edges, strict=True))
        owners = tuple(g[4] for g in self.drawn)
        return OwnedPage(300, 400, signs, owners, tuple(edges), frozenset(), ())


def test_numbers_and_marks_in_text_from_right_to_left() -> None:
    number = [
        ("ב", 80, 50, 10, 1),
        ("-", 74, 50, 10, 1),
        *((d, 50 + 6 * k, 50, 10, 1) for k, d in enumerate("2024")),
    ]
    line = _HandMade(*number, (".", 44, 50, 10, 1))
    assert line.text(line.pieces(0)) == "ב-2024."
    apart = _HandMade(*number, ("ג", 30, 50, 10, 1))
    assert apart.text(apart.pieces(0)) == "ב-2024 ג"
    mark = _HandMade(
        ("*", 62, 47, 7, 1),
        ("\n", 68, 50, 0, 1),
        ("א", 74, 50, 10, 2),
        ("ב", 68, 50, 10, 2),
        (" ", 80, 50, 10, 2),
    )
    assert mark.text(mark.pieces(0)) == "אב*"


@pytest.mark.parametrize(("start", "said"), [(0, None), (30, "no line is below row 1 in column 1")])
def test_an_empty_cell_without_the_line_that_others_have_above_them_lacks_a_span(
    start: int, said: str | None
) -> None:
    cells = [
        Cell(r, c, "" if (r, c) == (1, 0) else "x", box=Box(30 * c + 2, 20 * r, 30 * c + 22, 20 * r + 10))
        for r in range(3)
        for c in range(3)
    ]
    upright = [Box(x, 0, x, 50) for x in (26, 56)]
    lying = [Box(start, 15, 86, 15), Box(0, 35, 86, 35)]
    shapes = tuple((-1, False, box) for box in upright + lying)
    page = OwnedPage(100, 100, (), (), (), frozenset(), shapes)
    assert missing_span(page, Table(3, 3, tuple(cells)), Box(0, 0, 86, 50)) == said
