"""`source-pairs:DIR`: where the texts of a source stand on its pages, and what their signs are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import openpyxl
import pikepdf
import pytest
from tests.corpora.tagging import Text, write_tagged

from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.source_pairs.lay import read_pair
from parsemark.corpora.source_pairs.places import signs_of
from parsemark.model import Category

from .test_source_pairs import HTML_TABLE, PROSE, TABLE, read, texts


def test_capitals_that_a_style_sheet_makes_are_those_of_the_page(tmp_path: Path) -> None:
    """Small capitals are the letters that they stand for."""
    page: list[Text] = [
        (-1, 20, 50, "THE NAME OF IT"),
        (-1, 20, 90, "S"),
        (-1, 27, 90, "^MALL"),
        (-1, 60, 90, "caps go on here"),
    ]
    markup = '<h2 style="text-transform: uppercase">The name of it</h2><p>Small caps go on here</p>'
    found = read(tmp_path, [page], "a.html", markup)
    assert [text for _, text in texts(found)] == ["THE NAME OF IT", "Small caps go on here"]


def test_accents_and_tails_do_not_hide_what_a_small_capital_is(tmp_path: Path) -> None:
    """Accented small capitals are as high as capitals without; a capital Q goes below the line."""
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1)
    font.BaseFont, font.Encoding = pikepdf.Name("/Times-Roman"), pikepdf.Name.WinAnsiEncoding
    runs = "(S) (YNTHÈSE À LA FORÇÊT, ) (Q) (UALITÉ)"
    parts = "".join(
        f"/F {8 if k % 2 else 10} Tf {run} Tj " for k, run in enumerate(re.findall(r"\(.*?\)", runs))
    )

    def paint(pdf: Any, _: Any) -> None:
        pdf.pages[0].Resources.Font.F = font
        shown = f"BT 20 300 Td {parts}ET BT /F 10 Tf 20 250 Td (QUALITÉ ET CIDRE) Tj ET"
        pdf.pages[0].Contents = pdf.make_stream(shown.encode("cp1252"))

    (tmp_path / "a.html").write_text("<h2>Synthèse à la forçêt, Qualité</h2><h2>Qualité et cidre</h2>")
    pdf = write_tagged(tmp_path / "a.pdf", [[]], [], change=paint)
    found = read_pair(pdf, tmp_path / "a.html")
    assert [text for _, text in texts(found)] == ["Synthèse à la forçêt, Qualité", "QUALITÉ ET CIDRE"]


def test_a_table_of_which_the_source_lacks_the_head_is_refused(tmp_path: Path) -> None:
    rows = [["Name", "No"], ["alpha", "12"], ["beta", "34"]]
    page: list[Text] = [
        (-1, 20 + 80 * c, 60 + 20 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    source = "<table><tr><td>alpha</td><td>12</td></tr><tr><td>beta</td><td>34</td></tr></table>"
    found = read(tmp_path, [page], "a.html", source)
    assert [t.refused for t in found.tables] == ["text right above or below it is in no element: 'NameNo'"]


def test_a_head_at_the_top_of_its_page_is_no_running_head(tmp_path: Path) -> None:
    """It was, and the table was accepted without it."""
    rows = [["Name", "No"], ["alpha", "12"], ["beta", "34"]]
    page: list[Text] = [
        (-1, 20 + 80 * c, 20 + 14 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    source = "<table><tr><td>alpha</td><td>12</td></tr><tr><td>beta</td><td>34</td></tr></table>"
    found = read(tmp_path, [[*page, (-1, 140, 390, "7")]], "a.html", source)
    assert "'NameNo'" in found.tables[0].refused


def test_a_running_head_is_no_label_of_a_caption(tmp_path: Path) -> None:
    page: list[Text] = [(-1, 20, 40, "Technical note 2"), (-1, 60, 54, "Table 3: Sites"), (-1, 20, 90, PROSE)]
    table = r"\begin{figure}\caption{Table 3: Sites}\end{figure}"
    found = read(tmp_path, [page], "a.tex", table + PROSE)
    assert texts(found)[0][1] == "Table 3: Sites"


def test_references_are_those_of_the_page_wherever_they_stand(tmp_path: Path) -> None:
    """At the end of a paragraph, in its first words, and before its first one."""
    page: list[Text] = [
        (-1, 20, 60, "It is said in Section 2 or not, as in [1, 2]."),
        (-1, 20, 80, "See Table 1 for more."),
        (-1, 20, 100, "Kelp [3] says nothing more."),
        (-1, 80, 120, "y=ax+b (1)"),
        (-1, 20, 140, "2 More"),
        (-1, 20, 160, "[1] K. Kelp. Sea Press."),
    ]
    source = (
        r"It is said in Section~\ref{s} or not, as in~\cite[p. 1]{k,l}." + "\n\n"
        r"See Table~\ref{t} for more." + "\n\n" + r"\citet{m} says nothing more. \[y=ax+b\]" + "\n"
        r"\section{More}\begin{thebibliography}{9}\bibitem{k} K. Kelp. Sea Press.\end{thebibliography}"
    )
    found = read(tmp_path, [page], "a.tex", source)
    assert [text for _, text in texts(found)] == [text for *_, text in page] and not found.missing
    assert found.pages[1].elements[3].latex == "y=ax+b"


def test_references_at_the_end_of_cells_belong_to_them(tmp_path: Path) -> None:
    """They stood beside the table, of which the cells were accepted without them."""
    rows = [["alpha", "Section 2", "Part 7.1"], ["beta", "Section 3", "Part 9"]]
    page: list[Text] = [
        (-1, 20 + 80 * c, 60 + 14 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    cells = [rf"{row[0]} & Section~\ref{{a}} & Part \ref{{b}}\\" for row in rows]
    source = rf"\begin{{document}}\begin{{tabular}}{{lll}}{''.join(cells)}\end{{tabular}}\end{{document}}"
    found = read(tmp_path, [[*page, (-1, 20, 200, "Below")]], "a.tex", source)
    assert found.tables[0].parts[0].table.text_rows() == rows


def test_a_table_with_words_right_beside_it_is_refused(tmp_path: Path) -> None:
    rows = [["alpha", "Section 2"], ["beta", "Section 3"]]
    page: list[Text] = [
        (-1, 20 + 80 * c, 60 + 14 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    cells = "".join(f"<tr><td>{row[0]}</td><td>Section</td></tr>" for row in rows)
    found = read(tmp_path, [page], "a.html", f"<table>{cells}</table>")
    assert found.tables[0].refused == "text right beside it is in no element: '23'"


def test_headings_do_not_stand_in_the_contents(tmp_path: Path) -> None:
    titles = ["Results of the whole year in numbers", "Outlook"]
    contents: list[Text] = [
        (-1, 20, 60 + 14 * k, f"{title} ...... {k + 2}") for k, title in enumerate(titles)
    ]
    page: list[Text] = [(-1, 20, 60 + 40 * k, title) for k, title in enumerate(titles)]
    source = "".join(f"<h2>{title}</h2>" for title in titles)
    found = read(tmp_path, [contents, page], "a.html", source)
    assert [text for _, text in texts(found, 2)] == titles


def test_a_heading_does_not_stand_within_a_line(tmp_path: Path) -> None:
    page: list[Text] = [
        (-1, 60, 40, "Tidal mills of the Sound"),
        (-1, 20, 80, "1 Mills"),
        (-1, 20, 100, PROSE),
    ]
    found = read(tmp_path, [page], "a.tex", r"\section{Mills}" + PROSE)
    assert (Category.TITLE, "1 Mills") in texts(found)


def test_a_heading_does_not_begin_the_line_of_another(tmp_path: Path) -> None:
    page: list[Text] = [(-1, 20, 60, "Harbour report"), (-1, 20, 80, PROSE)]
    made = read(tmp_path, [page], "a.html", f"<h1>Harbour</h1><h1>Harbour report</h1><p>{PROSE}</p>")
    assert texts(made) == [("title", "Harbour report"), ("text_block", PROSE)]
    assert made.missing == ("title 'Harbour'",)
    short = f"<p>Letters of a text</p><h1>Harbour report</h1><p>{PROSE}</p>"
    assert texts(read(tmp_path, [page], "b.html", short)) == texts(made)


@pytest.mark.parametrize("name", ["a.html", "a.md"])
def test_a_caption_may_say_the_words_of_the_head(tmp_path: Path, name: str) -> None:
    rows = [["Port", "Ships", "Tons"], ["Kiel", "5", "3.5"], ["Ulm", "1", "0.2"]]
    page: list[Text] = [(-1, 20, 60, PROSE), (-1, 40, 120, "Table 1: Ships by port")]
    page += [
        (-1, 20 + 60 * c, 140 + 20 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    cells = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in row)}</tr>" for row in rows)
    source = f"<p>{PROSE}</p><table><caption>Ships by port</caption>{cells}</table>"
    if name == "a.md":
        lines = ["|".join(row) for row in (rows[0], ["---"] * 3, *rows[1:])]
        source = "\n".join([PROSE, "", "Table: Ships by port", "", *lines])
    made = read(tmp_path, [page], name, source)
    assert ("table_caption", "Table 1: Ships by port") in texts(made)
    assert [e.table.text_rows() for e in made.pages[1].elements if e.table is not None] == [rows]


def test_short_items_with_numbers_have_a_place(tmp_path: Path) -> None:
    items = ["salt", "dry", "ship", *(f"x{k}" for k in "abcdefghijklmnop")]
    page: list[Text] = [(-1, 20, 40 + 15 * k, f"{k + 1}. {item}") for k, item in enumerate(items)]
    found = read(tmp_path, [page], "a.html", "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>")
    assert texts(found) == [(Category.LIST_GROUP, "\n".join(text for *_, text in page))]
    found = read(tmp_path, [[(-1, 20, 40, "1) salt"), (-1, 20, 55, "2) dry")]], "a.md", "1. salt\n2. dry\n")
    assert texts(found) == [(Category.LIST_GROUP, "1) salt\n2) dry")]


def test_a_raised_star_behind_a_cell_is_its_own(tmp_path: Path) -> None:
    """It was taken for the label of the next cell."""
    page: list[Text] = [
        (-1, 20, 60, "Key"), (-1, 100, 60, "Value"), (-1, 20, 90, "Rate"),
        (-1, 46, 86, "^*"), (-1, 100, 90, "-4.5"),
    ]  # fmt: skip
    source = "<tr><td>Key</td><td>Value</td></tr><tr><td>Rate<sup>*</sup></td><td>-4.5</td></tr>"
    found = read(tmp_path, [page], "a.html", f"<table>{source}</table>")
    (table,) = [e.table for e in found.pages[1].elements if e.table]
    assert [[text.replace("^", "") for text in row] for row in table.text_rows()] == [
        ["Key", "Value"],
        ["Rate*", "-4.5"],
    ]


def test_the_asterisk_of_tex_is_one() -> None:
    assert signs_of("1.5∗∗") == signs_of("1.5^{**}") == ".**"


def test_signs_and_currencies_of_cells_are_those_of_the_page(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    shown = [["Kind", "Value"]]
    for value, form, text in (
        (-1234.5, "$#,##0.00_);($#,##0.00)", "($1,234.50)"),
        (-9.9, "+0.0;-0.0", "-9.9"),
        (6.6, "+0.0;-0.0", "+6.6"),
        (-4.44, "0.00;[Red]-0.00", "-4.44"),
        (1234.5, "#,##0.00", "1.234,50"),
        (-12345, "0.00E+00", "-1.23E+04"),
        (7, "0", "-7"),
    ):
        shown.append([f"row {'abcdefg'[len(shown) - 1]}", text])
        sheet.cell(len(shown), 1, shown[-1][0])
        sheet.cell(len(shown), 2, value).number_format = form
    sheet["A1"], sheet["B1"] = shown[0]
    book.save(tmp_path / "a.xlsx")
    page = [(-1, 20 + 80 * c, 60 + 20 * r, text) for r, row in enumerate(shown) for c, text in enumerate(row)]
    found = read_pair(write_tagged(tmp_path / "a.pdf", [page], []), tmp_path / "a.xlsx")
    assert [part.table.text_rows() for table in found.tables for part in table.parts] == [shown]


def test_backslashes_of_cells_are_those_of_the_page(tmp_path: Path) -> None:
    """Some ways to write code double them."""
    rows = [["\\title", "Its name"], ["\\year", "A number"]]
    page: list[Text] = [
        (-1, 20 + 80 * c, 60 + 14 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    cells = "".join(f"<tr><td>\\{a}</td><td>{b}</td></tr>" for a, b in rows)
    found = read(tmp_path, [page], "a.html", f"<table>{cells}</table>")
    assert found.tables[0].parts[0].table.text_rows() == rows


def test_what_a_style_sheet_puts_before_a_cell_belongs_to_it(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        [[*TABLE[:-1], (-1, 177, 190, "-22")]],
        "a.html",
        f"<style>td::before{{content:'-'}}</style>{HTML_TABLE}",
    )
    assert found.tables[0].parts[0].table.text_rows()[-1] == ["alpha", "1.5", "-22"]


def test_texts_over_pages_past_running_heads_and_notes(tmp_path: Path) -> None:
    first = [(-1, 20, 300, PROSE), (-1, 20, 380, "1 A note.")]
    second = [(-1, 20, 15, "Head of a page 2"), (-1, 20, 60, "and goes on over the page.")]
    found = read(tmp_path, [first, second], "a.md", f"{PROSE} and goes on over the page.\n")
    assert texts(found)[0] == (Category.TEXT_BLOCK, PROSE)
    assert texts(found, 2)[0] == (Category.TEXT_BLOCK, "and goes on over the page.")


def test_a_repeated_head_that_begins_as_the_next_row_does(tmp_path: Path) -> None:
    head, rows = ["Item", "Sum"], [[f"item {k} of all", f"{k}.5"] for k in range(1, 7)]
    pages = [
        [
            (-1, 20 + 120 * c, 100 + 20 * r, text)
            for r, row in enumerate([head, *own])
            for c, text in enumerate(row)
        ]
        for own in (rows[:3], rows[3:])
    ]
    lines = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)
    source = "<table><thead><tr><th>Item</th><th>Sum</th></tr></thead>" + lines + "</table>"
    (tmp_path / "a.html").write_text(source)
    (table,) = read_pair(write_tagged(tmp_path / "a.pdf", pages, []), tmp_path / "a.html").tables
    assert [part.table.text_rows() for part in table.parts] == [[head, *rows[:3]], [head, *rows[3:]]]
    check = check_corpus(load_corpus(f"source-pairs:{tmp_path}", strict=True))
    assert check.is_faithful and check.glyphs == check.glyphs_inside > 0


def test_what_has_no_place_is_named_and_not_charged(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# Title\n\n{PROSE}\n\nNobody printed this sentence at all.\n")
    write_tagged(tmp_path / "a.pdf", [[(-1, 20, 40, "Title"), (-1, 20, 60, PROSE)]], [])
    corpus = load_corpus(f"source-pairs:{tmp_path}")
    (remark,) = corpus.remarks
    assert (
        "1 element of its source has no place" in remark.message
        and "Nobody printed this sentence at" in remark.message
    )
    (sample,) = corpus.samples()
    assert sample.truth is not None and sample.truth.covered == frozenset()
    assert [e.text for e in sample.truth.elements] == ["Title", PROSE]


def test_text_that_the_source_has_not_leaves_the_page_uncovered(tmp_path: Path) -> None:
    found = read(tmp_path, [[(-1, 20, 60, PROSE), (-1, 20, 200, "Words of nobody")]], "a.md", PROSE)
    assert not found.pages[1].covered


def test_references_and_formulas(tmp_path: Path) -> None:
    page = [
        (-1, 20, 60, "We see in Table 3 that it holds for all the numbers"),
        (-1, 20, 80, "of x2 and others."),
    ]
    found = read(
        tmp_path, [page], "a.md", "We see in Table that it holds for all the numbers\nof $x^2$ and others."
    )
    assert texts(found)[0][1] == "We see in Table 3 that it holds for all the numbers of x2 and others."
    page = [(-1, 20, 60, "We see that it holds for all the numbers"), (-1, 20, 80, "of x2 and others.")]
    found = read(tmp_path, [page], "a.md", "We see that it holds for all the numbers\nof $x^2$ and others.")
    assert texts(found)[0][1] == "We see that it holds for all the numbers of $x^2$ and others."


def test_a_formula_between_two_texts(tmp_path: Path) -> None:
    page = [(-1, 20, 60, PROSE), (-1, 60, 90, "y=ax+b"), (-1, 20, 120, "which is a line.")]
    found = read(tmp_path, [page], "a.md", f"{PROSE}\n\n$$y = a x + b$$\n\nwhich is a line.\n")
    (formula,) = (e for e in found.pages[1].elements if e.category == Category.EQUATION_ISOLATED)
    assert formula.latex == "y = a x + b" and not formula.ignore
    assert formula.box is not None and 59 < formula.box.x0 < 62


def test_equal_words_stand_where_their_neighbours_do(tmp_path: Path) -> None:
    page = [
        (-1, 20, 40, "Results 5"),
        (-1, 20, 80, PROSE),
        (-1, 20, 100, "Results"),
        (-1, 20, 120, PROSE[::-1]),
    ]
    found = read(tmp_path, [page], "a.md", f"{PROSE}\n\n# Results\n\n{PROSE[::-1]}\n")
    (title,) = (e for e in found.pages[1].elements if e.category == Category.TITLE)
    assert title.box is not None and 90 < title.box.y0 < 100
