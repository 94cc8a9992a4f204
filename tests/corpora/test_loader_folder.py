"""`folder:DIR`."""

import hashlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError

from .small_files import make_pdf, write


def test_truth_lies_beside_its_document(tmp_path: Path) -> None:
    make_pdf(tmp_path / "report.pdf", (595, 842), (842, 595), (595, 842))
    write(tmp_path / "report.p2.t1.html", "<table><tr><td>a</td></tr></table>")
    write(tmp_path / "report.p2.t2.md", "| b |\n|---|\n| c |")
    write(tmp_path / "report.p3.t1.csv", "d,e\n")
    write(tmp_path / "notes.txt", "not a truth")
    samples = list(load_corpus(f"folder:{tmp_path}").samples())
    assert [s.id for s in samples] == ["report-p1", "report-p2", "report-p3"]
    assert samples[0].truth is None
    assert [len(s.truth.tables) for s in samples if s.truth] == [2, 1]
    tables = [e for s in samples if s.truth for e in s.truth.tables]
    assert [e.table.text_rows() for e in tables if e.table] == [[["a"]], [["b"], ["c"]], [["d", "e"]]]
    assert tables[0].html == "<table><tr><td>a</td></tr></table>"
    assert samples[1].truth and samples[1].truth.width == 842


def test_what_no_file_speaks_of_is_not_known(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a" / "x.pdf")
    make_pdf(tmp_path / "b" / "x.pdf")
    (tmp_path / "b" / "x").mkdir()
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [(s.document, s.truth) for s in corpus.samples()] == [("a/x", None), ("b/x", None)]
    assert corpus.remarks == (), "no truth at all is a use of its own"


@pytest.mark.parametrize("name", ["x.no-tables", "x.NO-TABLES"])
def test_a_whole_document_can_be_without_tables(tmp_path: Path, name: str) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    make_pdf(tmp_path / "y.pdf")
    write(tmp_path / name, "")
    write(tmp_path / "x.p2.t1.csv", "a,b\n")
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [s.truth and len(s.truth.tables) for s in corpus.samples()] == [0, 1, None]
    (remark,) = corpus.remarks
    assert str(remark).startswith("1 of 3 pages") and "y-p1" in str(remark) and not remark.left_out
    write(tmp_path / "x-p1.csv", "c,d\n")
    first, *_ = load_corpus(f"folder:{tmp_path}").samples()
    assert first.truth is None, "a table that fits no page may be this page's"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.p3.t1.html", "<table><tr><td>a</table>", "has 2 pages"),
        ("x.p1.t1.html", "nothing", "holds 0 tables"),
        ("x.p1.t1.html", "<table><tr><td>a</table><table><tr><td>b</table>", "holds 2 tables"),
        ("x.p1.t1.html", "<table><tr><td colspan=99999999>a</table>", "x.p1.t1.html"),
        ("x.p1.json", "{", "x.p1.json"),
        ("x.p1.html", "nothing", "holds 0 tables"),
        ("x_p1_t1.csv", "a,b", "Name it x.pN.tM.csv"),
        ("x/page-1.csv", "a,b", "is not named as truth of x.pdf"),
        ("x.p1.html", "<table></table>", "holds 0 tables"),
        ("x.p1.no-table", "", "x.pN.no-tables"),
        ("x.p1.no_tables", "", "x.pN.no-tables"),
        ("x-NoTables.txt", "", "x.pN.no-tables"),
        ("x/page-1-notables", "", "x.pN.no-tables"),
    ],
)
def test_a_wrong_truth_costs_its_document_only(tmp_path: Path, name: str, text: str, message: str) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    make_pdf(tmp_path / "y.pdf")
    write(tmp_path / "y.p1.t1.csv", "a,b\n")
    write(tmp_path / name, text)
    corpus = load_corpus(f"folder:{tmp_path}")
    first, second, other = corpus.samples()
    assert first.truth is None
    assert second.truth is None or name in ("x.p1.t1.html", "x.p1.html", "x.p1.json")
    assert other.truth is not None and len(other.truth.tables) == 1
    assert len(corpus.left_out) == 1 and message in str(corpus.left_out[0])
    with pytest.raises(CorpusError, match="--strict"):
        load_corpus(f"folder:{tmp_path}", strict=True)


@pytest.mark.parametrize("name", ["x.p1.t1.xhtml", "x-p1.latex", "x_page_2", "x/page 1.yaml", "x/p2.toml"])
def test_a_file_of_a_page_in_a_format_that_is_not_read_is_named(tmp_path: Path, name: str) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    write(tmp_path / "x.p1.t1.csv", "a,b\n")
    write(tmp_path / "x.p2.t1.csv", "a,b\n")
    write(tmp_path / name, "a")
    for silent in ("x.docx", "x-p1.png", "x/page-2.jpg", "x.p1.t1.csv~", "x_plan.yaml", "x.py", "other"):
        write(tmp_path / silent, "a")
    corpus = load_corpus(f"folder:{tmp_path}")
    (remark,) = corpus.remarks
    assert remark.where == name and "is not named as truth of x.pdf" in remark.message
    assert all(sample.truth is not None for sample in corpus.samples()), "it says nothing of the pages"


def test_truth_in_another_encoding_is_read_or_named(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    (tmp_path / "x.p1.t1.csv").write_text("é,b\n", encoding="utf-16")
    (tmp_path / "x.p2.t1.csv").write_text("a,b\né,c\n", encoding="latin-1")
    corpus = load_corpus(f"folder:{tmp_path}")
    first, second = corpus.samples()
    assert first.truth is not None and [e.table.text_rows() for e in first.truth.tables if e.table] == [
        [["é", "b"]]
    ]
    assert second.truth is None
    assert "x.p2.t1.csv" in str(corpus.left_out[0]) and "not UTF-8 text (line 2)" in str(corpus.left_out[0])


def test_truth_of_no_document_is_named(tmp_path: Path) -> None:
    make_pdf(tmp_path / "report.pdf")
    write(tmp_path / "reprot.p1.t1.csv", "a,b\n")
    (remark,) = load_corpus(f"folder:{tmp_path}").remarks
    assert "reprot.p1.t1.csv" in remark.where and "reprot.pdf is missing" in remark.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ghost.p1.html", "ghost.pdf is missing"),
        ("ghost.p1.md", "ghost.pdf is missing"),
        ("ghost.csv", "ghost.pdf is missing"),
        ("ghost/page-1.html", "ghost/page-1.pdf is missing"),
        ("report.p2.t2.xlsx", "is not named as truth of report.pdf"),
        ("report/page-2.docx", "is not named as truth of report.pdf"),
        ("report.p2.yaml", "is not named as truth of report.pdf"),
        ("reprot.p2.md", "reprot.pdf is missing"),
    ],
)
def test_a_file_that_fits_no_page_is_named(tmp_path: Path, name: str, said: str) -> None:
    """Where it may be of a document's page, its pages without a file have no truth instead of no tables."""
    make_pdf(tmp_path / "report.pdf", (595, 842), (595, 842), (595, 842))
    write(tmp_path / "report.p1.t1.csv", "a,b\n")
    write(tmp_path / "report.no-tables", "")
    write(tmp_path / "report.p3.png", "a picture of a page")
    write(tmp_path / name, "| a |\n|---|\n| b |")
    corpus = load_corpus(f"folder:{tmp_path}")
    (remark,) = corpus.left_out
    assert remark.where == name and said in remark.message
    is_theirs = "report.pdf" in remark.message
    assert [s.truth is None for s in corpus.samples()] == [False, is_theirs, is_theirs]


def test_a_document_that_is_named_as_a_page_has_files_of_its_own(tmp_path: Path) -> None:
    for name in ("x.p1", "x.p2", "x.p3", "y"):
        make_pdf(tmp_path / f"{name}.pdf")
    make_pdf(tmp_path / "y.p1.pdf")
    for name in ("x.p1.no-tables", "x.p2.html", "x.p3.p1.no-tables", "y.p1.no-tables"):
        write(tmp_path / name, "<table><tr><td>a</td></tr></table>" * name.endswith("html"))
    corpus = load_corpus(f"folder:{tmp_path}")
    found = {s.document: s.truth and len(s.truth.tables) for s in corpus.samples()}
    assert found == {"x.p1": 0, "x.p2": 1, "x.p3": 0, "y": 0, "y.p1": None}, (
        "a page of y.pdf, if there is one"
    )
    assert not corpus.left_out


def test_two_truths_of_one_table_leave_the_page_without(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    write(tmp_path / "x.p1.t1.csv", "a,b\n")
    write(tmp_path / "x.p1.t1.html", "<table><tr><td>a</td></tr></table>")
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [s.truth for s in corpus.samples()] == [None]
    assert "are for the same page or table" in str(corpus.left_out[0])


def test_a_label_says_nothing_of_other_pages(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf", *[(595, 842)] * 5)
    write(tmp_path / "x.p2.no-tables", "")
    write(tmp_path / "x.p3.no-tables", "")
    write(tmp_path / "x.P4.T1.CSV", "a,b\n")
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [s.truth and len(s.truth.tables) for s in corpus.samples()] == [None, 0, 0, 1, None]
    (remark,) = corpus.remarks
    assert not remark.left_out and "2 of 5 pages" in str(remark) and "x-p1, x-p5" in str(remark)


@pytest.mark.parametrize(
    ("numbers", "gap"), [((1, 3), "table 3 but none for table 2"), ((2,), "for table 1")]
)
def test_a_gap_in_the_numbers_of_tables_is_warned_about(
    tmp_path: Path, numbers: tuple[int, ...], gap: str
) -> None:
    make_pdf(tmp_path / "x.pdf")
    for number in numbers:
        write(tmp_path / f"x.p1.t{number}.csv", "a,b\n1,2\n")
    (remark,) = load_corpus(f"folder:{tmp_path}").remarks
    assert not remark.left_out and gap in remark.message and remark.where == "x.pdf, page 1"


@pytest.mark.parametrize("numbers", [(1, 2, 3), (0, 1)])
def test_tables_may_count_from_0_or_1(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    make_pdf(tmp_path / "x.pdf")
    for number in numbers:
        write(tmp_path / f"x.p1.t{number}.csv", "a,b\n1,2\n")
    assert load_corpus(f"folder:{tmp_path}").remarks == ()


def test_a_whole_page_as_json(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    page = {
        "layout_dets": [{"category_type": "title", "anno_id": "a", "order": 0, "text": "Hello"}],
        "page_info": {"page_no": 1, "width": 595, "height": 842, "document": "x"},
    }
    write(tmp_path / "x.p1.json", json.dumps(page))
    (sample,) = load_corpus(f"folder:{tmp_path}").samples()
    assert sample.truth and [e.text for e in sample.truth.elements] == ["Hello"]


def test_no_pdf_and_broken_pdf(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no PDF"):
        load_corpus(f"folder:{tmp_path}")
    write(tmp_path / "x.pdf", "not a PDF")
    with pytest.raises(CorpusError, match="cannot be opened"):
        load_corpus(f"folder:{tmp_path}")
    make_pdf(tmp_path / "y.pdf")
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [s.document for s in corpus.samples()] == ["y"]
    assert [r.where for r in corpus.left_out] == ["x.pdf"]


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    make_pdf(tmp_path / "outside.pdf")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "x.pdf").symlink_to(tmp_path / "outside.pdf")
    with pytest.raises(CorpusError, match="outside the corpus folder"):
        load_corpus(f"folder:{folder}")


def test_the_hash_follows_the_truth(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    truth = write(tmp_path / "x.p1.t1.csv", "a,b\n")
    before = load_corpus(f"folder:{tmp_path}").hash
    assert load_corpus(f"folder:{tmp_path}").hash == before
    truth.write_text("a,c\n")
    assert load_corpus(f"folder:{tmp_path}").hash != before


def test_odd_names(tmp_path: Path) -> None:
    names = [
        "Über größe (1) .pdf",
        "sub dir/-rf '$x.pdf",
        "a%2F..b\nc.pdf",
        "a_2F..b c.pdf",
        "..hidden.pdf",
        "日本.pdf",
    ]
    for name in names:
        make_pdf(tmp_path / name)
    write(tmp_path / "Über größe (1) .p1.t1.csv", "a,b\n")
    samples = list(load_corpus(f"folder:{tmp_path}").samples())
    assert {s.document for s in samples} == {name.removesuffix(".pdf") for name in names}
    assert len({s.id for s in samples}) == len(names)
    assert all(re.fullmatch(r"[\w.-]+", s.id) for s in samples)
    assert "日本-p1" in {s.id for s in samples}
    assert [s.document for s in samples if s.truth is not None] == ["Über größe (1) "]


def test_a_name_that_is_no_unicode_costs_its_document(tmp_path: Path) -> None:
    make_pdf(tmp_path / "good.pdf")
    shutil.copy(tmp_path / "good.pdf", os.fsdecode(bytes(tmp_path) + b"/bad-\xff.pdf"))
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [sample.document for sample in corpus.samples()] == ["good"]
    (remark,) = corpus.left_out
    assert "Rename it" in str(remark) and str(remark).encode()


def test_all_tables_of_a_page_in_one_file_and_the_bare_name_of_a_page(tmp_path: Path) -> None:
    two = "<table><tr><td>a</td></tr></table><p>and</p><table><tr><td>b</td></tr></table>"
    make_pdf(tmp_path / "report.pdf", (595, 842), (842, 595), (595, 842))
    write(tmp_path / "report.p2.html", two)
    write(tmp_path / "report.p3.csv", "c,d\n")
    make_pdf(tmp_path / "invoice-17.pdf")
    write(tmp_path / "invoice-17.html", two)
    corpus = load_corpus(f"folder:{tmp_path}")
    texts = {
        s.id: [e.table.text_rows() for e in s.truth.tables if e.table] for s in corpus.samples() if s.truth
    }
    assert texts == {
        "invoice-17-p1": [[["a"]], [["b"]]],
        "report-p2": [[["a"]], [["b"]]],
        "report-p3": [[["c", "d"]]],
    }
    assert not corpus.left_out


def test_the_bare_name_says_no_page_of_several(tmp_path: Path) -> None:
    make_pdf(tmp_path / "long.pdf", (595, 842), (595, 842), (595, 842))
    write(tmp_path / "long.html", "<table><tr><td>a</td></tr></table>")
    write(tmp_path / "long-p3.csv", "a,b\n")
    corpus = load_corpus(f"folder:{tmp_path}")
    assert all(sample.truth is None for sample in corpus.samples())
    said = {remark.where: remark.message for remark in corpus.remarks}
    assert "long.pN.tM.csv" in said["long-p3.csv"] and "Name it long.pN.t1.html" in said["long.html"]


def test_a_whole_page_and_a_table_of_it_contradict_each_other(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    write(tmp_path / "x.p1.t1.csv", "a,b\n")
    write(tmp_path / "x.p1.no-tables", "")
    (sample,) = (corpus := load_corpus(f"folder:{tmp_path}")).samples()
    assert sample.truth is None and "Keep one of them" in str(corpus.remarks[0])


def test_a_page_as_json_may_have_its_table_as_html_only_and_no_document(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    table = {"category_type": "table", "anno_id": 1, "html": "<table><tr><td>a</td><td>b</td></tr></table>"}
    info = {"page_no": 1, "width": 595, "height": 842}
    write(tmp_path / "x.p1.json", json.dumps({"layout_dets": [table], "page_info": info}))
    (sample,) = load_corpus(f"folder:{tmp_path}").samples()
    assert sample.truth is not None
    (element,) = sample.truth.tables
    assert element.table is not None and element.table.text_rows() == [["a", "b"]]


def test_ids_do_not_depend_on_other_files(tmp_path: Path) -> None:
    names = [
        "乙.pdf",
        "丙.pdf",
        "Ü b.pdf",
        "Ü_b.pdf",
        "a/b.pdf",
        "a_b.pdf",
        "x" * 150 + ".pdf",
        "x" * 149 + ".pdf",
    ]
    alone = {}
    for number, name in enumerate(names):
        make_pdf(tmp_path / str(number) / name)
        (alone[name],) = (s.id for s in load_corpus(f"folder:{tmp_path / str(number)}").samples())
        make_pdf(tmp_path / "all" / name)
    together = {f"{s.document}.pdf": s.id for s in load_corpus(f"folder:{tmp_path / 'all'}").samples()}
    assert together == alone and len(set(alone.values())) == len(names)
    assert alone["乙.pdf"] == "乙-p1" and alone["Ü b.pdf"].startswith("Ü_b-")


def test_the_truth_of_another_pdf_is_refused(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    own = hashlib.sha256((tmp_path / "x.pdf").read_bytes()).hexdigest()
    info = {"page_no": 1, "width": 595, "height": 842, "pdf_sha256": own}
    write(tmp_path / "x.p1.json", json.dumps({"layout_dets": [], "page_info": info}))
    (sample,) = load_corpus(f"folder:{tmp_path}").samples()
    assert sample.truth is not None
    make_pdf(tmp_path / "x.pdf", (600, 842))
    corpus = load_corpus(f"folder:{tmp_path}")
    assert [s.truth for s in corpus.samples()] == [None]
    assert "x.p1.json is truth of another version of" in str(corpus.left_out[0])


PAGE = """# Report

Some text with $x^2$.

- one
- two

$$a = b$$

| h | k |
|---|---|
| 1 | 2 |
"""


def test_a_whole_page_as_markdown(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    write(tmp_path / "x.p2.md", PAGE)
    first, second = load_corpus(f"folder:{tmp_path}").samples()
    assert first.truth is None and second.truth is not None
    assert not second.truth.only_tables
    kinds = [e.category for e in second.truth.elements]
    assert kinds == ["title", "text_block", "list_group", "equation_isolated", "table"]
    assert second.truth.elements[0].attributes["level"] == 1
    orders = [e.order for e in second.truth.elements]
    assert orders == sorted(orders)
    write(tmp_path / "x.p1.md", "| h | k |\n|---|---|\n| 1 | 2 |\n")
    first, _ = load_corpus(f"folder:{tmp_path}").samples()
    assert first.truth is not None and first.truth.only_tables, "nothing is said about the text"


@pytest.mark.parametrize("mark", ["<!-- page break -->", "\\newpage", "\f", "<!--pagebreak-->"])
def test_a_whole_document_as_markdown(tmp_path: Path, mark: str) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    write(tmp_path / "x.md", f"# One\n\n---\n\nA rule parts nothing.\n\n{mark}\n\n# Two\n")
    first, second = load_corpus(f"folder:{tmp_path}").samples()
    assert first.truth and second.truth
    assert [e.text for e in second.truth.elements] == ["Two"]
    write(tmp_path / "x.p2.no-tables", "")
    _, second = load_corpus(f"folder:{tmp_path}").samples()
    assert second.truth and not second.truth.elements, "a page's own file says more of it"
    (tmp_path / "x.p2.no-tables").unlink()
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842), (595, 842))
    corpus = load_corpus(f"folder:{tmp_path}")
    assert {s.truth for s in corpus.samples()} == {None}
    assert "has 2 parts, but x.pdf has 3 pages" in str(corpus.left_out[0])


def test_one_pdf_is_a_corpus(tmp_path: Path) -> None:
    make_pdf(tmp_path / "report.pdf", (595, 842), (595, 842))
    make_pdf(tmp_path / "report-2.pdf")
    make_pdf(tmp_path / "deep" / "other.pdf")
    write(tmp_path / "report.p1.t1.csv", "a,b\n")
    write(tmp_path / "report.p2.no-tables", "")
    write(tmp_path / "report-2.p1.t1.csv", "c,d\n")
    write(tmp_path / "unknown.p1.csv", "e,f\n")
    corpus = load_corpus(f"folder:{tmp_path / 'report.pdf'}")
    assert (corpus.name, corpus.keys) == ("report", ("report-p1", "report-p2"))
    assert [s.truth and len(s.truth.tables) for s in corpus.samples()] == [1, 0]
    assert corpus.remarks == (), "neighbours are not its business"
    folder = load_corpus(f"folder:{tmp_path}")
    assert all(folder.read(s.id) == s for s in corpus.samples()), "the same pages as in the folder"


def test_one_pdf_that_cannot_be_read(tmp_path: Path) -> None:
    make_pdf(tmp_path / "good.pdf")
    write(tmp_path / "bad.pdf", "<html>not found</html>")
    with pytest.raises(CorpusError, match=r"bad\.pdf: is in no score"):
        load_corpus(f"folder:{tmp_path / 'bad.pdf'}")
    write(tmp_path / "notes.txt", "text")
    with pytest.raises(
        CorpusError,
        match=r"notes\.txt does not have a PDF's suffix \(\.pdf\), and is "
        "not a PDF",
    ):
        load_corpus(f"folder:{tmp_path / 'notes.txt'}")
    with pytest.raises(CorpusError, match="does not exist"):
        load_corpus(f"folder:{tmp_path / 'none.pdf'}")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "link.pdf").symlink_to(tmp_path / "good.pdf")
    make_pdf(tmp_path / "inner" / "good.pdf")
    with pytest.raises(CorpusError, match="leads outside the corpus folder"):
        load_corpus(f"folder:{tmp_path / 'inner' / 'link.pdf'}")


def test_a_pdf_of_another_name_is_pointed_out(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a.pdf")
    make_pdf(tmp_path / "scan.pdf").rename(tmp_path / "scan")
    make_pdf(tmp_path / "b.pdf").rename(tmp_path / "b.pdf.download")
    said = [str(remark) for remark in load_corpus(f"folder:{tmp_path}").left_out]
    assert len(said) == 2 and said[0].startswith("b.pdf.download") and "name it scan.pdf" in said[1]
    with pytest.raises(CorpusError, match="is a PDF: rename it"):
        load_corpus(f"folder:{tmp_path / 'scan'}")


def test_pages_without_truth_are_said_in_a_sentence(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf", (595, 842), (595, 842))
    write(tmp_path / "x.p1.t1.csv", "a,b\n")
    (remark,) = load_corpus(f"folder:{tmp_path}").remarks
    assert str(remark).startswith(
        "1 of 2 pages without truth: left out of scores that need truth (x-p2). For a page"
    )


@pytest.mark.parametrize(("pdf", "truth"), [("NFC", "NFD"), ("NFD", "NFC")])
@pytest.mark.parametrize("name", ["{}.csv", "{}.p1.t1.csv", "{}.p1.no-tables", "{}.md"])
def test_names_in_either_form_are_one(tmp_path: Path, pdf: str, truth: str, name: str) -> None:
    make_pdf(tmp_path / f"{unicodedata.normalize(pdf, 'résumé')}.pdf")
    write(tmp_path / name.format(unicodedata.normalize(truth, "résumé")), "a,b\n1,2\n")
    corpus = load_corpus(f"folder:{tmp_path}")
    (sample,) = corpus.samples()
    assert sample.truth is not None and corpus.remarks == ()


def test_of_two_pdfs_that_look_alike_each_has_its_own_truth(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        make_pdf(tmp_path / f"{unicodedata.normalize(form, 'é')}.pdf")
        write(tmp_path / f"{unicodedata.normalize(form, 'é')}.csv", f"{form},b\n1,2\n")
    corpus = load_corpus(f"folder:{tmp_path}")
    assert corpus.remarks == ()
    for sample in corpus.samples():
        assert sample.truth and sample.truth.tables[0].table
        text = sample.truth.tables[0].table.text_rows()[0][0]
        assert unicodedata.is_normalized(text, sample.document)


def test_a_folder_that_vanishes_while_files_are_listed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parsemark.corpora.loaders import folder

    make_pdf(tmp_path / "a.pdf")
    (tmp_path / "gone").mkdir()
    scandir = os.scandir

    def scan(path: str) -> Iterator[os.DirEntry[str]]:
        if path.endswith("gone"):
            raise FileNotFoundError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    assert [p.name for p in folder._files(tmp_path, [], deep=True)] == ["a.pdf"]
