"""`folder:DIR`."""

import re
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError

from .small_files import make_pdf, write


def test_truth_beside_and_within(tmp_path: Path) -> None:
    make_pdf(tmp_path / "report.pdf", (595, 842), (842, 595), (595, 842))
    write(tmp_path / "report.p2.t1.html", "<table><tr><td>a</td></tr></table>")
    write(tmp_path / "report.p2.t2.md", "| b |\n|---|\n| c |")
    write(tmp_path / "report" / "page-3-table-1.csv", "d,e\n")
    write(tmp_path / "notes.txt", "not a truth")
    samples = list(load_corpus(f"folder:{tmp_path}").samples())
    assert [s.id for s in samples] == ["report-p1", "report-p2", "report-p3"]
    assert [len(s.truth.tables) for s in samples if s.truth] == [0, 2, 1]
    tables = [e for s in samples if s.truth for e in s.truth.tables]
    assert [e.table.text_rows() for e in tables if e.table] == [[["a"]], [["b"], ["c"]], [["d", "e"]]]
    assert tables[0].html == "<table><tr><td>a</td></tr></table>"
    assert samples[1].truth and samples[1].truth.width == 842


def test_documents_without_truth_have_none(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a" / "x.pdf")
    make_pdf(tmp_path / "b" / "x.pdf")
    (tmp_path / "b" / "x").mkdir()
    first, second = load_corpus(f"folder:{tmp_path}").samples()
    assert (first.document, first.truth) == ("a/x", None)
    assert second.truth is not None and second.truth.tables == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.p2.t1.html", "<table><tr><td>a</table>", "has 1 pages"),
        ("x.p1.t1.html", "nothing", "holds 0 tables"),
        ("x.p1.t1.html", "<table><tr><td>a</table><table><tr><td>b</table>", "holds 2 tables"),
        ("x.p1.t1.html", "<table><tr><td colspan=99999999>a</table>", "x.p1.t1.html"),
    ],
)
def test_a_wrong_truth_names_its_file(tmp_path: Path, name: str, text: str, message: str) -> None:
    make_pdf(tmp_path / "x.pdf")
    write(tmp_path / name, text)
    with pytest.raises(CorpusError, match=message):
        load_corpus(f"folder:{tmp_path}")


def test_two_truths_of_one_table(tmp_path: Path) -> None:
    make_pdf(tmp_path / "x.pdf")
    write(tmp_path / "x.p1.t1.csv", "a,b\n")
    write(tmp_path / "x" / "page-1-table-1.csv", "a,b\n")
    with pytest.raises(CorpusError, match="for the same table"):
        load_corpus(f"folder:{tmp_path}")


def test_no_pdf_and_broken_pdf(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no PDF"):
        load_corpus(f"folder:{tmp_path}")
    write(tmp_path / "x.pdf", "not a PDF")
    with pytest.raises(CorpusError, match="cannot be opened"):
        load_corpus(f"folder:{tmp_path}")


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
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", s.id) for s in samples)
    assert [s.document for s in samples if s.truth is not None] == ["Über größe (1) "]
