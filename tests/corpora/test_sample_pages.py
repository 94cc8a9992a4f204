"""Pages that stand for many: deterministic, balanced, and broken PDFs cost only themselves."""

import csv
import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from parsemark.corpora.sample_pages import sample_pages
from parsemark.errors import MissingDependencyError, ParsemarkError, UsageError
from parsemark.pdf import render_page

DEMO = Path(__file__).parents[2] / "src" / "parsemark" / "corpora" / "demo" / "pdfs"


def test_the_same_pdfs_give_the_same_pages(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    sources = [DEMO, tmp_path / "broken.pdf"]
    first = sample_pages(sources, 8, tmp_path / "a", clusters=3)
    again = sample_pages(sources, 8, tmp_path / "b", clusters=3)
    assert first.pages == again.pages
    assert len(first.chosen) == 8 and len(first.unreadable) == 1
    per_document = [sum(p.pdf == pdf for p in first.chosen) for pdf in {p.pdf for p in first.chosen}]
    assert max(per_document) <= 2
    assert {p.cluster for p in first.chosen} == {p.cluster for p in first.pages}
    rows = list(csv.DictReader((tmp_path / "a" / "pages.csv").open(encoding="utf-8")))
    assert sum(int(row["chosen"]) for row in rows) == len(list((tmp_path / "a" / "pdfs").iterdir())) == 8
    assert len(list((tmp_path / "a" / "sheets").iterdir())) == len({p.cluster for p in first.pages})


def test_nothing_to_choose_from_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No PDF"):
        sample_pages([tmp_path], 3, tmp_path / "out")


def test_a_name_that_is_no_unicode_costs_itself(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in (b"a.pdf", b"b\xff.pdf"):
        shutil.copy(next(iter(sorted(DEMO.iterdir()))), tmp_path / "in" / os.fsdecode(name))
    found = sample_pages([tmp_path / "in"], 1, tmp_path / "out")
    assert {page.pdf.name for page in found.pages} == {"a.pdf"}
    assert found.unreadable == ("b?.pdf: its name is not UTF-8. Rename it.",)
    with pytest.raises(UsageError, match="not empty"):  # else pages of two draws would lie side by side
        sample_pages([tmp_path / "in"], 1, tmp_path / "out")


ENCODER = """
import numpy as np

def by_width(pictures):
    return np.array([[p.width, 0.0] for p in pictures])

def too_few(pictures):
    return [[1.0]]
"""


def test_an_encoder_decides_what_is_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_encoder.py").write_text(ENCODER)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = sample_pages([DEMO], 4, tmp_path / "a", clusters=2, encoder="my_encoder:by_width")
    widths: dict[int, set[int]] = {}
    for page in found.pages:
        widths.setdefault(page.cluster, set()).add(render_page(page.pdf, page.number, 24).width)
    assert len(widths) == 2 and not widths[1] & widths[2], "pages of one width are in one cluster"
    for name, why in (
        ("my_encoder:too_few", "one row of finite numbers"),
        ("my_encoder:absent", "has no function absent"),
        ("no_such_module:f", "pip install no_such_module"),
        ("resnet51", "resnet50 or MODULE:FUNCTION"),
    ):
        with pytest.raises(ParsemarkError, match=why):
            sample_pages([DEMO], 4, tmp_path / "b", encoder=name)


def test_resnet50_is_named_where_it_is_not_installed(tmp_path: Path) -> None:
    if importlib.util.find_spec("torchvision") is not None:
        pytest.skip("torchvision is installed")
    with pytest.raises(MissingDependencyError, match="torch"):
        sample_pages([DEMO], 4, tmp_path / "b", encoder="resnet50")
