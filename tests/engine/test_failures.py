"""Whatever a worker does costs one page, and the page says what happened."""

import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest
from tests.engine.fakes import FakeParser, make_corpus, times_asked
from tests.waiting import PATIENCE_S, is_running

from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.errors import WriteError
from parsemark.store import ParseRecord, Run
from parsemark.store.parses import Journal

LIMITS = PageLimits(timeout_s=60, patience=1, memory_mb=300, max_answer_bytes=2**20)
IMPATIENT = dataclasses.replace(LIMITS, timeout_s=10)
"""For what hangs; all else must have time, also on a busy machine."""


def parse(folder: Path, *behaviours: str, limits: PageLimits = LIMITS) -> list[ParseRecord]:
    corpus = make_corpus(folder / "corpus", behaviours)
    hangs = any(behaviour.startswith(("hang", "kill-supervisor")) for behaviour in behaviours)
    options = ParseOptions(limits=IMPATIENT if hangs else limits, n_workers=1)
    return parse_corpus(folder / "run", corpus, [FakeParser()], options).records()


@pytest.mark.parametrize(
    ("behaviour", "status", "attempts", "error"),
    [
        ("crash", "parser_failed", 2, "SIGABRT"),
        ("crash-once", "ok", 2, None),
        ("silent-exit", "parser_failed", 2, "exit code 0"),
        ("garbage", "parser_failed", 2, "it is not JSON"),
        ("huge", "parser_failed", 1, "exceeds 1048576 bytes"),
        ("hang", "parser_timeout", 1, "not answer within 10 s"),
        ("leak", "parser_failed", 1, "more than 300 MB"),
        ("leak-in-child", "parser_failed", 1, "more than 300 MB"),
        ("error", "parser_failed", 1, "IndexError: no such page"),
        ("talkative", "ok", 1, None),
        ("nan", "ok", 1, None),
    ],
)
def test_first_page_misbehaves(
    tmp_path: Path, behaviour: str, status: str, attempts: int, error: str | None
) -> None:
    bad, good = parse(tmp_path, behaviour, "fine")
    assert (bad.status, bad.attempts) == (status, attempts)
    assert (bad.error is None) if error is None else (error in (bad.error or ""))
    assert bad.wall_s is not None and 0 <= bad.wall_s < PATIENCE_S
    assert bad.cpu_s is not None and bad.cpu_s >= 0
    assert (good.status, good.attempts) == ("ok", 1)
    assert good.peak_memory_mb is None or 1 < good.peak_memory_mb < 300


@pytest.mark.parametrize("behaviour", ["hang", "leak", "huge"])
def test_failure_in_a_worn_worker_is_tried_in_a_new_one(tmp_path: Path, behaviour: str) -> None:
    first, bad, last = parse(tmp_path, "fine", behaviour, "fine")
    assert first.status == last.status == "ok"
    assert bad.status != "ok" and bad.attempts == 2


def test_leak_over_many_pages_costs_no_page(tmp_path: Path) -> None:
    records = parse(tmp_path, *["leak-slowly"] * 8)
    assert [r.status for r in records] == ["ok"] * 8
    assert max(r.attempts for r in records) == 2


def test_end_of_stderr_is_kept(tmp_path: Path) -> None:
    crash, hang = parse(tmp_path, "crash", "hang")
    assert "about to fall over s000.pdf" in (crash.stderr_tail or "")
    assert "waiting for godot" in (hang.stderr_tail or "")


@pytest.mark.parametrize("behaviour", ["hang-with-child", "leak-beyond-its-session", "kill-supervisor"])
def test_what_a_worker_has_started_ends_with_it(tmp_path: Path, behaviour: str) -> None:
    bad, good = parse(tmp_path, behaviour, "fine")
    assert bad.status != "ok" and good.status == "ok"
    assert not is_running(int((tmp_path / "corpus" / "s000.pid").read_text()))


@pytest.mark.parametrize("signal_number", [35, 50, 63])
def test_signals_without_a_name(tmp_path: Path, signal_number: int) -> None:
    bad, good = parse(tmp_path, f"die-{signal_number}", "fine")
    assert bad.status == "parser_failed" and f"signal {signal_number}" in (bad.error or "")
    assert good.status == "ok"


@pytest.mark.parametrize(
    "kind", ["error-string", "error-list", "wall-huge", "cpu-huge", "deep", "long-error"]
)
def test_an_answer_against_the_protocol_costs_one_page(tmp_path: Path, kind: str) -> None:
    bad, good = parse(tmp_path, kind, "fine")
    assert good.status == "ok"
    assert bad.status == ("ok" if kind == "cpu-huge" else "parser_failed")
    assert bad.cpu_s is not None and bad.cpu_s < 1000
    assert len(bad.error or "") <= 2_100


def test_a_hello_with_half_a_surrogate(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"])
    parser = FakeParser(arguments=("surrogate",))
    run = parse_corpus(tmp_path / "run", corpus, [parser], ParseOptions(n_workers=1))
    assert [r.status for r in run.records()] == ["ok"]
    assert Run.open(tmp_path / "run").manifest.parsers[0].versions == {"a?": "b?"}


def test_worker_lives_from_page_to_page(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 5)
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(n_workers=1))
    assert times_asked(corpus) == dict.fromkeys(corpus.keys, 1)
    entry = run.manifest.parser("fake")
    assert entry is not None and entry.versions == {"fake": "1.2.3"}


def test_a_run_ends_when_every_failure_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append = Journal.append

    def slowly(self: Journal, entry: dict[str, Any]) -> None:
        time.sleep(0.05)
        append(self, entry)

    monkeypatch.setattr(Journal, "append", slowly)
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 6)
    parsers = [FakeParser("no-install", broken="no network")]
    records = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1)).records()
    assert len(records) == 6


def test_a_closed_journal_writes_nowhere(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", 1) as journal:
        journal.append({"a": 1})
    with (tmp_path / "other").open("wb"), pytest.raises(WriteError, match="closed"):
        journal.append({"a": 2})
    assert (tmp_path / "other").read_bytes() == b""


def test_parser_that_cannot_be_used_costs_only_its_own_pages(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 3)
    parsers = [
        FakeParser("a-no-install", broken="uv pip failed: no network"),
        FakeParser("b-no-start", arguments=("no-start",)),
        FakeParser("c-fine"),
    ]
    records = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=2)).records()
    by_parser = {p.name: [r for r in records if r.parser == p.name] for p in parsers}
    assert [len(of) for of in by_parser.values()] == [3, 3, 3]
    assert {r.status for r in by_parser["c-fine"]} == {"ok"}
    assert all("no network" in (r.error or "") for r in by_parser["a-no-install"])
    assert all("no module named torch" in (r.error or "") for r in by_parser["b-no-start"])
    mended = [FakeParser("a-no-install"), FakeParser("b-no-start")]
    again = parse_corpus(tmp_path / "run", corpus, mended, ParseOptions()).records()
    assert {r.status for r in again} == {"ok"}
