"""Pairs for people to rate, drawn from a run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import StudyError
from parsemark.store import Run
from parsemark.study.ratings import read_tasks
from parsemark.study.sample import PairCandidate, draw_in_turn, draw_pairs


@pytest.fixture
def run(tmp_path: Path) -> Run:
    pdf = tmp_path / "page.pdf"
    Image.new("RGB", (595, 842), "white").save(pdf, resolution=72)
    return fabricate_run(tmp_path / "run", 24, ("good", "fair", "poor"), pdf=pdf)


def test_sampled_pairs_can_be_rated(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "study" / "pairs.json"
    result = CliRunner().invoke(app, ["study", "sample", str(run.path), "--pairs", "15", "--out", str(out)])
    assert result.exit_code == 0, result.output
    tasks = read_tasks(out)
    assert len(tasks.pairs) == 15
    assert set(Counter(pair.parser for pair in tasks.pairs)) == {"good", "fair", "poor"}
    for pair in tasks.pairs:
        assert pair.truth and pair.pred and pair.complexity
        picture = tasks.picture_of(pair)
        assert picture is not None
        assert Image.open(picture).width > 500
    assert "asked for" not in result.output
    more = CliRunner().invoke(
        app, ["study", "sample", str(run.path), "--pairs", "500", "--out", f"{tmp_path}/more.json"]
    )
    assert "asked for 500: the run has no more" in more.output
    again = CliRunner().invoke(app, ["study", "sample", str(run.path), "--out", str(out)])
    assert again.exit_code != 0 and "exists" in str(again.exception)
    told = CliRunner().invoke(app, ["study", "run", str(out)])
    assert "rat" in str(told.exception)


def test_the_same_seed_draws_the_same_pairs(run: Run) -> None:
    assert draw_pairs(run, 10, seed=3) == draw_pairs(run, 10, seed=3)
    assert draw_pairs(run, 10, seed=3) != draw_pairs(run, 10, seed=4)
    assert len(draw_pairs(run, 10_000)) == len(set(draw_pairs(run, 10_000)))
    with pytest.raises(StudyError, match="reader"):
        draw_pairs(run, 5, metric="reader")


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["simple", "complex"]), st.integers(-1, 4)),
        st.integers(1, 12),
        min_size=1,
    ),
    st.integers(1, 60),
    st.integers(0, 99),
)
def test_strata_take_turns(sizes: dict[tuple[str, str, int], int], n: int, seed: int) -> None:
    strata = {
        key: [PairCandidate(f"s{k}", key[0], "t", "p", key[2] / 5, key[1]) for k in range(size)]
        for key, size in sizes.items()
    }
    drawn = draw_in_turn(strata, n, seed)
    assert len(drawn) == min(n, sum(sizes.values()))
    counts = Counter((c.parser, c.complexity, round((c.score or 0) * 5)) for c in drawn)
    for key, size in sizes.items():
        rest = [counts[other] for other in sizes if other != key]
        # A stratum is behind another only if it is used up, or its turn is still to come.
        assert counts[key] == size or counts[key] >= max(rest, default=0) - 1


def test_a_picture_of_another_file_is_not_shown(run: Run, tmp_path: Path) -> None:
    for pdf in (tmp_path / "run-pdfs").iterdir():
        pdf.write_bytes(pdf.read_bytes() + b"\n")
    out = tmp_path / "pairs.json"
    result = CliRunner().invoke(app, ["study", "sample", str(run.path), "--pairs", "3", "--out", str(out)])
    assert "0 with a picture" in result.output
    assert all("picture" not in pair for pair in json.loads(out.read_text())["pairs"])
