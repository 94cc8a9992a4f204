"""Runs in which there is little or nothing to count: the summary stays valid and the leaderboard prints."""

import io
import json
from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest
from rich.console import Console
from tests.protocols.tables_bench import LEFT, PAGES, RIGHT, ROWS_A, ROWS_B, Bench, table

from parsemark.model import Element, Prediction, Status, Table
from parsemark.protocols import RunTables, Summary
from parsemark.protocols.tables import TablesProtocol
from parsemark.report.terminal_leaderboard import leaderboard


def all_fail(bench: Bench) -> None:
    for parser in ("x", "y"):
        for sample in PAGES:
            bench.add(parser, sample, status=Status.PARSER_FAILED)


def nothing_found(bench: Bench) -> None:
    for sample in PAGES:
        bench.add("x", sample)


def only_false_tables(bench: Bench) -> None:
    bench.add("x", "empty", table("a", ROWS_A, LEFT, 0.9), table("b", ROWS_A, RIGHT, 0.0))


def all_alike(bench: Bench) -> None:
    for parser in ("x", "y"):
        for sample, page in PAGES.items():
            bench.add(parser, sample, *page.tables)


def one_document(samples: pl.DataFrame) -> pl.DataFrame:
    return samples.with_columns(document=pl.lit("d"))


def no_tables(samples: pl.DataFrame) -> pl.DataFrame:
    return samples.filter(pl.col("sample") == "empty")


def no_truth(samples: pl.DataFrame) -> pl.DataFrame:
    return samples.with_columns(truth=pl.lit(None, pl.String), n_tables=pl.lit(None, pl.Int64))


@pytest.mark.parametrize("corpus", [None, one_document, no_tables, no_truth])
@pytest.mark.parametrize("answers", [all_fail, nothing_found, only_false_tables, all_alike])
def test_summary_is_valid_and_the_leaderboard_prints(
    answers: Callable[[Bench], None], corpus: Callable[[pl.DataFrame], pl.DataFrame] | None
) -> None:
    bench = Bench()
    answers(bench)
    tables = bench.tables()
    samples = corpus(tables.samples) if corpus else tables.samples
    kept = pl.col("sample").is_in(samples["sample"].to_list())
    others = [frame.filter(kept) for frame in (tables.parses, tables.matches, tables.scores)]
    summary = TablesProtocol().summarise(RunTables(samples, *others))
    text = json.dumps(summary.model_dump(mode="json"), allow_nan=False)
    assert Summary.model_validate_json(text) == summary
    for figures in summary.parsers.values():
        for name in ("td_f1", "te_f1_con", "ap", "d_ece", "wavg_f1", "false_tables_per_negative_page"):
            assert figures[name].n > 0 or figures[name].value is None, name
        if corpus is one_document:
            assert all(figure.interval is None for figure in figures.values()), figures
    console = Console(file=io.StringIO(), width=100)
    console.print(leaderboard(summary, 100))
    assert "x" in console.file.getvalue()
    if answers is not all_alike:
        assert summary.ranking.best is None


def test_tables_without_a_box_are_found_nowhere_by_place() -> None:
    """A parser that gives boxes for most tables is judged by them: leaving out the bad ones must not pay."""
    bench = Bench()
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    bench.add("x", "p2", Element("a", "table", table=Table.from_rows(ROWS_B)))
    summary = bench.summary()
    assert summary.settings["match"] == "bbox"
    assert summary.parsers["x"]["td_recall"].value == 2 / 3
    assert summary.parsers["x"]["td_precision"].value == 2 / 3


def test_a_truth_without_boxes_is_matched_by_text() -> None:
    bench = Bench(
        {n: replace(p, elements=tuple(replace(e, box=None) for e in p.elements)) for n, p in PAGES.items()}
    )
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    summary = bench.summary()
    assert summary.settings["match"] == "ngrams"
    assert summary.parsers["x"]["td_recall"].value == 2 / 3
    assert set(summary.details["by_rule"]["x"]) == {"content", "ngrams"}


def test_a_truth_of_which_some_tables_have_no_box_says_so() -> None:
    bare = {n: replace(p, elements=tuple(replace(e, box=None) for e in p.elements)) for n, p in PAGES.items()}
    bench = Bench({**PAGES, "p2": bare["p2"]})
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    summary = bench.summary()
    assert summary.settings["match"] == "ngrams"
    assert summary.notes[0] == (
        "Tables are matched to the truth by text (ngrams), since 1 of 3 true tables has no box; "
        "`tables(match=bbox)` counts it as missed."
    )
    chosen = TablesProtocol(match="ngrams").summarise(bench.tables())
    assert not any("since" in note for note in chosen.notes), "whoever chose knows why"


def test_the_rule_is_a_choice_that_is_recorded_and_explained() -> None:
    bench = Bench()
    bench.add("boxes", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    bench.add("text", "p1", Element("a", "table", table=Table.from_rows(ROWS_A)))
    by_default = bench.summary()
    assert by_default.settings["match"] == "ngrams"
    assert "since text gives no boxes" in by_default.notes[0]
    chosen = TablesProtocol(match="bbox").summarise(bench.tables())
    assert chosen.settings["match"] == "bbox" and chosen.protocol == "tables(match=bbox)"
    assert chosen.parsers["text"]["td_recall"].value == 0
    assert chosen.notes[0] == "match=bbox, but text gives no boxes (or for less than half of its tables)."


def test_one_parser_alone_has_no_others_to_compare() -> None:
    bench = Bench()
    bench.add("text", "p1", Element("a", "table", table=Table.from_rows(ROWS_A)))
    note = bench.summary().notes[0]
    assert note == "Tables are matched to the truth by text (ngrams), since text gives no boxes."


def test_notes_have_the_grammar_of_their_number() -> None:
    bench = Bench()
    for parser in ("one", "two"):
        bench.add(parser, "p1", Element("a", "table", table=Table.from_rows(ROWS_A)))
    assert bench.summary().notes[0].endswith("since one, two give no boxes.")
    bench.add("boxes", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, RIGHT))
    note = bench.summary().notes[0]
    assert (
        'give no boxes. `--protocol "tables(match=bbox)"` matches the other parser\'s tables by position.'
        in note
    )
    pages = {"p2": replace(PAGES["p2"], elements=(replace(PAGES["p2"].elements[0], box=None),))}
    without = Bench(pages)
    without.add("boxes", "p2", table("a", ROWS_A, LEFT))
    (said, *_) = TablesProtocol(match="bbox").summarise(without.tables()).notes
    assert said == "match=bbox, but 1 of 1 true table has no box and counts as missed."


def test_a_page_without_truth_says_what_needs_none() -> None:
    prediction = Prediction("s", "x", Status.OK, (table("a", [["Lisbon", "777"]], None),))
    found = TablesProtocol().score_page(None, prediction, "Lisbon Porto")
    assert found.matches == []
    values = {row.metric: row.value for row in found.scores}
    assert values == {
        "tables_found": 1,
        "evident_tables": 0,
        "invented_characters": pytest.approx(3 / 9),
        "invented_numbers": 1,
        "boxes_found": 0,
    }
    failed = Prediction("s", "x", Status.PARSER_TIMEOUT)
    assert [row.value for row in TablesProtocol().score_page(None, failed, None).scores] == [None] * 3
