"""`omnidocbench` and `sources`."""

import json
from pathlib import Path

import pytest

from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.loaders import omnidocbench
from parsemark.errors import CorpusError
from parsemark.model import Box, Category, Cell, Element, Page, Sample, Table

from .small_files import make_pdf, make_picture, write

HTML = "<table><tr><td>a</td><td>b</td></tr></table>"


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


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"html": 5}, "html must be text; got '5'"),
        ({"text": ["t"]}, "text must be text; got"),
        ({"poly": [0, 0]}, "is not a polygon (it needs two points or more)"),
        ({"poly": [0, 0, 1, 1, 2]}, "is not a polygon"),
    ],
)
def test_omnidocbench_refuses_values_that_are_no_texts_or_polygons(
    tmp_path: Path, wrong: dict[str, object], said: str
) -> None:
    page, bad = omnidocbench_page(), omnidocbench_page(image_path="other.jpg")
    dets = bad["layout_dets"]
    assert isinstance(dets, list)
    dets[0] |= wrong
    file = write(tmp_path / "OmniDocBench.json", json.dumps([page, bad]))
    corpus = load_corpus(f"omnidocbench:{file}")
    assert len(list(corpus.samples())) == 1
    assert any(said in str(remark) for remark in corpus.remarks)


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


@pytest.mark.parametrize("name", ["folder", "omnidocbench"])
def test_an_empty_folder_is_an_error_that_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match=str(tmp_path)):
        load_corpus(f"{name}:{tmp_path}")


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
