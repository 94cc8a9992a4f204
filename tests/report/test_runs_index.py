"""The page of a folder of runs."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.accessible import accessible
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import UsageError
from parsemark.report import build_report
from parsemark.report.chunks import decode


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for name, seed in (("first", 1), ("second", 2)):
        fabricate_run(folder / name, 8, ("good", "poor"), seed=seed)
    build_report(folder / "first", folder / "first" / "report")
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("<b>no run</b>")
    return folder


def test_every_run_is_listed_with_its_leader_and_a_link_to_its_report(runs: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(runs)])
    assert result.exit_code == 0, result.output
    index = runs / "report" / "index.html"
    assert result.output.strip() == str(index)
    page = index.read_text(encoding="utf-8")
    (address,) = re.findall(r'<a href="([^"]*)"><bdi>first', page)
    assert (index.parent / address).resolve() == (runs / "first" / "report" / "index.html").resolve()
    assert "<bdi>second</bdi>" in page and page.count(">good<") == 2
    assert len(re.findall(r"TE F1 Con [01]\.\d\d", page)) == 2
    assert "<bdi>broken</bdi>" in page and "<b>no run" not in page


def test_runs_of_one_corpus_and_protocol_have_a_trend_per_parser(runs: Path) -> None:
    build_report(runs, runs / "report")
    charts = decode((runs / "report" / "data" / "runs.js").read_text())["charts"]
    assert [chart["x"]["categories"] for chart in charts.values()] == [["first", "second"]]
    lines = [s for s in charts["trend-1"]["series"] if s["mark"] == "line"]
    assert [(line["name"], len(line["y"])) for line in lines] == [("good", 2), ("poor", 2)]


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_is_accessible(runs: Path, open_page: Callable[..., Any], width: int) -> None:
    page = open_page(build_report(runs, runs / "report").as_uri(), viewport={"width": width, "height": 800})
    page.wait_for_selector(".chart-grid svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = page.locator("tbody tr:not(:has(.has-problem))").evaluate_all(
        "rows => rows.map(row => row.offsetHeight)"
    )
    assert max(heights) < 60, "no score is broken into lines"
    accessible(page)


def test_it_replaces_only_what_it_wrote(runs: Path) -> None:
    build_report(runs, runs / "report")
    build_report(runs, runs / "report")
    other = runs / "mine"
    other.mkdir()
    (other / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="not part of a report"):
        build_report(runs, other)
    assert (other / "index.html").read_text() == "mine"
