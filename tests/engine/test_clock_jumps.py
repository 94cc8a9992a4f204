"""A clock that jumps by years, and files from 1970 and 2100, change no result."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus
from tests.faults.common import results

from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.engine.verify_bundle import verify_bundle
from parsemark.judges.openai import _retry_after
from parsemark.store import Run
from parsemark.store.bundle import write_bundle
from parsemark.system.scratch import ScratchFolder

YEAR_S = 365 * 86_400.0
BEHAVIOURS = ["fine", "error", "fine", "fine"]
STAMPS = (0.0, 4_102_444_800.0, 1.0)  # 1970, 2100


def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    real, jumps = time.time, itertools.cycle((0.0, 10 * YEAR_S, -10 * YEAR_S, -1.0, 3.0))
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))


def stamp(folder: Path, seconds: float) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            os.utime(path, (seconds, seconds))


def test_a_run_goes_on_and_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, parser = make_corpus(tmp_path / "corpus", BEHAVIOURS), FakeParser()
    parse_corpus(tmp_path / "calm", corpus, [parser], ParseOptions())
    score_run(Run.open(tmp_path / "calm"), n_workers=1)
    jumping(monkeypatch)
    options = ParseOptions(cache=tmp_path / "cache")
    for seconds, pages in zip(STAMPS, (2, 3, None), strict=True):  # stopped and given again
        options = ParseOptions(cache=tmp_path / "cache", pages=pages)
        parse_corpus(tmp_path / "wild", corpus, [parser], options)
        for folder in ("wild", "cache"):
            stamp(tmp_path / folder, seconds)
    score_run(Run.open(tmp_path / "wild"), n_workers=1)
    assert results(tmp_path / "wild") == results(tmp_path / "calm")
    again = parse_corpus(tmp_path / "other", corpus, [parser], ParseOptions(cache=tmp_path / "cache"))
    assert all(record.cached for record in again.records() if record.status == "ok")
    for name in ("first", "second"):  # bytes of a bundle do not depend on the time of day
        write_bundle(Run.open(tmp_path / "wild"), tmp_path / f"{name}.zip")
        stamp(tmp_path / "wild", 4_102_444_800.0)
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()
    assert verify_bundle(tmp_path / "first.zip", n_workers=1).passed


@pytest.mark.parametrize("seconds", STAMPS)
def test_a_folder_in_use_is_never_taken_for_abandoned(tmp_path: Path, seconds: float) -> None:
    with ScratchFolder("clock-", tmp_path) as first:
        (first / "work").write_text("a")
        stamp(first, seconds)
        with ScratchFolder("clock-", tmp_path) as second:
            assert first != second and (first / "work").read_text() == "a"


@pytest.mark.parametrize(
    "header",
    [
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "1e400",
        "nan",
        "-1",
        "x",
        "Mon, 01 Jan 1970 00:00:00 GMT",
    ],
)
def test_a_date_to_come_again_is_never_an_error(header: str) -> None:
    wait = _retry_after(header)
    assert wait is None or wait >= 0
