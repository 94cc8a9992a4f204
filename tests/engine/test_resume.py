"""Nothing is repeated, nothing is lost, and neither kills nor the number of workers change the result."""

import dataclasses
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from tests.engine.fakes import FakeParser, make_corpus, times_asked
from tests.waiting import PATIENCE_S, wait_until

from parsemark.corpora import Corpus
from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.errors import StoreError, UsageError
from parsemark.parsers import Info
from parsemark.store import Run, RunFolder

BEHAVIOURS = ["fine", "crash", "fine", "error", "hang", "crash-once", "fine", "fine", "silent-exit", "fine"]
LIMITS = PageLimits(timeout_s=3.0)
PARSERS = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
MEASURED = ["wall_s", "cpu_s", "peak_memory_mb", "finished", "attempts", "stderr_tail"]


def results(run: Run) -> pl.DataFrame:
    return run.table("parses").drop(MEASURED)


def test_number_of_workers_does_not_change_the_result(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", BEHAVIOURS)
    runs = [
        parse_corpus(tmp_path / str(n), corpus, PARSERS, ParseOptions(n_workers=n, limits=LIMITS))
        for n in (1, 4)
    ]
    assert results(runs[0]).height == len(BEHAVIOURS) * 2
    assert results(runs[0]).equals(results(runs[1]))


def test_second_run_repeats_nothing(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "error", "fine"])
    options = ParseOptions(cache=tmp_path / "cache")
    first = parse_corpus(tmp_path / "a", corpus, [FakeParser()], options)
    parse_corpus(tmp_path / "a", corpus, [FakeParser()], options)
    elsewhere = parse_corpus(tmp_path / "b", corpus, [FakeParser("alias")], options)
    assert set(times_asked(corpus).values()) == {1}
    assert elsewhere.table("parses")["cached"].to_list() == [True] * 3
    assert elsewhere.table("parses")["blob"].to_list() == first.table("parses")["blob"].to_list()
    assert elsewhere.manifest.parsers[0].versions == {"fake": "1.2.3"}
    assert all(elsewhere.raw(blob) for blob in elsewhere.table("parses")["blob"].drop_nulls())


@pytest.mark.parametrize("change", ["fingerprint", "pdf", "blob"])
def test_what_has_changed_is_done_again(tmp_path: Path, change: str) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions())
    parser, expected = FakeParser(), {"s000": 2, "s001": 1}
    if change == "fingerprint":
        parser, expected = FakeParser(fingerprint="f2"), {"s000": 2, "s001": 2}
    elif change == "pdf":
        (tmp_path / "corpus" / "s000.pdf").write_text("fine and new")
    else:
        RunFolder.of(run).blobs.path(run.table("parses")["blob"][0]).unlink()
    parse_corpus(tmp_path / "run", corpus, [parser], ParseOptions())
    assert times_asked(corpus) == expected
    assert run.table("parses").height == 2


def test_more_pages_and_parsers_join_a_run(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 4)
    parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(pages="2"))
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser("more")], ParseOptions(pages="s003"))
    assert run.table("samples")["sample"].to_list() == ["s000", "s001", "s003"]
    assert run.table("parses").select("sample", "parser").rows() == [
        ("s000", "fake"),
        ("s001", "fake"),
        ("s003", "more"),
    ]


def test_another_corpus_is_refused(tmp_path: Path) -> None:
    parse_corpus(tmp_path / "run", make_corpus(tmp_path / "a", ["fine"]), [FakeParser()], ParseOptions())
    with pytest.raises(StoreError, match="Choose another --out"):
        other = dataclasses.replace(make_corpus(tmp_path / "b", ["fine", "fine"]), spec="folder:other")
        parse_corpus(tmp_path / "run", other, [FakeParser()], ParseOptions())


def test_bad_requests(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"])
    for pages in ("x*", "s000,s00l", "0", "²", "7-9", ","):
        part = re.escape(pages.rpartition(",")[2] or pages)
        with pytest.raises(UsageError, match=rf"--pages {part} matches no page\. .*ids such as s000"):
            parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(pages=pages))
        assert not (tmp_path / "run").exists(), "a refused request leaves nothing behind"
    with pytest.raises(UsageError, match="Parsers given twice: fake"):
        parse_corpus(tmp_path / "run", corpus, [FakeParser(), FakeParser()], ParseOptions())
    with pytest.raises(UsageError, match="Unknown executor 'slurm'"):
        parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(executor="slurm"))


SCRIPT = """
import sys
from pathlib import Path
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from tests.engine.fakes import FakeParser, make_corpus
folder = Path(sys.argv[1])
corpus = make_corpus(folder / "corpus", sys.argv[2].split())
parsers = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
options = ParseOptions(n_workers=2)
try:
    parse_corpus(folder / "run", corpus, parsers, options)
except KeyboardInterrupt:
    sys.exit(77)
"""


def start(folder: Path, behaviours: str = "slow " * 12) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), behaviours], cwd=root)


def wait_for_work(folder: Path, n_pages: int) -> None:
    wait_until(lambda: len(list((folder / "corpus").glob("*.log"))) >= n_pages)


def test_killed_and_resumed_equals_undisturbed(tmp_path: Path) -> None:
    undisturbed = tmp_path / "undisturbed"
    assert start(undisturbed).wait(PATIENCE_S) == 0
    rng = random.Random(1)
    killed = tmp_path / "killed"
    ended = []
    for n_pages in (1, 4, 8):
        process = start(killed)
        wait_for_work(killed, n_pages)
        time.sleep(rng.uniform(0, 0.2))
        process.kill()
        ended.append(process.wait(PATIENCE_S))
    # On a busy machine the last one may have come to its end before.
    assert ended[0] == -signal.SIGKILL and set(ended) <= {0, -signal.SIGKILL}
    assert start(killed).wait(PATIENCE_S) == 0
    one, other = results(Run.open(killed / "run")), results(Run.open(undisturbed / "run"))
    assert one.height == 24 and one.equals(other)
    # Only the pages that were under way at a kill were asked for again.
    asked = sum(len(log.read_text().split()) for log in (killed / "corpus").glob("*.log"))
    assert asked <= 24 + 3 * 2


def test_ctrl_c_stops_cleanly_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = start(tmp_path, "fine " * 6 + "hang " * 6)
    wait_for_work(tmp_path, 7)  # one of them hangs by now
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE_S) == 77
    run = Run.open(tmp_path / "run")
    done = run.table("parses")
    assert 2 <= done.height < 24 and set(done["status"]) == {"ok"}
    assert not list((tmp_path / "run" / "journal").iterdir())


def test_two_processes_on_one_run(tmp_path: Path) -> None:
    processes = [start(tmp_path), start(tmp_path)]
    assert [process.wait(PATIENCE_S) for process in processes] == [0, 0]
    run = Run.open(tmp_path / "run")
    assert run.table("parses").height == 24
    assert all(run.raw(blob) for blob in run.table("parses")["blob"])


def test_parsers_are_given_only_what_they_read(tmp_path: Path) -> None:
    pages = make_corpus(tmp_path / "corpus", ["fine"])
    (page,) = pages.samples()
    source = tmp_path / "corpus" / "letter.docx"
    source.write_bytes(b"PK")
    letters = Corpus.of(
        "letters", [dataclasses.replace(page, pdf=source)], root=tmp_path, version="1", licence="MIT"
    )
    word = FakeParser("word", info=Info(reads=("docx",)))
    with pytest.raises(UsageError, match=r"word reads DOCX, and the corpus has PDF; give .* sources:DIR"):
        parse_corpus(tmp_path / "a", pages, [word], ParseOptions())
    with pytest.raises(UsageError, match="fake reads PDF, and the corpus has DOCX"):
        parse_corpus(tmp_path / "b", letters, [FakeParser()], ParseOptions())
    assert parse_corpus(tmp_path / "c", letters, [word], ParseOptions()).table("parses").height == 1
