"""corpus check finds what is wrong: changed files, boxes that leave, truth that the PDF does not show."""

import json
import shutil
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.corpora.check import CheckReport, check_corpus, check_page
from parsemark.corpora.check import _compare as compare
from parsemark.corpora.describe import corpus_info, draw_truth
from parsemark.corpora.files import write_manifest
from parsemark.model import Box, Cell, Page, Sample
from parsemark.pdf import Glyph, PageInk

from .small_files import make_picture


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """One page with tables, as a corpus of its own."""
    demo, root = load_corpus("demo"), tmp_path / "one"
    sample = next(s for s in demo.samples() if len(s.truth.tables) > 1)
    for name in (f"truth/{sample.id}.json", f"pdfs/{sample.pdf.name}"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(demo.root / name, root / name)
    write_manifest(root, name="one")
    return root


def edit(root: Path, change) -> None:
    path = next((root / "truth").iterdir())
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    write_manifest(root, name="one")


def table_of(data) -> dict:
    return next(e for e in data["layout_dets"] if e["category_type"] == "table")


def test_a_sound_corpus_has_no_problems(one: Path) -> None:
    report = check_corpus(load_corpus(str(one)))
    assert report.ok
    assert report.disagreements == []
    assert report.cells == report.cells_equal > 10


def test_files_that_were_changed_removed_or_added(one: Path) -> None:
    truth = next((one / "truth").iterdir())
    truth.write_text(truth.read_text() + "\n")
    (one / "pdfs" / "stray.pdf").write_bytes(b"")
    problems = "\n".join(check_corpus(load_corpus(str(one))).problems)
    assert "does not match its hash in corpus.json" in problems
    assert "stray.pdf is not listed" in problems
    truth.unlink()
    assert any("is missing" in p for p in check_corpus(load_corpus(str(one))).problems)


def test_boxes_that_leave(one: Path) -> None:
    edit(one, lambda d: table_of(d).update(poly=[0, 0, 9999, 0, 9999, 10, 0, 10]))
    problems = "\n".join(check_corpus(load_corpus(str(one))).problems)
    assert "the box extends beyond the page" in problems
    assert "extends beyond its table" in problems


def test_a_cell_that_says_something_else_is_listed_by_cause(one: Path) -> None:
    def change(data) -> None:
        cells = [c for c in table_of(data)["table"]["cells"] if c.get("text")]
        cells[0]["text"] = cells[0]["text"] + "zz"

    edit(one, change)
    report = check_corpus(load_corpus(str(one)))
    assert report.causes == {"cell: characters missing": 1}
    assert "zz" in report.disagreements[0]
    assert "(cell: characters missing; not shown z z)" in report.disagreements[0]


def test_the_message_names_what_cannot_be_seen() -> None:
    glyphs = [Glyph(c, Box(6.0 * i, 0, 6.0 * i + 5, 8)) for i, c in enumerate("ab")]
    found = compare(Cell(0, 0, "a\u2800b"), glyphs, any_order=False)
    assert found is not None
    assert "U+2800" in found[1]
    # Characters that no reader can see are not content.
    assert compare(Cell(0, 0, "a\u2063b"), glyphs, any_order=False) is None


def test_the_ground_on_which_a_table_stands_is_not_its_ink() -> None:
    table = Box(10, 10, 90, 50)
    own = (Box(10, 10, 90, 11), Box(10, 49, 90, 50))
    slide, box, row_too_much = Box(0, 0, 120, 60), Box(9.8, 0, 90.2, 60), Box(10, 10, 90, 62)
    ink = PageInk(120, 60, (), (*own, slide, box))
    assert ink.inside(table, 0.5) == list(own)
    assert row_too_much in PageInk(120, 80, (), (*own, row_too_much)).inside(table, 0.5)


def test_a_minus_that_is_not_shown_is_found(one: Path) -> None:
    def change(data) -> None:
        cell = next(c for c in table_of(data)["table"]["cells"] if c.get("text", "")[:1].isdigit())
        cell["text"] = "−" + cell["text"]

    edit(one, change)
    assert check_corpus(load_corpus(str(one))).causes == {"cell: characters missing": 1}


def test_a_table_box_beside_its_ink_is_listed(one: Path) -> None:
    def change(data) -> None:
        poly = table_of(data)["poly"]
        poly[0] = poly[6] = poly[0] - 5

    edit(one, change)
    report = check_corpus(load_corpus(str(one)))
    assert report.causes == {"table box differs from its ink": 1}
    assert report.worst_ink_distance == pytest.approx(5, abs=0.1)


def test_glyphs_in_no_cell_are_listed(one: Path) -> None:
    def change(data) -> None:
        next(c for c in table_of(data)["table"]["cells"] if c.get("text")).pop("box")

    edit(one, change)
    report = check_corpus(load_corpus(str(one)))
    assert report.causes == {"glyphs outside the box of their cell": 1}
    assert report.glyphs_inside < report.glyphs and not report.is_faithful


def test_a_page_with_neither_pdf_nor_picture_is_no_picture() -> None:
    report = CheckReport(pages=1)
    report.add(check_page(Sample("a-p1", "a", 1, Page("a-p1", 20, 30))))
    assert report.summary()[0].startswith("pages: 1, 1 of them with neither PDF nor picture;")


def test_text_that_is_not_shown_is_listed(one: Path) -> None:
    def change(data) -> None:
        element = next(e for e in data["layout_dets"] if e["category_type"] == "table_caption")
        element["text"] = "Nothing of the kind."

    edit(one, change)
    report = check_corpus(load_corpus(str(one)))
    assert report.causes == {"text not in the text layer": 1} and not report.is_faithful
    assert report.summary()[0] == "pages: 1; problems: 0; disagreements: 1"


def test_elements_without_boxes_are_not_called_right(one: Path) -> None:
    def change(data) -> None:
        for element in data["layout_dets"]:
            element.pop("poly")
            for cell in (element.get("table") or {}).get("cells", []):
                cell["box"] = None

    edit(one, change)
    report = check_corpus(load_corpus(str(one)))
    assert report.without_box > 3
    line = f"elements without a box, not compared with their page: {report.without_box}"
    assert f"{line}: nothing was measured" in report.summary()


def test_a_sound_corpus_with_boxes_says_nothing_of_them(one: Path) -> None:
    assert not any("without a box" in line for line in check_corpus(load_corpus(str(one))).summary())


def test_a_broken_picture_is_a_problem_of_its_page_alone(tmp_path: Path) -> None:
    infos = [{"width": 20, "height": 30, "image_path": f"{name}.jpg"} for name in ("good", "bad")]
    file = tmp_path / "OmniDocBench.json"
    file.write_text(json.dumps([{"layout_dets": [], "page_info": info} for info in infos]))
    make_picture(tmp_path / "images" / "good.jpg", 20, 30)
    (tmp_path / "images" / "bad.jpg").write_bytes(b"no picture")
    done: list[int] = []
    report = check_corpus(load_corpus(f"omnidocbench:{file}"), done.append)
    assert (report.pages, report.image_only, done) == (1, 1, [1, 1])
    assert "bad.jpg cannot be read" in report.problems[0]


def test_info_counts(one: Path) -> None:
    info = corpus_info(load_corpus(str(one)))
    assert (info.documents, info.pages, info.positive_pages) == (1, 1, 1)
    assert info.tables > 1
    assert [name.startswith("pdfTeX") for name in info.producers] == [True]
    assert sum(info.table_attributes["line"].values()) == info.tables


def test_show_draws_on_the_page(one: Path) -> None:
    sample = next(load_corpus(str(one)).samples())
    picture = draw_truth(sample, dpi=50)
    assert picture.size[0] == pytest.approx(sample.truth.width * 50 / 72, abs=1)
    assert (214, 39, 40) in {colour for _, colour in picture.getcolors(maxcolors=1_000_000)}


@pytest.mark.parametrize(
    ("truth", "shown"),
    [
        ("naïve", "na¨ıve"),
        ("r_c (Å)", "rc(˚A)"),
        ("90°", "90˚"),
        ("Ångström", "˚Angstr¨om"),
        ("~user", "˜user"),
    ],
)
def test_accents_that_old_fonts_set_apart_are_no_difference(truth: str, shown: str) -> None:
    glyphs = [Glyph(text, Box(5 * i, 0, 5 * i + 5, 8)) for i, text in enumerate(shown)]
    assert compare(Cell(0, 0, truth), glyphs, any_order=False) is None


@pytest.mark.parametrize(
    ("truth", "shown", "is_right"),
    [
        ("a ⟹ b, c ↦ d", "a=⇒b,c7→d", True),
        ("⟼ ≅ ⊨ ∉ ⋈", "7−→∼=|=/∈▷◁", True),
        ("x ≠ y, Łódź", "x\u0338=y,L´od´z", True),
        ("(nk)", "\ufffdnk\x01", True),
        ("• one ✓", "\uf0b7one\uf0fc", True),
        ("• one", "\uf0a7one", False),
        ("a ⟹ b", "a=b", False),
        ("a ↦ 7", "a→7", False),
        ("x ≠ y", "x\ufffdy", False),
        ("Łódź", "Lad´z", False),
    ],
)
def test_signs_may_be_shown_by_the_glyphs_that_they_are_made_of(
    truth: str, shown: str, is_right: bool
) -> None:
    glyphs = [Glyph(text, Box(5 * i, 0, 5 * i + 5, 8)) for i, text in enumerate(shown)]
    assert (compare(Cell(0, 0, truth), glyphs, any_order=False) is None) == is_right


def test_a_tilde_in_a_text_layer_without_blanks_is_no_tie() -> None:
    glyphs = [Glyph(text, Box(5 * i, 0, 5 * i + 5, 8)) for i, text in enumerate("and~tilde")]
    assert compare(Cell(0, 0, "and ~ tilde"), glyphs, any_order=False) is None
    assert compare(Cell(0, 0, "and tide"), glyphs, any_order=False) is not None


@pytest.mark.parametrize(
    ("truth", "shown", "drop", "is_right"),
    [
        ("(a+b)/c", "a+bc", 9, True),
        ("row / col", "colrow", 9, True),
        ("∛8", "√38", 0, True),
        ("√(x+1)", "√x+1", 0, True),
        ("x / y", "xy", 5, True),  # the halves of a divided cell overlap a little
        ("km / h", "kmh", 0, False),
        ("km/h", "kmh", 0, False),  # nothing is stacked: the slash is lost
        ("(a+b)/c", "a+c", 9, False),
    ],
)
def test_signs_of_stacked_formulas_need_no_glyph(truth: str, shown: str, drop: int, is_right: bool) -> None:
    half = len(shown) - 1
    boxes = [Box(5 * i, drop * (i >= half), 5 * i + 5, drop * (i >= half) + 8) for i in range(len(shown))]
    glyphs = [Glyph(text, box) for text, box in zip(shown, boxes, strict=True)]
    assert (compare(Cell(0, 0, truth), glyphs, any_order=False) is None) == is_right
