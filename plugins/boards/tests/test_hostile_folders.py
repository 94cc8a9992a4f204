"""Hostile folders of the benchmarks: each is loaded, or refused in words, within bounds, and scored alike."""

import math
import os
import random
import time
from pathlib import Path

import polars as pl
import pytest
from benchmark_pages import HTML, write
from hostile_folders import FOLDERS, VALUES, as_text, bombs, hostile_texts, make, places, replaced

from parsemark.corpora import Corpus, load_corpus
from parsemark.errors import CorpusError
from parsemark.model import Prediction, Sample
from parsemark.protocols import get_protocol

OUTPUT = f"Slack water lasts nine minutes.\n\n{HTML}"
MAX_CPU_S = 10.0
"""Of one folder, with its scores; on a quiet machine all but one take less than 1 s."""
N_TRIED = 60
"""Of each loader's thousands; `make faults` tries them all."""


def attempt(loader: str, protocol: str, folder: Path) -> str:
    """Load and score a folder; returns what is wrong with how that went, "" if nothing is."""
    begun = time.process_time()
    try:
        corpus = load_corpus(f"{loader}:{folder}")
        message = " ".join(map(str, corpus.remarks))
        _score(corpus, protocol)
    except CorpusError as error:
        message = str(error)
    message.encode()  # UnicodeEncodeError for what no terminal and no file can show
    took = time.process_time() - begun
    if took > MAX_CPU_S:
        return f"{took:.0f} s"
    return f"a message of {len(message):,} characters" if len(message) > 20_000 else ""


def _score(corpus: Corpus, protocol: str) -> None:
    rules = get_protocol(protocol)
    for key in corpus.keys:
        sample = corpus.try_read(key)
        if isinstance(sample, Sample) and sample.truth is not None:
            scores = rules.score_page(sample.truth, Prediction(key, "one", text=OUTPUT), None).scores
            assert all(score.value is None or math.isfinite(score.value) for score in scores)


@pytest.mark.parametrize("loader", FOLDERS)
def test_one_hostile_value_costs_itself(tmp_path: Path, loader: str) -> None:
    protocol, files = FOLDERS[loader]
    make(tmp_path, loader)
    assert attempt(loader, protocol, tmp_path) == "" and len(load_corpus(f"{loader}:{tmp_path}"))
    attempts: list[tuple[str, str, bytes]] = []
    bombed: list[tuple[str, str, bytes]] = []
    for name, content in files.items():
        bombed += [(name, what, data) for what, data in bombs(as_text(content)).items()]
        if isinstance(content, str):
            texts = hostile_texts(content)
            attempts += [(name, what, text.encode("utf-8", "surrogatepass")) for what, text in texts]
            continue
        for place in places(content):
            for what, value in VALUES.items():
                changed = (value,) if not place and isinstance(content, tuple) else None
                changed = replaced(content, place, value) if changed is None else changed
                attempts.append(
                    (name, f"{place} is {what}", as_text(changed).encode("utf-8", "surrogatepass"))
                )
    if "FAULTS_MINUTES" not in os.environ:
        attempts = random.Random(7).sample(attempts, min(N_TRIED, len(attempts)))
    for name, what, data in bombed + attempts:
        (tmp_path / name).write_bytes(data)
        assert attempt(loader, protocol, tmp_path) == "", (name, what)
        (tmp_path / name).write_text(as_text(files[name]))


@pytest.mark.parametrize("loader", FOLDERS)
@pytest.mark.parametrize("is_folder", [False, True])
def test_links_out_of_the_folder_are_refused(tmp_path: Path, loader: str, is_folder: bool) -> None:
    _, files = FOLDERS[loader]
    secret = make(tmp_path / "secret", loader)
    for name in files:
        folder = make(tmp_path / name.replace("/", "-"), loader)
        linked = Path(name).parent if is_folder else Path(name)
        if linked == Path():
            continue
        (folder / linked).rename(tmp_path / f"gone-{folder.name}")
        (folder / linked).symlink_to(secret / linked)
        with pytest.raises(CorpusError, match=r"leads outside the corpus folder|has no \*|has neither"):
            read_all(f"{loader}:{folder}")


def read_all(spec: str) -> None:
    """Read all pages of a corpus; CorpusError for the first that would be left out."""
    corpus = load_corpus(spec, strict=True)
    for key in corpus.keys:
        corpus.read(key)


@pytest.mark.parametrize("loader", ["olmocr-bench", "parsebench"])
@pytest.mark.parametrize(
    "name",
    ["../../secret.pdf", "/etc/passwd", "a\\..\\b.pdf", "a\x1b[2J.pdf", "a\ud800.pdf", "a" * 300 + ".pdf"],
)
def test_a_pdf_elsewhere_costs_its_line(tmp_path: Path, loader: str, name: str) -> None:
    _, files = FOLDERS[loader]
    (jsonl, lines) = next(iter(files.items()))
    write(tmp_path / jsonl, as_text((lines[0] | {"pdf": name}, *lines[1:])))
    corpus = load_corpus(f"{loader}:{tmp_path}")
    assert corpus.keys and "its pdf must be" in str(corpus.remarks[0])
    assert str(corpus.remarks[0]).isprintable()


@pytest.mark.parametrize("damage", ["rows", "columns", "garbage", "cut", "link"])
def test_a_manifest_is_bounded(tmp_path: Path, damage: str) -> None:
    make(tmp_path, "omni-parse-bench")
    path = tmp_path / "manifest.parquet"
    n = 3_000_000 if damage == "rows" else 3
    pl.DataFrame({"page_id": pl.repeat("a" * 9, n, eager=True)}).write_parquet(path)
    if damage == "columns":
        pl.DataFrame({"suite": [["s"]]}).write_parquet(path)
    elif damage == "garbage":
        path.write_bytes(b"PAR1" + b"\x00" * 100 + b"PAR1")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "link":
        path.rename(tmp_path.parent / "elsewhere.parquet")
        path.symlink_to(tmp_path.parent / "elsewhere.parquet")
    with pytest.raises(CorpusError, match=r"rows in|cannot be read|leads outside"):
        load_corpus(f"omni-parse-bench:{tmp_path}")
