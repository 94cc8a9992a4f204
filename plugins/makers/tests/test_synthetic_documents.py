"""Documents and their renderers: one draft and one truth above all programs that set pages."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from parsemark import corpus_make
from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.errors import MakingError, UsageError
from parsemark.model import Box, Category, Element
from parsemark_makers.synthetic import Docx, Html, Typst
from parsemark_makers.synthetic.document import DocumentDraft, FormulaBlock, TableBlock, TextBlock
from parsemark_makers.synthetic.document_kinds import DOCUMENT_KINDS, DocumentDrawer, document_kinds
from parsemark_makers.synthetic.language import LANGUAGES, vocabulary
from parsemark_makers.synthetic.pieces import plain
from parsemark_makers.synthetic.plan import stream
from parsemark_makers.synthetic.renderers import fonts
from parsemark_makers.synthetic.table_draft import lay_out
from parsemark_makers.synthetic.table_kinds import KINDS, kinds_in
from parsemark_makers.synthetic.truth import Place, Rendered, first_overlap, locate

has_noto = (fonts.FOLDERS[0] / "NotoSans-Regular.ttf").exists() and fonts.FOLDERS[1].exists()
needs_office = pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice")
needs_fonts = pytest.mark.skipif(not has_noto, reason="needs Debian's Noto fonts")


def draft_of(language: str, kind: str, seed: int = 1, family: str = "flow") -> DocumentDraft:
    return DOCUMENT_KINDS[kind](DocumentDrawer(stream("test", seed), "draft", language, 1.0, family))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_what_it_has_words_for(language: str) -> None:
    assert "report" in document_kinds(language)
    assert len(kinds_in(language)) >= 5
    for kind in document_kinds(language):
        for seed in range(6):
            draft = draft_of(language, kind, seed)
            assert draft == draft_of(language, kind, seed)
            assert any(isinstance(b, TextBlock) for b in draft.blocks)
            for block in draft.blocks:
                if isinstance(block, TableBlock):
                    assert not block.table.holes


def test_sums_of_an_invoice_are_true() -> None:
    for seed in range(20):
        draft = draft_of("english", "invoice", seed)
        table = next(b.table for b in draft.blocks if isinstance(b, TableBlock))
        rows = [[cell.replace(",", "") for cell in row] for row in table.text_rows()[1:]]
        net = sum(round(float(row[2]) * float(row[3]), 2) for row in rows[:-3])
        assert float(rows[-3][4]) == pytest.approx(net, abs=0.01)
        assert float(rows[-1][4]) == pytest.approx(float(rows[-3][4]) + float(rows[-2][4]), abs=0.011)


@needs_fonts
@pytest.mark.parametrize("language", LANGUAGES)
def test_fonts_have_all_glyphs(language: str) -> None:
    for kind in document_kinds(language):
        fonts.require_glyphs(draft_of(language, kind))


@needs_fonts
def test_a_missing_glyph_is_an_error() -> None:
    draft = draft_of("english", "report")
    odd = TextBlock(Category.TEXT_BLOCK, (plain("\U0001f980"),))
    with pytest.raises(MakingError, match="\U0001f980"):
        fonts.require_glyphs(replace(draft, blocks=(odd,)))


def test_a_missing_font_names_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fonts, "FOLDERS", (tmp_path,))
    with pytest.raises(MakingError, match="apt-get install fonts-noto"):
        fonts.font_files(["Noto Sans"])


@needs_fonts
def test_typst_pages_are_faithful_and_the_same_again(tmp_path: Path) -> None:
    languages = (
        "english",
        "simplified_chinese",
        "arabic",
        "hebrew",
        "japanese",
        "korean",
        "russian",
        "greek",
    )
    options = Typst(pages=10, seed=5, name="ty", languages=languages, long=1.0)
    for name in ("one", "two"):
        corpus_make(options, tmp_path / name)
    one, two = (sorted((tmp_path / name / "truth").iterdir()) for name in ("one", "two"))
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in two]
    report_ = check_corpus(load_corpus(str(tmp_path / "one")))
    assert report_.is_faithful, report_.disagreements
    assert report_.tables_at_ink == report_.tables > 5
    assert report_.glyphs_inside == report_.glyphs > 500


@needs_fonts
def test_a_long_table_has_its_head_on_each_page(tmp_path: Path) -> None:
    from parsemark_makers.synthetic.renderers.typst import render

    draft = DocumentDrawer(stream("long", 1), "long", "english", 0.5, "flow").report(long=True)
    block = next(b for b in draft.blocks if isinstance(b, TableBlock) and b.long)
    samples = locate(render([draft], tmp_path)[0], maker="typst")
    parts = [e.table for s in samples for e in s.truth.tables if e.attributes["long"] and e.table is not None]
    assert len(parts) >= 2
    heads = [part.text_rows()[0] for part in parts]
    assert heads[0] == heads[1] == block.table.text_rows()[0]
    bodies = [row for part in parts for row in part.text_rows()[1:]]
    assert bodies == block.table.text_rows()[1:]


def test_what_was_not_set_is_an_error(tmp_path: Path) -> None:
    draft = draft_of("english", "invoice")
    with pytest.raises(MakingError, match="was not set"):
        locate(Rendered(draft, tmp_path / "none.pdf", (Place("0", 1, Box(0, 0, 1, 1)),)), maker="typst")


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match="Unknown language 'klingon'"):
        Typst(pages=3, languages=("klingon",))
    with pytest.raises(UsageError, match="has a vocabulary"):
        Typst(pages=3, languages=("arabic",), kinds=("invoice",))
    with pytest.raises(UsageError, match="at least one page"):
        Typst(pages=0)


def test_rows_of_a_table_are_a_table() -> None:
    layout = lay_out(KINDS["inventory"](stream(1), "english", 6, 4))
    rows = layout.table().text_rows()
    part = layout.part([0, 2, 4])
    assert part.table().text_rows() == [rows[0], rows[2], rows[4]]
    assert len(part.draft.rows) == 2 and part.draft.header_rows == 1


def test_what_latex_alone_can_set_is_refused() -> None:
    from parsemark_makers.synthetic.document import flowing_blocks

    draft = replace(draft_of("english", "report"), blocks=(FormulaBlock("x^2"),))
    with pytest.raises(MakingError, match="only LaTeX can typeset"):
        list(flowing_blocks(draft))


def test_overlaps_are_found() -> None:
    def element(name: str, box: Box) -> Element:
        return Element(name, Category.TEXT_BLOCK, box)

    assert first_overlap([element("1", Box(0, 0, 10, 10)), element("2", Box(0, 10, 10, 20))]) is None
    assert first_overlap([element("1", Box(0, 0, 10, 10)), element("2", Box(0, 5, 10, 20))]) is not None


def test_numbers_follow_the_language() -> None:
    from parsemark_makers.synthetic.language import number

    assert number(-1234.5, 1, "english") == "−1,234.5"
    assert number(1234.5, 1, "greek") == "1.234,5"
    assert number(1234.5, 1, "russian") == "1\u00a0234,5"
    assert vocabulary("hebrew").right_to_left


def is_faithful(folder: Path) -> bool:
    report_ = check_corpus(load_corpus(str(folder)))
    assert report_.is_faithful, (report_.problems, report_.disagreements)
    assert report_.tables_at_ink == report_.tables > 0
    return report_.glyphs_inside == report_.glyphs > 100


def truths(folder: Path) -> dict[str, bytes]:
    """The bytes of each page's truth."""
    return {path.name: path.read_bytes() for path in (folder / "truth").iterdir()}


@needs_fonts
@pytest.mark.browser
def test_web_pages_are_faithful_and_come_with_their_html(tmp_path: Path) -> None:
    options = Html(pages=4, seed=2, name="web", languages=("english", "arabic"), long=1.0)
    corpus_make(options, tmp_path / "web")
    assert is_faithful(tmp_path / "web")
    corpus_make(options, tmp_path / "again")
    assert truths(tmp_path / "web") == truths(tmp_path / "again") != {}
    source = (tmp_path / "web" / "sources" / "web-0001.html").read_text(encoding="utf-8")
    assert "<table" in source and "data-key" not in source and "<script" not in source


@needs_fonts
@needs_office
def test_word_documents_are_faithful_and_come_with_their_docx(tmp_path: Path) -> None:
    import docx

    options = Docx(pages=3, seed=2, name="word", languages=("english", "japanese"), long=1.0)
    corpus_make(options, tmp_path / "word")
    assert is_faithful(tmp_path / "word")
    corpus_make(options, tmp_path / "again")
    assert truths(tmp_path / "word") == truths(tmp_path / "again") != {}
    corpus = load_corpus(str(tmp_path / "word"))
    tables = [e.table for s in corpus.samples() if s.document == "word-0001" for e in s.truth.tables]
    written = docx.Document(str(tmp_path / "word" / "sources" / "word-0001.docx"))
    assert tables and tables[0] is not None
    assert written.tables[0].rows[0].cells[0].text.strip() == tables[0].cells[0].text


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsemark_makers.synthetic.renderers import docx as word
    from parsemark_makers.synthetic.renderers import html as web

    monkeypatch.setattr(shutil, "which", lambda name: None)
    for renderer, package in ((word, "libreoffice-writer-nogui"), (web, "chromium")):
        with pytest.raises(MakingError, match=f"apt-get install {package}"):
            renderer.render([draft_of("english", "invoice")], tmp_path)


def test_sums_of_a_statement_are_true() -> None:
    for seed in range(10):
        draft = draft_of("english", "statement", seed)
        for block in draft.blocks:
            if not isinstance(block, TableBlock):
                continue
            amounts = []
            for row in block.layout.draft.rows:
                if row.kind == "section":
                    amounts = []
                    continue
                value = row.pieces[1].text.replace(",", "").replace("–", "0")
                figure = -int(value[1:-1]) if value.startswith("(") else int(value)
                if row.kind == "total":
                    assert figure == sum(amounts)
                else:
                    amounts.append(figure)
