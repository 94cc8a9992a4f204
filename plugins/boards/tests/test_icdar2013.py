"""`icdar2013:DIR`."""

import json
from pathlib import Path

import pytest
from dataset_files import make_pdf, write

from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError
from parsemark.model import Box
from parsemark_boards.datasets.icdar2013 import SHIPPED


def cell(row: int, col: int, text: str, box: str = "", **ends: int) -> str:
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in ends.items())
    return f'<cell start-row="{row}" start-col="{col}"{attributes}>{box}<content>{text}</content></cell>'


def bounds(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<bounding-box x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def document(*tables: list[tuple[int, str]]) -> str:
    body = "".join(
        f'<table id="{i}">'
        + "".join(f'<region id="1" page="{page}">{inside}</region>' for page, inside in regions)
        + "</table>"
        for i, regions in enumerate(tables, start=1)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?><document>{body}</document>'


def test_places_spans_and_empty_cells(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-901.pdf", (600, 800), (600, 800))
    cells = (
        cell(0, 1, "two\nlines", bounds(200, 700, 300, 720), end_col=2) + cell(1, 0, "a") + cell(1, 2, "b")
    )
    write(tmp_path / "eu-901-str.xml", document([(2, cells)]))
    write(tmp_path / "eu-901-reg.xml", document([(2, bounds(100, 600, 300, 720))]))
    first, second = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert first.truth and first.truth.tables == ()
    assert second.truth is not None
    (table,) = second.truth.tables
    assert table.box == Box(100, 80, 300, 200)
    assert table.table is not None
    assert table.table.text_rows() == [["", "two\nlines", "two\nlines"], ["a", "", "b"]]
    assert table.table.holes == ()
    assert table.table.cells[1].box == Box(200, 80, 300, 100)


def test_rows_below_zero_and_several_regions(tmp_path: Path) -> None:
    make_pdf(tmp_path / "us-919.pdf", (600, 800), (600, 800))
    write(
        tmp_path / "us-919-str.xml",
        document([(1, cell(-1, 0, "h") + cell(0, 0, "a")), (1, cell(1, 0, "b")), (2, cell(2, 0, "c"))]),
    )
    first, second = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert first.truth and second.truth
    assert [e.id for e in first.truth.tables] == ["t1", "t1r2"]
    assert [(r.kind, r.source, r.target) for r in first.truth.relations] == [("continued", "t1", "t1r2")]
    assert [e.table.text_rows() for e in first.truth.tables if e.table] == [[["h"], ["a"]], [["b"]]]
    assert second.truth.tables[0].attributes == {"region": 3, "regions": 3}


def test_two_annotations_of_one_document(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-909a.pdf")
    write(tmp_path / "eu-909a-str.xml", document([(1, cell(0, 0, "first"))]))
    write(tmp_path / "eu-909b-str.xml", document([(1, cell(0, 0, "second"))]))
    (first,) = load_corpus(f"icdar2013:{tmp_path}").samples()
    (second,) = load_corpus(f"icdar2013-alternates:{tmp_path}").samples()
    assert first.truth and second.truth and first.id == second.id
    assert [s.truth.tables[0].table.cells[0].text for s in (first, second)] == ["first", "second"]
    assert first.truth.attributes == {"annotation": "eu-909a"}


def test_overlapping_cells_are_cut_and_counted(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-902.pdf")
    write(
        tmp_path / "eu-902-str.xml",
        document([(1, cell(0, 0, "a", end_col=1) + cell(0, 1, "b") + cell(0, 2, "c"))]),
    )
    (sample,) = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert sample.truth
    (element,) = sample.truth.tables
    assert element.table and element.table.text_rows() == [["a", "a", "c"]]
    assert element.attributes["repaired_cells"] == 1


def test_turned_pages_measure_cells_from_another_height(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-915.pdf", (595, 842), rotation=90)
    write(tmp_path / "eu-915-str.xml", document([(1, cell(0, 0, "a", bounds(60, 742, 82, 752)))]))
    write(tmp_path / "eu-915-reg.xml", document([(1, bounds(60, 292, 356, 505))]))
    (sample,) = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert sample.truth and (sample.truth.width, sample.truth.height) == (842, 595)
    (element,) = sample.truth.tables
    assert element.box == Box(60, 90, 356, 303)
    assert element.table and element.table.cells[0].box == Box(60, 90, 82, 100)


def corrections(sample: str, element: str, *changes: tuple[list[int], str, str]) -> str:
    listed = [{"cell": cell, "was": was, "set": {"text": text}} for cell, was, text in changes]
    return json.dumps([{"sample": sample, "element": element, "reason": "seen", "changes": listed}])


def test_corrections_change_the_truth_and_say_why(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-903.pdf")
    write(tmp_path / "eu-903-str.xml", document([(1, cell(0, 0, "a") + cell(0, 1, "b"))]))
    write(tmp_path / "corrections.json", corrections("eu-903-p1", "t1", ([0, 1], "b", "B")))
    (sample,) = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert sample.truth
    (element,) = sample.truth.tables
    assert element.table and element.table.text_rows() == [["a", "B"]]
    assert element.attributes["corrections"] == "seen"
    (sample,) = load_corpus(f"icdar2013-uncorrected:{tmp_path}").samples()
    assert sample.truth and sample.truth.tables[0].table.text_rows() == [["a", "b"]]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (corrections("eu-904-p2", "t1"), "'eu-904-p2' does not exist"),
        (corrections("eu-904-p1", "t2"), "has no table"),
        (corrections("eu-904-p1", "t1", ([5, 5], "a", "b")), "no cell in row 5"),
        (corrections("eu-904-p1", "t1", ([0, 0], "x", "b")), "has changed since"),
        ('[{"sample": "eu-904-p1"}]', "element"),
    ],
)
def test_corrections_that_do_not_fit(tmp_path: Path, file: str, message: str) -> None:
    make_pdf(tmp_path / "eu-904.pdf")
    write(tmp_path / "eu-904-str.xml", document([(1, cell(0, 0, "a"))]))
    write(tmp_path / "corrections.json", file)
    with pytest.raises(CorpusError, match=message):
        load_corpus(f"icdar2013:{tmp_path}")


def test_the_shipped_corrections_are_valid(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-905.pdf")
    assert len(load_corpus(f"icdar2013:{tmp_path}")) == 1
    assert {entry["sample"] for entry in json.loads(SHIPPED.read_text())}


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<document><table>", "not XML"),
        (
            '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><document>&x;</document>',
            "entities such as &x; are not supported",
        ),
        (document([(1, cell(0, 0, "a", end_col=999999999))]), "over the limit"),
        (document([(1, '<cell start-row="x" start-col="0"/>')]), "not a number"),
    ],
)
def test_broken_files(tmp_path: Path, xml: str, message: str) -> None:
    make_pdf(tmp_path / "eu-906.pdf")
    write(tmp_path / "eu-906-str.xml", xml)
    with pytest.raises(CorpusError, match=message):
        load_corpus(f"icdar2013:{tmp_path}")


TABLE_ON_TWO = document([(2, bounds(30, 190, 110, 270))])


@pytest.mark.parametrize(
    ("structure", "place", "why"),
    [
        (document(), TABLE_ON_TWO, "eu-907-str.xml has 0 tables on page 2, eu-907-reg.xml 1."),
        (TABLE_ON_TWO, document(), "eu-907-str.xml has 1 table on page 2, eu-907-reg.xml 0."),
        (f"<!DOCTYPE document>{document()[38:]}", TABLE_ON_TWO, "eu-907-str.xml has 0 tables on page 2"),
        (document([(7, cell(0, 0, "a"))]), TABLE_ON_TWO, "eu-907-str.xml has a table on page 7 of 2."),
        (None, document([(0, bounds(30, 190, 110, 270))]), "eu-907-reg.xml has a table on page 0 of 2."),
        (None, None, "there is neither eu-907-str.xml nor eu-907-reg.xml."),
    ],
)
def test_a_document_that_contradicts_itself_has_no_truth(
    tmp_path: Path, structure: str | None, place: str | None, why: str
) -> None:
    make_pdf(tmp_path / "eu-907.pdf", (595, 842), (595, 842))
    make_pdf(tmp_path / "eu-908.pdf")
    write(tmp_path / "eu-908-str.xml", document([(1, cell(0, 0, "a"))]))
    for kind, xml in (("str", structure), ("reg", place)):
        if xml is not None:
            write(tmp_path / f"eu-907-{kind}.xml", xml)
    corpus = load_corpus(f"icdar2013:{tmp_path}")
    assert [sample.truth is None for sample in corpus.samples()] == [True, True, False]
    (remark,) = corpus.remarks
    assert remark.where == "eu-907.pdf" and why in remark.message
    assert remark.left_out == (structure is not None or place is not None)


def test_cells_that_end_before_they_start_are_turned_round(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-907.pdf")
    write(tmp_path / "eu-907-str.xml", document([(1, cell(0, 1, "a", end_col=0) + cell(1, 0, "b"))]))
    (sample,) = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert sample.truth
    (element,) = sample.truth.tables
    assert element.table and element.table.text_rows() == [["a", "a"], ["b", ""]]
    assert element.attributes["repaired_cells"] == 1


def test_regions_in_another_order_than_the_cells(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-908.pdf", (600, 800))
    low, high = bounds(0, 0, 50, 50), bounds(0, 700, 50, 750)
    write(
        tmp_path / "eu-908-str.xml", document([(1, cell(0, 0, "high", high))], [(1, cell(0, 0, "low", low))])
    )
    write(tmp_path / "eu-908-reg.xml", document([(1, low)], [(1, high)]))
    (sample,) = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert sample.truth
    assert [e.box for e in sample.truth.tables] == [Box(0, 50, 50, 100), Box(0, 750, 50, 800)]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("26ß", "line 1: start-row is '26ß', not a number"),
        ("nan", "not a number"),
        ("-inf", "not a number"),
        ("1e400", "not a number"),
        ("1.5", "not a whole number"),
        ("999999999", "over the limit"),
    ],
)
def test_a_bad_number_costs_its_document(tmp_path: Path, number: str, message: str) -> None:
    for name in ("eu-907", "eu-908"):
        make_pdf(tmp_path / f"{name}.pdf")
        write(tmp_path / f"{name}-str.xml", document([(1, cell(0, 0, "a"))]))
    bad = f'<cell start-row="{number}" start-col="0"/><cell start-row="0" start-col="0"/>'
    write(tmp_path / "eu-907-str.xml", document([(1, bad)]))
    corpus = load_corpus(f"icdar2013:{tmp_path}")
    assert {sample.document for sample in corpus.samples()} == {"eu-908"}
    (remark,) = corpus.left_out
    assert remark.where == "eu-907.pdf" and message in remark.message
    with pytest.raises(CorpusError, match="--strict"):
        load_corpus(f"icdar2013:{tmp_path}", strict=True)


def test_broken_pdfs_and_links_cost_their_document(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.xml", document([(1, cell(0, 0, "secret"))]))
    root = tmp_path / "corpus"
    for name in ("eu-909", "eu-910"):
        make_pdf(root / f"{name}.pdf")
    write(root / "eu-911.pdf", "no PDF at all")
    (root / "eu-909-str.xml").symlink_to(outside)
    corpus = load_corpus(f"icdar2013:{root}")
    assert {sample.document for sample in corpus.samples()} == {"eu-910"}
    assert [remark.where for remark in corpus.left_out] == ["eu-909.pdf", "eu-911.pdf"]
    assert "leads outside" in corpus.left_out[0].message


def test_a_table_of_which_only_the_place_is_known_charges_nobody(tmp_path: Path) -> None:
    make_pdf(tmp_path / "eu-904.pdf", (600, 800))
    write(tmp_path / "eu-904-reg.xml", document([(1, bounds(100, 600, 300, 720))]))
    make_pdf(tmp_path / "eu-911.pdf", (600, 800))
    write(tmp_path / "eu-911-str.xml", document([(1, cell(0, 0, "a"))], [(1, "")]))
    first, second = load_corpus(f"icdar2013:{tmp_path}").samples()
    assert first.truth and second.truth
    assert [t.is_unread for t in first.truth.tables] == [True]
    assert [t.is_unread for t in second.truth.tables] == [False, True]
    assert "-str.xml" in str(first.truth.tables[0].attributes["truth_error"])
