from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.pdf.test_visible import SEEN, written

from parsemark.corpora import load_corpus
from parsemark.pdf import TRAITS, look_at
from parsemark.pdf.page_kinds import BLANK, DAMAGED, NO_LAYER, WHOLE, Kinds, ink_kinds, text_kinds

Sides = tuple[float, float, float, float]
DEMO = load_corpus("demo")


def ink(
    glyphs: Sequence[Sides], painted: Sequence[Sides] = (), width: float = 600, height: float = 800
) -> Kinds:
    return ink_kinds((width, height), *(np.array(boxes, float).reshape(-1, 4) for boxes in (glyphs, painted)))


def lines(x0: float, x1: float, n: int = 40) -> list[Sides]:
    return [(x, 50 + 15 * k, x + 5, 60 + 15 * k) for k in range(n) for x in np.arange(x0, x1, 6)]


def test_columns_of_text_are_counted_and_those_of_tables_are_not() -> None:
    assert ink(lines(50, 550))["columns"] == "1"
    assert ink(lines(50, 290) + lines(310, 550))["columns"] == "2"
    narrow = [box for x in (50, 170, 290, 410, 520) for box in lines(x, x + 20)]
    assert ink(narrow)["columns"] == "1"


def test_lines_shape_and_direction_are_seen() -> None:
    lying = [(50, 100 + 20 * k, 500, 101 + 20 * k) for k in range(8)]
    upright = [(50 + 90 * k, 100, 51 + 90 * k, 240) for k in range(5)]
    assert ink([], lying)["lines"] == "lines"
    assert ink([], lying + upright)["lines"] == "grid"
    assert ink([], lying[:2])["lines"] == "none"
    assert ink([], width=800, height=600)["shape"] == "landscape"
    down = [(100 + 15 * k, 50, 110 + 15 * k, 350) for k in range(9)]
    assert ink(down)["turned"] == "turned"
    assert ink(lines(50, 550))["turned"] == "upright"


def test_words_tell_language_numbers_formulas_and_whether_the_layer_can_be_trusted() -> None:
    english = text_kinds(
        "The share of the cost in the field is for those that are with us, and by this. " * 10
    )
    assert (english["language"], english["layer"], english["numbers"]) == ("English", "text", "few")
    assert text_kinds("1 2 3 12.5 77 alpha 8 9 10 11 4,5 19")["numbers"] == "many"
    assert text_kinds("表格 的 内容 是 数字 和 文字 " * 10)["language"] == "Chinese"
    assert text_kinds("таблица содержит числа и слова " * 5)["language"] == "Cyrillic"
    assert text_kinds("\ue001\ue002\ue003 abc \ue004\ue005 " * 20)["layer"] == "doubtful"
    assert text_kinds("  \n ")["layer"] == NO_LAYER
    assert text_kinds("sum ∑ of ∫ f ≤ g over x " * 10)["formulas"] == "some"


def test_tables_are_rows_of_three_cells_that_stand_apart() -> None:
    def table(n_rows: int) -> list[Sides]:
        return [(x, 50 + 15 * k, x + 60, 60 + 15 * k) for x in (50, 200, 400) for k in range(n_rows)]

    assert [ink(table(n))["tables"] for n in (2, 6, 30)] == ["none seen", "small", "large"]
    assert ink(lines(50, 290) + lines(310, 550))["tables"] == "none seen"
    turned = [(y0, x0, y1, x1) for x0, y0, x1, y1 in table(6)]
    assert ink(turned)["tables"] == "small"


def test_a_page_has_every_trait_and_its_text() -> None:
    sample = DEMO.read(DEMO.keys[0])
    assert sample.pdf is not None
    text, kinds = look_at(sample.pdf, sample.page_number)
    assert set(kinds) == set(TRAITS) and kinds["layer"] == "text" and kinds["file"] == WHOLE
    assert len(text.split()) > 20


def test_a_file_that_lost_its_end_is_damaged_and_still_read(tmp_path: Path) -> None:
    sample = DEMO.read(DEMO.keys[0])
    assert sample.pdf is not None
    data = sample.pdf.read_bytes()
    end = data.rindex(b"startxref")
    cut, wrong, late = (tmp_path / name for name in ("cut.pdf", "wrong.pdf", "late.pdf"))
    cut.write_bytes(data[:end])
    wrong.write_bytes(data[:end] + b"startxref\n7\n%%EOF\n")
    late.write_bytes(b"junk\n" + data)  # its offsets are counted from where the PDF begins
    found = [look_at(path, sample.page_number)[1]["file"] for path in (cut, wrong, late)]
    assert found == [DAMAGED, DAMAGED, WHOLE]


def test_a_page_with_nothing_on_it_is_no_scan(tmp_path: Path) -> None:
    from PIL import Image

    from parsemark.pdf import save_picture_pdf

    blank = tmp_path / "blank.pdf"
    blank.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>"
        b"endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]>>endobj\ntrailer<</Root 1 0 R>>"
    )
    scan = tmp_path / "scan.pdf"
    save_picture_pdf(Image.new("RGB", (200, 300), "white"), scan, (200, 300), quality=90, producer="x")
    assert [look_at(path, 1)[1]["layer"] for path in (blank, scan)] == [BLANK, NO_LAYER]


@pytest.mark.parametrize(("shapes", "layer"), [(0, "text"), (40, "text"), (201, NO_LAYER)])
def test_a_page_of_few_words_is_no_scan_unless_it_shows_more(tmp_path: Path, shapes: int, layer: str) -> None:
    drawn = b"".join(b"%d 10 m %d 90 l S\n" % (k, k) for k in range(shapes))
    path = written(tmp_path / "few.pdf", drawn + SEEN % (300, b"Nothing here."))
    assert look_at(path, 1)[1]["layer"] == layer
