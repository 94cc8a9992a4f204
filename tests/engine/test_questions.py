"""Questions that nobody read are not answered, and nothing waits for ever; CPU time is what counts."""

import sys
import time
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.model import Status
from parsemark.parsers import WorkerCommand
from parsemark.parsers.session import WorkerFailure, WorkerSession

HELLO = 'import json, sys, time\nprint(json.dumps({"hello": 1, "parser": "p"}), flush=True)\n'
GUESSES = HELLO + (
    "for n in range(1, 50):\n"
    '    print(json.dumps({"id": str(n), "output": {"format": "text", "content": "guessed"},'
    ' "wall_s": 0, "cpu_s": 0}), flush=True)\n'
    "time.sleep(60)\n"
)
NEVER_READS = HELLO + "time.sleep(600)\n"


def session(code: str) -> WorkerSession:
    return WorkerSession(WorkerCommand((sys.executable, "-c", code), {}, "/"))


def test_an_answer_before_the_question_is_no_answer() -> None:
    with session(GUESSES) as guessing, pytest.raises(WorkerFailure, match="it answers request '1', not"):
        guessing.ask("x.pdf", 1, {}, timeout_s=30)


def test_a_worker_that_never_reads_is_ended_in_time() -> None:
    begun = time.monotonic()
    with session(NEVER_READS) as deaf, pytest.raises(WorkerFailure, match="did not read the request"):
        deaf.ask("x" * 4_000_000, 1, {}, timeout_s=1)
    assert time.monotonic() - begun < 60


def test_cpu_time_ends_a_worker_long_before_the_wall_clock(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["burn", "fine"])
    limits = PageLimits(timeout_s=1.0, patience=300)
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(limits=limits, n_workers=1))
    burnt, fine = run.records()
    assert burnt.status is Status.PARSER_TIMEOUT and "1 s of CPU time" in (burnt.error or "")
    assert fine.status is Status.OK


def test_waiting_costs_no_cpu_time(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["wait", "fine"])
    limits = PageLimits(timeout_s=2.0, patience=60)
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(limits=limits, n_workers=1))
    assert [r.status for r in run.records()] == [Status.OK, Status.OK]
    assert (run.records()[0].wall_s or 0) > 2.4, "measured from outside"
