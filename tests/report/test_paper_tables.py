"""Tables for papers: the run's numbers, the best in bold, in three formats, one corpus or several."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from tests.engine.fakes import make_corpus
from tests.report.conftest import complete
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UnknownNameError
from parsemark.protocols import Figure
from parsemark.report import build_report
from parsemark.report.drawing import DataTable, TableColumn, TableRow
from parsemark.report.paper_tables import (
    RunTableSet,
    choose_tables,
    run_tables,
    sampling,
    tables_of,
    to_csv,
    to_latex,
    to_markdown,
)
from parsemark.report.presentations import tables
from parsemark.report.source import RunSource
from parsemark.store import Run
from parsemark.store.summary import NewTypes, Ranking, State, Verdict

SMALL = DataTable(
    "small",
    "A table",
    "Of two parsers.",
    "",
    (TableColumn("F1", group="TD"), TableColumn("s", "seconds", higher_is_better=False, group="TD")),
    (
        TableRow(
            "a_b & <i>", (Figure(value=0.5, low=0.4, high=0.6, n=9), Figure(value=2.0, low=1.0, high=3.0))
        ),
        TableRow("=1+1|", (Figure(value=0.75, low=0.7, high=0.8), Figure(value=0.1, low=0.09, high=0.11))),
        TableRow("none", (None, None)),
    ),
)


def by_key(source: RunSource) -> dict[str, DataTable]:
    return {table.key: table for table in tables_of(source)}


def test_the_best_is_bold_and_names_cannot_break_out() -> None:
    markdown = to_markdown(SMALL)
    assert "| a\\_b & \\<i\\> | 0.500 [0.400, 0.600] | 2.00 [1.00, 3.00] |" in markdown
    assert "| =1+1\\| | **0.750** [0.700, 0.800] | **0.100** [0.090, 0.110] |" in markdown
    latex = to_latex(SMALL)
    assert r"a\_b \& <i> & 0.500 {\scriptsize [0.400, 0.600]} & 2.00 {\scriptsize [1.00, 3.00]} \\" in latex
    assert r"\textbf{0.750} {\scriptsize [0.700, 0.800]} & \textbf{0.100}" in latex
    assert r"\multicolumn{2}{c}{TD}" in latex
    rows = list(csv.reader(io.StringIO(to_csv(SMALL))))
    assert rows[0][:6] == ["Parser", "TD F1", "TD F1 low", "TD F1 high", "TD F1 n", "TD F1 best"]
    assert rows[1][:6] == ["a_b & <i>", "0.5", "0.4", "0.6", "9", "0"]
    assert rows[2][0] == "'=1+1|"  # no formula for a spreadsheet
    assert {len(row) for row in rows} == {11}


def test_nothing_is_best_where_all_are_equal() -> None:
    rows = tuple(TableRow(name, (Figure(value=0.0),)) for name in "ab")
    assert DataTable("x", "", "", "", (TableColumn("n"),), rows).best(0) == frozenset()


def bold(column: TableColumn, *figures: Figure) -> frozenset[int]:
    rows = [TableRow("abcd"[k], (figure,)) for k, figure in enumerate(figures)]
    return DataTable("x", "", "", "", (column,), tuple(rows)).best(0)


def test_a_best_that_is_not_significant_is_not_bold() -> None:
    score, nobody = TableColumn("F1"), frozenset[int]()
    ahead, near = Figure(value=0.8, low=0.7, high=0.9), Figure(value=0.75, low=0.6, high=0.85)
    behind, unsure = Figure(value=0.2, low=0.1, high=0.3), Figure(value=0.2)
    assert bold(score, ahead, behind) == {0} and bold(score, ahead, near) == nobody
    assert bold(score, ahead, ahead, behind) == {0, 1}
    assert bold(score, ahead, unsure) == nobody, "without intervals nothing is known"
    failures = TableColumn("failures", "count", higher_is_better=False)
    assert bold(failures, Figure(value=3), Figure(value=0)) == {1}
    tested = TableColumn("F1", leaders=frozenset())
    assert bold(tested, ahead, behind) == nobody, "the verdicts decide where there are any"
    assert bold(TableColumn("F1", leaders=frozenset("a")), ahead, near) == {0}


def test_the_caption_names_the_sampling_unit_and_what_is_open(source: RunSource) -> None:
    summary = source.summary
    new_types = NewTypes(attribute="maker", n_types=4, scores={})
    verdicts = [verdict("a", "b", "not_significant"), verdict("a", "c", "better")]
    ranking = Ranking(
        figure="f", best="a", ranks=dict.fromkeys("abc", (1, 3)), verdicts=verdicts, n_documents=42
    )
    shown = summary.model_copy(
        update={
            "ranking": ranking.model_copy(update={"new_types": new_types}),
            "parsers": {name: {} for name in "abc"},
        }
    )
    said = " ".join(sampling(shown))
    assert "95 % CI for documents like these, from 42 documents of 4 programs, types held fixed." in said
    assert "Statistically indistinguishable from a: b." in said
    assert "For new document types nothing can be decided: 4 programs are too few." in said
    few = summary.model_copy(update={"ranking": ranking.model_copy(update={"n_documents": 3})})
    assert sampling(few) == ["No intervals: 3 documents are too few for them."]


def verdict(a: str, b: str, state: State) -> Verdict:
    return Verdict(
        a=a, b=b, figure="f", value_a=0.9, value_b=0.8, difference=0.1, low=0.0, high=0.2, p=0.1, state=state,
        n_documents=42,
    )  # fmt: skip


def test_the_leaderboard_has_the_summary_s_numbers(source: RunSource, run: Run) -> None:
    table, summary = by_key(source)["leaderboard"], run.summary()
    assert [row.label for row in table.rows] == summary.ordered()
    assert table.columns[0].label == summary.info(summary.primary).label
    for row in table.rows:
        assert row.cells[0] == summary.figure(row.label, summary.primary)


def test_soric_s_tables_hold_each_parser_once_under_both_rules(source: RunSource, run: Run) -> None:
    tables, details = by_key(source), run.summary().details["by_rule"]
    for probabilistic, plain, rule in (("soric-3", "soric-4", "bbox"), ("soric-6", "soric-7", "content")):
        found = [row for key in (probabilistic, plain) if key in tables for row in tables[key].rows]
        expected = [name for name, own in details.items() if own.get(rule)]
        assert sorted(row.label for row in found) == sorted(expected)
    for row in tables["soric-4"].rows:
        assert row.cells[0] == Figure.model_validate(details[row.label]["bbox"]["td_f1"])
    for row in tables["soric-6"].rows:
        assert row.cells[0] == Figure.model_validate(details[row.label]["content"]["ap"])


def test_soric_s_fifth_table_pools_all_predictions(source: RunSource, run: Run) -> None:
    *parsers, pooled = by_key(source)["soric-5"].rows
    assert pooled.label == "all parsers"
    matches = run.table("matches").filter(pl.col("pred").list.len() == 1)
    found = {
        rule: set(
            matches.filter((pl.col("rule") == rule) & (pl.col("overlap") > 0.5))
            .select("sample", "parser", pl.col("pred").list.first())
            .iter_rows()
        )
        for rule in ("bbox", "content")
    }
    both = len(found["bbox"] & found["content"])
    cell = pooled.cells[0]
    assert isinstance(cell, Figure)
    assert cell.value == pytest.approx(both / len(found["content"]))
    assert len(parsers) == len(source.parsers)


def test_the_corpus_is_counted(source: RunSource, run: Run) -> None:
    (row,) = by_key(source)["soric-1"].rows
    samples = run.table("samples")
    numbers = [cell.value for cell in row.cells if isinstance(cell, Figure)]
    expected = [samples["document"].n_unique(), samples.height, (samples["n_tables"] > 0).sum()]
    assert numbers[-4:-1] == expected


def test_several_corpora_stand_side_by_side(run: Run, blank_pdf: Path, tmp_path: Path) -> None:
    other = fabricate_run(tmp_path / "other", 8, ("good", "new"), seed=5, pdf=blank_pdf)
    complete(other)
    tables = {table.key: table for table in run_tables([run.path, other.path]).found}
    board = tables["leaderboard"]
    assert len(board.columns) == 2 * len([i for i in run.summary().shown() if i.main])
    rows = {row.label: row.cells for row in board.rows}
    assert rows["good"][0] == run.summary().figure("good", "te_f1_con")
    assert rows["good"][len(board.columns) // 2] == other.summary().figure("good", "te_f1_con")
    assert rows["new"][0] is None
    n_pages = [r.table("samples").height for r in (run, other)]
    labels = [row.label for row in tables["soric-1"].rows]
    assert labels == [f"{RunSource(r).corpus} ({r.path.name})" for r in (run, other)]
    # What holds for one of them alone is said of that one.
    assert n_pages[0] != n_pages[1]
    for label, n in zip(labels, n_pages, strict=True):
        assert f"{n} pages" in board.about.partition(f"{label}: ")[2].partition("documents.")[0]
    assert tables["soric-5"].rows[-1].label == "all parsers"
    assert "new" in [row.label for row in tables["soric-5"].rows]


def test_the_command_prints_or_writes(run: Run, tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["export", str(run.path), "--format", "latex", "--table", "soric-7"])
    assert printed.exit_code == 0
    assert printed.output.startswith(r"\begin{table}")
    listed = CliRunner().invoke(app, ["export", str(run.path), "--table", "list"])
    assert "soric-5" in listed.output
    arguments = ["export", str(run.path), "--format", "csv", "--table", "all", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert len(list((tmp_path / "out").glob("*.csv"))) == len(
        [line for line in listed.output.splitlines() if "not available" not in line]
    )
    one = ["export", str(run.path), "--format", "csv", "--out", str(tmp_path / "board.csv")]
    assert CliRunner().invoke(app, one).exit_code == 0 and (tmp_path / "board.csv").is_file()


def test_an_unknown_table_answers_with_the_nearest(source: RunSource) -> None:
    with pytest.raises(UnknownNameError, match="soric-4"):
        choose_tables(RunTableSet(tuple(tables_of(source)), {}), ["soric4"])


def test_a_table_without_its_data_says_what_is_missing(run: Run, tmp_path: Path) -> None:
    """Outputs made elsewhere, as Markdown: no confidences, no boxes, no times."""
    corpus, outputs = make_corpus(tmp_path / "corpus", ["fine", "fine"]), tmp_path / "mine"
    outputs.mkdir()
    for key in corpus.keys:
        (outputs / f"{key}.md").write_text(f"| {key} | page 1 |\n|---|---|\n| 1 | 2 |\n")
    imported = import_predictions(tmp_path / "run", corpus, outputs)
    score_run(imported, n_workers=1)

    def said(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["export", *arguments])
        return result.output + str(result.exception or "")

    missing = {
        "soric-3": "a parser that reports confidences, and boxes",
        "soric-4": "a parser that reports no confidences, and boxes",
        "soric-5": "boxes of the truth and of the parser",
        "soric-6": "a parser that reports confidences",
        "soric-8": "CPU times",
        "ap-ngrams": "a parser that reports confidences",
    }
    assert run_tables([imported.path]).missing.keys() == missing.keys()
    for key, what in missing.items():
        assert said(str(imported.path), "--table", key).startswith(
            f"The table {key} is not available for this run: it needs "
        )
        assert what in said(str(imported.path), "--table", key)
    assert "soric-3                  not available: needs" in said(str(imported.path), "--table", "list")
    other = said(str(run.path), "--table", "omnidocbench-7")
    assert "omnidocbench-7 is a table of the protocol document" in other and "--protocol document" in other


def test_needs_are_those_of_the_tables_that_are_made(run: Run) -> None:
    """A table of a publication that nobody says the needs of could go missing without a word."""
    made = {table.key for table in run_tables([run.path], "tables").found}
    papers = {key for key in made if key.startswith(("soric-", "ap-", "f1-"))}
    assert papers and papers <= set(tables.DRAWING.paper_table_needs)


def test_the_semantic_protocol_has_its_paper_s_table_and_histogram(blank_pdf: Path, tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 4, ("good", "poor"), pdf=blank_pdf)
    complete(run)
    score_run(run, protocols=["semantic"], n_workers=1)
    source = RunSource(Run.open(run.path), "semantic")
    assert [row.label for row in by_key(source)["horn-3"].rows] == source.summary.ordered()
    (together, *_) = [c for s in source.drawing.charts(source) for c in s.charts]
    n_tables = run.table("samples")["n_tables"].sum()
    for series in together.series:
        counted = source.summary.details["histogram"][series.name]
        assert sum(series.y) == pytest.approx(1)
        assert series.y[0] == counted["without_value"] / n_tables
    site = build_report(run.path, tmp_path / "site").parent
    assert "horn-3" in (site / "tables.html").read_text()
    assert list((site / "tables").glob("semantic-*.horn-3.tex"))
