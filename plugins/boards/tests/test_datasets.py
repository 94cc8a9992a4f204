"""`pdf-parse-bench`, `pubtables1m` and `soric`."""

import json
import os
import pickle
from pathlib import Path

import pytest
from dataset_files import make_pdf, make_picture, voc, write

from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError
from parsemark.formats import read_table
from parsemark.model import Box

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
        "pdfs/001.pdf: is left out: ground_truth/001.json is missing."
    ]
    (sample,) = corpus.samples()
    assert sample.truth and [t.is_unread for t in sample.truth.tables] == [True, True, False]
    assert r"\begin{tabular} has no \end" in str(sample.truth.tables[0].attributes["truth_error"])


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


@pytest.mark.parametrize("name", ["pdf-parse-bench", "icdar2013", "pubtables1m", "soric"])
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
