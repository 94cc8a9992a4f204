"""The files for a detector that runs elsewhere."""

import json
from pathlib import Path

import pytest
from PIL import Image

from parsemark import load_corpus
from parsemark.corpora.describe import write_detector_input
from parsemark.errors import WriteError


def test_pictures_words_and_the_list_of_images(tmp_path: Path) -> None:
    samples = list(load_corpus("demo").samples())[:2]
    assert write_detector_input(samples, tmp_path) == 2
    listed = json.loads((tmp_path / "images.json").read_text())["images"]
    assert [i["file_name"] for i in listed] == [f"{sample.id}.png" for sample in samples]
    with Image.open(tmp_path / "images" / "demo-0001-p1.png") as picture:
        assert picture.size == (listed[0]["width"], listed[0]["height"])
    words = json.loads((tmp_path / "words" / "demo-0001-p1.json").read_text())
    assert len(words) > 50 and all(len(w["bbox"]) == 4 and w["text"] for w in words)


def test_nothing_is_written_through_links(tmp_path: Path) -> None:
    samples = list(load_corpus("demo").samples())[:1]
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.write_text("mine")
    out.mkdir()
    (out / "images.json").symlink_to(victim)
    write_detector_input(samples, out)
    assert victim.read_text() == "mine"
    (out / "words" / f"{samples[0].id}.json").unlink()
    (out / "words" / f"{samples[0].id}.json").symlink_to(victim)
    write_detector_input(samples, out)
    assert victim.read_text() == "mine"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "images").symlink_to(elsewhere)
    with pytest.raises(WriteError, match="symbolic link"):
        write_detector_input(samples, tmp_path / "other")
    assert not list(elsewhere.iterdir())
