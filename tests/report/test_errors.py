"""Types of errors: counted from the stored matches, told by the metric, and shown where they happened."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from parsemark.errors import StoreError
from parsemark.formats.model_json import element_from_json
from parsemark.metrics import get_metric
from parsemark.metrics.reader.events import Kind
from parsemark.metrics.table_input import TableInput
from parsemark.model import Cell, Element, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.run_data.rows import details_text
from parsemark.protocols.tables.presentation import ERROR_KINDS, OF_EVENT, explain_pair
from parsemark.report.chunks import decode
from parsemark.report.comparison_text import errors_markdown
from parsemark.report.source import RunSource
from parsemark.store import Run, RunFolder
from parsemark.verdicts.error_types import Errors, changes_of, errors_beside, errors_between, find_errors

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def errors(source: RunSource) -> Errors:
    return find_errors(source, limit=2_000)


def table(rows: list[list[str]], **changes: Any) -> Element:
    cells = [
        Cell(r, c, text, header=r == 0) for r, row in enumerate(rows) for c, text in enumerate(row) if text
    ]
    return Element("t", "table", table=Table(len(rows), len(rows[0]), tuple(cells)), **changes)


TRUTH = [["City", "People", "Area"], ["Bonn", "335", "141"], ["Kiel", "247", "118"], ["Trier", "112", "117"]]


def test_damaged_predictions_are_named_where_errors_are_counted(source: RunSource, tmp_path: Path) -> None:
    run = Run.open(shutil.copytree(source.run.path, tmp_path / "run"))
    (run.path / "predictions.parquet").write_bytes(b"no table")
    a, b = run.manifest.parser_names[:2]
    with pytest.raises(StoreError, match="predictions"):
        errors_beside(run, "tables", a, b)
    with pytest.raises(StoreError, match="predictions"):
        errors_between(run, run, "tables", [a])


def test_a_protocol_that_lists_no_errors_says_so() -> None:
    assert "lists no errors by type" in errors_markdown("a", changes_of({}, {}, ()))[0]
    assert "no errors of any type" in errors_markdown("a", changes_of({}, {}, ERROR_KINDS))[0]


def test_every_event_of_the_reader_has_a_type() -> None:
    names = {kind.name for kind in ERROR_KINDS} | {""}
    assert {kind.value for kind in Kind} == set(OF_EVENT)
    assert set(OF_EVENT.values()) <= names


@pytest.mark.parametrize(
    ("damaged", "kind"),
    [
        ([row[:2] for row in TRUTH], "column_lost"),
        (TRUTH[:2] + TRUTH[3:], "row_lost"),
        ([["", "", ""], *TRUTH[1:]], "header_lost"),
        ([TRUTH[0], ["Bonn", "999", "141"], *TRUTH[2:]], "text_wrong"),
        ([TRUTH[0], ["Bonn", "", "141"], *TRUTH[2:]], "cell_lost"),
    ],
)
def test_a_damage_is_named(damaged: list[list[str]], kind: str) -> None:
    explanation = explain_pair(table(TRUTH), table(damaged))
    assert explanation is not None
    assert explanation.counts.get(kind, 0) >= 1
    assert kind in {finding.kind for finding in explanation.findings}


@pytest.mark.parametrize("cut", ["columns", "rows"])
def test_a_table_in_pieces_is_looked_into_as_it_is_scored(cut: str) -> None:
    shown = get_protocol("tables").presentation()

    def counts(rows: list[list[str]]) -> dict[str, int]:
        halves = (
            [[row[:1] for row in rows], [row[1:] for row in rows]]
            if cut == "columns"
            else [rows[:2], rows[2:]]
        )
        assert shown.join_pieces is not None and shown.explain is not None
        whole = shown.join_pieces(table(TRUTH), [table(half) for half in halves])
        assert whole is not None
        explanation = shown.explain(table(TRUTH), whole)
        assert explanation is not None
        return dict(explanation.counts)

    assert counts(TRUTH) == {}
    assert counts([TRUTH[0], ["Bonn", "999", "141"], *TRUTH[2:]]).get("text_wrong", 0) >= 1


def test_a_perfect_copy_has_no_error() -> None:
    explanation = explain_pair(table(TRUTH), table(TRUTH))
    assert explanation is not None
    assert explanation.counts == {}
    assert explanation.title == "reader 10.0 of 10"


def test_stored_explanations_are_read_and_cut_ones_made_again(
    source: RunSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`reader` has explained each pair when it was scored: the report does not compute that again."""
    run = Run.open(shutil.copytree(source.run.path, tmp_path / "run"))
    computed = find_errors(RunSource(run), None)
    elements = {
        (sample, parser, e.id): e
        for name, parser_column, column in (
            ("samples", pl.lit(""), "truth"),
            ("predictions", "parser", "prediction"),
        )
        for sample, parser, text in run.table(name).select("sample", parser_column, column).iter_rows()
        for e in map(element_from_json, json.loads(text)["elements"] if text else ())
    }
    scores = run.table("scores")
    pairs = scores.filter(
        pl.col("element").is_in([key[2] for key in computed.explained]) & (pl.col("pred") != "")
    )
    rows = []
    for row in pairs.unique(["sample", "parser", "element", "rule"]).sort(pl.all()).to_dicts():
        truth, pred = (
            elements[row["sample"], "", row["element"]],
            elements[row["sample"], row["parser"], row["pred"]],
        )
        score = get_metric("reader").score(TableInput(truth.table), TableInput(pred.table))
        rows.append({**row, "metric": "reader", "value": score.value, "details": details_text(score.details)})
    cut = next(k for k, row in enumerate(rows) if row["rule"] == source.rule)
    rows[cut]["details"] = json.dumps({**json.loads(rows[cut]["details"]), "errors": [], "shortened": True})
    with_reader = pl.concat([scores, pl.DataFrame(rows, schema=scores.schema)])
    RunFolder.of(run).write_table("scores", with_reader, "tables")

    again = RunSource(run)
    asked = []

    def explain(truth: Element, pred: Element) -> Any:
        asked.append(truth.id)
        return explain_pair(truth, pred)

    monkeypatch.setattr(again, "shown", replace(again.shown, explain=explain))
    found = find_errors(again, None)
    assert found.explained == computed.explained
    assert sorted(found.rows.rows()) == sorted(computed.rows.rows())
    assert asked == [rows[cut]["element"]]


def test_huge_tables_are_not_explained() -> None:
    huge = table([["1"] * 30 for _ in range(40)])
    assert explain_pair(huge, huge) is None


def test_missed_and_invented_tables_are_those_of_the_matches(
    errors: Errors, source: RunSource, run: Run
) -> None:
    own = run.table("matches").filter(pl.col("rule") == source.rule)
    for parser in source.parsers:
        counts = errors.counts(parser.name)
        matches = own.filter(pl.col("parser") == parser.name)
        assert counts.get("missed", (0, 0))[0] == (matches["kind"] == "miss").sum()
        sure = pl.col("confidence").is_null() | (pl.col("confidence") > 0.5)
        invented = matches.filter((pl.col("kind") == "extra") & sure).height
        assert counts.get("invented", (0, 0))[0] == invented


def test_split_and_merged_tables_are_counted_once(source: RunSource) -> None:
    by_characters = pl.DataFrame(
        {
            "sample": ["p1", "p1", "p2"],
            "parser": ["a", "a", "a"],
            "rule": ["ngrams"] * 3,
            "category": ["table"] * 3,
            "truth": [["t1", "t2"], ["t2"], ["t3"]],
            "pred": [["x"], [], ["y", "z"]],
            "kind": ["merge", "miss", "split"],
            "overlap": [0.9, None, 0.9],
            "confidence": [None, None, None],
        },
        schema_overrides={"confidence": pl.Float64},
    )

    class View:
        rule = "ngrams"
        matches = by_characters.drop("rule")

    found = source.shown.element_errors(View())  # type: ignore[arg-type] # all that is read of it
    rows = set(found.select("sample", "element", "error").iter_rows())
    assert rows == {("p1", "t1", "merged"), ("p1", "t2", "merged"), ("p2", "t3", "split")}


def test_a_table_that_overlaps_too_little_is_partly_found(
    errors: Errors, source: RunSource, run: Run
) -> None:
    weak = (pl.col("kind") == "pair") & (pl.col("overlap") <= 0.5) & (pl.col("rule") == source.rule)
    for parser in source.parsers:
        expected = run.table("matches").filter(weak & (pl.col("parser") == parser.name)).height
        assert errors.counts(parser.name).get("partly_found", (0, 0))[0] == expected


def test_lists_point_at_the_elements_with_an_error(site: Path, errors: Errors, source: RunSource) -> None:
    pages = decode((site / "data" / "pages.js").read_text())
    assert [e["name"] for e in pages["protocols"][0]["errors"]] == [k.name for k in ERROR_KINDS]
    for number, parser in enumerate(source.parsers):
        listed = decode((site / "data" / "lists" / "0" / f"{number}.js").read_text())
        for kind, (n, _) in errors.counts(parser.name).items():
            assert len(listed["errors"][kind]) == n


@pytest.mark.browser
def test_a_number_on_the_leaderboard_leads_to_the_pages_that_show_it(open_page: Open, site: Path) -> None:
    page = open_page((site / "index.html").as_uri())
    link = page.locator("table.errors td a").first
    n = int(link.inner_text())
    label = link.evaluate(
        "a => a.closest('table').tHead.rows[0].cells[a.closest('td').cellIndex].textContent"
    )
    link.click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.locator("#position").inner_text() == f"1 of {n}"
    chosen = page.locator("#queue").evaluate("s => s.selectedOptions[0].textContent")
    assert chosen == f"{label} ({n})"
