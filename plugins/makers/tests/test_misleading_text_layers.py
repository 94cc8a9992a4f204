"""Text layers that lie: the same picture, another text, the same truth."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from parsemark import corpus_make
from parsemark.corpora import load_corpus
from parsemark.corpora.files import write_manifest, write_page
from parsemark.errors import UsageError
from parsemark.model import Sample
from parsemark.pdf import page_text, render_page, seen_page
from parsemark_makers.misleading_text_layers import (
    DECOY,
    INVISIBLE,
    KINDS,
    LIGATURES,
    MISREAD,
    OFF_PAGE,
    ORDER,
    PICTURE_DPI,
    SHIFTED,
    STALE_OCR,
    VISUAL_ORDER,
    WHITE,
    Misleading,
    changed_mapping,
    read_mapping,
    write_misleading,
)
from parsemark_makers.synthetic import Typst
from parsemark_makers.synthetic.renderers.fonts import FOLDERS

CMAP = b"""1 begincodespacerange <00> <FF> endcodespacerange
2 beginbfrange <61> <63> <0061> <20> <21> [<0066 0069> <0041>] endbfrange
2 beginbfchar <7A> <007A> <39> <0039> endbfchar"""


@pytest.fixture(scope="module")
def first_page() -> Sample:
    return next(iter(load_corpus("demo").samples()))


def test_mappings_are_read_and_changed() -> None:
    assert dict(read_mapping(CMAP)) == {
        "61": "a", "62": "b", "63": "c", "20": "fi", "21": "A", "7A": "z", "39": "9"
    }  # fmt: skip
    shifted = dict(read_mapping(changed_mapping(CMAP, SHIFTED)))
    assert shifted == {"61": "b", "62": "c", "63": "d", "20": "gj", "21": "B", "7A": "a", "39": "0"}
    without = dict(read_mapping(changed_mapping(CMAP, LIGATURES)))
    assert without == {**dict(read_mapping(CMAP)), "20": " "}


@pytest.mark.parametrize(
    "broken", [b"", b"beginbfrange <61> endbfrange", b"beginbfrange <61> <62> [<00", b"<<<"]
)
def test_broken_mappings_cost_nothing(broken: bytes) -> None:
    assert list(read_mapping(broken)) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (STALE_OCR, VISUAL_ORDER)])
def test_the_picture_is_the_same_and_the_text_is_as_planned(
    tmp_path: Path, first_page: Sample, kind: str
) -> None:
    assert first_page.pdf is not None
    lying = tmp_path / "lying.pdf"
    write_misleading(first_page.pdf, lying, kind)
    pictures = [render_page(pdf, 1, 110).tobytes() for pdf in (first_page.pdf, lying)]
    assert pictures[0] == pictures[1]
    true, told = page_text(first_page.pdf, 1), page_text(lying, 1)
    assert told != true
    if kind == SHIFTED:
        assert not set(true.split()) & {w for w in told.split() if len(w) > 4 and w.isalpha()}
    elif kind == LIGATURES:
        assert "fi" not in told
        assert "fi" in true
    else:
        assert told.replace(ORDER if kind == "instruction" else DECOY, "").split() == true.split()
    again = tmp_path / "again.pdf"
    write_misleading(first_page.pdf, again, kind)
    assert again.read_bytes() == lying.read_bytes()


@pytest.mark.skipif(not FOLDERS[0].exists(), reason="needs Debian's Noto fonts")
@pytest.mark.parametrize("kind", [STALE_OCR, VISUAL_ORDER])
def test_a_picture_over_words_shows_the_same_to_the_pixel(
    tmp_path: Path, first_page: Sample, kind: str
) -> None:
    options = Typst(pages=1, name="hebrew", languages=("hebrew",))
    corpus_make(options, tmp_path / "corpus")
    hebrew = next(load_corpus(str(tmp_path / "corpus")).samples())
    for sample in (first_page, hebrew):
        assert sample.pdf is not None
        lying = tmp_path / "lying.pdf"
        write_misleading(sample.pdf, lying, kind)
        one, other = (render_page(pdf, sample.page_number, PICTURE_DPI) for pdf in (sample.pdf, lying))
        assert one.tobytes() == other.tobytes()
        again = tmp_path / "again.pdf"
        write_misleading(sample.pdf, again, kind)
        assert again.read_bytes() == lying.read_bytes()
    write_misleading(first_page.pdf, tmp_path / "latin.pdf", kind)
    if kind == STALE_OCR:
        planned = page_text(first_page.pdf, 1).translate(MISREAD).replace(" ", "")
        assert sorted("".join(_stored_words(tmp_path / "latin.pdf"))) == sorted(planned)
        assert page_text(tmp_path / "latin.pdf", 1) != page_text(first_page.pdf, 1)
    else:  # nothing on this page is written from right to left
        assert page_text(tmp_path / "latin.pdf", 1) == page_text(first_page.pdf, 1)
    stored = _stored_words(tmp_path / "lying.pdf")
    letters = {word[::-1] for word in page_text(hebrew.pdf, 1).split() if word.isalpha() and len(word) > 3}
    assert len(letters & set(stored)) >= 5


def _stored_words(pdf: Path) -> list[str]:
    """The words of a layer in the order in which the file has their letters."""
    import pikepdf

    with pikepdf.open(pdf) as document:
        content = document.pages[0].Contents.read_bytes().decode()
    return [bytes.fromhex(code).decode("utf-16-be") for code in re.findall(r"<([0-9A-F]+)> Tj", content)]


def test_a_corpus_of_lies_keeps_its_truth(tmp_path: Path, first_page: Sample) -> None:
    assert first_page.pdf is not None
    source = tmp_path / "source"
    (source / "pdfs").mkdir(parents=True)
    (source / "pdfs" / "one.pdf").write_bytes(first_page.pdf.read_bytes())
    write_page(source, first_page, "pdfs/one.pdf")
    write_manifest(source, name="one", licence="CC0-1.0", description="", generator="test", settings={})
    corpus_make(Misleading(kinds=("white",)), tmp_path / "lies", corpus=source)
    (sample,) = load_corpus(str(tmp_path / "lies")).samples()
    assert sample.truth is not None
    assert first_page.truth is not None
    assert sample.truth.attributes["text_layer"] == "white"
    assert sample.truth.elements == first_page.truth.elements
    with pytest.raises(UsageError, match="nonsense"):
        Misleading(kinds=("nonsense",))


@pytest.mark.parametrize("kind", [INVISIBLE, OFF_PAGE, WHITE])
def test_hidden_words_are_not_seen(kind: str, tmp_path: Path, first_page: Sample) -> None:
    assert first_page.pdf is not None
    write_misleading(first_page.pdf, tmp_path / "b.pdf", kind)
    shown, words = seen_page(first_page.pdf, 1).words, seen_page(tmp_path / "b.pdf", 1).words
    assert [w.text for w in words if w.shown] == [w.text for w in shown if w.shown]
    assert [w.text for w in words if not w.shown] == DECOY.split()


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs tesseract")
def test_misleading_fonts_are_found_by_their_pictures(tmp_path: Path, first_page: Sample) -> None:
    assert first_page.pdf is not None
    write_misleading(first_page.pdf, tmp_path / "b.pdf", SHIFTED)
    assert seen_page(first_page.pdf, 1, ocr=True).source == "layer"
    misleading = seen_page(tmp_path / "b.pdf", 1, ocr=True)
    assert misleading.source == "ocr" and "contradicts its picture" in misleading.why
