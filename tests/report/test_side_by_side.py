"""Two parsers, or an old and a new run, beside the truth."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report.conftest import complete
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.report import build_report
from parsemark.report.chunks import decode
from parsemark.store import Run

Open = Callable[..., Any]
PARSERS = ("good", "fair", "poor")


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory, blank_pdf: Path) -> Run:
    run = fabricate_run(tmp_path_factory.mktemp("older") / "run", 8, PARSERS, seed=3, pdf=blank_pdf)
    complete(run)
    return run


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory, blank_pdf: Path) -> Run:
    run = fabricate_run(tmp_path_factory.mktemp("newer") / "run", 12, PARSERS, pdf=blank_pdf)
    complete(run)
    return run


@pytest.fixture(scope="module")
def paired(newer: Run, older: Run) -> Path:
    return build_report(newer.path, newer.path / "report", against=older.path).parent


def show(open_page: Open, site: Path, address: str) -> Any:
    page = open_page(f"{site.as_uri()}/viewer.html#{address}")
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def found_by_both(run: Run, a: str, b: str) -> tuple[str, str]:
    """A page and a true table that both parsers found."""
    pairs = run.table("matches").filter(pl.col("rule") == run.summary().settings["match"])
    pairs = pairs.filter(pl.col("kind") == "pair").explode("truth")
    first, second = (pairs.filter(pl.col("parser") == name).select("sample", "truth") for name in (a, b))
    both = first.join(second, on=["sample", "truth"]).sort("sample", "truth")
    return both.row(0)


@pytest.mark.browser
def test_the_cells_of_two_parsers_are_told_apart(open_page: Open, paired: Path, newer: Run) -> None:
    sample, table = found_by_both(newer, "good", "poor")
    page = show(open_page, paired, f"page={sample}&table={table}&parser=good&with=poor")
    heads = page.locator(".three-sides h3").all_inner_texts()
    assert heads == ["Truth", "A good", "B poor"]
    truth = newer.truth(sample)
    assert truth is not None
    cells = next(e.table for e in truth.tables if e.id == table)
    assert cells is not None
    counts = [int(text) for text in page.locator(".diff-counts [class*=verdict] strong").all_inner_texts()]
    assert sum(counts) == cells.n_cells  # every cell of the truth is judged once
    assert page.locator(".three-sides .side").nth(0).locator("td, th").count() == cells.n_cells
    apart = page.locator(".three-sides .side").nth(1).locator("td.apart").count()
    assert apart >= counts[1] + counts[2]
    colour = "e => getComputedStyle(e).color"
    wrong = page.locator(".three-sides ins").first.evaluate(colour)
    assert wrong != page.locator(".kind-pair .kind").first.evaluate(colour)  # green is what is right


@pytest.mark.browser
def test_the_older_run_stands_beside_the_newer(open_page: Open, paired: Path, newer: Run) -> None:
    sample, table = found_by_both(newer, "good", "fair")
    page = show(open_page, paired, f"page={sample}&table={table}&parser=good&old=good")
    assert page.locator(".three-sides h3").all_inner_texts()[2] == "B good (old)"
    assert "older run of" in page.locator("#beside optgroup").get_attribute("label")
    missing = newer.table("samples")["sample"][-1]
    page = show(open_page, paired, f"page={missing}&parser=good&old=good")  # the older run has 8 pages
    assert "not run on this page" in page.locator("#parse").inner_text()


@pytest.mark.browser
def test_the_list_of_differences_begins_with_the_largest(open_page: Open, paired: Path, newer: Run) -> None:
    page = show(open_page, paired, "parser=good&with=poor&queue=apart")
    first = page.locator("tr.chosen td").last.inner_text().replace("−", "-")
    n_apart = int(page.locator("#position").inner_text().split(" of ")[1])
    assert n_apart > 1
    ready = page.evaluate("document.documentElement.dataset.ready")
    page.get_by_role("button", name="Next").click()
    page.wait_for_function("before => document.documentElement.dataset.ready !== before", arg=ready)
    second = page.locator("tr.chosen td").last.inner_text().replace("−", "-")
    assert abs(float(first)) >= abs(float(second)) > 0


def test_pages_of_the_older_run_alone_are_stored(paired: Path, newer: Run, older: Run) -> None:
    stored = sorted(path.stem for path in (paired / "data" / "older" / "pages").rglob("*.js"))
    assert len(stored) == older.table("samples").height < newer.table("samples").height
    listed = decode((paired / "data" / "pages.js").read_text())["older"]
    assert [p["name"] for p in listed["parsers"]] == sorted(PARSERS)


def test_compare_prints_where_to_look(newer: Run, paired: Path) -> None:
    words = CliRunner().invoke(app, ["compare", str(newer.path), "good", "poor"]).output
    assert f"{paired.as_uri()}/viewer.html#parser=good&with=poor&queue=apart" in words
    runs = CliRunner().invoke(app, ["compare", str(newer.path), str(newer.path)]).output
    assert "viewer.html#parser=" in runs
    assert "&old=" in runs


def test_figures_of_other_pages_are_not_compared_but_their_pages_are_shown(paired: Path) -> None:
    words = (paired / "compare.html").read_text(encoding="utf-8")
    assert "The runs are of different pages: 0 only in the old one, 4 only in the new one" in words


def test_compare_says_how_to_make_a_report(older: Run) -> None:
    words = CliRunner().invoke(app, ["compare", str(older.path), "good", "poor"]).output
    assert f"parsemark report {older.path}" in words
