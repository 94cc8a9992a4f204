"""Degraded pages: the boxes follow the picture, and what was done is recorded."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from parsemark import corpus_make
from parsemark.corpora import load_corpus
from parsemark.corpora.base import Corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.files import read_manifest, write_manifest, write_page
from parsemark.corpora.making import get_maker
from parsemark.corpora.render import page_words
from parsemark.errors import UsageError
from parsemark.model import Box
from parsemark_makers.degrade import Damage, Degraded, damage_picture, draw_damage, turn_box

FRAME = Box(0, 0, 300, 400)


@settings(max_examples=25)
@given(
    angle=st.floats(-5, 5),
    x=st.integers(40, 200),
    y=st.integers(40, 300),
    width=st.integers(10, 60),
    height=st.integers(10, 60),
)
def test_boxes_follow_the_ink(angle: float, x: int, y: int, width: int, height: int) -> None:
    picture = np.full((400, 300, 3), 255, np.uint8)
    picture[y : y + height, x : x + width] = 0
    turned = np.asarray(damage_picture(Image.fromarray(picture), Damage(angle=angle), "p"))[:, :, 0]
    rows, columns = np.nonzero(turned < 128)
    box = turn_box(Box(x, y, x + width, y + height), angle, FRAME)
    ink = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert np.abs(np.array(box.as_tuple()) - np.array(ink)).max() < 1.6


@pytest.mark.parametrize(
    ("damage", "attribute"),
    [
        (Damage(blur_px=1.0), "fuzzy_scan"),
        (Damage(noise=9.0), "fuzzy_scan"),
        (Damage(quality=30), "fuzzy_scan"),
        (Damage(contrast=0.5), "fuzzy_scan"),
        (Damage(bleed_through=0.6), "fuzzy_scan"),
        (Damage(shadow=0.6), "fuzzy_scan"),
        (Damage(fold=0.6), "fuzzy_scan"),
        (Damage(handwriting=0.6), "fuzzy_scan"),
        (Damage(low_ink=0.6), "fuzzy_scan"),
        (Damage(stamp="PAID"), "fuzzy_scan"),
        (Damage(watermark="DRAFT"), "watermark"),
        (Damage(tint=(255, 240, 200)), "colorful_background"),
    ],
)
def test_each_damage_changes_the_picture_and_is_recorded(damage: Damage, attribute: str) -> None:
    page = Image.new("RGB", (300, 400), "white")
    page.paste((0, 0, 0), (50, 50, 100, 60))
    damaged = damage_picture(page, damage, "p")
    assert damaged.size == page.size
    assert damaged.tobytes() != page.tobytes()
    attributes = damage.attributes()
    assert {k for k in ("fuzzy_scan", "watermark", "colorful_background") if attributes[k]} == {attribute}


def test_no_damage_is_no_change() -> None:
    options = Degraded(**dict.fromkeys(("skew", "blur", "noise", "jpeg"), 0.0))
    page = Image.new("RGB", (30, 40), "white")
    nothing = Damage()
    assert damage_picture(page, nothing, "p").tobytes() == page.tobytes()
    assert not nothing.attributes()["fuzzy_scan"]
    assert draw_damage(options, "x").angle == 0.0


def test_shares_are_checked() -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        Degraded(skew=2)


@pytest.fixture
def two_pages(tmp_path: Path) -> Corpus:
    """Two pages of the demo corpus, as a corpus of their own."""
    demo, root = load_corpus("demo"), tmp_path / "two"
    (root / "pdfs").mkdir(parents=True)
    for key in demo.keys[:2]:
        sample = demo.read(key)
        (root / "pdfs" / sample.pdf.name).write_bytes(sample.pdf.read_bytes())
        write_page(root, sample, f"pdfs/{sample.pdf.name}")
    write_manifest(root, name="two")
    return load_corpus(str(root))


def test_a_degraded_corpus_is_whole_and_reproducible(two_pages: Corpus, tmp_path: Path) -> None:
    options = Degraded(seed=2, dpi=60)
    for name in ("a", "b"):
        corpus_make(options, tmp_path / name, corpus=two_pages, workers=1)
    assert read_manifest(tmp_path / "a").files == read_manifest(tmp_path / "b").files
    degraded = load_corpus(str(tmp_path / "a"))
    assert check_corpus(degraded).problems == []
    for sample, clean in zip(degraded.samples(), two_pages.samples(), strict=True):
        assert page_words(sample) == ()
        assert [e.text for e in sample.truth.elements] == [e.text for e in clean.truth.elements]
        assert "skew_degrees" in sample.truth.attributes
        assert sample.document == clean.document


def test_a_folder_in_use_is_refused(two_pages: Corpus) -> None:
    with pytest.raises(UsageError, match="not empty"):
        corpus_make(Degraded(), two_pages.root, corpus="demo")


def test_severity_makes_the_same_damages_stronger() -> None:
    drawn = [draw_damage(Degraded(seed=1), "page-1", level) for level in (1, 3, 5)]
    for weaker, stronger in pairwise(drawn):
        assert stronger.attributes()["severity"] != weaker.attributes()["severity"]
        assert abs(stronger.angle) >= abs(weaker.angle)
        assert stronger.blur_px >= weaker.blur_px
        assert stronger.noise >= weaker.noise
        assert stronger.quality <= weaker.quality
        assert (stronger.watermark, stronger.tint) == (weaker.watermark, weaker.tint)
        assert stronger.stamp == weaker.stamp
        for name in ("bleed_through", "shadow", "fold", "handwriting", "low_ink"):
            assert getattr(stronger, name) >= getattr(weaker, name)
    assert draw_damage(Degraded(jpeg=1.0), "p", 5).quality == 15


def test_a_curve_has_each_page_at_each_severity(two_pages: Corpus, tmp_path: Path) -> None:
    options = Degraded(seed=2, dpi=60, skew=1.0, severity=("1", "5"))
    made = corpus_make(options, tmp_path / "curve", corpus=two_pages, workers=1)
    assert (made.manifest.settings["severity"], made.manifest.settings["severities"]) == (None, [1, 5])
    degraded = load_corpus(str(tmp_path / "curve"))
    assert set(degraded.keys) == {f"{key}-s{level}" for key in two_pages.keys for level in (1, 5)}
    assert check_corpus(degraded).problems == []
    for key in two_pages.keys:
        weak, strong = (degraded.read(f"{key}-s{level}").truth for level in (1, 5))
        assert (weak.attributes["severity"], strong.attributes["severity"]) == (1, 5)
        assert abs(strong.attributes["skew_degrees"]) > abs(weak.attributes["skew_degrees"])


def test_severities_are_read() -> None:
    def severities(text: str) -> tuple[int, ...]:
        return get_maker(f"degraded(severity={text})").severities

    assert severities("3") == (3,)
    assert severities("1+3-5") == (1, 3, 4, 5)
    for wrong in ("", "0", "6", "5-1", "x", "1-", "-2"):
        with pytest.raises(UsageError, match="everity"):
            severities(wrong)


@pytest.mark.parametrize("name", ["bleed_through", "shadow", "fold", "low_ink", "handwriting"])
def test_more_of_a_damage_changes_more(name: str) -> None:
    page = np.full((400, 300, 3), 255, np.uint8)
    page[40:360:12, 30:200] = 0
    clean = Image.fromarray(page)
    changes = [
        float(np.abs(np.asarray(damage_picture(clean, Damage(**{name: level / 5}), "p"), int) - page).mean())
        for level in range(6)
    ]
    assert changes[0] == 0
    assert all(weaker < stronger for weaker, stronger in pairwise(changes))
