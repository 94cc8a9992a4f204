"""Papers in the looks of publishers: what they say is consistent, and their truth is what the PDF shows."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.files import read_manifest
from parsemark.corpora.latex.marks import MarkedPage
from parsemark.corpora.latex.synthetic.make import make_synthetic
from parsemark.corpora.latex.synthetic.options import SyntheticOptions
from parsemark.corpora.latex.synthetic.papers.compose import Paper
from parsemark.corpora.latex.synthetic.papers.furniture import Furniture, Sheet
from parsemark.corpora.latex.synthetic.papers.looks import LOOKS, heading_number, roman
from parsemark.corpora.latex.synthetic.papers.tables import draw_table
from parsemark.corpora.latex.synthetic.papers.tokens import Block, Setter, Token
from parsemark.corpora.latex.synthetic.papers.truth import find_parts, page_truth
from parsemark.corpora.latex.synthetic.papers.writing import MARK, Writer, cite_numbers, fields
from parsemark.corpora.synthetic.randomness import stream
from parsemark.errors import LatexError
from parsemark.formats import write_document
from parsemark.model import Box, Category, Page, Prediction, Sample
from parsemark.protocols import get_protocol

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
LINES = {"booktabs": 1.0}
OPTIONS = SyntheticOptions(
    7, 5, french=0, long=0, rotated=0, papers=1, document_pages=3, double_column=0.5, looks=("llncs", "icml")
)


def paper(look: str, seed: int, folder: Path, pages: int = 3) -> Paper:
    return Paper(stream("test", look, seed), LOOKS[look], fields()[seed % 6], LINES, folder, pages, 2)


def blocks_of(made: Paper, *categories: Category) -> list[str]:
    found = [b for b in made.register.blocks if b.category in categories]
    return ["".join(t.before + t.text for t in b.tokens).strip() for b in found]


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_what_a_paper_points_to_is_there(look: str, tmp_path: Path) -> None:
    made = paper(look, len(look), tmp_path)
    made.latex()
    texts = " ".join(blocks_of(made, Category.TEXT_BLOCK, Category.LIST_GROUP))
    captions = blocks_of(made, Category.TABLE_CAPTION, Category.FIGURE_CAPTION)
    labels = [caption for caption in captions if not caption.startswith("(")]  # those of subtables
    numbers = {re.match(r"(?i)(table|fig\w*)\.? ([\w.]*\w)", label).groups() for label in labels}
    for word, number in re.findall(r"(Table|Fig(?:ure|\.)) (\d+(?:\.\d+)?|[IVX]+)", texts):
        assert any(n == number and name[:3].lower() == word[:3].lower() for name, n in numbers), (
            word,
            number,
        )
    assert len(labels) == len({label.split(" ")[0] + label.split(" ")[1] for label in labels})
    references = blocks_of(made, Category.REFERENCE)
    if references and LOOKS[look].cite in ("ieee", "numeric"):
        cited = {int(n) for group in re.findall(r"\[([\d, –]+)\]", texts) for n in re.findall(r"\d+", group)}
        assert cited
        assert max(cited) <= len(references)
    elif references and LOOKS[look].cite == "author":
        for name, year in re.findall(r"\(([A-Z][a-z]+) et al\., (\d{4})", texts):
            assert any(r.startswith(name) and year in r for r in references), (name, year)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), field=st.sampled_from(fields()))
def test_sentences_are_whole_and_rarely_come_twice(seed: int, field: str) -> None:
    writer = Writer(stream(seed), field)
    writer.gather_references(10)
    said = [writer.sentence(role) for role in ("intro", "method", "result", "discussion") for _ in range(12)]
    assert len(set(said)) == len(said)
    for text in said:
        assert not re.search(r"[{}]|\s\s|\s[.,]", MARK.sub("x", text)), text
        assert text[0].isupper() or text[0] in "⟦0123456789"
        assert text.endswith(".")


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), field=st.sampled_from(fields()))
def test_totals_are_sums_and_grids_are_full(seed: int, field: str) -> None:
    writer = Writer(stream(seed), field)
    writer.gather_references(6)
    drawn = draw_table(writer, LINES, lambda: writer.cite("cite"), 200)
    table = drawn.content.table
    assert table.holes == ()
    assert drawn.caption.endswith(".")
    if drawn.content.kind == "counts":
        rows = [[int(t.replace(",", "")) for t in row[1:]] for row in table.text_rows()[1:]]
        assert [sum(column) for column in zip(*rows[:-1], strict=True)] == rows[-1]


def test_citations_are_written_as_the_styles_have_them() -> None:
    assert cite_numbers([7, 3], "numeric") == "[3, 7]"
    assert cite_numbers([5, 3, 4, 9], "numeric") == "[3–5, 9]"
    assert cite_numbers([5, 3, 4, 9], "ieee") == "[3]–[5], [9]"
    assert cite_numbers([2, 1], "raised") == "1,2"
    assert [roman(n) for n in (1, 4, 9, 14)] == ["I", "IV", "IX", "XIV"]
    assert heading_number(LOOKS["ieee-journal"], (2, 3)) == "C."
    assert heading_number(LOOKS["icml"], (2, 3)) == "2.3."
    setter = Setter(lambda kind, works: ("[1]", "[1]"))
    words = setter("as seen ⟦cite:0⟧, where ⟦math:x^2⟧ is 5%.")
    assert [w.text for w in words] == ["as", "seen", "[1],", "where", "$x^2$", "is", "5%."]
    assert words[-1].latex == r"5\%."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("papers") / "corpus"
    make_synthetic(OPTIONS, out, workers=1)
    return out


@needs_latex
def test_the_paper_is_the_size_of_the_page(made: Path) -> None:
    sizes = {"a4": (595, 842), "letter": (612, 792)}
    for sample in load_corpus(str(made)).samples():
        page = sample.truth
        assert (round(page.width), round(page.height)) == sizes[page.attributes["paper"]]


def samples(root: Path) -> list[Sample]:
    return list(load_corpus(str(root)).samples())


@pytest.mark.latex
@needs_latex
def test_papers_hold_the_bars_of_check(made: Path) -> None:
    manifest = read_manifest(made)
    assert "replaced" not in manifest.settings
    report = check_corpus(load_corpus(str(made)))
    figures = report.figures
    assert report.problems == []
    assert figures.tables == figures.tables_at_ink > 0
    assert report.grids == report.grids_equal > 0
    assert figures.glyphs_inside == figures.glyphs > 0
    assert figures.cells_equal == figures.cells > 0
    assert figures.elements_found == figures.elements > 0


@pytest.mark.latex
@needs_latex
def test_pages_are_as_planned_and_say_their_look(made: Path) -> None:
    pages = [s.truth for s in samples(made)]
    assert len(pages) == 7
    assert sum(not page.tables for page in pages) == 2
    assert {page.attributes["look"] for page in pages} == {"llncs", "icml"}
    assert {page.attributes["field"] for page in pages} <= set(fields())
    seen = Counter(e.category for page in pages for e in page.elements)
    assert {Category.TITLE, Category.TABLE_CAPTION, Category.PAGE_NUMBER, Category.HEADER} <= set(seen)
    for page in pages:
        ordered = [e.order for e in page.elements if e.order is not None]
        assert ordered == list(range(len(ordered)))
        ids = {e.id: e.category for e in page.elements}
        for table in page.tables:
            sons = [r.target for r in page.relations if r.kind == "parent_son" and r.source == table.id]
            assert Category.TABLE_CAPTION in {ids[son] for son in sons}
        for relation in page.relations:
            if relation.kind == "truncated":
                assert ids[relation.source] == ids[relation.target]


@pytest.mark.latex
@needs_latex
def test_the_truth_of_a_paper_written_as_markdown_is_perfect(made: Path) -> None:
    protocol = get_protocol("document")
    for sample in samples(made):
        text = write_document(sample.truth)
        rows = protocol.score_page(sample.truth, Prediction(sample.id, "own", text=text), None).scores
        found = {row.metric: row.value for row in rows if row.element == ""}
        assert (found["text_edit"], found["order_edit"]) == (0, 0), sample.id
        assert all(found[name] == 1 for name in ("formula_f1", "teds_f1") if name in found), sample.id


def words_at(first: int, places: list[tuple[float, float]]) -> dict[int, Box]:
    return {first + i: Box(x, y, x + 20, y + 8) for i, (x, y) in enumerate(places)}


def test_a_paragraph_over_two_columns_is_two_parts_and_floats_stand_between_them() -> None:
    tokens = [Token(word, word) for word in ["one", "two", "three", "four"]]
    text = Block(Category.TEXT_BLOCK, tokens, 1)
    figure = Block(Category.FIGURE, [], 5)
    caption = Block(Category.FIGURE_CAPTION, [Token("Fig. 1.", "Fig. 1.")], 6, parent=1)
    blocks = [text, figure, caption]
    paragraph = words_at(1, [(50, 700), (80, 700), (350, 200), (380, 200)])
    floating = {5: Box(320, 50, 560, 150), 6: Box(330, 160, 400, 170)}
    nothing = Sheet((None, None, None), (None, None, None))
    furniture = Furniture(nothing, nothing, nothing, 1)

    def truth(boxes: dict[int, Box], shown: list[Block]) -> Page:
        marks = MarkedPage(1, 612, 792, (), boxes, {})
        return page_truth(find_parts(shown, [marks], 2)[0], shown, furniture, 1, "p", {}, frozenset())

    plain = truth(paragraph, [text])
    assert [e.text for e in plain.elements] == ["one two", "three four"]
    assert [r.kind for r in plain.relations] == ["truncated"]
    parted = truth({**paragraph, **floating}, blocks)
    assert [e.category for e in parted.elements] == ["text_block", "figure", "figure_caption", "text_block"]
    assert [e.order for e in parted.elements] == [0, 1, 2, 3]
    assert {r.kind for r in parted.relations} == {"continued", "parent_son"}
    text.is_wide = True
    assert [
        e.text for e in truth(words_at(1, [(250, 60), (280, 60), (310, 60), (340, 60)]), [text]).elements
    ] == ["one two three four"]
    with pytest.raises(LatexError, match="has no ink"):
        find_parts([text], [MarkedPage(1, 612, 792, (), words_at(1, [(50, 60)]), {})], 2)
