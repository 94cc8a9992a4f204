"""A page declares itself where it is written: none is lost on the way to its link and its place."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import parsemark.report
from parsemark.report import build_report
from parsemark.report.build import PAGES
from parsemark.report.site import ReportOptions, ReportPage, Site
from parsemark.report.source import RunSource
from parsemark.store import Run


def test_every_page_that_a_module_declares_is_in_the_report() -> None:
    modules = [
        importlib.import_module(f"parsemark.report.{found.name}")
        for found in pkgutil.iter_modules(parsemark.report.__path__)
    ]
    declared = [
        value for module in modules for value in vars(module).values() if isinstance(value, ReportPage)
    ]
    assert len(declared) >= 9
    assert {page.key for page in declared} == {page.key for page in PAGES}


def test_every_link_leads_to_a_page_and_every_page_is_linked(site: Path) -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in site.glob("*.html")}
    linked = {href for text in pages.values() for href in re.findall(r'href="([\w.\-]+\.html)', text)}
    assert linked == set(pages)
    for page in PAGES:
        assert (
            not page.label
            or f"{page.key}.html" in linked
            or page.key in ("boards", "document", "matrix", "profiles", "versions")
        )


def test_a_page_that_nothing_declares_is_refused(source: RunSource, tmp_path: Path) -> None:
    site = Site(tmp_path, [source], ReportOptions(), PAGES)
    with pytest.raises(RuntimeError, match="no page of the report declares"):
        site.page("surprise", template="charts.html")


def test_a_page_that_is_linked_and_not_written_fails(source: RunSource, tmp_path: Path) -> None:
    lost = ReportPage("lost", lambda _: None, "Lost")
    with pytest.raises(RuntimeError, match="not written: lost"):
        Site(tmp_path, [source], ReportOptions(), [lost]).write()


def test_a_new_page_is_linked_and_put_into_place(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(site: Site) -> None:
        site.page("new", template="charts.html", parts=[])
        site.page("new-1", template="charts.html", parts=[])

    new = ReportPage("new", write, "New", also=("new-*",))
    monkeypatch.setattr("parsemark.report.build.PAGES", (*PAGES, new))
    first = build_report(run.path, tmp_path / "site")
    assert 'href="new.html"' in first.read_text(encoding="utf-8")
    assert (first.parent / "new.html").exists() and (first.parent / "new-1.html").exists()
