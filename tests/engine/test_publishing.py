"""What is published follows from the records, whoever scores, and garbage counts as failed everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import score as scoring
from parsemark.engine.scoring.score import score_run
from parsemark.store import Run, RunFolder

GARBAGE: list[object] = [
    {},
    {"format": "runes", "content": "x"},
    {"format": "markdown"},
    {"format": "markdown", "content": 7},
    {"format": "elements"},
    {"format": "elements", "elements": {}},
    {"format": "elements", "elements": [1]},
    {"format": "elements", "elements": [{"category": "nonsense"}]},
    {"format": "elements", "elements": [{"category": "table", "box": [1, 2, 3]}]},
    {"format": "elements", "elements": [{"category": "table", "box": [5, 5, 1, 1]}]},
    {"format": "elements", "elements": [{"category": "table", "confidence": 7}]},
    {"format": "elements", "elements": [{"category": "table", "cells": [{"row": -1, "col": 0}]}]},
    {"format": "elements", "elements": [{"category": "table", "cells": [{"row": 0, "col": 0}] * 2}]},
    {"format": "elements", "elements": [{"category": "table", "cells": [{"row": 10**9, "col": 0}]}]},
]


def pages(folder: Path, behaviours: list[str]) -> Run:
    corpus = make_corpus(folder / "corpus", behaviours)
    return parse_corpus(folder / "run", corpus, [FakeParser()], ParseOptions(n_workers=1))


def test_an_output_that_cannot_be_read_is_a_failure_everywhere(tmp_path: Path) -> None:
    behaviours = [f"say:{json.dumps(output)}" for output in GARBAGE]
    run = pages(tmp_path, [*behaviours, "fine"])
    (summary,) = score_run(run, n_workers=1)
    for record in run.records()[:-1]:
        assert record.status == "parser_failed", record.sample
        assert "unreadable output" in (record.error or "") and record.blob is not None
    assert run.records()[-1].status == "ok"
    statuses = dict(run.table("predictions").select("sample", "status").iter_rows())
    assert statuses == dict(run.table("parses").select("sample", "status").iter_rows())
    assert summary.parsers["fake"]["failures"].value == len(GARBAGE)
    (again,) = score_run(run, n_workers=1)
    assert again == summary


class AddsAParser(Events):
    """Somebody else parses while we score, once or always."""

    def __init__(self, folder: Path, run: Path, times: int) -> None:
        self.folder, self.run, self.left = folder, run, times

    def scoring(self, *, n_pages: int) -> None:
        if self.left:
            self.left -= 1
            corpus = make_corpus(self.folder, ["fine", "fine"])
            parse_corpus(
                self.run, corpus, [FakeParser(f"late{self.left}", fingerprint=str(self.left))], ParseOptions()
            )


@pytest.mark.parametrize("times", [1, 3])
def test_what_was_added_while_scoring_is_scored_too(tmp_path: Path, times: int) -> None:
    run = pages(tmp_path, ["fine", "fine"])
    events = AddsAParser(tmp_path / "corpus", run.path, times)
    (summary,) = score_run(run, n_workers=1, events=events)
    expected = {"fake", *(f"late{k}" for k in range(times))}
    if times < 3:
        assert set(summary.parsers) == expected
    (again,) = score_run(Run.open(run.path), n_workers=1)
    assert set(again.parsers) == expected
    values = {figures[again.primary].value for figures in again.parsers.values()}
    assert len(values) == 1, "all gave the same outputs"


def test_parts_that_another_has_removed_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pages(tmp_path, ["fine", "fine"])
    score_all, rounds = scoring._score_all, []

    def removed(*arguments):
        final = score_all(*arguments)
        rounds.append(1)
        if len(rounds) == 1:
            scoring.remove_tree(run.path / "parts")
        return final

    monkeypatch.setattr(scoring, "_score_all", removed)
    (summary,) = score_run(run, n_workers=1)
    assert len(rounds) == 2 and set(summary.parsers) == {"fake"}
    assert not (run.path / "parts").exists()


def test_a_damaged_output_costs_its_page_and_is_parsed_again(tmp_path: Path) -> None:
    run = pages(tmp_path, ["fine", "fine"])
    first, _ = run.records()
    RunFolder.of(run).blobs.path(first.blob or "").write_bytes(b"other bytes")
    score_run(run, n_workers=1)
    bad, good = run.records()
    assert bad.status == "parser_failed" and "damaged" in (bad.error or "") and good.status == "ok"
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    again = parse_corpus(run.path, corpus, [FakeParser()], ParseOptions())
    score_run(again, n_workers=1)
    assert [record.status for record in again.records()] == ["ok", "ok"]


def test_parsing_anew_parses_what_the_run_has_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions())
    logs = sorted((tmp_path / "corpus").glob("*.log"))

    def asked() -> list[int]:
        return [len(log.read_text().split()) for log in logs]

    parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions())
    assert asked() == [1, 1]
    parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(anew=True))
    assert asked() == [2, 2]
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(anew=True, pages="1"))
    begun = max(r.sequence for r in run.records())  # as if that run had been stopped after its first page
    RunFolder.of(run).update_manifest(lambda m: m.model_copy(update={"parsing_anew": {"fake": begun}}))
    parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(anew=True))
    assert asked() == [3, 3]
