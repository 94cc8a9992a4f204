"""`pdf-parse-bench`, `omnidocbench`, `pubtables1m`, `soric` and `sources`."""

import json
import os
import pickle
from pathlib import Path

import pytest

from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.loaders import omnidocbench
from parsemark.errors import CorpusError
from parsemark.formats import read_table
from parsemark.model import Box, Category, Cell, Element, Page, Sample, Table

from .small_files import make_pdf, make_picture, voc, write

HTML = "<table><tr><td>a</td><td>b</td></tr></table>"


def test_pdf_parse_bench(tmp_path: Path) -> None:
    make_pdf(tmp_path / "pdfs" / "000.pdf", (612, 792))
    blocks = [
        {"type": "text", "data": "Before."},
        {
            "type": "table",
            "data": "\\begin{tabular}{lr} a & $x$ \\\\ b & 2 \\end{tabular}",
            "complexity": "simple",
        },
        {"type": "display-formula", "data": "$$x^2$$"},
        {"type": "table", "data": "no table"},
    ]
    write(tmp_path / "ground_truth" / "000.json", json.dumps(blocks))
    corpus = load_corpus(f"pdf-parse-bench:{tmp_path}")
    (sample,) = corpus.samples()
    assert sample.truth and (sample.truth.width, sample.truth.height) == (612, 792)
    text, table, formula, broken = sample.truth.elements
    assert (text.text, formula.latex, formula.category) == ("Before.", "$$x^2$$", "equation_isolated")
    assert table.table and table.table.text_rows() == [["a", "x"], ["b", "2"]]
    assert table.attributes == {"complexity": "simple"}
    assert broken.table is None and "no latex table" in str(broken.attributes["truth_error"])
    assert [e.order for e in sample.truth.elements] == [0, 1, 2, 3]


@pytest.mark.parametrize("blocks", ["{}", '[{"type": "table"}]', '[{"type": "poem", "data": ""}]', "["])
def test_pdf_parse_bench_with_broken_truth(tmp_path: Path, blocks: str) -> None:
    make_pdf(tmp_path / "pdfs" / "000.pdf")
    write(tmp_path / "ground_truth" / "000.json", blocks)
    with pytest.raises(CorpusError, match=r"000\.json"):
        load_corpus(f"pdf-parse-bench:{tmp_path}")


def omnidocbench_page(**info: object) -> dict[str, object]:
    def square(x0: float, y0: float, x1: float, y1: float) -> list[float]:
        return [x0, y0, x1, y0, x1, y1, x0, y1]

    dets = [
        {
            "category_type": "table",
            "poly": square(100, 200, 300, 400),
            "order": 2,
            "anno_id": 1,
            "html": HTML,
            "attribute": {"language": "table_en", "with_span": False, "line": "full_line"},
        },
        {"category_type": "isolate_formula", "poly": square(0, 0, 10, 10), "anno_id": 1, "latex": "x"},
        {
            "category_type": "text_block",
            "ignore": True,
            "order": None,
            "anno_id": 7,
            "text": "t",
            "attribute": {"text_language": "text_english"},
        },
        {"category_type": "table", "latex": "\\begin{tabular}{l} a \\end{tabular}"},
    ]
    attribute = {"language": "en", "special_issue": ["colorful_backgroud", "None"], "data_source": "PPT2PDF"}
    return {
        "layout_dets": dets,
        "page_info": {
            "page_no": 7,
            "width": 1190,
            "height": 1684,
            "image_path": "my doc.pdf_7.jpg",
            "page_attribute": attribute,
            **info,
        },
        "extra": {
            "relation": [
                {"relation_type": "truncated", "source_anno_id": 1, "target_anno_id": 7},
                {"relation_type": "truncated", "source_anno_id": 1, "target_anno_id": 99},
            ]
        },
    }


def test_names_of_attributes_have_one_spelling() -> None:
    assert omnidocbench.attributes({"colorful_backgroud": True}) == {"colorful_background": True}


def test_omnidocbench_without_a_pdf(tmp_path: Path) -> None:
    file = write(tmp_path / "OmniDocBench.json", json.dumps([omnidocbench_page()]))
    make_picture(tmp_path / "images" / "my doc.pdf_7.jpg", 119, 168)
    (sample,) = load_corpus(f"omnidocbench:{file}").samples()
    assert (sample.id, sample.document, sample.page_number, sample.pdf) == ("my_doc.pdf_7", "my doc", 1, None)
    assert sample.image is not None and sample.truth is not None
    assert sample.truth.attributes == {
        "language": "english",
        "colorful_background": True,
        "data_source": "PPT2PDF",
    }
    table, formula, text, second = sample.truth.elements
    assert table.table and table.table.text_rows() == [["a", "b"]] and table.html == HTML
    assert table.attributes == {"language": "english", "with_span": False, "line": "full_line"}
    assert (table.box, table.order) == (Box(100, 200, 300, 400), 2)
    assert (formula.id, formula.category, formula.order) == ("1-e1", "equation_isolated", None)
    assert text.ignore and text.attributes == {"text_language": "english"}
    assert second.table and second.table.text_rows() == [["a"]]
    assert [(r.source, r.target) for r in sample.truth.relations] == [("1", "7")]


def test_omnidocbench_with_a_pdf_is_in_points(tmp_path: Path) -> None:
    file = write(tmp_path / "OmniDocBench.json", json.dumps([omnidocbench_page()]))
    make_pdf(tmp_path / "pdfs" / "my doc.pdf_7.pdf", (595, 842))
    (sample,) = load_corpus(f"omnidocbench:{tmp_path}").samples()
    assert sample.truth and sample.truth.width == 595 and sample.pdf is not None
    assert sample.truth.elements[0].box == Box(50, 100, 150, 200)
    assert file.stem == load_corpus(f"omnidocbench:{file}").version


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": 1}, "not a list of pages"),
        ([{}], "page 0"),
        ([omnidocbench_page(width=0)], "no size"),
        ([omnidocbench_page() | {"layout_dets": [{}]}], "element 0"),
        ([omnidocbench_page() | {"layout_dets": [{"category_type": "table", "poly": ["x"]}]}], "poly"),
    ],
)
def test_omnidocbench_with_broken_data(tmp_path: Path, data: object, message: str) -> None:
    file = write(tmp_path / "o.json", json.dumps(data))
    with pytest.raises(CorpusError, match=message):
        load_corpus(f"omnidocbench:{file}")


STRUCTURE = [
    ("table", (10, 10, 210, 110)),
    ("table column", (10, 10, 110, 110)),
    ("table column", (110, 10, 210, 110)),
    ("table row", (10, 60, 210, 85)),
    ("table row", (10, 10, 210, 35)),
    ("table row", (10, 35, 210, 60)),
    ("table row", (10, 85, 210, 110)),
    ("table column header", (10, 10, 210, 60)),
    ("table spanning cell", (10, 10, 110, 60)),
    ("table projected row header", (10, 60, 210, 85)),
]
WORDS = [
    ("Name", 20, 30),
    ("P", 150, 20),
    ("R", 150, 45),
    ("All", 20, 70),
    ("of", 45, 70),
    ("x", 20, 95),
    ("0.5", 150, 95),
]


def test_pubtables1m(tmp_path: Path) -> None:
    write(tmp_path / "s" / "test" / "PMC1_table_0.xml", voc(STRUCTURE, 220, 120, "PMC1_table_0.jpg"))
    make_picture(tmp_path / "s" / "images" / "PMC1_table_0.jpg", 220, 120)
    words = [{"bbox": [x, y, x + 15, y + 10], "text": t} for t, x, y in WORDS]
    write(tmp_path / "s" / "words" / "PMC1_table_0_words.json", json.dumps(words))
    page = [("table", (50, 60, 10, 20)), ("table rotated", (0, 0, 5, 5))]
    write(tmp_path / "d" / "test" / "PMC1_1.xml", voc(page, 100, 100))
    corpus = pickle.loads(pickle.dumps(load_corpus(f"pubtables1m:{tmp_path}")))
    detection, structure = corpus.samples()
    assert [e.box for e in detection.truth.tables] == [Box(10, 20, 50, 60), Box(0, 0, 5, 5)]
    assert [e.attributes["rotated"] for e in detection.truth.tables] == [False, True]
    assert structure.document == "PMC1" and structure.image is not None
    (table,) = structure.truth.tables
    assert table.table.text_rows() == [["Name", "P"], ["Name", "R"], ["All of", "All of"], ["x", "0.5"]]
    assert [c.header for c in table.table.cells] == [True, True, True, False, False, False]
    assert read_table(table.html).text_rows() == table.table.text_rows()
    assert structure.truth.attributes == {"split": "test", "part": "structure"}


def test_pubtables1m_without_words(tmp_path: Path) -> None:
    write(tmp_path / "test" / "PMC1_table_0.xml", voc(STRUCTURE, 220, 120))
    (sample,) = load_corpus(f"pubtables1m:{tmp_path / 'test'}").samples()
    assert sample.truth and sample.truth.tables[0].attributes["without_words"] is True
    assert sample.truth.tables[0].table and sample.truth.tables[0].table.n_rows == 4
    assert sample.truth.tables[0].is_unread, "what its cells hold is not known"


def test_pdf_parse_bench_names_pdfs_without_truth_and_tables_that_are_cut(tmp_path: Path) -> None:
    cut, whole = r"\begin{tabular}{l", r"\begin{tabular}{l}a & b\end{tabular}"
    blocks = [{"type": "table", "data": data} for data in (cut, f"{whole[:-13]} \\\\", whole)]
    write(tmp_path / "ground_truth" / "000.json", json.dumps(blocks))
    for name in ("000", "001"):
        make_pdf(tmp_path / "pdfs" / f"{name}.pdf")
    corpus = load_corpus(f"pdf-parse-bench:{tmp_path}")
    assert [str(remark) for remark in corpus.left_out] == [
        "pdfs/001.pdf: is left out: there is no ground_truth/001.json."
    ]
    (sample,) = corpus.samples()
    assert sample.truth and [t.is_unread for t in sample.truth.tables] == [True, True, False]
    assert r"\begin{tabular} has no end" in str(sample.truth.tables[0].attributes["truth_error"])


def test_pubtables1m_with_too_much_structure(tmp_path: Path) -> None:
    lines = [("table row", (0, i, 9, i + 1)) for i in range(6000)]
    lines += [("table column", (i, 0, i + 1, 9)) for i in range(6000)]
    write(tmp_path / "test" / "x.xml", voc(lines, 9, 9))
    with pytest.raises(CorpusError, match="exceeds the size limit"):
        list(load_corpus(f"pubtables1m:{tmp_path}").samples())


def test_soric(tmp_path: Path) -> None:
    make_pdf(tmp_path / "pdfs" / "doc.pdf", (600, 800), (600, 800), (600, 800))
    for number in range(3):
        make_picture(tmp_path / "images" / f"doc_{number}.jpg", 1200, 1600)
    write(
        tmp_path / "test" / "doc_1.xml",
        voc([("table", (100, 200, 300, 400)), ("figure", (0, 0, 1, 1))], 1200, 1600),
    )
    boxes = [("table", (0, 0, 100, 100)), ("table", (0, 200, 100, 300))]
    write(tmp_path / "test" / "doc_2.xml", voc(boxes, 1200, 1600))
    write(tmp_path / "html" / "doc_1_0.html", HTML)
    write(tmp_path / "html" / "doc_2_0.html", HTML)
    corpus = pickle.loads(pickle.dumps(load_corpus(f"soric:{tmp_path}")))
    zero, one, two = corpus.samples()
    assert [s.page_number for s in (zero, one, two)] == [1, 2, 3]
    assert {s.document for s in (zero, one, two)} == {"doc"}
    assert zero.truth.tables == () and zero.truth.attributes == {"annotated": False}
    (table,) = one.truth.tables
    assert table.box == Box(50, 100, 150, 200) and table.table.text_rows() == [["a", "b"]]
    assert [e.table for e in two.truth.tables] == [None, None]
    assert two.truth.tables[0].attributes["truth_error"] == "There are 1 HTML files for 2 boxes."
    (tmp_path / "html" / "doc_1_0.html").unlink()
    (bare,) = list(load_corpus(f"soric:{tmp_path}").samples())[1].truth.tables
    assert bare.attributes == {"rotated": False, "truth_error": "There are 0 HTML files for 1 boxes."}


def test_soric_with_one_pdf_per_page(tmp_path: Path) -> None:
    make_pdf(tmp_path / "pdfs" / "a_9.pdf", (600, 800))
    make_picture(tmp_path / "images" / "a_9.png", 600, 800)
    (sample,) = load_corpus(f"soric:{tmp_path}").samples()
    assert (sample.document, sample.page_number, sample.pdf) == ("a", 1, tmp_path / "pdfs" / "a_9.pdf")


@pytest.mark.parametrize(
    "name", ["pdf-parse-bench", "icdar2013", "pubtables1m", "soric", "folder", "omnidocbench"]
)
def test_an_empty_folder_is_an_error_that_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match=str(tmp_path)):
        load_corpus(f"{name}:{tmp_path}")


@pytest.mark.parametrize("loader", ["pubtables1m", "soric"])
def test_a_name_that_is_no_unicode_costs_itself_and_is_told(tmp_path: Path, loader: str) -> None:
    text = voc([("table", (1, 2, 30, 40))], 100, 100)
    write(tmp_path / "test" / "PMC1_1.xml", text)
    (tmp_path / "test" / os.fsdecode(b"PMC\xff_1.xml")).write_text(text)
    corpus = load_corpus(f"{loader}:{tmp_path}")
    assert corpus.keys == ("PMC1_1",)
    (remark,) = corpus.left_out
    assert remark.where == "test/PMC?_1.xml" and "not UTF-8" in remark.message


@pytest.mark.parametrize("odd", ["a/../b c", "..", "", "a\nb", "ü b"])
def test_ids_that_are_no_names_of_files_are_refused(tmp_path: Path, odd: str) -> None:
    with pytest.raises(CorpusError, match="ids have letters"):
        Corpus.of("mine", [Sample(odd, "d", 1, None, None)], root=tmp_path, version="1", licence="CC0")


def _story_page(root: Path, number: int, rows: list[list[str]], head: int, *, long: bool) -> None:
    cells = tuple(
        Cell(r, c, text, header=r < head, box=Box(10 * c, 10 * r, 10 * c + 10, 10 * r + 10))
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    )
    table = Table(len(rows), len(rows[0]), cells)
    element = Element("e0", Category.TABLE, Box(0, 0, 20, 90), 0, table=table, attributes={"long": long})
    text = Element("e1", Category.TEXT_BLOCK, Box(0, 100, 20, 110), 1, text="words")
    page = Page(f"doc-p{number}", 100, 200, (element, text), attributes={"layout": "x", "kind": "invoice"})
    write_page(root, Sample(page.id, "doc", number, page, root / "pdfs/doc.pdf"), "pdfs/doc.pdf")


def test_documents_in_their_own_format(tmp_path: Path) -> None:
    make_pdf(tmp_path / "pdfs/doc.pdf", (100, 200), (100, 200))
    _story_page(tmp_path, 1, [["Key", "Value"], ["a", "1"]], 1, long=True)
    _story_page(tmp_path, 2, [["Key", "Value"], ["b", "2"]], 1, long=True)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/doc.html").write_text("<table></table>")
    (tmp_path / "sources/other.docx").write_bytes(b"no page of it is in the corpus")
    write_manifest(tmp_path, name="mine", licence="MIT")
    corpus = load_corpus(f"sources:{tmp_path}")
    assert [remark.where for remark in corpus.left_out] == ["sources/other.docx"]
    (sample,) = corpus.samples()
    assert sample.pdf == tmp_path / "sources/doc.html" and sample.truth is not None
    assert sample.truth.attributes == {"kind": "invoice", "input": "html"}
    (element,) = sample.truth.elements
    assert element.box is None and element.table is not None
    assert element.table.text_rows() == [["Key", "Value"], ["a", "1"], ["b", "2"]]


def test_documents_of_which_pages_are_missing_are_left_out(tmp_path: Path) -> None:
    make_pdf(tmp_path / "pdfs/doc.pdf", (100, 200), (100, 200))
    _story_page(tmp_path, 1, [["Key", "Value"], ["a", "1"]], 1, long=False)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/doc.docx").write_bytes(b"")
    write_manifest(tmp_path, name="mine", licence="MIT")
    with pytest.raises(CorpusError, match="pages whose truth is not in the corpus"):
        load_corpus(f"sources:{tmp_path}")
