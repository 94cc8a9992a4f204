"""The kit's own reading of pages agrees with ours: workers cannot import parsemark."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from tests.parsers.pages import write_page

from parsemark import load_corpus
from parsemark.parsers.parser import KIT
from parsemark.pdf import page_glyphs
from parsemark.structure import join_glyphs


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("parsemark_pages", KIT.with_name("parsemark_pages.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check(pages: ModuleType, pdf: Path, page: int) -> int:
    with pages.open_page(str(pdf), page) as opened:
        theirs = pages.pdf_words(opened)
    ours = list(join_glyphs(page_glyphs(pdf, page)))
    assert [(w.text, w.glued) for w in theirs] == [(w.text, w.glued) for w in ours]
    for mine, other in zip(ours, theirs, strict=True):
        assert other.box == pytest.approx(mine.box.as_tuple(), abs=1e-4)
    return len(ours)


def test_words_are_the_same_as_ours(pages: ModuleType) -> None:
    samples = [s for s in load_corpus("demo").samples() if s.pdf is not None][:6]
    assert sum(_check(pages, s.pdf, s.page_number) for s in samples if s.pdf is not None) > 500


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
@pytest.mark.parametrize("inherited", [False, True])
def test_words_are_the_same_on_every_kind_of_sheet(
    pages: ModuleType, tmp_path: Path, rotation: int, cropped: bool, inherited: bool
) -> None:
    pdf = write_page(tmp_path / "a.pdf", rotation=rotation, cropped=cropped, inherited=inherited)
    assert _check(pages, pdf, 1) > 20


def test_text_that_runs_up_the_page_rises(pages: ModuleType) -> None:
    sample = next(
        s
        for s in load_corpus("demo").samples()
        if s.truth is not None and any(e.attributes.get("rotated") == 90 for e in s.truth.tables)
    )
    assert sample.truth is not None
    turned = next(e for e in sample.truth.tables if e.attributes.get("rotated") == 90)
    assert turned.box is not None
    with pages.open_page(str(sample.pdf), sample.page_number) as opened:
        inside = [
            w for w in pages.pdf_words(opened) if pages.share_inside(w.box, turned.box.as_tuple()) > 0.5
        ]
    assert sum(w.rise for w in inside) > 0


def test_a_single_page_is_a_pdf_of_its_own(pages: ModuleType, tmp_path: Path) -> None:
    sample = next(s for s in load_corpus("demo").samples() if s.page_number == 2 and s.pdf is not None)
    (tmp_path / "one.pdf").write_bytes(pages.single_page(str(sample.pdf), 2))
    assert _check(pages, tmp_path / "one.pdf", 1) > 0
