"""The commands around a run, from the outside: what users type and see."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpora.writing import write_corpus
from tests.engine.fakes import make_corpus
from tests.waiting import PATIENCE_S, wait_until

from parsemark.cli.main import run
from parsemark.corpora import load_corpus
from parsemark.protocols import Figure
from parsemark.store import Run
from parsemark.store.run import query_run

ECHO = Path(__file__).with_name("echo_parser.py")
COMMAND = (sys.executable, "-c", "from parsemark.cli.main import run; run()")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus of six pages, one of which the parser cannot read."""
    folder = tmp_path_factory.mktemp("workplace")
    contents = ["fine"] * 5 + ["bad"]
    samples = list(make_corpus(folder / "corpus" / "pdfs", contents).samples())
    write_corpus(folder / "corpus", samples, name="tiny", licence="CC0-1.0")
    return folder


def parsemark(folder: Path, *arguments: str, code: int = 0) -> str:
    """What the command prints. Runs in this process, which spares importing everything each time."""
    printed = io.StringIO()
    env = {"PARSEMARK_CACHE": str(folder / "cache"), "COLUMNS": "140"}
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as streams:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["parsemark", *arguments])
        for key, value in env.items():
            patch.setenv(key, value)
        streams.enter_context(contextlib.redirect_stdout(printed))
        streams.enter_context(contextlib.redirect_stderr(printed))
        with pytest.raises(SystemExit) as exit_info:
            run()
    assert (exit_info.value.code or 0) == code, printed.getvalue()
    return printed.getvalue()


def test_modules_beside_the_documents_are_not_imported(workplace: Path, tmp_path: Path) -> None:
    for name in ("re", "json", "signal"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')")
    script = Path(sys.executable).with_name("parsemark")
    places = ("--corpus", str(workplace / "corpus"), "--out", str(tmp_path / "run"), "--pages", "1")
    command = [script, "bench", *places, "--parser", str(ECHO), "--no-report", "--no-cache"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "not ours" not in done.stdout + done.stderr, done.stderr


@pytest.fixture(scope="module")
def benched(workplace: Path) -> tuple[Path, str]:
    shown = parsemark(
        workplace,
        *("bench", "--corpus", "corpus", "--out", "run", "--no-report", "--timeout-s", "20"),
        *("--parser", str(ECHO), "--parser", f"{ECHO}(speed=slow)"),
    )
    return workplace, shown


def test_bench_prints_a_leaderboard(benched: tuple[Path, str]) -> None:
    folder, shown = benched
    assert "echo_parser: 6/6 pages, 1 failed" in shown
    assert re.search(r"6 pages · 6 pages with truth · 6 tables · 0 pages\s+without tables", shown)
    assert re.search(r"echo_parser\(speed=slow\) +\d\.\d{3}", shown)
    for figures in Run.open(folder / "run").summary().parsers.values():
        assert figures["failures"].value == 1
        for name in ("td_precision", "td_recall", "td_f1", "te_f1_top", "te_f1_con", "te_f1_teds"):
            assert 0 <= figures[name].value <= 1
            assert figures[name].interval is None  # six documents are too few for an interval


def test_manifest_says_how_to_repeat_it(benched: tuple[Path, str]) -> None:
    manifest = Run.open(benched[0] / "run").manifest
    assert manifest.command[:3] == ["parsemark", "bench", "--corpus"]
    assert (manifest.corpus.name, manifest.corpus.n_samples) == ("tiny", 6)
    assert manifest.limits is not None and manifest.limits.timeout_s == 20
    assert [p.settings for p in manifest.parsers] == [{"speed": "fast"}, {"speed": "slow"}]


def test_second_bench_parses_nothing(benched: tuple[Path, str]) -> None:
    folder, _ = benched
    before = Run.open(folder / "run").table("parses")
    shown = parsemark(folder, "bench", "-c", "corpus", "-o", "run", "--no-report", "-p", str(ECHO))
    assert "echo_parser: 6 pages, 6 done before" in shown
    assert Run.open(folder / "run").table("parses").equals(before)
    parsemark(
        folder, "bench", "--no-score", "-c", "corpus", "-o", "elsewhere", "-p", str(ECHO), "--timeout-s", "20"
    )
    assert Run.open(folder / "elsewhere").table("parses")["cached"].all()


def test_overwrite_starts_anew(benched: tuple[Path, str]) -> None:
    folder, _ = benched
    flags = ("-c", "corpus", "-o", "anew", "-p", str(ECHO), "--pages")
    parsemark(folder, "bench", "--no-score", *flags, "3")
    (folder / "anew" / "notes.txt").write_text("mine")
    parsemark(folder, "bench", "--no-score", *flags, "2-2", "--overwrite", "--no-cache")
    assert Run.open(folder / "anew").table("parses").select("sample", "cached").rows() == [("s001", False)]
    assert (folder / "anew" / "notes.txt").exists()


def test_query_reads_the_run_that_is_named(benched: tuple[Path, str], tmp_path: Path) -> None:
    """The brackets of a path are a pattern to DuckDB, which read the runs q1 and q2."""
    for name in ("q1", "q2", "q[12]"):
        shutil.copytree(benched[0] / "run", tmp_path / name)
    one, both = (query_run(tmp_path / name, "SELECT count(*) FROM parses").rows for name in ("q1", "q[12]"))
    assert one == both


def test_query(benched: tuple[Path, str]) -> None:
    folder, _ = benched
    sql = "SELECT parser, count(*) AS n FROM parses WHERE status = 'ok' GROUP BY parser ORDER BY parser"
    assert parsemark(folder, "query", "run", sql, "--csv").splitlines()[1] == "echo_parser,5"
    assert "echo_parser(speed=slow)" in parsemark(folder, "query", "run", sql)
    assert "20" in parsemark(folder, "query", "run", "SELECT now()")  # a time with a zone
    assert "1:100:2 ⟨U+001B⟩[31m" in parsemark(
        folder, "query", "run", "SELECT '1:100:2 ' || chr(27) || '[31m'"
    )
    assert "The query failed" in parsemark(folder, "query", "run", "SELECT nothing FROM nowhere", code=2)
    for wrong in ("", ";", "/* nothing */", "SELECT 1; SELECT 2"):
        assert "SQL statements; give one" in parsemark(folder, "query", "run", wrong, code=2)


def test_score_outputs_made_elsewhere(benched: tuple[Path, str]) -> None:
    folder, _ = benched
    outputs = folder / "my-tool"
    outputs.mkdir()
    rows = "<table><tr><td>s00N</td><td>page 1</td></tr><tr><td>1</td><td>2</td></tr></table>"
    (outputs / "s000.html").write_text(rows.replace("N", "0"))
    (outputs / "s001.md").write_text("| s001 | page 1 |\n|---|---|\n| 1 | 2 |\n")
    (outputs / "s002.csv").write_text("s002,page 1\n1,2\n")
    elements = [{"category": "table", "html": rows.replace("N", "3")}]
    (outputs / "s003.json").write_text(json.dumps({"format": "elements", "elements": elements}))
    (outputs / "s004.json").write_text("{broken")
    (outputs / "stranger.md").write_text("hello")
    (outputs / "notes.docx").write_text("not an output")
    (outputs / "s000.txt").write_text("another answer")
    (folder / "secret.md").write_text("| s005 | page 1 |\n|---|---|\n| 1 | 2 |\n")
    (outputs / "s005.md").symlink_to(folder / "secret.md")
    shown = parsemark(folder, "score", "my-tool", "-c", "corpus", "-o", "mine")
    told = " ".join(shown.split())
    assert "older than these scores" not in told
    (folder / "mine" / "report").mkdir()
    (folder / "mine" / "report" / "index.html").write_text("of yesterday")
    again = parsemark(folder, "score", "mine")
    assert "The HTML report is older than these scores. To renew it: `parsemark report mine`" in again
    assert (
        "stranger.md (no sample or document of that name)" in told
        and "notes.docx (not a known format)" in told
    )
    assert "s005.md (leads out of the folder)" in told and "s000.txt (s000.html is taken)" in told
    mine = Run.open(folder / "mine")
    statuses = dict(mine.table("parses").select("sample", "status").rows())
    assert [statuses[f"s00{n}"] for n in range(6)] == [*["ok"] * 4, "parser_failed", "no_prediction"]
    scores = mine.table("scores").filter(rule="ngrams", metric="grits_con")
    values = dict(scores.select("sample", "value").rows())
    assert [values[f"s00{n}"] for n in range(6)] == [1.0, 1.0, 1.0, 1.0, None, None]


def test_errors_are_one_line_that_helps(benched: tuple[Path, str]) -> None:
    folder, _ = benched
    assert "nowhere does not exist" in parsemark(folder, "score", "nowhere", code=2)
    assert "is not a run" in parsemark(folder, "score", "corpus", "--add", "ensemble", code=2)
    assert "No corpus 'dmeo'" in parsemark(folder, "bench", "-c", "dmeo", code=2)
    assert "Did you mean" in parsemark(folder, "bench", "-c", "corpus", "-p", "pdfplumer", code=2)
    (folder / "empty").mkdir()
    message = parsemark(folder, "score", "empty", "-c", "corpus", "-o", "x", code=2)
    assert "expected names like s000.md" in message


WAITING = """
# /// script
# dependencies = []
# ///
import time
from pathlib import Path
from parsemark_worker import serve, text_output

done = []

def parse(pdf, page, options):
    while done and not Path({go_on!r}).exists():
        time.sleep(0.05)
    done.append(pdf)
    return text_output("markdown", "| a | b |\\n|---|---|\\n| 1 | 2 |\\n")

serve(parse)
"""
"""Answers once, and then only when it may go on."""


def test_ctrl_c_says_how_to_go_on(workplace: Path) -> None:
    (workplace / "waiting.py").write_text(WAITING.format(go_on=str(workplace / "go-on")))
    arguments = ["bench", "--no-score", "-c", "corpus", "-o", "stopped", "-p", "./waiting.py", "--no-cache"]
    env = {**os.environ, "PARSEMARK_CACHE": str(workplace / "cache"), "COLUMNS": "200"}
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--workers", "1"], cwd=workplace, env=env, stdout=subprocess.PIPE, text=True
    )
    wait_until(lambda: _records(workplace / "stopped"))
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Stopped. 1 of 6 pages are done and kept. Resume with:" in shown
    assert "parsemark bench --no-score -c corpus -o stopped" in shown
    (workplace / "go-on").touch()
    parsemark(workplace, *arguments)
    assert Run.open(workplace / "stopped").table("parses").height == 6


def _records(run: Path) -> int:
    """How many pages a run that is being written has."""
    return len(list(Run.open(run).records())) if (run / "manifest.json").exists() else 0


CONSTANT = """
# /// script
# dependencies = []
# ///
from parsemark_worker import serve, text_output
serve(lambda pdf, page, options: text_output("markdown", "| a | b |\\n|---|---|\\n| 1 | 2 |\\n"))
"""


def test_a_corpus_without_truth_shows_what_needs_none(workplace: Path) -> None:
    (workplace / "bare").mkdir()
    shutil.copy(next(load_corpus("demo").samples()).pdf, workplace / "bare" / "one.pdf")
    (workplace / "constant.py").write_text(CONSTANT)
    flags = ("-c", "folder:bare", "-o", "bare-run", "-p", "./constant.py")
    shown = parsemark(workplace, "bench", "--pages", "1", *flags)
    assert "1 page · 0 pages with truth" in shown
    assert re.search(r"constant .*\b1\.00 ", shown)
    assert (workplace / "bare-run" / "report" / "index.html").exists()
    run = Run.open(workplace / "bare-run")
    assert run.summary().protocol == "evidence"
    assert run.summary().parsers["constant"]["invented"].n == 2  # letters are no words
    figures = run.summary("tables").parsers["constant"]
    assert figures["td_f1"] == Figure(value=None, n=0)
    assert figures["tables_per_page"].value == 1


def test_choose_says_which_parser_and_what_to_label_next(workplace: Path) -> None:
    (workplace / "constant.py").write_text(CONSTANT)
    flags = ("-p", str(ECHO), "-p", "./constant.py", "--out", "chosen", "--labels", "3", "--no-cache")
    shown = parsemark(workplace, "choose", "corpus", *flags)
    assert "Report: " in shown and (workplace / "chosen" / "choice.html").exists()
    choice = json.loads((workplace / "chosen" / "choice.json").read_text())
    assert choice["budget"] == 3 and {c["parser"] for c in choice["candidates"]} == {
        "constant",
        "echo_parser",
    }
