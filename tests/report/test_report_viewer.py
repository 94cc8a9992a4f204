"""The page viewer in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from parsemark.report.source import RunSource, page_values
from parsemark.store import Run

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def show(open_page: Open, site: Path, address: str = "", **options: Any) -> Any:
    page = open_page(f"{site.as_uri()}/viewer.html{address}", **options)
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def settled(page: Any, action: Callable[[], Any]) -> None:
    before = page.evaluate("document.documentElement.dataset.ready")
    action()
    page.wait_for_function("before => document.documentElement.dataset.ready !== before", arg=before)


def pair_of(run: Run, parser: str) -> dict[str, Any]:
    matches = run.table("matches").filter((pl.col("parser") == parser) & (pl.col("kind") == "pair"))
    return matches.filter(pl.col("rule") == "bbox").row(3, named=True)


def test_a_link_leads_to_page_table_and_parser(open_page: Open, site: Path, run: Run) -> None:
    match = pair_of(run, "fair")
    address = f"#page={match['sample']}&table={match['truth'][0]}&parser=fair"
    page = show(open_page, site, address)
    assert page.locator("#title").inner_text() == match["sample"]
    assert page.locator("#parser").evaluate("s => s.selectedOptions[0].textContent") == "fair"
    chosen = page.locator('.match[aria-pressed="true"]')
    assert "“Head over all”" in chosen.inner_text(), "named by its first cell"
    assert match["truth"][0] in chosen.locator(".ids").get_attribute("title")
    scores = run.table("scores").filter(
        (pl.col("sample") == match["sample"])
        & (pl.col("parser") == "fair")
        & (pl.col("element") == match["truth"][0])
        & (pl.col("rule") == "bbox")
        & (pl.col("metric") == "teds")
    )
    assert f"TEDS {scores['value'][0]:.3f}" in chosen.inner_text()


def test_it_opens_on_the_leader_at_its_worst_page_beside_the_runner_up(
    open_page: Open, site: Path, source: RunSource
) -> None:
    page = show(open_page, site)
    chosen = "s => s.selectedOptions[0].textContent"
    shown = [page.locator(name).evaluate(chosen) for name in ("#parser", "#beside")]
    assert shown == source.summary.ordered()[:2]
    values = page_values(source, shown[0])
    of_page = values[list(source.samples["sample"]).index(page.locator("#title").inner_text())]
    assert of_page == min(v for v in values if v is not None)


@pytest.mark.parametrize("frame", ["grid-frame", "table-frame"])
def test_what_is_read_aloud_of_a_wide_table_does_not_widen_the_page(
    open_page: Open, site: Path, frame: str
) -> None:
    page = show(open_page, site, viewport={"width": 390, "height": 800})
    table = '<table><tr><td><div></div></td><td><span class="visually-hidden">x</span></td>'
    script = """html => {
        document.getElementById('detail').innerHTML = html;
        document.querySelector('#detail td div').style.width = '3000px';
    }"""
    page.evaluate(script, f'<div class="{frame}">{table}')
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_name_of_an_invented_table_is_not_broken_into_letters(open_page: Open, site: Path) -> None:
    page = show(
        open_page, site, "#parser=poor&with=fair&queue=invented", viewport={"width": 390, "height": 800}
    )
    name = page.locator(".beside-matches button", has_text="invented").first
    lines = """button => {
        const range = document.createRange();
        range.selectNode(button.firstChild);
        return range.getClientRects().length;
    }"""
    assert name.evaluate(lines) == 1


def test_a_name_that_the_report_does_not_have_is_said(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#parser=gone&with=good")
    assert "does not have gone, so something else is shown" in page.locator("#unknown").inner_text()
    assert show(open_page, site, "#parser=good&with=poor").locator("#unknown").is_hidden()


def test_stepping_by_button_and_key_changes_the_address(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#queue=all")
    assert page.locator("#position").inner_text() == "1 of 24"
    settled(page, lambda: page.get_by_role("button", name="Next").click())
    assert page.locator("#title").inner_text() == "page-001"
    page.locator("h1").click()
    settled(page, lambda: page.keyboard.press("ArrowRight"))
    assert page.locator("#title").inner_text() == "page-002"
    settled(page, lambda: page.keyboard.press("k"))
    assert "page=page-001" in page.url
    settled(page, page.go_back)
    assert page.locator("#title").inner_text() == "page-002"


@pytest.mark.parametrize(
    ("queue", "kind"), [("missed", "miss"), ("invented", "extra"), ("worst", None), ("disagree", "pair")]
)
def test_queues(
    open_page: Open, site: Path, run: Run, source: RunSource, queue: str, kind: str | None
) -> None:
    page = show(open_page, site, f"#parser=poor&queue={queue}")
    own = run.table("matches").filter((pl.col("parser") == "poor") & (pl.col("rule") == source.rule))
    expected = own.height if kind is None else (own["kind"] == kind).sum()
    assert page.locator("#position").inner_text().endswith(f"of {expected}")
    if kind in ("miss", "extra"):
        words = {"miss": "missed", "extra": "invented"}[kind]
        assert words in page.locator('.match[aria-pressed="true"]').inner_text()


def test_failed_pages_show_their_message(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#parser=poor&queue=failed")
    assert "The parser failed here." in page.locator("#parse").inner_text()
    assert "SIGSEGV" in page.locator("#parse").inner_text()


def test_attributes_restrict_the_pages(open_page: Open, site: Path) -> None:
    page = show(open_page, site)
    settled(page, lambda: page.locator("#filter").select_option("scan=yes"))
    assert page.locator("#position").inner_text() == "1 of 4"
    assert "scan" in page.locator("#attributes").text_content()


def test_search_and_filters_combine_and_stand_in_the_address(
    open_page: Open, site: Path, run: Run, source: RunSource
) -> None:
    page = show(open_page, site, "#parser=good&queue=all")
    settled(page, lambda: (page.locator("#find").fill("alp"), page.locator("#find").press("Enter")))
    with_word = set()
    for sample in source.samples["sample"]:
        outputs = [run.prediction(sample, parser.name).elements for parser in source.parsers]
        elements = [*run.truth(sample).elements, *(e for own in outputs for e in own)]
        cells = " ".join(cell.text for e in elements if e.table for cell in e.table.cells).lower()
        if any(word.startswith("alp") for word in re.findall(r"[^\W_]+", cells)):
            with_word.add(sample)
    assert 0 < len(with_word) < 24
    assert page.locator("#position").inner_text().endswith(f"of {len(with_word)}")
    settled(page, lambda: page.locator("#filter").select_option("columns=1"))
    one_column = [s for s in with_word if source.attributes[s]["columns"] == 1]
    assert page.locator("#position").inner_text().endswith(f"of {len(one_column)}")
    settled(page, lambda: (page.locator("#from").fill("0.99"), page.locator("#from").press("Enter")))
    n_good = int(page.locator("#position").inner_text().split(" of ")[-1])
    assert 0 < n_good <= len(one_column)
    again = show(open_page, site, f"#{page.url.partition('#')[2]}")
    assert again.locator("#position").inner_text().endswith(f"of {n_good}"), "the address keeps them"
    settled(again, lambda: again.get_by_role("button", name="Remove columns=1").click())
    assert "filter=" not in again.url and "find=alp" in again.url


def test_boxes_can_be_hidden(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#page=page-000&parser=good")
    truth, pred = page.locator(".box.truth.is-table").first, page.locator(".box.pred.is-table").first
    assert truth.is_visible()
    assert pred.is_visible()
    page.locator("#show-truth").uncheck()
    assert truth.is_hidden()
    page.locator("#show-pred").uncheck()
    assert pred.is_hidden()


def test_boxes_lie_where_the_truth_says(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#page=page-000&parser=good")
    sheet = page.locator(".sheet").bounding_box()
    box = page.locator(".box.truth.is-table rect").first.bounding_box()
    scale = sheet["width"] / 595
    assert box["x"] - sheet["x"] == pytest.approx(72 * scale, abs=3)
    assert box["width"] == pytest.approx((520 - 72) * scale, abs=3)


def test_raw_output_opens_on_demand(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#page=page-000&parser=good")
    assert page.locator("pre.raw").count() == 0
    page.get_by_text("Raw output of the parser").click()
    assert '"format": "elements"' in page.locator("pre.raw").inner_text()


def test_other_matchings_can_be_looked_at(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "#page=page-000&parser=good")
    settled(page, lambda: page.locator("#rule").select_option("content"))
    assert "rule=content" in page.url
    assert page.locator(".match").count() >= 1


def diff(
    page: Any, truth: list[list[str]], pred: list[list[str]], spans: dict[str, int] | None = None
) -> Any:
    """The difference of two tables without spans, or with one in the first truth cell."""
    script = """([truth, pred, spans]) => {
      const table = (rows) => ({ n_rows: rows.length, n_cols: rows[0].length,
        cells: rows.flatMap((r, row) => r.map((text, col) => ({ row, col, text })))});
      const a = table(truth);
      if (spans) a.cells = a.cells.filter(c => c.row > 0 || c.col === 0);
      Object.assign(a.cells[0], spans ?? {});
      return parsemark.diffTables(a, table(pred));
    }"""
    return page.evaluate(script, [truth, pred, spans])


def test_differences_cell_by_cell(open_page: Open, site: Path) -> None:
    page = show(open_page, site)
    base = [["name", "x", "y"], ["a", "1.12", "2"], ["b", "3", "4"]]
    assert diff(page, base, base)["counts"] == {"same": 9, "changed": 0, "missing": 0, "extra": 0, "span": 0}
    changed = [["name", "x", "y"], ["a", "112", "2"], ["b", "3", "4"]]
    result = diff(page, base, changed)
    assert result["counts"]["changed"] == 1
    assert result["rows"][1]["cells"][1]["kind"] == "changed"
    shorter = diff(page, base, [base[0], base[2]])
    assert shorter["counts"]["missing"] == 3
    assert shorter["rows"][1]["kind"] == "missing"
    wider = diff(page, base, [["", *row] for row in base])
    assert wider["counts"] == {"same": 9, "changed": 0, "missing": 0, "extra": 3, "span": 0}
    spanned = diff(page, [["head", "", ""], *base[1:]], [["head", "", ""], *base[1:]], {"colspan": 3})
    assert spanned["rows"][0]["cells"][0]["note"] == "span 1×1 instead of 1×3"
    assert spanned["counts"]["span"] == 3


def test_changed_characters(open_page: Open, site: Path) -> None:
    page = show(open_page, site)
    runs = page.evaluate("parsemark.diffText('−2.8 km', '2.8 cm')")
    assert runs == [["gone", "−"], ["same", "2.8 "], ["gone", "k"], ["new", "c"], ["same", "m"]]
    assert page.evaluate("parsemark.diffText('', 'a')") == [["new", "a"]]
    long = page.evaluate("parsemark.diffText('a'.repeat(100000) + 'x', 'a'.repeat(100000) + 'y').length")
    assert long == 3


def test_a_found_table_shows_truth_prediction_and_difference(open_page: Open, site: Path, run: Run) -> None:
    match = pair_of(run, "poor")
    page = show(open_page, site, f"#page={match['sample']}&table={match['truth'][0]}&parser=poor")
    assert page.locator(".side h3").all_inner_texts() == ["Truth", "Prediction"]
    truth = next(e for e in run.truth(match["sample"]).elements if e.id == match["truth"][0])
    shown = page.locator(".side").first.locator("td, th").all_inner_texts()
    assert shown == [cell.text for cell in truth.table.cells]
    counts = page.locator(".diff-counts strong").all_inner_texts()
    assert sum(map(int, counts)) >= len(truth.table.cells)


def test_a_page_without_truth_shows_what_was_predicted_unjudged(open_page: Open, site: Path) -> None:
    page = show(open_page, site, "")
    shown = """(elements) => {
      const data = { prediction: { elements } };
      const matches = parsemark.withoutTruth(data);
      return parsemark.renderMatches(matches, { truth: null }, data, null, () => {}).textContent;
    }"""
    table = {"n_rows": 1, "n_cols": 1, "cells": [{"row": 0, "col": 0, "text": "a"}]}
    said = page.evaluate(shown, [{"id": "p0", "table": table}, {"id": "p1", "text": "no table"}])
    assert "no truth" in said and "predicted" in said and "“a”" in said
    assert "invented" not in said and "p1" not in said
    assert "no truth" in page.evaluate(shown, []) and "neither true" not in page.evaluate(shown, [])
