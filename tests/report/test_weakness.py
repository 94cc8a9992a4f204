"""The page of a parser: where it is weak against the others, and its worst pages, whatever the figure is."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.corpora.small_files import write
from tests.report.test_gate import edit_runs
from tests.report.test_undefined import TABLE, finds_nothing, invents, make_run, with_tables
from tests.report.test_words import summary_of

from parsemark.protocols import Figure
from parsemark.report import build_report, parser_page
from parsemark.report.charts.catalogue import TIME, trade_off
from parsemark.report.drawing import RunParser
from parsemark.report.parser_page import FEWEST, profile
from parsemark.report.source import RunSource
from parsemark.store import Run, RunFolder

__all__ = ["edit_runs"]  # a fixture


def test_small_groups_are_held_back_and_every_row_leads_to_its_pages(source: RunSource) -> None:
    fair = next(p for p in source.parsers if p.name == "fair")
    shown, held_back = profile(source, fair)
    assert shown and all(row.part.n >= FEWEST for row in shown)
    assert all(row.part.n < FEWEST for row in held_back)
    assert [row.behind for row in shown] == sorted((row.behind for row in shown), reverse=True)
    for row in (*shown, *held_back):
        assert row.href.startswith("viewer.html#") and "parser=fair" in row.href
        assert row.behind > 0  # weaknesses only
    poor = next(p for p in source.parsers if p.name == "poor")
    assert any("filter=" in row.href for row in profile(source, poor)[0])


def test_thumbnails_are_told_apart(site: Path, source: RunSource) -> None:
    poor = next(p for p in source.parsers if p.name == "poor")
    page = (site / poor.href).read_text(encoding="utf-8")
    cards = re.findall(
        r'<li><a href="[^"]*">.*?<span class="value">(\d+)\. [\d.]+</span> <bdi[^>]*>(.*?)</bdi>', page
    )
    assert len(cards) > 2 and [int(number) for number, _ in cards] == list(range(1, len(cards) + 1))
    assert len({sample for _, sample in cards}) == len(cards)


def half(folder: Path, sample: str) -> None:
    """Right on most pages, wrong on the last."""
    wrong = TABLE.replace("one", "zzz").replace("two", "yyy")
    write(folder / f"{sample}.md", wrong if sample.startswith("d6") else TABLE)


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Run:
    parsers = {"half": half, "none": finds_nothing, "all": invents}
    return make_run(tmp_path_factory.mktemp("weak"), "run", with_tables, parsers)


@pytest.mark.parametrize("protocol", ["tables", "document", "semantic"])
def test_worst_pages_are_the_worst_in_every_figure(weak: Run, protocol: str, tmp_path: Path) -> None:
    """`semantic` is out of 10."""
    RunFolder.of(weak).update_manifest(
        lambda m: m.model_copy(
            update={"protocols": [protocol, *(p for p in weak.protocols if p != protocol)]}
        )
    )
    site = build_report(weak.path, tmp_path / "site").parent
    parsers = {p.name: (site / p.href).read_text(encoding="utf-8") for p in RunSource(weak).parsers}
    worst = re.findall(r'<span class="value">1\. [\d.]+</span> <bdi[^>]*>(.*?)</bdi>', parsers["half"])
    assert worst == ["d6-p1"]
    assert "No errors on pages with truth." in parsers["all"]
    assert parsers["none"].count('class="value">1. ') == 1


def test_less_may_be_better(edit_runs: tuple[Run, Run]) -> None:
    source = RunSource(edit_runs[1])
    assert not source.summary.info(source.summary.primary).higher_is_better
    for parser in source.parsers:
        values = [page.value for page in parser_page.worst_pages(source, parser, set())]
        assert values and values == sorted(values, reverse=True) and min(values) > 0


def test_the_front_is_that_of_the_better_ones() -> None:
    """Of an edit distance the front goes down."""
    seconds = {"best": 1.0, "quick": 0.5, "slow": 2.0}
    summary = summary_of({"quick": "worse", "slow": "worse"}, 0.3, higher_is_better=False)
    values = {"best": 0.1, "quick": 0.4, "slow": 0.2}
    figures = {
        name: {"f": Figure(value=values[name], n=1), TIME: Figure(value=seconds[name], n=1)}
        for name in values
    }
    parsers = [RunParser(name, 0, name) for name in values]
    chart = trade_off(figures, SimpleNamespace(summary=summary, parsers=parsers))
    assert chart is not None and "Better is down and left" in chart.caption
    front = chart.series[0]
    assert list(zip(front.x, front.y, strict=True)) == [(0.5, 0.4), (1.0, 0.4), (1.0, 0.1)]
