"""PDFs are opened at one place, and whatever is wrong with one is a PdfError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from tests.parsers.pages import write_page

from parsemark import pdf
from parsemark.corpora import load_corpus
from parsemark.errors import PdfError

READERS: list[Callable[[Path], object]] = [
    pdf.count_pages,
    pdf.page_shapes,
    pdf.producer,
    lambda path: pdf.page_text(path, 1),
    lambda path: pdf.page_glyphs(path, 1),
    lambda path: pdf.page_ink(path, 1),
    lambda path: pdf.render_page(path, 1, 72),
]


@pytest.fixture
def page() -> Path:
    found = next(load_corpus("demo").samples()).pdf
    assert found is not None
    return found


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("content", [b"", b"not a PDF", b"%PDF-1.4\n%%EOF\n", None])
def test_what_is_no_pdf(read: Callable[[Path], object], content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PdfError, match=r"broken\.pdf"):
        read(path)


def test_a_folder_is_no_pdf(tmp_path: Path) -> None:
    with pytest.raises(PdfError):
        pdf.count_pages(tmp_path)


def test_text_words_and_glyphs_agree(page: Path) -> None:
    words = [word.text for word in pdf.page_words(page, 1)]
    assert "".join(words).replace("-", "") == pdf.page_text(page, 1).replace(" ", "").replace("-", "")
    assert len(pdf.page_shapes(page)) == pdf.count_pages(page)


def test_text_and_words_agree_from_right_to_left(tmp_path: Path) -> None:
    """By itself pdfium turns brackets, and at times whole words, round."""
    typst = pytest.importorskip("typst")
    (tmp_path / "a.typ").write_text('#set text(lang: "he", font: "Libertinus Serif")\nנמל ישן (מזרח) 275')
    typst.compile(str(tmp_path / "a.typ"), output=str(tmp_path / "a.pdf"))
    words = " ".join(word.text for word in pdf.page_words(tmp_path / "a.pdf", 1))
    assert pdf.page_text(tmp_path / "a.pdf", 1) == words == "נמל ישן (מזרח) 275"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
def test_what_a_page_inherits_is_as_its_own(tmp_path: Path, rotation: int, cropped: bool) -> None:
    own = write_page(tmp_path / "own.pdf", rotation=rotation, cropped=cropped)
    of_parent = write_page(tmp_path / "parent.pdf", rotation=rotation, cropped=cropped, inherited=True)
    assert pdf.page_words(own, 1) == pdf.page_words(of_parent, 1)
    assert pdf.page_shapes(own) == pdf.page_shapes(of_parent)


def test_a_page_with_an_absurd_side_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    pdf.save_picture_pdf(Image.new("L", (4, 4)), path, (1e7, 0.001), quality=50, producer="")
    with pytest.raises(PdfError, match="too large"):
        pdf.render_page(path, 1, 72)
