"""`source-pairs:DIR`: the truth of a PDF from the source beside it."""

from __future__ import annotations

import inspect
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest
from openpyxl.styles import numbers
from tests.corpora.tagging import Text, write_tagged

from parsemark.corpora import load_corpus
from parsemark.corpora.source_pairs import lay
from parsemark.corpora.source_pairs import read_source as sources
from parsemark.corpora.source_pairs.lay import read_pair
from parsemark.corpora.source_pairs.sheets import sheet_html
from parsemark.corpora.tagged.read import TaggedDocument
from parsemark.errors import CorpusError, PdfError
from parsemark.model import Category, Element

PROSE = "Letters of a text that is long enough"
TABLE: list[Text] = [
    (-1, 20, 160, "Name"), (-1, 150, 150, "Values"), (-1, 100, 170, "One"), (-1, 180, 170, "Two"),
    (-1, 20, 190, "alpha"), (-1, 100, 190, "1.5"), (-1, 180, 190, "22"),
]  # fmt: skip
PAGE: list[Text] = [
    (-1, 20, 15, "A running head"),
    (-1, 20, 60, "1.1 Results"),
    (-1, 20, 80, PROSE),
    (-1, 20, 92, "to be found, with a hy-"),
    (-1, 20, 104, "phen at the end of a line."),
    *TABLE,
    (-1, 20, 220, "- first item"),
    (-1, 20, 234, "- second item"),
    (-1, 140, 390, "7"),
]
GRID = [["Name", "Values", "Values"], ["Name", "One", "Two"], ["alpha", "1.5", "22"]]
TEXT = f"{PROSE} to be found, with a hyphen at the end of a line."
HTML_TABLE = (
    '<table><tr><th rowspan="2">Name</th><th colspan="2">Values</th></tr><tr><th>One</th><th>Two</th></tr>'
    "<tr><td>alpha</td><td>1.5</td><td>22</td></tr></table>"
)
HTML = f"<h2>Results</h2><p>{TEXT}</p>{HTML_TABLE}<ul><li>first item</li><li>second item</li></ul>"


def write_zip(path: Path, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def word(path: Path) -> None:
    made: Any = docx.Document()
    made.add_heading("Results", 2)
    made.add_paragraph(TEXT)
    table = made.add_table(3, 3)
    for row, texts in enumerate(GRID):
        for col, text in enumerate(texts):
            table.cell(row, col).text = text if (row, col) not in ((0, 2), (1, 0)) else ""
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    for text in ("first item", "second item"):
        made.add_paragraph(text, style="List Bullet")
    made.save(str(path))


def open_document(path: Path) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    rows = [
        cell(' table:number-rows-spanned="2"', "Name") + cell(' table:number-columns-spanned="2"', "Values"),
        "<table:covered-table-cell/>" + cell("", "One") + cell("", "Two"),
        cell("", "alpha") + cell("", "1.5") + cell("", "22"),
    ]
    spaces = " ".join(f'xmlns:{n}="urn:{n}"' for n in ("office", "text", "table"))
    items = "".join(
        f"<text:list-item><text:p>{t} item</text:p></text:list-item>" for t in ("first", "second")
    )
    body = (
        f'<text:h text:outline-level="2">Results</text:h><text:p>{TEXT.replace(" ", "<text:s/>", 1)}</text:p>'
        f"<table:table>{''.join(f'<table:table-row>{row}</table:table-row>' for row in rows)}</table:table>"
        f"<text:list>{items}</text:list>"
    )
    write_zip(
        path,
        **{"content.xml": f"<office:document {spaces}><office:body>{body}</office:body></office:document>"},
    )


def book(path: Path) -> None:
    chapters = {"OPS/a b.xhtml": HTML.partition("<table>")[0], "OPS/c.xhtml": HTML[HTML.index("<table>") :]}
    parts = {name: f"<html><body>{text}</body></html>" for name, text in chapters.items()}
    items = '<item id="x" href="c.xhtml"/><item id="y" href="a%20b.xhtml"/>'
    spine = '<spine><itemref idref="y"/><itemref idref="x"/></spine>'
    package = f"<package><manifest>{items}</manifest>{spine}</package>"
    box = '<container><rootfile full-path="OPS/book.opf"/></container>'
    write_zip(path, **{"META-INF/container.xml": box, "OPS/book.opf": package}, **parts)


def article(path: Path) -> None:
    items = "".join(f"<list-item><p>{t} item</p></list-item>" for t in ("first", "second"))
    path.write_text(
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "http://example.invalid/JATS.dtd">'
        f"<article><body><sec><title>Results</title><p>{TEXT}</p><table-wrap>{HTML_TABLE}</table-wrap>"
        f"<list>{items}</list></sec></body></article>"
    )


def latex(path: Path) -> None:
    path.write_text(
        "\\documentclass{article}\\begin{document}\\subsection{Results}\n" + TEXT + "\n\n"
        "\\begin{tabular}{lll}\\multirow{2}{*}{Name} & \\multicolumn{2}{c}{Values}\\\\ & One & Two\\\\"
        "alpha & 1.5 & 22\\end{tabular}\n\n\\begin{itemize}\\item first item\\item second item\\end{itemize}"
        "\\end{document}"
    )


SOURCES: dict[str, Callable[[Path], object]] = {
    "docx": word,
    "odt": open_document,
    "epub": book,
    "xml": article,
    "tex": latex,
    "html": lambda path: path.write_text(HTML),
    "md": lambda path: path.write_text(
        f"## Results\n\n{TEXT}\n\n{HTML_TABLE}\n\n- first item\n- second item\n"
    ),
}


def texts(document: TaggedDocument, page: int = 1) -> list[tuple[str, str | None]]:
    return [(e.category, e.text) for e in document.pages[page].elements if e.table is None]


def read(tmp_path: Path, pages: list[list[Text]], name: str, text: str) -> TaggedDocument:
    (tmp_path / name).write_text(text)
    return read_pair(write_tagged(tmp_path / "a.pdf", pages, []), tmp_path / name)


@pytest.mark.parametrize("suffix", SOURCES)
def test_formats(tmp_path: Path, suffix: str) -> None:
    write_tagged(tmp_path / "a.pdf", [PAGE], [])
    SOURCES[suffix](tmp_path / f"a.{suffix}")
    corpus = load_corpus(f"source-pairs:{tmp_path}", strict=True)
    (sample,) = corpus.samples()
    assert sample.truth is not None
    elements = sample.truth.elements
    body = [e for e in elements if e.category not in (Category.HEADER, Category.PAGE_NUMBER)]
    assert [(e.category, e.text) for e in body] == [
        (Category.TITLE, "1.1 Results"),
        (Category.TEXT_BLOCK, TEXT),
        (Category.TABLE, None),
        (Category.LIST_GROUP, "- first item\n- second item"),
    ]
    (table,) = sample.truth.tables
    assert table.table is not None and table.table.text_rows() == GRID
    assert (0, 0, 2, 1) in table.table.slots and (0, 1, 1, 2) in table.table.slots
    place = table.table.cells[-1].box
    assert place is not None and 179 < place.x0 < 182 and 182 < place.y0 < 184
    assert {e.derivation for e in elements} == {f"source {sources.SOURCES[f'.{suffix}']}"}
    assert [e.text for e in elements if e not in body] == ["A running head", "7"]
    assert sample.truth.covers(Category.TEXT_BLOCK) and sample.truth.covers(Category.TABLE)


def test_sheets_as_they_are_shown(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"] = "A heading"
    for row in (["Item", "Share", "Sum"], ["x", 0.125, 1234.5], ["y", 2, -3]):
        sheet.append([]) if sheet.max_row == 1 else None
        sheet.append(row)
    sheet["B4"].number_format, sheet["C4"].number_format = "0.0%", numbers.FORMAT_NUMBER_COMMA_SEPARATED1
    book.save(tmp_path / "a.xlsx")
    shown = [["Item", "Share", "Sum"], ["x", "12.5%", "1,234.50"], ["y", "2", "-3"]]
    page = [(-1, 20 + 80 * c, 60 + 20 * r, text) for r, row in enumerate(shown) for c, text in enumerate(row)]
    found = read_pair(
        write_tagged(tmp_path / "a.pdf", [[(-1, 20, 30, "A heading"), *page]], []), tmp_path / "a.xlsx"
    )
    assert [part.table.text_rows() for table in found.tables for part in table.parts] == [shown]
    assert texts(found) == [(Category.TEXT_BLOCK, "A heading")] and not found.missing


def test_a_total_below_a_blank_row_belongs_to_its_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    rows: list[list[Any]] = [["Item", "Sum"], ["x", 12], ["y", 3], [], ["Total", 15], [], ["A note on all."]]
    for row in [*rows, [], ["Other", "Kind", "Size"], ["z", 1, 2]]:
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    found = [e.table.text_rows() if e.table else e.text for e in sources.read_source(tmp_path / "a.xlsx")]
    total = [["Item", "Sum"], ["x", "12"], ["y", "3"], ["Total", "15"]]
    assert found == [total, "A note on all.", [["Other", "Kind", "Size"], ["z", "1", "2"]]]


def test_a_table_with_formulas_without_values_is_named_as_such(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Item", "Sum"], ["x", 12], ["=A2", "=B2"], ["y", 3], [], ["A note on all of it."]):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    rows = [["Item", "Sum"], ["x", "12"], ["x", "12"], ["y", "3"]]
    page = [(-1, 20 + 80 * c, 60 + 20 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)]
    pdf = write_tagged(tmp_path / "a.pdf", [[*page, (-1, 20, 300, "A note on all of it.")]], [])
    found = read_pair(pdf, tmp_path / "a.xlsx")
    assert not found.tables and texts(found) == [(Category.TEXT_BLOCK, "A note on all of it.")]
    assert found.missing == ("table 'Item Sum x 12 y' with 2 formulas without a stored value",)
    assert not found.pages[1].covered


@pytest.mark.parametrize(
    ("name", "source", "encoding"),
    [
        ("a.html", "<p>Größe und Maß von Übel</p>", "cp1252"),
        ("a.html", '<meta charset="windows-1250"><p>Größe und Maß von Übel</p>', "cp1250"),
        ("a.tex", "\\usepackage[applemac]{inputenc}\\begin{document}Größe und Maß von Übel", "mac_roman"),
    ],
)
def test_sources_in_other_encodings(tmp_path: Path, name: str, source: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(source.encode(encoding))
    pdf = write_tagged(tmp_path / "a.pdf", [[]], [])
    assert read_pair(pdf, tmp_path / name).missing == ("text_block 'Größe und Maß von Übel'",)


def test_an_encoding_that_nothing_names_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_bytes("Größe".encode("cp1252"))
    with pytest.raises(PdfError, match="not UTF-8"):
        read_pair(write_tagged(tmp_path / "a.pdf", [[]], []), tmp_path / "a.tex")


def test_two_lists_of_word_are_two(tmp_path: Path) -> None:
    made: Any = docx.Document()
    for text, style in (
        ("a", "List Bullet"),
        ("b", "List Bullet 2"),
        ("c", "List Number"),
        ("d", "List Number"),
    ):
        made.add_paragraph(text, style=style)
    made.save(str(tmp_path / "a.docx"))
    found = [e.text for e in sources.read_source(tmp_path / "a.docx")]
    assert [[line[-1] for line in (text or "").split("\n")] for text in found] == [["a", "b"], ["c", "d"]]


def test_marks_that_a_source_writes_out_are_not_doubled(tmp_path: Path) -> None:
    page: list[Text] = [
        (-1, 20, 50, "-"),
        (-1, 30, 50, "first thing to do"),
        (-1, 20, 70, "Some text that follows"),
    ]
    found = read(tmp_path, [page], "a.html", "<p>- first thing to do</p><p>Some text that follows</p>")
    assert [text for _, text in texts(found)] == ["- first thing to do", "Some text that follows"]


def test_cells_of_articles_are_read_without_their_marks(tmp_path: Path) -> None:
    row = "<tr><td><bold>A</bold></td><td colspan='2'>x<break/>y <italic>z</italic></td></tr>"
    table = f"<table><tbody>{row}</tbody></table>"
    body = f"<article><body><table-wrap><label>Table 1</label>{table}</table-wrap></body></article>"
    (tmp_path / "a.xml").write_text(body)
    found = sources.read_source(tmp_path / "a.xml")
    (rows,) = [e.table.text_rows() for e in found if e.table]
    assert rows == [["A", "x y z", "x y z"]]


@pytest.mark.parametrize(
    ("defined", "table"),
    [
        (r"\newenvironment{mine}{\begin{tabular}{ll}}{\end{tabular}}", r"\begin{mine}%s\end{mine}"),
        (
            r"\newenvironment{mine}[2][ll]{\begin{table}#2\begin{tabular}{#1}}{\end{tabular}\end{table}}",
            r"\begin{mine}[lr]{\centering}%s\end{mine}",
        ),
        (
            r"\newenvironment*{mine}[1]{\begingroup\tabularx{#1}{lX}}{\endtabularx\endgroup}",
            r"\begin{mine}{\textwidth}%s\end{mine}",
        ),
        (r"\NewEnviron{mine}{\begin{tabular}{ll}\BODY\end{tabular}}", r"\begin{mine}%s\end{mine}"),
        (r"\newcommand{\bt}{\begin{tabular}{ll}}\def\et{\end{tabular}}", r"\bt %s\et"),
    ],
)
def test_tables_in_environments_of_the_source_itself(tmp_path: Path, defined: str, table: str) -> None:
    page: list[Text] = [
        (-1, 20, 110, "Site"), (-1, 100, 110, "Size (m)"), (-1, 20, 122, "Vik"), (-1, 100, 122, "1.5"),
    ]  # fmt: skip
    rows = table % r"Site & Size \unit{m}\\Vik & 1.5"
    source = rf"{defined}\newcommand{{\unit}}[1]{{(#1)}}\begin{{document}}{rows}\end{{document}}"
    found = read(tmp_path, [page], "a.tex", source)
    assert not found.missing
    assert found.tables[0].parts[0].table.text_rows() == [["Site", "Size (m)"], ["Vik", "1.5"]]


def test_captions_of_latex_have_their_labels_and_cost_no_table(tmp_path: Path) -> None:
    page: list[Text] = [
        (-1, 60, 96, "Table 1: Sites and weights"),
        (-1, 20, 110, "Site"), (-1, 100, 110, "2019"), (-1, 20, 122, "Vik"), (-1, 100, 122, "1.5"),
        (-1, 20, 200, "Fig. A.2. A black box"),
        (-1, 80, 240, "TABLE IV"), (-1, 40, 252, "Sources of it"),
        (-1, 20, 266, "Site"), (-1, 100, 266, "Ref."), (-1, 20, 278, "Nes"), (-1, 100, 278, "[3, 4]"),
        (-1, 20, 290, "Vik"), (-1, 100, 290, "[5]"),
    ]  # fmt: skip
    table = r"\caption{Sites and weights}\begin{tabular}{lr}Site & 2019\\Vik & 1.5\end{tabular}"
    figure = r"\begin{figure}\caption{A black box}\end{figure}"
    other = (
        r"\caption{Sources of it}\begin{tabular}{lr}Site & Ref.\\Nes & \cite{a}\\Vik & \cite{b}\end{tabular}"
    )
    first, second = (rf"\begin{{table}}{own}\end{{table}}" for own in (table, other))
    found = read(tmp_path, [page], "a.tex", first + figure + second)
    assert [t.refused for t in found.tables] == ["", ""]
    assert found.tables[1].parts[0].table.text_rows() == [["Site", "Ref."], ["Nes", "[3, 4]"], ["Vik", "[5]"]]
    assert texts(found) == [
        (Category.TABLE_CAPTION, "Table 1: Sites and weights"),
        (Category.FIGURE_CAPTION, "Fig. A.2. A black box"),
        (Category.TABLE_CAPTION, "TABLE IV Sources of it"),
    ]


def test_sections_of_slides_are_no_headings(tmp_path: Path) -> None:
    page: list[Text] = [(-1, 20, 60, "First part"), (-1, 20, 74, "Second part")]
    parts = r"\section[a]{First part}\begin{frame}\frametitle{Second part}\end{frame}"
    source = rf"\documentclass[t]{{beamer}}\begin{{document}}{parts}\end{{document}}"
    assert not read(tmp_path, [page], "a.tex", source).pages


def test_an_example_in_latex_does_not_end_the_document(tmp_path: Path) -> None:
    page: list[Text] = [(-1, 20, 60, "section Example"), (-1, 20, 90, "A text behind the example")]
    code = "\\begin{verbatim}\n\\section{Example}\n\\end{document}\n\\end{verbatim}\n"
    source = f"\\begin{{document}}{code}A text behind the example\\end{{document}}"
    found = read(tmp_path, [page], "a.tex", source)
    assert [text for kind, text in texts(found) if kind != "code_txt"] == ["A text behind the example"]


@pytest.mark.parametrize("name", ["a.md", "a.xml"])
def test_notes_of_a_source_have_the_number_of_the_page(tmp_path: Path, name: str) -> None:
    page: list[Text] = [(-1, 20, 60, f"{PROSE} 1"), (-1, 20, 300, "1 Counted in spring of the year.")]
    source = f"{PROSE}[^a]\n\n[^a]: Counted in *spring* of the year.\n"
    if name == "a.xml":
        note = "<fn><label>1</label><p>Counted in spring of the year.</p></fn>"
        source = f'<article><body><p>{PROSE}<xref ref-type="fn">1</xref></p>{note}</body></article>'
    made = read(tmp_path, [page], name, source)
    assert ("page_footnote", "1 Counted in spring of the year.") in texts(made)


@pytest.mark.parametrize("kind", ["docx", "html"])
def test_a_table_that_holds_another_is_refused_and_the_inner_one_read(tmp_path: Path, kind: str) -> None:
    if kind == "docx":
        made: Any = docx.Document()
        outer = made.add_table(1, 2)
        outer.cell(0, 0).text = "outside"
        inner = outer.cell(0, 1).add_table(2, 2)
        for k, text in enumerate(("in a", "in b", "in c", "in d")):
            inner.cell(k // 2, k % 2).text = text
        made.save(str(tmp_path / "a.docx"))
    else:
        rows = "<tr><td>in a</td><td>in b</td></tr><tr><td>in c</td><td>in d</td></tr>"
        (tmp_path / "a.html").write_text(
            f"<table><tr><td>outside</td><td><table>{rows}</table></td></tr></table>"
        )
    page = [(-1, 20, 60, "outside"), (-1, 100, 60, "in a"), (-1, 180, 60, "in b"), (-1, 100, 80, "in c")]
    pdf = write_tagged(tmp_path / "a.pdf", [[*page, (-1, 180, 80, "in d")]], [])
    outer_found, inner_found = read_pair(pdf, tmp_path / f"a.{kind}").tables
    assert "contains another table" in outer_found.refused
    assert inner_found.parts[0].table.text_rows() == [["in a", "in b"], ["in c", "in d"]]


class TestHostile:
    @staticmethod
    def refusal(tmp_path: Path, name: str) -> str:
        with pytest.raises(CorpusError) as caught:
            read_pair(write_tagged(tmp_path / "a.pdf", [PAGE], []), tmp_path / name)
        return str(caught.value)

    def test_bombs(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.odt", "w", zipfile.ZIP_DEFLATED) as archive:
            for k in range(5):
                archive.writestr(f"{k}.xml", b"\0" * (64 << 20))
        for name in ("a.odt", "a.docx", "a.xlsx", "a.epub"):
            (tmp_path / name).write_bytes((tmp_path / "a.odt").read_bytes())
            assert "unpacks to more than" in self.refusal(tmp_path, name)

    @pytest.mark.parametrize("name", ["a.xml", "a.odt"])
    def test_entities(self, tmp_path: Path, name: str) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret words")
        text = f'<!DOCTYPE article [<!ENTITY x SYSTEM "{secret.as_uri()}">]><article><p>&x;</p></article>'
        if name == "a.xml":
            (tmp_path / name).write_text(text)
        else:
            write_zip(tmp_path / name, **{"content.xml": text})
        assert "declares entities" in self.refusal(tmp_path, name)

    @pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.xlsx", "a.epub", "a.xml"])
    def test_rubbish(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"PK\3\4 nothing of the kind")
        assert name in self.refusal(tmp_path, name)

    @pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
    @pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.xlsx", "a.epub"])
    def test_parts_that_cannot_be_unpacked(self, tmp_path: Path, name: str, method: int) -> None:
        parts = ("content.xml", "[Content_Types].xml", "META-INF/container.xml")
        with zipfile.ZipFile(tmp_path / name, "w", method) as archive:
            for part in parts:
                archive.writestr(part, PROSE)
            starts = [archive.getinfo(part).header_offset + 30 + len(part) for part in parts]
        data = bytearray((tmp_path / name).read_bytes())
        for start in starts:
            data[start + 4 : start + 24] = bytes(range(255, 235, -1))
        (tmp_path / name).write_bytes(data)
        assert name in self.refusal(tmp_path, name)

    def test_pictures_are_not_looked_at(self, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(f'<p><img src="http://localhost:1/x.png" alt="no words">{PROSE}</p>')
        found = read_pair(write_tagged(tmp_path / "a.pdf", [[(-1, 20, 60, PROSE)]], []), tmp_path / "a.html")
        assert texts(found)[0] == (Category.TEXT_BLOCK, PROSE)

    def test_a_pdf_without_a_source(self, tmp_path: Path) -> None:
        write_tagged(tmp_path / "a.pdf", [PAGE], [])
        with pytest.raises(CorpusError, match="no source beside it"):
            load_corpus(f"source-pairs:{tmp_path}")


def test_what_word_hides_is_not_asked_for_and_what_it_raises_is(tmp_path: Path) -> None:
    made: Any = docx.Document()
    paragraph = made.add_paragraph(PROSE)
    paragraph.add_run(" hidden words").font.hidden = True
    paragraph.add_run("a").font.superscript = True
    made.save(str(tmp_path / "a.docx"))
    found: list[Element] = sources.read_source(tmp_path / "a.docx")
    assert [e.text for e in found] == [PROSE + "^a"]


def test_marks_of_notes_are_raised_and_no_digits(tmp_path: Path) -> None:
    made: Any = docx.Document()
    run = made.add_paragraph("in 1987").add_run()
    run.font.superscript = True
    mark = run._r.makeelement(f"{sources._WORD}footnoteReference", {f"{sources._WORD}id": "5"})
    run._r.append(mark)
    reader = sources._Word(made)
    reader.known = {"5": made.add_paragraph("A note.")._p.getparent()[-2]}
    assert reader.read()[0].startswith("<p>in 1987^1</p>")


def test_what_is_nested_is_read_once(tmp_path: Path) -> None:
    """Each level was read once for every level around it: 1 kB took 12 s."""
    inner = "<table><tr><td>innermost</td></tr></table><table-wrap-foot>foot</table-wrap-foot>"
    for _ in range(5):
        inner = f"<table><tr><td>x<table-wrap>{inner}</table-wrap></td></tr></table>"
    (tmp_path / "a.xml").write_text(f"<article><body><table-wrap>{inner}</table-wrap></body></article>")
    markup, _ = sources._jats(tmp_path / "a.xml")
    assert markup.count("innermost") == markup.count("foot") == 1

    made: Any = docx.Document()
    outer = made.add_paragraph("outer")._p
    for depth in range(5):
        box = outer.makeelement(f"{sources._WORD}txbxContent", {})
        below = made.add_paragraph(f"box {depth}")._p
        box.append(below)
        outer.append(box)
        outer = below
    assert sources._Word(made).read()[0].count("box 4") == 1


def test_notes_that_cite_each_other_are_read_once() -> None:
    made: Any = docx.Document()

    def citing(text: str, *names: str) -> Any:
        paragraph = made.add_paragraph(text)
        for name in names:
            run = paragraph.add_run()._r
            run.append(run.makeelement(f"{sources._WORD}footnoteReference", {f"{sources._WORD}id": name}))
        return paragraph._p

    citing("text", "0")
    reader = sources._Word(made)
    for k in range(8):
        note = made.element.makeelement(f"{sources._WORD}footnote", {})
        note.append(citing(f"note {k}.", str(k), str(k + 1), str(k + 1)))
        reader.known[str(k)] = note
    _, notes = reader.read()
    assert len(notes) == 8 and sum(note.count("note 7.") for note in notes) == 1


@pytest.mark.parametrize("span", ["²", "-1", "9" * 30, "x", ""])
def test_a_span_that_is_no_number_costs_nothing(tmp_path: Path, span: str) -> None:
    cell = f"<table><tr><td colspan='{span}'>one</td></tr></table>"
    (tmp_path / "a.xml").write_text(f"<article><body><table-wrap>{cell}</table-wrap></body></article>")
    (element,) = sources.read_source(tmp_path / "a.xml")
    assert element.table is not None and element.table.cells[0].text == "one"


def test_a_sheet_merged_to_its_end_is_bounded(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet: Any = made.active
    sheet["A1"] = "total"
    sheet["B3"] = 7
    sheet.merge_cells("A1:XFD2")
    made.save(tmp_path / "a.xlsx")
    sheet_file = zipfile.ZipFile(tmp_path / "a.xlsx")
    parts = {name: sheet_file.read(name) for name in sheet_file.namelist()}
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data.replace(b"A1:XFD2", b"C5:XFD1048576"))
    assert "total" in sheet_html(tmp_path / "a.xlsx")
    with pytest.raises(CorpusError, match=r"b\.xlsx: the merged cells of .* cover more than"):
        sheet_html(tmp_path / "b.xlsx")


def test_a_source_has_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    monkeypatch.setattr(lay, "read_source", lambda _: [bytearray(2**30)])
    with pytest.raises(PdfError, match="more than 512 MB"):
        inspect.unwrap(lay._elements_of)(tmp_path / "a.html")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_source_that_leads_outside_the_corpus_is_refused(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write_tagged(corpus / "a.pdf", [PAGE], [])
    (tmp_path / "secret.md").write_text(PROSE)
    (corpus / "a.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(CorpusError, match="leads outside"):
        load_corpus(f"source-pairs:{corpus}", strict=True)
