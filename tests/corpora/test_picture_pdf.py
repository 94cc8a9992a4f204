"""Pages that are only pictures can be parsed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.render import page_image, page_text, with_pdf
from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import add_samples
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Page, Sample
from parsemark.pdf import pictures
from parsemark.store import Run, sample_from_row
from parsemark.store.manifest import CorpusEntry, Manifest
from parsemark.system import file_sha256


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def picture(path: Path, *, mode: str = "RGB") -> Path:
    """White, with a black bar in its lower right quarter."""
    drawn = Image.new("RGB", (200, 300), "white")
    drawn.paste("black", (100, 150, 180, 240))
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.convert(mode).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "mode"), [("a.png", "RGBA"), ("a.jpg", "RGB"), ("a.png", "L"), ("a.png", "1")]
)
def test_the_page_is_the_picture_in_the_size_of_the_truth(tmp_path: Path, name: str, mode: str) -> None:
    truth = Page("a", 100, 151, (), attributes={"language": "english"})
    given = Sample("a", "a", 7, truth, image=picture(tmp_path / name, mode=mode))
    wrapped = with_pdf(given)
    assert wrapped.truth.attributes == {"language": "english", "pdf_from_picture": True}
    assert (wrapped.page_number, wrapped.image, page_text(wrapped)) == (1, given.image, "")
    shown = np.asarray(page_image(wrapped, 72).convert("L"))
    assert shown.shape == (151, 100)
    dark = np.argwhere(shown < 128)
    assert np.abs(dark.min(axis=0) - (75, 50)).max() <= 1
    assert np.abs(dark.max(axis=0) - (120, 90)).max() <= 1


def test_equal_pictures_have_one_pdf_with_equal_bytes(tmp_path: Path, cache: Path) -> None:
    first = with_pdf(Sample("a", "a", 1, None, image=picture(tmp_path / "x" / "a.png")))
    digest = file_sha256(first.pdf)
    assert with_pdf(Sample("b", "b", 1, None, image=picture(tmp_path / "y" / "b.png"))).pdf == first.pdf
    first.pdf.unlink()
    again = with_pdf(Sample("a", "a", 1, None, image=tmp_path / "x" / "a.png"))
    assert file_sha256(again.pdf) == digest
    assert [p.suffix for p in cache.rglob("*") if p.is_file()] == [".pdf"]


def test_what_has_a_pdf_or_nothing_stays_as_it_is(tmp_path: Path) -> None:
    sample = next(load_corpus("demo").samples())
    assert with_pdf(sample) is sample
    nothing = replace(sample, pdf=None)
    assert with_pdf(nothing) is nothing


def test_pictures_that_are_none_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(picture(tmp_path / "a.jpg").read_bytes()[:200])
    with pytest.raises(CorpusError, match=r"broken.jpg cannot be read"):
        with_pdf(Sample("a", "a", 1, None, image=broken))
    with pytest.raises(CorpusError, match=r"gone.jpg cannot be read"):
        with_pdf(Sample("a", "a", 1, None, image=tmp_path / "gone.jpg"))
    monkeypatch.setattr(pictures, "MAX_PIXELS", 1000)
    with pytest.raises(CorpusError, match="200 × 300 pixels"):
        with_pdf(Sample("a", "a", 1, None, image=tmp_path / "a.jpg"))


def test_a_page_that_cannot_be_parsed_costs_itself(tmp_path: Path) -> None:
    there = Sample("a", "a", 1, None, image=picture(tmp_path / "a.jpg"))
    corpus = Corpus.of("two", [there, Sample("b", "b", 1, None)], root=tmp_path, version="1", licence="CC0")
    notes: list[str] = []
    events = Events()
    events.note = notes.append
    (page,) = add_samples(new_run(tmp_path / "run", corpus), corpus, None, events=events)
    assert page.sample == "a"
    assert any("1 sample of two with neither a PDF nor a picture" in n and "(b)" in n for n in notes)
    with pytest.raises(UsageError, match="neither a PDF nor a picture"):
        add_samples(new_run(tmp_path / "strict", corpus), replace(corpus, strict=True), None)


def test_omnidocbench_without_pdfs_can_be_parsed(tmp_path: Path) -> None:
    info = {"width": 200, "height": 300, "image_path": "images/a.jpg", "page_attribute": {}}
    table = {"category_type": "table", "poly": [100, 150, 180, 150, 180, 240, 100, 240], "anno_id": 1}
    pages = [{"layout_dets": [table], "page_info": info}]
    file = tmp_path / "OmniDocBench.json"
    file.write_text(json.dumps(pages), encoding="utf-8")
    corpus = load_corpus(f"omnidocbench:{file}")
    with pytest.raises(UsageError, match="neither a PDF nor a picture"):
        add_samples(new_run(tmp_path / "none", corpus), corpus, None)
    picture(tmp_path / "images" / "a.jpg")
    corpus = load_corpus(f"omnidocbench:{file}")
    run = new_run(tmp_path / "run", corpus)
    (page,) = add_samples(run, corpus, None)
    assert page.pdf_sha256 == file_sha256(page.pdf) and page.number == 1
    (row,) = run.table("samples").iter_rows(named=True)
    sample = sample_from_row(row)
    assert sample.pdf == page.pdf
    assert sample.truth.attributes["pdf_from_picture"] is True
    assert np.asarray(page_image(sample, 72).crop(sample.truth.tables[0].box.as_tuple())).mean() < 10
    assert load_corpus(f"omnidocbench:{file}").hash == corpus.hash


def new_run(folder: Path, corpus) -> Run:
    entry = CorpusEntry(name=corpus.name, version="1", hash=corpus.hash, spec=corpus.spec, n_samples=1)
    return Run.create(folder, Manifest(command=[], created="now", code_version="0", corpus=entry))
