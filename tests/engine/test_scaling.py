"""`bench --scaling`: speed by number of workers and by length of a document."""

import base64
import gzip
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.corpora import load_corpus
from parsemark.engine.parsing import scaling
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.parsing.scaling import Scaling, SpeedTiming, measure_scaling, read_scaling
from parsemark.engine.scoring.score import score_run
from parsemark.errors import StoreError
from parsemark.pdf import count_pages, join_pages, page_text
from parsemark.report import build_report
from parsemark.store import Run, RunFolder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run measured on documents of 1 and 4 pages."""
    corpus = make_corpus(tmp_path / "pdfs", ["fine", "fine"])
    made = parse_corpus(tmp_path / "run", corpus, [FakeParser("a")], ParseOptions())
    score_run(made, n_workers=1)
    monkeypatch.setattr(scaling, "LENGTHS", (1, 4))
    monkeypatch.setattr(scaling, "join_pages", lambda pages: b"fine" if len(pages) == 1 else b"fine long")
    measure_scaling(made, corpus, [FakeParser("a")], ParseOptions(), n_cores=3)
    return Run.open(made.path)


def test_each_number_of_workers_and_each_length_is_measured(run: Run) -> None:
    found = read_scaling(run)
    assert found is not None and found.cores == 3
    assert [(t.workers, t.pages, t.failed) for t in found.timings] == [(1, 1, 0), (1, 4, 0), (2, 4, 0)]
    assert all(t.wall_s > 0 and t.pages_per_s == t.pages / t.wall_s for t in found.timings)
    assert [t.workers for t in found.by_workers("a")] == [1, 2]
    assert [t.pages for t in found.by_length("a")] == [1, 4]


def test_the_report_draws_them_beside_the_cost_chart(run: Run, tmp_path: Path) -> None:
    build_report(run.path, tmp_path / "report")
    chunk = (tmp_path / "report" / "data" / "leaderboards" / "1.js").read_text()
    data = gzip.decompress(base64.b64decode(chunk.split('"')[3])).decode()
    assert "speed-workers" in data and "time-length" in data and "gpu-workers" not in data


def test_a_damaged_file_is_named_and_goes_with_the_run(run: Run) -> None:
    path = run.path / scaling.FILE
    path.write_text("{")
    with pytest.raises(StoreError, match=r"scaling\.json is damaged"):
        read_scaling(run)
    RunFolder.remove(run.path)
    assert not path.exists()


def test_a_parser_that_fails_everywhere_has_no_speed() -> None:
    ok = SpeedTiming(parser="a", workers=1, pages=10, failed=9, wall_s=2.0)
    failed = SpeedTiming(parser="a", workers=1, pages=100, failed=100, wall_s=0.1)
    found = Scaling(cores=1, timings=[ok, failed])
    assert found.by_workers("a") == [ok] == found.by_length("a")


def test_pages_of_several_files_are_joined_in_order(tmp_path: Path) -> None:
    corpus = load_corpus("demo")
    pages = [corpus.read(key) for key in corpus.keys[:2]]
    files = [(page.pdf, page.page_number) for page in (*pages, pages[0]) if page.pdf is not None]
    joined = tmp_path / "joined.pdf"
    joined.write_bytes(join_pages(tuple(files)))
    assert count_pages(joined) == 3
    assert [page_text(joined, k) for k in (1, 2, 3)] == [page_text(*file) for file in files]


def test_gpu_memory_is_that_of_all_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf '100\\n20\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with scaling._gpu_memory() as used:
        pass
    assert used == [120.0]
    program.write_text("#!/bin/sh\nexit 9\n")
    with scaling._gpu_memory() as used:
        pass
    assert used == []
