"""Pictures, words and glyphs of pages."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from parsemark.corpora import load_corpus, render
from parsemark.corpora.render import page_image, page_text, page_words
from parsemark.errors import CorpusError
from parsemark.model import Box, Sample
from parsemark.pdf import page_ink


@pytest.fixture
def sample() -> Sample:
    return next(load_corpus("demo").samples())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    return tmp_path


def test_words_lie_where_the_truth_says(sample: Sample) -> None:
    table = sample.truth.tables[0]
    cell = next(c for c in table.table.cells if c.text.isalpha())
    inside = [w.text for w in page_words(sample) if cell.box.expanded(0.5).contains(w.box)]
    assert inside == [cell.text]
    assert cell.text in page_text(sample)


def test_pictures_are_rendered_once(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    first = page_image(sample, 50)
    assert first.size[0] == pytest.approx(sample.truth.width * 50 / 72, abs=1)
    monkeypatch.setattr(render, "render_page", None)
    assert page_image(sample, 50).tobytes() == first.tobytes()


def test_a_page_that_is_only_a_picture(sample: Sample, tmp_path: Path) -> None:
    scan = tmp_path / "scan.png"
    Image.new("RGB", (100, 140)).save(scan)
    scanned = replace(sample, pdf=None, image=scan)
    assert page_image(scanned, 72).size == (round(sample.truth.width), round(sample.truth.height))
    assert page_words(scanned) == ()
    with pytest.raises(CorpusError, match="neither a PDF nor an image"):
        page_image(replace(sample, pdf=None))


def test_pages_and_files_that_are_not_there(sample: Sample, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no page 99"):
        page_image(replace(sample, page_number=99))
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"not a PDF")
    with pytest.raises(CorpusError, match="cannot be opened"):
        page_image(replace(sample, pdf=broken))
    with pytest.raises(CorpusError, match="too large"):
        page_image(sample, 5000)


def test_ink_lies_on_the_page(sample: Sample) -> None:
    ink = page_ink(sample.pdf, sample.page_number)
    page = Box(0, 0, ink.width, ink.height)
    assert len(ink.glyphs) > 100
    assert all(page.contains(box, 0.1) for box in ink.boxes)
