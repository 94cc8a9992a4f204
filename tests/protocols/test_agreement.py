"""Whether protocols rank alike, what their disagreement comes from, and outputs in the neutral spelling."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from tests.accessible import accessible
from tests.corpora.writing import write_corpus
from typer.testing import CliRunner

from parsemark.cli.agreement import agreement_lines
from parsemark.cli.main import app
from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UsageError
from parsemark.formats import write_table
from parsemark.model import Element, Page, Sample, Table
from parsemark.protocols import FigureSums, PageProtocol, Summary, get_protocol, with_options
from parsemark.protocols.semantic import SemanticProtocol
from parsemark.report import build_report
from parsemark.store import Run
from parsemark.store.run_tables import RunTables
from parsemark.verdicts import boards_agreement
from parsemark.verdicts.boards_agreement import SOURCES, board_agreement, kendall

BOARDS = ("tables", "document", "semantic", "answers")
TEXT = "Slack water & tide last $x^2$ minutes at the narrows.", "The stream costs $5 on springs."
ITEMS = "- one port\n- two piers"
ROWS = [["Port", "Depth"], ["Riga", "12.5"], ["Oslo", "9.1"]]
PIPES = "| Port | Depth |\n|---|---|\n| Riga | 12.5 |\n| Oslo | 9.1 |"
HTML = write_table(Table.from_rows(ROWS), "html")
OUTPUTS = {
    "two-newlines": f"# Tides\n\n{TEXT[0]}\n\n{TEXT[1]}\n\n{ITEMS}\n\n{HTML}\n",
    "one-newline": f"# Tides\n{TEXT[0]}\n{TEXT[1]}\n{ITEMS}\n{HTML}\n",
    "pipes": f"# Tides\n\n{TEXT[0]}\n\n{TEXT[1]}\n\n{ITEMS}\n\n{PIPES}\n",
    "respelled": "\n\n".join(
        (
            "# Tides #",
            TEXT[0].replace("&", "&amp;").replace("$x^2$", "$ x^2 $"),
            TEXT[1].replace("$", r"\$"),
            ITEMS.replace("-", "*"),
            HTML,
        )
    ),
    "no-table": f"# Tides\n\n{TEXT[0]}\n",
    "table-alone": f"{HTML}\n",
}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_kendall_is_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=float).T
    own = kendall(a[None], b[None])[0]
    assert own == pytest.approx(kendalltau(a, b).statistic, abs=1e-12, nan_ok=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root = tmp_path_factory.mktemp("agreement")
    elements = (
        Element("1", "title", order=0, text="Tides", attributes={"level": 1}),
        *(Element(f"{k + 2}", "text_block", order=k + 1, text=text) for k, text in enumerate(TEXT)),
        Element("4", "table", order=3, html=HTML, table=Table.from_rows(ROWS)),
    )
    plain = Page("p-2", 600, 800, elements[:3])
    samples = [Sample(f"p-{k}", f"d-{k}", 1, Page(f"p-{k}", 600, 800, elements)) for k in range(2)]
    write_corpus(root / "corpus", [*samples, Sample("p-2", "d-2", 1, plain)], name="agreement")
    corpus = load_corpus(str(root / "corpus"))
    for name, text in OUTPUTS.items():
        (root / name).mkdir()
        for sample in ("p-0", "p-1", "p-2"):
            (root / name / f"{sample}.md").write_text(text)
        found = import_predictions(root / "run", corpus, root / name, name=name, protocols=BOARDS)
    return found


def test_protocols_may_count_other_pages(tmp_path: Path) -> None:
    known = (
        Element("1", "text_block", order=0, text=TEXT[1]),
        Element("2", "table", order=1, html=HTML, table=Table.from_rows(ROWS)),
    )
    samples = [
        Sample(f"p-{k}", f"d-{k}", 1, Page(f"p-{k}", 600, 800, known) if k < 2 else None) for k in range(4)
    ]
    corpus = Corpus.of("half", samples, root=tmp_path, version="1", licence="CC0-1.0")
    worse = HTML.replace("12.5", "1")
    for name, text in {"right": f"{TEXT[1]}\n\n{HTML}", "half": f"slack\n\n{worse}", "none": "x"}.items():
        (tmp_path / name).mkdir()
        for sample in samples:
            (tmp_path / name / f"{sample.id}.md").write_text(text)
        found = import_predictions(
            tmp_path / "run", corpus, tmp_path / name, name=name, protocols=("tables", "semantic", "document")
        )
    score_run(found, n_workers=1)
    pairs = board_agreement(Run.open(found.path)).pairs
    assert pairs and all(pair.n_pages == 2 and pair.tau.value == 1 for pair in pairs)


@pytest.fixture(scope="module")
def neutral(run: Run) -> dict[str, Summary]:
    score_run(run, n_workers=1)
    score_run(run, protocols=[with_options(spec, serialise="neutral") for spec in run.protocols], n_workers=1)
    return {spec: Run.open(run.path).summary(spec) for spec in Run.open(run.path).protocols}


@pytest.mark.parametrize("board", BOARDS)
def test_spelling_moves_no_neutral_figure(neutral: dict[str, Summary], board: str) -> None:
    summary = neutral[f"{board}(serialise=neutral)"]
    values = [
        {name: figure.value for name, figure in summary.parsers[parser].items() if name != "seconds"}
        for parser in ("two-newlines", "one-newline", "pipes", "respelled")
    ]
    shown = {info.name for info in summary.figures if info.style in ("score", "rate")}
    scores = [{name: own[name] for name in shown if name in own} for own in values]
    assert scores[0] == scores[1] == scores[2] == scores[3] and scores[0]
    missing = summary.parsers["no-table"][summary.primary].value
    assert missing is not None and missing != scores[0][summary.primary]


def test_shares_add_up_and_boards_without_a_kind_in_common_differ_by_kinds(
    run: Run, neutral: dict[str, Summary]
) -> None:
    found = board_agreement(Run.open(run.path))
    assert set(found.protocols) == set(BOARDS) and set(found.moved) == set(BOARDS)
    for pair in found.pairs:
        assert pair.tau.value is not None and pair.disagreement.value is not None
        assert pair.disagreement.value == pytest.approx((1 - pair.tau.value) / 2)
        parts = [pair.shares[source].value for source in SOURCES]
        assert sum(part for part in parts if part is not None) == pytest.approx(pair.disagreement.value)
        if not pair.kinds:
            assert pair.shares["matching"].value == pair.shares["measures"].value == 0
    between = {frozenset((pair.first, pair.second)): pair for pair in found.pairs}
    # `tables` counts what is invented on the page without a table, too.
    assert between[frozenset(("semantic", "document"))].n_pages == 2
    assert between[frozenset(("tables", "document"))].n_pages == 3
    assert found.ranks["tables"]["no-table"] == 6 and found.ranks["document"]["table-alone"] != 1


def test_every_kind_names_figures_that_are_there(neutral: dict[str, Summary]) -> None:
    for board in ("tables", "document", "semantic"):  # `answers` asks no fact of some kinds here
        names = {info.name for info in neutral[board].figures}
        # No page has a formula, so that `document` has no figure of them.
        named = get_protocol(board).figures_by_kind.items()
        wanted = {figure for kind, figure in named if kind != "formulas"}
        assert wanted <= names, board


@pytest.fixture(scope="module")
def result(run: Run, neutral: dict[str, Summary]) -> Result:
    arguments = ["study", "agreement", str(run.path), "--protocol", "tables", "--protocol", "semantic"]
    return CliRunner().invoke(app, arguments)


@pytest.fixture(scope="module")
def page(run: Run, result: Result) -> Path:
    return build_report(run.path, run.path / "report").parent / "boards.html"


@pytest.mark.browser
@pytest.mark.parametrize("name", ["boards.html", "tables.html"])
def test_pages_of_several_protocols_are_accessible(
    page: Path, open_page: Callable[..., Any], name: str
) -> None:
    shown = open_page(page.with_name(name).as_uri(), viewport={"width": 390, "height": 800})
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    accessible(shown)


def test_the_command_and_the_report_say_it(run: Run, result: Result, page: Path) -> None:
    assert result.exit_code == 0, result.output
    assert "| semantic |" in result.output and "Over all pairs: pages" in result.output
    assert "| parser | tables | semantic |" in result.output and "answers" not in result.output
    one = CliRunner().invoke(app, ["study", "agreement", str(run.path), "--protocol", "semantic"]).output
    assert "| parser | semantic |" in one and "Agreement" not in one
    folded = (page.parent / "index.html").read_text()
    assert f"<summary>All {len(Run.open(run.path).protocols)} protocols of this run</summary>" in folded
    text = page.read_text()
    assert (
        "Why do protocols disagree?" in text
        and "two-newlines" in text
        and "Effect of the neutral notation" in text
    )


def test_scores_of_older_rules_are_made_anew(
    run: Run, neutral: dict[str, Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["study", "agreement", str(run.path), "--protocol", "tables", "--protocol", "semantic"]
    assert "scoring" not in CliRunner().invoke(app, arguments).output
    now = get_protocol("semantic").comparability
    monkeypatch.setattr(SemanticProtocol, "comparability", 7)
    assert "scoring" in CliRunner().invoke(app, arguments).output
    assert Run.open(run.path).summary("semantic").comparability == 7
    monkeypatch.undo()
    CliRunner().invoke(app, arguments)
    assert Run.open(run.path).summary("semantic").comparability == now


def test_few_parsers_or_documents_are_warned_of(run: Run, neutral: dict[str, Summary]) -> None:
    found = board_agreement(Run.open(run.path))
    assert "these are 6 parsers and 3 documents" in found.caution
    assert agreement_lines(found).count(found.caution) == 1
    enough = replace(found, n_documents=30)
    assert not enough.caution and not any("are unreliable" in line for line in agreement_lines(enough))
    assert "4 parsers and 30 documents" in replace(enough, parsers=found.parsers[:4]).caution


def test_the_help_says_which_boards_are_the_default() -> None:
    shown = " ".join(CliRunner().invoke(app, ["study", "agreement", "--help"]).output.split())
    assert (
        "the run's, and all others that need only pages with truth, and no judge" in shown
        and "evidence and tables" not in shown
    )


def test_too_few_protocols_are_refused(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", [Sample("p", "d", 1, Page("p", 9, 9))], name="small")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "p.md").write_text("a")
    run = import_predictions(tmp_path / "run", load_corpus(str(tmp_path / "corpus")), tmp_path / "out")
    score_run(run, n_workers=1)
    with pytest.raises(UsageError, match="has 1 parser; agreement of ranks needs 3"):
        board_agreement(run)


def test_a_finder_of_tables_has_no_rank_on_a_board_of_whole_pages(
    run: Run, neutral: dict[str, Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_one(protocol: PageProtocol, tables: RunTables) -> Sequence[FigureSums]:
        found = complete_sums(protocol, tables)
        if protocol.name != "document":
            return found
        return [replace(f, sums={p: own for p, own in f.sums.items() if p != "pipes"}) for f in found]

    complete_sums = boards_agreement.complete_sums
    monkeypatch.setattr(boards_agreement, "complete_sums", without_one)
    found = board_agreement(Run.open(run.path))
    assert found.ranks["document"]["pipes"] is None and found.ranks["tables"]["pipes"] is not None
    ranks = [found.ranks["document"][parser] for parser in OUTPUTS if parser != "pipes"]
    assert 1 in ranks and None not in ranks
