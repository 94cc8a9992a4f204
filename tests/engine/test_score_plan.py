"""The plan of scoring holds no page: chunks are read when their turn comes, and are those of the records."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import score as scoring
from parsemark.engine.scoring.score import plan_chunks, score_run
from parsemark.store import Run, RunFolder
from parsemark.store.records import ParseRecord


@pytest.fixture
def run(tmp_path: Path) -> Run:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 5 + ["error"])
    parsers = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
    return parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions())


def test_chunks_hold_every_page_once_with_all_its_outputs(run: Run) -> None:
    plan = plan_chunks(run, ("tables",), 4, 2, 100)
    assert [len(chunk.pages) for chunk in plan] == [1] * 6
    assert [chunk.key for chunk in plan] == list(plan.keys)
    stored = {(r.sample, r.parser): r.blob for r in run.records()}
    seen = {(p.sample, o.parser): o.blob for chunk in plan for p in chunk.pages for o in p.outputs}
    assert seen == stored
    assert plan.n_outputs == 12 and plan.n_lost == 0 and not plan.missing


@pytest.mark.parametrize("size", [2, 3, 4, 12])
def test_documents_stay_together_whatever_the_size(run: Run, size: int) -> None:
    """Pages s000 and s001 are one document, s002 and s003 the next."""
    plan = plan_chunks(run, ("tables(scope=document)",), size, 1, 1)
    for chunk in plan:
        documents = {page.document for page in chunk.pages}
        assert len(chunk.pages) == 2 * len(documents)
    assert [p.sample for chunk in plan for p in chunk.pages] == [f"s{n:03d}" for n in range(6)]


def test_documents_whose_pages_lie_apart_stay_together(run: Run) -> None:
    samples = run.table("samples")
    mixed = samples.with_columns(document=pl.Series([f"d{n % 2}" for n in range(samples.height)]))
    RunFolder.of(run).write_table("samples", mixed)
    plan = plan_chunks(run, ("tables(scope=document)",), 2, 1, 1)
    assert [[p.sample for p in chunk.pages] for chunk in plan] == [
        ["s000", "s002", "s004"],
        ["s001", "s003", "s005"],
    ]
    assert plan.n_pages == 6 and not plan.missing


def test_a_record_in_a_journal_counts_like_one_in_the_table(run: Run) -> None:
    before = plan_chunks(run, ("tables",), 256, 16, 1)
    old = next(r for r in run.records() if r.blob is not None)
    newer = ParseRecord.from_json({**old.to_json(), "status": "parser_failed", "blob": None, "error": "late"})
    with RunFolder.of(run).parses.journal() as journal:
        journal.append({**newer.to_json(), "finished": old.finished + 1})
        after = plan_chunks(run, ("tables",), 256, 16, 1)
    assert list(after.keys) != list(before.keys)
    outputs = {(p.sample, o.parser): o for chunk in after for p in chunk.pages for o in p.outputs}
    assert outputs[old.sample, old.parser].error == "late"


def test_no_more_chunks_are_held_than_are_under_way(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK_OUTPUTS", 2)
    monkeypatch.setattr(scoring, "_MIN_CHUNK_OUTPUTS", 1)
    held: list[int] = []
    real = scoring.ProcessPool.submit

    def submit(self: scoring.ProcessPool, task: object) -> None:
        real(self, task)
        held.append(len(self._waiting) + len(self._busy))

    monkeypatch.setattr(scoring.ProcessPool, "submit", submit)
    score_run(run, n_workers=1)
    assert len(held) == 6
    assert max(held) <= 2
    assert run.table("predictions").height == 12
