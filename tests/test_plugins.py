"""docs/how-to/extend.md, followed literally: write its files, run its commands; and broken plug-ins."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.corpora.small_files import make_pdf
from tests.packages import write_entry_points

from parsemark.store import Run

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "extend.md").read_text(encoding="utf-8")
PARSEMARK = "from parsemark.cli.main import run; run()"


def install(folder: Path, files: dict[str, str], points: dict[str, dict[str, str]]) -> None:
    """What `pip install` leaves: modules, and the entry points of the package."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    lines = [
        line
        for group, entries in points.items()
        for line in (f"[{group}]", *(f"{k} = {v}" for k, v in entries.items()))
    ]
    write_entry_points(folder, "acme_parsemark", "\n".join(lines) + "\n")


def parsemark(work: Path, command: str, code: int = 0) -> str:
    """What a command prints, in a new process that sees the package."""
    arguments = shlex.split(command)
    assert arguments.pop(0) == "parsemark"
    found = subprocess.run(
        [sys.executable, "-c", PARSEMARK, *arguments],
        cwd=work,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(work / "package"), *sys.path]),
            "COLUMNS": "140",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == code, found.stdout + found.stderr
    return found.stdout + found.stderr


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the page, documents and outputs."""
    folder = tmp_path_factory.mktemp("plugins")
    blocks = re.findall(r"`([\w.]+)`[^`]*?:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    files = dict(blocks)
    names = ("acme_metric.py", "acme_corpus.py", "acme_maker.py", "acme_protocol.py")
    assert set(files) == {"pyproject.toml", *names}
    described = tomllib.loads(files.pop("pyproject.toml"))
    # Without it setuptools refuses several modules in one folder, or takes another folder for the package.
    assert {f"{name}.py" for name in described["tool"]["setuptools"]["py-modules"]} == set(files)
    points = described["project"]["entry-points"]
    install(folder / "package", files, points)
    for name in ("one", "two", "three"):
        make_pdf(folder / "documents" / f"{name}.pdf")
    (folder / "documents" / "one.csv").write_text("a,b\n1,2\n")
    (folder / "documents" / "two.csv").write_text("a,b\n1,2\n")
    (folder / "mine").mkdir()
    (folder / "mine" / "one.csv").write_text("a,b\n1,2\n")
    pair = re.search(r'^`(\{"id".*?\})`', PAGE, re.MULTILINE)
    assert pair is not None
    (folder / "pairs.jsonl").write_text(pair[1] + "\n")
    return folder


def commands() -> list[str]:
    found = re.findall(r"^    (parsemark .*)$", PAGE, re.MULTILINE)
    assert len(found) == 6
    return found


def test_every_command_of_the_page_works(work: Path) -> None:
    metrics, pairs, listed, checked, made, scored = commands()
    assert re.search(r"same_shape\s+Right numbers of rows and columns", parsemark(work, metrics))
    parsemark(work, pairs)
    scores = [json.loads(line) for line in (work / "scores.jsonl").read_text().splitlines()]
    assert [(s["metric"], s["value"]) for s in scores] == [
        ("same_shape", 0.5),
        ("same_shape(strict=true)", 0.0),
    ]
    shown = parsemark(work, listed)
    assert "2 pages, 2 with truth" in shown and "three.pdf: is left out" in shown
    assert "warnings: 1" in parsemark(work, checked)
    assert "receipts: 3 pages" in parsemark(work, made)
    assert "3 pages, 3 with truth" in parsemark(work, "parsemark corpus info receipts --pages")
    shown = parsemark(work, scored)
    assert "Right count" in shown and "same_shape" in shown
    assert re.search(r"mine +0\.500", shown)


BROKEN = {
    "bad_import.py": "import there_is_no_such_module\n",
    "bad_metric.py": (
        "from dataclasses import dataclass\nfrom acme_metric import SameShape\n\n\n"
        "@dataclass(frozen=True)\nclass Raises(SameShape):\n    name = 'raises'\n\n"
        "    def compute(self, truth, pred):\n        raise RuntimeError('no such luck')\n\n\n"
        "@dataclass(frozen=True)\nclass Leaves(SameShape):\n    name = 'leaves'\n\n"
        "    def compute(self, truth, pred):\n        raise SystemExit\n\n\n"
        "@dataclass(frozen=True)\nclass Seven(SameShape):\n    name = 'seven'\n\n"
        "    def compute(self, truth, pred):\n        return 7.0\n\n\n"
        "@dataclass(frozen=True)\nclass Nothing(SameShape):\n    name = 'nothing'\n\n"
        "    def compute(self, truth, pred):\n        return None\n"
    ),
    "bad_exit.py": "import sys\n\nsys.exit('bye')\n",
    "bad_protocol.py": (
        "from dataclasses import dataclass\nfrom acme_protocol import Found\n\n\n"
        "@dataclass(frozen=True)\nclass NoPages(Found):\n    name = 'no_pages'\n\n"
        "    def score_page(self, truth, prediction, page_text):\n        raise RuntimeError('no page')\n\n\n"
        "@dataclass(frozen=True)\nclass SomePages(Found):\n    name = 'some_pages'\n\n"
        "    def score_page(self, truth, prediction, page_text):\n"
        "        if prediction.sample == 'one':\n            raise RuntimeError('not this one')\n"
        "        return super().score_page(truth, prediction, page_text)\n\n\n"
        "@dataclass(frozen=True)\nclass NoSummary(Found):\n    name = 'no_summary'\n\n"
        "    def summarise(self, tables):\n        raise RuntimeError('no summary')\n"
    ),
    "bad_corpus.py": (
        "import sys\n\n\ndef load(root):\n    return 1 / 0\n\n\ndef leave(root):\n    sys.exit(7)\n"
    ),
    "bad_exit_parser.py": "import sys\n\nsys.exit(9)\n",
}


@pytest.fixture
def broken(work: Path) -> Path:
    """The same with broken ones beside."""
    package = work / "package"
    if not (package / "bad-1.dist-info").exists():
        write_entry_points(
            package,
            "bad",
            "[parsemark.metrics]\nabsent = bad_import:Metric\nraises = bad_metric:Raises\nnone = json:loads\n"
            "leaves = bad_metric:Leaves\nseven = bad_metric:Seven\nnothing = bad_metric:Nothing\n"
            "other = bad_metric:Seven\nbye = bad_exit:Metric\n3d (new) = bad_metric:Seven\n"
            "[parsemark.protocols]\nabsent = bad_import:P\nno_pages = bad_protocol:NoPages\n"
            "no_summary = bad_protocol:NoSummary\nsome_pages = bad_protocol:SomePages\n"
            "[parsemark.corpora]\nbad = bad_corpus:load\nleaves = bad_corpus:leave\n"
            "[parsemark.parsers]\nabsent = bad_import:path\nleaves = bad_exit_parser:path\n",
        )
        for name, content in BROKEN.items():
            (package / name).write_text(content)
    return work


def test_a_broken_plugin_marks_its_row_only(broken: Path) -> None:
    shown = parsemark(broken, "parsemark list metrics")
    assert "absent\tbroken: " in shown and "there_is_no_such_module" in shown
    assert "none\tbroken: " in shown and "not a subclass of Metric" in shown
    assert "teds\t" in shown and "raises\t" in shown
    assert "3d (new)\tbroken: " in shown and "a name is of letters" in shown
    assert "bye\tbroken: " in shown and "other\tbroken: " in shown and "calls itself 'seven'" in shown
    rows = parsemark(broken, "parsemark parsers list").splitlines()
    assert any(row.startswith("absent") and "broken" in row for row in rows)
    assert any(row.startswith("leaves") and "broken" in row for row in rows)
    assert any(row.startswith("pdfplumber") and "broken" not in row for row in rows)


def test_a_name_that_two_packages_register_is_nobodys(broken: Path) -> None:
    package = broken / "package"
    write_entry_points(
        package,
        "thief",
        "[parsemark.metrics]\nteds = bad_metric:Seven\nraises = bad_metric:Seven\n"
        "[parsemark.parsers]\nabsent = json:loads\npdfplumber = json:loads\n",
    )
    try:
        shown = parsemark(broken, "parsemark list metrics")
        rows = parsemark(broken, "parsemark parsers list").splitlines()
    finally:
        shutil.rmtree(package / "thief-1.dist-info")
    assert "raises\tbroken: " in shown and "registered by bad and thief" in shown
    assert any(line.startswith("teds\t") and "broken" not in line for line in shown.splitlines())
    assert any(row.startswith("absent") and "registered by bad and thief" in row for row in rows)
    assert any(row.startswith("pdfplumber") and "broken" not in row for row in rows)


def test_a_metric_that_breaks_on_a_pair_costs_that_score(broken: Path) -> None:
    metrics = "-m leaves -m seven -m nothing -m teds"
    parsemark(broken, f"parsemark pairs pairs.jsonl {metrics} --out broken.jsonl", code=1)
    lines = [json.loads(line) for line in (broken / "broken.jsonl").read_text().splitlines()]
    scores = {line["metric"]: line for line in lines if "metric" in line} or lines[0]
    assert "SystemExit" in json.dumps(scores["leaves"]) and "outside of 0 to 1" in json.dumps(scores["seven"])
    assert "value is None, not a number; fix bad_metric" in json.dumps(scores["nothing"])
    assert "metric_failed" not in json.dumps(scores["teds"])


@pytest.mark.parametrize("protocol", ["absent", "'tables(metrics=absent)'", "no_such"])
def test_a_broken_plugin_is_refused_before_parsing(broken: Path, protocol: str) -> None:
    said = parsemark(
        broken, f"parsemark bench --corpus invoices:documents --out bad --protocol {protocol}", code=2
    )
    assert "Traceback" not in said and ("does not work" in said or "Unknown protocol" in said)
    assert not (broken / "bad").exists()


def test_a_broken_loader_is_named(broken: Path) -> None:
    left = parsemark(broken, "parsemark corpus info leaves:documents --pages", code=2)
    assert "SystemExit: 7" in left and "bad_corpus:leave" in left
    said = parsemark(broken, "parsemark corpus info bad:documents --pages", code=2)
    assert "ZeroDivisionError" in said and "bad_corpus:load" in said and "Traceback" not in said


def test_what_breaks_while_scoring_costs_itself(broken: Path) -> None:
    command = "parsemark score mine --corpus invoices:documents --out run-bad"
    shown = parsemark(
        broken,
        f"{command} --protocol 'tables(metrics=teds+raises)' --protocol no_pages --protocol no_summary",
    )
    assert re.search(r"^. mine +0\.", shown, re.MULTILINE), "TEDS has its figure"
    assert "no_summary" in shown and "RuntimeError: no summary" in shown
    run = Run.open(broken / "run-bad")
    messages = set(run.table("scores", run.protocols[0])["message"].drop_nulls())
    assert any("no such luck" in message for message in messages)
    pages = run.table("scores", "no_pages")
    assert set(pages["status"]) == {"metric_failed"} and "no page" in pages["message"][0]


def test_a_page_on_which_a_protocol_breaks_stays_in_the_denominator(broken: Path) -> None:
    command = "parsemark score mine --corpus invoices:documents --protocol some_pages"
    shown = " ".join(parsemark(broken, f"{command} --out run-some").split())
    assert "Broken" in shown and "some_pages did not score 1 output" in shown and "not this one" in shown
    assert re.search(r"mine +0\.000", shown), "one page broke, the other has no answer"
    figures = Run.open(broken / "run-some").summary("some_pages").parsers["mine"]
    assert figures["right_count"].n == 2 and figures["broken_pages"].value == 1
    said = " ".join(parsemark(broken, "parsemark gate run-some", code=1).split())
    assert "one: metric_failed" in said and "not this one" in said
    # The same outputs under a protocol that does not break are compared with them on all pages.
    parsemark(broken, "parsemark report run-some --out report-some")
    assert "Broken" in (broken / "report-some" / "index.html").read_text()
