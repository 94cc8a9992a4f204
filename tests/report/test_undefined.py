"""Figures that a run does not define: every page and every output is written, with a dash in their place."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from tests.corpora.small_files import make_pdf, write
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import ParsemarkError
from parsemark.plain_words import UNDEFINED
from parsemark.report import build_report
from parsemark.report.comparison_text import (
    comparison_markdown,
    gate_junit,
    gate_markdown,
    runs_markdown,
)
from parsemark.report.leaderboard_site import build_board
from parsemark.report.terminal_leaderboard import leaderboard
from parsemark.schemas import as_json
from parsemark.store import Run, RunFolder
from parsemark.store.bundle import write_bundle
from parsemark.verdicts.comparison import compare_parsers, compare_runs
from parsemark.verdicts.gate import GateLimits, gate_runs

N_DOCUMENTS = 7
PROTOCOLS = ("tables", "document", "document(profile=v1.0)", "semantic")
TABLE = "| name | value |\n|---|---|\n| one | 1 |\n| two | 2 |\n"
TEXT = "Only a sentence, and no table.\n"

Answers = Callable[[Path, str], None]


def without_truth(folder: Path) -> None:
    """Documents of which nothing is known."""
    for n in range(N_DOCUMENTS):
        make_pdf(folder / f"d{n}.pdf")


def only_negatives(folder: Path) -> None:
    """Documents that are known to have no table."""
    for n in range(N_DOCUMENTS):
        make_pdf(folder / f"d{n}.pdf")
        write(folder / f"d{n}.no-tables", "")


def one_page(folder: Path) -> None:
    """One document, so that nothing has an interval."""
    make_pdf(folder / "d0.pdf")
    write(folder / "d0.p1.t1.md", TABLE)


def with_tables(folder: Path) -> None:
    for n in range(N_DOCUMENTS):
        make_pdf(folder / f"d{n}.pdf")
        write(folder / f"d{n}.p1.t1.md", TABLE)


def finds_nothing(folder: Path, sample: str) -> None:
    write(folder / f"{sample}.md", TEXT)


def invents(folder: Path, sample: str) -> None:
    write(folder / f"{sample}.md", TABLE)


def fails(folder: Path, sample: str) -> None:
    write(folder / f"{sample}.json", "{ no JSON")


def says_nothing(folder: Path, sample: str) -> None:
    """It has no output for most pages."""
    if sample.startswith("d0"):
        write(folder / f"{sample}.md", "")


def make_run(
    folder: Path, name: str, corpus: Callable[[Path], None], parsers: dict[str, Answers], created: str = ""
) -> Run:
    pdfs = folder / "corpus"
    if not pdfs.exists():
        pdfs.mkdir(parents=True)
        corpus(pdfs)
    loaded = load_corpus(f"folder:{pdfs}")
    for parser, answers in parsers.items():
        own = folder / name / parser
        own.mkdir(parents=True)
        for sample in loaded.keys:
            answers(own, sample)
        run = import_predictions(folder / "runs" / name, loaded, own, protocols=PROTOCOLS)
    score_run(run, n_workers=1)
    if created:
        RunFolder.of(run).update_manifest(lambda m: m.model_copy(update={"created": created}))
    return run


CORPORA = (without_truth, only_negatives, one_page, with_tables)
OLD: dict[str, Answers] = {"quiet": finds_nothing, "eager": invents, "broken": fails, "silent": says_nothing}
NEW: dict[str, Answers] = {"quiet": invents, "eager": finds_nothing, "broken": fails, "silent": fails}


@pytest.fixture(scope="module", params=CORPORA, ids=lambda corpus: corpus.__name__)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """An old and a new run; figures that one of them defines are undefined in the other."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    old = make_run(folder, "old", request.param, OLD, created="2026-01-01T00:00:00+00:00")
    return old, make_run(folder, "new", request.param, NEW, created="2026-02-01T00:00:00+00:00")


def no_figure_is_python(text: str) -> bool:
    """Whether nothing is printed as Python or numpy print what is not there, or as JSON no reader takes."""
    return re.search(r"(?<![\w./-])(nan|NaN|None(?! is left out)|inf|Infinity)(?![\w./-])", text) is None


def test_every_page_of_the_report_is_written(runs: tuple[Run, Run], tmp_path: Path) -> None:
    old, new = runs
    build_report(new.path, tmp_path / "site", against=old.path)
    pages = sorted((tmp_path / "site").glob("*.html"))
    names = {page.name for page in pages}
    assert {
        "index.html",
        "charts.html",
        "tables.html",
        "viewer.html",
        "compare.html",
        "provenance.html",
    } <= names
    assert sum(name.startswith("parser-") for name in names) == len(NEW)
    for page in pages:
        shown = re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8"))
        assert no_figure_is_python(shown), page.name


def test_terminal_prints_every_protocol(runs: tuple[Run, Run]) -> None:
    for run in runs:
        for protocol in run.protocols:
            console = Console(file=io.StringIO(), width=80)
            console.print(leaderboard(run.summary(protocol), 80))
            text = console.file.getvalue()
            assert all(parser in text for parser in OLD) and no_figure_is_python(text)


def test_comparison_and_gate_say_what_is_not_defined(runs: tuple[Run, Run]) -> None:
    old, new = runs
    limits = GateLimits(minimum={}, max_drop=0.0, max_slowdown=1.1, max_memory=1.1)
    for protocol in new.protocols:
        summaries = [run.summary(protocol) for run in runs]
        primary = summaries[1].primary
        defined = {
            parser
            for parser in OLD
            if all((f := s.figure(parser, primary)) is not None and f.value is not None for s in summaries)
        }
        if not any(s.shown() and primary in {i.name for i in s.shown()} for s in summaries):
            continue  # no page has a truth: `compare` and `gate` refuse, see below
        result = gate_runs(new, old, limits, protocol=protocol)
        looked_at = {check.parser for check in result.checks if "drop" in check.name}
        left = {skipped.parser for skipped in result.skipped if "drop" in skipped.name}
        assert (looked_at, left) == (defined, set(OLD) - defined), protocol
        written = [gate_markdown(result), json.dumps(as_json("gate", result)), gate_junit(result)]
        assert all(map(no_figure_is_python, written))
        assert json.loads(written[1])["checks"] and ElementTree.fromstring(written[2]).tag == "testsuite"
        compared = compare_runs(old, new, protocol)
        text = runs_markdown(compared)
        assert no_figure_is_python(text)
        for comparison in compared.comparisons:
            name = comparison.a.removesuffix(" (new)")
            row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
            assert (f"| {UNDEFINED} | {UNDEFINED} | not significant |" in row) is (name not in defined)


def test_commands_end_with_an_answer_or_one_line(runs: tuple[Run, Run], tmp_path: Path) -> None:
    old, new = map(str, (run.path for run in runs))
    commands = [["export", new, "--table", "all", "--format", form] for form in ("markdown", "latex", "csv")]
    commands += [["export", old, new, "--table", "all"], ["compare", old, new, "--fail-below", "0"]]
    commands += [["compare", new, "quiet", "eager"], ["compare", new, "quiet", "broken"]]
    commands += [["gate", new, old, "--max-drop", "0", "--out", str(tmp_path / "j.xml")]]
    commands += [["gate", new, "--min", "te_f1_con=.5"]]
    for command in commands:
        result = CliRunner().invoke(app, command)
        refused = isinstance(result.exception, ParsemarkError)  # which `main` says in one line
        assert refused or result.exception is None or isinstance(result.exception, SystemExit), command
        text = str(result.exception) if refused else result.output
        assert text.strip() and "Traceback" not in text and no_figure_is_python(text), command


def test_two_parsers_of_a_run_are_compared_where_one_has_no_value(tmp_path: Path) -> None:
    run = make_run(
        tmp_path, "run", only_negatives, {"quiet": finds_nothing, "eager": invents, "other": invents}
    )
    text = comparison_markdown(compare_parsers(run, "quiet", "eager"))
    assert "quiet and eager cannot be compared: quiet has no TE F1 Con on these pages (– (quiet)" in text
    # Both earn nothing, which is no reason to say nothing about them.
    assert "eager and other are equal on every document" in comparison_markdown(
        compare_parsers(run, "eager", "other")
    )


def test_figures_for_papers_are_drawn(runs: tuple[Run, Run], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for run in runs:
        out = tmp_path / run.path.name
        result = CliRunner().invoke(
            app, ["export", str(run.path), "--out", str(out), "--format", "charts-svg"]
        )
        assert result.exit_code == 0, result.output


def test_boards_are_made(runs: tuple[Run, Run], tmp_path: Path) -> None:
    for run in runs:
        write_bundle(run, tmp_path / f"{run.path.name}.zip")
    made = build_board([tmp_path], tmp_path / "board", verify=True)
    assert made.n_bundles == 2 and not made.refused
    for page in (tmp_path / "board").rglob("*.html"):
        shown = re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8"))
        assert no_figure_is_python(shown), page.name


def test_templates_format_figures_by_the_filter_alone() -> None:
    """`"%.3f"|format(None)` loses the whole page; the filters write a dash."""
    package = Path(__file__).parents[2] / "src" / "parsemark"
    templates = [*package.rglob("*.html"), *package.rglob("*.j2")]
    assert len(templates) > 15
    for path in templates:
        found = re.findall(r"%\.\d|\|\s*(?:format|round)\b|:\.\d", path.read_text(encoding="utf-8"))
        assert not found, path.name
