"""Pages that stand for many: deterministic, balanced, and broken PDFs cost only themselves."""

import csv
import os
import shutil
from pathlib import Path

import pytest

from parsemark.corpora.sample_pages import sample_pages
from parsemark.errors import UsageError

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
