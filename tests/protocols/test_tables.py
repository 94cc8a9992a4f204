"""The tables protocol on pages whose figures are worked out by hand."""

import json
import math
from pathlib import Path

import pytest
from tests.protocols.tables_bench import LEFT, PAGES, RIGHT, ROWS_A, ROWS_B, Bench, table, value

from parsemark.model import Box, Element, Status
from parsemark.protocols import Figure, Summary
from parsemark.protocols.run_data.rows import MAX_DETAILS, details_text
from parsemark.protocols.tables import TablesProtocol
from parsemark.report.comparison_text import comparison_markdown
from parsemark.verdicts.comparison import compare_in_tables


def test_detection_and_extraction_by_hand() -> None:
    bench = Bench()
    # p1: one table right and exact, the other missed. p2: found at IoU .8, but one of six cells is wrong.
    bench.add("x", "p1", table("a", ROWS_A, LEFT))
    wrong = [["metal", "density"], ["copper", "8.96"], ["lead", "zzzzz"]]
    bench.add("x", "p2", table("a", wrong, Box(0, 0, 100, 80)))
    # A page without tables with one invented table.
    bench.add("x", "empty", table("a", ROWS_B, LEFT))
    summary = bench.summary()
    assert summary.settings["match"] == "bbox"
    assert value(summary, "x", "td_precision") == pytest.approx(2 / 3)
    assert value(summary, "x", "td_recall") == pytest.approx(2 / 3)
    assert value(summary, "x", "td_f1") == pytest.approx(2 / 3)
    # Expected detection: J = 1 and J = .8 over three predictions and three truths.
    assert value(summary, "x", "e0_precision") == pytest.approx((1 + 0.64) / 3)
    assert value(summary, "x", "e05_recall") == pytest.approx((1 + 4 / 3 * (0.64 - 0.25)) / 3)
    # Structure: topology 1 and 1; content 1 and 5/6 (no letter of the wrong cell is right).
    assert value(summary, "x", "tsr_top") == pytest.approx(1)
    assert value(summary, "x", "tsr_con") == pytest.approx((1 + 5 / 6) / 2)
    assert value(summary, "x", "te_f1_top") == pytest.approx(2 / 3)
    assert value(summary, "x", "te_f1_con") == pytest.approx((1 + 5 / 6) / 3)
    # TEDS: 9 nodes below the root, one cell renamed at cost 1.
    assert value(summary, "x", "te_recall_teds") == pytest.approx((1 + 8 / 9) / 3)
    assert value(summary, "x", "false_tables_per_negative_page") == 1
    assert summary.parsers["x"]["failures"] == Figure(value=0, n=3)
    assert value(summary, "x", "cpu_s_per_page") == 2


def test_failed_pages_stay_in_the_denominator() -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    bench.add("x", "p2", status=Status.PARSER_TIMEOUT)
    bench.add("x", "empty")
    summary = bench.summary()
    assert value(summary, "x", "td_recall") == pytest.approx(2 / 3)
    assert value(summary, "x", "td_precision") == 1
    assert value(summary, "x", "failures") == 1
    assert summary.details["failures_by_status"]["x"] == {"parser_timeout": 1}
    statuses = {
        (r.element, r.status) for s in bench.scores for r in s.scores if r.sample == "p2" and r.rule == "bbox"
    }
    assert statuses == {("t1", Status.PARSER_TIMEOUT)}


def test_one_rule_for_all_when_a_parser_gives_no_boxes() -> None:
    bench = Bench()
    for sample, page in PAGES.items():
        bench.add("boxes", sample, *(table(e.id, ROWS_A, LEFT) for e in page.tables[:1]))
        bench.add("text", sample, *(Element(e.id, "table", table=e.table) for e in page.tables))
    summary = bench.summary()
    assert summary.settings["match"] == "ngrams"
    assert set(summary.details["by_rule"]["text"]) == {"content", "ngrams"}
    assert set(summary.details["by_rule"]["boxes"]) == {"bbox", "content", "ngrams"}
    assert value(summary, "text", "te_f1_con") == 1
    assert summary.ranking.best == "text"


def test_duplicates_are_false_positives() -> None:
    bench = Bench()
    bench.add("x", "p2", table("a", ROWS_B, LEFT), table("b", ROWS_B, LEFT))
    assert value(bench.summary(), "x", "td_precision") == pytest.approx(1 / 2)


def test_confidence_gives_ranked_figures() -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT, 0.9), table("b", ROWS_B, Box(400, 400, 410, 410), 0.8))
    bench.add("x", "p2", table("a", ROWS_B, LEFT, 0.3))
    summary = bench.summary()
    # Ranked: right (.9), wrong (.8), right (.3); three truths.
    assert value(summary, "x", "ap") == pytest.approx(1 / 3 * 1 + 1 / 3 * 2 / 3)
    # Only what is above .5 is positive.
    assert value(summary, "x", "td_precision") == pytest.approx(1 / 2)
    assert value(summary, "x", "td_recall") == pytest.approx(1 / 3)
    assert value(summary, "x", "d_ece") == pytest.approx((0.1 + 0.8 + 0.7) / 3)
    assert value(summary, "x", "d_ece_positive") == pytest.approx((0.1 + 0.8) / 2)
    assert [b["n"] for b in summary.details["reliability"]["x"] if b["n"]] == [1, 1, 1]


@pytest.mark.parametrize("metric", ["teds", "grits_top", "reader"])
def test_the_metric_of_the_ranking_can_be_chosen(metric: str) -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    by_default = bench.summary()
    assert by_default.primary == "te_f1_con"
    assert "te_f1_reader" in {info.name for info in by_default.shown() if info.main}
    chosen = TablesProtocol(rank_by=metric).summarise(bench.tables())
    assert chosen.primary == f"te_f1_{metric.removeprefix('grits_')}" == chosen.ranking.figure
    assert value(chosen, "x", chosen.primary) == pytest.approx(0.8), "two of three truths, perfectly"


def test_parsers_without_confidence_have_ranked_figures_without_value() -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT))
    summary = bench.summary()
    for name in ("ap", "ap_top", "ap_con", "ap_teds", "d_ece"):
        assert summary.parsers["x"][name] == Figure(value=None, n=0)
    assert summary.details["curves"]["x"] == {} and summary.details["reliability"]["x"] == []


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_summary_has_every_figure_of_the_leaderboard(confidence: float | None) -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT, confidence))
    summary = bench.summary()
    names = """td_precision td_recall td_f1 te_f1_top te_f1_con te_f1_teds ap d_ece cpu_s_per_page failures
        false_tables_per_negative_page metric_failures tables_per_page wall_s_per_page"""
    for name in names.split():
        assert name in summary.parsers["x"], name
        assert any(info.name == name for info in summary.figures), name


def test_the_reason_of_the_first_metric_failure_is_kept() -> None:
    bench = Bench()
    bench.add("x", "p1", status=Status.OK)
    bench.add("x", "p2", status=Status.METRIC_FAILED)
    summary = bench.summary()
    # One table under four metrics could not be scored; eight more rows are of the two missed ones.
    assert summary.parsers["x"]["metric_failures"] == Figure(value=4, n=12)
    assert summary.notes == [
        "x: 4 scores could not be computed and count as zero. grits_con on p2: no reason given",
        "Tables found: x 0 of 3. There are too few documents for a confidence interval.",
    ]


def test_attributes_of_pages_select_pages() -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    bench.add("x", "p2")
    bench.add("x", "empty")
    groups = {s.value: s for s in bench.summary().slices if (s.scope, s.attribute) == ("page", "layout")}
    assert groups["one"].figures["x"]["td_f1"].value == 1
    assert groups["two"].figures["x"]["td_f1"].value == 0


def test_invented_text_is_found_and_named() -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", [["Lisbon", "545796"], ["Xanadu", "777"]], LEFT))
    rows = {r.metric: r for r in bench.scores[0].scores if r.metric.startswith("invented")}
    assert rows["invented_numbers"].value == pytest.approx(1 / 2)
    assert rows["invented_characters"].value == pytest.approx(9 / 21)
    assert rows["invented_characters"].message == "xanadu, 777"


@pytest.mark.parametrize(("n_finding", "is_doubtful"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_truth_that_most_parsers_contradict_is_named(n_finding: int, is_doubtful: bool) -> None:
    bench = Bench()
    for number, parser in enumerate("xyz"):
        for sample, page in PAGES.items():
            found = [table("a", ROWS_B, LEFT)] if sample == "empty" and number < n_finding else page.tables
            bench.add(parser, sample, *found)
    doubts = [note for note in bench.summary().notes if "Most parsers find a table" in note]
    assert bool(doubts) == is_doubtful
    assert all("1 page without tables in the truth: empty." in note for note in doubts)


BULLETS = [["•", "Sow in March"], ["•", "Water every week"], ["•", "Reap in July"]]
CUT = [["• Sow in", "March and April"], ["• Water", "every week"], ["– Reap", "in July"]]
NUMBERED = [["1.", "Sow in March"], ["2.", "Water every week"], ["(c)", "Reap in July"]]
PROSE = [["Sow in March", ""], ["", "Water every week"], ["Reap in July", "and August"]]


@pytest.mark.parametrize("rows", [BULLETS, CUT, NUMBERED, PROSE])
def test_a_list_is_no_evidence_against_a_truth(rows: list[list[str]]) -> None:
    bench = Bench()
    for parser in "xyz":
        for sample, page in PAGES.items():
            bench.add(parser, sample, *([table("a", rows, LEFT)] if sample == "empty" else page.tables))
    summary = bench.summary()
    assert not [note for note in summary.notes if "Most parsers find a table" in note]
    assert summary.figure("x", "false_tables_per_negative_page").value == 1, (
        "it is a false table all the same"
    )


@pytest.mark.parametrize("parsers", [["k", "k(a=1)", "k@2(a=2)", "y", "z"], ["x", "y", "z", "ensemble"]])
def test_clones_do_not_contradict_a_truth(parsers: list[str]) -> None:
    bench = Bench()
    finding = {parser for parser in parsers if parser[0] in "kxe"}
    for parser in parsers:
        for sample, page in PAGES.items():
            found = [table("a", ROWS_B, LEFT)] if sample == "empty" and parser in finding else page.tables
            bench.add(parser, sample, *found)
    assert not [note for note in bench.summary().notes if "Most parsers find a table" in note]


def test_comparison_in_words() -> None:
    bench = Bench()
    for sample, page in PAGES.items():
        bench.add("good", sample, *page.tables)
        bench.add("bad", sample)
    protocol, summary = TablesProtocol(), bench.summary()
    comparison = compare_in_tables(protocol, summary, bench.tables(), "good", "bad")
    assert comparison.primary.difference == 1
    # Two documents differ, both by 1: that says nothing about others.
    assert (comparison.primary.p, comparison.primary.low) == (1, None)
    assert comparison_markdown(comparison).startswith("good and bad are not compared: ")
    assert comparison.primary == summary.ranking.verdict("good", "bad")
    assert all(figure.interval is None for own in summary.parsers.values() for figure in own.values())
    (said,) = [note for note in summary.notes if note.startswith("Tables found: ")]
    n = sum(len(page.tables) for page in PAGES.values())
    counts = f"Tables found: bad 0 of {n}, good {n} of {n}."
    assert said == f"{counts} There are too few documents for a confidence interval."
    assert [p.sample for p in comparison.pages] == ["p1", "p2"]


def test_summary_is_json(tmp_path: Path) -> None:
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT, 0.7))
    summary = bench.summary()
    text = json.dumps(summary.model_dump(mode="json"), allow_nan=False)
    assert Summary.model_validate_json(text) == summary


def test_details_are_stored_as_bounded_json() -> None:
    many = {"errors": [{"message": "x" * 100}] * 500, "n_errors": 500, "counts": {"row_lost": 500}}
    text = details_text(many) or ""
    kept = json.loads(text)
    assert len(text) <= MAX_DETAILS
    assert kept["shortened"] and kept["n_errors"] == 500 and 0 < len(kept["errors"]) < 500
    assert details_text({}) is None
    assert "too long" in (details_text({"text": "y" * 10_000}) or "")
    for odd in ({"a": math.nan}, {"a": object()}):
        assert "not JSON" in (details_text(odd) or "")


def test_what_reader_says_of_a_pair_is_kept_with_its_score() -> None:
    bench = Bench()
    bench.add("x", "p2", table("a", ROWS_A[:-1], LEFT))
    rows = [row for scored in bench.scores for row in scored.scores]
    told = [json.loads(row.details) for row in rows if row.metric == "reader" and row.details]
    assert told and all(details["counts"] and details["errors"][0]["message"] for details in told)
    assert all(row.details is None for row in rows if row.metric == "teds")
